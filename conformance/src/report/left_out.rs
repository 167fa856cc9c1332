//! What a run of `cargo test` leaves out because something is missing on this machine.
//!
//! A test that cannot run here must be neither red nor silently green. It calls [`test()`], or [`part()`] when only a part of it cannot run.
//! The line is printed at once, past the capture of the test harness, and noted in a file of this run below the target folder.
//! The last test target of the workspace, `what_was_left_out`, prints all lines of the run again, and how many there are.
//!
//! All test binaries of one `cargo test` have the same cargo process above them. Its id and its start time name the file, so
//! that two runs at the same time, and a run after one that failed halfway, do not see each other's lines.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::target::consul;

/// The environment variable that allows tests to install packages of other languages, which takes a network.
const INTEROP: &str = "PROCONSUL_INTEROP";

/// Something that this run does not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The package, the test target, the test and what part of it: `proconsul/cli::commands::kv, on a real Consul`.
    pub what: String,
    /// Why not.
    pub why: Why,
}

/// Why a run does not do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It is left out: this is missing here, and would run it.
    Needs(String),
    /// It has no meaning there, for this reason; no machine would run it.
    Inapplicable(String),
}

impl Line {
    /// Whether another machine, or another setting, would run it.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        matches!(self.why, Why::Needs(_))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split('\t');
        let (kind, what, why) = (parts.next()?, parts.next()?, parts.next()?.to_owned());
        let why = match kind {
            "needs" => Why::Needs(why),
            _ => Why::Inapplicable(why),
        };
        Some(Self {
            what: what.to_owned(),
            why,
        })
    }

    /// One line, which [`Self::parse`] reads.
    fn to_text(&self) -> String {
        let (kind, why) = match &self.why {
            Why::Needs(why) => ("needs", why),
            Why::Inapplicable(why) => ("inapplicable", why),
        };
        let [what, why] = [&self.what, why].map(|text| text.replace(['\t', '\n'], " "));
        format!("{kind}\t{what}\t{why}\n")
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match &self.why {
            Why::Needs(needs) => write!(formatter, "left out: {what} (needs {needs})"),
            Why::Inapplicable(why) => write!(formatter, "does not apply: {what} ({why})"),
        }
    }
}

/// Says that the running test is left out, and what it needs, as in "needs PROCONSUL_INTEROP=1".
///
/// # Panics
/// When the target folder cannot be written: otherwise the end of the run would not say what was left out.
pub fn test(needs: &str) {
    say(name(), Why::Needs(needs.to_owned()));
}

/// Says that a part of the running test is left out: `on a real Consul`.
///
/// # Panics
/// As [`test()`].
pub fn part(part: &str, needs: &str) {
    say(format!("{}, {part}", name()), Why::Needs(needs.to_owned()));
}

/// Says that a part of the running test has no meaning, and why: `31 cases on 1.22.0`, `they hold before 1.22.0`. It is not counted
/// among what is left out.
///
/// # Panics
/// As [`test()`].
pub fn inapplicable(part: &str, why: &str) {
    let what = format!("{}, {part}", name());
    say(what, Why::Inapplicable(why.to_owned()));
}

/// Says in one line how many cases of the suite say nothing about a target, and for which reasons: one reason for each case.
///
/// # Panics
/// As [`test()`].
pub fn cases(target: &str, reasons: impl IntoIterator<Item = String>) {
    let mut counts = BTreeMap::<String, usize>::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    if all > 0 {
        let reasons = counts.iter().map(|(why, count)| format!("{why}: {count}"));
        let reasons: Vec<String> = reasons.collect();
        inapplicable(&format!("{all} cases on {target}"), &reasons.join("; "));
    }
}

/// The real Consul of this machine; without one, that part of the running test is left out.
///
/// # Panics
/// As [`test()`].
#[must_use]
pub fn consul() -> Option<PathBuf> {
    let binary = consul::find();
    if binary.is_none() {
        part("on a real Consul", "conformance/fetch-consul or CONSUL_BIN");
    }
    binary
}

/// Whether a program runs when it is given `argument`, such as `--version`; if not, the running test is left out.
///
/// # Panics
/// As [`test()`].
#[must_use]
pub fn has(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    let runs = succeeds(command.arg(argument));
    if !runs {
        test(program);
    }
    runs
}

/// The name of a browser that speaks Chromium's protocol; without one, the running test is left out.
///
/// # Panics
/// As [`test()`].
#[must_use]
pub fn browser() -> Option<&'static str> {
    // The first lacks the windows of a desktop, and takes a third of the processor time.
    let names = [
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
    ];
    let runs = |name: &&str| succeeds(Command::new(name).arg("--version"));
    let found = names.into_iter().find(runs);
    if found.is_none() {
        test("chromium");
    }
    found
}

/// Whether the running test may install packages of other languages; if not, it is left out.
///
/// # Panics
/// As [`test()`], and when the variable is neither unset, empty, `0` nor `1`.
#[must_use]
pub fn may_install() -> bool {
    let may = installs();
    if !may {
        test(&format!("{INTEROP}=1"));
    }
    may
}

/// Whether `PROCONSUL_INTEROP=1` allows tests to install packages of other languages.
///
/// # Panics
/// When the variable is neither unset, empty, `0` nor `1`.
#[must_use]
pub fn installs() -> bool {
    let value = std::env::var_os(INTEROP).unwrap_or_default();
    match value.to_str() {
        Some("" | "0") => false,
        Some("1") => true,
        _ => panic!("{INTEROP} is {value:?}: set it to 1, or unset it"),
    }
}

/// Whether a command can be started and succeeds; it prints nothing.
pub fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = quiet.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Takes all lines of this run, which it forgets: each once, in the order in which they were said.
///
/// # Errors
/// When the file of this run cannot be read or deleted.
pub fn take() -> std::io::Result<Vec<Line>> {
    take_from(&file())
}

/// The end of a run as people and `.ci/run` read it: the lines, sorted, and how many things are left out.
#[must_use]
pub fn summary(lines: &[Line]) -> String {
    let mut told: Vec<String> = lines.iter().map(Line::to_string).collect();
    told.sort();
    let count = lines.iter().filter(|line| line.is_left_out()).count();
    told.push(match count {
        0 => "nothing was left out".to_owned(),
        1 => "1 thing was left out: its line above says what it needs".to_owned(),
        _ => format!("{count} things were left out: their lines above say what they need"),
    });
    told.join("\n")
}

fn say(what: String, why: Why) {
    let line = Line { what, why };
    // The harness would keep what is printed by a test that passes.
    writeln!(stderr(), "{line}").expect("standard error is open");
    let file = file();
    note(&file, &line).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// The package, the test target and the test that this thread runs.
fn name() -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = exe.file_stem().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash.
    let target = exe.rsplit_once('-').map_or(&*exe, |(target, _)| target);
    let thread = std::thread::current();
    // The harness names the thread of a test after it; with `--test-threads=1` it makes no thread, and nobody knows the name.
    match thread.name().filter(|name| *name != "main") {
        Some(test) => format!("{package}/{target}::{test}"),
        None => format!("{package}/{target}"),
    }
}

fn note(file: &Path, line: &Line) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // One write: lines of tests that run at the same time do not mix.
    file.write_all(line.to_text().as_bytes())
}

fn take_from(file: &Path) -> std::io::Result<Vec<Line>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    fs::remove_file(file)?;
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines().filter_map(Line::parse) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Where the lines of this run are noted: in the folder of the profile, which all test binaries of a run have in common.
fn file() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let profile = exe.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    profile.join("left-out").join(run())
}

/// The name of this run: the cargo process that started this test binary, or else its parent.
#[cfg(unix)]
fn run() -> String {
    let parent = std::os::unix::process::parent_id();
    let mut ancestor = Process::read(parent);
    let first = ancestor.clone();
    // Between the two may be a runner that cargo was configured with.
    while let Some(process) = &ancestor {
        if process.name.starts_with("cargo") {
            return process.run();
        }
        ancestor = Process::read(process.parent);
    }
    first.map_or_else(|| parent.to_string(), |process| process.run())
}

/// Where nobody tells which process is above, runs are told apart by nothing.
#[cfg(not(unix))]
fn run() -> String {
    "run".to_owned()
}

/// A process as Linux describes it.
#[cfg(unix)]
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    id: u32,
    name: String,
    parent: u32,
    /// In ticks since the machine started: another process that gets the same id later has another one.
    started: String,
}

#[cfg(unix)]
impl Process {
    /// `None` when there is no such process, or no /proc.
    fn read(id: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Self::parse(id, &text)
    }

    /// Parses `<id> (<name>) <state> <parent> ...`, of which the 22nd field is the start; the name may have any characters.
    fn parse(id: u32, text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Self {
            id,
            name: name.to_owned(),
            parent: fields.get(1)?.parse().ok()?,
            started: (*fields.get(19)?).to_owned(),
        })
    }

    fn run(&self) -> String {
        format!("{}-{}", self.id, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_once_in_their_order_and_without_copies() {
        let file = std::env::temp_dir().join(format!("left-out-{}/lines", std::process::id()));
        let needs = |what: &str| (what.to_owned(), Why::Needs("a\ttab".to_owned()));
        let never = ("c".to_owned(), Why::Inapplicable("it is so".to_owned()));
        for (what, why) in [needs("b"), needs("a"), needs("b"), never] {
            note(&file, &Line { what, why }).expect("the temporary folder can be written");
        }
        let taken = take_from(&file).expect("it was just written");
        let expected = "does not apply: c (it is so)\nleft out: a (needs a tab)\nleft out: b (needs a tab)\n\
                        2 things were left out: their lines above say what they need";
        assert_eq!(summary(&taken), expected);
        let first = taken.first().map(Line::to_string);
        assert_eq!(first.as_deref(), Some("left out: b (needs a tab)"));
        assert_eq!(
            summary(&taken[2..]),
            "does not apply: c (it is so)\nnothing was left out"
        );
        assert_eq!(take_from(&file).expect("it is gone"), []);
        fs::remove_dir_all(file.parent().expect("a folder")).expect("it can be deleted");
    }

    #[test]
    fn a_line_names_package_target_and_test() {
        let name = name();
        let test = "report::left_out::tests::a_line_names_package_target_and_test";
        // A test that is run by itself, without cargo or on one thread, knows less.
        if std::env::var_os("CARGO_PKG_NAME").is_some() && !name.ends_with("conformance") {
            assert_eq!(
                name,
                format!("proconsul-conformance/proconsul_conformance::{test}")
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_run_is_told_by_the_process_above_and_its_start() {
        let text = "7 (a) (b c) S 5 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let process = Process::parse(7, text).expect("it is complete");
        assert_eq!(
            (process.name.as_str(), process.parent, process.run()),
            ("a) (b c", 5, "7-987654".to_owned())
        );
        assert_eq!(Process::parse(7, "7 (a) S 5 7"), None);
        let own = Process::read(std::process::id()).expect("this process runs");
        assert_eq!(own.parent, std::os::unix::process::parent_id());
    }
}
