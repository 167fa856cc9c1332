//! Long requests and those who want little meanwhile: one thread serves both.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, spawn};

use proconsul::{Server, Version};

use crate::support::{PATIENCE, ask, exchange, request};

/// What a thread that did the long request in one piece could answer besides at most: one before it, one behind it, and one
/// that comes while the client reads the end.
const AT_MOST_BESIDES: usize = 3;
/// How often a long request is sent until somebody else was answered meanwhile, on a machine that does much else.
const ATTEMPTS: usize = 100;

/// A client that sends one small request after the other.
struct Bystander {
    answered: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Bystander {
    fn of(address: SocketAddr) -> Self {
        let (answered, is_over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (count, end) = (Arc::clone(&answered), Arc::clone(&is_over));
        let thread = spawn(move || {
            let mut wire = TcpStream::connect(address).expect("it listens");
            wire.set_nodelay(true).expect("a socket has no delay");
            wire.set_read_timeout(Some(PATIENCE))
                .expect("a socket has a timeout");
            let mut answer = [0; 4096];
            while !end.load(Ordering::Relaxed) {
                let sent = wire.write_all(b"GET /v1/status/leader HTTP/1.1\r\nHost: x\r\n\r\n");
                sent.expect("it is read");
                assert_ne!(wire.read(&mut answer).expect("an answer comes"), 0);
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self {
            answered,
            is_over,
            thread,
        }
    }

    fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it was answered all the time");
    }
}

/// Fails unless others are answered while a request is.
#[track_caller]
fn assert_holds_nobody_up(server: &Server, method: &str, target: &str, gzip: bool, body: &str) {
    let headers: &[&str] = if gzip {
        &["Accept-Encoding: gzip"]
    } else {
        &[]
    };
    let long = request(method, target, headers, body);
    let bystander = Bystander::of(server.addr());
    let meanwhile = (0..ATTEMPTS).map(|_| {
        let before = bystander.answered();
        let answer = exchange(server.addr(), &long).expect("an answer comes");
        let meanwhile = bystander.answered() - before;
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{}",
            answer.escape_ascii()
        );
        meanwhile
    });
    let most = meanwhile
        .into_iter()
        .find(|meanwhile| *meanwhile > AT_MOST_BESIDES);
    bystander.end();
    assert!(most.is_some(), "{target} holds others up");
}

fn with_keys() -> Server {
    let server = Server::builder().start().expect("a free port");
    for start in (0..20_000).step_by(64) {
        let key = |number| {
            format!(
                r#"{{ "KV": {{ "Verb": "set", "Key": "many/{number}", "Value": "eHh4eHh4" }} }}"#
            )
        };
        let keys: Vec<_> = (start..start + 64).map(key).collect();
        ask(&server, "PUT", "/v1/txn", &format!("[{}]", keys.join(",")));
    }
    server
}

#[test]
fn long_lists_hold_nobody_up() {
    let server = with_keys();
    for target in ["/v1/kv/many/?recurse", "/v1/kv/?keys"] {
        for gzip in [false, true] {
            assert_holds_nobody_up(&server, "GET", target, gzip, "");
        }
    }
    let body = r#"[{ "KV": { "Verb": "get-tree", "Key": "many/" } }]"#;
    assert_holds_nobody_up(&server, "PUT", "/v1/txn", true, body);
    assert_holds_nobody_up(&server, "GET", "/proconsul/v1/state", false, "");
    assert_holds_nobody_up(&server, "GET", "/proconsul/v1/history", false, "");
}

#[test]
fn filters_with_patterns_hold_nobody_up() {
    let server = Server::builder().start().expect("a free port");
    let meta = "ab".repeat(200);
    for number in 0..20 {
        let service = format!(r#"{{ "Name": "s{number}", "Meta": {{ "a": "{meta}" }} }}"#);
        ask(&server, "PUT", "/v1/agent/service/register", &service);
    }
    let pattern = "(a|b|ab){1,20}(a?b?){50}c$";
    let target = format!("/v1/agent/services?filter=Meta.a%20matches%20%22{pattern}%22");
    assert_holds_nobody_up(&server, "GET", &target, false, "");
}

#[test]
fn long_bodies_hold_nobody_up() {
    // Later releases refuse it.
    let server = Server::builder().version(Version::V1_22_0).start();
    let server = server.expect("a free port");
    let tags = vec![r#""tag""#; 200_000].join(",");
    let body = format!(r#"{{ "Name": "web", "Tags": [{tags}] }}"#);
    assert_holds_nobody_up(&server, "PUT", "/v1/agent/service/register", false, &body);
}
