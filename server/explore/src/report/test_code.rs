//! What was found as a test in the user's language.

use std::fmt::Write;
use std::time::Duration;

use super::Report;
use super::text::{is_plain, named};
use crate::search::Broken;

/// How wide a comment is.
const WIDTH: usize = 96;
/// How many lines of comment say what was found.
const MOST_LINES: usize = 3;

proconsul_engine::named! {
    /// A language in which a test replays what was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Language {
        Rust "rust" "Rust, with the contenders as tasks of the test, or as processes, as they were in the search.",
        Go "go" "Go, with the contenders as processes.",
        Python "python" "Python with pytest, with the contenders as processes.",
        Shell "shell" "A POSIX shell, with the contenders as processes.",
    }
}

/// Returns a test that replays what was found: it fails until the program is mended. `None` if nothing is broken.
///
/// If the contenders were tasks, the test in Rust calls `contend`, the function that `proconsul::explore::Explore::search` was given.
/// The others run `proconsul explore --replay FILE` with these words behind it: flags, `--`, and the program. If there are none, these are the
/// run's `--guard`, and `./my-worker` as the program.
#[must_use]
pub fn test_code(report: &Report, language: Language, words: &[String]) -> Option<String> {
    let broken = report.broken.as_ref()?;
    Some(match language {
        Language::Rust if report.options.is_exact => rust_in_process(report, broken),
        Language::Rust => rust(broken, words),
        Language::Go => go(broken, words),
        Language::Python => python(broken, words),
        Language::Shell => shell(broken, words),
    })
}

impl Language {
    /// Returns the name as it is written.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Python => "Python",
            Self::Shell => "Shell",
        }
    }
}

fn rust_in_process(report: &Report, broken: &Broken) -> String {
    let property = broken.finding.property;
    let name = property.name().replace('-', "_");
    let limits = &report.options.limits;
    let guard = broken.run.setup.guard.as_ref();
    let guard = guard.map_or(String::new(), |guard| format!(".guard({guard:?})"));
    format!(
        "use crate::contend;
use proconsul::explore::{{Explore, Property, Schedule}};
use std::time::Duration;

{comment}const SCHEDULE: &str = \"\\
{schedule}\";

#[test]
fn {name}_is_not_broken() {{
    let schedule: Schedule = SCHEDULE.parse().expect(\"a schedule\");
    let explore = Explore::new(){guard}.length(Duration::from_secs({length}));
    let explore = explore.limits(|limits| {{
        limits.slack = Duration::from_millis({slack});
        limits.bound = Duration::from_millis({bound});
    }});
    let judged = explore.replay(&schedule, {seed}, contend);
    let found = judged.findings.iter().find(|one| one.property == Property::{property:?});
    assert!(found.is_none(), \"{{found:?}}\");
}}
",
        comment = comment("//", broken),
        schedule = broken.schedule,
        length = Duration::from_nanos(broken.run.setup.ended).as_secs() + 1,
        slack = limits.slack.as_millis(),
        bound = limits.bound.as_millis(),
        seed = broken.seed,
    )
}

fn rust(broken: &Broken, words: &[String]) -> String {
    let name = broken.finding.property.name().replace('-', "_");
    let arguments = arguments(broken, words, "&file", |word| format!("{word:?}"));
    let [program, explore, replay, file, rest @ ..] = &arguments[..] else {
        unreachable!("it has these words at least");
    };
    format!(
        "use std::{{env, fs, process::Command}};

{comment}const SCHEDULE: &str = \"\\
{schedule}\";

#[test]
fn {name}_is_not_broken() {{
    let file = env::temp_dir().join(\"{name}.txt\");
    fs::write(&file, SCHEDULE).expect(\"it is written\");
    let mut replay = Command::new({program});
    replay.args([{explore}, {replay}]).arg({file}).args([{rest}]);
    let output = replay.output().expect(\"proconsul is on the PATH\");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), \"{{}}\", String::from_utf8_lossy(&said));
}}
",
        comment = comment("//", broken),
        schedule = broken.schedule,
        rest = rest.join(", "),
    )
}

fn go(broken: &Broken, words: &[String]) -> String {
    let name = broken.finding.property.name().split('-').map(capital);
    let arguments = arguments(broken, words, "file", quoted);
    format!(
        "package main

import (
\t\"os\"
\t\"os/exec\"
\t\"testing\"
)

{comment}const schedule = `{schedule}`

func Test{name}IsNotBroken(t *testing.T) {{
\tfile := t.TempDir() + \"/schedule.txt\"
\tif err := os.WriteFile(file, []byte(schedule), 0o600); err != nil {{
\t\tt.Fatal(err)
\t}}
\treplay := exec.Command({arguments})
\tif output, err := replay.CombinedOutput(); err != nil {{
\t\tt.Fatalf(\"%v\\n%s\", err, output)
\t}}
}}
",
        name = name.collect::<String>(),
        arguments = arguments.join(", "),
        comment = comment("//", broken),
        schedule = broken.schedule,
    )
}

fn python(broken: &Broken, words: &[String]) -> String {
    let name = broken.finding.property.name().replace('-', "_");
    let arguments = arguments(broken, words, "str(file)", quoted);
    format!(
        "import subprocess

{comment}SCHEDULE = \"\"\"\\
{schedule}\"\"\"


def test_{name}_is_not_broken(tmp_path):
    file = tmp_path / \"schedule.txt\"
    file.write_text(SCHEDULE)
    command = [{arguments}]
    replay = subprocess.run(command, capture_output=True, text=True)
    assert replay.returncode == 0, replay.stdout + replay.stderr
",
        arguments = arguments.join(", "),
        comment = comment("#", broken),
        schedule = broken.schedule,
    )
}

fn shell(broken: &Broken, words: &[String]) -> String {
    let arguments = arguments(broken, words, "\"$file\"", shell_word);
    format!(
        "#!/bin/sh
{comment}set -eu
file=$(mktemp)
trap 'rm -f \"$file\"' EXIT
cat >\"$file\" <<'END'
{schedule}END
{arguments}
",
        arguments = arguments.join(" "),
        comment = comment("#", broken),
        schedule = broken.schedule,
    )
}

/// Returns the command that replays the schedule in a file, as a user types it.
pub(super) fn replay_command(broken: &Broken, words: &[String], file: &str) -> String {
    arguments(broken, words, file, shell_word).join(" ")
}

/// Returns the words of the command that replays the schedule in a file. `file` is an expression of the language.
fn arguments(
    broken: &Broken,
    words: &[String],
    file: &str,
    quote: fn(&str) -> String,
) -> Vec<String> {
    let mut all: Vec<String> = ["proconsul", "explore", "--replay"].map(quote).into();
    all.push(file.to_owned());
    if words.is_empty() {
        if let Some(guard) = &broken.run.setup.guard {
            all.extend([quote("--guard"), quote(guard)]);
        }
        all.extend([quote("--"), quote("./my-worker")]);
    }
    all.extend(words.iter().map(|word| quote(word)));
    all
}

/// Returns a string that Go and Python read as JSON does.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("it is a string")
}

/// Returns a word of a shell, in quotes where it needs them.
fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns lines of comment that say what was found, each ended.
fn comment(mark: &str, broken: &Broken) -> String {
    let finding = &broken.finding;
    let text = named(&broken.run, &finding.text);
    let at = finding.at.as_secs_f64();
    let text = format!("{}: at {at:.3}s {text}", finding.property.name());
    // Nothing in a comment ends it, or changes the direction of what follows.
    let text: String = text
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { ' ' })
        .collect();
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_full = lines.len() == MOST_LINES;
        let line = lines.last_mut().expect("there is one");
        if line.len() + word.len() < WIDTH || line.is_empty() {
            line.push(' ');
            line.push_str(word);
        } else if !is_full {
            lines.push(format!(" {word}"));
        } else {
            line.push_str(" ...");
            break;
        }
    }
    let mut comment = String::new();
    for line in lines {
        writeln!(comment, "{mark}{line}").expect("a String takes all");
    }
    comment
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::schedule::Schedule;

    fn code(language: Language) -> String {
        test_code(&samples::broken(), language, &[]).expect("it is broken")
    }

    #[test]
    fn each_test_is_short_and_holds_the_schedule() {
        let mut report = samples::broken();
        let broken = report.broken.as_mut().expect("it is broken");
        let decision = broken.schedule.decisions[0].clone();
        broken.schedule.decisions.extend(vec![decision; 3]);
        broken.finding.text = "word ".repeat(200);
        let schedule = broken.schedule.clone();
        let mut by_process = report.clone();
        by_process.options.is_exact = false;
        let each = Language::ALL.iter().map(|language| (&report, language));
        for (report, language) in each.chain([(&by_process, &Language::Rust)]) {
            let code = test_code(report, *language, &[]).expect("it is broken");
            assert!(code.lines().count() < 30, "{code}");
            let (_, after) = code
                .split_once("contenders 2")
                .expect("it holds the schedule");
            let lines = after
                .lines()
                .take_while(|line| line.is_empty() || line.starts_with("a renew"));
            let lines: Vec<&str> = lines.collect();
            let read: Schedule = format!("contenders 2{}", lines.join("\n"))
                .parse()
                .expect("it is a schedule");
            assert_eq!(read, schedule, "{code}");
        }
    }

    #[test]
    fn hostile_guards_are_quoted_for_each_language() {
        let quoted = r#""work'$(x)\"\\`</""#;
        assert!(
            code(Language::Go)
                .contains(&format!("\"--guard\", {quoted}, \"--\", \"./my-worker\")"))
        );
        assert!(code(Language::Python).contains(quoted));
        assert!(code(Language::Rust).contains(&format!(".guard({quoted})")));
        let mut by_process = samples::broken();
        by_process.options.is_exact = false;
        let rust = test_code(&by_process, Language::Rust, &[]).expect("it is broken");
        assert!(
            rust.contains(&format!("[\"--guard\", {quoted}, \"--\", \"./my-worker\"]")),
            "{rust}"
        );
        let shell = code(Language::Shell);
        assert!(
            shell.contains(r#"--guard 'work'\''$(x)"\`</' -- ./my-worker"#),
            "{shell}"
        );
    }

    #[test]
    fn the_command_line_of_the_search_is_kept_if_it_is_known() {
        let words = ["-lost", "gave up", "--", "./worker", "it's"].map(str::to_owned);
        let go = test_code(&samples::broken(), Language::Go, &words).expect("it is broken");
        assert!(
            go.contains(r#""--replay", file, "-lost", "gave up", "--", "./worker", "it's")"#),
            "{go}"
        );
        let shell = test_code(&samples::broken(), Language::Shell, &words).expect("it is broken");
        assert!(
            shell.contains(r#"--replay "$file" -lost 'gave up' -- ./worker 'it'\''s'"#),
            "{shell}"
        );
    }

    #[test]
    fn a_comment_stays_a_comment() {
        let mut report = samples::broken();
        let broken = report.broken.as_mut().expect("it is broken");
        broken.finding.text = format!("a\nrm -rf \u{202e}\u{2028}\r{}", "word ".repeat(500));
        for language in Language::ALL {
            let code = test_code(&report, *language, &[]).expect("it is broken");
            let mark = if code.contains("\n// two-believers") {
                "// "
            } else {
                "# "
            };
            let first = code
                .lines()
                .find(|line| line.starts_with(&format!("{mark}two-believers")));
            assert!(
                first.is_some_and(|line| line.contains("s a rm -rf word word")),
                "{code}"
            );
            assert!(
                !code.contains('\u{202e}') && !code.contains("\nrm"),
                "{code}"
            );
            assert!(code.lines().count() < 30, "{code}");
        }
    }

    #[test]
    fn nothing_is_replayed_where_nothing_is_broken() {
        assert_eq!(test_code(&samples::not_broken(), Language::Go, &[]), None);
    }
}
