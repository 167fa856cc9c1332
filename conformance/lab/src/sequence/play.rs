//! Plays a sequence on one server and takes down what it says.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::acl::Acl;
use super::odd::OddRequest;
use super::operation::{CasIndex, Condition, KEYS, Operation, Read, SESSIONS, TxnStep};
use super::{Agent, Side};
use proconsul_conformance::wire::transcript::{Names, Recorder, Transcript};
use proconsul_conformance::wire::{Address, Connection, Outcome, Request};

/// A session that nobody has created.
const UNKNOWN_SESSION: &str = "00000000-0000-0000-0000-00000000abcd";
/// An index that no key has, and that is not the next one either.
pub(super) const STALE_INDEX: u64 = 1;
/// How long a read waits for the write that follows it. Reaching it is a difference, not a delay.
const WATCH: &str = "60s";
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// One side that sequences are played on.
pub(super) struct Player {
    /// Its agents, and a connection to each.
    agents: Vec<(Address, Connection)>,
    /// The one that is asked.
    pub(super) asked: usize,
    /// What requests say as `Host`, whoever is asked.
    pub(super) host: String,
    pub(super) recorder: Arc<Recorder>,
    /// The name of the sequence.
    pub(super) tag: String,
    /// What stands before every key of this sequence.
    prefix: String,
    pub(super) sessions: Vec<String>,
    pub(super) queries: Vec<String>,
    /// Makes the values of watched writes new.
    fresh: usize,
    /// How often the sequence was played before.
    pub(super) attempt: u32,
    /// What it knows about tokens; `None` if the server has no ACLs.
    pub(super) acl: Option<Acl>,
}

impl Player {
    /// A player for the sequence called `tag`, which was played `attempt` times before.
    pub(super) fn new(side: &Side, tag: &str, attempt: u32) -> Result<Self, String> {
        let (first, others) = side.agents.split_first().ok_or("it has no agents")?;
        let host = first.address.host.clone();
        let names = Names {
            tag: tag.to_owned(),
            host: host.clone(),
            node: first.node.clone(),
            other_nodes: others.iter().map(|agent| agent.node.clone()).collect(),
        };
        let connect = |agent: &Agent| {
            let address = agent.address.clone();
            Connection::open(&address).map(|connection| (address, connection))
        };
        Ok(Self {
            agents: side.agents.iter().map(connect).collect::<Result<_, _>>()?,
            asked: 0,
            host,
            recorder: Arc::new(Recorder::new(names)),
            tag: tag.to_owned(),
            prefix: format!("sequence/{tag}/"),
            sessions: Vec::new(),
            queries: Vec::new(),
            fresh: 0,
            attempt,
            acl: None,
        })
    }

    /// Plays all operations, and leaves nothing behind.
    pub(super) fn play(mut self, operations: &[Operation]) -> Transcript {
        self.level();
        for operation in operations {
            self.step(operation);
        }
        let transcript = self.recorder.transcript();
        for session in std::mem::take(&mut self.sessions) {
            self.request(&Request::put(&format!("/v1/session/destroy/{session}"), ""));
        }
        self.delete_queries();
        self.deregister_all();
        let everything = format!("/v1/kv/{}?recurse", self.prefix);
        self.request(&Request::delete(&everything));
        self.delete_acls();
        transcript
    }

    /// Makes the last change of the sessions older than that of the keys, whatever happened before: what a
    /// sequence reads first then depends on nothing but the sequence.
    fn level(&mut self) {
        let recorder = std::mem::take(&mut self.recorder);
        self.level_acls();
        self.create_session("release", "0s");
        self.level_queries();
        if let Some(session) = self.sessions.pop() {
            self.request(&Request::put(&format!("/v1/session/destroy/{session}"), ""));
        }
        self.level_catalog();
        self.request(&Request::put("/v1/kv/before-the-sequence", "x"));
        self.request(&Request::delete("/v1/kv/before-the-sequence"));
        self.recorder = recorder;
    }

    pub(super) fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Put {
                key,
                value,
                flags,
                condition,
            } => self.put_key(*key, value, *flags, *condition),
            Operation::Get { key, read } => {
                let path = key.map_or_else(|| self.root(), |key| self.path(key));
                self.request(&Request::get(&format!("{path}?{}", read.parameter())));
            }
            Operation::Watch { key, read } => self.watch(*key, *read),
            Operation::Odd(request) => self.send_odd(request),
            Operation::Blocked(change) => self.change_while_blocked(change),
            Operation::Delete { key, recurse, cas } => self.delete(*key, *recurse, *cas),
            Operation::CreateSession {
                behavior,
                lock_delay,
            } => self.create_session(behavior, lock_delay),
            Operation::DestroySession(session) => self.session("PUT", "destroy", *session),
            Operation::RenewSession(session) => self.session("PUT", "renew", *session),
            Operation::SessionInfo(session) => self.session("GET", "info", *session),
            Operation::SessionList => {
                self.request(&Request::get("/v1/session/list"));
            }
            Operation::Register(node, what) => self.register(*node, *what),
            Operation::Deregister(node, what) => self.deregister(*node, *what),
            Operation::Catalog(node, read) => self.read_catalog(*node, *read),
            Operation::CreateSessionOn(node, bound) => self.create_session_on(*node, *bound),
            Operation::CatalogTxn(steps) => self.catalog_txn(steps),
            Operation::CreateQuery(query) => self.create_query(query),
            Operation::UpdateQuery(slot, query) => self.update_query(*slot, query),
            Operation::ReadQuery(slot) => self.on_query("GET", *slot),
            Operation::DeleteQuery(slot) => self.on_query("DELETE", *slot),
            Operation::Through(agent, operation) => {
                self.asked = *agent;
                self.step(operation);
            }
            Operation::As(caller, operation) => self.step_as(caller, operation),
            Operation::Call(call) => self.call(call),
            Operation::Txn(steps) => {
                let steps: Vec<Value> = steps.iter().map(|step| self.txn_step(step)).collect();
                let body = Value::from(steps).to_string();
                self.request(&Request::put("/v1/txn", body));
            }
        }
    }

    /// Where the agent listens that is asked.
    pub(super) fn address(&self) -> &Address {
        &self.agents[self.asked].0
    }

    pub(super) fn root(&self) -> String {
        format!("/v1/kv/{}", self.prefix)
    }

    fn path(&self, key: usize) -> String {
        format!("/v1/kv/{}{}", self.prefix, KEYS[key])
    }

    pub(super) fn session_id(&self, slot: usize) -> &str {
        self.sessions
            .get(slot)
            .map_or(UNKNOWN_SESSION, String::as_str)
    }

    fn put_key(&mut self, key: usize, value: &str, flags: Option<u64>, condition: Condition) {
        let mut parameters = Vec::new();
        parameters.extend(flags.map(|flags| format!("flags={flags}")));
        match condition {
            Condition::Always => {}
            Condition::Cas(index) => parameters.push(format!("cas={}", self.index(key, index))),
            Condition::Acquire(slot) => {
                parameters.push(format!("acquire={}", self.session_id(slot)));
            }
            Condition::Release(slot) => {
                parameters.push(format!("release={}", self.session_id(slot)));
            }
        }
        let target = format!("{}?{}", self.path(key), parameters.join("&"));
        self.request(&Request::put(&target, value));
    }

    fn delete(&mut self, key: usize, recurse: bool, cas: Option<CasIndex>) {
        let mut parameters = Vec::new();
        if recurse {
            parameters.push("recurse".to_owned());
        }
        if let Some(index) = cas {
            // Both together are refused in a text that repeats the index: it must be the same on both servers.
            let index = if recurse {
                STALE_INDEX
            } else {
                self.index(key, index)
            };
            parameters.push(format!("cas={index}"));
        }
        let target = format!("{}?{}", self.path(key), parameters.join("&"));
        self.request(&Request::delete(&target));
    }

    /// The index that a conditional write names.
    fn index(&mut self, key: usize, index: CasIndex) -> u64 {
        match index {
            CasIndex::Zero => 0,
            CasIndex::Stale => STALE_INDEX,
            CasIndex::Current => {
                let path = self.path(key);
                let entries = self.json(&Request::get(&path));
                entries
                    .pointer("/0/ModifyIndex")
                    .and_then(Value::as_u64)
                    .unwrap_or(0)
            }
        }
    }

    fn create_session(&mut self, behavior: &str, lock_delay: &str) {
        if self.sessions.len() == SESSIONS {
            return;
        }
        let body = json!({"Behavior": behavior, "LockDelay": lock_delay, "TTL": "1h"});
        let created = self.json(&Request::put("/v1/session/create", body.to_string()));
        if let Some(id) = created.pointer("/ID").and_then(Value::as_str) {
            self.sessions.push(id.to_owned());
        }
    }

    fn session(&mut self, method: &str, verb: &str, slot: usize) {
        let target = format!("/v1/session/{verb}/{}", self.session_id(slot));
        self.request(&Request::new(method, &target));
    }

    fn txn_step(&mut self, step: &TxnStep) -> Value {
        json!({"KV": {
            "Verb": step.verb,
            "Key": format!("{}{}", self.prefix, KEYS[step.key]),
            "Value": STANDARD.encode(step.value),
            "Index": self.index(step.key, step.index),
            "Session": self.session_id(step.session),
        }})
    }

    /// Starts a read that blocks, and writes what it waits for, through the next agent. Whichever arrives first at the server, the
    /// answer is the state after the write.
    fn watch(&mut self, key: usize, read: Read) {
        let target = format!("{}?{}", self.path(key), read.parameter());
        let known = self.request(&Request::get(&target));
        let Outcome::Reply(known) = known else { return };
        let index = known.header("X-Consul-Index").unwrap_or("0").to_owned();
        let waiting = format!("{target}&index={index}&wait={WATCH}");
        let request = Request::get(&waiting).patience(PATIENCE);
        let (recorder, address) = (Arc::clone(&self.recorder), self.address().clone());
        let number = recorder.sent(&request.to_bytes(&self.host));
        let reader = thread::spawn(move || {
            let outcome = Connection::open(&address)
                .map_or_else(Outcome::Unreachable, |mut own| own.exchange(&request));
            recorder.heard(number, &outcome, Duration::ZERO);
        });
        self.asked = (self.asked + 1) % self.agents.len();
        self.fresh += 1;
        let value = format!("fresh {}", self.fresh);
        let path = self.path(key);
        self.request(&Request::put(&path, value));
        reader.join().expect("the reader does not panic");
    }

    /// Sends a request that may be wrong in any way.
    fn send_odd(&mut self, odd: &OddRequest) {
        let with_sessions = |text: &str| {
            let slots = 0..SESSIONS;
            slots.fold(text.to_owned(), |text, slot| {
                text.replace(&format!("@{slot}"), self.session_id(slot))
            })
        };
        let mut request = Request::new(odd.method, &with_sessions(&odd.target));
        if let Some(body) = &odd.body {
            request = request.body(with_sessions(body));
        }
        let answer = self.json(&request);
        // Lists of sessions are in the order of their ids.
        if odd.target.starts_with("/v1/session/create")
            && let Some(id) = answer.pointer("/ID").and_then(Value::as_str)
        {
            let destroy = format!("/v1/session/destroy/{id}");
            self.request(&Request::put(&destroy, ""));
        }
    }

    pub(super) fn json(&mut self, request: &Request) -> Value {
        match self.request(request) {
            Outcome::Reply(reply) => serde_json::from_slice(&reply.body).unwrap_or_default(),
            _ => Value::Null,
        }
    }

    /// Sends a request on the player's own connection, or a new one if that was closed.
    pub(super) fn request(&mut self, request: &Request) -> Outcome {
        let acl = self.acl.as_ref();
        let request = acl.map_or_else(|| request.clone(), |acl| acl.asked(request));
        let number = self.recorder.sent(&request.to_bytes(&self.host));
        let request = request.patience(PATIENCE);
        let mut outcome = self.agents[self.asked].1.exchange(&request);
        if let Some(acl) = acl {
            outcome = acl.settled(&request, outcome);
        }
        if !matches!(outcome, Outcome::Reply(_))
            && let Ok(connection) = Connection::open(self.address())
        {
            self.agents[self.asked].1 = connection;
        }
        self.recorder.heard(number, &outcome, Duration::ZERO);
        outcome
    }
}
