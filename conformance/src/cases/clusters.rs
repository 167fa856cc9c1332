//! What Consul does where there is more than one agent, and what it answers over DNS.
//!
//! The suite asks one agent over HTTP, so these are no cases. `tests/cluster` starts several, real ones and ours, and `tests/dns`
//! asks one of each: they hold each claim against both in one run.

/// A claim about several agents, or about DNS.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Its area, `cluster`, `datacenter` or `dns`, and its name.
    pub id: &'static str,
    /// The rows of the contract that it shows.
    pub source: &'static str,
}

const fn claim(id: &'static str, source: &'static str) -> Claim {
    Claim { id, source }
}

/// The areas of claims.
pub const AREAS: [&str; 3] = ["cluster/", "datacenter/", "dns/"];

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
    claim("cluster/blocked-queries-wake", "cluster.md 1.13 to 1.16"),
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
    claim("cluster/the-keyring-is-of-all-agents", "cluster.md 1.40"),
    claim("cluster/agents-say-who-they-are", "cluster.md 1.26"),
    claim(
        "cluster/services-are-the-agents-own",
        "cluster.md 1.28 to 1.31",
    ),
    claim("cluster/catalogs-tell-the-consistency", "cluster.md 1.7"),
    claim("cluster/snapshots-are-the-leaders", "cluster.md 1.11"),
    claim(
        "cluster/transactions-say-the-last-contact",
        "cluster.md 1.10",
    ),
    claim("cluster/a-wait-ends-everywhere", "cluster.md 1.17"),
    claim("cluster/events-reach-all-agents", "cluster.md 1.32"),
    claim("cluster/health-is-cached", "cluster.md 1.8"),
    claim("cluster/stale-reads-go-back", "cluster.md 4.10"),
    claim("cluster/servers-are-named-over-dns", "cluster.md 5.15"),
    claim(
        "cluster/errors-of-the-agent-have-no-prefix",
        "cluster.md 1.12.r1",
    ),
    claim("cluster/rights-say-who-checks-them", "cluster.md 1.12.r2"),
    claim("cluster/an-agent-leaves", "cluster.md 1.37, 1.39"),
    claim("cluster/the-leader-leaves", "cluster.md 3.10"),
    claim("cluster/a-dead-server-is-removed", "cluster.md 2.7"),
    claim(
        "cluster/a-client-agent-dies",
        "cluster.md 1.21, 1.33 to 1.36, 1.38",
    ),
    claim(
        "cluster/the-leader-dies",
        "cluster.md 3.1 to 3.4, 3.7, 3.13, 3.14, 3.16, 3.18 to 3.21",
    ),
    claim(
        "cluster/the-quorum-is-lost",
        "cluster.md 2.4, 3.8, 4.1, 4.3, 4.4, 4.4.r1, 4.4.r2, 4.4.r3, 4.5, 4.6, 4.8, 5.25",
    ),
    claim("cluster/a-follower-is-left-alone", "cluster.md 4.2"),
    claim("cluster/bad-input-needs-no-leader", "cluster.md 3.22"),
    claim("cluster/dead-servers-are-given-up", "cluster.md 5.23.r2"),
    claim("cluster/a-follower-stops", "cluster.md 2.1 to 2.3"),
    claim(
        "cluster/a-lone-leader-steps-down",
        "cluster.md 3.6, 3.8, 3.17, 4.8",
    ),
    claim(
        "cluster/the-leader-is-silent",
        "cluster.md 3.1, 3.5, 3.13, 3.14",
    ),
    claim(
        "cluster/a-client-agent-waits-for-servers",
        "cluster.md 5.23, 5.23.r1, 5.24",
    ),
    claim(
        "cluster/a-follower-is-cut-off",
        "cluster.md 2.5, 2.5.r1 to 2.5.r6",
    ),
    claim(
        "cluster/the-leader-is-cut-off",
        "cluster.md 3.1, 3.5, 3.6, 3.11",
    ),
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
    claim(
        "datacenter/writes-are-of-the-own-datacenter",
        "cluster.md 5.33",
    ),
    claim("datacenter/names-are-of-a-datacenter", "cluster.md 5.14"),
    claim(
        "datacenter/the-keyring-is-of-all-datacenters",
        "cluster.md 5.32",
    ),
    claim("datacenter/a-blocking-query-wakes", "cluster.md 5.4"),
    claim("datacenter/queries-fall-back", "cluster.md 5.13, 5.27"),
    claim(
        "datacenter/coordinates-are-of-all-datacenters",
        "cluster.md 5.30",
    ),
    claim(
        "datacenter/a-server-that-is-stopped-holds-requests",
        "cluster.md 5.18, 5.26, 5.27",
    ),
    claim(
        "datacenter/a-server-that-is-killed-refuses",
        "cluster.md 5.19, 5.27, 5.31",
    ),
    claim(
        "datacenter/a-killed-datacenter-is-not-forgotten",
        "cluster.md 5.21, 5.29",
    ),
    claim(
        "datacenter/a-datacenter-comes-back",
        "cluster.md 5.20, 5.22, 5.29",
    ),
    claim("dns/flags-are-copied", "cluster.md 6.1, 6.40"),
    claim("dns/other-domains-are-refused", "cluster.md 6.2"),
    claim("dns/edns-is-answered", "cluster.md 6.3, 6.42"),
    claim("dns/case-is-kept-and-ignored", "cluster.md 6.4, 6.17"),
    claim("dns/what-is-unknown-does-not-exist", "cluster.md 6.5, 6.7"),
    claim("dns/a-type-that-a-name-lacks", "cluster.md 6.8"),
    claim("dns/servers-are-named", "cluster.md 6.9, 6.10"),
    claim(
        "dns/nodes-have-addresses",
        "cluster.md 6.11, session.md 4.5.r12",
    ),
    claim("dns/tagged-addresses-of-nodes", "cluster.md 6.12"),
    claim("dns/metadata-is-text", "cluster.md 6.13"),
    claim("dns/a-critical-node-loses-its-services", "cluster.md 6.14"),
    claim("dns/services-have-addresses", "cluster.md 6.15"),
    claim("dns/services-have-ports", "cluster.md 6.16"),
    claim("dns/names-as-rfc-2782-has-them", "cluster.md 6.18"),
    claim("dns/dots-are-of-tags", "cluster.md 6.19"),
    claim("dns/tagged-addresses-of-services", "cluster.md 6.20"),
    claim("dns/queries-are-executed", "cluster.md 6.6, 6.21"),
    claim("dns/connect-and-ingress", "cluster.md 6.22"),
    claim("dns/virtual-names-are-later", "cluster.md 6.23"),
    claim("dns/addresses-have-names", "cluster.md 6.24"),
    claim("dns/an-address-that-nobody-has", "cluster.md 6.25"),
    claim("dns/names-that-are-addresses", "cluster.md 6.26 to 6.28"),
    claim(
        "dns/three-records-without-edns",
        "cluster.md 6.30, 6.31, 6.33",
    ),
    claim("dns/edns-is-as-much-as-fits", "cluster.md 6.32, 6.34"),
    claim("dns/all-over-tcp", "cluster.md 6.35"),
    claim("dns/hosts-in-the-domain-are-followed", "cluster.md 6.43"),
    claim("dns/answers-fit-without-their-opt", "cluster.md 6.45, 6.46"),
    claim("dns/times-to-live-are-set", "cluster.md 6.37"),
    claim("dns/there-are-two-domains", "cluster.md 6.38"),
    claim("dns/addresses-are-limited", "cluster.md 6.44"),
    claim("dns/who-has-no-token-finds-nothing", "cluster.md 6.50"),
    claim("dns/what-is-no-question", "cluster.md 6.39"),
    claim("dns/an-opt-may-be-odd", "cluster.md 6.41"),
    claim("dns/instances-are-shuffled", "cluster.md 6.29"),
    claim("dns/long-texts-are-not-answered", "cluster.md 6.47"),
    claim("dns/settings-that-are-refused", "cluster.md 6.48"),
    claim("dns/the-agent-tells-its-settings", "cluster.md 6.49"),
];
