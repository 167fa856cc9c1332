//! The verb `entrypoint`: what the start script of Consul's image does, for an image that has no shell.
//!
//! The agent itself reads the variables of that script, such as `CONSUL_LOCAL_CONFIG`. Here is what is left: the command
//! that runs when none is given, the verb that is left out, and the folders of the image.

use std::path::Path;

use crate::cli::settings::environment::Variables;
use crate::cli::settings::go_flags;

/// The name of the script in Consul's image. A link with this name runs the verb.
const SCRIPT: &str = "docker-entrypoint.sh";

/// What runs without arguments.
const DEFAULT: &[&str] = &["agent", "-dev", "-client", "0.0.0.0"];

/// The folders of the image, which the agent uses where they exist, and the variables that name others.
const FOLDERS: &[(&str, &str)] = &[
    ("CONSUL_CONFIG_DIR", "/consul/config"),
    ("CONSUL_DATA_DIR", "/consul/data"),
];

/// Returns the arguments of the verb, if this is what the program was called for.
pub(super) fn asked<'a>(program: &str, arguments: &'a [String]) -> Option<&'a [String]> {
    match arguments {
        _ if program == SCRIPT => Some(arguments),
        [verb, rest @ ..] if verb == "entrypoint" => Some(rest),
        _ => None,
    }
}

/// Returns the command that is run in place of the verb, and what the agent is told.
pub(super) fn command(
    arguments: &[String],
    mut variables: Variables,
    exists: impl Fn(&Path) -> bool,
) -> (Vec<String>, Variables) {
    let words = match arguments {
        [] => DEFAULT.iter().copied().map(str::to_owned).collect(),
        // A command with the program's name is run as it stands, without the image's folders.
        [program, rest @ ..] if matches!(&program[..], "consul" | "proconsul") => {
            return (rest.to_vec(), variables);
        }
        [flag, ..] if flag.starts_with('-') && !is_of_program(flag) => {
            [&["agent".to_owned()], arguments].concat()
        }
        _ => arguments.to_vec(),
    };
    if words.first().is_some_and(|verb| verb == "agent") {
        let there = FOLDERS
            .iter()
            .filter(|(_, folder)| exists(Path::new(folder)));
        for (name, folder) in there {
            variables.set_default(name, folder);
        }
    }
    (words, variables)
}

/// Whether a flag asks the program for something, and not the agent.
fn is_of_program(flag: &str) -> bool {
    matches!(flag, "-v" | "-version" | "--version") || go_flags::asks_for_help(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn run(text: &str) -> String {
        let (command, _) = command(&words(text), Variables::default(), |_| false);
        command.join(" ")
    }

    #[test]
    fn a_command_is_completed_as_by_the_script() {
        let rows = [
            ("", "agent -dev -client 0.0.0.0"),
            ("agent -server", "agent -server"),
            ("-dev --control", "agent -dev --control"),
            ("consul agent -dev", "agent -dev"),
            ("kv get a", "kv get a"),
            ("--version", "--version"),
            ("-h", "-h"),
        ];
        for (given, expected) in rows {
            assert_eq!(run(given), expected, "{given}");
        }
    }

    #[test]
    fn the_folders_of_the_image_count_where_they_exist_and_no_other_is_named() {
        let exists = |path: &Path| path.ends_with("config");
        let told = |text: &str| {
            let (_, variables) = command(&words(text), Variables::default(), exists);
            let get = |name| variables.get(name).map(str::to_owned);
            (get("CONSUL_CONFIG_DIR"), get("CONSUL_DATA_DIR"))
        };
        let config = Some("/consul/config".to_owned());
        assert_eq!(told("agent"), (config, None));
        assert_eq!(told("kv get a"), (None, None));
        assert_eq!(told("consul agent"), (None, None));

        let mut own = Variables::default();
        own.set_default("CONSUL_CONFIG_DIR", "/mine");
        let (_, variables) = command(&[], own, exists);
        assert_eq!(variables.get("CONSUL_CONFIG_DIR"), Some("/mine"));
    }

    #[test]
    fn a_link_with_the_name_of_the_script_is_the_verb() {
        let arguments = words("agent");
        assert_eq!(asked(SCRIPT, &arguments), Some(&arguments[..]));
        assert_eq!(asked("proconsul", &words("agent")), None);
        assert_eq!(
            asked("consul", &words("entrypoint agent")),
            Some(&arguments[..])
        );
    }
}
