//! Requests that overlap: what has one possible order is compared, and what has several is not judged, but counted.
//!
//! The real server answers at once, and a proxy before it holds its answers, so that requests overlap in the way in which a test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use proconsul_conformance::wire::{Address, Connection, PATIENCE, Request};

use crate::shadowed::{Shadowed, address, lines, shadowed};
use crate::{get, put, real, reply, session, text};

/// A proxy that holds answers back.
#[derive(Clone, Default)]
struct Dam(Arc<(Mutex<Held>, Condvar)>);

#[derive(Default)]
struct Held {
    is_shut: bool,
    /// Requests that came while it was shut, and how many of their answers have come.
    requests: usize,
    answers: usize,
    /// The requests whose answers may go on, by their numbers from 0.
    free: Vec<usize>,
}

impl Dam {
    /// Stands before a server; returns where it listens.
    fn before(server: &Address) -> (Self, Address) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let socket = listener.local_addr().expect("it is bound");
        let (dam, target) = (Self::default(), server.socket);
        let its = dam.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let dam = its.clone();
                let server = TcpStream::connect(target).expect("the server listens");
                std::thread::spawn(move || dam.pass(client, server));
            }
        });
        (dam, address(&socket.to_string()))
    }

    /// One connection, on which each piece is a whole request or answer.
    fn pass(&self, mut client: TcpStream, mut server: TcpStream) {
        let mut piece = [0; 65536];
        while let Ok(count @ 1..) = client.read(&mut piece) {
            let number = self.with(|held| {
                held.requests += usize::from(held.is_shut);
                held.is_shut.then(|| held.requests - 1)
            });
            if server.write_all(&piece[..count]).is_err() {
                return;
            }
            let Ok(count @ 1..) = server.read(&mut piece) else {
                return;
            };
            if let Some(number) = number {
                self.with(|held| held.answers += 1);
                self.until(|held| held.free.contains(&number));
            }
            if client.write_all(&piece[..count]).is_err() {
                return;
            }
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Held) -> T) -> T {
        let (held, changed) = &*self.0;
        let result = change(&mut held.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
        result
    }

    fn until(&self, comes: impl Fn(&Held) -> bool) {
        let (held, changed) = &*self.0;
        let held = held.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_timeout_while(held, PATIENCE, |held| !comes(held)));
    }

    /// Sends requests, each when the real server has done the one before; then lets their answers through in another order.
    fn overlap(&self, at: &Address, requests: &[Request], order: &[usize]) -> Vec<String> {
        self.with(|held| {
            *held = Held {
                is_shut: true,
                ..Held::default()
            };
        });
        let mut connections = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let mut connection = Connection::open(at).expect("it listens");
            connection.send(&request.to_bytes(&at.host));
            connections.push(connection);
            self.until(|held| held.answers > number);
        }
        self.with(|held| held.is_shut = false);
        let mut answers = vec![String::new(); requests.len()];
        for number in order {
            self.with(|held| held.free.push(*number));
            answers[*number] = text(&reply(connections[*number].read(false, PATIENCE)));
        }
        answers
    }
}

/// A shadow before a dam before a real server, which a test keeps.
fn dammed(altered: Option<&str>) -> (proconsul::Server, Dam, Shadowed) {
    let (server, real) = real();
    let (dam, at) = Dam::before(&real);
    let shadowed = shadowed(&at, altered);
    (server, dam, shadowed)
}

/// How many answers differed and were not judged, where no difference was found.
#[track_caller]
fn unjudged(shadowed: Shadowed) -> usize {
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
    assert_eq!(findings.exit_status(), 0, "{:?}", findings.left_out());
    let told = findings.left_out().join("\n");
    assert_eq!(
        told.contains("answers differed and were not judged"),
        findings.count_of_unjudged() > 0,
        "{told}"
    );
    findings.count_of_unjudged()
}

#[test]
fn writes_of_a_key_are_done_in_the_order_in_which_the_real_server_shows_them() {
    let (_server, dam, shadowed) = dammed(None);
    let at = shadowed.address();
    let write = |value: &str| Request::put("/v1/kv/k", value);
    let requests = [write("first"), write("second"), write("last")];
    dam.overlap(&at, &requests, &[2, 0, 1]);
    assert!(text(&get(&at, "/v1/kv/k?raw")).starts_with("last"));
    assert_eq!(unjudged(shadowed), 0);
}

#[test]
fn a_lock_is_given_to_whom_the_real_server_gave_it() {
    let (_server, dam, shadowed) = dammed(None);
    let at = shadowed.address();
    let [one, other] = [(); 2].map(|()| session(&at, r#"{"LockDelay":"0s"}"#));
    let acquire = |id: &str| Request::put(&format!("/v1/kv/k?acquire={id}"), id);
    let release = |id: &str| Request::put(&format!("/v1/kv/k?release={id}"), id);
    let requests = [
        acquire(&one),
        acquire(&other),
        release(&one),
        acquire(&other),
    ];
    let answers = dam.overlap(&at, &requests, &[3, 1, 2, 0]);
    assert_eq!(answers, ["true", "false", "true", "true"]);
    get(&at, "/v1/kv/k");
    assert_eq!(unjudged(shadowed), 0);
}

#[test]
fn a_read_may_show_the_state_between_writes_that_overlap() {
    let (_server, dam, shadowed) = dammed(None);
    let at = shadowed.address();
    let requests = [
        Request::put("/v1/kv/k", "one"),
        Request::get("/v1/kv/k"),
        Request::put("/v1/kv/k", "two"),
    ];
    dam.overlap(&at, &requests, &[2, 0, 1]);
    get(&at, "/v1/kv/k");
    assert_eq!(unjudged(shadowed), 0);
}

#[test]
fn a_key_is_not_judged_after_writes_whose_order_does_not_show() {
    let (_server, dam, shadowed) = dammed(None);
    let at = shadowed.address();
    let set = |value: &str| {
        let body = format!(r#"[{{"KV":{{"Verb":"set","Key":"k","Value":"{value}"}}}}]"#);
        Request::put("/v1/txn", body)
    };
    // The emulator does them in the order of their answers, and so the other one last.
    dam.overlap(&at, &[set("YQ=="), set("Yg==")], &[1, 0]);
    get(&at, "/v1/kv/k");
    // From here on it is known again.
    put(&at, "/v1/kv/k", "c");
    get(&at, "/v1/kv/k");
    assert_eq!(unjudged(shadowed), 1);
}

#[test]
fn a_wrong_answer_is_found_beside_writes_that_do_not_matter_for_it() {
    let (_server, dam, shadowed) = dammed(Some("lock/given-twice"));
    let at = shadowed.address();
    let [one, other] = [(); 2].map(|()| session(&at, r#"{"LockDelay":"0s"}"#));
    put(&at, &format!("/v1/kv/conformance/k?acquire={one}"), "");
    let requests = [
        Request::put(&format!("/v1/kv/conformance/k?acquire={other}"), ""),
        Request::put("/v1/kv/conformance/another", "v"),
    ];
    dam.overlap(&at, &requests, &[1, 0]);
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 1, "{}", lines(&findings));
    assert_eq!(findings.count_of_unjudged(), 0);
}
