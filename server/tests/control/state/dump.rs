//! The whole state as JSON: what is loaded answers as what was dumped, and goes on as it would have.

use std::time::Duration;

use fastrand::Rng;
use proconsul::control::{LoadError, Session};
use proconsul::{Server, Version};
use proconsul_engine::BlockedOn;
use proconsul_store::{Behavior, NewSession, SessionId};

use crate::support::{Answer, PATIENCE, SECOND, ask, background, frozen, get, join, put};

const KEYS: [&str; 6] = ["a", "a/b", "a/%ff", "b", "lock", "%C3%A9"];
const NODES: [&str; 3] = ["n1", "N2", "proconsul"];
const STATUSES: [&str; 3] = ["passing", "warning", "critical"];

/// A server under way: what its script can name, and its chance.
struct World<'a> {
    server: &'a Server,
    random: Rng,
    /// How many sessions were created: they are numbered, so that two servers number them alike.
    sessions: u8,
}

fn session_id(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

impl<'a> World<'a> {
    fn new(server: &'a Server, seed: u64, sessions: u8) -> Self {
        Self {
            server,
            random: Rng::with_seed(seed),
            sessions,
        }
    }

    fn one_of(&mut self, of: &[&'static str]) -> &'static str {
        of[self.random.usize(..of.len())]
    }

    fn session(&mut self) -> String {
        session_id(self.random.u8(..=self.sessions)).to_string()
    }

    fn call(&self, method: &str, target: &str, body: &str) -> String {
        let answer = ask(self.server, method, target, body);
        assert!(answer.status < 501, "{method} {target}: {}", answer.body);
        format!("{method} {target}: {} {}\n", answer.status, answer.body)
    }

    /// Does something, and tells what came of it.
    fn step(&mut self) -> String {
        let key = self.one_of(&KEYS);
        let session = self.session();
        let number = self.random.u8(..3);
        match self.random.u8(..20) {
            0..4 => self.call("PUT", &format!("/v1/kv/{key}?flags={number}"), "v"),
            4..6 => self.call("DELETE", &format!("/v1/kv/{key}"), ""),
            6 => self.call("DELETE", &format!("/v1/kv/{key}?recurse"), ""),
            7..10 => self.call("PUT", &format!("/v1/kv/{key}?acquire={session}"), "held"),
            10 => self.call("PUT", &format!("/v1/kv/{key}?release={session}"), "free"),
            11 => self.create(number),
            12 => self.call("PUT", &format!("/v1/session/renew/{session}"), ""),
            13 => self.call("PUT", &format!("/v1/session/destroy/{session}"), ""),
            14 => self.register(number),
            15 => self.deregister(number),
            16 => self.agent(number),
            17 => self.report(number),
            _ => {
                let seconds = [0.5, 7.0, 31.0, 1000.0][usize::from(number)];
                let caused = self.server.advance(Duration::from_secs_f64(seconds));
                let words = caused.iter().map(|record| format!("{}\n", record.what));
                words.collect()
            }
        }
    }

    /// Not over the wire, where ids are of the server's own making.
    fn create(&mut self, number: u8) -> String {
        self.sessions += 1;
        let ttl = Duration::from_secs(u64::from(number) * 10);
        let session = NewSession {
            id: session_id(self.sessions),
            name: "s".to_owned(),
            node: "proconsul".to_owned(),
            lock_delay_ns: 15_000_000_000,
            behavior: [Behavior::Release, Behavior::Delete][usize::from(number % 2)],
            ttl_text: if number == 0 {
                String::new()
            } else {
                format!("{}s", ttl.as_secs())
            },
            ttl,
            node_checks: Some(vec!["serfHealth".to_owned()]),
            service_checks: None,
            checks: Vec::new(),
        };
        let created = self.server.engine().apply(session);
        format!("{:?}\n", created.is_ok())
    }

    fn register(&mut self, number: u8) -> String {
        let (node, status) = (self.one_of(&NODES[..2]), self.one_of(&STATUSES));
        let body = format!(
            r#"{{"Node":"{node}","Address":"10.0.0.{number}","Service":{{"ID":"w{number}","Service":"web","Tags":["t"],
                "TaggedAddresses":{{"lan":{{"Address":"1.2.3.4","Port":5}}}}}},
                "Check":{{"CheckID":"c{number}","Name":"c","Status":"{status}","ServiceID":"w{number}"}}}}"#
        );
        self.call("PUT", "/v1/catalog/register", &body)
    }

    fn deregister(&mut self, number: u8) -> String {
        let node = self.one_of(&NODES);
        let body = match number {
            0 => format!(r#"{{"Node":"{node}"}}"#),
            1 => format!(r#"{{"Node":"{node}","ServiceID":"w1"}}"#),
            _ => format!(r#"{{"Node":"{node}","CheckID":"c2"}}"#),
        };
        self.call("PUT", "/v1/catalog/deregister", &body)
    }

    fn agent(&mut self, number: u8) -> String {
        let body = r#"{"ID":"own","Name":"own","Port":80,"Meta":{"a":"b"},
            "Check":{"CheckID":"alive","TTL":"20s","DeregisterCriticalServiceAfter":"1m"}}"#;
        match number {
            0 => self.call("PUT", "/v1/agent/service/register", body),
            1 => self.call("PUT", "/v1/agent/maintenance?enable=true&reason=r", ""),
            _ => self.call("PUT", "/v1/agent/maintenance?enable=false", ""),
        }
    }

    fn report(&mut self, number: u8) -> String {
        let verb = ["pass", "warn", "fail"][usize::from(number)];
        let note = self.random.u8(..);
        self.call(
            "PUT",
            &format!("/v1/agent/check/{verb}/alive?note={note}"),
            "",
        )
    }
}

/// What scripts cannot do alike on two servers: everything with ids that the server makes, and checks that are run.
fn furnish(server: &Server) {
    for body in [
        r#"{"Name":"q","Service":{"Service":"web"}}"#,
        r#"{"Name":"t","Template":{"Type":"name_prefix_match","Regexp":"^t(.*)$"},"Service":{"Service":"${match(1)}"}}"#,
    ] {
        assert_eq!(ask(server, "POST", "/v1/query", body).status, 200);
    }
    for payload in ["one", "\u{0}"] {
        put(server, "/v1/event/fire/deploy?node=.*", payload);
    }
    let check =
        r#"{"Name":"asked","HTTP":"http://127.0.0.1:1/","Interval":"90000h","Header":{"a":["b"]}}"#;
    assert_eq!(put(server, "/v1/agent/check/register", check).status, 200);
    let check = r#"{"Name":"connected","TCP":"127.0.0.1:1","Interval":"90000h"}"#;
    assert_eq!(put(server, "/v1/agent/check/register", check).status, 200);
    for entry in [
        r#"{"Kind":"proxy-defaults","Name":"global","Config":{"a":{"b":[1.5,"x",{}]},"protocol":"http"}}"#,
        r#"{"Kind":"service-resolver","Name":"Web","ConnectTimeout":"3s","Subsets":{"v1":{"OnlyPassing":true}}}"#,
        r#"{"Kind":"service-splitter","Name":"web","Splits":[{"Weight":33.33},{"Weight":66.67,"ServiceSubset":"v1"}]}"#,
        r#"{"Kind":"ingress-gateway","Name":"gate","Listeners":[]}"#,
    ] {
        assert_eq!(
            put(server, "/v1/config", entry).body.trim(),
            "true",
            "{entry}"
        );
    }
}

/// What a check of HTTPS trusts is part of the state.
#[test]
fn a_check_keeps_whom_it_trusts() {
    let server = frozen();
    let check = r#"{"Name":"asked","HTTP":"https://127.0.0.1:1/","Interval":"90000h","TLSSkipVerify":true,"tls_server_name":"web"}"#;
    assert_eq!(put(&server, "/v1/agent/check/register", check).status, 200);
    let state = server.dump();
    let written: serde_json::Value = serde_json::from_str(&state).expect("a state is JSON");
    let text = written.to_string();
    for part in [r#""tls_skip_verify":true"#, r#""tls_server_name":"web""#] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let other = frozen();
    other.load(&state).expect("it is a state");
    assert_eq!(other.dump(), state);
}

/// Each kind of check that is run goes on with the other server as it was registered.
#[test]
fn checks_keep_what_they_ask() {
    let server = frozen();
    for asked in [
        r#""UDP":"127.0.0.1:1""#,
        r#""GRPC":"127.0.0.1:1/web""#,
        r#""GRPC":"127.0.0.1:1","GRPCUseTLS":true,"TLSSkipVerify":true"#,
        r#""H2PING":"127.0.0.1:1","TLSServerName":"web""#,
        r#""H2PING":"127.0.0.1:1","H2PingUseTLS":false"#,
    ] {
        let name = asked.replace('"', "'");
        let check = format!(r#"{{"Name":"{name}",{asked},"Interval":"90000h"}}"#);
        assert_eq!(put(&server, "/v1/agent/check/register", &check).status, 200);
    }
    let state = server.dump();
    let other = frozen();
    other.load(&state).expect("it is a state");
    assert_eq!(other.dump(), state);
    for part in [
        "\"udp\"",
        "\"grpc\"",
        "\"h2-ping\"",
        "\"server_name\": \"web\"",
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }
}

/// So is where a service is reached and what its proxy says.
#[test]
fn services_keep_their_ports_places_and_virtual_addresses() {
    let server = frozen();
    let place = r#""Locality":{"Region":"r","Zone":"z"}"#;
    for service in [
        r#""Service":"several","SocketPath":"/s","Ports":[{"Name":"a","Port":80,"Default":true},{"Name":"b","Port":81}]"#,
        r#""Service":"px","Kind":"connect-proxy","Port":1,"Proxy":{"DestinationServiceName":"web","Mode":"transparent",
            "TransparentProxy":{"OutboundListenerPort":2,"DialedDirectly":true},"Upstreams":[{"DestinationName":"u","LocalBindPort":3}],
            "Expose":{"Paths":[{"Path":"/","ListenerPort":4,"ParsedFromCheck":true}]}}"#,
    ] {
        let body = format!(
            r#"{{"Node":"n","Address":"","SkipNodeUpdate":true,{place},"Service":{{{service},{place}}}}}"#
        );
        assert_eq!(put(&server, "/v1/catalog/register", &body).status, 200);
    }
    let state = server.dump();
    let other = frozen();
    other.load(&state).expect("it is a state");
    assert_eq!(other.dump(), state);
    let read = |server| get(server, "/v1/catalog/node/n").body;
    let shown = read(&server);
    for part in [
        "240.0.0.1",
        "ParsedFromCheck",
        "DialedDirectly",
        "SocketPath",
        "Zone",
        "\"b\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(read(&other), shown);
}

const READS: [&str; 37] = [
    "/v1/kv/?recurse",
    "/v1/kv/?keys",
    "/v1/kv/a",
    "/v1/kv/a?recurse",
    "/v1/kv/lock",
    "/v1/kv/missing",
    "/v1/kv/missing?recurse",
    "/v1/session/list",
    "/v1/session/node/proconsul",
    "/v1/session/info/01010101-0101-0101-0101-010101010101",
    "/v1/catalog/nodes",
    "/v1/catalog/node/n1",
    "/v1/catalog/node/proconsul",
    "/v1/catalog/node/missing",
    "/v1/catalog/services",
    "/v1/catalog/service/web",
    "/v1/catalog/service/missing",
    "/v1/catalog/node-services/n2",
    "/v1/catalog/connect/web",
    "/v1/health/node/proconsul",
    "/v1/health/checks/web",
    "/v1/health/service/web",
    "/v1/health/service/missing",
    "/v1/health/state/any",
    "/v1/agent/services",
    "/v1/agent/checks",
    "/v1/agent/service/own",
    "/v1/agent/health/service/name/own",
    "/v1/query",
    "/v1/query/tail/explain",
    "/v1/event/list",
    "/v1/coordinate/nodes",
    "/v1/config/proxy-defaults/global",
    "/v1/config/service-resolver",
    "/v1/config/ingress-gateway/gate",
    "/v1/discovery-chain/web",
    "/v1/operator/raft/configuration",
];

/// Every read, as it is answered but for the machine's time.
fn reads(server: &Server) -> Vec<(&'static str, u16, String, String)> {
    let read = |target| {
        let Answer { status, head, body } = get(server, target);
        let head = head.lines().filter(|line| !line.starts_with("Date: "));
        (target, status, head.collect(), body)
    };
    READS.map(read).into()
}

/// A server that a script has run on.
fn lived(seed: u64) -> (Server, u8) {
    let server = frozen();
    furnish(&server);
    let mut world = World::new(&server, seed, 0);
    for _ in 0..60 {
        world.step();
    }
    let sessions = world.sessions;
    (server, sessions)
}

#[test]
fn a_loaded_state_answers_and_goes_on_as_the_one_that_was_dumped() {
    for seed in 0..25 {
        let (server, sessions) = lived(seed);
        let state = server.dump();
        let other = Server::builder()
            .frozen()
            .seed(99)
            .start()
            .expect("a free port");
        // Another time on the clock, before that of the first server or after it.
        other.advance(Duration::from_secs(seed * 700));
        other.load(&state).expect("it is a state");
        assert_eq!(other.dump(), state, "seed {seed}");
        assert_eq!(reads(&other), reads(&server), "seed {seed}");
        let mut world = World::new(&server, seed + 1000, sessions);
        let mut other_world = World::new(&other, seed + 1000, sessions);
        for step in 0..40 {
            assert_eq!(other_world.step(), world.step(), "seed {seed}, step {step}");
        }
        assert_eq!(reads(&other), reads(&server), "seed {seed}");
        assert_eq!(other.dump(), server.dump(), "seed {seed}");
    }
}

#[test]
fn what_was_left_is_left() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    assert_eq!(server.kv().acquire("k", "1", &session), Ok(true));
    server.advance(20 * SECOND);
    let holder = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    server.advance(12 * SECOND);
    let state = server.dump();
    let other = frozen();
    other.load(&state).expect("it is a state");
    assert_eq!(other.explain("k").lock_delay_left, Some(3 * SECOND));
    assert_eq!(other.next_deadline(), Some(3 * SECOND));
    assert_eq!(other.now().as_nanos(), 0, "the clock is the server's own");
    other.advance(3 * SECOND);
    assert_eq!(other.kv().acquire("k", "2", &holder), Ok(true));
    other.advance(5 * SECOND);
    assert!(
        other.explain("k").holder.is_none(),
        "the rest of its TTL is over"
    );
}

#[test]
fn a_load_answers_those_who_wait_with_what_is_there_now() {
    let server = frozen();
    server.kv().put("k", "1");
    let state = server.dump();
    let old = server.index().0;
    server.kv().put("k", "2");
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={}", old + 1));
    let other = background(&server, "GET", &format!("/v1/session/list?index={old}"));
    server
        .wait_blocked(&BlockedOn::Anything, 2, PATIENCE)
        .expect("both block");
    server.load(&state).expect("it is a state");
    let answer = join(waiting);
    assert_eq!((answer.index(), answer.body.as_str()), (old, "1"));
    assert_eq!(join(other).body.trim(), "[]");
    assert!(server.history_text().contains("state loaded"));
}

#[test]
fn over_http_it_is_the_same() {
    let (server, _) = lived(3);
    let state = get(&server, "/proconsul/v1/state");
    assert_eq!(state.body, server.dump());
    assert_eq!(state.header("Content-Type"), Some("application/json"));
    let other = frozen();
    let loaded = put(&other, "/proconsul/v1/state", &state.body);
    let index = format!("{{\"index\":{}}}", server.index().0);
    assert_eq!((loaded.status, loaded.body), (200, index));
    assert_eq!(other.dump(), state.body);
    let refused = put(&other, "/proconsul/v1/state", "{}");
    let expected = "not a state: missing field `format` at line 1 column 2\n";
    assert_eq!((refused.status, refused.body.as_str()), (400, expected));
    assert_eq!(other.dump(), state.body);
}

/// A state of format 1 with rows of every kind, as the first server that knew the format wrote it.
const FIRST: &str = include_str!("state.json");

#[test]
fn a_state_of_an_earlier_server_is_loaded_and_written_as_it_was() {
    let server = Server::builder().version(Version::V1_22_0).frozen();
    let server = server.start().expect("a free port");
    server.load(FIRST).expect("it is a state");
    assert_eq!(server.dump(), FIRST);
}

/// A state with one thing changed, and what is said about it.
const DAMAGES: [(&str, &str, &str); 16] = [
    (
        r#""format": 1"#,
        r#""format": 2"#,
        "the state has format 2, expected 1",
    ),
    (
        r#""version": "2.1.0""#,
        r#""version": "1.8.7""#,
        "the state is of a server with version 1.8.7, expected 2.1.0 as this one has",
    ),
    (
        r#""node": "proconsul","#,
        r#""node": "n9","#,
        "the state is of a server with node n9, expected proconsul as this one has",
    ),
    (
        r#""datacenter": "dc1""#,
        r#""datacenter": "dc2""#,
        "the state is of a server with datacenter dc2, expected dc1 as this one has",
    ),
    (
        r#""index": 9,"#,
        r#""index": 8,"#,
        "key \"k\" has the index 9, after that of the state, 8",
    ),
    (
        r#""index": 9,"#,
        r#""index": -1,"#,
        "not a state: invalid value: integer `-1`, expected u64",
    ),
    (
        r#""index": 9,"#,
        r#""index": 18446744073709551615,"#,
        "the index 18446744073709551615 is too high",
    ),
    (r#""key": "k""#, r#""key": """#, "a key is empty"),
    (
        r#""key": "k""#,
        r#""key": {"base64": "?"}"#,
        "not a state: expected a text, or {\"base64\": \"...\"} with its bytes",
    ),
    (
        r#""flags": 0"#,
        r#""flags": 0, "colour": 1"#,
        "not a state: unknown field `colour`",
    ),
    (
        r#""lapses_in": "20s""#,
        r#""lapses_in": "20""#,
        "missing unit in duration",
    ),
    (
        r#""lapses_in": "20s""#,
        r#""lapses_in": null"#,
        "lapses if, and only if, it has a TTL",
    ),
    (
        r#""lapses_in": "20s""#,
        r#""lapses_in": "-1s""#,
        "would have lapsed",
    ),
    (
        r#""ttl": "10s""#,
        r#""ttl": "-10s""#,
        "\"-10s\" is negative",
    ),
    (
        r#""session": "01010101"#,
        r#""session": "02020202"#,
        "which is not there",
    ),
    (
        r#""node": "proconsul",
      "lock_delay_ns""#,
        r#""node": "gone",
      "lock_delay_ns""#,
        "is of node \"gone\", which is not there",
    ),
];

#[test]
fn what_is_no_state_is_refused_with_a_sentence_and_changes_nothing() {
    let server = frozen();
    World::new(&server, 0, 0).create(1);
    let id = session_id(1).to_string();
    assert_eq!(server.kv().acquire("k", "1", &id), Ok(true));
    let state = server.dump();
    for (good, bad, sentence) in DAMAGES {
        let damaged = state.replacen(good, bad, 1);
        assert_ne!(damaged, state, "{good} is there");
        let before = server.dump();
        let refused = server.load(&damaged).expect_err(bad).to_string();
        assert!(refused.contains(sentence), "{bad}: {refused}");
        assert_eq!(server.dump(), before, "{bad}");
    }
    let error = server.load(&state.replace("\"format\": 1", "\"format\": 7"));
    assert_eq!(error, Err(LoadError::Format(7)));
}

/// They are shown as they are: what is no JSON must not get in.
#[test]
fn settings_of_a_proxy_that_are_no_json_are_refused() {
    let server = frozen();
    let body = r#"{"Name":"p","Kind":"connect-proxy","Port":1,"Proxy":{"DestinationServiceName":"x","Config":{"a":[1]}}}"#;
    put(&server, "/v1/agent/service/register", body);
    let state = server.dump();
    let good = r#""config": "{\"a\":[1]}""#;
    assert!(state.contains(good), "{state}");
    for bad in ["nope", "[1]", "null", "{", ""] {
        let damaged = state.replace(good, &format!("\"config\": \"{bad}\""));
        let refused = server.load(&damaged).expect_err(bad).to_string();
        assert!(refused.contains("the config of a proxy: "), "{refused}");
    }
    server.load(&state).expect("it is a state of a server");
    let read = get(&server, "/v1/agent/service/p");
    assert!(read.body.contains(r#""Config":{"a":[1]}"#), "{}", read.body);
}

/// Damages nobody thought of: what is refused changes nothing, and what is not is a state that a server can be in.
#[test]
fn a_damaged_state_is_refused_or_served() {
    let (origin, _) = lived(5);
    let state = origin.dump();
    let lines: Vec<&str> = state.lines().collect();
    let mut random = Rng::with_seed(11);
    let server = frozen();
    let mut refusals = 0;
    for _ in 0..400 {
        let damaged = damaged(&lines, &mut random);
        let before = server.dump();
        match server.load(&damaged) {
            Err(error) => {
                refusals += 1;
                assert!(error.to_string().len() > 15, "{error}");
                assert_eq!(server.dump(), before, "{error}");
            }
            Ok(()) => {
                // A template that has come to be none is said to be none.
                let may_fail = |target| target == "/v1/query/tail/explain";
                for (target, status, _, body) in reads(&server) {
                    let is_served = status != 500 || may_fail(target);
                    assert!(is_served, "{target}: {body}\n{damaged}");
                }
                server.advance(100 * SECOND);
                server.kv().delete_tree("");
                server
                    .load(&server.dump())
                    .expect("it is a state of a server");
            }
        }
    }
    assert!(
        (200..400).contains(&refusals),
        "{refusals} of 400 were refused"
    );
}

/// A state with one line gone, twice, cut short, with another number or with another's end.
fn damaged(lines: &[&str], random: &mut Rng) -> String {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let place = random.usize(1..lines.len() - 1);
    let other = lines[random.usize(1..lines.len() - 1)].clone();
    match random.u8(..6) {
        0 => drop(lines.remove(place)),
        1 => lines.insert(place, lines[place].clone()),
        2 => lines.truncate(place),
        3 => lines[place] = lines[place].replace(char::is_numeric, "9"),
        4 => lines[place] = lines[place].replace("\": ", "\": -"),
        _ => lines[place] = other,
    }
    lines.join("\n")
}
