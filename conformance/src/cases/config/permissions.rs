//! Intentions as later releases keep them, in entries: what is refused, and what they are to who asks by ids and names
//! (operator.md 4.5).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{PATH, remove, set, write};
use crate::wire::Request;
use crate::wire::answer::Answer;

const INTENTIONS: &str = "/v1/connect/intentions";
const L7: &str =
    "service \"web\" has protocol \"tcp\", which is incompatible with L7 intentions permissions";

fn create(t: &Trial, body: &Value) -> Answer {
    t.send(&Request::new("POST", INTENTIONS).body(body.to_string()))
}

fn exact(t: &Trial, source: &str, destination: &str, body: &Value) -> Answer {
    let path = format!("{INTENTIONS}/exact?source={source}&destination={destination}");
    t.api_put(&path, body.to_string())
}

fn get(t: &Trial, rest: &str) -> Answer {
    t.api_get(&format!("{INTENTIONS}{rest}"))
}

/// The entry of a service of which another one may ask what these permissions say.
fn entry(destination: &str, permissions: &Value) -> Value {
    let source = json!({"Name": "a", "Permissions": permissions});
    json!({"Kind": "service-intentions", "Name": destination, "Sources": [source]})
}

fn sources(destination: &str, sources: &Value) -> Value {
    json!({"Kind": "service-intentions", "Name": destination, "Sources": sources})
}

fn protocol(kind: &str, name: &str, protocol: &str) -> Value {
    match kind {
        "proxy-defaults" => json!({"Kind": kind, "Name": name, "Config": {"protocol": protocol}}),
        _ => json!({"Kind": kind, "Name": name, "Protocol": protocol}),
    }
}

/// Permissions that are refused, with what stands behind `Sources[0].Permissions[0].`.
fn refused() -> Vec<(Value, &'static str)> {
    let http = |http: Value| json!([{"Action": "allow", "HTTP": http}]);
    let header = |matcher: Value| http(json!({"Header": [matcher]}));
    let ways = "HTTP.Header[0] should only contain one of Present, Exact, Prefix, Suffix, Contains, or Regex";
    vec![
        (json!([{"Action": "allow"}]), "HTTP is required"),
        (http(Value::Null), "HTTP is required"),
        (http(json!({})), "HTTP should not be empty"),
        (
            json!([{"HTTP": {"PathPrefix": "/"}}]),
            "Action must be set to 'allow' or 'deny'",
        ),
        (
            json!([{"Action": "x", "HTTP": {"PathPrefix": "/"}}]),
            "Action must be set to 'allow' or 'deny'",
        ),
        (
            http(json!({"PathExact": "/a", "PathPrefix": "/"})),
            "HTTP should only contain at most one of PathExact, PathPrefix, or PathRegex",
        ),
        (
            http(json!({"PathExact": "x"})),
            "HTTP.PathExact doesn't start with '/': \"x\"",
        ),
        (
            http(json!({"PathPrefix": "a"})),
            "HTTP.PathPrefix doesn't start with '/': \"a\"",
        ),
        (header(json!({"Name": "x"})), ways),
        (
            header(json!({"Name": "x", "Exact": "a", "Prefix": "b"})),
            ways,
        ),
        (
            header(json!({"Present": true})),
            "HTTP.Header[0] missing required Name field",
        ),
        (
            http(json!({"Methods": ["FOO"]})),
            "HTTP.Methods contains an invalid method \"FOO\"",
        ),
        (
            http(json!({"Methods": ["GET", "GET"]})),
            "HTTP.Methods contains \"GET\" more than once",
        ),
    ]
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/intention/wrong-permissions-since-1-22",
        claim: "Permissions that cannot be are refused with where they stand, in entries and by names",
        source: "operator.md 4.5.r10",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &protocol("service-defaults", "web", "http"));
            for (permissions, text) in refused() {
                let text = format!("Sources[0].Permissions[0].{text}");
                write(t, &entry("web", &permissions)).is(500, &text);
                exact(t, "a", "web", &json!({"Permissions": permissions})).is(500, &text);
            }
            let well = json!([
                {"Action": "allow", "HTTP": {"PathRegex": "(", "Methods": ["get"]}},
                {"Action": "deny", "HTTP": {"Header": [{"Name": "x", "Contains": "y"}]}},
            ]);
            set(t, &entry("web", &well));
            write(t, &entry("*", &well)).is(
                500,
                "Sources[0].Permissions cannot be specified on intentions with wildcarded destinations",
            );
            let both = json!({"Action": "allow", "Permissions": well});
            let text = "Sources[0].Action must be omitted if Permissions are specified";
            exact(t, "a", "web", &both).is(500, text);
            exact(t, "a", "web", &json!({}))
                .is(500, "Sources[0].Action must be set to 'allow' or 'deny'");
            exact(t, "a", "web", &json!({"Permissions": [], "Action": "deny"})).is(200, "true");
            for (body, name) in [
                (json!({"Bogus": 1}), "Bogus"),
                (
                    json!({"Permissions": [{"HTTP": {"path_exact": "/"}}]}),
                    "path_exact",
                ),
            ] {
                let text = format!("Request decode failed: json: unknown field \"{name}\"");
                exact(t, "a", "web", &body).is(400, &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/wrong-entries-since-1-22",
        claim: "An entry has sources, each of them once and of a known type, no name that is partly wild, and providers of tokens that are there",
        source: "operator.md 4.5.r11",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let partly = "wildcard character '*' cannot be used with partial values";
            let allow = |name: &str| json!({"Name": name, "Action": "allow"});
            for (name, list, text) in [
                ("b", json!([]), "At least one source is required".to_owned()),
                (
                    "b",
                    json!([allow("a*")]),
                    format!("Sources[0].Name: {partly}"),
                ),
                ("b*", json!([allow("a")]), format!("Name: {partly}")),
                (
                    "b",
                    json!([allow("a"), allow("a")]),
                    "Sources[1] defines \"a\" more than once".to_owned(),
                ),
                (
                    "b",
                    json!([{"Name": "a", "Action": "deny", "Type": "x"}]),
                    "Sources[0].Type must be set to 'consul'".to_owned(),
                ),
                (
                    "b",
                    json!([{"Name": "a"}]),
                    "Sources[0].Action must be set to 'allow' or 'deny'".to_owned(),
                ),
            ] {
                write(t, &sources(name, &list)).is(500, &text);
            }
            let mut tokens = sources("b", &json!([allow("a")]));
            tokens["JWT"] = json!({"Providers": [{"Name": "o"}]});
            write(t, &tokens).is(
                500,
                "1 error occurred:\n\t* Referenced JWT Provider does not exist. Provider Name: o\n\n",
            );
            let mut legacy = allow("a");
            legacy["LegacyID"] = json!("x");
            set(t, &sources("b", &json!([legacy])));
            let kept = t.api_get(&format!("{PATH}/service-intentions/b")).json();
            t.same("the id", kept["Sources"][0].get("LegacyID"), None);
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/protocol-stays-since-1-22",
        claim: "The protocol under permissions can be neither changed nor deleted",
        source: "operator.md 4.5.r10, 4.2.r17",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let permissions = json!([{"Action": "allow", "HTTP": {"PathPrefix": "/"}}]);
            write(t, &entry("web", &permissions)).is(500, L7);
            for (kind, name) in [("proxy-defaults", "global"), ("service-defaults", "web")] {
                set(t, &protocol(kind, name, "http"));
                set(t, &entry("web", &permissions));
                write(t, &protocol(kind, name, "tcp")).is(500, L7);
                if kind == "proxy-defaults" {
                    remove(t, "proxy-defaults/global").is(500, L7);
                }
            }
            remove(t, "proxy-defaults/global").is(200, "{}");
            remove(t, "service-defaults/web").is(500, L7);
            remove(t, "service-intentions/web").is(200, "{}");
            remove(t, "service-defaults/web").is(200, "{}");
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/by-id-since-1-22",
        claim: "An intention with an id shows its times and hash, stays with its destination, and is refused once the entry was written as one",
        source: "operator.md 4.5.r1, 4.5.r2, 4.5.r4, 4.5.r5, 4.5.r12",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let of = |source: &str, destination: &str| json!({"SourceName": source, "DestinationName": destination, "Action": "allow"});
            create(t, &json!({})).is(403, "Permission denied");
            create(t, &Value::Null).is_closed();
            let mut other = of("a", "b");
            other["SourceNS"] = json!("x");
            create(t, &other).is(
                400,
                "Invalid SourceNS(x): Namespaces is a Consul Enterprise feature",
            );
            let mut permissions = of("a", "b");
            permissions["Permissions"] = json!([{"Action": "allow", "HTTP": {"PathPrefix": "/"}}]);
            let text = "Permissions must not be set when using the legacy APIs";
            create(t, &permissions).is(500, &format!("1 error occurred:\n\t* {text}\n\n"));
            permissions["Action"] = json!("");
            create(t, &permissions).is(
                500,
                &format!("2 errors occurred:\n\t* Action must be set to 'allow' or 'deny'\n\t* {text}\n\n"),
            );
            let created = create(t, &of("a", "b")).status_is(200);
            let id = created.json()["ID"].as_str().unwrap_or_default().to_owned();
            create(t, &of("a", "b")).is(500, "Sources[1] defines \"a\" more than once");
            let shown = get(t, &format!("/{id}")).status_is(200);
            let one = shown.json();
            let (time, hash, index) = (&one["CreatedAt"], &one["Hash"], &one["CreateIndex"]);
            t.same(
                "the length of the hash",
                hash.as_str().map(str::len),
                Some(44),
            );
            shown.is(
                200,
                &format!(
                    "{{\"CreatedAt\":{time},\"UpdatedAt\":{time},\"ID\":\"{id}\",\"SourceNS\":\"default\",\"SourceName\":\"a\",\"DestinationNS\":\"default\",\"DestinationName\":\"b\",\"SourceType\":\"consul\",\"Action\":\"allow\",\"Precedence\":9,\"Hash\":{hash},\"CreateIndex\":{index},\"ModifyIndex\":{index}}}"
                ),
            );
            let moved = "Cannot modify Destination partition/namespace/name for an intention once it exists.";
            let put =
                |id: &str, body: &Value| t.api_put(&format!("{INTENTIONS}/{id}"), body.to_string());
            put(&id, &json!({})).is(500, moved);
            put(&id, &of("a", "c")).is(500, moved);
            let lookup = "failed config entry lookup: index error: UUID must be 36 characters";
            get(t, "/nope").is(400, lookup);
            put("nope", &json!({})).is(500, &format!("Intention lookup failed: {lookup}"));
            get(t, "/").is(404, "Intention not found");
            t.send(&Request::delete(&format!("{INTENTIONS}/")))
                .is(403, "Permission denied");
            exact(t, "d", "b", &json!({"Action": "deny", "Meta": {"a": "b"}})).is(
                500,
                "Meta must not be specified, or should be unchanged during an update.",
            );
            exact(t, "d", "b", &json!({"Action": "deny"})).is(200, "true");
            create(t, &of("e", "b")).is(
                500,
                "cannot use legacy intention API to edit intentions with a destination of \"b\" after editing them via a service-intentions config entry",
            );
            let mut labelled = of("*", "c");
            labelled["Meta"] = json!({"k": "v"});
            create(t, &labelled).status_is(200);
            exact(t, "a", "c", &json!({"Action": "allow"}))
                .is(500, "Sources[1].LegacyMeta must be omitted");
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/names-since-1-22",
        claim: "The names of sources are told by their case; namespaces and partitions are refused by who reads",
        source: "operator.md 4.5.r3, 4.5.r7, 4.5.r8, 4.5.r13",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            exact(t, "WEB", "b", &json!({"Action": "deny"})).is(200, "true");
            get(t, "/check?source=web&destination=b").is(200, r#"{"Allowed":true}"#);
            get(t, "/check?source=WEB&destination=b").is(200, r#"{"Allowed":false}"#);
            get(t, "/match?by=source&name=web").is(200, r#"{"web":null}"#);
            let feature = "Namespaces is a Consul Enterprise feature";
            get(t, "/match?by=source&name=a/b/c")
                .is(
                    500,
                    &format!("Invalid match entry namespace \"b\": {feature}"),
                )
                .header_is("X-Consul-Knownleader", "false");
            get(t, "/check?source=a/b/c&destination=d")
                .is(500, &format!("Invalid source namespace \"b\": {feature}"))
                .has_no_header("X-Consul-Knownleader");
            exact(t, "a/b/c", "d", &json!({"Action": "allow"})).is(200, "true");
            get(t, "/exact?source=c&destination=d").field_is("/SourceName", "c");
            get(t, "/exact?source=b/c&destination=d")
                .is(500, &format!("Invalid SourceNS \"b\": {feature}"));
            for path in ["", "/match", "/check"] {
                get(t, &format!("{path}?ns=x")).is(
                    400,
                    "Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature",
                );
            }
            get(t, "?partition=x").is(
                400,
                "Invalid query parameter: \"partition\" - Partitions are a Consul Enterprise feature",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/intention/match-waits-for-its-destination-since-1-22",
        claim: "Who waits for the intentions to a service is not woken by those to another one",
        source: "operator.md 4.5.r3",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let allow = json!({"Action": "allow"});
            exact(t, "a", "b", &allow).is(200, "true");
            let path = "/match?by=destination&name=b";
            let index = get(t, path).index();
            let path = format!("{INTENTIONS}{path}&index={index}&wait=60s");
            let waiting = t.start(&Request::get(&path));
            exact(t, "a", "c", &allow).is(200, "true");
            t.still_blocked(&waiting);
            exact(t, "c", "b", &allow).is(200, "true");
            let found = waiting.answer().json();
            t.same(
                "the intentions",
                found["b"].as_array().map(Vec::len),
                Some(2),
            );
        },
        ..Case::REAL
    },
];
