//! The names under which clients know what was counted and measured (operator.md 7).

use super::Measured;

/// A metric with its labels. The name lacks the prefix that all have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// The name, without the prefix.
    pub name: String,
    /// The labels, in order.
    pub labels: Labels,
    /// What is kept of its values.
    pub kind: Kind,
}

/// Labels by name.
pub type Labels = Vec<(&'static str, String)>;

/// How values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Each value counts as 1.
    Counter,
    /// Values are milliseconds.
    Sample,
}

/// The endpoints that the agent answers by itself.
const LOCAL: [&str; 4] = ["/v1/agent/", "/v1/event/", "/v1/internal/acl/", "/debug/"];

/// Returns all that a value adds to.
pub(super) fn of(measured: Measured, labels_requests: bool) -> Vec<Series> {
    match measured {
        Measured::Request {
            method,
            route,
            came_through,
        } => {
            let mut all = vec![request(method, route, labels_requests)];
            if came_through && !LOCAL.iter().any(|local| route.starts_with(local)) {
                all.push(counter("client.rpc"));
                // Reads of a transaction and of the keyring are no queries.
                if method == "GET" && route != "/v1/snapshot" {
                    all.push(counter("rpc.query"));
                }
            }
            if route == "/v1/session/renew/" && came_through {
                all.push(sample("session.renew"));
            }
            all
        }
        Measured::Entry(entry) => {
            let part = format!("fsm.{}", entry.part);
            let operation = Some(entry.operation).filter(|name| !name.is_empty());
            let mut all = entry_of_log();
            all.push(Series {
                labels: operation
                    .map(|name| ("op", name.to_owned()))
                    .into_iter()
                    .collect(),
                ..sample(&part)
            });
            if !entry.applied_as.is_empty() {
                all.push(sample(entry.applied_as));
            }
            all
        }
        Measured::OtherEntry => entry_of_log(),
        Measured::ReadTransaction => vec![sample("txn.read")],
    }
}

fn entry_of_log() -> Vec<Series> {
    let samples = [
        "raft.commitTime",
        "raft.fsm.apply",
        "raft.fsm.enqueue",
        "raft.leader.dispatchLog",
    ];
    let mut all: Vec<_> = samples.into_iter().map(sample).collect();
    all.push(counter("raft.apply"));
    all
}

fn request(method: &str, route: &str, labels_requests: bool) -> Series {
    let path = route.trim_start_matches('/');
    let path = match path.strip_suffix('/') {
        Some(path) => format!("{path}/_"),
        None => path.to_owned(),
    };
    if labels_requests {
        return Series {
            labels: vec![
                ("method", method.to_owned()),
                ("path", path.replace('/', "_")),
            ],
            ..sample("api.http")
        };
    }
    sample(&format!("http.{method}.{}", path.replace('/', ".")))
}

fn counter(name: &str) -> Series {
    Series {
        kind: Kind::Counter,
        ..sample(name)
    }
}

fn sample(name: &str) -> Series {
    Series {
        name: name.to_owned(),
        labels: Labels::new(),
        kind: Kind::Sample,
    }
}
