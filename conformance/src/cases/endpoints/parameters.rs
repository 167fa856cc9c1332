//! The parameters that the endpoints around the KV store look at: those of reads, datacenter and namespace (session.md 0.7, 0.8).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::endpoints::{WRITES, with};
use crate::wire::Request;

/// The reads that look at the parameters of reads; the others answer from what the agent knows by itself.
const PARAMETERS: &[&str] = &[
    "/v1/session/info/deadbeef-0000-4000-8000-0123456789ab",
    "/v1/session/node/nobody",
    "/v1/session/list",
    "/v1/status/leader",
    "/v1/status/peers",
    "/v1/catalog/nodes",
    "/v1/catalog/node/nobody",
    "/v1/catalog/services",
    "/v1/health/node/nobody",
    "/v1/health/state/any",
];

/// The reads that look at the namespace; status and catalog/nodes do not.
const NAMESPACED: &[&str] = &[
    "/v1/session/info/deadbeef-0000-4000-8000-0123456789ab",
    "/v1/session/node/nobody",
    "/v1/session/list",
    "/v1/catalog/node/nobody",
    "/v1/catalog/services",
    "/v1/health/node/nobody",
    "/v1/health/state/any",
];

/// The namespace is refused with these words before the stable part.
#[track_caller]
fn namespace_is_refused(t: &Trial, prefix: &str) {
    let ending = "- Namespaces are a Consul Enterprise feature";
    for path in NAMESPACED {
        t.api_get(&with(path, "ns=x")).is(
            400,
            &format!("{prefix}Invalid query parameter: \"ns\" {ending}"),
        );
        t.send(&Request::get(path).header("X-Consul-Namespace", "x"))
            .is(
                400,
                &format!("{prefix}Invalid header: \"X-Consul-Namespace\" {ending}"),
            );
    }
    for path in WRITES {
        t.api_put(&with(path, "ns=x"), "").is(
            400,
            &format!("{prefix}Invalid query parameter: \"ns\" {ending}"),
        );
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "endpoint/parameter/wrong-index-wait-and-modes",
        claim: "Reads refuse a wrong index, a wrong wait and two consistency modes at once with 400",
        source: "session.md 0.7",
        run: |t| {
            for path in PARAMETERS {
                t.api_get(&with(path, "index=abc")).is(400, "Invalid index");
                t.api_get(&with(path, "wait=abc"))
                    .is(400, "Invalid wait time");
                t.api_get(&with(path, "stale&consistent")).is(
                    400,
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "endpoint/parameter/modes-before-wait-before-index",
        claim: "Of several wrong parameters the consistency modes are named first, then the wait, then the index",
        source: "kv.md 0",
        run: |t| {
            for path in PARAMETERS {
                t.api_get(&with(path, "index=abc&wait=abc&stale&consistent"))
                    .says(400, "Cannot specify ?stale");
                t.api_get(&with(path, "index=abc&wait=abc"))
                    .is(400, "Invalid wait time");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/agent-ignores-them",
        claim: "What the agent answers by itself looks neither at an index or a wait nor at the datacenter",
        source: "session.md 0.7, 0.8",
        run: |t| {
            for path in [
                "/v1/agent/self",
                "/v1/agent/members",
                "/v1/catalog/datacenters",
            ] {
                for query in ["index=abc", "wait=abc", "dc=nowhere"] {
                    drop(t.api_get(&with(path, query)).status_is(200).json());
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/datacenters-with-both-modes",
        claim: "catalog/datacenters refuses two consistency modes and then goes on: the list follows the refusal",
        source: "session.md 4.5.r8",
        until: Some(Version::V1_9),
        needs: &[Feature::SingleServer],
        run: |t| {
            let text = "Cannot specify ?stale with ?consistent, conflicting semantics.[";
            t.api_get("/v1/catalog/datacenters?stale&consistent")
                .says(400, text)
                .says(400, &t.facts().datacenter);
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/other-datacenter",
        claim: "Another datacenter is 500, for reads and writes alike",
        source: "session.md 0.8",
        run: |t| {
            for path in PARAMETERS {
                t.api_get(&with(path, "dc=nowhere"))
                    .is(500, "No path to datacenter");
            }
            for path in WRITES {
                t.api_put(&with(path, "dc=nowhere"), "")
                    .is(500, "No path to datacenter");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "endpoint/parameter/own-datacenter",
        claim: "The datacenter's own name, and an empty one, change nothing",
        source: "session.md 0.8",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            for name in [t.facts().datacenter.as_str(), ""] {
                for path in PARAMETERS {
                    t.api_get(&with(path, &format!("dc={name}"))).status_is(200);
                }
                let answer = t
                    .api_put(&with(WRITES[0], &format!("dc={name}")), "")
                    .status_is(200);
                t.destroy(answer.json()["ID"].as_str().unwrap_or_default());
            }
        },
        ..Case::MUST
    },
    Case {
        id: "endpoint/parameter/datacenter-alias",
        claim: "?datacenter= is another name of ?dc=, and wins over it",
        source: "1.22.md A6.2 (since 1.16.0 [D])",
        since: Version::V1_16,
        run: |t| {
            let own = &t.facts().datacenter;
            t.api_get("/v1/session/list?datacenter=nowhere")
                .is(500, "No path to datacenter");
            t.api_get(&format!("/v1/session/list?dc={own}&datacenter=nowhere"))
                .is(500, "No path to datacenter");
            t.api_get(&format!("/v1/session/list?dc=nowhere&datacenter={own}"))
                .status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/datacenter-has-no-alias",
        claim: "?datacenter= is ignored",
        source: "1.22.md A6.2 (until 1.16.0 [D])",
        until: Some(Version::V1_16),
        run: |t| {
            drop(t.api_get("/v1/session/list?datacenter=nowhere").list());
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/namespace",
        claim: "A namespace, as parameter or header, is 400 with the words of an enterprise feature",
        source: "session.md 0.8; 1.22.md A6.2 (until 1.13.0 [H])",
        until: Some(Version::V1_13),
        run: |t| namespace_is_refused(t, "Bad request: "),
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/namespace-unprefixed",
        claim: "A namespace, as parameter or header, is 400 with the words of an enterprise feature and nothing before them",
        source: "1.22.md A6.2 (since 1.13.0 [H])",
        since: Version::V1_13,
        run: |t| namespace_is_refused(t, ""),
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/namespace-empty-or-not-looked-at",
        claim: "An empty namespace is none, and status and catalog/nodes look at no namespace at all",
        source: "session.md 0.8",
        until: Some(Version::V1_9),
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            for path in NAMESPACED {
                drop(t.api_get(&with(path, "ns=")).status_is(200).json());
            }
            for path in [
                "/v1/status/leader",
                "/v1/status/peers",
                "/v1/catalog/nodes",
                "/v1/agent/self",
            ] {
                drop(t.api_get(&with(path, "ns=x")).status_is(200).json());
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/partition-is-ignored",
        claim: "?partition= is ignored",
        source: "1.22.md A6.2 (until 1.11.0 [H])",
        until: Some(Version::V1_11),
        run: |t| {
            drop(t.api_get("/v1/session/list?partition=x").list());
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/parameter/partition",
        claim: "A partition, as parameter or header, is 400 with the words of an enterprise feature; a wrong namespace is named first",
        source: "1.22.md A6.2 (since 1.11.0, unprefixed since 1.13.0 [H])",
        since: Version::V1_13,
        run: |t| {
            let list = "/v1/session/list";
            let ending = "- Partitions are a Consul Enterprise feature";
            t.api_get(&with(list, "partition=x")).is(
                400,
                &format!("Invalid query parameter: \"partition\" {ending}"),
            );
            t.send(&Request::get(list).header("X-Consul-Partition", "x"))
                .is(
                    400,
                    &format!("Invalid header: \"X-Consul-Partition\" {ending}"),
                );
            t.api_get(&with(list, "partition=x&ns=x"))
                .says(400, "Invalid query parameter: \"ns\"");
        },
        ..Case::REAL
    },
];
