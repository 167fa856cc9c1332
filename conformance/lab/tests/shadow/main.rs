//! Shadow: what a program gets is the real server's, whatever the emulator does; and what the two answer differently is found.
//!
//! The real server is the emulator here, too, in this process; `../tests/interop.rs` of the suite runs other people's clients through shadow on a real Consul.

mod shadowed;

mod acl;
mod agents;
mod order;
mod saved;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::{
    Address, Connection, Outcome, PATIENCE, Reply, Request, exchange,
};
use proconsul_lab::shadow::Place;
use shadowed::{Shadowed, address, emulator_like, lines, shadowed};

/// A server that stands for the real one.
fn real() -> (proconsul::Server, Address) {
    let config = Config {
        version: Version::V1_8_7,
        ..Config::dev()
    };
    let server = proconsul::Server::builder().config(config).start();
    let server = server.expect("the server starts");
    let address = address(&server.addr().to_string());
    (server, address)
}

#[track_caller]
fn reply(outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("no reply: {other:?}"),
    }
}

#[track_caller]
fn ask(at: &Address, request: &Request) -> Reply {
    reply(exchange(at, request))
}

fn text(reply: &Reply) -> String {
    // A server in development mode ends its answers with a line end.
    String::from_utf8_lossy(&reply.body).trim_end().to_owned()
}

fn put(at: &Address, target: &str, body: &str) -> String {
    text(&ask(at, &Request::put(target, body)))
}

fn get(at: &Address, target: &str) -> Reply {
    ask(at, &Request::get(target))
}

fn index(reply: &Reply) -> &str {
    reply
        .header("X-Consul-Index")
        .expect("a read shows its index")
}

fn session(at: &Address, body: &str) -> String {
    let created = put(at, "/v1/session/create", body);
    created.split('"').nth(3).expect("an id").to_owned()
}

/// Sends a read that waits, from here, so that what comes next comes later.
fn waiting(at: &Address, target: &str) -> Connection {
    let mut connection = Connection::open(at).expect("it listens");
    connection.send(&Request::get(target).to_bytes(&at.host));
    connection
}

/// A program that uses most of what there is; returns how many requests it sent.
fn program(at: &Address) -> usize {
    let holder = session(at, r#"{"Name":"holder","TTL":"90s","LockDelay":"0s"}"#);
    let other = session(at, r#"{"LockDelay":"0s","Behavior":"delete"}"#);
    put(at, "/v1/kv/a/1?flags=42", "one");
    put(at, "/v1/kv/a/empty", "");
    assert_eq!(
        put(at, &format!("/v1/kv/a/lock?acquire={holder}"), &holder),
        "true"
    );
    assert_eq!(
        put(at, &format!("/v1/kv/a/lock?acquire={other}"), ""),
        "false"
    );
    let seen = get(at, "/v1/kv/a/1");
    let last = index(&seen).to_owned();
    let mut woken = waiting(at, &format!("/v1/kv/a/1?index={last}&wait=60s"));
    put(at, "/v1/kv/b", "of no interest to it");
    assert_eq!(put(at, &format!("/v1/kv/a/1?cas={last}"), "two"), "true");
    assert_eq!(put(at, &format!("/v1/kv/a/1?cas={last}"), "three"), "false");
    reply(woken.read(false, PATIENCE));
    get(at, "/v1/kv/a?recurse");
    get(at, "/v1/session/list");
    get(at, &format!("/v1/session/info/{holder}"));
    let txn =
        format!(r#"[{{"KV":{{"Verb":"unlock","Key":"a/lock","Value":"","Session":"{holder}"}}}}]"#);
    assert!(put(at, "/v1/txn", &txn).contains("a/lock"));
    put(
        at,
        "/v1/agent/service/register",
        r#"{"Name":"web","Port":80}"#,
    );
    get(at, "/v1/catalog/service/web");
    get(at, "/v1/agent/self");
    put(at, &format!("/v1/session/destroy/{holder}"), "");
    get(at, "/v1/session/list");
    ask(at, &Request::delete("/v1/kv/a/1"));
    get(at, "/v1/kv/a/1");
    22
}

#[test]
fn a_good_emulator_answers_alike() {
    let (_server, real) = real();
    let shadowed = shadowed(&real, None);
    let count = program(&shadowed.address());
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
    assert_eq!(
        (findings.count_of_same(), findings.exit_status()),
        (count, 0)
    );
}

#[test]
fn altered_emulators_are_found_out() {
    for name in [
        "key/flags-ignored",
        "key/cas-ignored",
        "lock/given-twice",
        "index/modify-index-frozen",
        "header/known-leader-missing",
        "json/empty-value-is-text",
        "session/destroy-does-nothing",
        "status/missing-key-has-a-body",
        "txn/values-shown",
    ] {
        let (_server, real) = real();
        let shadowed = shadowed(&real, Some(name));
        program(&shadowed.address());
        let findings = shadowed.finish();
        let left_out = findings.left_out();
        assert_eq!(findings.exit_status(), 1, "{name}: {left_out:?}");
    }
}

#[test]
fn a_read_that_wakes_on_one_server_alone_is_a_difference() {
    for (name, says) in [
        ("wake/never-comes", "- (answered)\n+ (still waits)\n"),
        ("wake/by-every-write", "- (still waits)\n+ (answered)\n"),
    ] {
        let (_server, real) = real();
        let (seen, found) = mpsc::channel();
        let place = Place::new(&[("127.0.0.1:0", &real.host)], "").expect("the server answers");
        let good = emulator_like(&place);
        let emulator = proconsul_lab::mutate::in_place_of(good, shadowed::mutant(name));
        let emulator = emulator.expect("a proxy listens");
        let observer = move |difference: &proconsul_lab::shadow::Difference| {
            drop(seen.send(difference.lines.clone()));
        };
        let shadow = place.start(&[emulator.address().clone()], Box::new(observer));
        let shadow = shadow.expect("the emulator is empty");
        let at = address(&shadow.addresses()[0].to_string());
        let key = "/v1/kv/conformance/k";
        put(&at, key, "v");
        let last = index(&get(&at, key)).to_owned();
        let mut read = waiting(&at, &format!("{key}?index={last}&wait=300s"));
        // The mutant lets through what has hardly waited.
        let watch = Stopwatch::start();
        while watch.elapsed() < Duration::from_millis(100) {
            get(&at, "/v1/status/leader");
        }
        match name {
            "wake/never-comes" => {
                put(&at, key, "changed");
                reply(read.read(false, PATIENCE));
            }
            _ => drop(put(&at, "/v1/kv/conformance/another", "changed")),
        }
        let difference = found.recv_timeout(PATIENCE);
        assert_eq!(difference.as_deref(), Ok(says), "{name}");
        drop(shadow.finish());
    }
}

/// What the real server says of `request` when it is asked itself, and through shadow, byte for byte but for the date.
fn bytes_of(at: &Address, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(at.socket).expect("it listens");
    stream.write_all(request).expect("it takes requests");
    // A program that says no more and listens on.
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it ends");
    let date = b"Date: ";
    let at = |bytes: &[u8], from: usize| {
        let rest = bytes.get(from..)?;
        Some(from + rest.windows(date.len()).position(|part| part == date)?)
    };
    let mut from = 0;
    while let Some(place) = at(&bytes, from) {
        bytes[place + date.len()..place + date.len() + 29].fill(b'-');
        from = place + date.len();
    }
    bytes
}

#[test]
fn the_program_gets_the_bytes_of_the_real_server() {
    let (_server, real) = real();
    put(&real, "/v1/kv/k", &"long ".repeat(5_000));
    let shadowed = shadowed(&real, None);
    let requests: [&[u8]; 7] = [
        b"GET /v1/kv/k HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/kv/none HTTP/1.1\r\nHost: x\r\n\r\n",
        b"HEAD /v1/kv/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/kv/k?raw HTTP/1.0\r\n\r\n",
        b"GET /v1/kv/k HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
        b"PUT /v1/kv/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"PUT /v1/kv/e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx",
        b"no HTTP at all\r\n\r\n",
    ];
    for request in requests {
        let shown = String::from_utf8_lossy(request).into_owned();
        let through = bytes_of(&shadowed.address(), request);
        assert!(!through.is_empty(), "{shown}");
        assert_eq!(through, bytes_of(&real, request), "{shown}");
    }
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
}

/// A proxy before the emulator that can be told to say nothing any more, and to end.
struct Gate {
    address: Address,
    is_shut: Arc<AtomicBool>,
    held: Arc<Mutex<Vec<TcpStream>>>,
}

impl Gate {
    fn before(emulator: &Address) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let socket = listener.local_addr().expect("it is bound");
        let (is_shut, held) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (shut, its, target) = (Arc::clone(&is_shut), Arc::clone(&held), emulator.socket);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (shut, held) = (Arc::clone(&shut), Arc::clone(&its));
                std::thread::spawn(move || Self::pass(client, target, &shut, &held));
            }
        });
        Self {
            address: address(&socket.to_string()),
            is_shut,
            held,
        }
    }

    fn pass(
        mut client: TcpStream,
        target: std::net::SocketAddr,
        is_shut: &AtomicBool,
        held: &Mutex<Vec<TcpStream>>,
    ) {
        let copy = client.try_clone().expect("a socket can be copied");
        held.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(copy);
        let mut server = TcpStream::connect(target).expect("the emulator listens");
        let mut answers = server.try_clone().expect("a socket can be copied");
        let mut sink = client.try_clone().expect("a socket can be copied");
        std::thread::spawn(move || drop(std::io::copy(&mut answers, &mut sink)));
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = client.read(&mut piece) {
            // Whoever asks now waits until the gate ends.
            if !is_shut.load(Ordering::SeqCst) && server.write_all(&piece[..count]).is_err() {
                return;
            }
        }
    }

    fn shut(&self) {
        self.is_shut.store(true, Ordering::SeqCst);
    }

    /// Ends all connections that there are.
    fn end(&self) {
        for stream in self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

#[test]
fn a_silent_emulator_delays_nothing() {
    let (_server, real) = real();
    let mut place = Place::new(&[("127.0.0.1:0", &real.host)], "").expect("the server answers");
    place.room = 64 * 1024;
    let emulator = emulator_like(&place);
    let gate = Gate::before(emulator.address());
    let shadow = place.start(std::slice::from_ref(&gate.address), Box::new(|_| {}));
    let shadow = shadow.expect("the emulator is empty");
    let at = address(&shadow.addresses()[0].to_string());
    assert_eq!(put(&at, "/v1/kv/before", "v"), "true");
    gate.shut();
    // The emulator answers none of these before all are answered: it has not been told to go on, and never will be.
    let mut connection = Connection::open(&at).expect("it listens");
    for number in 0..200 {
        let request = Request::put(&format!("/v1/kv/k{number}"), "x".repeat(1_000));
        assert_eq!(text(&reply(connection.exchange(&request))), "true");
    }
    gate.end();
    let (findings, ..) = shadow.finish();
    assert!(findings.count_of_dropped() > 0);
    let told = findings.left_out().join("\n");
    assert!(told.contains("the emulator was too slow"), "{told}");
}

#[test]
fn an_emulator_that_answers_too_late_is_given_up() {
    let (_server, real) = real();
    let mut place = Place::new(&[("127.0.0.1:0", &real.host)], "").expect("the server answers");
    assert_eq!(place.patience, Duration::from_secs(5));
    place.patience = Duration::from_millis(50);
    let emulator = emulator_like(&place);
    let gate = Gate::before(emulator.address());
    let shadow = place.start(std::slice::from_ref(&gate.address), Box::new(|_| {}));
    let shadow = shadow.expect("the emulator is empty");
    let at = address(&shadow.addresses()[0].to_string());
    gate.shut();
    for number in 0..3 {
        assert_eq!(put(&at, &format!("/v1/kv/k{number}"), "v"), "true");
    }
    let (findings, ..) = shadow.finish();
    assert_eq!(
        (findings.count_of_dropped(), findings.exit_status()),
        (3, 2),
        "{}",
        lines(&findings)
    );
    let told = findings.left_out().join("\n");
    let says = "nothing was compared any more: the emulator does not answer within 50ms";
    assert!(told.contains(says), "{told}");
}

#[test]
fn a_dead_emulator_delays_nothing_and_is_told() {
    let (_server, real) = real();
    let shadow_with = shadowed(&real, None);
    let at = shadow_with.address();
    assert_eq!(put(&at, "/v1/kv/before", "v"), "true");
    // Its last user is who started it.
    let Shadowed { shadow, _emulator } = shadow_with;
    drop(_emulator);
    for number in 0..20 {
        assert_eq!(put(&at, &format!("/v1/kv/k{number}"), "v"), "true");
    }
    let (findings, ..) = shadow.finish();
    assert_eq!(findings.exit_status(), 2, "{}", lines(&findings));
    let told = findings.left_out().join("\n");
    assert!(told.contains("the emulator is gone"), "{told}");
}

#[test]
fn a_real_server_that_dies_is_told_to_the_program() {
    let (server, real) = real();
    let shadowed = shadowed(&real, None);
    let at = shadowed.address();
    let last = index(&get(&at, "/v1/kv/k")).to_owned();
    let mut read = waiting(&at, &format!("/v1/kv/k?index={last}&wait=300s"));
    drop(server);
    // A server that stops may still answer the read, or break it off.
    let ended = read.read(false, PATIENCE);
    assert!(!matches!(ended, Outcome::Silent { .. }));
    let refused = get(&at, "/v1/kv/k");
    assert_eq!(refused.status, 502);
    let says = format!("proconsul-lab shadow: the real server at {real} does not answer: ");
    assert!(text(&refused).starts_with(&says), "{}", text(&refused));
    let findings = shadowed.finish();
    let told = findings.left_out().join("\n");
    assert!(
        told.contains("connections could not be passed on"),
        "{told}"
    );
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
    assert_eq!(findings.exit_status(), 2);
}

#[test]
fn the_state_that_is_there_already_is_copied() {
    let (_server, real) = real();
    put(&real, "/v1/kv/old/a%20b?flags=7", "before");
    put(&real, "/v1/kv/old/empty", "");
    let holder = session(&real, r#"{"Name":"old","TTL":"90s","LockDelay":"0s"}"#);
    let earlier = session(&real, r#"{"LockDelay":"0s"}"#);
    put(&real, &format!("/v1/kv/old/locked?acquire={earlier}"), "");
    put(&real, &format!("/v1/kv/old/locked?release={earlier}"), "");
    put(
        &real,
        &format!("/v1/kv/old/locked?acquire={holder}"),
        "mine",
    );
    // A write without a session leaves the lock, and counts it as none.
    put(&real, &format!("/v1/kv/old/written?acquire={earlier}"), "");
    put(&real, "/v1/kv/old/written", "over");
    put(&real, "/v1/agent/service/register", r#"{"Name":"own"}"#);
    let register = r#"{"Node":"n1","Address":"10.0.0.1","Service":{"Service":"db","Port":1},"Check":{"Name":"up","Status":"passing"}}"#;
    put(&real, "/v1/catalog/register", register);
    put(
        &real,
        "/v1/query",
        r#"{"Name":"q","Service":{"Service":"db"}}"#,
    );
    let shadowed = shadowed(&real, None);
    let left_out = shadowed.shadow.not_copied();
    let ending = "1 sessions with a TTL may end at another moment until they are renewed: Consul does not show what is left of it";
    assert_eq!(left_out, [ending]);
    let at = shadowed.address();
    let entries = get(&at, "/v1/kv/old?recurse");
    let last = index(&entries).to_owned();
    for target in [
        "/v1/session/list",
        "/v1/catalog/nodes",
        "/v1/health/service/db",
        "/v1/catalog/service/own",
        "/v1/query",
        "/v1/kv/none",
    ] {
        get(&at, target);
    }
    let mut read = waiting(&at, &format!("/v1/kv/old?recurse&index={last}&wait=60s"));
    assert_eq!(
        put(&at, &format!("/v1/kv/old/locked?acquire={earlier}"), ""),
        "false"
    );
    assert_eq!(
        put(&at, &format!("/v1/kv/old/locked?release={holder}"), ""),
        "true"
    );
    reply(read.read(false, PATIENCE));
    put(&at, &format!("/v1/session/destroy/{holder}"), "");
    get(&at, "/v1/kv/old/locked");
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
    assert_eq!(findings.count_of_same(), 12);
}

#[test]
fn an_emulator_with_a_state_is_refused() {
    let (_server, real) = real();
    let place = Place::new(&[("127.0.0.1:0", &real.host)], "").expect("the server answers");
    let emulator = emulator_like(&place);
    put(emulator.address(), "/v1/kv/k", "v");
    let error = place.start(&[emulator.address().clone()], Box::new(|_| {}));
    let error = error.expect_err("it is not empty").0;
    assert!(
        error.ends_with("is not empty: it has 1 keys and 0 sessions"),
        "{error}"
    );
}
