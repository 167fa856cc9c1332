//! Sidecars: their ports and default checks (seen on 1.8.7).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::VersionRules;
use crate::agent::Agent;
use crate::agent::local::{Alias, CheckSource, CheckSpec, ServiceSpec, Sidecar, Thresholds};
use crate::catalog::check::CRITICAL;
use crate::catalog::registration::{NewCheck, NewService};
use crate::command::Refusal;
use crate::command::effects::{Probe, ProbeTarget};

/// The ports for sidecars.
const PORTS: RangeInclusive<i64> = 21_000..=21_255;
/// The address of a sidecar's default check if neither the sidecar nor its proxy names one.
const LOOPBACK: &str = "127.0.0.1";
/// The interval and the timeout of the default check.
const INTERVAL: Duration = Duration::from_secs(10);
/// The interval as Consul shows it.
const SHOWN_INTERVAL: &str = "10s";

/// Returns the id of the sidecar of this service.
pub(in crate::agent) fn sidecar_id(of: &str) -> String {
    format!("{of}-sidecar-proxy")
}

impl Agent {
    /// Completes the sidecar of this service with its defaults.
    pub(in crate::agent) fn sidecar(
        &self,
        of: &str,
        sidecar: Sidecar,
        rules: VersionRules,
    ) -> Result<ServiceSpec, Refusal> {
        let Sidecar {
            mut service,
            mut checks,
            output_limit,
        } = sidecar;
        if service.port <= 0 {
            let port = self.sidecar_port(&service.id);
            service.port = port.ok_or(Refusal::AgentNoSidecarPort(PORTS))?;
            for address in service
                .tagged_addresses
                .iter_mut()
                .flat_map(|all| all.values_mut())
            {
                if address.port == 0 {
                    address.port = service.port;
                }
            }
        }
        if checks.is_empty() {
            checks = default_checks(of, &service, output_limit, rules);
        }
        Ok(ServiceSpec {
            service,
            checks,
            sidecar: None,
        })
    }

    /// Returns the port that the sidecar has already, or the first free one.
    fn sidecar_port(&self, id: &str) -> Option<i64> {
        let before = self.service(id).filter(|local| local.is_sidecar);
        if let Some(before) = before {
            return Some(before.service.port);
        }
        let taken: BTreeSet<i64> = self.services().map(|local| local.service.port).collect();
        PORTS.into_iter().find(|port| !taken.contains(port))
    }
}

/// Returns the default checks of a sidecar. The rules of the release say whether the first one dials the sidecar's own address, or
/// always that of the service.
fn default_checks(
    of: &str,
    sidecar: &NewService,
    output_limit: usize,
    rules: VersionRules,
) -> Vec<CheckSpec> {
    let own = match rules.sidecars_checked_at_own_address {
        true => sidecar.address.as_str(),
        false => "",
    };
    let mut hosts = [own, &sidecar.proxy.local_address].into_iter();
    let host = hosts.find(|host| !host.is_empty()).unwrap_or(LOOPBACK);
    let listening = CheckSource::Probe {
        probe: Probe {
            target: ProbeTarget::Tcp {
                address: format!("{host}:{}", sidecar.port),
                tls: None,
            },
            timeout: INTERVAL,
            output_limit,
        },
        interval: INTERVAL,
    };
    let aliasing = CheckSource::Alias(Alias {
        node: String::new(),
        service: of.to_owned(),
    });
    let spec = |number: u8, name: String, kind: &str, interval: &str, source| CheckSpec {
        check: NewCheck {
            check_id: format!("service:{}:{number}", sidecar.id),
            name,
            status: CRITICAL.to_owned(),
            service_id: sidecar.id.clone(),
            kind: kind.to_owned(),
            interval: interval.to_owned(),
            ..NewCheck::default()
        },
        source,
        output_limit,
        deregister_after: None,
        thresholds: Thresholds::default(),
    };
    let listens = "Connect Sidecar Listening".to_owned();
    let aliases = format!("Connect Sidecar Aliasing {of}");
    vec![
        spec(1, listens, "tcp", SHOWN_INTERVAL, listening),
        spec(2, aliases, "alias", "", aliasing),
    ]
}
