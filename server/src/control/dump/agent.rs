//! The agent's own services and checks in a state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{CheckFields, ServiceFields};
use super::value::{Bits, Moment, Span, unset};
use crate::store::{
    AgentImage, Alias, CheckSource, InARow, LocalCheck, NewCheck, NewService, Probe, ProbeTarget,
    Thresholds,
};
use crate::timestamp::Timestamp;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentState {
    /// Of the agent's node. A server that loads a state without it keeps its own.
    #[serde(default, skip_serializing_if = "unset")]
    node_id: String,
    /// What the agent spreads its doings by.
    chance: Bits,
    registrations: u64,
    started: Moment,
    next_sync: Moment,
    looks_for_critical: Vec<Moment>,
    looks_for_agent: Vec<Moment>,
    syncs: Vec<Moment>,
    services: Vec<AgentService>,
    /// Which of these came as sidecars of others.
    #[serde(default, skip_serializing_if = "unset")]
    sidecars: BTreeSet<String>,
    /// Which services and checks the configuration defines.
    #[serde(default, skip_serializing_if = "unset")]
    configured_services: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "unset")]
    configured_checks: BTreeSet<String>,
    checks: Vec<AgentCheck>,
}

#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct AgentService(#[serde(with = "ServiceFields")] NewService);

impl From<AgentImage> for AgentState {
    fn from(image: AgentImage) -> Self {
        let moments = |times: Vec<Timestamp>| times.into_iter().map(Moment).collect();
        Self {
            node_id: image.node_id,
            chance: Bits(image.chance),
            registrations: image.registrations,
            started: Moment(image.started),
            next_sync: Moment(image.next_sync),
            looks_for_critical: moments(image.looks_for_critical),
            looks_for_agent: moments(image.looks_for_agent),
            syncs: moments(image.syncs),
            services: image.services.into_iter().map(AgentService).collect(),
            sidecars: image.sidecars,
            configured_services: image.configured_services,
            configured_checks: image.configured_checks,
            checks: image.checks.into_iter().map(AgentCheck::from).collect(),
        }
    }
}

impl From<AgentState> for AgentImage {
    fn from(state: AgentState) -> Self {
        let times = |moments: Vec<Moment>| moments.into_iter().map(|moment| moment.0).collect();
        let services = state.services.into_iter();
        Self {
            node_id: state.node_id,
            chance: state.chance.0,
            registrations: state.registrations,
            started: state.started.0,
            next_sync: state.next_sync.0,
            looks_for_critical: times(state.looks_for_critical),
            looks_for_agent: times(state.looks_for_agent),
            syncs: times(state.syncs),
            services: services.map(|AgentService(service)| service).collect(),
            sidecars: state.sidecars,
            configured_services: state.configured_services,
            configured_checks: state.configured_checks,
            checks: state.checks.into_iter().map(LocalCheck::from).collect(),
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AgentCheck {
    #[serde(with = "CheckFields")]
    check: NewCheck,
    service_name: String,
    service_tags: Option<Vec<String>>,
    source: Source,
    output_limit: usize,
    deregister_after: Option<Span>,
    critical_since: Option<Moment>,
    success_before_passing: i64,
    failures_before_critical: i64,
    /// In a row.
    passes: i64,
    /// In a row.
    failures: i64,
    registration: u64,
    /// When it expires or is run.
    next: Option<Moment>,
    /// When the catalog is told of its output.
    output_due: Option<Moment>,
}

/// How the status of a check comes about.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
enum Source {
    Ttl {
        ttl: Span,
    },
    Http {
        url: String,
        method: String,
        header: BTreeMap<String, Vec<String>>,
        body: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tls_skip_verify: bool,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tls_server_name: String,
        timeout: Span,
        output_limit: usize,
        interval: Span,
    },
    Tcp {
        address: String,
        timeout: Span,
        output_limit: usize,
        interval: Span,
    },
    Script {
        words: Vec<String>,
        timeout: Span,
        output_limit: usize,
        interval: Span,
    },
    Alias {
        node: String,
        service: String,
    },
    Fixed {},
}

impl From<CheckSource> for Source {
    fn from(source: CheckSource) -> Self {
        let (probe, interval) = match source {
            CheckSource::Ttl(ttl) => return Self::Ttl { ttl: Span(ttl) },
            CheckSource::Alias(Alias { node, service }) => return Self::Alias { node, service },
            CheckSource::Fixed => return Self::Fixed {},
            CheckSource::Probe { probe, interval } => (probe, Span(interval)),
        };
        let (timeout, output_limit) = (Span(probe.timeout), probe.output_limit);
        match probe.target.clone() {
            ProbeTarget::Http {
                url,
                method,
                header,
                body,
                tls_skip_verify,
                tls_server_name,
            } => Self::Http {
                url,
                method,
                header,
                body,
                tls_skip_verify,
                tls_server_name,
                timeout,
                output_limit,
                interval,
            },
            ProbeTarget::Tcp(address) => Self::Tcp {
                address,
                timeout,
                output_limit,
                interval,
            },
            ProbeTarget::Script(words) => Self::Script {
                words,
                timeout,
                output_limit,
                interval,
            },
        }
    }
}

impl From<Source> for CheckSource {
    fn from(source: Source) -> Self {
        let (target, timeout, output_limit, interval) = match source {
            Source::Ttl { ttl } => return Self::Ttl(ttl.0),
            Source::Alias { node, service } => return Self::Alias(Alias { node, service }),
            Source::Fixed {} => return Self::Fixed,
            Source::Http {
                url,
                method,
                header,
                body,
                tls_skip_verify,
                tls_server_name,
                timeout,
                output_limit,
                interval,
            } => {
                let target = ProbeTarget::Http {
                    url,
                    method,
                    header,
                    body,
                    tls_skip_verify,
                    tls_server_name,
                };
                (target, timeout, output_limit, interval)
            }
            Source::Tcp {
                address,
                timeout,
                output_limit,
                interval,
            } => (ProbeTarget::Tcp(address), timeout, output_limit, interval),
            Source::Script {
                words,
                timeout,
                output_limit,
                interval,
            } => (ProbeTarget::Script(words), timeout, output_limit, interval),
        };
        let probe = Probe {
            target,
            timeout: timeout.0,
            output_limit,
        };
        Self::Probe {
            probe: Arc::new(probe),
            interval: interval.0,
        }
    }
}

impl From<LocalCheck> for AgentCheck {
    fn from(local: LocalCheck) -> Self {
        Self {
            check: local.check,
            service_name: local.service_name,
            service_tags: local.service_tags,
            source: local.source.into(),
            output_limit: local.output_limit,
            deregister_after: local.deregister_after.map(Span),
            critical_since: local.critical_since.map(Moment),
            success_before_passing: local.thresholds.success_before_passing,
            failures_before_critical: local.thresholds.failures_before_critical,
            passes: local.in_a_row.passes,
            failures: local.in_a_row.failures,
            registration: local.registration,
            next: local.next.map(Moment),
            output_due: local.output_due.map(Moment),
        }
    }
}

impl From<AgentCheck> for LocalCheck {
    fn from(check: AgentCheck) -> Self {
        Self {
            check: check.check,
            service_name: check.service_name,
            service_tags: check.service_tags,
            source: check.source.into(),
            output_limit: check.output_limit,
            deregister_after: check.deregister_after.map(|span| span.0),
            critical_since: check.critical_since.map(|moment| moment.0),
            thresholds: Thresholds {
                success_before_passing: check.success_before_passing,
                failures_before_critical: check.failures_before_critical,
            },
            in_a_row: InARow {
                passes: check.passes,
                failures: check.failures,
            },
            registration: check.registration,
            next: check.next.map(|moment| moment.0),
            output_due: check.output_due.map(|moment| moment.0),
        }
    }
}
