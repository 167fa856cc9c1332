//! The emulator says what a real Consul said: held against every folder of recordings, without any Consul present.

mod in_process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use proconsul::config::Config;
use proconsul_conformance::fixtures::{read_about, replay};
use proconsul_conformance::{Report, Selection, State, Target};

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

#[test]
fn the_emulator_says_what_was_recorded() {
    let folders = recordings();
    assert!(!folders.is_empty(), "nothing was ever recorded");
    for folder in folders {
        let recorded = read_about(&folder).expect("recordings say of what they are");
        let version = recorded.version.parse().expect("a version");
        let config = Config {
            session_ttl_min: Duration::from_millis(recorded.shortest_ttl_ms),
            ..in_process::config(version, recorded.dev)
        };
        let target = Target::fresh("proconsul", move || in_process::open(config.clone()));
        let target = target.expect("the emulator starts");
        let report = replay(&target, &Selection::all(), &folder, &|_| {});
        let report = report.expect("recordings of this version and mode");
        assert!(report.count("pass") > 0, "{report}");
        assert_eq!(
            report.exit_status(),
            0,
            "{report}\n(a case that was changed is recorded again: cargo run -p proconsul-conformance -- record {})",
            failed(&report)
        );
    }
}
