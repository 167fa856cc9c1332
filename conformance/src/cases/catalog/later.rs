//! What later releases changed about the catalog, the agent, events and queries (1.22.md B4, B5): said by the contract, seen on none.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::catalog::register;
use crate::cases::query::{make, post};
use crate::cases::session::leaves_alone;

const NEEDS: &[Feature] = &[Feature::Registration];
const QUERIES: &[Feature] = &[Feature::PreparedQueries];

#[track_caller]
fn index(t: &Trial, path: &str) -> u64 {
    t.api_get(path).index()
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
