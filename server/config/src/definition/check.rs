//! Definitions of checks.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{DefinitionError, DefinitionRules};
use proconsul_gocompat::duration;
use proconsul_store::{
    Alias, CheckSource, CheckSpec, NewCheck, Probe, ProbeTarget, ProbeTls, Thresholds,
};
use proconsul_version::Behaviour;

/// The shortest time between two runs.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// The default timeout of a run.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The default timeout of a script.
const DEFAULT_SCRIPT_TIMEOUT: Duration = Duration::from_secs(30);
/// The shortest time before a critical service is deregistered.
const SHORTEST_DEREGISTER: Duration = Duration::from_secs(60);
const CRITICAL: &str = "critical";
/// The output of checks that ask for a container.
const NOT_RUN: &str =
    "proconsul does not run checks of this type: the status stays as it was registered";

/// The definition of a check. Empty and zero fields are unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckDefinition {
    /// The id; if empty, it is made from the name or the service.
    pub id: String,
    /// The name; optional for a check of a service.
    pub name: String,
    /// Notes for people.
    pub notes: String,
    /// The initial status; critical if empty.
    pub status: String,
    /// The id of the checked service; empty for the node. Ignored in the definition of a service.
    pub service_id: String,
    /// The command to run.
    pub script_args: Vec<String>,
    /// A container in which Consul would run the command. Not emulated.
    pub docker_container_id: String,
    /// The address to ask over gRPC, with the name of a service behind a slash if not for all.
    pub grpc: String,
    /// Whether that server speaks TLS.
    pub grpc_use_tls: bool,
    /// A node of the catalog whose checks are followed; empty for this agent.
    pub alias_node: String,
    /// The id of a service whose checks are followed.
    pub alias_service: String,
    /// The URL to request.
    pub http: String,
    /// The method of the request.
    pub method: String,
    /// The headers of the request.
    pub header: BTreeMap<String, Vec<String>>,
    /// The body of the request.
    pub body: String,
    /// Whether any certificate of an HTTPS server is accepted.
    pub tls_skip_verify: bool,
    /// The expected name in its certificate; empty for the host of the URL.
    pub tls_server_name: String,
    /// The address to connect to.
    pub tcp: String,
    /// The address to ping over HTTP/2.
    pub h2ping: String,
    /// Whether that server speaks TLS; `None` stands for yes.
    pub h2ping_use_tls: Option<bool>,
    /// The address to send a datagram to.
    pub udp: String,
    /// Whether a TCP check speaks TLS.
    pub tcp_use_tls: bool,
    /// A service of the operating system. Consul checks it on Windows alone.
    pub os_service: String,
    /// Intervals and timeouts.
    pub timing: Timing,
    /// The number of passing runs before a critical check passes.
    pub success_before_passing: i64,
    /// The number of failed runs before the check is critical.
    pub failures_before_critical: i64,
    /// The number of failed runs before the check is in warning. It has no effect.
    pub failures_before_warning: i64,
    /// The longest output in bytes; 0 for the agent's setting.
    pub output_max_size: i64,
}

/// The intervals and timeouts of a check in nanoseconds; 0 if unset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The time between two runs.
    pub interval_ns: i64,
    /// The timeout of a run.
    pub timeout_ns: i64,
    /// The time for which a reported status is valid.
    pub ttl_ns: i64,
    /// The time in a critical state after which the service is deregistered.
    pub deregister_after_ns: i64,
}

/// The owner of a check, which provides defaults for missing fields.
#[derive(Clone, Copy, Debug)]
pub enum CheckOwner<'a> {
    /// None: the check is registered by itself.
    Alone,
    /// The service with this id and name; `number` counts its checks from 1, and is `None` for an only check.
    Service {
        /// Its id.
        id: &'a str,
        /// Its name.
        name: &'a str,
        /// The place of the check among those of the service, from 1.
        number: Option<usize>,
    },
}

impl CheckDefinition {
    /// Whether all fields are unset, as a service's single check may be.
    pub fn is_empty(&self) -> bool {
        *self == CheckDefinition::default()
    }

    fn is_asked_for(&self) -> bool {
        let asked = [
            &self.http,
            &self.tcp,
            &self.grpc,
            &self.h2ping,
            &self.udp,
            &self.os_service,
        ];
        !self.script_args.is_empty() || asked.iter().any(|target| !target.is_empty())
    }

    fn is_alias(&self) -> bool {
        !(self.alias_node.is_empty() && self.alias_service.is_empty())
    }

    /// Checks what all checks need, in Consul's order.
    pub(super) fn validate(&self) -> Result<(), DefinitionError> {
        let Timing {
            interval_ns: interval,
            ttl_ns: ttl,
            ..
        } = self.timing;
        let problem = if interval > 0 && ttl > 0 {
            "Interval and TTL cannot both be specified"
        } else if self.is_asked_for() && interval <= 0 {
            return Err(DefinitionError::Interval);
        } else if self.is_asked_for() && self.is_alias() {
            "Interval cannot be set for Alias checks"
        } else if self.is_alias() && ttl > 0 {
            "TTL must be not be set for Alias checks"
        } else if !self.is_asked_for() && !self.is_alias() && ttl <= 0 {
            "TTL must be > 0 for TTL checks"
        } else if self.output_max_size < 0 {
            "MaxOutputMaxSize must be positive"
        } else if self.failures_before_warning > self.failures_before_critical {
            "FailuresBeforeWarning can't be higher than FailuresBeforeCritical"
        } else {
            return Ok(());
        };
        Err(DefinitionError::Check(problem))
    }

    fn has_known_status(&self) -> bool {
        matches!(
            self.status.as_str(),
            "" | "passing" | "warning" | "critical"
        )
    }

    /// Returns the specification of a check that is registered by itself.
    pub fn alone(self, rules: DefinitionRules) -> Result<CheckSpec, DefinitionError> {
        if self.name.is_empty() {
            return Err(DefinitionError::CheckName);
        }
        if !self.has_known_status() {
            return Err(DefinitionError::CheckStatus);
        }
        self.validate()?;
        self.check_scripts(rules)?;
        self.check_is_implemented()?;
        Ok(self.into_spec(CheckOwner::Alone, rules))
    }

    /// Returns the specification of a valid check of a service.
    pub(super) fn of_service(
        self,
        owner: CheckOwner<'_>,
        rules: DefinitionRules,
    ) -> Result<CheckSpec, DefinitionError> {
        if !self.has_known_status() {
            return Err(DefinitionError::ServiceCheckStatus);
        }
        self.check_is_implemented()?;
        Ok(self.into_spec(owner, rules))
    }

    pub(super) fn check_scripts(&self, rules: DefinitionRules) -> Result<(), DefinitionError> {
        if !self.script_args.is_empty() && !rules.scripts {
            return Err(DefinitionError::Scripts);
        }
        Ok(())
    }

    /// Refuses checks of the operating system's services, which Consul runs on Windows alone (session.md 4.4.r19).
    fn check_is_implemented(&self) -> Result<(), DefinitionError> {
        if self.kind() == "os_service" {
            return Err(DefinitionError::NotImplemented);
        }
        Ok(())
    }

    /// Returns the type of the check; of several the first counts (seen on 1.8.7).
    fn kind(&self) -> &'static str {
        if !self.grpc.is_empty() {
            "grpc"
        } else if !self.http.is_empty() {
            "http"
        } else if !self.tcp.is_empty() {
            "tcp"
        } else if !self.docker_container_id.is_empty() && !self.script_args.is_empty() {
            "docker"
        } else if !self.script_args.is_empty() {
            "script"
        } else if !self.h2ping.is_empty() {
            "h2ping"
        } else if !self.udp.is_empty() {
            "udp"
        } else if !self.os_service.is_empty() {
            "os_service"
        } else if self.is_alias() {
            "alias"
        } else {
            "ttl"
        }
    }

    fn into_spec(self, owner: CheckOwner<'_>, rules: DefinitionRules) -> CheckSpec {
        let output_limit = match usize::try_from(self.output_max_size) {
            // A check can have less kept, and not more.
            Ok(given) if given > 0 => given.min(rules.output_limit),
            Ok(_) | Err(_) => rules.output_limit,
        };
        let after = positive(self.timing.deregister_after_ns);
        CheckSpec {
            source: self.source(output_limit),
            output_limit,
            deregister_after: after.map(|after| after.max(SHORTEST_DEREGISTER)),
            thresholds: self.thresholds(rules),
            check: self.into_check(owner),
        }
    }

    /// Returns the thresholds, which 1.8 accepts and ignores (seen on 1.8.7).
    fn thresholds(&self, rules: DefinitionRules) -> Thresholds {
        if !rules.version.has(Behaviour::AgentCheckThresholds) {
            return Thresholds::default();
        }
        Thresholds {
            success_before_passing: self.success_before_passing,
            failures_before_critical: self.failures_before_critical,
        }
    }

    fn tls(&self, is_used: bool) -> Option<ProbeTls> {
        is_used.then(|| ProbeTls {
            skip_verify: self.tls_skip_verify,
            server_name: self.tls_server_name.clone(),
        })
    }

    fn source(&self, output_limit: usize) -> CheckSource {
        let target = match self.kind() {
            "ttl" => {
                return CheckSource::Ttl(positive(self.timing.ttl_ns).unwrap_or_default());
            }
            "http" => ProbeTarget::Http {
                url: self.http.clone(),
                method: self.method.clone(),
                header: self.header.clone(),
                body: self.body.clone(),
                tls_skip_verify: self.tls_skip_verify,
                tls_server_name: self.tls_server_name.clone(),
            },
            "tcp" => ProbeTarget::Tcp {
                address: self.tcp.clone(),
                tls: self.tls(self.tcp_use_tls),
            },
            "udp" => ProbeTarget::Udp(self.udp.clone()),
            "h2ping" => ProbeTarget::H2Ping {
                address: self.h2ping.clone(),
                tls: self.tls(self.h2ping_use_tls.unwrap_or(true)),
            },
            "grpc" => ProbeTarget::Grpc {
                target: self.grpc.clone(),
                tls: self.tls(self.grpc_use_tls),
            },
            "script" => ProbeTarget::Script(self.script_args.clone()),
            "alias" => {
                return CheckSource::Alias(Alias {
                    node: self.alias_node.clone(),
                    service: self.alias_service.clone(),
                });
            }
            _ => return CheckSource::Fixed,
        };
        let interval = positive(self.timing.interval_ns).unwrap_or_default();
        let timeout = match target {
            ProbeTarget::Script(_) => DEFAULT_SCRIPT_TIMEOUT,
            _ => DEFAULT_TIMEOUT,
        };
        CheckSource::Probe {
            probe: Probe {
                target,
                timeout: positive(self.timing.timeout_ns).unwrap_or(timeout),
                output_limit,
            },
            interval: interval.max(SHORTEST_INTERVAL),
        }
    }

    fn into_check(self, owner: CheckOwner<'_>) -> NewCheck {
        let kind = self.kind().to_owned();
        let output = if kind == "docker" { NOT_RUN } else { "" };
        // Unset durations are shown as 0s, except in the checks of a service's definition (1.22.md B4.4).
        let in_service = matches!(owner, CheckOwner::Service { .. });
        let shown = |nanoseconds: i64| match nanoseconds {
            0 if in_service => String::new(),
            set => duration::format(set),
        };
        let (id, name, service_id) = match owner {
            CheckOwner::Alone => (self.name.clone(), self.name, self.service_id),
            CheckOwner::Service { id, name, number } => {
                let own_name = if self.name.is_empty() {
                    format!("Service '{name}' check")
                } else {
                    self.name
                };
                let own_id = match number {
                    None => format!("service:{id}"),
                    Some(number) => format!("service:{id}:{number}"),
                };
                (own_id, own_name, id.to_owned())
            }
        };
        NewCheck {
            check_id: if self.id.is_empty() { id } else { self.id },
            name,
            status: if self.status.is_empty() {
                CRITICAL.to_owned()
            } else {
                self.status
            },
            notes: self.notes,
            output: output.to_owned(),
            service_id,
            kind,
            interval: shown(self.timing.interval_ns),
            timeout: shown(self.timing.timeout_ns),
            ..NewCheck::default()
        }
    }
}

/// Returns a positive duration; `None` for any other.
fn positive(nanoseconds: i64) -> Option<Duration> {
    let nanoseconds = u64::try_from(nanoseconds).ok()?;
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}
