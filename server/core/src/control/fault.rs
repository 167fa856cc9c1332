//! Faults and scenarios: what goes wrong on demand.

use std::sync::Arc;
use std::time::Duration;

use super::Controls;
use proconsul_engine::faults::{
    AclChange, Director, Effect, FaultGuard, Faults, Installed, LeaderLoss, Past, Phase, Rule,
    RuleError, RuleId,
};

/// # Faults
impl Controls {
    /// Installs a rule behind the existing ones; the first rule that matches a request wins. Dropping the guard removes
    /// the rule, unless the guard is told to [`keep`](FaultGuard::keep) it.
    ///
    /// # Errors
    /// The rule is invalid or can never match. Nothing is installed.
    pub fn fault(&self, rule: Rule) -> Result<FaultGuard, RuleError> {
        if let Some(number) = rule.agent_wanted() {
            self.find_agent(number)?;
        }
        let past = match rule.effect() {
            Effect::ReadFrom { checkpoint, .. } => {
                let kept = self.engine.kept_as(checkpoint);
                let kept = kept.ok_or_else(|| RuleError::Checkpoint(checkpoint.clone()))?;
                Some(Past::new(kept))
            }
            Effect::ChangeAcls(change) => {
                let rules = match change {
                    AclChange::Rules(_, rules) => rules,
                    AclChange::Revoke(_) => "",
                };
                let checked = self.acl().check(rules);
                checked.map_err(|error| RuleError::Acls(error.to_string()))?;
                None
            }
            _ => None,
        };
        let text = format!("fault: {}", rule.in_words());
        let guard = self.faults.install(rule, past, self.now())?;
        self.note(&text);
        Ok(guard)
    }

    /// Returns the installed rules, in the order in which they are tried, with their hits.
    #[must_use]
    pub fn faults(&self) -> Vec<Installed> {
        self.faults.list()
    }

    /// Removes a rule. Returns whether it was installed.
    pub fn remove_fault(&self, id: RuleId) -> bool {
        self.faults.remove(id)
    }

    /// Removes all rules and delays of wakes, and gives the cluster its leader back.
    pub fn clear_faults(&self) {
        self.note("faults cleared");
        self.engine.clear_wake_delays();
        self.faults.clear();
    }

    /// Loses the leader, phase by phase as it was measured on real clusters.
    ///
    /// ```
    /// use proconsul::faults::LeaderLoss;
    ///
    /// let server = proconsul::Server::start();
    /// server.lose_leader(LeaderLoss::quorum_lost());
    /// server.find_leader();
    /// ```
    pub fn lose_leader(&self, loss: LeaderLoss) {
        self.note(&format!("leader lost: {:?}", loss.phases()));
        self.faults.lose_leader(loss, self.now());
    }

    /// Gives the cluster its leader back: requests that wait for one go on.
    pub fn find_leader(&self) {
        self.note("leader found");
        self.faults.find_leader();
    }

    /// Another server becomes the leader, as when leadership is handed over: TTLs start anew (cluster.md 3.16). Lock-delays
    /// are kept in most cases; they end early with a leader that had been away shortly before (3.18, 4 of 13 changes).
    pub fn change_leader(&self, ends_lock_delays: bool) {
        self.engine.change_leader(ends_lock_delays);
    }

    /// Lets `director` decide about each request before the rules do; `None` ends that.
    pub fn direct(&self, director: Option<Arc<dyn Director>>) {
        self.faults.direct(director);
    }

    /// Lets all open requests look at the links of their clients again.
    pub fn links_changed(&self) {
        self.faults.links_changed();
    }

    /// Waits until [`links_changed`](Self::links_changed) is called, for who serves clients by other means than the server's own.
    /// It waits from this call on, not only once it is polled.
    #[doc(hidden)]
    pub fn link_changes(&self) -> impl Future<Output = ()> + '_ {
        self.faults.changes()
    }

    /// Returns what the cluster goes through without its leader; `None` while it has one.
    #[must_use]
    pub fn leader_lost(&self) -> Option<Phase> {
        self.faults.phase(self.now())
    }

    /// Lowers every index by `by`, but to 1 at the least, as of a Consul that was built anew: keys and sessions stay. Blocked requests
    /// are answered at once, with an index that may be lower than the one that they sent.
    pub fn lower_indexes(&self, by: u64) {
        self.engine.lower_indexes(by);
    }

    /// Answers the requests that are blocked on keys under `prefix`, though nothing has changed: same index, same data.
    /// Returns their number.
    pub fn wake(&self, prefix: impl AsRef<[u8]>) -> usize {
        self.engine.wake_spuriously(prefix.as_ref())
    }

    /// Delays wakes of requests that are blocked on keys under `prefix` by `by` on the server's clock: the next `times`
    /// ones, or all for `None`. Further changes meanwhile come with the same wake.
    pub fn delay_wakes(&self, prefix: impl AsRef<[u8]>, by: Duration, times: Option<u64>) {
        let prefix = prefix.as_ref();
        self.note(&format!(
            "wakes of {:?} delayed by {by:?}",
            String::from_utf8_lossy(prefix)
        ));
        self.engine.delay_wakes(prefix, by, times);
    }

    /// Returns the faults, for the HTTP server.
    pub(crate) fn fault_table(&self) -> &Faults {
        &self.faults
    }
}
