//! Reads from the agent's cache (session.md 4.5c).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::query::make;
use crate::wire::Request;
use crate::wire::answer::Answer;

const SOURCE: &str = "session.md 4.5c";

/// Reads of a service that are cached and refreshed.
const OF_SERVICE: &[&str] = &[
    "/v1/health/service/",
    "/v1/health/connect/",
    "/v1/catalog/service/",
    "/v1/catalog/connect/",
];

/// The answer is fetched, and kept.
#[track_caller]
fn is_miss(answer: Answer) -> Answer {
    answer
        .status_is(200)
        .header_is("X-Cache", "MISS")
        .has_no_header("Age")
}

/// The answer was kept, and is so many seconds old.
#[track_caller]
fn is_hit(answer: Answer, age: &str) -> Answer {
    answer
        .status_is(200)
        .header_is("X-Cache", "HIT")
        .header_is("Age", age)
}

/// The answer has nothing to do with the cache.
#[track_caller]
fn is_uncached(answer: Answer) -> Answer {
    answer.has_no_header("X-Cache").has_no_header("Age")
}

fn with_cache_control(path: &str, value: &str) -> Request {
    Request::get(path).header("Cache-Control", value)
}

/// A service with one instance, and a query for it; gives the path at which the query is executed from the cache.
fn executed(t: &Trial, service: &str) -> String {
    register(
        t,
        &t.node("first"),
        &json!({"Service": {"Service": service}}),
    );
    let query = json!({"Session": t.session_without_delay(), "Service": {"Service": service}});
    format!("/v1/query/{}/execute?cached", make(t, &query))
}

fn instances(answer: &Answer) -> usize {
    answer.json()["Nodes"].as_array().map_or(0, Vec::len)
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/cached/miss-then-hit",
        claim: "With cached the first read of a service is a MISS, and what comes after it a HIT without age",
        source: SOURCE,
        needs: &[Feature::Registration],
        run: |t| {
            t.not_compared("the indexes of missing services move by themselves");
            let service = t.node("service");
            for path in OF_SERVICE {
                is_miss(t.api_get(&format!("{path}{service}?cached")));
                is_hit(t.api_get(&format!("{path}{service}?cached")), "0");
                is_hit(t.api_get(&format!("{path}{service}?cached=false")), "0");
                is_uncached(t.api_get(&format!("{path}{service}")));
            }
            let services = format!("/v1/catalog/services?cached&node-meta={service}:x");
            is_miss(t.api_get(&services));
            is_hit(t.api_get(&services), "0");
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/order-of-headers",
        claim: "Age and X-Cache stand among the other headers by name",
        source: SOURCE,
        run: |t| {
            t.not_compared("the indexes of missing services move by themselves");
            let path = format!("/v1/catalog/services?cached&node-meta={}:x", t.node("name"));
            t.api_get(&path);
            let answer = is_hit(t.api_get(&path), "0");
            let names = answer.header_names();
            let place = |wanted: &str| names.iter().position(|name| *name == wanted);
            t.check(
                place("Age") < place("Content-Type")
                    && place("Vary") < place("X-Cache")
                    && place("X-Cache") < place("X-Consul-Effective-Consistency"),
                format!("the order is {names:?}"),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/what-distinguishes",
        claim: "Entries are told apart by name, tags in any order, node-meta, filter and token, and by no other parameter",
        source: "session.md 4.5c.r1",
        needs: &[Feature::AclsOff],
        run: |t| {
            t.not_compared("the indexes of missing services move by themselves");
            for path in OF_SERVICE {
                let service = t.node("service");
                let read = |query: &str| t.api_get(&format!("{path}{service}?cached{query}"));
                is_miss(read(""));
                for query in [
                    "&tag=a",
                    "&tag=a&tag=b",
                    "&tag=",
                    "&node-meta=a:b",
                    "&token=x",
                ] {
                    is_miss(read(query));
                    is_hit(read(query), "0");
                }
                let field = if path.contains("health") {
                    "Node.Node"
                } else {
                    "Node"
                };
                is_miss(read(&format!("&filter={field}==x")));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/what-does-not",
        claim: "Entries do not depend on wait, the consistency or a parameter that Consul does not know, nor on near and passing but in late reads of health",
        source: "session.md 4.5c.r1",
        run: |t| {
            t.not_compared("the indexes of missing services move by themselves");
            for path in OF_SERVICE {
                let service = t.node("service");
                let read = |query: &str| t.api_get(&format!("{path}{service}?cached{query}"));
                is_miss(read(""));
                is_miss(read("&tag=a&tag=b"));
                for query in [
                    "&tag=b&tag=a",
                    "&wait=1s",
                    "&pretty",
                    "&leader",
                    "&dc=",
                    "&other=1",
                ] {
                    is_hit(read(query), "0");
                }
                is_hit(read("&stale"), "0").header_is("X-Consul-Effective-Consistency", "stale");
                let of_health = path.contains("health");
                for query in ["&near=_agent", "&passing"] {
                    if of_health && t.facts().version >= Version::V1_22 {
                        is_miss(read(query));
                    }
                    is_hit(read(query), "0");
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/services-have-no-tag",
        claim: "Entries of the list of all services do not depend on a tag",
        source: "session.md 4.5c.r1",
        run: |t| {
            t.not_compared("the index moves by itself");
            let path = format!("/v1/catalog/services?cached&node-meta={}:a", t.node("m"));
            is_miss(t.api_get(&path));
            is_hit(t.api_get(&format!("{path}&tag=a")), "0");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/not-these",
        claim: "Reads of nodes, checks, keys and sessions are not cached",
        source: SOURCE,
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let node = t.register_node("node");
            for path in [
                "/v1/catalog/nodes".to_owned(),
                format!("/v1/catalog/node/{node}"),
                format!("/v1/catalog/node-services/{node}"),
                format!("/v1/health/node/{node}"),
                format!("/v1/health/checks/{node}"),
                "/v1/health/state/any".to_owned(),
                "/v1/session/list".to_owned(),
                "/v1/agent/services".to_owned(),
            ] {
                for _ in 0..2 {
                    is_uncached(t.api_get(&format!("{path}?cached")).status_is(200));
                }
            }
            is_uncached(t.get(&t.key("missing"), "cached"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/failures",
        claim: "A read that fails is not cached and says nothing about the cache",
        source: "session.md 4.5c.r5",
        run: |t| {
            let service = t.node("service");
            // Late reads of health are streamed: of an unknown datacenter nothing comes for 21 s.
            let is_late = t.facts().version >= Version::V1_22;
            let page = if is_late { "catalog" } else { "health" };
            for query in ["dc=nowhere", "filter=="] {
                for _ in 0..2 {
                    let path = format!("/v1/{page}/service/{service}?cached&{query}");
                    is_uncached(t.api_get(&path).status_is(500));
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/bad-filter-of-a-stream-since-1-22",
        claim: "A cached read of health says what is wrong with its filter without a word before it",
        source: "session.md 4.5c.r5",
        since: Version::V1_22,
        run: |t| {
            let path = format!("/v1/health/service/{}?cached&filter=((", t.node("service"));
            let words = r#"1:3 (2): no match found, expected: "(", "-", "0", "\"", "`", "not", [ \t\r\n], [1-9] or [a-zA-Z]"#;
            is_uncached(t.api_get(&path).is(500, words));
        },
        ..Case::REAL
    },
    Case {
        id: "query/cached/limits",
        claim: "Cached executions are told apart by their limit, also by one that limits nothing",
        source: "session.md 4.5c.r7",
        needs: &[Feature::PreparedQueries, Feature::Registration],
        run: |t| {
            let path = executed(t, &t.node("service"));
            for (query, cache) in [
                ("", "MISS"),
                ("&limit=0", "HIT"),
                ("&limit=-1", "MISS"),
                ("&limit=-1", "HIT"),
                ("&limit=-2", "MISS"),
            ] {
                let found = t.api_get(&format!("{path}{query}"));
                found.status_is(200).header_is("X-Cache", cache);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "query/cached/missing",
        claim: "A cached execution of a missing query is 500, with the headers of a read that found nothing",
        source: "session.md 4.5c.r5",
        needs: &[Feature::PreparedQueries],
        run: |t| {
            let answer = t.api_get("/v1/query/conformance-missing/execute?cached");
            is_uncached(answer.is(500, "Query not found"))
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Knownleader", "false");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/follows",
        claim: "What is cached of a service shows changes soon, and is no older for it",
        source: "session.md 4.5c.r2",
        needs: &[Feature::Registration],
        run: |t| {
            t.not_compared("how soon is left to chance");
            let service = t.node("service");
            let path = format!("/v1/health/service/{service}?cached");
            is_miss(t.api_get(&path)).is(200, "[]");
            register(
                t,
                &t.node("node"),
                &json!({"Service": {"Service": service}}),
            );
            let shown = t.eventually("the instance is shown", Duration::from_secs(5), || {
                let answer = t.api_get(&path);
                (answer.list().len() == 1).then_some(answer)
            });
            is_hit(shown, "0");
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/cache-control",
        claim: "Cache-Control changes nothing for entries that are refreshed",
        source: "session.md 4.5c.r2",
        run: |t| {
            t.not_compared("the indexes of missing services move by themselves");
            let path = format!("/v1/catalog/service/{}?cached", t.node("service"));
            is_miss(t.api_get(&path));
            for value in [
                "max-age=60",
                "max-age=0",
                "must-revalidate",
                "no-cache",
                "stale-if-error=1",
            ] {
                is_hit(t.send(&with_cache_control(&path, value)), "0");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/waiting",
        claim: "A read of the cache that has to wait is a MISS when it ends, woken or not; one with an index that has passed is a HIT",
        source: "session.md 4.5c.r4",
        needs: &[Feature::Registration, Feature::Blocking],
        run: |t| {
            t.not_compared("the index of the service may move by itself");
            let service = t.node("service");
            let read = |query: &str| format!("/v1/health/service/{service}?cached{query}");
            register(
                t,
                &t.node("first"),
                &json!({"Service": {"Service": service}}),
            );
            let index = is_miss(t.api_get(&read(""))).index();
            is_hit(t.api_get(&read("&index=1")), "0");
            let wait = Duration::from_secs(1);
            let waiting = t.start(&Request::get(&read(&format!("&index={index}&wait=1s"))));
            is_miss(t.runs_out(&waiting, wait));
            is_hit(t.api_get(&read("")), "0");
            let waiting = t.start(&Request::get(&read(&format!("&index={index}&wait=60s"))));
            t.still_blocked(&waiting);
            register(
                t,
                &t.node("second"),
                &json!({"Service": {"Service": service}}),
            );
            let woken = is_miss(waiting.answer());
            t.same("the number of instances", woken.list().len(), 2);
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/datacenters",
        claim: "The cached list of datacenters ages until the client wants a younger one",
        source: "session.md 4.5c.r6",
        run: |t| {
            t.not_compared("the list may have been cached before");
            let path = "/v1/catalog/datacenters?cached";
            is_miss(t.send(&with_cache_control(path, "must-revalidate")));
            let hit = t.api_get(path).status_is(200).header_is("X-Cache", "HIT");
            hit.has_header("Age");
            is_miss(t.send(&with_cache_control(path, "max-age=0")));
            is_uncached(t.api_get("/v1/catalog/datacenters"));
        },
        ..Case::SHOULD
    },
    Case {
        id: "catalog/cached/roots",
        claim: "The agent's roots come from its cache always, whose entries are told apart by token",
        source: "session.md 4.5c.r8",
        needs: &[Feature::AclsOff],
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| {
            t.not_compared("the roots are the server's own");
            let path = "/v1/agent/connect/ca/roots";
            t.eventually("a root is active", Duration::from_secs(10), || {
                let answer = t.api_get("/v1/connect/ca/roots");
                answer.json()["ActiveRootID"].as_str().map(drop)
            });
            is_miss(t.api_get(&format!("{path}?token={}", t.node("token"))));
            t.api_get(path);
            let index = is_hit(t.api_get(path), "0").index();
            let waits = format!("{path}?index={index}&wait=1s");
            let waiting = t.start(&Request::get(&waits));
            is_miss(t.runs_out(&waiting, Duration::from_secs(1)));
            is_uncached(t.api_get("/v1/connect/ca/roots?cached"));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/no-leader-of-roots",
        claim: "Reads of the root certificates say that no leader is known",
        source: "session.md 4.5c.r8",
        until: Some(Version::V1_9),
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| {
            t.not_compared("the roots are the server's own");
            for path in ["/v1/connect/ca/roots", "/v1/agent/connect/ca/roots"] {
                t.api_get(path)
                    .status_is(200)
                    .header_is("X-Consul-Knownleader", "false");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/leader-of-roots-since-1-22",
        claim: "Reads of the root certificates know the leader, and the agent has read them before anybody asks",
        source: "session.md 4.5c.r8 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: &[Feature::AclsOff],
        settings: r#"{"connect": {"enabled": true}}"#,
        run: |t| {
            t.not_compared("the roots are the server's own");
            for path in ["/v1/connect/ca/roots", "/v1/agent/connect/ca/roots"] {
                t.api_get(path)
                    .status_is(200)
                    .header_is("X-Consul-Knownleader", "true");
            }
            is_hit(t.api_get("/v1/agent/connect/ca/roots"), "0");
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/cached/off",
        claim: "With http_config.use_cache off cached changes nothing, but for the agent's roots",
        source: SOURCE,
        settings: r#"{"connect": {"enabled": true}, "http_config": {"use_cache": false}}"#,
        run: |t| {
            t.not_compared("the roots are the server's own");
            for path in [
                "/v1/health/service/consul?cached",
                "/v1/catalog/services?cached",
                "/v1/catalog/datacenters?cached",
            ] {
                for _ in 0..2 {
                    is_uncached(t.api_get(path).status_is(200));
                }
            }
            t.api_get("/v1/agent/connect/ca/roots")
                .has_header("X-Cache");
        },
        ..Case::REAL
    },
    Case {
        id: "query/cached/as-it-was",
        claim: "A cached execution shows what it found, until the client wants a younger one",
        source: "session.md 4.5c.r6",
        needs: &[Feature::PreparedQueries, Feature::Registration],
        run: |t| {
            t.not_compared("instances come in an order of chance");
            let service = t.node("service");
            let path = executed(t, &service);
            t.same("found at first", instances(&is_miss(t.api_get(&path))), 1);
            register(
                t,
                &t.node("second"),
                &json!({"Service": {"Service": service}}),
            );
            t.pass(Duration::from_secs(2));
            for value in [
                "",
                "max-age=60",
                "max-age=-1",
                "no-cache",
                "stale-if-error=1",
            ] {
                let hit = t.send(&with_cache_control(&path, value));
                let age = hit
                    .status_is(200)
                    .header_is("X-Cache", "HIT")
                    .has_header("Age");
                t.same(value, instances(&age), 1);
            }
            for value in ["max-age=1", "max-age=0", "Must-Revalidate"] {
                let miss = is_miss(t.send(&with_cache_control(&path, value)));
                t.same(value, instances(&miss), 2);
                t.pass(Duration::from_secs(2));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "query/cached/what-distinguishes",
        claim: "Cached executions are told apart by the name as it is asked for, limit, connect and token, and by no other parameter",
        source: "session.md 4.5c.r7",
        needs: &[
            Feature::PreparedQueries,
            Feature::Registration,
            Feature::AclsOff,
        ],
        run: |t| {
            t.not_compared("how long it takes is left to chance");
            let path = executed(t, &t.node("service"));
            let read = |query: &str| t.api_get(&format!("{path}{query}"));
            is_miss(read(""));
            for query in ["&limit=1", "&connect=true", "&token=x"] {
                is_miss(read(query));
                read(query).header_is("X-Cache", "HIT");
            }
            for query in [
                "&near=_agent",
                "&stale",
                "&dc=",
                "&index=1&wait=1s",
                "&other",
            ] {
                read(query).header_is("X-Cache", "HIT");
            }
            let explained = path.replace("/execute", "/explain");
            is_uncached(t.api_get(&explained).status_is(200));
        },
        ..Case::SHOULD
    },
];
