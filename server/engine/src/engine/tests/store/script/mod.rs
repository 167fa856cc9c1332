//! Parses a script to its steps.

mod command;
mod outcome;
pub(in crate::engine::tests::store) mod run;
mod words;

use proconsul_version::Version;

/// A parsed script.
pub(in crate::engine::tests::store) struct Script {
    /// The versions to run it on.
    pub(in crate::engine::tests::store) versions: Vec<Version>,
    /// Its commands, in order.
    pub(in crate::engine::tests::store) steps: Vec<Step>,
}

/// A command with its expected outcome.
pub(in crate::engine::tests::store) struct Step {
    /// The number of its first line, from 1.
    pub(in crate::engine::tests::store) line: usize,
    /// The command without its outcome.
    pub(in crate::engine::tests::store) command: String,
    /// The operations of a transaction.
    pub(in crate::engine::tests::store) operations: Vec<String>,
    /// The outcome, with single spaces.
    pub(in crate::engine::tests::store) expected: String,
}

/// Parses a script.
///
/// # Panics
/// A line lacks an outcome, or a version is unknown.
#[track_caller]
pub(in crate::engine::tests::store) fn read(text: &str) -> Script {
    let mut versions = Version::PROFILES.to_vec();
    let mut steps = Vec::new();
    let mut open: Option<Step> = None;
    let text = text.trim_start_matches('\n').replace("\\\n", " ");
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(names) = line.strip_prefix("with version ") {
            versions = names.split(", ").map(version).collect();
            continue;
        }
        let (command, expected) = match line.split_once("->") {
            Some((command, expected)) => (command.trim(), Some(expected)),
            None => (line, None),
        };
        if let Some(operation) = command.strip_prefix('|') {
            let step = open.as_mut();
            let step = step.expect("an operation stands in a transaction that has no outcome yet");
            step.operations.push(operation.trim().to_owned());
        } else if !command.is_empty() {
            assert!(open.is_none(), "line {}: no outcome before", number + 1);
            open = Some(Step {
                line: number + 1,
                command: single_spaces(command),
                operations: Vec::new(),
                expected: String::new(),
            });
        }
        if let Some(expected) = expected {
            let mut step = open.take().expect("an outcome belongs to a command");
            step.expected = single_spaces(expected);
            steps.push(step);
        }
    }
    assert!(open.is_none(), "the last command has no outcome");
    Script { versions, steps }
}

fn version(name: &str) -> Version {
    name.trim().parse().expect("a version that is emulated")
}

fn single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
