//! Prepared queries: creating, reading, replacing and deleting them, and their session (session.md 5).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::query::{make, post};
use crate::cases::support::session::lives;
use crate::wire::Request;

const NEEDS: &[Feature] = &[Feature::PreparedQueries];
const OWN_SERVER: &[Feature] = &[Feature::OwnServer, Feature::PreparedQueries];
const SOURCE: &str = "session.md 5";

/// The query that does not need more than a name and a service; on a session that falls at the end of the case.
fn plain(t: &Trial, name: &str) -> Value {
    json!({"Name": name, "Session": t.session_without_delay(), "Service": {"Service": "nobody"}})
}

/// `POST` of this body is 500 with this text at the end: releases tell in front of some that raft says so.
#[track_caller]
fn is_refused(t: &Trial, body: &Value, text: &str) {
    let answer = post(t, body).status_is(500);
    t.check(
        answer.text().ends_with(text),
        format!("{body}: {}", answer.text()),
    );
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "query/create/fields",
        claim: "A query is read back with all its fields, in this order, and nothing where nothing was sent",
        source: "session.md 4.1, 5 (until 1.14.0 [H])",
        until: Some(Version::V1_13),
        needs: NEEDS,
        run: |t| {
            let session = t.session_without_delay();
            let name = t.node("query");
            let id = make(
                t,
                &json!({
                    "Name": name, "Session": session, "Token": "t", "DNS": {"TTL": "10s"},
                    "Service": {
                        "Service": "nobody", "OnlyPassing": true, "IgnoreCheckIDs": ["c"], "Near": "_agent",
                        "Tags": ["a", "!b"], "NodeMeta": {"n": "1"}, "ServiceMeta": {"s": "1"},
                        "Failover": {"NearestN": 2, "Datacenters": ["dc2"]},
                    },
                }),
            );
            let answer = t
                .api_get(&format!("/v1/query/{id}"))
                .has_header("X-Consul-Index");
            let index = answer.json()[0]["ModifyIndex"].as_u64().unwrap_or_default();
            t.check(answer.index() >= index, "the index is older than the query");
            t.same("rows", answer.list().len(), 1);
            let body = String::from_utf8_lossy(answer.body()).into_owned();
            let compact: String = body.split_whitespace().collect();
            let expected = format!(
                "[{{\"ID\":\"{id}\",\"Name\":\"{name}\",\"Session\":\"{session}\",\"Token\":\"t\",\
                 \"Template\":{{\"Type\":\"\",\"Regexp\":\"\",\"RemoveEmptyTags\":false}},\
                 \"Service\":{{\"Service\":\"nobody\",\"Failover\":{{\"NearestN\":2,\"Datacenters\":[\"dc2\"]}},\
                 \"OnlyPassing\":true,\"IgnoreCheckIDs\":[\"c\"],\"Near\":\"_agent\",\"Tags\":[\"a\",\"!b\"],\
                 \"NodeMeta\":{{\"n\":\"1\"}},\"ServiceMeta\":{{\"s\":\"1\"}},\"Connect\":false}},\
                 \"DNS\":{{\"TTL\":\"10s\"}},\"CreateIndex\":",
            );
            t.check(compact.starts_with(&expected), &compact);
            t.check(
                compact.ends_with(&format!("\"ModifyIndex\":{index}}}]")),
                compact,
            );
            let bare = make(t, &plain(t, ""));
            t.api_get(&format!("/v1/query/{bare}"))
                .field_is("/0/Service/Tags", Value::Null)
                .field_is("/0/Service/Failover/Datacenters", Value::Null)
                .field_is("/0/DNS/TTL", "");
        },
        ..Case::MUST
    },
    Case {
        id: "query/create/refused",
        claim: "A query needs a name or a session and a service; what else is wrong with it is told before it reaches raft",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let invalid = |text: &str| format!("Invalid prepared query: {text}");
            let name = t.node("query");
            let web = |more: Value| {
                let mut service = json!({"Service": "web"});
                if let (Some(service), Some(more)) = (service.as_object_mut(), more.as_object()) {
                    service.extend(more.clone());
                }
                json!({"Name": name, "Service": service})
            };
            is_refused(t, &json!({}), &invalid("Must be bound to a session"));
            is_refused(
                t,
                &json!({"Service": {"Service": "web"}}),
                &invalid("Must be bound to a session"),
            );
            is_refused(
                t,
                &json!({"Name": name}),
                &invalid("Must provide a Service name to query"),
            );
            let nearest = web(json!({"Failover": {"NearestN": -1}}));
            is_refused(t, &nearest, &invalid("Bad NearestN '-1', must be >= 0"));
            let blank = web(json!({"NodeMeta": {"": "x"}}));
            is_refused(
                t,
                &blank,
                "Couldn't load metadata pair ('', 'x'): Key cannot be blank",
            );
            let spaced = web(json!({"NodeMeta": {"a b": "x"}}));
            is_refused(t, &spaced, "('a b', 'x'): Key contains invalid characters");
            let mut with_ttl = web(json!({}));
            with_ttl["DNS"] = json!({"TTL": "-1s"});
            is_refused(t, &with_ttl, &invalid("DNS TTL '-1000000000', must be >=0"));
            let mut with_id = web(json!({}));
            with_id["ID"] = json!(t.unknown_session());
            is_refused(
                t,
                &with_id,
                "ID must be empty when creating a new prepared query",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/create/bodies",
        claim: "An empty body and an unknown field are 400, null ends the connection",
        source: "session.md 5 (seen on 1.8.7); session.md trap 9",
        needs: NEEDS,
        run: |t| {
            t.send(&Request::new("POST", "/v1/query").body(""))
                .says(400, "Request decode failed: EOF");
            post(t, &json!({"Foo": 1}))
                .says(400, "Request decode failed: json: unknown field \"Foo\"");
            post(t, &json!({"Name": 5})).says(400, "json: cannot unmarshal number into Go struct field PreparedQuery.Name of type string");
            post(t, &Value::Null).is_closed();
        },
        ..Case::REAL
    },
    Case {
        id: "query/create/names",
        claim: "A name is refused that another query has, in any case, or that is the id of one",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let id = make(t, &plain(t, &name));
            let upper = name.to_uppercase();
            is_refused(
                t,
                &plain(t, &name),
                &format!("name '{name}' aliases an existing query name"),
            );
            is_refused(
                t,
                &plain(t, &upper),
                &format!("name '{upper}' aliases an existing query name"),
            );
            is_refused(
                t,
                &plain(t, &id),
                &format!("name '{id}' aliases an existing query ID"),
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "query/create/unknown-session",
        claim: "A query cannot be bound to a session that does not exist",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let unknown = t.unknown_session();
            let body = json!({"Session": unknown, "Service": {"Service": "web"}});
            is_refused(t, &body, &format!("invalid session \"{unknown}\""));
        },
        ..Case::MUST
    },
    Case {
        id: "query/create/malformed-session",
        claim: "A session that is no UUID is told as one",
        source: "session.md 5 (until 1.11.0)",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let body = json!({"Session": "nope", "Service": {"Service": "web"}});
            is_refused(
                t,
                &body,
                "invalid session: index error: UUID must be 36 characters",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "query/read/by-id",
        claim: "A query is read by its id in any case; an id of no query is 404, and a name 500",
        source: "session.md 5; 1.22.md B5",
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let id = make(t, &plain(t, &name));
            t.api_get(&format!("/v1/query/{}", id.to_uppercase()))
                .field_is("/0/ID", id.as_str());
            t.api_get(&format!("/v1/query/{}", t.unknown_session()))
                .says(404, "Query not found");
            t.api_get(&format!("/v1/query/{name}")).says(
                500,
                "failed prepared query lookup: index error: UUID must be 36 characters",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/read/missing-headers",
        claim: "The 404 of a query has no index, and none of the other headers of a read",
        source: "session.md 5 (until 1.12.0 [H])",
        until: Some(Version::V1_12),
        needs: NEEDS,
        run: |t| {
            t.api_get(&format!("/v1/query/{}", t.unknown_session()))
                .is(404, "Query not found")
                .has_no_header("X-Consul-Index")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
        },
        ..Case::REAL
    },
    Case {
        id: "query/read/list",
        claim: "All queries are listed in the order of their ids, at the index of their last change, which is 1 before the first",
        source: SOURCE,
        needs: OWN_SERVER,
        run: |t| {
            t.not_compared("which id comes first is left to chance");
            t.same("before", t.api_get("/v1/query").is(200, "[]").index(), 1);
            let mut ids = vec![make(t, &plain(t, "")), make(t, &plain(t, "a"))];
            ids.sort();
            let answer = t.api_get("/v1/query");
            let listed: Vec<String> = answer
                .list()
                .iter()
                .filter_map(|query| query["ID"].as_str().map(str::to_owned))
                .collect();
            t.same("the ids", listed, ids.clone());
            let index = answer.index();
            t.send(&Request::delete(&format!("/v1/query/{}", ids[0])))
                .is(200, "");
            t.check(
                t.api_get("/v1/query").index() > index,
                "a deletion moves the index",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/read/blocks",
        claim: "A read of all queries waits for one to change",
        source: SOURCE,
        needs: OWN_SERVER,
        run: |t| {
            make(t, &plain(t, "a"));
            let index = t.api_get("/v1/query").index();
            let waiting = t.start(&Request::get(&format!("/v1/query?index={index}&wait=60s")));
            t.still_blocked(&waiting);
            make(t, &plain(t, "b"));
            t.same("queries", waiting.answer().list().len(), 2);
        },
        ..Case::MUST
    },
    Case {
        id: "query/read/one-sleeps-through-others",
        claim: "A read of one query sleeps to its end while others change, and shows the index from before, which a later read does not",
        source: "session.md 5",
        needs: OWN_SERVER,
        run: |t| {
            let path = format!("/v1/query/{}", make(t, &plain(t, "a")));
            let before = t.api_get(&path).index();
            let waiting = t.start(&Request::get(&format!("{path}?index={before}&wait=1s")));
            let other = make(t, &plain(t, "b"));
            t.send(&Request::delete(&format!("/v1/query/{other}")))
                .is(200, "");
            t.settle();
            t.grew("X-Consul-Index", before, t.api_get(&path).index());
            let told = t.runs_out(&waiting, Duration::from_secs(1));
            t.same("the index", told.index(), before);
        },
        ..Case::REAL
    },
    Case {
        id: "query/read/one-wakes-on-its-change",
        claim: "A read of one query wakes when that is replaced, and with 404 when it is deleted",
        source: "session.md 5",
        needs: OWN_SERVER,
        run: |t| {
            let query = plain(t, "a");
            let path = format!("/v1/query/{}", make(t, &query));
            let start = || {
                let index = t.api_get(&path).index();
                let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
                t.still_blocked(&waiting);
                (index, waiting)
            };
            let (before, waiting) = start();
            t.api_put(&path, query.to_string()).is(200, "");
            t.grew("X-Consul-Index", before, waiting.answer().index());
            let (_, waiting) = start();
            t.send(&Request::delete(&path)).is(200, "");
            waiting.answer().is(404, "Query not found");
        },
        ..Case::MUST
    },
    Case {
        id: "query/update/replaces",
        claim: "A PUT replaces the whole query and keeps its id and CreateIndex; the id in the body does not matter",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let path = format!("/v1/query/{}", make(t, &plain(t, &name)));
            let before = t.api_get(&path).json();
            let mut query = json!({"ID": t.unknown_session(), "Service": {"Service": "other"}});
            query["Session"] = json!(t.session_without_delay());
            t.api_put(&path, query.to_string()).is(200, "");
            let after = t
                .api_get(&path)
                .field_is("/0/Name", "")
                .field_is("/0/Service/Service", "other");
            let after = after.json();
            t.same(
                "CreateIndex",
                &after[0]["CreateIndex"],
                &before[0]["CreateIndex"],
            );
            t.same("ID", &after[0]["ID"], &before[0]["ID"]);
            t.check(
                after[0]["ModifyIndex"].as_u64() > before[0]["ModifyIndex"].as_u64(),
                "it is modified",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/update/missing",
        claim: "A PUT or DELETE of a query that does not exist is 500, as is one by a name, before the body is looked at",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let missing = t.unknown_session();
            let text = format!("Cannot modify non-existent prepared query: '{missing}'");
            let path = format!("/v1/query/{missing}");
            t.api_put(&path, plain(t, "x").to_string()).says(500, &text);
            t.send(&Request::delete(&path)).says(500, &text);
            let text = "Prepared Query lookup failed: failed prepared query lookup: index error: UUID must be 36 characters";
            t.api_put("/v1/query/name", "{}").says(500, text);
            t.send(&Request::delete("/v1/query/name")).says(500, text);
        },
        ..Case::SHOULD
    },
    Case {
        id: "query/methods/of-paths",
        claim: "Below /v1/query/ the endpoint itself looks at the method: OPTIONS is an empty object, others are 405 with the methods it has",
        source: "session.md 4.1, 5",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            t.send(&Request::new("PUT", "/v1/query"))
                .says(405, "method PUT not allowed")
                .header_is("Allow", "OPTIONS,GET,POST");
            t.send(&Request::new("POST", "/v1/query/x"))
                .says(405, "method POST not allowed")
                .header_is("Allow", "GET,PUT,DELETE");
            t.send(&Request::new("PUT", "/v1/query/x/execute"))
                .says(405, "method PUT not allowed")
                .header_is("Allow", "GET");
            t.send(&Request::new("OPTIONS", "/v1/query/x"))
                .is(200, "{}")
                .header_is("Allow", "OPTIONS,GET,PUT,DELETE");
            t.send(&Request::new("OPTIONS", "/v1/query/x/explain"))
                .is(200, "{}")
                .header_is("Allow", "OPTIONS,GET");
        },
        ..Case::REAL
    },
    Case {
        id: "query/session/falls-with-it",
        claim: "The end of a session deletes its queries, named ones, too, in the same index, and wakes who reads them",
        source: "session.md 3.2, 5",
        needs: OWN_SERVER,
        run: |t| {
            let session = t.session_without_delay();
            let bound = |name: &str, session: &str| {
                make(
                    t,
                    &json!({"Name": name, "Session": session, "Service": {"Service": "web"}}),
                )
            };
            bound("named", &session);
            bound("", &session.to_uppercase());
            let other = bound("other", &t.session_without_delay());
            let index = t.api_get("/v1/query").index();
            let waiting = t.start(&Request::get(&format!("/v1/query?index={index}&wait=60s")));
            t.still_blocked(&waiting);
            t.destroy(&session);
            let answer = waiting.answer().field_is("/0/ID", other.as_str());
            t.same("queries left", answer.list().len(), 1);
            t.same(
                "the index",
                answer.index(),
                t.api_get("/v1/session/list").index(),
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/session/outlives-its-query",
        claim: "The deletion of a query leaves its session alone",
        source: "session.md 5",
        needs: NEEDS,
        run: |t| {
            let session = t.session_without_delay();
            let id = make(
                t,
                &json!({"Session": session, "Service": {"Service": "web"}}),
            );
            t.send(&Request::delete(&format!("/v1/query/{id}")))
                .is(200, "");
            lives(t, &session);
        },
        ..Case::MUST
    },
];
