//! The verb `entrypoint`: what the start script of Consul's image does, for an image that has no shell.
//!
//! The agent itself reads the variables of that script, such as `CONSUL_LOCAL_CONFIG`. Here is what is left: the command
//! that runs when none is given, the verb that is left out, the folders of the image, and the files that a test lays into
//! one of them to begin with.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use proconsul_config::settings::environment::Variables;
use proconsul_config::settings::go_flags;
use proconsul_gocompat::syscall::error_text;

/// The name of the script in Consul's image. A link with this name runs the verb.
const SCRIPT: &str = "docker-entrypoint.sh";

/// What runs without arguments.
const DEFAULT: &[&str] = &["agent", "-dev", "-client", "0.0.0.0"];

/// The folders of the image, which the agent uses where they exist, and the variables that name others.
const FOLDERS: &[(&str, &str)] = &[
    ("CONSUL_CONFIG_DIR", "/consul/config"),
    ("CONSUL_DATA_DIR", "/consul/data"),
];

/// The folder whose files an agent starts with.
const START_DATA: &str = "/proconsul/init.d";

/// How an archive of gzip begins.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Returns the arguments of the verb, if this is what the program was called for.
pub(super) fn asked<'a>(program: &str, arguments: &'a [String]) -> Option<&'a [String]> {
    match arguments {
        _ if program == SCRIPT => Some(arguments),
        [verb, rest @ ..] if verb == "entrypoint" => Some(rest),
        _ => None,
    }
}

/// Returns the command that is run in place of the verb, and what the agent is told.
///
/// # Errors
/// Our text about a file that an agent cannot start with.
pub(super) fn command(
    arguments: &[String],
    variables: Variables,
) -> Result<(Vec<String>, Variables), String> {
    let (mut words, variables) = completed(arguments, variables, Path::is_dir);
    if is_agent(&words) && !is_as_it_stands(arguments) {
        words.extend(start_data(Path::new(START_DATA))?);
    }
    Ok((words, variables))
}

fn is_agent(words: &[String]) -> bool {
    words.first().is_some_and(|verb| verb == "agent")
}

/// Whether a command has the program's name, and is run without what the image adds.
fn is_as_it_stands(arguments: &[String]) -> bool {
    let program = arguments.first();
    program.is_some_and(|program| matches!(&program[..], "consul" | "proconsul"))
}

fn completed(
    arguments: &[String],
    mut variables: Variables,
    exists: impl Fn(&Path) -> bool,
) -> (Vec<String>, Variables) {
    let words = match arguments {
        [] => DEFAULT.iter().copied().map(str::to_owned).collect(),
        [_, rest @ ..] if is_as_it_stands(arguments) => return (rest.to_vec(), variables),
        [flag, ..] if flag.starts_with('-') && !is_of_program(flag) => {
            [&["agent".to_owned()], arguments].concat()
        }
        _ => arguments.to_vec(),
    };
    if is_agent(&words) {
        let there = FOLDERS
            .iter()
            .filter(|(_, folder)| exists(Path::new(folder)));
        for (name, folder) in there {
            variables.set_default(name, folder);
        }
    }
    (words, variables)
}

/// Returns the flags for the files of a folder, in the order of their names; no flags where there is no folder.
///
/// # Errors
/// Our text about a file that cannot be read, or that says nothing to an agent.
fn start_data(folder: &Path) -> Result<Vec<String>, String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    // Kubernetes lays hidden folders beside the files of a volume.
    let is_hidden = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with('.')
    };
    let files = paths
        .iter()
        .filter(|path| path.is_file() && !is_hidden(path));
    files.map(|path| flag_for(path)).collect()
}

/// Returns the flag that gives a file to an agent. What it is, its content says.
fn flag_for(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let content = fs::read(path).map_err(|error| format!("{shown}: {}", error_text(&error)))?;
    let is_hcl = path.extension().is_some_and(|extension| extension == "hcl");
    let flag = match serde_json::from_slice(&content) {
        _ if content.starts_with(GZIP) => "load",
        _ if is_hcl => "services",
        Ok(Value::Array(_)) => "kv-file",
        Ok(Value::Object(fields)) if fields.contains_key("format") => "load",
        Ok(Value::Object(_)) => "services",
        Ok(_) | Err(_) => {
            return Err(format!(
                "{shown}: expected a state, keys as `consul kv export` prints them, or services in JSON or HCL"
            ));
        }
    };
    Ok(format!("-{flag}={shown}"))
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
        let (command, _) = completed(&words(text), Variables::default(), |_| false);
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
            let (_, variables) = completed(&words(text), Variables::default(), exists);
            let get = |name| variables.get(name).map(str::to_owned);
            (get("CONSUL_CONFIG_DIR"), get("CONSUL_DATA_DIR"))
        };
        let config = Some("/consul/config".to_owned());
        assert_eq!(told("agent"), (config, None));
        assert_eq!(told("kv get a"), (None, None));
        assert_eq!(told("consul agent"), (None, None));

        let mut own = Variables::default();
        own.set_default("CONSUL_CONFIG_DIR", "/mine");
        let (_, variables) = completed(&[], own, exists);
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

    #[test]
    fn the_files_that_an_agent_starts_with_are_told_apart_by_their_content() {
        let folder = std::env::temp_dir().join(format!("proconsul-init-{}", std::process::id()));
        fs::create_dir_all(folder.join("folder")).expect("a folder for temporary files");
        let write = |name: &str, content: &[u8]| {
            fs::write(folder.join(name), content).expect("the folder can be written");
        };
        write("1-state.json", br#"{"format": 1}"#);
        write("2-keys.json", b"[]");
        write("3-web.json", br#"{"service": {"name": "web"}}"#);
        write("4-web.hcl", b"service { name = \"web\" }");
        write("5-archive", b"\x1f\x8b\x08");
        write(".hidden", b"?");
        let flags = start_data(&folder).expect("all of them are known");
        let at = |name: &str| folder.join(name).display().to_string();
        let expected = [
            format!("-load={}", at("1-state.json")),
            format!("-kv-file={}", at("2-keys.json")),
            format!("-services={}", at("3-web.json")),
            format!("-services={}", at("4-web.hcl")),
            format!("-load={}", at("5-archive")),
        ];
        assert_eq!(flags, expected);

        write("6-notes.txt", b"notes");
        let refused = start_data(&folder).expect_err("it is no data");
        assert!(refused.starts_with(&at("6-notes.txt")), "{refused}");
        fs::remove_dir_all(&folder).expect("it was made here");
        assert_eq!(start_data(&folder), Ok(Vec::new()));
    }
}
