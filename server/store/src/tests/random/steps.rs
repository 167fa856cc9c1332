//! Random commands over few names, so that they interact.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::any::Command;
use super::agent_steps::{AgentStep, OWN_ID, agent_step};
use crate::{
    Behavior, CatalogOperation, CatalogSubject, CatalogVerb, Content, Deregistration,
    HealthCheckDefinition, Index, Key, KvVerb, KvWrite, NewCheck, NewEvent, NewNode,
    NewPreparedQuery, NewService, NewSession, PreparedQueryId, PreparedQueryTarget,
    PreparedQueryWrite, Registration, ServiceCheck, SessionId, Store, TxnOperation, TxnVerb,
};

pub(super) const KEYS: [&str; 8] = ["a", "a/", "a/b", "a/c", "ab", "b", "b/x/y", "z"];
pub(super) const NODES: [&str; 2] = ["n1", "N2"];
pub(super) const SERVICES: [&str; 2] = ["web", "db"];
pub(super) const SERVICE_IDS: [&str; 3] = ["w1", "w2", "d1"];
/// The name of each service instance. It is fixed, because a renamed instance does not wake readers of the old
/// name, in a real Consul too; nor does a check that moves to another service.
pub(super) const NAME_OF_IDS: [&str; 3] = ["web", "web", "db"];
pub(super) const CHECKS: [&str; 3] = ["c1", "c2", "C3"];
/// The service instance of each check.
pub(super) const SERVICE_ID_OF_CHECKS: [&str; 3] = ["", "w1", "d1"];
pub(super) const STATUSES: [&str; 3] = ["passing", "warning", "critical"];
/// The names of sessions, which checks of type `session` may follow.
const NAMES: [&str; 2] = ["", "x"];
/// The id of a node that is not the agent's.
pub(super) const OTHER_ID: &str = "22222222-2222-2222-2222-222222222222";

/// A step on a store. Its names are resolved when it runs.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Write),
    Txn(Vec<Operation>),
    Create(NewSession),
    Destroy(Who),
    Renew(Who),
    Register(Box<Registration>),
    Deregister(Deregistration),
    Agent(AgentStep),
    PutQuery(Box<QueryStep>),
    DeleteQuery(usize),
    Fire(&'static str),
    Tick(Duration),
}

/// A new or replaced prepared query.
#[derive(Clone, Debug)]
pub(super) struct QueryStep {
    place_of: Option<usize>,
    name: &'static str,
    session: Option<Who>,
}

/// A write of a key, alone or in a transaction.
#[derive(Clone, Debug)]
pub(super) struct Write {
    key: &'static str,
    value: &'static str,
    flags: u64,
    verb: Verb,
}

#[derive(Clone, Debug)]
enum Verb {
    Set,
    Cas(Guess),
    Acquire(Who),
    Release(Who),
    Delete,
    DeleteCas(Guess),
    DeleteTree,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Write(Write),
    Get(&'static str),
    CheckIndex(&'static str, Guess),
    CheckNotExists(&'static str),
    Catalog(Box<CatalogOperation>),
}

/// The modify index that a client expects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guess {
    Absent,
    Right,
    Wrong,
}

/// The session of a client: one of those created so far, in any spelling.
#[derive(Clone, Debug)]
pub(super) enum Who {
    Created(usize),
    UpperCase(usize),
    Unknown,
    Malformed,
}

/// The names created so far, for later steps.
#[derive(Clone, Default)]
pub(super) struct World {
    created: Vec<SessionId>,
    /// The number of prepared queries written.
    queries: u8,
    /// The number of events fired.
    events: u8,
}

impl World {
    /// Returns the command of a step; `None` for a step in time.
    pub(super) fn command(&mut self, store: &Store, step: &Step) -> Option<Command> {
        Some(match step {
            Step::Write(write) => Command::Kv(self.write(store, write)),
            Step::Txn(operations) => {
                let operations = operations
                    .iter()
                    .map(|operation| self.operation(store, operation));
                Command::Txn(operations.collect())
            }
            Step::Create(session) => {
                let number = u8::try_from(self.created.len()).expect("a case is short");
                let id = SessionId::from_bytes([0xa0 + number; 16]);
                self.created.push(id);
                Command::SessionCreate(NewSession {
                    id,
                    ..session.clone()
                })
            }
            Step::Destroy(who) => Command::SessionDestroy(self.id(who)),
            Step::Renew(who) => Command::SessionRenew(self.id(who)),
            Step::Register(registration) => Command::Register(registration.clone()),
            Step::Deregister(what) => Command::Deregister(what.clone()),
            Step::Agent(step) => step.command(),
            Step::PutQuery(step) => self.put_query(step),
            Step::DeleteQuery(number) => Command::DeletePreparedQuery(self.query_id(*number)),
            Step::Fire(name) => self.fire(name),
            Step::Tick(_) => return None,
        })
    }

    fn put_query(&mut self, step: &QueryStep) -> Command {
        let session = step.session.as_ref().map(|who| self.id(who));
        let target = if let Some(number) = step.place_of {
            PreparedQueryTarget::Existing(self.query_id(number))
        } else {
            self.queries += 1;
            PreparedQueryTarget::New(nth_query(self.queries))
        };
        Command::PutPreparedQuery(Box::new(PreparedQueryWrite {
            target,
            query: NewPreparedQuery {
                name: step.name.to_owned(),
                session: session.unwrap_or_default(),
                ..NewPreparedQuery::default()
            },
            flaw: None,
        }))
    }

    /// Returns the id of a written query.
    fn query_id(&self, number: usize) -> String {
        let number = number.checked_rem(usize::from(self.queries)).unwrap_or(0);
        let number = u8::try_from(number).expect("there were fewer");
        nth_query(number + 1).to_string()
    }

    fn fire(&mut self, name: &str) -> Command {
        self.events += 1;
        Command::Fire(Box::new(NewEvent {
            id: [self.events; 16],
            name: name.as_bytes().into(),
            payload: Box::default(),
            node_filter: String::new(),
            service_filter: String::new(),
            tag_filter: String::new(),
            concerns_agent: !name.is_empty(),
        }))
    }

    /// Returns the ids of all sessions created so far.
    pub(super) fn sessions(&self) -> impl Iterator<Item = String> {
        self.created.iter().map(SessionId::to_string)
    }

    fn id(&self, who: &Who) -> String {
        let created = |number: usize| {
            let number = number.checked_rem(self.created.len());
            number.map_or_else(String::new, |number| self.created[number].to_string())
        };
        match who {
            Who::Created(number) => created(*number),
            Who::UpperCase(number) => created(*number).to_uppercase(),
            Who::Unknown => SessionId::from_bytes([0; 16]).to_string(),
            Who::Malformed => "nope".to_owned(),
        }
    }

    fn write(&self, store: &Store, write: &Write) -> KvWrite {
        let Write {
            key,
            value,
            flags,
            verb,
        } = write;
        let content = Content {
            value: value.as_bytes().into(),
            flags: *flags,
        };
        let verb = match verb {
            Verb::Set => KvVerb::Set(content),
            Verb::Cas(guess) => KvVerb::Cas(content, index(store, key, *guess)),
            Verb::Acquire(who) => KvVerb::Acquire(content, self.id(who)),
            Verb::Release(who) => KvVerb::Release(content, self.id(who)),
            Verb::Delete => KvVerb::Delete,
            Verb::DeleteCas(guess) => KvVerb::DeleteCas(index(store, key, *guess)),
            Verb::DeleteTree => KvVerb::DeleteTree,
        };
        // The empty prefix, which is not a key.
        let key = if *key == "z" && matches!(verb, KvVerb::DeleteTree) {
            ""
        } else {
            key
        };
        KvWrite {
            key: Key::new(key),
            verb,
        }
    }

    fn operation(&self, store: &Store, operation: &Operation) -> TxnOperation {
        let (key, verb) = match operation {
            Operation::Write(write) => {
                let KvWrite { key, verb } = self.write(store, write);
                (key, TxnVerb::Write(verb))
            }
            Operation::Get(key) => (Key::new(key), TxnVerb::Get),
            Operation::CheckIndex(key, guess) => {
                let verb = TxnVerb::CheckIndex(index(store, key, *guess));
                (Key::new(key), verb)
            }
            Operation::CheckNotExists(key) => (Key::new(key), TxnVerb::CheckNotExists),
            Operation::Catalog(operation) => return TxnOperation::Catalog(operation.clone()),
        };
        TxnOperation::Kv { key, verb }
    }
}

fn nth_query(number: u8) -> PreparedQueryId {
    PreparedQueryId::from_bytes([number; 16])
}

fn index(store: &Store, key: &str, guess: Guess) -> Index {
    match guess {
        Guess::Absent => Index::ZERO,
        Guess::Right => store
            .kv
            .get(key.as_bytes())
            .map_or(Index::ZERO, |row| row.modify_index),
        Guess::Wrong => Index(1),
    }
}

/// A sequence of steps.
pub(super) fn steps(length: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..length)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => write().prop_map(Step::Write),
        3 => vec(operation(), 1..5).prop_map(Step::Txn),
        4 => session().prop_map(Step::Create),
        2 => who().prop_map(Step::Destroy),
        1 => who().prop_map(Step::Renew),
        4 => registration().prop_map(|registration| Step::Register(Box::new(registration))),
        2 => deregistration().prop_map(Step::Deregister),
        6 => agent_step().prop_map(Step::Agent),
        3 => query().prop_map(|query| Step::PutQuery(Box::new(query))),
        1 => any::<usize>().prop_map(Step::DeleteQuery),
        1 => select(vec!["", "e"]).prop_map(Step::Fire),
        2 => select(vec![1, 10, 20, 60, 900, 930])
            .prop_map(|seconds| Step::Tick(Duration::from_secs(seconds))),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let verb = prop_oneof![
        4 => Just(Verb::Set),
        2 => guess().prop_map(Verb::Cas),
        6 => who().prop_map(Verb::Acquire),
        2 => who().prop_map(Verb::Release),
        3 => Just(Verb::Delete),
        1 => guess().prop_map(Verb::DeleteCas),
        1 => Just(Verb::DeleteTree),
    ];
    let value = select(vec!["", "1", "2"]);
    (select(KEYS.to_vec()), value, 0..2u64, verb).prop_map(|(key, value, flags, verb)| Write {
        key,
        value,
        flags,
        verb,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || select(KEYS.to_vec());
    prop_oneof![
        6 => write().prop_map(Operation::Write),
        1 => key().prop_map(Operation::Get),
        1 => (key(), guess()).prop_map(|(key, guess)| Operation::CheckIndex(key, guess)),
        1 => key().prop_map(Operation::CheckNotExists),
        2 => catalog_operation().prop_map(|operation| Operation::Catalog(Box::new(operation))),
    ]
}

fn catalog_operation() -> impl Strategy<Value = CatalogOperation> {
    let in_service = |(node, service)| CatalogSubject::Service { node, service };
    let in_check = |(node, check)| CatalogSubject::Check {
        node,
        check: Box::new(check),
    };
    let subject = prop_oneof![
        node().prop_map(CatalogSubject::Node),
        (owned(&NODES), service()).prop_map(in_service),
        (owned(&NODES), (0..3usize).prop_flat_map(check)).prop_map(in_check),
    ];
    let verb = select(vec![
        CatalogVerb::Set,
        CatalogVerb::Set,
        CatalogVerb::Cas,
        CatalogVerb::Delete,
        CatalogVerb::DeleteCas,
    ]);
    (verb, subject).prop_map(|(verb, subject)| CatalogOperation {
        verb,
        subject,
        index: Index::ZERO,
    })
}

fn guess() -> impl Strategy<Value = Guess> {
    prop_oneof![Just(Guess::Absent), Just(Guess::Right), Just(Guess::Wrong)]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        12 => any::<usize>().prop_map(Who::Created),
        2 => any::<usize>().prop_map(Who::UpperCase),
        1 => Just(Who::Unknown),
        1 => Just(Who::Malformed),
    ]
}

fn owned(names: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    select(names.to_vec()).prop_map(str::to_owned)
}

fn session() -> impl Strategy<Value = NewSession> {
    let behavior = select(vec![Behavior::Release, Behavior::Delete]);
    let lock_delay = select(vec![-1, 0, 1, 15, 90]);
    let ttl = select(vec![0, 0, 10, 25]);
    let checks = subsequence(CHECKS.to_vec(), 0..2);
    let in_services = any::<bool>();
    let parts = (
        owned(&NODES),
        owned(&NAMES),
        behavior,
        lock_delay,
        ttl,
        checks,
        in_services,
    );
    parts.prop_map(
        |(node, name, behavior, lock_delay, ttl, checks, in_services)| {
            let checks: Vec<String> = checks.into_iter().map(str::to_owned).collect();
            let as_service_check = |id: &String| ServiceCheck {
                id: id.to_uppercase(),
                namespace: String::new(),
            };
            let service_checks = checks.iter().map(as_service_check).collect();
            NewSession {
                id: SessionId::from_bytes([0; 16]),
                name,
                node,
                lock_delay_ns: lock_delay * 1_000_000_000,
                behavior,
                ttl_text: String::new(),
                ttl: Duration::from_secs(ttl),
                node_checks: (!in_services).then_some(checks),
                service_checks: in_services.then_some(service_checks),
                checks: Vec::new(),
            }
        },
    )
}

fn query() -> impl Strategy<Value = QueryStep> {
    let place_of = option::weighted(0.3, any::<usize>());
    let name = select(vec!["", "", "q", "r"]);
    let parts = (place_of, name, option::weighted(0.8, who()));
    parts.prop_map(|(place_of, name, session)| QueryStep {
        place_of,
        name,
        session,
    })
}

fn node() -> impl Strategy<Value = NewNode> {
    let address = owned(&["10.0.0.1", "10.0.0.2"]);
    let id = owned(&["", "", "", OWN_ID, OTHER_ID]);
    (owned(&NODES), id, address).prop_map(|(node, id, address)| NewNode {
        node,
        id,
        address,
        ..NewNode::default()
    })
}

fn registration() -> impl Strategy<Value = Registration> {
    let service = option::of(service());
    // Each check occurs at most once, so that every touched row has changed.
    let checks = subsequence(vec![0, 1, 2], 0..3).prop_flat_map(|numbers| {
        let checks: Vec<_> = numbers.into_iter().map(check).collect();
        checks
    });
    let parts = (node(), any::<bool>(), service, checks);
    parts.prop_map(|(node, skip_node_update, service, checks)| Registration {
        node,
        skip_node_update,
        service,
        checks,
        flaw: None,
    })
}

fn service() -> impl Strategy<Value = NewService> {
    let parts = (0..3usize, 0..2i64, any::<bool>());
    parts.prop_map(|(number, port, connect_native)| NewService {
        id: SERVICE_IDS[number].to_owned(),
        name: NAME_OF_IDS[number].to_owned(),
        port,
        connect_native,
        ..NewService::default()
    })
}

fn check(number: usize) -> impl Strategy<Value = NewCheck> {
    let kind = owned(&["", "session"]);
    let parts = (owned(&STATUSES), kind, owned(&NAMES));
    parts.prop_map(move |(status, kind, session_name)| NewCheck {
        check_id: CHECKS[number].to_owned(),
        service_id: SERVICE_ID_OF_CHECKS[number].to_owned(),
        status,
        kind,
        definition: HealthCheckDefinition {
            session_name,
            ..HealthCheckDefinition::default()
        },
        ..NewCheck::default()
    })
}

fn deregistration() -> impl Strategy<Value = Deregistration> {
    prop_oneof![
        1 => owned(&NODES).prop_map(Deregistration::Node),
        2 => (owned(&NODES), owned(&SERVICE_IDS))
            .prop_map(|(node, id)| Deregistration::Service { node, id }),
        2 => (owned(&NODES), owned(&CHECKS))
            .prop_map(|(node, id)| Deregistration::Check { node, id }),
    ]
}
