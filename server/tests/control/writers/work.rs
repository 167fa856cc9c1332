//! The threads that write: each its own keys, its own node and its own sessions, and all of them two keys.

use std::collections::BTreeMap;

use fastrand::Rng;
use proconsul_store::{
    Behavior, Content, Deregistration, Index, Key, KvVerb, KvWrite, NewCheck, NewNode, NewService,
    NewSession, Registration, Txn, TxnOperation, TxnVerb,
};

use super::{OVER_HTTP, Scene, WRITERS, whole};
use crate::support::{SECOND, exchange, request};

/// What one writer wrote to one key that is its own.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The values in order. The last may have been written or not, if nobody said.
    pub(super) values: Vec<String>,
    /// How many of them were acknowledged.
    pub(super) sure: usize,
    /// How many writes were refused because of the key's index.
    pub(super) refused: usize,
}

pub(super) struct Writer<'a> {
    scene: &'a Scene,
    number: usize,
    random: Rng,
    /// Which key of each kind it writes: the next one when it does not know what became of a write.
    generations: [usize; 3],
    written: BTreeMap<String, Written>,
    sessions: Vec<String>,
    calls: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(scene: &'a Scene, number: usize, random: Rng) -> Self {
        Self {
            scene,
            number,
            random,
            generations: [0; 3],
            written: BTreeMap::new(),
            sessions: Vec::new(),
            calls: 0,
        }
    }

    /// Makes so many calls. What it wrote to the keys that are its own.
    pub(super) fn write(mut self, calls: usize) -> BTreeMap<String, Written> {
        for call in 0..calls {
            self.calls = call;
            match self.random.u8(..20) {
                0..4 => self.put(),
                4..7 => self.cas(),
                7..10 => self.transaction(),
                10..12 => self.delete(),
                12..15 => self.lock(true),
                15 => self.lock(false),
                16 => self.share(),
                17 => self.create_session(),
                18 => self.destroy_session(),
                _ => self.register(),
            }
        }
        self.written
    }

    fn is_over_http(&self) -> bool {
        self.number >= WRITERS - OVER_HTTP
    }

    fn key(&self, kind: usize) -> String {
        format!("w{}/{kind}/{}", self.number, self.generations[kind])
    }

    fn value(&self, key: &str) -> String {
        format!("{key} at call {}", self.calls)
    }

    /// Notes what became of a write; none when nobody said.
    fn note(&mut self, kind: usize, value: String, outcome: Option<bool>, by_index: bool) {
        let key = self.key(kind);
        let written = self.written.entry(key).or_default();
        match outcome {
            Some(true) => {
                written.values.push(value);
                written.sure += 1;
            }
            Some(false) => written.refused += usize::from(by_index),
            None => {
                written.values.push(value);
                self.generations[kind] += 1;
            }
        }
    }

    fn put(&mut self) {
        let key = self.key(0);
        let value = self.value(&key);
        let put = self.kv(&key, KvVerb::Set(content(&value)), "");
        self.note(0, value, put, false);
    }

    fn cas(&mut self) {
        let key = self.key(0);
        let value = self.value(&key);
        let row = self.scene.server.kv().get(&key);
        // Now and then with an index that the key does not have.
        let index = row.map_or(0, |row| row.modify_index.0) + u64::from(self.random.u8(..5) == 0);
        let verb = KvVerb::Cas(content(&value), Index(index));
        let written = self.kv(&key, verb, &format!("?cas={index}"));
        self.note(0, value, written, true);
    }

    /// Both keys, or none.
    fn transaction(&mut self) {
        let keys = [self.key(0), self.key(1)];
        let values = [self.value(&keys[0]), self.value(&keys[1])];
        let written = if self.is_over_http() {
            // The values in base64 would be others: the API takes them no other way.
            let operation = |key: &str, value: &str| {
                let value = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, value);
                format!(r#"{{"KV":{{"Verb":"set","Key":"{key}","Value":"{value}"}}}}"#)
            };
            let [one, two] = [0, 1].map(|place| operation(&keys[place], &values[place]));
            let answer = self.call("PUT", "/v1/txn", &format!("[{one},{two}]"));
            answer.map(|(status, _)| status == 200)
        } else {
            let operation = |place: usize| TxnOperation::Kv {
                key: Key::new(&keys[place]),
                verb: TxnVerb::Write(KvVerb::Set(content(&values[place]))),
            };
            let operations = [0, 1].map(operation).to_vec();
            let results = self.scene.server.engine().apply(Txn(operations));
            Some(results.is_ok())
        };
        assert_ne!(written, Some(false), "nothing speaks against it");
        for (kind, value) in values.into_iter().enumerate() {
            self.note(kind, value, written, false);
        }
    }

    fn delete(&mut self) {
        let key = self.key(1);
        let deleted = self.kv(&key, KvVerb::Delete, "");
        if deleted.is_none() {
            self.generations[1] += 1;
        }
    }

    fn lock(&mut self, acquire: bool) {
        let Some(session) = self.random.choice(&self.sessions).cloned() else {
            return self.create_session();
        };
        let key = self.key(2);
        let value = self.value(&key);
        let content = content(&value);
        let (verb, option) = if acquire {
            (KvVerb::Acquire(content, session.clone()), "acquire")
        } else {
            (KvVerb::Release(content, session.clone()), "release")
        };
        let written = self.kv(&key, verb, &format!("?{option}={session}"));
        self.note(2, value, written, false);
    }

    /// A key that all of them write, or a lock that all of them want.
    fn share(&mut self) {
        let value = self.value("shared");
        if self.random.bool() {
            self.kv("shared/key", KvVerb::Set(content(&value)), "");
        } else if let Some(session) = self.random.choice(&self.sessions).cloned() {
            let verb = KvVerb::Acquire(content(&value), session.clone());
            self.kv("shared/lock", verb, &format!("?acquire={session}"));
        }
    }

    fn create_session(&mut self) {
        let deletes = self.random.bool();
        let ttl = [0, 10][usize::from(self.random.bool())];
        let created = if self.is_over_http() {
            let behavior = ["release", "delete"][usize::from(deletes)];
            let body = format!(r#"{{"Behavior":"{behavior}","TTL":"{ttl}s","LockDelay":"1s"}}"#);
            let answer = self.call("PUT", "/v1/session/create", &body);
            let body = answer.filter(|(status, _)| *status == 200);
            body.and_then(|(_, body)| body.split('"').nth(3).map(str::to_owned))
        } else {
            self.create_in_process(deletes, ttl)
        };
        self.sessions.extend(created);
    }

    /// On the writer's own node, or on the agent's.
    fn create_in_process(&mut self, deletes: bool, ttl: u32) -> Option<String> {
        let engine = self.scene.server.engine();
        let (node, check) = if self.random.bool() {
            (self.node(), "alive")
        } else {
            (self.scene.server.node_name().to_owned(), "serfHealth")
        };
        let session = NewSession {
            id: engine.new_session_id(),
            name: String::new(),
            node,
            lock_delay_ns: 1_000_000_000,
            behavior: [Behavior::Release, Behavior::Delete][usize::from(deletes)],
            ttl_text: format!("{ttl}s"),
            ttl: ttl * SECOND,
            node_checks: Some(vec![check.to_owned()]),
            service_checks: None,
            checks: Vec::new(),
        };
        let created = engine.apply(session);
        created.ok().map(|row| row.session.id.to_string())
    }

    fn destroy_session(&mut self) {
        if self.sessions.is_empty() {
            return self.create_session();
        }
        let place = self.random.usize(..self.sessions.len());
        let id = self.sessions.swap_remove(place);
        if self.is_over_http() {
            self.call("PUT", &format!("/v1/session/destroy/{id}"), "");
        } else {
            let destroyed = self.scene.server.sessions().destroy(&id);
            // Releases before 1.11 refuse an invalid id; these are valid.
            destroyed.expect("the id is one");
        }
    }

    fn node(&self) -> String {
        format!("n{}", self.number)
    }

    fn register(&mut self) {
        let node = self.node();
        let goes = self.random.u8(..4) == 0;
        if self.is_over_http() {
            let body = format!(
                r#"{{"Node":"{node}","Address":"10.0.0.1","Service":{{"Service":"web"}},"Check":{{"CheckID":"alive","Name":"alive","Status":"passing"}}}}"#
            );
            if goes {
                let body = format!(r#"{{"Node":"{node}"}}"#);
                self.call("PUT", "/v1/catalog/deregister", &body);
            } else {
                self.call("PUT", "/v1/catalog/register", &body);
            }
            return;
        }
        let engine = self.scene.server.engine();
        if goes {
            let Ok(()) = engine.apply(Deregistration::Node(node));
        } else {
            let registered = engine.apply(registration(node));
            registered.expect("nothing speaks against it");
        }
    }

    /// A write of a key: whether it took place; none when nobody said.
    fn kv(&self, key: &str, verb: KvVerb, option: &str) -> Option<bool> {
        if !self.is_over_http() {
            let key = Key::new(key);
            let written = self.scene.server.engine().apply(KvWrite { key, verb });
            return Some(written.is_ok());
        }
        let (method, body) = match &verb {
            KvVerb::Set(content)
            | KvVerb::Cas(content, _)
            | KvVerb::Acquire(content, _)
            | KvVerb::Release(content, _) => ("PUT", String::from_utf8_lossy(&content.value)),
            KvVerb::Delete | KvVerb::DeleteCas(_) | KvVerb::DeleteTree => ("DELETE", "".into()),
        };
        let answer = self.call(method, &format!("/v1/kv/{key}{option}"), &body);
        answer.map(|(status, body)| status == 200 && body == "true")
    }

    /// Status and body of the answer; none when none came, as while the server restarts.
    fn call(&self, method: &str, target: &str, body: &str) -> Option<(u16, String)> {
        let request = request(method, target, &[], body);
        let bytes = exchange(self.scene.server.addr(), &request).ok()?;
        let answer = whole(&bytes)?;
        Some((answer.status, answer.body))
    }
}

fn content(value: &str) -> Content {
    Content {
        value: value.to_owned().into(),
        flags: 0,
    }
}

/// A node with a service and a check that passes.
fn registration(node: String) -> Registration {
    Registration {
        node: NewNode {
            node,
            address: "10.0.0.1".to_owned(),
            ..NewNode::default()
        },
        service: Some(NewService {
            id: "web".to_owned(),
            name: "web".to_owned(),
            ..NewService::default()
        }),
        checks: vec![NewCheck {
            check_id: "alive".to_owned(),
            name: "alive".to_owned(),
            status: "passing".to_owned(),
            ..NewCheck::default()
        }],
        ..Registration::default()
    }
}
