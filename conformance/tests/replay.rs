//! The emulator says what a real Consul said: held against every folder of recordings, without any Consul present.

mod in_process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use proconsul::config::Config;
use proconsul_conformance::deviation::Deviations;
use proconsul_conformance::fixtures::{read_about, replay};
use proconsul_conformance::target::Site;
use proconsul_conformance::wire::{self, Outcome, Request};
use proconsul_conformance::{Report, Selection, State, Target, cases};

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

#[test]
fn the_emulator_says_what_was_recorded() {
    let folders = recordings();
    assert!(!folders.is_empty(), "nothing was ever recorded");
    for folder in folders {
        let recorded = read_about(&folder).expect("recordings say of what they are");
        let version = recorded.version.parse().expect("a version");
        let open = move |settings: &str| {
            in_process::open(Config {
                session_ttl_min: Duration::from_millis(recorded.shortest_ttl_ms),
                ..in_process::config(settings, version, recorded.dev)?
            })
        };
        // As the recorder does it: servers that other cases have used, and a new one for a case that needs its own.
        let used = (0..SERVERS)
            .map(|_| open("").map(used))
            .collect::<Result<_, _>>();
        let used = used.expect("the emulator starts");
        let target =
            Target::pool("proconsul", used).expect("the emulator is a Consul to the suite");
        let target = target.with_own_servers(open);
        let deviations = Deviations::of_the_emulator(&cases::all()).expect("a good list");
        let report = replay(&target, &deviations, &Selection::all(), &folder, &|_| {});
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
