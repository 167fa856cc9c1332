//! What the connections of the throughput figures ask.

use std::net::SocketAddr;

use crate::load::Script;
use crate::load::fill::{self, set_all, value};
use crate::load::wire::{Answer, Caller, push_request};
use crate::servers::process::Process;

/// What connections ask again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// GET of one key.
    Get,
    /// GET of any of this many keys, see [`fill::keys`].
    GetAmong(u64),
    /// PUT of a key of the connection's own.
    Put,
    /// PUT to any of this many keys.
    PutAmong(u64),
    /// PUT and DELETE of a key between those of [`fill::keys`].
    PutDelete,
    /// PUT with acquire, PUT with release.
    Lock,
    /// A session is created and destroyed.
    Session,
    /// A transaction that sets ten keys.
    Txn,
    /// GET of 100 keys by their prefix.
    Recurse,
    /// GET of the folders of [`fill::folders`] below a path.
    Folders(&'static str),
    /// GET of the health of any of this many services, see [`fill::services`].
    Health(u64),
    /// Two updates to the check of one of this many services, by up to eight connections.
    Check(u64),
    /// A service is registered and deregistered.
    Register,
}

impl Operation {
    /// The script of one connection, numbered from 0.
    pub(crate) fn script(self, address: SocketAddr, connection: usize) -> Box<dyn Script> {
        let start = connection as u64 * 12_345;
        match self {
            Self::Get => get(0, |_| "/v1/kv/get/key".to_owned()),
            Self::GetAmong(keys) => get(start, move |number| {
                format!("/v1/kv/{}", fill::key(number % keys, keys))
            }),
            Self::Recurse => get(0, |_| "/v1/kv/tree/?recurse".to_owned()),
            Self::Folders(below) => get(0, move |_| format!("/v1/kv/{below}?keys&separator=/")),
            Self::Health(services) => get(start, move |number| {
                format!("/v1/health/service/s{}", number % services)
            }),
            Self::Put => put(0, move |_| format!("/v1/kv/put/{connection}")),
            Self::PutAmong(keys) => put(start, move |number| {
                format!("/v1/kv/{}", fill::key(number % keys, keys))
            }),
            Self::Check(services) => Box::new(Pair::new(move |is_first, _, number, out| {
                // Each connection has checks of its own, so that every update is a change.
                let service = connection as u64 + 8 * ((number - 1) / 2 % (services / 8));
                let status = if is_first { "warn" } else { "pass" };
                let target = format!("/v1/agent/check/{status}/service:s{service}");
                push_request(out, "PUT", &target, b"");
            })),
            Self::PutDelete => {
                let target = format!("/v1/kv/many/{:07}x{connection}", start % 10);
                Box::new(Pair::new(move |is_first, _, number, out| {
                    let method = if is_first { "PUT" } else { "DELETE" };
                    let body = if is_first { value(number) } else { Vec::new() };
                    push_request(out, method, &target, &body);
                }))
            }
            Self::Lock => {
                // Not a key of its place: who was there before may have stopped while it held it.
                let session = create_session(address);
                Box::new(Pair::new(move |is_first, last, number, out| {
                    assert!(
                        !last.body.starts_with(b"false"),
                        "the key is the session's own"
                    );
                    let verb = if is_first { "acquire" } else { "release" };
                    let target = format!("/v1/kv/lock/{session}?{verb}={session}");
                    push_request(out, "PUT", &target, &value(number));
                }))
            }
            Self::Session => Box::new(Pair::new(|is_first, last, _, out| {
                let id = last.text("ID").filter(|_| !is_first);
                let target = id.map_or_else(
                    || "/v1/session/create".to_owned(),
                    |id| format!("/v1/session/destroy/{id}"),
                );
                push_request(out, "PUT", &target, b"");
            })),
            Self::Register => Box::new(Pair::new(move |is_first, _, _, out| {
                let (target, body) = if is_first {
                    let body = format!(r#"{{"Name":"own{connection}","Port":80}}"#);
                    ("/v1/agent/service/register".to_owned(), body)
                } else {
                    let target = format!("/v1/agent/service/deregister/own{connection}");
                    (target, String::new())
                };
                push_request(out, "PUT", &target, body.as_bytes());
            })),
            Self::Txn => Box::new(Txn {
                connection,
                number: 0,
            }),
        }
    }
}

/// Makes what some of the scripts read.
pub(crate) fn prepare(process: &Process) {
    let mut caller = process.caller();
    caller.expect("PUT", "/v1/kv/get/key", &value(0));
    for key in 0..100 {
        caller.expect("PUT", &format!("/v1/kv/tree/{key}"), &value(key));
    }
}

fn create_session(address: SocketAddr) -> String {
    let mut caller = Caller::connect(address).expect("the server accepts connections");
    let created = caller.expect("PUT", "/v1/session/create", b"");
    created.text("ID").unwrap_or("none").to_owned()
}

/// Requests of one method to targets that follow from a number.
struct Numbered<Target> {
    method: &'static str,
    number: u64,
    target: Target,
}

fn get(start: u64, target: impl Fn(u64) -> String + 'static) -> Box<dyn Script> {
    Box::new(Numbered {
        method: "GET",
        number: start,
        target,
    })
}

fn put(start: u64, target: impl Fn(u64) -> String + 'static) -> Box<dyn Script> {
    Box::new(Numbered {
        method: "PUT",
        number: start,
        target,
    })
}

impl<Target: Fn(u64) -> String> Script for Numbered<Target> {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        self.number += 1;
        let body = value(self.number);
        let body = if self.method == "PUT" { &body[..] } else { b"" };
        push_request(out, self.method, &(self.target)(self.number), body);
    }
}

/// Two requests that make one operation. The function is told which of both comes, the last answer and a number.
struct Pair<Request> {
    request: Request,
    number: u64,
}

impl<Request: Fn(bool, &Answer, u64, &mut Vec<u8>)> Pair<Request> {
    fn new(request: Request) -> Self {
        Self { request, number: 0 }
    }
}

impl<Request: Fn(bool, &Answer, u64, &mut Vec<u8>)> Script for Pair<Request> {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        self.number += 1;
        (self.request)(self.number % 2 == 1, last, self.number, out);
    }

    fn requests_per_operation(&self) -> u64 {
        2
    }
}

struct Txn {
    connection: usize,
    number: u64,
}

impl Script for Txn {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        let keys = (0..10).map(|key| {
            self.number += 1;
            (format!("txn/{}/{key}", self.connection), self.number)
        });
        push_request(out, "PUT", "/v1/txn", &set_all(keys));
    }
}
