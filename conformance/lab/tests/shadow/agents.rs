//! Shadow with several agents.

use proconsul::config::Config;
use proconsul_conformance::wire::{Address, PATIENCE, Request};
use proconsul_lab::shadow::{Place, Shadow};

use crate::shadowed::{address, emulator_like, lines};
use crate::{ask, get, index, put, reply, session, waiting};

/// Starts the real side: two servers and a client agent.
fn real() -> proconsul::Server {
    let config = Config {
        node_name: "first".to_owned(),
        agent_names: ["first", "other", "client"].map(str::to_owned).to_vec(),
        ..Config::dev()
    };
    let server = proconsul::Server::builder().config(config);
    let server = server.agents_and_clients(2, 1).start();
    server.expect("the server starts")
}

/// A shadow before these agents, in this order, and the emulator's addresses in the same order.
fn shadowed(real: &proconsul::Server, agents: [usize; 3]) -> (Shadow, [Address; 3], impl Sized) {
    let urls = agents.map(|agent| real.agent(agent).addr().to_string());
    let pairs = urls.each_ref().map(|url| ("127.0.0.1:0", url.as_str()));
    let place = Place::new(&pairs, "").expect("the real agents answer");
    let emulator = emulator_like(&place);
    let emulated = place.agents_of(emulator.address()).expect("it says them");
    // Theirs are in the order of the servers.
    let beside = agents.map(|agent| emulated[agent].clone());
    let shadow = place.start(&emulated, Box::new(|_| {}));
    (shadow.expect("the emulator is empty"), beside, emulator)
}

fn addresses(shadow: &Shadow) -> [Address; 3] {
    let all = shadow.addresses().into_iter();
    let all: Vec<_> = all.map(|socket| address(&socket.to_string())).collect();
    all.try_into().expect("there are three")
}

#[test]
fn each_agent_has_its_own_beside_it() {
    let real = real();
    put(
        &address(&real.agent(1).addr().to_string()),
        "/v1/agent/service/register",
        r#"{"Name":"before"}"#,
    );
    let (shadow, _, _emulator) = shadowed(&real, [2, 0, 1]);
    let [client, first, other] = addresses(&shadow);
    let holder = session(&client, r#"{"LockDelay":"0s"}"#);
    assert_eq!(
        put(&other, &format!("/v1/kv/lock?acquire={holder}"), "x"),
        "true"
    );
    let seen = get(&first, "/v1/kv/lock");
    let last = index(&seen).to_owned();
    let mut woken = waiting(&other, &format!("/v1/kv/lock?index={last}&wait=60s"));
    put(&client, &format!("/v1/kv/lock?release={holder}"), "x");
    reply(woken.read(false, PATIENCE));
    put(&other, "/v1/agent/service/register", r#"{"Name":"own"}"#);
    for at in [&client, &first, &other] {
        for target in [
            "/v1/kv/lock?consistent",
            "/v1/kv/lock?stale",
            "/v1/agent/self",
            "/v1/agent/services",
            "/v1/agent/members",
            "/v1/catalog/nodes",
            "/v1/catalog/node/other",
            "/v1/status/leader",
            "/v1/status/peers",
            "/v1/health/node/client",
        ] {
            ask(at, &Request::get(target));
        }
    }
    let findings = shadow.finish().0;
    assert_eq!(lines(&findings), "");
    assert_eq!(findings.exit_status(), 0, "{}", findings.summary());
}

#[test]
fn what_one_agent_answers_otherwise_is_found_there() {
    let real = real();
    let (shadow, beside, _emulator) = shadowed(&real, [0, 1, 2]);
    put(
        &beside[1],
        "/v1/agent/service/register",
        r#"{"Name":"odd"}"#,
    );
    for at in addresses(&shadow) {
        get(&at, "/v1/agent/services");
    }
    let findings = shadow.finish().0;
    let found = findings.differences();
    assert_eq!(found.len(), 1, "{}", lines(&findings));
    assert!(found[0].lines.contains("odd"), "{}", found[0].lines);
}

#[test]
fn an_emulator_that_lacks_an_agent_is_refused() {
    let real = real();
    let urls = [0, 1].map(|agent| real.agent(agent).addr().to_string());
    let pairs = urls.each_ref().map(|url| ("127.0.0.1:0", url.as_str()));
    let place = Place::new(&pairs, "").expect("the real agents answer");
    let emulator = emulator_like(&place);
    let refused = place.start(std::slice::from_ref(emulator.address()), Box::new(|_| {}));
    let why = refused.expect_err("one is missing").0;
    assert_eq!(why, "the emulator has no agent that is called other");
}

#[test]
fn agents_that_share_a_name_are_refused() {
    let real = real();
    let url = real.agent(1).addr().to_string();
    let refused = Place::new(&[("127.0.0.1:0", &url), ("127.0.0.1:0", &url)], "");
    let why = refused.expect_err("one is there twice").0;
    assert_eq!(why, format!("{url} and {url} are both called other"));
}
