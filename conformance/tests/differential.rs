//! Random sequences on the emulator and on a real Consul: every answer must be the same.
//!
//! `CONFORMANCE_OPERATIONS` sets how many operations each test plays, `CONFORMANCE_SEED` draws others than the usual ones.

use std::io::{Write, stderr};

use proconsul::config::Config;
use proconsul::version::Version;
use proconsul_conformance::report::left_out;
use proconsul_conformance::sequence::{self, Plan, Side};
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::wire::Address;

const OPERATIONS: usize = 20_000;
/// Fewer where some change something while reads of all kinds are blocked: these wait.
const OPERATIONS_WITH_BLOCKED_READS: usize = 3_000;
/// The same for all runs, so that none fails by chance.
const SEED: u64 = 1;

fn say(line: &str) {
    // Past the capture of the test harness: it must be seen.
    writeln!(stderr(), "{line}").expect("standard error is open");
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is a number")),
    )
}

/// The emulator in `-dev`.
fn emulator(version: Version) -> (proconsul::Server, Side) {
    let config = Config {
        version,
        ..Config::dev()
    };
    let node = config.node_name.clone();
    let server = proconsul::Server::builder().config(config).start();
    let server = server.expect("the emulator starts");
    let address = Address::parse(&server.addr().to_string()).expect("an address");
    (server, Side { address, node })
}

#[test]
fn the_emulator_answers_as_a_real_consul() {
    compare_with_a_real_consul(OPERATIONS, false);
}

/// A machine that is busy makes it slower, and does not make it fail: what differs is played again with longer waits.
#[test]
fn the_emulator_wakes_blocked_reads_as_a_real_consul() {
    compare_with_a_real_consul(OPERATIONS_WITH_BLOCKED_READS, true);
}

fn compare_with_a_real_consul(operations: usize, blocked_reads: bool) {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let target = consul::start(&binary, &Agent::default());
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    let real = Side {
        address: target.shared_address().expect("one agent for all").clone(),
        node: target.facts().node.clone(),
    };
    let (_server, emulated) = emulator(Version::V1_8_7);
    let operations = number("CONFORMANCE_OPERATIONS").map_or(operations, |number| {
        usize::try_from(number).expect("a number of operations")
    });
    let seed = number("CONFORMANCE_SEED").unwrap_or(SEED);
    say(&format!("differential: seed {seed}"));
    let plan = Plan {
        operations,
        seed,
        blocked_reads,
    };
    match sequence::compare(&real, &emulated, plan) {
        Ok(played) => assert!(played >= operations),
        Err(disagreement) => panic!("- consul, + emulator\n{disagreement}"),
    }
}

/// The comparison sees what it should, and nothing else.
#[test]
fn another_version_is_told_apart_and_the_same_is_not() {
    let (_old, old) = emulator(Version::V1_8_7);
    let (_same, same) = emulator(Version::V1_8_7);
    let (_new, new) = emulator(Version::V1_22_0);
    let plan = Plan {
        operations: 500,
        seed: 1,
        blocked_reads: false,
    };
    sequence::compare(&old, &same, plan).expect("equal servers agree");
    let found = sequence::compare(&old, &new, plan).expect_err("versions differ");
    assert_eq!(
        found.operations.len(),
        1,
        "shrunk to one operation: {found}"
    );
}
