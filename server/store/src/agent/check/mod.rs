//! Registration, reports, runs and deregistration of the agent's checks.

pub(super) mod alias;
pub(super) mod table;

use std::sync::Arc;
use std::time::Duration;

use crate::Change;
use crate::agent::command::Due;
use crate::agent::local::{CheckSource, CheckSpec, InARow, LocalCheck, cut};
use crate::catalog::check::CRITICAL;
use crate::catalog::registration::{Deregistration, NewCheck, Registration};
use crate::command::Refusal;
use crate::command::effects::ProbeRun;
use crate::timestamp::Timestamp;

impl Change<'_> {
    pub(super) fn agent_register_check(&mut self, spec: CheckSpec) -> Result<(), Refusal> {
        let service = &spec.check.service_id;
        let (name, tags) = if service.is_empty() {
            (String::new(), None)
        } else {
            let local = self.store.agent.service(service);
            let local = local.ok_or_else(|| Refusal::AgentCheckServiceUnknown(service.clone()))?;
            (local.service.name.clone(), local.service.tags.clone())
        };
        let check = self.agent_keep_check(spec, name, tags);
        self.enter_check(check);
        Ok(())
    }

    /// Adds a check to the agent's tables. Returns its registration for the catalog. An existing check keeps
    /// its status and output (session.md 4.4).
    pub(super) fn agent_keep_check(
        &mut self,
        spec: CheckSpec,
        service_name: String,
        service_tags: Option<Vec<String>>,
    ) -> NewCheck {
        let mut check = spec.check;
        let id = check.check_id.clone();
        let before = self.agent_forget_check(&id);
        // Only a report or a run starts the critical time, not the initial status (seen on 1.8.7).
        let mut critical_since = None;
        if let Some(before) = before {
            check.status.clone_from(&before.check.status);
            check.output.clone_from(&before.check.output);
            critical_since = before.critical_since;
        }
        let agent = &mut self.store.agent;
        agent.registrations += 1;
        let local = LocalCheck {
            check: check.clone(),
            service_name,
            service_tags,
            source: spec.source,
            output_limit: spec.output_limit,
            deregister_after: spec.deregister_after,
            critical_since,
            thresholds: spec.thresholds,
            in_a_row: InARow::default(),
            registration: agent.registrations,
            next: None,
            output_due: None,
        };
        let wait = match &local.source {
            CheckSource::Ttl(ttl) => Some(*ttl),
            // The first run is at a random moment of the first interval.
            CheckSource::Probe { interval, .. } => Some(agent.chance.below(*interval)),
            CheckSource::Alias(_) => {
                self.stirred.new_check(&id);
                None
            }
            CheckSource::Fixed => None,
        };
        self.stirred.service(&check.service_id);
        let overdue = overdue_at(&local);
        agent.checks.insert(local);
        if let Some(wait) = wait {
            self.agent_await_check(&id, wait);
        }
        if let Some(overdue) = overdue {
            self.agent_schedule_reap(overdue);
        }
        check
    }

    /// Schedules the expiry or run of a check after `wait`, in place of an earlier schedule.
    fn agent_await_check(&mut self, id: &str, wait: Duration) {
        let at = self.now.plus(wait);
        let before = self.agent_change_check(id, |local| {
            let before = local.next.replace(at);
            (before, next_of(local))
        });
        if let Some((before, Some(due))) = before {
            self.agent_cancel(before, due.clone());
            self.agent_schedule(at, due);
        }
    }

    /// Changes a check in the agent's tables; `None` if it is unknown.
    pub(super) fn agent_change_check<T>(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut LocalCheck) -> T,
    ) -> Option<T> {
        self.store.agent.checks.change(id, change)
    }

    /// Removes a check from the agent's tables, with its tasks.
    pub(super) fn agent_forget_check(&mut self, id: &str) -> Option<Arc<LocalCheck>> {
        let local = self.store.agent.checks.remove(id)?;
        self.stirred.service(&local.check.service_id);
        if let Some(due) = next_of(&local) {
            self.agent_cancel(local.next, due);
        }
        self.agent_cancel(local.output_due, Due::Output(id.to_owned()));
        if matches!(local.source, CheckSource::Probe { .. }) {
            self.effects.runs_unwanted.push(local.registration);
        }
        Some(local)
    }

    pub(super) fn agent_deregister_check(&mut self, id: &str) -> Result<(), Refusal> {
        if self.store.agent.check(id).is_none() {
            return Err(Refusal::AgentCheckUnknown(id.to_owned()));
        }
        self.agent_drop_check(id);
        Ok(())
    }

    /// Deregisters a check, here and in the catalog.
    pub(super) fn agent_drop_check(&mut self, id: &str) {
        if self.agent_forget_check(id).is_some() {
            let node = self.store.agent.own().node.clone();
            self.take_out(&Deregistration::Check {
                node,
                id: id.to_owned(),
            });
        }
    }

    /// Records a client's report of a TTL check and restarts the TTL.
    pub(super) fn agent_report(
        &mut self,
        id: &str,
        status: &'static str,
        output: &str,
    ) -> Result<(), Refusal> {
        let local = self.store.agent.check(id);
        let local = local.ok_or_else(|| Refusal::AgentCheckUnknown(id.to_owned()))?;
        let CheckSource::Ttl(ttl) = local.source else {
            return Err(Refusal::AgentCheckNotTtl(id.to_owned()));
        };
        let output = cut(output, local.output_limit);
        self.agent_set_status(id, status, output);
        self.agent_await_check(id, ttl);
        Ok(())
    }

    /// Expires a TTL check. It expires once, until the next report.
    pub(super) fn agent_expire(&mut self, id: &str) {
        let last = self.agent_change_check(id, |local| {
            local.next = None;
            local.check.output.clone()
        });
        let output = match last.as_deref() {
            None => return,
            Some("") => "TTL expired".to_owned(),
            Some(last) => {
                format!("TTL expired (last output before timeout follows): {last}")
            }
        };
        self.agent_set_status(id, CRITICAL, output);
    }

    /// Requests a run of a check. The caller of the store runs it and returns with [`Change::agent_ran`].
    pub(super) fn agent_run(&mut self, id: &str) {
        let run = self.agent_change_check(id, |local| {
            local.next = None;
            let CheckSource::Probe { probe, .. } = &local.source else {
                return None;
            };
            Some(ProbeRun {
                check_id: local.check.check_id.clone(),
                registration: local.registration,
                probe: probe.clone(),
            })
        });
        self.effects.runs.extend(run.flatten());
    }

    /// Records the result of a run. It is dropped if the check was registered anew or deregistered since.
    pub(super) fn agent_ran(
        &mut self,
        id: &str,
        registration: u64,
        result: Option<(&'static str, String)>,
    ) {
        let counted = self.agent_change_check(id, |local| {
            let CheckSource::Probe { interval, .. } = &local.source else {
                return None;
            };
            if local.registration != registration {
                return None;
            }
            let thresholds = local.thresholds;
            let follows = result.filter(|(status, _)| {
                let is_critical = *status == CRITICAL;
                local.in_a_row.count(is_critical, thresholds)
            });
            Some((*interval, follows))
        });
        let Some(Some((interval, follows))) = counted else {
            return;
        };
        if let Some((status, output)) = follows {
            self.agent_set_status(id, status, output);
        }
        self.agent_await_check(id, interval);
    }

    /// Sets status and output of a check. The catalog gets a changed status at once, a changed output alone
    /// later (session.md 4.4).
    pub(super) fn agent_set_status(&mut self, id: &str, status: &str, output: String) {
        let now = self.now;
        let changed = self.agent_change_check(id, |local| {
            let other_status = local.check.status != status;
            let other_output = local.check.output != output;
            status.clone_into(&mut local.check.status);
            local.check.output = output;
            if status != CRITICAL {
                local.critical_since = None;
            } else if local.critical_since.is_none() {
                local.critical_since = Some(now);
            }
            let overdue = overdue_at(local);
            let service = other_status.then(|| local.check.service_id.clone());
            (service, other_output, local.output_due, overdue)
        });
        let Some((service, other_output, output_due, overdue)) = changed else {
            return;
        };
        let other_status = service.is_some();
        // Aliases ignore a changed output (seen on 1.8.7).
        self.stirred.service(&service.unwrap_or_default());
        let interval = self.store.agent.own().output_interval;
        if other_status || (other_output && interval.is_zero()) {
            self.agent_cancel(output_due, Due::Output(id.to_owned()));
            self.agent_tell_catalog(id);
        } else if other_output && output_due.is_none() {
            let wait = interval / 2 + self.store.agent.chance.below(interval);
            let at = self.now.plus(wait);
            self.agent_change_check(id, |local| local.output_due = Some(at));
            self.agent_schedule(at, Due::Output(id.to_owned()));
        }
        if let Some(overdue) = overdue {
            self.agent_schedule_reap(overdue);
        }
    }

    /// Registers a check of the agent in the catalog.
    pub(super) fn agent_tell_catalog(&mut self, id: &str) {
        let check = self.agent_change_check(id, |local| {
            local.output_due = None;
            local.check.clone()
        });
        if let Some(check) = check {
            self.enter_check(check);
        }
    }

    /// Registers a check, and its service in case others deregistered it.
    pub(super) fn enter_check(&mut self, check: NewCheck) {
        let service = self.store.agent.service(&check.service_id);
        let service = service.map(|local| local.service.clone());
        self.enter(Registration {
            service,
            checks: vec![check],
            ..self.on_own_node()
        });
    }
}

/// Returns when the service of a critical check is to be deregistered.
pub(super) fn overdue_at(local: &LocalCheck) -> Option<Timestamp> {
    let has_service = !local.check.service_id.is_empty();
    let since = local.critical_since.filter(|_| has_service)?;
    Some(since.plus(local.deregister_after?))
}

/// Returns the periodic task of a check.
pub(super) fn next_of(local: &LocalCheck) -> Option<Due> {
    let id = local.check.check_id.clone();
    match local.source {
        CheckSource::Ttl(_) => Some(Due::Expire(id)),
        CheckSource::Probe { .. } => Some(Due::Run(id)),
        CheckSource::Alias(_) | CheckSource::Fixed => None,
    }
}

/// Returns the first time after `now` that is a whole number of steps after `start`.
pub(super) fn next_on_grid(start: Timestamp, step: Duration, now: Timestamp) -> Timestamp {
    let step_ns = step.as_nanos();
    let steps = now.since(start).as_nanos() / step_ns + 1;
    let offset = u64::try_from(steps * step_ns).unwrap_or(u64::MAX);
    start.plus(Duration::from_nanos(offset))
}
