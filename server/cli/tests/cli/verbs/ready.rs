//! `ready`, which Consul does not have, and `entrypoint`, as an image runs it.

use std::process::Output;

use proconsul::Server;
use proconsul::faults::LeaderLoss;

use crate::agent::Run;
use crate::verbs::commands::{line, own, run, seen};

fn ready(server: &Server, arguments: &str) -> Output {
    run(&own(), server, &line(&format!("ready {arguments}")))
}

#[test]
fn a_server_that_can_be_used_is_ready_and_stays_as_it_is() {
    let server = Server::builder().frozen().start().expect("a free port");
    let before = server.dump();
    let expected = format!(
        "{} is ready: keys and sessions work
",
        server.addr()
    );
    for _ in 0..3 {
        let (out, errors, code) = seen(&ready(&server, ""));
        assert_eq!(
            (out, errors, code),
            (expected.clone(), String::new(), Some(0))
        );
    }
    assert_eq!(before, server.dump());
}

#[test]
fn what_keeps_a_server_from_being_used_is_said() {
    let server = Server::builder().frozen().start().expect("a free port");
    let refused = |arguments: &str| {
        let (out, errors, code) = seen(&ready(&server, arguments));
        assert_eq!((&out[..], code), ("", Some(1)), "{errors}");
        errors
    };
    let silent = refused("-timeout=50ms -http-addr=127.0.0.1:1");
    let expected = "127.0.0.1:1 is not ready after 50ms: no connection to Consul at 127.0.0.1:1";
    assert!(silent.starts_with(expected), "{silent}");

    server
        .catalog()
        .fail_check("proconsul", "serfHealth")
        .expect("the node has this check");
    let critical = refused("-timeout=200ms");
    assert!(
        critical.contains("the health of its node \"proconsul\" is critical"),
        "{critical}"
    );
    server
        .catalog()
        .pass_check("proconsul", "serfHealth")
        .expect("the node has this check");
    assert_eq!(ready(&server, "").status.code(), Some(0));

    // On a clock that stands still the error never comes; the wait ends all the same.
    server.lose_leader(LeaderLoss::never_elected());
    assert!(refused("-timeout=200ms").contains("it has not answered"));
    server.find_leader();
    assert_eq!(ready(&server, "").status.code(), Some(0));
    assert!(refused("now").contains("Too many arguments"));
}

/// A health check has no token.
#[test]
fn a_server_that_refuses_the_token_is_ready() {
    let guarded = Server::builder().acl("root").start().expect("a free port");
    let (out, errors, code) = seen(&ready(&guarded, ""));
    assert_eq!((&errors[..], code), ("", Some(0)));
    assert!(out.contains(" is ready: "));
}

#[test]
fn the_entry_of_an_image_runs_an_agent_for_everybody_by_default() {
    for arguments in [
        &["entrypoint"][..],
        &["entrypoint", "-dev", "-client=0.0.0.0"],
    ] {
        let run = Run::verb("entrypoint", arguments).at_a_free_port();
        let run = run.variable("CONSUL_LOCAL_CONFIG", r#"{"datacenter": "dc-image"}"#);
        let mut agent = run.start().ready();
        assert!(
            agent.log().contains("Client Addr: [0.0.0.0]"),
            "{}",
            agent.log()
        );
        assert!(agent.get("/v1/catalog/datacenters").contains("dc-image"));
    }
    let version = Run::verb("entrypoint-version", &["entrypoint", "consul", "version"]).output();
    assert!(version.stdout.starts_with("Consul v"), "{}", version.stdout);
}
