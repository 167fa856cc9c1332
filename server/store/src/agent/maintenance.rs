//! Maintenance: a critical check whose notes give the reason.

use super::local::{CheckSource, CheckSpec, Thresholds};
use crate::Change;
use crate::catalog::registration::NewCheck;
use crate::command::Refusal;

const NODE_CHECK: &str = "_node_maintenance";
const SERVICE_CHECK: &str = "_service_maintenance:";

impl Change<'_> {
    pub(super) fn agent_node_maintenance(&mut self, reason: Option<String>) {
        let Some(reason) = reason else {
            return self.agent_drop_check(NODE_CHECK);
        };
        let reason = or_default(reason, "node");
        self.agent_maintain(NewCheck {
            check_id: NODE_CHECK.to_owned(),
            name: "Node Maintenance Mode".to_owned(),
            notes: reason,
            ..NewCheck::default()
        });
    }

    pub(super) fn agent_service_maintenance(
        &mut self,
        id: &str,
        reason: Option<String>,
    ) -> Result<(), Refusal> {
        if self.store.agent.service(id).is_none() {
            return Err(Refusal::AgentServiceUnknown(id.to_owned()));
        }
        let check_id = format!("{SERVICE_CHECK}{id}");
        match reason {
            None => self.agent_drop_check(&check_id),
            Some(reason) => self.agent_maintain(NewCheck {
                check_id,
                name: "Service Maintenance Mode".to_owned(),
                notes: or_default(reason, "service"),
                service_id: id.to_owned(),
                ..NewCheck::default()
            }),
        }
        Ok(())
    }

    /// Registers a maintenance check. An existing one keeps its reason.
    fn agent_maintain(&mut self, check: NewCheck) {
        if self.store.agent.check(&check.check_id).is_some() {
            return;
        }
        let spec = CheckSpec {
            check: NewCheck {
                status: crate::catalog::check::CRITICAL.to_owned(),
                kind: "maintenance".to_owned(),
                ..check
            },
            source: CheckSource::Fixed,
            output_limit: 0,
            deregister_after: None,
            thresholds: Thresholds::default(),
        };
        let registered = self.agent_register_check(spec);
        registered.expect("a maintenance check is of a service that was looked up");
    }
}

/// Returns the reason, or Consul's default if it is empty.
fn or_default(reason: String, what: &str) -> String {
    if reason.is_empty() {
        return format!(
            "Maintenance mode is enabled for this {what}, but no reason was provided. This is a default message."
        );
    }
    reason
}
