//! Intentions with ids, and what is asked of them (operator.md 4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

const PATH: &str = "/v1/connect/intentions";
const MISSING: &str = "11111111-1111-1111-1111-111111111111";

fn create(t: &Trial, body: &str) -> Answer {
    t.send(&Request::new("POST", PATH).body(body))
}

fn of(source: &str, destination: &str, action: &str) -> Value {
    json!({"SourceName": source, "DestinationName": destination, "Action": action})
}

/// Makes an intention, and returns its id.
#[track_caller]
fn made(t: &Trial, source: &str, destination: &str, action: &str) -> String {
    let answer = create(t, &of(source, destination, action).to_string()).status_is(200);
    let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
    t.same("the length of the id", id.len(), 36);
    id
}

fn get(t: &Trial, rest: &str) -> Answer {
    t.api_get(&format!("{PATH}{rest}"))
}

fn replace(t: &Trial, id: &str, body: &str) -> Answer {
    t.api_put(&format!("{PATH}/{id}"), body)
}

fn remove(t: &Trial, id: &str) -> Answer {
    t.send(&Request::delete(&format!("{PATH}/{id}")))
}

/// The source and destination of intentions.
fn ends(intentions: &[Value]) -> Vec<String> {
    let end =
        |intention: &Value, name: &str| intention[name].as_str().unwrap_or_default().to_owned();
    let intentions = intentions.iter();
    intentions
        .map(|one| format!("{} {}", end(one, "SourceName"), end(one, "DestinationName")))
        .collect()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/intention/write-read-delete",
        claim: "An intention is made with an id, read by it, until 1.9 in any case, replaced and deleted",
        source: "operator.md 4.5.r1 to 4.5.r4",
        needs: &[Feature::OwnServer],
        run: |t| {
            let id = made(t, "web", "db", "allow");
            let capitals = get(t, &format!("/{}", id.to_uppercase()));
            let shown = if t.since(Version::V1_9) {
                capitals.is(404, "Intention not found");
                get(t, &format!("/{id}"))
            } else {
                capitals
            };
            shown
                .field_is("/ID", id.as_str())
                .field_is("/SourceNS", "default")
                .field_is("/SourceName", "web")
                .field_is("/DestinationName", "db")
                .field_is("/SourceType", "consul")
                .field_is("/Action", "allow")
                .field_is("/Precedence", 9);
            let index = get(t, "").index();
            replace(t, &id, &of("web", "db", "deny").to_string()).field_is("/ID", id.as_str());
            let list = get(t, "").field_is("/0/Action", "deny");
            t.grew("the index", index, list.index());
            remove(t, &id).is(200, "true");
            get(t, &format!("/{id}")).says(404, "Intention not found");
            get(t, "").is(200, "[]");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/intention/shown-in-1-8",
        claim: "All fields of an intention are shown, the hash of its contents and the times among them, without index headers for one",
        source: "operator.md 4.5.r2",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            let body = json!({"SourceName": "*", "DestinationName": "db", "Action": "deny", "Description": "d", "DefaultAddr": "1.2.3.4", "DefaultPort": 80, "Meta": {"k": "v"}});
            let id = create(t, &body.to_string()).json()["ID"].clone();
            let id = id.as_str().unwrap_or_default().to_owned();
            let answer = get(t, &format!("/{id}")).has_no_header("X-Consul-Index");
            let one = answer.json();
            let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            let (created, hash) = (text("CreatedAt"), text("Hash"));
            t.same("the length of the hash", hash.len(), 44);
            let index = &one["CreateIndex"];
            answer.is(
                200,
                &format!(
                    "{{\"ID\":\"{id}\",\"Description\":\"d\",\"SourceNS\":\"default\",\"SourceName\":\"*\",\"DestinationNS\":\"default\",\"DestinationName\":\"db\",\"SourceType\":\"consul\",\"Action\":\"deny\",\"DefaultAddr\":\"1.2.3.4\",\"DefaultPort\":80,\"Meta\":{{\"k\":\"v\"}},\"Precedence\":8,\"CreatedAt\":\"{created}\",\"UpdatedAt\":\"{created}\",\"Hash\":\"{hash}\",\"CreateIndex\":{index},\"ModifyIndex\":{index}}}"
                ),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/refusals-in-1-8",
        claim: "All flaws of an intention are told together; one between the same services, in any case, is a duplicate",
        source: "operator.md 4.5.r5, 4.5.r6",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            let id = made(t, "web", "db", "allow");
            create(t, &of("WEB", "Db", "deny").to_string()).says(
                500,
                &format!("duplicate intention found: ALLOW default/web => default/db (ID: {id}, Precedence: 9)"),
            );
            for (body, text) in [
                ("", "Failed to decode request body: EOF"),
                (
                    r#"{"Bogus":1}"#,
                    "Failed to decode request body: json: unknown field \"Bogus\"",
                ),
                (
                    r#"{"SourceName":5}"#,
                    "Failed to decode request body: json: cannot unmarshal number into Go struct field .SourceName of type string",
                ),
                (
                    r#"{"ID":"x"}"#,
                    "ID must be empty when creating a new intention",
                ),
                (
                    "null",
                    "3 errors occurred:\n\t* SourceName must be set\n\t* DestinationName must be set\n\t* Action must be set to 'allow' or 'deny'\n\n",
                ),
                (
                    r#"{"SourceNS":"*z","SourceName":"a*","DestinationNS":"*","DestinationName":"b","SourceType":"x","Action":"ALLOW"}"#,
                    "5 errors occurred:\n\t* SourceNS: wildcard character '*' cannot be used with partial values\n\t* SourceName: wildcard character '*' cannot be used with partial values\n\t* DestinationName: exact value cannot follow wildcard namespace\n\t* Action must be set to 'allow' or 'deny'\n\t* SourceType must be set to 'consul'\n\n",
                ),
            ] {
                create(t, body).says(500, text);
            }
            replace(t, &id, "{").says(400, "Bad request: Request decode failed: unexpected EOF");
            replace(t, &id, r#"{"Action":"deny"}"#).says(
                500,
                "2 errors occurred:\n\t* SourceName must be set\n\t* DestinationName must be set\n\n",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/unknown-ids-in-1-8",
        claim: "An id that is no UUID is refused in other words by reads and by changes; `exact` is one",
        source: "operator.md 4.5.r4",
        until: Some(Version::V1_9),
        run: |t| {
            let lookup = "failed intention lookup: index error: UUID must be 36 characters";
            for id in ["nope", "", "exact?source=a&destination=b"] {
                get(t, &format!("/{id}")).says(400, &format!("Bad request: {lookup}"));
            }
            let body = of("a", "b", "deny").to_string();
            let refused = format!("Intention lookup failed: {lookup}");
            replace(t, "nope", &body).says(500, &refused);
            remove(t, "nope").says(500, &refused);
            get(t, &format!("/{MISSING}")).says(404, "Intention not found");
            let text = |verb: &str| format!("Cannot {verb} non-existent intention: '{MISSING}'");
            replace(t, MISSING, &body).says(500, &text("modify"));
            remove(t, MISSING).says(500, &text("delete"));
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/match-and-check",
        claim: "Intentions are listed and matched with the most exact ones first, and the most exact one decides",
        source: "operator.md 4.5.r3, 4.5.r7, 4.5.r8",
        needs: &[Feature::OwnServer],
        run: |t| {
            made(t, "*", "*", "deny");
            made(t, "a", "*", "allow");
            made(t, "*", "b", "allow");
            made(t, "web", "b", "deny");
            t.same(
                "the list",
                ends(&get(t, "").list()),
                ["web b", "* b", "a *", "* *"].map(str::to_owned).to_vec(),
            );
            let found = get(t, "/match?by=destination&name=b&name=c").json();
            let of = |name: &str| ends(found[name].as_array().map_or(&[], Vec::as_slice));
            t.same(
                "those of b",
                of("b"),
                ["web b", "* b", "a *", "* *"].map(str::to_owned).to_vec(),
            );
            t.same(
                "those of c",
                of("c"),
                ["a *", "* *"].map(str::to_owned).to_vec(),
            );
            let found = get(t, "/match?by=source&name=a").json();
            let found = ends(found["a"].as_array().map_or(&[], Vec::as_slice));
            t.same(
                "those from a",
                found,
                ["* b", "a *", "* *"].map(str::to_owned).to_vec(),
            );
            for (from, to, allowed) in [
                ("web", "b", false),
                ("x", "b", true),
                ("a", "c", true),
                ("x", "c", false),
            ] {
                get(t, &format!("/check?source={from}&destination={to}"))
                    .is(200, &format!("{{\"Allowed\":{allowed}}}"));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/intention/parameters-in-1-8",
        claim: "Matches and checks name what is missing or unknown; no intention at all is `null`, and allows",
        source: "operator.md 4.5.r7, 4.5.r8",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            let required = |name: &str| format!("required query parameter '{name}' not set");
            get(t, "/match").says(500, &required("by"));
            get(t, "/match?by=source").says(500, &required("name"));
            get(t, "/match?by=bogus").says(
                500,
                "'by' parameter must be one of 'source' or 'destination'",
            );
            get(t, "/match?by=source&name=a/b/c").says(
                500,
                "name \"a/b/c\" is invalid: input can contain at most one '/'",
            );
            get(t, "/match?by=source&name=web&name=ns/b")
                .is(200, r#"{"ns/b":null,"web":null}"#)
                .has_no_header("X-Consul-Index");
            get(t, "/check?destination=b").says(500, &required("source"));
            get(t, "/check?source=a&destination=b&destination=c")
                .says(500, &required("destination"));
            get(t, "/check?source=a&destination=b&source-type=bogus")
                .says(500, "unsupported SourceType: \"bogus\"");
            get(t, "/check?source=default/a&destination=x/b").is(200, r#"{"Allowed":true}"#);
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/order-of-a-check",
        claim: "A check looks at the names, then at the datacenter, then at the type of its source; the name of another type may be anything",
        source: "operator.md 4.5.r8",
        run: |t| {
            let check = |query: &str| get(t, &format!("/check?{query}"));
            check("destination=b&dc=nope").says(500, "required query parameter 'source' not set");
            let of_other_type = "source=a/b/c/d&destination=b&source-type=x";
            check(of_other_type).says(500, "unsupported SourceType: \"x\"");
            check(&format!("{of_other_type}&dc=nope")).is(500, "No path to datacenter");
            for (query, field) in [
                ("source=a/b/c/d&destination=b&source-type=consul", "source"),
                ("source=a&destination=a/b/c/d&source-type=x", "destination"),
            ] {
                let refused = check(&format!("{query}&dc=nope"));
                let expected = format!("{field} \"a/b/c/d\" is invalid: ");
                let text = refused.text();
                t.check(text.starts_with(&expected), &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/filter",
        claim: "A filter of the list names what intentions show, but for times, hash and indexes; since 1.9 they have no default port",
        source: "operator.md 4.5.r3b",
        needs: &[Feature::OwnServer],
        run: |t| {
            let unknown = |field: &str| {
                format!(
                    "Failed to create boolean expression evaluator: Selector \"{field}\" is not valid"
                )
            };
            made(t, "a", "b", "allow");
            made(t, "a", "c", "deny");
            let mut labelled = of("*", "b", "deny");
            labelled["Meta"] = json!({"x": "y"});
            create(t, &labelled.to_string()).status_is(200);
            for (filter, expected) in [
                ("SourceName==a", vec!["a b", "a c"]),
                ("Action==deny", vec!["a c", "* b"]),
                ("Meta.x==y", vec!["* b"]),
                ("%22x%22%20in%20Meta", vec!["* b"]),
                ("Meta%20is%20empty", vec!["a b", "a c"]),
                ("Precedence!=9", vec!["* b"]),
                (
                    "DefaultPort==0%20and%20not%20DestinationName==b",
                    vec!["a c"],
                ),
                ("SourceName%20matches%20%22%5Ea%22", vec!["a b", "a c"]),
                ("ID==x", vec![]),
            ] {
                let found = get(t, &format!("?filter={filter}"));
                if filter.starts_with("DefaultPort") && t.since(Version::V1_9) {
                    found.is(500, &unknown("DefaultPort"));
                    continue;
                }
                t.same(
                    filter,
                    ends(&found.list()),
                    expected.into_iter().map(str::to_owned).collect(),
                );
            }
            for field in [
                "CreatedAt",
                "UpdatedAt",
                "Hash",
                "CreateIndex",
                "ModifyIndex",
                "None",
            ] {
                get(t, &format!("?filter={field}==1"))
                    .is(500, &unknown(field))
                    .header_is("X-Consul-Knownleader", "false");
            }
            get(t, "?filter=zork&dc=nope").is(500, "No path to datacenter");
            get(t, "/match?by=source&name=a&filter=zork").status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/match-uncached-in-1-8",
        claim: "match does not look at cached",
        source: "session.md 4.5c",
        until: Some(Version::V1_10),
        run: |t| {
            let name = t.node("nobody");
            for _ in 0..2 {
                get(t, &format!("/match?by=source&name={name}&cached"))
                    .is(200, &format!(r#"{{"{name}":null}}"#))
                    .has_no_header("X-Cache");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/match-cached-since-1-22",
        claim: "match can be read from the cache, which tells sides and names apart",
        source: "session.md 4.5c",
        since: Version::V1_22,
        run: |t| {
            let name = t.node("x");
            for query in ["by=source", "by=destination"] {
                for state in ["MISS", "HIT"] {
                    get(t, &format!("/match?{query}&name={name}&cached"))
                        .status_is(200)
                        .header_is("X-Cache", state);
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/waiting",
        claim: "A list of intentions waits for the next one, whatever else is written",
        source: "operator.md 4.5.r3",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            made(t, "a", "b", "allow");
            let index = get(t, "").index();
            let list = t.start(&Request::get(&format!("{PATH}?index={index}&wait=60s")));
            t.api_put("/v1/kv/a", "1").is(200, "true");
            t.api_put("/v1/config", r#"{"Kind":"service-defaults","Name":"a"}"#)
                .is(200, "true");
            t.still_blocked(&list);
            made(t, "a", "c", "allow");
            t.same("the intentions", list.answer().list().len(), 2);
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/intention/permissions-since-1-22",
        claim: "An intention may have permissions in place of an action, and is shown with them",
        source: "operator.md 4.5.r10",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let http = json!({"Kind": "service-defaults", "Name": "db", "Protocol": "http"});
            t.api_put("/v1/config", http.to_string()).is(200, "true");
            let permissions =
                json!([{"Action": "allow", "HTTP": {"PathPrefix": "/", "Methods": ["GET"]}}]);
            let exact = format!("{PATH}/exact?source=web&destination=db");
            t.api_put(&exact, json!({"Permissions": permissions}).to_string())
                .is(200, "true");
            let shown = t.api_get(&exact).status_is(200).json();
            t.same(
                "the permissions",
                shown["Permissions"].clone(),
                permissions.clone(),
            );
            t.same("the action", shown["Action"].clone(), Value::Null);
            let entry = t.api_get("/v1/config/service-intentions/db").json();
            t.same(
                "the source",
                entry["Sources"][0]["Permissions"].clone(),
                permissions,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/types-have-names",
        claim: "The texts about an action and a kind of source of another JSON type name Consul's types",
        source: "operator.md 4.5.r5",
        run: |t| {
            create(t, r#"{"Action":1}"#).says(500, ".Action of type structs.IntentionAction");
            create(t, r#"{"SourceType":[]}"#)
                .says(500, ".SourceType of type structs.IntentionSourceType");
        },
        ..Case::REAL
    },
];
