//! Go's `flag` package: how it cuts arguments into flags, and its errors.

/// A flag of a command.
#[derive(Clone, Copy)]
pub struct Flag<K> {
    /// The name without dashes.
    pub name: &'static str,
    /// Decides which arguments the flag takes.
    pub kind: K,
    /// A sentence for the help.
    pub usage: &'static str,
}

/// A kind of flag. Each table of flags has a type for its kinds.
pub trait FlagKind: 'static {
    /// Whether the flag stands alone, as `-dev` does.
    fn is_switch(&self) -> bool;

    /// Checks the argument of the flag `name`.
    ///
    /// # Errors
    /// Go's text about an invalid argument.
    fn check(&self, name: &str, argument: &str) -> Result<(), String>;
}

/// The arguments of a command, cut into flags and the rest.
pub struct ParsedFlags<K: 'static> {
    /// Flags and their arguments, in the order of the command line.
    pub flags: Vec<(&'static Flag<K>, String)>,
    /// The first argument that is not a flag, and all behind it.
    pub rest: Vec<String>,
}

/// Why the arguments of a command are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// `-h` or `-help`.
    HelpWanted,
    /// Go's sentence.
    Bad(String),
}

/// Whether an argument asks for help where no table of flags applies: before a verb, or after the first of two words.
pub fn asks_for_help(argument: &str) -> bool {
    matches!(argument, "-h" | "-help" | "--help")
}

/// Cuts arguments into flags of `tables`, and checks each flag's argument.
///
/// # Errors
/// The first flag that is unknown, lacks its argument or has an invalid one.
pub fn cut<K: FlagKind>(
    arguments: &[String],
    tables: &[&'static [Flag<K>]],
) -> Result<ParsedFlags<K>, FlagError> {
    let mut given = ParsedFlags {
        flags: Vec::new(),
        rest: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            break;
        }
        let Some(flag) = argument.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            given.rest.push(argument.clone());
            break;
        };
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        if flag.is_empty() || flag.starts_with(['-', '=']) {
            return Err(FlagError::Bad(format!("bad flag syntax: {argument}")));
        }
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let mut flags = tables.iter().copied().flatten();
        let Some(flag) = flags.find(|flag| flag.name == name) else {
            return Err(match name {
                "h" | "help" => FlagError::HelpWanted,
                _ => FlagError::Bad(format!("flag provided but not defined: -{name}")),
            });
        };
        let value = match value {
            Some(value) => value,
            None if flag.kind.is_switch() => "true".to_owned(),
            None => match arguments.next() {
                Some(value) => value.clone(),
                None => return Err(FlagError::Bad(format!("flag needs an argument: -{name}"))),
            },
        };
        flag.kind.check(name, &value).map_err(FlagError::Bad)?;
        given.flags.push((flag, value));
    }
    given.rest.extend(arguments.cloned());
    Ok(given)
}

/// The list of flags that Go prints below its sentence about an invalid flag.
pub fn short_usage<K: FlagKind>(tables: &[&'static [Flag<K>]]) -> String {
    let mut text = "Usage:\n".to_owned();
    for flag in tables.iter().copied().flatten() {
        let argument = if flag.kind.is_switch() { "" } else { " value" };
        text += &format!("  -{}{argument}\n    \t{}\n", flag.name, flag.usage);
    }
    text
}

/// The list of flags of a command's help.
pub fn long_usage<K: FlagKind>(tables: &[&'static [Flag<K>]]) -> String {
    let mut text = "Command Options\n".to_owned();
    for flag in tables.iter().copied().flatten() {
        let argument = if flag.kind.is_switch() {
            ""
        } else {
            "=<value>"
        };
        text += &format!("\n  -{}{argument}\n     {}\n", flag.name, flag.usage);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::flags::flags;

    /// Returns flags as `name=argument`, then the rest after a bar; or the error.
    fn cut_line(line: &str) -> String {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match cut(&arguments, &[flags()]) {
            Ok(given) => {
                let flags: Vec<_> = given
                    .flags
                    .iter()
                    .map(|(flag, value)| format!("{}={value}", flag.name))
                    .collect();
                format!("{} | {}", flags.join(" "), given.rest.join(" "))
            }
            Err(FlagError::HelpWanted) => "help".to_owned(),
            Err(FlagError::Bad(text)) => text,
        }
    }

    #[test]
    fn flags_in_all_forms() {
        let rows = [
            ("", " | "),
            ("-dev", "dev=true | "),
            ("--dev -dev=false --dev=0", "dev=true dev=false dev=0 | "),
            (
                "-node a -node=b --node c --node=d=e",
                "node=a node=b node=c node=d=e | ",
            ),
            ("-node= -dev", "node= dev=true | "),
            ("-node -dev", "node=-dev | "),
            ("-dev true -node a", "dev=true | true -node a"),
            ("-dev - -node a", "dev=true | - -node a"),
            ("-dev -- -node a", "dev=true | -node a"),
            ("-hcl a=1 -hcl=b=1", "hcl=a=1 hcl=b=1 | "),
            ("-http-port -1", "http-port=-1 | "),
            (
                "-data-dir x -syslog -as-version 1.8.7",
                "data-dir=x syslog=true as-version=1.8.7 | ",
            ),
        ];
        for (line, expected) in rows {
            assert_eq!(cut_line(line), expected, "{line}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        let rows = [
            ("-nope", "flag provided but not defined: -nope"),
            ("-dev --nope=1", "flag provided but not defined: -nope"),
            ("-node", "flag needs an argument: -node"),
            ("---dev", "bad flag syntax: ---dev"),
            ("-=x", "bad flag syntax: -=x"),
            ("--=x", "bad flag syntax: --=x"),
            (
                "-bootstrap-expect=x",
                "invalid value \"x\" for flag -bootstrap-expect: strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("-h", "help"),
            ("-dev --help -nope", "help"),
        ];
        for (line, expected) in rows {
            assert_eq!(cut_line(line), expected, "{line}");
        }
    }

    #[test]
    fn the_lists_of_flags_have_gos_form() {
        assert!(short_usage(&[flags()]).starts_with("Usage:\n  -acl value\n    \tEnable ACLs"));
        assert!(short_usage(&[flags()]).contains("\n  -advertise value\n    \tThe address"));
        assert!(short_usage(&[flags()]).contains("\n  -dev\n    \tDevelopment mode"));
        assert!(long_usage(&[flags()]).contains("\n\n  -http-port=<value>\n     The port"));
        assert!(long_usage(&[flags()]).contains("\n\n  -dev\n     Development mode"));
    }
}
