//! The pure machine: commands go in with a point in time, replies and effects come out.
//!
//! The store reads no clock, makes no ids, wakes nobody and knows no wire format. The same commands at the
//! same times give the same store, row for row. Its tables are persistent maps, so a clone of the store is a
//! snapshot that shares everything with it and costs a few reference counts.
//!
//! # Invariants
//! * No index in any row exceeds the index of the last applied command.
//! * A key that a session holds is released or deleted in the command that ends the session.
//! * Before a command is applied at `now`, every [`Deadline`] due by then has been applied: [`Store::due`].

// Tables are turned into plain data and back for dumps alone.
#![cfg_attr(not(feature = "dump"), allow(dead_code))]

// Rows derive serde's traits; without dumps these derive nothing.
#[cfg(not(feature = "dump"))]
extern crate proconsul_noserde as serde;

mod acl;
mod agent;
mod catalog;
mod cluster;
mod command;
mod config;
mod image;
mod kv;
pub mod meta;
mod ordered;
mod read;
mod session;
pub mod timestamp;
mod txn;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use acl::grants::{
    Grants, NewAclLink, NewGrants, NodeIdentity, ServiceIdentity, TemplatedPolicy, is_identity,
};
pub use acl::hash::AclHash;
pub use acl::identity::{AclIdentity, AclKnown, AclStamp, Identity, WithToken};
#[cfg(feature = "dump")]
pub use acl::image::AclImage;
pub use acl::method::{
    AuthMethodDelete, AuthMethodInfo, AuthMethodList, AuthMethodRow, AuthMethodWrite,
    BindingRuleRow, BindingRuleWrite, NewAuthMethod, NewBindingRule,
};
pub use acl::object::{AclDelete, AclInfo, AclLink, AclList, AclNamed, AclObject, Shown};
pub use acl::policy::{AclTarget, NewPolicy, PolicyRow, PolicyWrite};
pub use acl::refusal::{AclRefusal, IdentityFlaw, NameFlaw, TokenRefusal};
pub use acl::role::{RoleRow, RoleWrite};
pub use acl::start::for_tests::{RulesForTest, TokenForTest};
pub use acl::start::{ANONYMOUS, AclStart};
pub use acl::token::legacy::{OldTokenDestroy, OldTokenInfo, OldTokenList, OldTokenWrite};
pub use acl::token::write::{
    AclBootstrap, MadeIds, NewToken, TokenClone, TokenCreate, TokenDelete, TokenLogin, TokenReplace,
};
pub use acl::token::{Expiry, LegacyToken, TokenList, TokenOfSecret, TokenRow};
pub use acl::{AclId, AclKind};
#[cfg(feature = "dump")]
pub use agent::AgentImage;
pub use agent::event::{EventList, EventRow, NewEvent};
pub use agent::{
    Agent, AgentCommand, AgentServiceInfo, Alias, CheckSource, CheckSpec, Due, InARow, LocalCheck,
    LocalService, OfAgent, ServiceSpec, Sidecar, Start, Thresholds,
};
pub use catalog::check::{ChecksInState, NodeChecks};
pub use catalog::coordinate::{
    Coordinate, CoordinateImage, CoordinateList, CoordinateRow, CoordinateUpdate, Finite,
    NodeCoordinates,
};
pub use catalog::node::id::{NodeIdFlaw, check_node_id};
pub use catalog::node_dump::{AllInstances, WholeNode, WholeNodeNamed, WholeNodes};
pub use catalog::query::{
    NewPreparedQuery, PreparedQueryDelete, PreparedQueryFor, PreparedQueryId, PreparedQueryInfo,
    PreparedQueryList, PreparedQueryRefusal, PreparedQueryRow, PreparedQueryTarget,
    PreparedQueryWrite, ServiceSearch, Template,
};
pub use catalog::registration::{
    CheckRow, Deregistration, Headers, HealthCheckDefinition, Labels, Locality, NewCheck, NewNode,
    NewService, NodeRow, Registration, RegistrationFlaw, ServiceAddress, ServicePort, ServiceRow,
    Weights,
};
pub use catalog::remote::{Elsewhere, Unchanging};
pub use catalog::service::gateway::GatewayService;
pub use catalog::service::proxy::{
    AccessLogs, EnvoyExtension, ExposedPath, Proxy, TransparentProxy, Upstream,
};
pub use catalog::service::virtual_address::{VirtualAssign, VirtualRow};
pub use catalog::service::{
    ConnectInstances, Instance, ServiceChecks, ServiceInstances, ServiceView, TaggedInstances,
};
pub use catalog::usage::{CatalogCounts, CatalogUsage};
pub use catalog::{NodeByNameOrId, NodeInfo, NodeList, ServiceList};
pub use cluster::{Cluster, ClusterCommand, ClusterDue, Loss, Member};
pub use command::effects::{
    Cause, Effects, HolderChange, Note, Probe, ProbeRun, ProbeTarget, ProbeTls, SessionEnd, Touched,
};
pub use command::entry::LogEntry;
pub use command::{AcquireRefused, Command, KvRefused, Refusal};
pub use config::autopilot::{AutopilotInfo, AutopilotRow, AutopilotSettings, AutopilotWrite};
pub use config::chain::{
    Chain, ChainError, ChainNode, ChainOverrides, ChainRequest, ChainSplit, ChainTarget,
};
pub use config::gateway::{BehindGateway, GatewayInstances, GatewayServices, IngressInstances};
pub use config::intention::{INTENTION, IntentionWrite, IntentionsTo, intention_hash};
pub use config::value::{ConfigMembers, ConfigValue};
pub use config::{
    ConfigDelete, ConfigEntry, ConfigGet, ConfigImage, ConfigList, ConfigRow, ConfigWrite,
};
#[cfg(feature = "dump")]
pub use image::{Flaw, Image, TableIndexes, form};
pub use kv::deleted::DeletedKeys;
pub use kv::key::Key;
pub use kv::{Content, Entry, KvGet, KvList, KvNames, KvRow, KvVerb, KvWrite, KvWriteInFlight};
pub use read::{Answer, News, Read, ReadResult, ReadSet, Subject, Tree, Watch, watch};
pub use session::id::{IdError, SessionId};
pub use session::{
    Behavior, NewSession, NodeSessions, ServiceCheck, SessionDestroy, SessionInfo, SessionList,
    SessionRenew, SessionRow,
};
pub use txn::{
    CatalogOperation, CatalogSubject, CatalogVerb, Txn, TxnError, TxnOperation, TxnOutcome,
    TxnRefusal, TxnResult, TxnVerb,
};

use crate::ordered::{OrderedMap, Summary};
use crate::timestamp::Timestamp;

/// The whole state of one Consul: keys, sessions, catalog and agent, with their deadlines.
#[derive(Clone, Debug)]
pub struct Store {
    rules: VersionRules,
    applied: Index,
    kv: kv::KvTable,
    tombstones: kv::tombstone::Tombstones,
    lock_delays: kv::lock_delay::LockDelays,
    sessions: session::SessionTable,
    catalog: catalog::Catalog,
    /// The agent that has commands of its own: see [`Change::as_agent`].
    agent: Agent,
    /// The other agents of the datacenter, from number 1 on.
    others: Vec<Agent>,
    cluster: Cluster,
    prepared_queries: catalog::query::PreparedQueries,
    events: agent::event::Events,
    acl: acl::AclTables,
    /// The settings of autopilot; `None` for those of a new server.
    autopilot: Option<AutopilotRow>,
    config: config::ConfigTable,
}

/// The version-dependent rules of the store, resolved once from the emulated version.
///
/// The store knows no version numbers: the table of what each release does is the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRules {
    /// Session ids are looked up as UUIDs, so a malformed one is an error of its own, and destroying an
    /// unknown session writes a raft entry (`sess.malformed_id`, `kv.session_lookup`: until 1.11.0).
    pub session_ids_are_uuids: bool,
    /// A wait on a missing key or session goes on through unrelated writes (`kv.missing_block`,
    /// `sess.info_block`: since 1.10.9, 1.11.4, 1.12.0). Before, it may end early (kv.md 5.4).
    pub missing_keeps_blocking: bool,
    /// An unknown transaction verb is refused before anything runs (`txn.unknown_verb`: since 1.19.1).
    pub unknown_verb_fails_pre_check: bool,
    /// Writing an identical check moves the index of the checks table (`cat.check_noop_index`: until 1.9.0).
    pub identical_check_moves_index: bool,
    /// Checks of type `session` follow the sessions of their name (`sess.session_checks`: since 1.21.0).
    pub session_checks: bool,
    /// A service with neither id nor name is refused before a transaction runs, for every verb
    /// (`cat.svc_empty_text`: since 1.21.2). Before, only for writes.
    pub empty_service_fails_pre_check: bool,
    /// Each node has an index of its own, and writing a service moves the index of the nodes table
    /// (`cat.node_index`: since 1.13.0).
    pub index_per_node: bool,
    /// Looking up a check without an id, or a node by an id that is not hexadecimal, is an error of the index
    /// (`cat.empty_ids`).
    pub index_errors: bool,
    /// The services that the checks of a registration name are looked for, in the case of their ids, before anything is
    /// written (`cat.register_order`).
    pub check_services_are_exact: bool,
    /// A `cas` of a check in a transaction that cannot be written returns the check as it is (`txn.check_cas_shown`).
    pub refused_check_cas_is_shown: bool,
    /// A node's name in another case is the same name (`cat.node_case`). Before, it renames a node with an id.
    pub node_name_ignores_case: bool,
    /// Each service of the mesh has a virtual address, which its proxies and native instances show
    /// (`json.consul_virtual`: since 1.11.0).
    pub virtual_addresses: bool,
    /// The name of a policy may have one slash (acl.md 4.6).
    pub acl_policy_names_have_slash: bool,
    /// A token expires within a day, if it expires (acl.md 5.30.r3).
    pub acl_tokens_end_within_a_day: bool,
    /// The roles of a token are looked up before its policies, and identities stay in their order (acl.md 5.10, 8.2.r4).
    pub acl_grants_as_given: bool,
    /// Chains and wildcards of gateways are made as in late 2025: ids have a partition, modes of mesh gateways hold within
    /// a datacenter (operator.md 5), and ingress gateways lead to the mesh alone (operator.md 3.r6b).
    pub config_late: bool,
    /// The check that a sidecar gets dials the sidecar's own address (`agent.sidecar_check_address`: since 1.13.2).
    pub sidecars_checked_at_own_address: bool,
    /// A server writes to the table of configuration entries when it starts (operator.md 4.1).
    pub start_writes_config_entries: bool,
}

/// A raft index. It numbers log entries, and with them creates and changes of rows and tables.
///
/// The lock index of a key is not one of these: it counts acquisitions.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Deserialize,
    serde::Serialize,
)]
pub struct Index(pub u64);

impl Index {
    /// The index before the first entry. A read reports it as 1 (kv.md 4.2).
    pub const ZERO: Self = Self(0);

    /// Returns the index as reads report it: at least 1.
    #[must_use]
    pub fn reported(self) -> Self {
        Self(self.0.max(1))
    }
}

impl fmt::Display for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The outcome of a command.
#[derive(Clone, Debug)]
pub struct Applied<T, E> {
    /// The reply, or the refusal.
    pub result: Result<T, E>,
    /// What changed.
    pub effects: Effects,
}

/// A command in progress: the store, the time, and the index for all rows that it writes.
#[derive(Debug)]
pub struct Change<'a> {
    store: &'a mut Store,
    now: Timestamp,
    index: Index,
    effects: Effects,
    /// The agent that acts, if one does.
    agent: Option<usize>,
    /// The changes that alias checks have not yet followed.
    stirred: agent::Stirred,
}

/// A command that time triggers. [`Store::due`] returns it; the caller applies it.
#[derive(Clone, Debug, PartialEq)]
pub enum Deadline {
    /// Ends the lock-delay of this key. Takes no raft index.
    EndLockDelay(Key),
    /// Ends this session, whose TTL ran out.
    Lapse(SessionId),
    /// Runs this task of the agent with this number.
    Agent(usize, Due),
    /// Runs this task of the agents together.
    Cluster(ClusterDue),
    /// Forgets the tombstones up to this index (kv.md 4.3).
    ReapTombstones(Index),
    /// Lets this token count no longer. Takes no raft index.
    ExpireToken(AclId),
    /// Removes the expired tokens that are local, or those that are not.
    ReapTokens {
        /// When it is due.
        at: Timestamp,
        /// Whether the local ones are meant.
        local: bool,
    },
}

impl fmt::Display for Deadline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndLockDelay(key) => write!(formatter, "the lock-delay of {key:?} ends"),
            Self::Lapse(session) => write!(formatter, "session {session} lapses"),
            Self::Agent(_, due) => due.fmt(formatter),
            Self::Cluster(due) => due.fmt(formatter),
            Self::ReapTombstones(up_to) => {
                write!(formatter, "tombstones up to index {up_to} are cleared")
            }
            Self::ExpireToken(_) => formatter.write_str("a token expires"),
            Self::ReapTokens { .. } => formatter.write_str("expired tokens are removed"),
        }
    }
}

impl Store {
    /// Creates an empty store. Its next command gets the index after `applied`.
    #[must_use]
    pub fn new(rules: VersionRules, applied: Index) -> Self {
        let config_entries_begin = if rules.start_writes_config_entries {
            applied
        } else {
            Index::ZERO
        };
        Self {
            rules,
            applied,
            kv: kv::KvTable::default(),
            tombstones: kv::tombstone::Tombstones::default(),
            lock_delays: kv::lock_delay::LockDelays::default(),
            sessions: session::SessionTable::default(),
            catalog: catalog::Catalog::default(),
            agent: Agent::default(),
            others: Vec::new(),
            cluster: Cluster::default(),
            prepared_queries: catalog::query::PreparedQueries::default(),
            events: agent::event::Events::default(),
            acl: acl::AclTables::default(),
            autopilot: None,
            config: config::ConfigTable::begun_at(config_entries_begin),
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.kv.rows.len() + self.rows_beside_keys()
    }

    /// Returns the number of rows that are no keys.
    pub(crate) fn rows_beside_keys(&self) -> usize {
        let catalog = &self.catalog;
        let of_catalog = [
            catalog.nodes.len(),
            catalog.services.len(),
            catalog.checks.rows.len(),
            catalog.coordinates.rows.len(),
            self.sessions.rows.len(),
            self.config.rows.len(),
            self.prepared_queries.rows.len(),
        ];
        let acl = &self.acl;
        let of_acl = [
            acl.policies.rows.len(),
            acl.roles.rows.len(),
            acl.tokens.rows.len(),
            acl.binding_rules.rows.len(),
        ];
        of_catalog.into_iter().chain(of_acl).sum()
    }

    /// Returns the last raft index taken.
    #[must_use]
    pub fn applied(&self) -> Index {
        self.applied
    }

    /// Applies a command at `now`.
    ///
    /// # Panics
    /// A deadline before `now` has not been applied: see [`Store::due`].
    pub fn apply<C: Command>(
        &mut self,
        now: Timestamp,
        command: C,
    ) -> Applied<C::Reply, C::Refused> {
        assert!(
            self.next_deadline().is_none_or(|deadline| deadline > now) || command.is_due(),
            "everything that is due is applied before the next command"
        );
        let before = self.applied;
        let mut change = self.change(now);
        let is_of_agent = command.is_of_agent();
        let result = command.run(&mut change);
        for number in 0..=change.store.others.len() {
            change.as_agent(number, |change| {
                change.agent_aliases_follow();
                if !is_of_agent {
                    change.agent_looks_later();
                }
            });
        }
        let mut effects = change.effects;
        effects.index = (self.applied > before).then_some(self.applied);
        Applied { result, effects }
    }

    /// Begins a command.
    fn change(&mut self, now: Timestamp) -> Change<'_> {
        Change {
            index: self.applied,
            store: self,
            now,
            effects: Effects::default(),
            agent: None,
            stirred: agent::Stirred::default(),
        }
    }

    /// Returns the time of the next deadline. Of those at the end of time only lock-delays count.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.next_of_each().into_iter().flatten().min()
    }

    /// Returns the first deadline due at `now`, with its time. Apply it at that time, then call again.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Option<(Timestamp, Deadline)> {
        let each = self.next_of_each();
        let at = each.into_iter().flatten().min().filter(|at| *at <= now)?;
        let deadline = match each.iter().position(|next| *next == Some(at))? {
            0 => Deadline::EndLockDelay(self.lock_delays.next_end()?.1.clone()),
            1 => Deadline::Lapse(self.sessions.next_lapse()?.1),
            2 => {
                let (_, number, due) = self.next_agent_due()?;
                Deadline::Agent(number, due.clone())
            }
            3 => Deadline::ReapTombstones(self.tombstones.next_reap()?.1),
            4 => self.acl.next_expiry()?,
            6 => Deadline::Cluster(self.cluster.next_due()?.1),
            _ => self.acl.next_reap()?,
        };
        Some((at, deadline))
    }

    /// Returns the next time of each kind of deadline. At equal times the order is that of the array.
    fn next_of_each(&self) -> [Option<Timestamp>; 7] {
        let ever = |at: Option<Timestamp>| at.filter(|at| *at < Timestamp::END);
        let [expiry, token_reap] = self.acl.next_of_each();
        [
            self.lock_delays.next_end().map(|(at, _)| *at),
            // No session lapses while there is no leader.
            ever(self.sessions.next_lapse().map(|(at, _)| at))
                .filter(|_| self.cluster.leader().is_some()),
            ever(self.next_agent_due().map(|(at, _, _)| at)),
            ever(self.tombstones.next_reap().map(|(at, _)| at)),
            ever(expiry),
            ever(token_reap),
            ever(self.cluster.next_due().map(|(at, _)| *at)),
        ]
    }

    /// Returns the number of pending deadlines.
    #[must_use]
    pub fn deadlines(&self) -> usize {
        self.lock_delays.by_end.len()
            + self.sessions.by_lapse.len()
            + self.agents().map(Agent::deadlines).sum::<usize>()
            + self.cluster.deadlines()
            + self.tombstones.reaps.len()
            + self.acl.expiring.len()
            + self.acl.reaps.len()
    }

    /// Returns all pending deadlines with their times, in the order in which they are due.
    #[must_use]
    pub fn pending(&self) -> Vec<(Timestamp, Deadline)> {
        let lock_delays = self.lock_delays.by_end.iter();
        let lapses = self.sessions.by_lapse.iter();
        let reaps = self.tombstones.reaps.iter();
        let mut pending: Vec<_> = lock_delays
            .map(|(at, key)| (*at, Deadline::EndLockDelay(key.clone())))
            .chain(lapses.map(|(at, _, session)| (*at, Deadline::Lapse(*session))))
            .chain(self.agents().enumerate().flat_map(|(number, agent)| {
                let due = agent.all_due();
                due.map(move |(at, due)| (*at, Deadline::Agent(number, due.clone())))
            }))
            .chain(reaps.map(|(at, up_to)| (*at, Deadline::ReapTombstones(*up_to))))
            .chain(self.acl.pending())
            .chain(
                self.cluster
                    .all_due()
                    .map(|(at, due)| (*at, Deadline::Cluster(*due))),
            )
            .collect();
        // Stable: at equal times the order is that of the kinds, as `Store::due` has it.
        pending.sort_by_key(|(at, _)| *at);
        pending
    }

    /// Returns the row of a key.
    #[must_use]
    pub fn row(&self, key: &Key) -> Option<&Arc<KvRow>> {
        self.kv.get(key.as_bytes())
    }

    /// Returns how many sessions have a TTL.
    #[must_use]
    pub fn ttl_sessions(&self) -> usize {
        self.sessions.lapses.len()
    }

    /// Returns how many keys there are.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.kv.rows.len()
    }

    /// Returns the rest of the lock-delay of `key`.
    #[must_use]
    pub fn lock_delay_left(&self, now: Timestamp, key: &Key) -> Option<Duration> {
        self.lock_delays.left(now, key)
    }
}

impl Change<'_> {
    /// Takes the indexes of a raft entry. Rows written from here on get the last of them (kv.md 4.1).
    fn take_indexes(&mut self, count: u64) {
        self.store.applied = Index(self.store.applied.0 + count);
        self.index = self.store.applied;
    }
}

impl Command for Deadline {
    type Reply = ();
    type Refused = Infallible;

    fn entry(&self) -> Option<LogEntry> {
        match self {
            Self::Lapse(_) => Some(LogEntry::new(
                "session_ttl.invalidate",
                "session",
                "destroy",
            )),
            Self::Agent(..) => Some(command::entry::REGISTER),
            _ => None,
        }
    }

    fn is_due(&self) -> bool {
        true
    }

    fn is_of_agent(&self) -> bool {
        matches!(self, Self::Agent(..))
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        let note = match self {
            Self::EndLockDelay(key) => {
                change.store.lock_delays.end(&key);
                Some(Note::LockDelayEnded(key))
            }
            Self::Lapse(session) => {
                change.take_indexes(1);
                change.invalidate(session, Cause::Lapsed);
                None
            }
            Self::Agent(number, due) => change.as_agent(number, |change| change.agent_due(due)),
            Self::Cluster(due) => change.cluster_due(due),
            Self::ReapTombstones(up_to) => {
                change.take_indexes(1);
                change.store.tombstones.reap(up_to);
                Some(Note::TombstonesReaped(up_to))
            }
            Self::ExpireToken(token) => {
                change.expire_token(token);
                None
            }
            Self::ReapTokens { at, local } => {
                change.reap_tokens(at, local);
                None
            }
        };
        change.effects.notes.extend(note);
        Ok(())
    }
}

/// Returns rows of which each has been changed.
pub(crate) fn each_changed<K: Ord + Clone, R: Clone, S: Summary<Arc<R>>>(
    rows: &OrderedMap<K, Arc<R>, S>,
    change: impl Fn(&mut R),
) -> OrderedMap<K, Arc<R>, S> {
    let changed = rows.iter().map(|(key, row)| {
        let mut row = R::clone(row);
        change(&mut row);
        (key.clone(), Arc::new(row))
    });
    changed.collect()
}

#[cfg(test)]
mod tests;
