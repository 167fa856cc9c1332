//! A snapshot that a server takes back.

use crate::timestamp::Timestamp;
use crate::{Index, Store};

/// How many entries a restore adds to the log (operator.md 6.r6).
const ENTRIES: u64 = 3;

impl Store {
    /// Makes this state, read from a snapshot, that of a server which was in the state `own` and has restored it
    /// (operator.md 6). What raft does not keep is still the server's: the agent's services and checks, the events that
    /// it has heard, the index of the log. Lock-delays are forgotten, every TTL starts anew. The token with the secret
    /// `management` stays, and all of ACLs do if the snapshot has nothing of them.
    pub fn restored_over(&mut self, own: &Self, management: &str, now: Timestamp) {
        let log = self.applied.max(own.applied);
        self.agent = own.agent.clone();
        self.others = own.others.clone();
        self.cluster = own.cluster.clone();
        self.events = own.events.clone();
        self.keep_acls(own, management);
        self.change_leader(now);
        self.applied = Index(log.0.saturating_add(ENTRIES));
        let mut change = self.change(now);
        for number in 0..=change.store.others.len() {
            change.as_agent(number, |change| change.agent_looks_after_restore());
        }
    }
}
