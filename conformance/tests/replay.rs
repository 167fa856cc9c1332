//! The emulator says what a real Consul said: held against every folder of recordings, without any Consul present.

mod in_process;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proconsul::config::Config;
use proconsul_conformance::compare::accepted;
use proconsul_conformance::compare::fixtures::{read_about, replay};
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::target::site::Site;
use proconsul_conformance::wire::{self, Outcome, Request};
use proconsul_conformance::{Case, Report, Selection, State, Target, Version, cases};

const SERVERS: usize = 8;

fn recordings() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let entries = fixtures.read_dir().expect("the folder fixtures");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths.filter(|path| path.is_dir()).collect()
}

fn failed(report: &Report) -> String {
    let results = report.results.iter();
    let failed = results.filter(|result| matches!(result.state, State::Fail(_)));
    failed
        .map(|result| result.case.id)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A server on which something has happened before: no index is that of a store that was never written to.
fn used(site: Site) -> Site {
    let requests = [
        Request::put("/v1/kv/before", "v"),
        Request::delete("/v1/kv/before"),
        Request::put("/v1/session/create", r#"{"TTL":"10s"}"#),
        Request::put("/v1/agent/service/register", r#"{"Name":"before"}"#),
        Request::put("/v1/agent/service/deregister/before", ""),
    ];
    for request in requests {
        let outcome = wire::exchange(site.address(), &request);
        assert!(matches!(outcome, Outcome::Reply(reply) if reply.status == 200));
    }
    site.clock()
        .pass(Duration::from_secs(60))
        .expect("the session lapses");
    site
}

/// The emulator as the server whose recordings lie in a folder: used by other cases before, and new for a case that needs its own.
fn emulator(folder: &Path, servers: usize) -> Target {
    let recorded = read_about(folder).expect("recordings say of what they are");
    let version = recorded.version.parse().expect("a version");
    let open = move |settings: &str| {
        let mut config = in_process::config(settings, version, recorded.dev)?;
        if config.session_ttl_min == Config::default().session_ttl_min {
            config.session_ttl_min = Duration::from_millis(recorded.shortest_ttl_ms);
        }
        in_process::open(config)
    };
    let used = (0..servers).map(|_| open("").map(used));
    let used = used.collect::<Result<_, _>>().expect("the emulator starts");
    let target = Target::pool("proconsul", used);
    let target = target.expect("the emulator is a Consul to the suite");
    target.with_own_servers(open)
}

#[test]
fn the_emulator_says_what_was_recorded() {
    let folders = recordings();
    assert!(!folders.is_empty(), "nothing was ever recorded");
    let replayed = |folder: &PathBuf| {
        let target = emulator(folder, SERVERS);
        let deviations = Deviations::of_the_emulator(&cases::all()).expect("a good list");
        let report = replay(&target, &deviations, &Selection::all(), folder, &|_| {});
        let report = report.expect("recordings of this version and mode");
        assert!(report.count("pass") > 0, "{report}");
        report
    };
    let reports: Vec<Report> = folders.iter().map(replayed).collect();
    let differing = reports.iter().filter(|report| report.exit_status() != 0);
    let differing: Vec<String> = differing
        .map(|report| format!("{report}\n{}: {}", report.build, failed(report)))
        .collect();
    assert!(
        differing.is_empty(),
        "{}\n(a case that was changed is recorded again: cargo run -p proconsul-conformance -- record CASE)",
        differing.join("\n")
    );
}

/// A folder that is deleted when this is dropped.
struct Copied(PathBuf);

impl Copied {
    /// Copies a folder with all that is in it.
    fn of(folder: &Path, name: &str) -> Self {
        let name = format!("proconsul-replay-{}-{name}", std::process::id());
        let copied = Self(std::env::temp_dir().join(name));
        copy(folder, &copied.0);
        copied
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in from.read_dir().expect("a readable folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a file can be copied");
        }
    }
}

#[test]
fn a_recording_that_is_gone_is_missed() {
    let case = "kv/get/missing-is-404-with-index";
    let folder = recordings()
        .into_iter()
        .min()
        .expect("something was recorded");
    let copied = Copied::of(&folder, "gone");
    fs::remove_file(copied.0.join(format!("{case}.txt"))).expect("it was recorded");
    let selection = Selection::only(["kv/get/*"]);
    let none = Deviations::none();
    let report = replay(&emulator(&folder, 1), &none, &selection, &copied.0, &|_| {});
    let report = report.expect("recordings of this version and mode");
    assert_eq!(failed(&report), case, "{report}");
}

/// The rows of the contract's table: a pattern of cases, and how many there are.
fn on_purpose(contract: &str) -> Vec<(Selection, usize)> {
    let part = contract.split("<a id=\"H\">").nth(1);
    let rows = part.expect("the contract has a part H").lines();
    let rows = rows.filter(|line| line.starts_with("| <a id=\"H."));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, patterns, count, _] = cells[..] else {
            panic!("three cells: {row}")
        };
        let patterns = patterns
            .split(", ")
            .map(|pattern| pattern.trim_matches('`'));
        let count = count.parse().expect("a number");
        (Selection::only(patterns), count)
    })
    .collect()
}

#[test]
fn what_differs_on_purpose_stands_in_the_contract() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = own.join("../fixtures/1.22.0");
    let version = Version::V1_22;
    let cases = cases::all();
    let claims = Deviations::of_the_emulator(&cases).expect("a good list");
    let answers = accepted::beside(&folder, version, &cases).expect("a good list");
    let differing: Vec<&Case> = cases
        .into_iter()
        .filter(|case| !case.is_of_another_version(version))
        .filter(|case| claims.of(case.id).or(answers.of(case.id)).is_some())
        .collect();
    let contract = fs::read_to_string(own.join("contract/1.22.md")).expect("the contract");
    let mut told = BTreeSet::new();
    for (selection, count) in on_purpose(&contract) {
        let named = selection.of(&differing).expect("each row names some");
        assert_eq!(named.len(), count, "{selection:?}");
        told.extend(named.iter().map(|case| case.id));
    }
    let untold = differing.iter().filter(|case| !told.contains(case.id));
    let untold: Vec<&str> = untold.map(|case| case.id).collect();
    assert!(untold.is_empty(), "part H does not have {untold:?}");
}
