//! The written rows of an image that are laid out differently from the store's.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::value;
use crate::Index;
use crate::agent::event::{EventRow, NewEvent};
use crate::agent::{Alias, CheckSource, InARow, LocalCheck, Thresholds};
use crate::catalog::registration::NewCheck;
use crate::command::effects::{Probe, ProbeTarget, ProbeTls};
use crate::kv::row::{KvRow, Rare};
use crate::session::id::SessionId;
use crate::session::{Behavior, NewSession, ServiceCheck, SessionRow};
use crate::timestamp::Timestamp;

/// Converts a value to its written form and back. Both sides serve as pattern and as expression, so the
/// compiler finds missing fields.
macro_rules! written {
    ($thing:ty as $form:ty { $([$($inner:tt)*] = [$($written:tt)*])* }) => {
        impl From<$thing> for $form {
            fn from(thing: $thing) -> Self {
                match thing {
                    $($($inner)* => $($written)*,)*
                }
            }
        }

        impl From<$form> for $thing {
            fn from(form: $form) -> Self {
                match form {
                    $($($written)* => $($inner)*,)*
                }
            }
        }
    };
}

/// Serializes a value in its written form.
macro_rules! in_form {
    ($thing:ty as $form:ty) => {
        impl Serialize for $thing {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$form>::from(self.clone()).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $thing {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$form>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

/// A key with its row.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeyForm {
    key: crate::Key,
    #[serde(with = "value::bytes")]
    value: Bytes,
    flags: u64,
    lock_index: u64,
    session: Option<Box<str>>,
    create_index: Index,
    modify_index: Index,
}

impl From<(crate::Key, KvRow)> for KeyForm {
    fn from((key, row): (crate::Key, KvRow)) -> Self {
        let (create_index, modify_index) = (row.create_index, row.modify_index);
        let value = row.value.clone();
        let Rare {
            flags,
            lock_index,
            session,
        } = row.into_rare();
        Self {
            key,
            value,
            flags,
            lock_index,
            session,
            create_index,
            modify_index,
        }
    }
}

impl From<KeyForm> for (crate::Key, KvRow) {
    fn from(form: KeyForm) -> Self {
        let rare = Rare {
            flags: form.flags,
            lock_index: form.lock_index,
            session: form.session,
        };
        let row = KvRow::new(form.value, rare, form.create_index, form.modify_index);
        (form.key, row)
    }
}

/// The lock-delay of a key.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockDelay {
    key: crate::Key,
    left: Timestamp,
}

written!((crate::Key, Timestamp) as LockDelay { [(key, left)] = [LockDelay { key, left }] });

/// A deleted key or prefix.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tombstone {
    key: crate::Key,
    index: Index,
}

written!((crate::Key, Index) as Tombstone { [(key, index)] = [Tombstone { key, index }] });

/// A reaping of tombstones.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reap {
    r#in: Timestamp,
    up_to_index: Index,
}

written!((Timestamp, Index) as Reap { [(r#in, up_to_index)] = [Reap { r#in, up_to_index }] });

/// A session with its lapse.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SessionForm {
    id: SessionId,
    name: String,
    node: String,
    lock_delay_ns: i64,
    behavior: Behavior,
    ttl_text: String,
    #[serde(with = "value::text")]
    ttl: Duration,
    lapses_in: Option<Timestamp>,
    node_checks: Option<Vec<String>>,
    service_checks: Option<Vec<ServiceCheck>>,
    checks: Vec<String>,
    create_index: Index,
}

written!((SessionRow, Option<Timestamp>) as SessionForm {
    [(SessionRow { session: NewSession {
        id, name, node, lock_delay_ns, behavior, ttl_text, ttl, node_checks, service_checks, checks
    }, create_index }, lapses_in)]
    = [SessionForm {
        id, name, node, lock_delay_ns, behavior, ttl_text, ttl, lapses_in, node_checks, service_checks, checks, create_index
    }]
});

/// A kept event.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    #[serde(with = "value::text")]
    id: [u8; 16],
    #[serde(with = "value::bytes")]
    name: Box<[u8]>,
    #[serde(with = "value::bytes")]
    payload: Box<[u8]>,
    node_filter: String,
    service_filter: String,
    tag_filter: String,
    /// Only events for this agent are kept.
    #[serde(skip, default = "yes")]
    concerns_agent: bool,
    logical_time: u64,
}

fn yes() -> bool {
    true
}

written!(EventRow as Event {
    [EventRow { event: NewEvent {
        id, name, payload, node_filter, service_filter, tag_filter, concerns_agent
    }, logical_time }]
    = [Event { id, name, payload, node_filter, service_filter, tag_filter, concerns_agent, logical_time }]
});

/// A check of the agent.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentCheck {
    check: NewCheck,
    service_name: String,
    service_tags: Option<Vec<String>>,
    source: CheckSource,
    output_limit: usize,
    #[serde(default, with = "value::optional_text")]
    deregister_after: Option<Duration>,
    critical_since: Option<Timestamp>,
    success_before_passing: i64,
    failures_before_critical: i64,
    passes: i64,
    failures: i64,
    registration: u64,
    next: Option<Timestamp>,
    output_due: Option<Timestamp>,
}

in_form!(LocalCheck as AgentCheck);

written!(LocalCheck as AgentCheck {
    [LocalCheck {
        check, service_name, service_tags, source, output_limit, deregister_after, critical_since,
        thresholds: Thresholds { success_before_passing, failures_before_critical },
        in_a_row: InARow { passes, failures },
        registration, next, output_due
    }]
    = [AgentCheck {
        check, service_name, service_tags, source, output_limit, deregister_after, critical_since,
        success_before_passing, failures_before_critical, passes, failures, registration, next, output_due
    }]
});

/// The source of a check's status.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Source {
    Ttl {
        #[serde(with = "value::text")]
        ttl: Duration,
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
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    Tcp {
        address: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tls: Option<ProbeTls>,
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    Udp {
        address: String,
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    H2Ping {
        address: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tls: Option<ProbeTls>,
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    Grpc {
        target: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tls: Option<ProbeTls>,
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    Script {
        words: Vec<String>,
        #[serde(with = "value::text")]
        timeout: Duration,
        output_limit: usize,
        #[serde(with = "value::text")]
        interval: Duration,
    },
    Alias {
        node: String,
        service: String,
    },
    Fixed {},
}

in_form!(CheckSource as Source);

written!(CheckSource as Source {
    [CheckSource::Ttl(ttl)]
    = [Source::Ttl { ttl }]
    [CheckSource::Probe {
        probe: Probe { target: ProbeTarget::Http { url, method, header, body, tls_skip_verify, tls_server_name }, timeout, output_limit }, interval
    }]
    = [Source::Http { url, method, header, body, tls_skip_verify, tls_server_name, timeout, output_limit, interval }]
    [CheckSource::Probe { probe: Probe { target: ProbeTarget::Tcp { address, tls }, timeout, output_limit }, interval }]
    = [Source::Tcp { address, tls, timeout, output_limit, interval }]
    [CheckSource::Probe { probe: Probe { target: ProbeTarget::Udp(address), timeout, output_limit }, interval }]
    = [Source::Udp { address, timeout, output_limit, interval }]
    [CheckSource::Probe { probe: Probe { target: ProbeTarget::H2Ping { address, tls }, timeout, output_limit }, interval }]
    = [Source::H2Ping { address, tls, timeout, output_limit, interval }]
    [CheckSource::Probe {
        probe: Probe { target: ProbeTarget::Grpc { target, tls }, timeout, output_limit }, interval
    }]
    = [Source::Grpc { target, tls, timeout, output_limit, interval }]
    [CheckSource::Probe { probe: Probe { target: ProbeTarget::Script(words), timeout, output_limit }, interval }]
    = [Source::Script { words, timeout, output_limit, interval }]
    [CheckSource::Alias(Alias { node, service })]
    = [Source::Alias { node, service }]
    [CheckSource::Fixed]
    = [Source::Fixed {}]
});
