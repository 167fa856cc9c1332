//! Prepared queries: what they find, and for which names (session.md 5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::register;
use crate::cases::support::query::{make, post};
use crate::wire::answer::Answer;

const NEEDS: &[Feature] = &[Feature::PreparedQueries, Feature::Registration];
const SOURCE: &str = "session.md 5";

/// A service with a passing, a warning and a critical instance, on nodes of their own; gives its name.
fn three_instances(t: &Trial) -> String {
    let service = t.node("service");
    for (name, status, tags) in [
        ("ok", "passing", json!(["v1", "Prod"])),
        ("warns", "warning", json!(["v1"])),
        ("fails", "critical", json!(["v1"])),
    ] {
        let node = t.node(name);
        let fields = json!({
            "NodeMeta": {"name": name},
            "Service": {"ID": name, "Service": service, "Tags": tags, "Meta": {"name": name}},
            "Check": {"CheckID": "check", "Name": "check", "Status": status, "ServiceID": name},
        });
        register(t, &node, &fields);
    }
    service
}

/// What a query for a service finds with these further fields: the ids of the instances.
fn finds(t: &Trial, service: &str, more: &Value) -> Vec<String> {
    let mut search = json!({"Service": service});
    if let (Some(search), Some(more)) = (search.as_object_mut(), more.as_object()) {
        search.extend(more.clone());
    }
    let id = make(
        t,
        &json!({"Session": t.session_without_delay(), "Service": search}),
    );
    ids(&t
        .api_get(&format!("/v1/query/{id}/execute"))
        .status_is(200)
        .json())
}

fn ids(executed: &Value) -> Vec<String> {
    let nodes = executed["Nodes"].as_array().into_iter().flatten();
    let mut ids: Vec<String> = nodes
        .filter_map(|node| node["Service"]["ID"].as_str().map(str::to_owned))
        .collect();
    ids.sort();
    ids
}

/// A template of the case's own, and the beginning of the names that it serves.
fn template(t: &Trial, name: &str, service: &str, more: &Value) -> String {
    let prefix = format!("{}-", t.node(name));
    let mut options = json!({"Type": "name_prefix_match"});
    if let (Some(options), Some(more)) = (options.as_object_mut(), more.as_object()) {
        options.extend(more.clone());
    }
    make(
        t,
        &json!({
            "Name": prefix, "Session": t.session_without_delay(), "Template": options,
            "Service": {"Service": service, "Tags": ["${name.suffix}", "fixed"]},
        }),
    );
    prefix
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "query/execute/health",
        claim: "A query finds instances that are not critical, with OnlyPassing none that warn; ignored checks do not count",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            t.not_compared("instances come in an order of chance");
            let service = three_instances(t);
            let found = |more: Value| finds(t, &service, &more);
            t.same(
                "by itself",
                found(json!({})),
                vec!["ok".to_owned(), "warns".to_owned()],
            );
            t.same(
                "OnlyPassing",
                found(json!({"OnlyPassing": true})),
                vec!["ok".to_owned()],
            );
            let all = found(json!({"OnlyPassing": true, "IgnoreCheckIDs": ["check"]}));
            t.same("IgnoreCheckIDs", all.len(), 3);
            t.same("Connect", found(json!({"Connect": true})), vec![]);
        },
        ..Case::MUST
    },
    Case {
        id: "query/execute/tags-and-meta",
        claim: "A query finds instances with all its tags in any case, without those behind an exclamation mark, and with its meta data",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            t.not_compared("instances come in an order of chance");
            let service = three_instances(t);
            let found = |more: Value| finds(t, &service, &more);
            t.same("tag", found(json!({"Tags": ["V1"]})).len(), 2);
            t.same(
                "tags",
                found(json!({"Tags": ["v1", "prod"]})),
                vec!["ok".to_owned()],
            );
            t.same(
                "unwanted tag",
                found(json!({"Tags": ["!PROD"]})),
                vec!["warns".to_owned()],
            );
            t.same("empty tag", found(json!({"Tags": [""]})), vec![]);
            t.same(
                "NodeMeta",
                found(json!({"NodeMeta": {"name": "ok"}})),
                vec!["ok".to_owned()],
            );
            t.same(
                "ServiceMeta",
                found(json!({"ServiceMeta": {"name": "warns"}})),
                vec!["warns".to_owned()],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "query/execute/answer",
        claim: "The answer has these fields in this order, and null for tags and checks that are none",
        source: "session.md 5 (until 1.12.0 [H])",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let body = json!({
                "Name": name, "Session": t.session_without_delay(),
                "Service": {"Service": name}, "DNS": {"TTL": "5s"},
            });
            make(t, &body);
            let executed = t.api_get(&format!("/v1/query/{name}/execute?stale"));
            executed
                .is(
                    200,
                    &format!(
                        "{{\"Service\":\"{name}\",\"Nodes\":[],\"DNS\":{{\"TTL\":\"5s\"}},\"Datacenter\":\"{}\",\
                         \"Failovers\":0,\"Index\":0,\"LastContact\":0,\"KnownLeader\":true,\
                         \"ConsistencyLevel\":\"stale\"}}",
                        t.facts().datacenter
                    ),
                )
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Effective-Consistency", "stale");
            let node = t.node("n");
            register(t, &node, &json!({"Service": {"Service": name}}));
            t.api_get(&format!("/v1/query/{name}/execute"))
                .field_is("/Nodes/0/Node/Node", node.as_str())
                .field_is("/Nodes/0/Service/Tags", Value::Null)
                .field_is("/Nodes/0/Checks", Value::Null);
        },
        ..Case::REAL
    },
    Case {
        id: "query/execute/entries",
        claim: "The instances that a query finds are printed as health/service prints them, but for empty lists, which are null",
        source: "session.md 5",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let (node, service) = (t.node("n"), t.node("service"));
            let check = json!({"CheckID": "c", "Name": "c", "Status": "passing", "ServiceID": "s"});
            let fields = json!({
                "NodeMeta": {"a": "b"}, "Check": check,
                "Service": {"ID": "s", "Service": service, "Tags": ["t"], "Meta": {"m": "1"}, "Port": 80},
            });
            register(t, &node, &fields);
            let id = make(
                t,
                &json!({"Session": t.session_without_delay(), "Service": {"Service": service}}),
            );
            let squeezed = |answer: &Answer| {
                String::from_utf8_lossy(&crate::wire::json::squeezed(answer.body())).into_owned()
            };
            let found = squeezed(&t.api_get(&format!("/v1/query/{id}/execute")));
            let listed = squeezed(&t.api_get(&format!("/v1/health/service/{service}")));
            t.check(found.contains(&format!("\"Nodes\":{listed},")), found);
        },
        ..Case::REAL
    },
    Case {
        id: "query/explain/answer",
        claim: "explain prints the whole query as it is read, and behind it an index of 0 and who answered",
        source: "session.md 5 (until 1.12.0 [H])",
        until: Some(Version::V1_10),
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let body = json!({"Name": name, "Session": t.session_without_delay(), "Service": {"Service": "x"}});
            let id = make(t, &body);
            let read = t.api_get(&format!("/v1/query/{id}"));
            let listed =
                String::from_utf8_lossy(&crate::wire::json::squeezed(read.body())).into_owned();
            let query = listed.trim_start_matches('[').trim_end_matches(']');
            let explained = format!(
                "{{\"Query\":{query},\"Index\":0,\"LastContact\":0,\"KnownLeader\":true,\"ConsistencyLevel\":\"leader\"}}"
            );
            t.api_get(&format!("/v1/query/{name}/explain"))
                .is(200, &explained)
                .header_is("X-Consul-Index", "1");
        },
        ..Case::REAL
    },
    Case {
        id: "query/execute/limit",
        claim: "limit= gives no more instances than that, and any number below 1 all of them",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            t.not_compared("instances come in an order of chance");
            let service = three_instances(t);
            let id = make(
                t,
                &json!({"Session": t.session_without_delay(), "Service": {"Service": service}}),
            );
            let path = format!("/v1/query/{id}/execute");
            let count =
                |limit: &str| ids(&t.api_get(&format!("{path}?limit={limit}")).json()).len();
            t.same("1", count("1"), 1);
            t.same("9", count("9"), 2);
            t.same("0", count("0"), 2);
            t.same("-1", count("-1"), 2);
            t.api_get(&format!("{path}?limit=x")).says(
                500,
                "Bad limit: strconv.Atoi: parsing \"x\": invalid syntax",
            );
            t.api_get(&format!("{path}?connect=x")).says(
                500,
                "Error parsing 'connect' value: strconv.ParseBool: parsing \"x\": invalid syntax",
            );
            t.same(
                "connect",
                ids(&t.api_get(&format!("{path}?connect=true")).json()).len(),
                0,
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "query/execute/names",
        claim: "A query is executed by its id or by its name, in any case; another one is 404",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let name = t.node("query");
            let body = json!({"Name": name, "Session": t.session_without_delay(), "Service": {"Service": "x"}});
            let id = make(t, &body);
            for name in [&id, &id.to_uppercase(), &name, &name.to_uppercase()] {
                t.api_get(&format!("/v1/query/{name}/execute"))
                    .field_is("/Service", "x");
            }
            for verb in ["execute", "explain"] {
                t.api_get(&format!("/v1/query/{name}-none/{verb}"))
                    .says(404, "Query not found");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "query/template/renders",
        claim: "A template serves names that begin with its own, and puts name and matches into its fields",
        source: "session.md 5",
        needs: NEEDS,
        run: |t| {
            let service =
                "${name.full}|${name.prefix}|${name.suffix}|${match(0)}|${match(1)}|${match(9)}";
            let regexp = json!({"Regexp": "-([a-z]+)$"});
            let prefix = template(t, "t", service, &regexp);
            t.api_get(&format!("/v1/query/{prefix}one/explain"))
                .field_is(
                    "/Query/Service/Service",
                    format!("{prefix}one|{prefix}|one|-one|one|").as_str(),
                )
                .field_is("/Query/Service/Tags", json!(["one", "fixed"]))
                .field_is("/Query/Name", prefix.as_str());
            t.api_get(&format!("/v1/query/{prefix}one/execute"))
                .field_is("/Nodes", json!([]));
            let plain = t.node("plain");
            let body = json!({"Name": plain, "Session": t.session_without_delay(), "Service": {"Service": "${name.full}"}});
            make(t, &body);
            t.api_get(&format!("/v1/query/{plain}/explain"))
                .field_is("/Query/Service/Service", "${name.full}");
        },
        ..Case::MUST
    },
    Case {
        id: "query/template/empty-tags",
        claim: "RemoveEmptyTags leaves out tags that come out empty",
        source: "session.md 5",
        needs: NEEDS,
        run: |t| {
            let kept = template(t, "kept", "x", &json!({}));
            t.api_get(&format!("/v1/query/{kept}/explain"))
                .field_is("/Query/Service/Tags", json!(["", "fixed"]));
            let removed = template(t, "removed", "x", &json!({"RemoveEmptyTags": true}));
            t.api_get(&format!("/v1/query/{removed}/explain"))
                .field_is("/Query/Service/Tags", json!(["fixed"]));
        },
        ..Case::SHOULD
    },
    Case {
        id: "query/template/longest-beginning",
        claim: "Of several templates the one with the longest beginning of the name serves it, and a query of that very name before all",
        source: "session.md 5",
        needs: NEEDS,
        run: |t| {
            let short = template(t, "t", "short", &json!({}));
            let longer = template(t, "t-x", "longer", &json!({}));
            let exact = format!("{longer}exact");
            let body = json!({"Name": exact, "Session": t.session_without_delay(), "Service": {"Service": "exact"}});
            make(t, &body);
            for (name, service) in [
                (format!("{short}a"), "short"),
                (format!("{longer}a"), "longer"),
                (exact, "exact"),
            ] {
                t.api_get(&format!("/v1/query/{name}/explain"))
                    .field_is("/Query/Service/Service", service);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "query/template/refused-since-1-22",
        claim: "A template that ends inside of an expression is 500 with the place where it ends",
        source: "1.22.md B5 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let body = json!({
                "Name": t.node("t"), "Service": {"Service": "${"},
                "Template": {"Type": "name_prefix_match"},
            });
            post(t, &body).is(
                500,
                "raft apply failed: failed compiling template: Bad format '${' in Service.Service: parse error at 1:3: expected expression but found end of string",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "query/create/targets-alone-since-1-14",
        claim: "A failover has either targets or datacenters, by name or by distance",
        source: "1.22.md B5 (seen on late 2025 [N])",
        since: Version::V1_14,
        needs: NEEDS,
        run: |t| {
            let targets = json!([{"Peer": "elsewhere"}]);
            for other in [json!({"NearestN": 1}), json!({"Datacenters": ["dc2"]})] {
                let mut failover = other;
                failover["Targets"] = targets.clone();
                let body = json!({
                    "Name": t.node("t"), "Service": {"Service": "x", "Failover": failover},
                });
                post(t, &body).is(
                    500,
                    "Invalid prepared query: Targets cannot be populated with NearestN or Datacenters",
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "query/execute/quotes-del",
        claim: "What is not a number is quoted in the error, DEL by its code point",
        source: "session.md 5",
        until: Some(Version::V1_20),
        run: |t| {
            t.api_get("/v1/query/nobody/execute?limit=%7f").is(
                500,
                "Bad limit: strconv.Atoi: parsing \"\\u007f\": invalid syntax",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "query/template/refused",
        claim: "A template that cannot be compiled is 500 with what is wrong with it",
        source: "session.md 5 (texts seen on 1.8.7)",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            for (kind, regexp, service, text) in [
                ("foo", "", "x", "Bad Template.Type 'foo'"),
                (
                    "name_prefix_match",
                    "(",
                    "x",
                    "Bad Regexp: error parsing regexp: missing closing ): `(`",
                ),
                (
                    "name_prefix_match",
                    "",
                    "${",
                    "Bad format '${' in Service.Service: parse error: syntax error",
                ),
                (
                    "name_prefix_match",
                    "",
                    "${name.foo}",
                    "Bad evaluation for '${name.foo}' in Service.Service: 1:3: unknown variable accessed: name.foo",
                ),
                (
                    "name_prefix_match",
                    "",
                    "${match()}",
                    "Bad evaluation for '${match()}' in Service.Service: 1:3: match: expected 1 arguments, got 0",
                ),
            ] {
                let body = json!({
                    "Name": t.node("t"), "Service": {"Service": service},
                    "Template": {"Type": kind, "Regexp": regexp},
                });
                post(t, &body).says(500, &format!("failed compiling template: {text}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "query/explain/limit",
        claim: "An explanation looks at the form of limit= before it looks for the query",
        source: "session.md 5.r8",
        needs: NEEDS,
        run: |t| {
            t.api_get("/v1/query/none/explain?limit=x").says(
                500,
                "Bad limit: strconv.Atoi: parsing \"x\": invalid syntax",
            );
            t.api_get("/v1/query/none/explain?limit=1")
                .says(404, "Query not found");
        },
        ..Case::REAL
    },
];
