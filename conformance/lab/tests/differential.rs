//! Random sequences on the emulator and on a real Consul: every answer must be the same.
//!
//! `CONFORMANCE_OPERATIONS` sets how many operations each test plays, `CONFORMANCE_SEED` draws others than the usual ones.

use std::io::{Write, stderr};
use std::path::Path;

use proconsul::Version;
use proconsul::config::{AclConfig, AclTokens, Config};
use proconsul_conformance::Target;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::wire::{self, Address, Outcome, Request};
use proconsul_lab::sequence::{self, Plan, Side};
use serde_json::{Value, json};

const OPERATIONS: usize = 10_000;
/// Fewer where some change something while reads of all kinds are blocked: these wait.
const OPERATIONS_WITH_BLOCKED_READS: usize = 3_000;
const ODD_REQUESTS: usize = 3_000;
const OPERATIONS_WITH_TOKENS: usize = 2_500;
/// The token that may do everything.
const ROOT: &str = "root";
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
    emulator_with(Config {
        version,
        ..Config::dev()
    })
}

fn emulator_with(config: Config) -> (proconsul::Server, Side) {
    let node = config.node_name.clone();
    let server = proconsul::Server::builder().config(config).start();
    let server = server.expect("the emulator starts");
    let address = Address::parse(&server.addr().to_string()).expect("an address");
    (server, one(address, node))
}

fn one(address: Address, node: String) -> Side {
    let agents = vec![sequence::Agent { address, node }];
    Side { agents }
}

/// Three servers.
fn cluster(version: Version) -> (proconsul::Server, Side) {
    let builder = proconsul::Server::builder().version(version);
    let server = builder.agents(3).start();
    let server = server.expect("the emulator starts");
    let agent = |number| {
        let agent = server.agent(number);
        let address = Address::parse(&agent.addr().to_string()).expect("an address");
        let node = agent.name().to_owned();
        sequence::Agent { address, node }
    };
    let agents = (0..3).map(agent).collect();
    (server, Side { agents })
}

fn side(real: &Target) -> Side {
    let address = real.shared_address().expect("one agent for all").clone();
    one(address, real.facts().node.clone())
}

/// How many operations to play, and the seed.
fn how_much(usual: usize) -> (usize, u64) {
    let operations = number("CONFORMANCE_OPERATIONS").map_or(usual, |number| {
        usize::try_from(number).expect("a number of operations")
    });
    (operations, number("CONFORMANCE_SEED").unwrap_or(SEED))
}

/// The simple operations.
const SIMPLE: Plan = Plan {
    operations: OPERATIONS,
    seed: SEED,
    blocked_reads: false,
    odd_requests: false,
    acl: false,
};

#[test]
fn the_emulator_answers_as_a_real_consul() {
    compare_with_a_real_consul(SIMPLE);
}

#[test]
fn the_emulator_answers_odd_requests_as_a_real_consul() {
    compare_with_a_real_consul(Plan {
        operations: ODD_REQUESTS,
        odd_requests: true,
        ..SIMPLE
    });
}

/// A machine that is busy makes it slower, and does not make it fail: what differs is played again with longer waits.
#[test]
fn the_emulator_wakes_blocked_reads_as_a_real_consul() {
    compare_with_a_real_consul(Plan {
        operations: OPERATIONS_WITH_BLOCKED_READS,
        blocked_reads: true,
        ..SIMPLE
    });
}

fn compare_with_a_real_consul(usual: Plan) {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let target = consul::start(&binary, &Agent::default());
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    let real = side(&target);
    let (_server, emulated) = emulator_with(Config {
        version: Version::V1_8_7,
        // Some lists are sorted by node.
        node_name: real.agents[0].node.clone(),
        ..Config::dev()
    });
    let (operations, seed) = how_much(usual.operations);
    say(&format!("differential: seed {seed}"));
    let plan = Plan {
        operations,
        seed,
        ..usual
    };
    play(&real, &emulated, plan);
}

fn play(real: &Side, emulated: &Side, plan: Plan) {
    match sequence::compare(real, emulated, plan) {
        Ok(played) => assert!(played >= plan.operations),
        Err(disagreement) => panic!("- consul, + emulator\n{disagreement}"),
    }
}

/// Starts a Consul that has written each policy once. On a loaded machine it rarely writes one twice (acl.md 3.r6).
fn start_as_usual(binary: &Path, agent: &Agent) -> Target {
    for _ in 0..5 {
        let target = consul::start(binary, agent).unwrap_or_else(|error| panic!("{error}"));
        let address = target.shared_address().expect("it is one server");
        let request = Request::get("/v1/acl/policies").header("X-Consul-Token", ROOT);
        let Outcome::Reply(reply) = wire::exchange(address, &request) else {
            panic!("the policies are not listed");
        };
        let policies: Value = serde_json::from_slice(&reply.body).expect("policies");
        let mut policies = policies.as_array().expect("a list").iter();
        if policies.all(|policy| policy["CreateIndex"] == policy["ModifyIndex"]) {
            return target;
        }
    }
    panic!("five Consuls in a row have written a policy twice");
}

/// Plays sequences with tokens under some settings of ACLs.
fn play_with_tokens(default_policy: &str, enable_key_list_policy: bool) {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let tokens = json!({"master": ROOT, "agent": ROOT, "default": ROOT});
    let settings = json!({"acl": {
        "enabled": true, "default_policy": default_policy, "tokens": tokens,
        "enable_key_list_policy": enable_key_list_policy,
    }});
    let agent = Agent {
        settings: settings.to_string(),
        ..Agent::default()
    };
    let target = start_as_usual(&binary, &agent);
    let acl = AclConfig {
        enabled: true,
        default_policy: default_policy.to_owned(),
        enable_key_list_policy,
        tokens: AclTokens {
            initial_management: ROOT.to_owned(),
            agent: ROOT.to_owned(),
            ..AclTokens::default()
        },
        ..AclConfig::default()
    };
    let real = side(&target);
    let (_server, emulated) = emulator_with(Config {
        version: Version::V1_8_7,
        acl,
        // Instances of a service stand in the order of their nodes, the agent's among them.
        node_name: real.agents[0].node.clone(),
        ..Config::dev()
    });
    let (operations, seed) = how_much(OPERATIONS_WITH_TOKENS);
    say(&format!(
        "differential with tokens, {default_policy}: seed {seed}"
    ));
    let plan = Plan {
        operations,
        seed,
        blocked_reads: false,
        odd_requests: false,
        acl: true,
    };
    play(&real, &emulated, plan);
}

#[test]
fn the_emulator_refuses_by_default_as_a_real_consul() {
    play_with_tokens("deny", false);
}

#[test]
fn the_emulator_allows_by_default_as_a_real_consul() {
    play_with_tokens("allow", false);
}

#[test]
fn the_emulator_guards_lists_of_keys_as_a_real_consul() {
    play_with_tokens("deny", true);
}

/// The comparison sees what it should, and nothing else.
#[test]
fn another_version_is_told_apart_and_the_same_is_not() {
    tells_versions_apart(emulator);
}

#[test]
fn clusters_of_another_version_are_told_apart_and_the_same_are_not() {
    tells_versions_apart(cluster);
}

fn tells_versions_apart(start: fn(Version) -> (proconsul::Server, Side)) {
    let (_old, old) = start(Version::V1_8_7);
    let (_same, same) = start(Version::V1_8_7);
    let (_new, new) = start(Version::V1_22_0);
    let plan = Plan {
        operations: 500,
        seed: 1,
        blocked_reads: false,
        odd_requests: false,
        acl: false,
    };
    sequence::compare(&old, &same, plan).expect("equal servers agree");
    let found = sequence::compare(&old, &new, plan).expect_err("versions differ");
    assert_eq!(
        found.operations.len(),
        1,
        "shrunk to one operation: {found}"
    );
}
