//! What Consul does where there is more than one agent.
//!
//! The suite asks one agent, so these are no cases. `tests/cluster` starts several, real ones and ours, and holds each claim against
//! both in one run.

/// A claim about several agents.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Its area, `cluster` or `datacenter`, and its name.
    pub id: &'static str,
    /// The rows of the contract that it shows.
    pub source: &'static str,
}

const fn claim(id: &'static str, source: &'static str) -> Claim {
    Claim { id, source }
}

/// The areas of claims.
pub const AREAS: [&str; 2] = ["cluster/", "datacenter/"];

/// All claims, in the order in which they are held: the later ones need what the earlier ones leave.
pub const CLAIMS: &[Claim] = &[
    claim(
        "cluster/writes-and-reads-are-the-leaders",
        "cluster.md 1.1 to 1.3",
    ),
    claim("cluster/a-follower-is-one-entry-behind", "cluster.md 1.4"),
    claim("cluster/a-stale-session-comes-later", "cluster.md 1.5"),
    claim(
        "cluster/conflicting-consistency-is-refused",
        "cluster.md 1.6",
    ),
    claim(
        "cluster/errors-say-who-passed-them-on",
        "cluster.md 1.12, 1.20",
    ),
    claim("cluster/blocked-queries-wake", "cluster.md 1.13, 1.14"),
    claim(
        "cluster/sessions-are-of-the-agent-that-is-asked",
        "cluster.md 1.18, 1.19",
    ),
    claim(
        "cluster/checks-of-a-session-are-on-its-node",
        "cluster.md 1.20",
    ),
    claim(
        "cluster/the-servers-are-known-everywhere",
        "cluster.md 1.22 to 1.25, 1.27",
    ),
    claim("cluster/agents-say-who-they-are", "cluster.md 1.26"),
    claim(
        "cluster/services-are-the-agents-own",
        "cluster.md 1.28 to 1.31",
    ),
    claim("cluster/a-follower-stops", "cluster.md 2.1 to 2.3"),
    claim("cluster/a-client-agent-dies", "cluster.md 1.33, 1.35"),
    claim(
        "cluster/the-leader-dies",
        "cluster.md 3.1 to 3.3, 3.16, 3.18",
    ),
    claim("cluster/the-quorum-is-lost", "cluster.md 4.1, 4.3, 4.8"),
    claim(
        "datacenter/the-datacenters-are-listed",
        "cluster.md 5.1, 5.7, 5.10, 5.11",
    ),
    claim(
        "datacenter/requests-are-handled-where-they-say",
        "cluster.md 5.2",
    ),
    claim(
        "datacenter/sessions-are-of-one-datacenter",
        "cluster.md 5.5, 5.6",
    ),
    claim(
        "datacenter/errors-have-a-prefix-for-each-hop",
        "cluster.md 1.12, 5.5, 5.12, 5.16, 5.28",
    ),
    claim(
        "datacenter/registrations-and-events-go-there",
        "cluster.md 5.8, 5.9",
    ),
    claim("datacenter/a-blocking-query-wakes", "cluster.md 5.4"),
    claim("datacenter/queries-fall-back", "cluster.md 5.13"),
    claim(
        "datacenter/a-server-that-is-stopped-holds-requests",
        "cluster.md 5.18, 5.26",
    ),
    claim(
        "datacenter/a-server-that-is-killed-refuses",
        "cluster.md 5.19, 5.20",
    ),
];
