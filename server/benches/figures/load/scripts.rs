//! What the connections of the throughput figures ask.

use std::net::SocketAddr;

use crate::load::Script;
use crate::load::wire::{Answer, Caller, push_request};

/// The length of all values.
pub(crate) const VALUE_BYTES: usize = 100;

/// A value that differs from one number to the next: writing the same value again would be less work.
pub(crate) fn value(number: u64) -> Vec<u8> {
    let mut value = format!("{number:020}").into_bytes();
    value.resize(VALUE_BYTES, b'v');
    value
}

/// Which script a figure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// GET of a key.
    Get,
    /// PUT of a key.
    Put,
    /// GET of a key, PUT with its index.
    Cas,
    /// PUT with acquire, PUT with release.
    Lock,
    /// A session is created and destroyed.
    Session,
    /// A transaction that sets ten keys.
    Txn,
    /// GET of 100 keys by their prefix.
    Recurse,
}

impl Operation {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Get,
        Self::Put,
        Self::Cas,
        Self::Lock,
        Self::Session,
        Self::Txn,
        Self::Recurse,
    ];

    /// What the operation is called in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET 100 B",
            Self::Put => "PUT 100 B",
            Self::Cas => "CAS loop",
            Self::Lock => "acquire + release",
            Self::Session => "session create + destroy",
            Self::Txn => "txn of 10 sets",
            Self::Recurse => "recurse of 100 keys",
        }
    }

    /// The script of one connection, numbered from 0.
    pub(crate) fn script(self, address: SocketAddr, connection: usize) -> Box<dyn Script> {
        match self {
            Self::Get => Box::new(Repeated("/v1/kv/get/key")),
            Self::Recurse => Box::new(Repeated("/v1/kv/tree/?recurse")),
            Self::Put => Box::new(Put {
                target: format!("/v1/kv/put/{connection}"),
                number: 0,
            }),
            Self::Cas => Box::new(Cas {
                target: format!("/v1/kv/cas/{connection}"),
                number: 0,
                read: false,
            }),
            Self::Lock => {
                // Not a key of its place: who was there before may have stopped while it held it.
                let session = create_session(address);
                Box::new(Lock {
                    target: format!("/v1/kv/lock/{session}"),
                    session,
                    number: 0,
                    held: false,
                })
            }
            Self::Session => Box::new(Session { created: false }),
            Self::Txn => Box::new(Txn {
                connection,
                number: 0,
            }),
        }
    }
}

/// Makes what the scripts read.
pub(crate) fn prepare(address: SocketAddr) {
    let mut caller = Caller::connect(address).expect("the server accepts connections");
    caller.expect("PUT", "/v1/kv/get/key", &value(0));
    for key in 0..100 {
        caller.expect("PUT", &format!("/v1/kv/tree/{key}"), &value(key));
    }
    for connection in 0..64 {
        caller.expect("PUT", &format!("/v1/kv/cas/{connection}"), &value(0));
    }
}

fn create_session(address: SocketAddr) -> String {
    let mut caller = Caller::connect(address).expect("the server accepts connections");
    let created = caller.expect("PUT", "/v1/session/create", b"");
    created.text("ID").unwrap_or("none").to_owned()
}

/// The same GET again and again.
struct Repeated(&'static str);

impl Script for Repeated {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        push_request(out, "GET", self.0, b"");
    }
}

struct Put {
    target: String,
    number: u64,
}

impl Script for Put {
    fn next_request(&mut self, _: &Answer, out: &mut Vec<u8>) {
        self.number += 1;
        push_request(out, "PUT", &self.target, &value(self.number));
    }
}

struct Cas {
    target: String,
    number: u64,
    /// The last request was the GET.
    read: bool,
}

impl Script for Cas {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        self.read = !self.read;
        if self.read {
            assert!(
                !last.body.starts_with(b"false"),
                "nobody else writes the key"
            );
            push_request(out, "GET", &self.target, b"");
        } else {
            self.number += 1;
            let index = last.number("ModifyIndex").expect("an entry has an index");
            let target = format!("{}?cas={index}", self.target);
            push_request(out, "PUT", &target, &value(self.number));
        }
    }

    fn requests_per_operation(&self) -> u64 {
        2
    }
}

struct Lock {
    target: String,
    session: String,
    number: u64,
    held: bool,
}

impl Script for Lock {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        assert!(
            !last.body.starts_with(b"false"),
            "nobody else locks the key"
        );
        self.number += 1;
        self.held = !self.held;
        let verb = if self.held { "acquire" } else { "release" };
        let target = format!("{}?{verb}={}", self.target, self.session);
        push_request(out, "PUT", &target, &value(self.number));
    }

    fn requests_per_operation(&self) -> u64 {
        2
    }
}

struct Session {
    created: bool,
}

impl Script for Session {
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>) {
        self.created = !self.created;
        if self.created {
            push_request(out, "PUT", "/v1/session/create", b"");
        } else {
            let id = last.text("ID").expect("a new session has an id");
            push_request(out, "PUT", &format!("/v1/session/destroy/{id}"), b"");
        }
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

/// The body of a transaction that sets these keys to these values.
pub(crate) fn set_all(keys: impl Iterator<Item = (String, u64)>) -> Vec<u8> {
    let operations = keys.map(|(key, number)| {
        let value = base64(&value(number));
        format!(r#"{{"KV":{{"Verb":"set","Key":"{key}","Value":"{value}"}}}}"#)
    });
    let operations: Vec<String> = operations.collect();
    format!("[{}]", operations.join(",")).into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
