//! What later releases changed about the catalog, the agent, events and queries (1.22.md B4, B5): said by the contract, seen on none.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::query::{make, post};
use crate::cases::support::session::leaves_alone;
use crate::wire::Request;

const NEEDS: &[Feature] = &[Feature::Registration];
const QUERIES: &[Feature] = &[Feature::PreparedQueries];

#[track_caller]
fn index(t: &Trial, path: &str) -> u64 {
    t.api_get(path).index()
}

/// So many instances of a service are shown to who asks for those of a peer; nodes and checks are shown in any case.
#[track_caller]
fn has_peer_instances(t: &Trial, count: usize) {
    let (node, service) = (t.register_node("n"), t.node("s"));
    let body =
        json!({"Service": {"Service": service}, "Check": {"Name": "c", "ServiceID": service}});
    register(t, &node, &body);
    for (path, count) in [
        ("health/service", count),
        ("catalog/service", count),
        ("health/checks", 1),
    ] {
        let listed = t.api_get(&format!("/v1/{path}/{service}?peer=conformance"));
        t.same(path, listed.list().len(), count);
    }
    let checks = t.api_get(&format!("/v1/health/node/{node}?peer=conformance"));
    t.same("health/node", checks.list().len(), 1);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/register/peer-name-since-1-13",
        claim: "A registration that names a peer is refused, wherever it does so",
        source: "1.22.md B4.2 (1.13.0 [H])",
        since: Version::V1_13,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for fields in [
                json!({"PeerName": "p"}),
                json!({"Service": {"Service": "s", "PeerName": "p"}}),
                json!({"Check": {"CheckID": "c", "PeerName": "p"}}),
                json!({"Checks": [{"CheckID": "c", "PeerName": "p"}]}),
            ] {
                let mut body = json!({"Node": node, "Address": "127.0.0.1"});
                if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
                    body.extend(fields.clone());
                }
                t.api_put("/v1/catalog/register", body.to_string())
                    .is(500, "cannot register requests with PeerName in them");
            }
            t.api_get(&format!("/v1/catalog/node/{node}"))
                .is(200, "null");
        },
        ..Case::REAL
    },
    Case {
        id: "health/service/streamed-since-1-10-1",
        claim: "A read of a service's health that waits for a change says that it is streamed, and no other does",
        source: "1.22.md B4.5 (default on 1.10.0, working from 1.10.1 [D])",
        since: Version::new(1, 10, 1),
        needs: NEEDS,
        run: |t| {
            let service = t.node("s");
            let backend = |parameters: &str, backend| {
                t.api_get(&format!("/v1/health/service/{service}{parameters}"))
                    .header_is("X-Consul-Query-Backend", backend);
            };
            let node = t.register_node("n");
            register(t, &node, &json!({"Service": {"Service": service}}));
            backend("", "blocking-query");
            backend("?index=1", "streaming");
            backend("?index=1&near=_agent", "blocking-query");
            backend("?index=1&merge-central-config", "blocking-query");
        },
        ..Case::REAL
    },
    Case {
        id: "health/streaming/no-leader-since-1-10-1",
        claim: "A streamed read knows no leader, whatever it selects; the reads that are not streamed do",
        source: "1.22.md B4.5 (seen on late 2025 [N])",
        since: Version::new(1, 10, 1),
        needs: NEEDS,
        run: |t| {
            let service = t.node("s");
            let node = t.register_node("n");
            register(
                t,
                &node,
                &json!({"Service": {"Service": service, "Connect": {"Native": true}, "Port": 80}}),
            );
            let shows = |path: &str, backend, leader| {
                t.api_get(path)
                    .status_is(200)
                    .header_is("X-Consul-Query-Backend", backend)
                    .header_is("X-Consul-Knownleader", leader)
                    .header_is("X-Consul-Lastcontact", "0");
            };
            for path in ["service", "connect"] {
                let path = format!("/v1/health/{path}/{service}");
                for query in [
                    "",
                    "&passing",
                    "&tag=x",
                    "&filter=Node.Node==x",
                    "&node-meta=a:b",
                    "&stale",
                    "&consistent",
                    "&dc=",
                ] {
                    shows(&format!("{path}?index=1{query}"), "streaming", "false");
                }
                shows(&path, "blocking-query", "true");
            }
            for path in [
                format!("/v1/health/service/{service}?index=1&near=_agent"),
                format!("/v1/health/checks/{service}?index=1"),
                format!("/v1/health/node/{node}?index=1"),
                "/v1/health/state/any?index=1".to_owned(),
                format!("/v1/catalog/service/{service}?index=1"),
            ] {
                shows(&path, "blocking-query", "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "health/unknown-datacenter/no-index-since-1-10-1",
        claim: "A read of health in an unknown datacenter is 500 without an index, and where it waits an empty list at its end",
        source: "1.22.md B4.5 (seen on late 2025 [N])",
        since: Version::new(1, 10, 1),
        run: |t| {
            for path in ["service", "connect"] {
                let path = format!("/v1/health/{path}/x?dc=conformance-nowhere");
                t.api_get(&path)
                    .is(500, "No path to datacenter")
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader");
                t.api_get(&format!("{path}&index=1&wait=100ms"))
                    .is(200, "[]")
                    .header_is("X-Consul-Index", "1")
                    .header_is("X-Consul-Knownleader", "false")
                    .header_is("X-Consul-Query-Backend", "streaming");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "health/unknown-datacenter/found-no-server-since-1-10-1",
        claim: "A streamed read of an unknown datacenter that waits long is 503 after 22 seconds",
        source: "1.22.md B4.5 (seen on late 2025 [N])",
        since: Version::new(1, 10, 1),
        needs: &[Feature::MovableClock],
        run: |t| {
            let waiting = t.start(&Request::get(
                "/v1/health/service/x?dc=conformance-nowhere&index=1&wait=60s",
            ));
            t.pass(Duration::from_secs(20));
            t.still_blocked(&waiting);
            t.pass(Duration::from_secs(5));
            waiting
                .answer()
                .is(503, "resolver error: resolver produced no addresses")
                .has_no_header("X-Consul-Index");
        },
        ..Case::REAL
    },
    Case {
        id: "health/peer/ignored",
        claim: "The name of a peer is an unknown parameter, and the local instances are shown",
        source: "1.22.md B4.5 (until 1.13.0 [H]; seen on 1.8.7)",
        until: Some(Version::V1_13),
        needs: NEEDS,
        run: |t| has_peer_instances(t, 1),
        ..Case::REAL
    },
    Case {
        id: "health/peer/has-nothing-since-1-13",
        claim: "Of a peer that is not known no instance is shown, at index 1; reads of nodes and checks ignore it",
        source: "1.22.md B4.5 (1.13.0 [H], seen on late 2025 [N])",
        since: Version::V1_13,
        needs: NEEDS,
        run: |t| {
            has_peer_instances(t, 0);
            for path in ["health/service/x", "health/connect/x", "catalog/service/x"] {
                t.api_get(&format!("/v1/{path}?peer=conformance"))
                    .is(200, "[]")
                    .header_is("X-Consul-Index", "1");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "health/sameness-group/ignored",
        claim: "The name of a sameness group is an unknown parameter",
        source: "1.22.md B4.5 (until 1.16.0 [H]; seen on 1.8.7)",
        until: Some(Version::V1_16),
        run: |t| {
            for path in ["service", "connect", "ingress"] {
                t.api_get(&format!("/v1/health/{path}/conformance-nobody?sg=x"))
                    .is(200, "[]");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "health/sameness-group/refused-since-1-16",
        claim: "Sameness groups are refused by reads of health, and ignored by those of the catalog",
        source: "1.22.md B4.5 (1.16.0 [H], seen on late 2025 [N])",
        since: Version::V1_16,
        run: |t| {
            for path in ["service", "connect", "ingress"] {
                t.api_get(&format!("/v1/health/{path}/conformance-nobody?sg=x"))
                    .is(500, "sameness groups are not supported in consul CE")
                    .has_no_header("X-Consul-Index");
            }
            t.api_get("/v1/catalog/service/conformance-nobody?sg=x")
                .is(200, "[]");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/index/since-1-13",
        claim: "A service moves the index of nodes, too, and a node has an index of its own, which other nodes leave alone",
        source: "1.22.md B4.5 (1.13.0 [D])",
        since: Version::V1_13,
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let path = format!("/v1/catalog/node/{node}");
            let before = (index(t, "/v1/catalog/nodes"), index(t, &path));
            let service = json!({"SkipNodeUpdate": true, "Service": {"Service": "one"}});
            register(t, &node, &service);
            t.grew("nodes", before.0, index(t, "/v1/catalog/nodes"));
            t.grew("the node", before.1, index(t, &path));
            let other = || register(t, &t.node("other"), &json!({"Service": {"Service": "two"}}));
            leaves_alone(t, "the node", || index(t, &path), other);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/services/filter-since-1-17",
        claim: "The names of services can be filtered",
        source: "1.22.md B4.5 (1.17.0 [D])",
        since: Version::V1_17,
        needs: NEEDS,
        run: |t| {
            let service = t.node("service");
            register(t, &t.node("n"), &json!({"Service": {"Service": service}}));
            let path = format!("/v1/catalog/services?filter=ServiceName==%22{service}%22");
            t.api_get(&path).is(200, &format!("{{\"{service}\":[]}}"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "health/service/passing-values-since-1-22",
        claim: "A value of passing that is none is 400 before anything is read: there is no index",
        source: "1.22.md B4.5 (between 1.16.4 and 1.22.0 [S])",
        since: Version::V1_22,
        run: |t| {
            t.api_get("/v1/health/service/nobody?passing=abc")
                .is(400, "Invalid value for ?passing")
                .has_no_header("X-Consul-Index");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/shape/since-1-22",
        claim: "The agent's services show their datacenter, its checks an interval and a timeout: 0s by themselves, nothing within a service",
        source: "1.22.md B4.4 (1.22.0 [S])",
        since: Version::V1_22,
        needs: &[Feature::AgentRegistration, Feature::OwnServer],
        run: |t| {
            for (path, body) in [
                ("service", json!({"Name": "s", "Check": {"TTL": "1h"}})),
                ("check", json!({"Name": "c", "TTL": "1h"})),
            ] {
                t.api_put(&format!("/v1/agent/{path}/register"), body.to_string())
                    .is(200, "")
                    .header_is("Content-Type", "application/json; charset=utf-8");
            }
            let datacenter = t.facts().datacenter.as_str();
            t.api_get("/v1/agent/services")
                .field_is("/s/Datacenter", datacenter);
            t.api_get("/v1/agent/checks")
                .field_is("/c/Interval", "0s")
                .field_is("/c/Timeout", "0s")
                .field_is("/c/ExposedPort", 0)
                .field_is("/service:s/Interval", "")
                .field_is("/service:s/Timeout", "");
        },
        ..Case::REAL
    },
    Case {
        id: "agent/version/since-1-16",
        claim: "agent/version has the commit, the date, the version for people and whether it is a FIPS build, in this order",
        source: "1.22.md B4.4 (1.16.0 [H])",
        since: Version::V1_16,
        run: |t| {
            let answer = t.api_get("/v1/agent/version").status_is(200);
            let fields: Vec<String> = ["SHA", "BuildDate", "HumanVersion", "FIPS"]
                .iter()
                .map(|name| format!("{name:?}:{}", answer.json()[name]))
                .collect();
            answer.is(200, &format!("{{{}}}", fields.join(",")));
        },
        ..Case::REAL
    },
    Case {
        id: "query/read/missing-headers-since-1-12",
        claim: "The 404 of a query has the headers of a read that failed: an index of 1 and no leader known",
        source: "1.22.md B0, B5 (1.12.0 [H])",
        since: Version::V1_12,
        needs: QUERIES,
        run: |t| {
            t.api_get(&format!("/v1/query/{}", t.unknown_session()))
                .is(404, "Query not found")
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Knownleader", "false")
                .header_is("X-Consul-Lastcontact", "0");
        },
        ..Case::REAL
    },
    Case {
        id: "query/create/malformed-session-since-1-11",
        claim: "A session that is no UUID is like any other that there is not, and raft says so",
        source: "1.22.md B5 (1.11.0 [H])",
        since: Version::V1_11,
        needs: QUERIES,
        run: |t| {
            let body = json!({"Session": "nope", "Service": {"Service": "web"}});
            post(t, &body).is(500, "raft apply failed: invalid session \"nope\"");
        },
        ..Case::REAL
    },
    Case {
        id: "query/execute/answer-since-1-22",
        claim: "A query shows sameness groups and peers among its fields, and what it finds the peer, an index of 1 and who answered",
        source: "1.22.md B5 (1.22.0 [S])",
        since: Version::V1_22,
        needs: QUERIES,
        run: |t| {
            let name = t.node("query");
            let body = json!({"Name": name, "Session": t.session_without_delay(), "Service": {"Service": name}});
            let id = make(t, &body);
            let session = &body["Session"];
            let answer = t.api_get(&format!("/v1/query/{id}"));
            let query: Value = answer.json()[0].clone();
            let expected = format!(
                r#"[{{"ID":"{id}","Name":"{name}","Session":{session},"Token":"","Template":{{"Type":"","Regexp":"","RemoveEmptyTags":false}},"Service":{{"Service":"{name}","SamenessGroup":"","Failover":{{"NearestN":0,"Datacenters":null,"Targets":null}},"OnlyPassing":false,"IgnoreCheckIDs":null,"Near":"","Tags":null,"NodeMeta":null,"ServiceMeta":null,"Connect":false,"Peer":""}},"DNS":{{"TTL":""}},"CreateIndex":{},"ModifyIndex":{}}}]"#,
                query["CreateIndex"], query["ModifyIndex"],
            );
            answer.is(200, &expected);
            let datacenter = &t.facts().datacenter;
            let expected = format!(
                r#"{{"Service":"{name}","Nodes":[],"DNS":{{"TTL":""}},"Datacenter":"{datacenter}","PeerName":"","Failovers":0,"Index":1,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":"leader","NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}}"#
            );
            t.api_get(&format!("/v1/query/{name}/execute"))
                .is(200, &expected);
        },
        ..Case::REAL
    },
];
