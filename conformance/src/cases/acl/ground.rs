//! What all ACL endpoints have in common: statuses, headers, indexes, methods, parameters (acl.md 0).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{
    BASE, NOBODY, ROOT, SETTINGS, delete, get, granted, policy, put, ready, text, with,
};
use crate::cases::support::session::QUIET;
use crate::wire::Request;

/// A server without ACLs. The case has it to itself, because it shows what a fresh server does.
const OFF: &str = r#"{"acl": {"enabled": false}}"#;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/ground/statuses",
        claim: "Bad values are 500 and bad JSON 400; a text that contains the words of a denial or of a missing token is 403",
        source: "acl.md 0.1, trap 1",
        run: |t| {
            ready(t);
            put(t, "token", r#"{"Policies":[{"Name":"none"}]}"#)
                .is(500, "No such ACL policy with name \"none\"");
            put(t, "token", "{").status_is(400);
            for words in ["Permission denied", "so ACL not found here"] {
                let body = json!({"Policies": [{ "Name": words }]}).to_string();
                put(t, "token", &body)
                    .is(403, &format!("No such ACL policy with name \"{words}\""));
            }
        },
        ..BASE
    },
    Case {
        id: "acl/ground/words-without-acls",
        claim: "Without ACLs, too, an error whose text has the words of a denial or of an unknown token is 403",
        source: "acl.md 0.1",
        needs: &[],
        settings: "",
        run: |t| {
            let behavior = r#"{"Behavior": "Permission denied"}"#;
            t.api_put("/v1/session/create", behavior)
                .says(403, "Invalid Behavior setting 'Permission denied'");
            t.api_put("/v1/kv/k?flags=ACL%20not%20found", "v")
                .says(403, "parsing \"ACL not found\"");
            t.api_put("/v1/session/create", r#"{"Behavior": "permission denied"}"#)
                .status_is(500);
        },
        ..BASE
    },
    Case {
        id: "acl/ground/headers-of-reads",
        claim: "Reads have the headers of a read without a consistency; writes, the replication's status and authorize have none of them",
        source: "acl.md 0.4, 5.13, 2.11.r10",
        run: |t| {
            ready(t);
            let made = policy(t, "p1");
            for path in [
                "policies",
                "tokens",
                "roles",
                "auth-methods",
                "binding-rules",
                "token/self",
                "token/00000000-0000-0000-0000-000000000002",
                &format!("policy/{made}"),
                "policy/name/p1",
            ] {
                get(t, path)
                    .status_is(200)
                    .has_header("X-Consul-Index")
                    .header_is("X-Consul-Knownleader", "true")
                    .header_is("X-Consul-Lastcontact", "0")
                    .has_no_header("X-Consul-Effective-Consistency");
            }
            let authorize = Request::new("POST", "/v1/internal/acl/authorize").body("[]");
            for answer in [
                get(t, "replication"),
                with(t, ROOT, &authorize),
                put(t, &format!("policy/{made}"), r#"{"Name":"p1"}"#),
                put(t, "role", r#"{"Name":"r1"}"#),
                put(t, "token", "{}"),
                delete(t, &format!("policy/{made}")),
            ] {
                answer
                    .status_is(200)
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/ground/headers-since-1-22",
        claim: "Every answer says the default policy, and reads say that they are blocking queries",
        source: "acl.md 0.3, 2.11.r9, 13.r15",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            get(t, "policies")
                .header_is("X-Consul-Default-Acl-Policy", "deny")
                .header_is("X-Consul-Query-Backend", "blocking-query");
            for answer in [
                t.api_get("/v1/acl/policies"),
                put(t, "policy", "{"),
                put(t, "token", "{}"),
            ] {
                answer.header_is("X-Consul-Default-Acl-Policy", "deny");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/ground/one-index-each",
        claim: "A write that passes its checks takes one index, also one that changes nothing; one that is refused takes none",
        source: "acl.md 0.5, 4.11, 5.19",
        run: |t| {
            ready(t);
            let index = |answer: crate::wire::answer::Answer| {
                let json = answer.status_is(200).json();
                json["ModifyIndex"].as_u64().unwrap_or_default()
            };
            let mut tries = 0;
            // A server that has just started writes something itself now and then.
            t.eventually("one index each", QUIET, || {
                tries += 1;
                let body = format!(r#"{{"Name":"p{tries}"}}"#);
                let made = put(t, "policy", &body);
                let path = format!("policy/{}", text(&made, "/ID"));
                let first = index(made);
                put(t, "policy", &body).status_is(500);
                put(t, "policy", "{}").status_is(500);
                let second = index(put(t, &path, &body));
                let third = index(put(t, &path, &body));
                let token = put(t, "token", "{}");
                let path = format!("token/{}", text(&token, "/AccessorID"));
                let fourth = index(token);
                put(t, "token", r#"{"SecretID":"x"}"#).status_is(500);
                let fifth = index(put(t, &path, "{}"));
                let steps = [1, 2, 3, 4].map(|step| first + step);
                ([second, third, fourth, fifth] == steps).then_some(())
            });
        },
        ..BASE
    },
    Case {
        id: "acl/ground/off",
        claim: "Without ACLs tokens are ignored and all ACL endpoints are 401, after methods and paths and before bodies",
        source: "acl.md 0.6",
        settings: OFF,
        run: |t| {
            for token in [NOBODY, "deny", ""] {
                with(t, token, &Request::put("/v1/kv/k", "v")).is(200, "true");
                with(t, token, &Request::get("/v1/kv/?keys")).status_is(200);
                for path in [
                    "policies",
                    "policy/nope",
                    "tokens",
                    "token/self",
                    "roles",
                    "policy/",
                    "replication",
                ] {
                    let read = Request::get(&format!("/v1/acl/{path}"));
                    with(t, token, &read).is(401, "ACL support disabled");
                }
                for path in ["bootstrap", "policy", "token", "role"] {
                    let write = Request::put(&format!("/v1/acl/{path}"), "{");
                    with(t, token, &write).is(401, "ACL support disabled");
                }
                for path in ["acl/login", "acl/logout", "internal/acl/authorize"] {
                    let post = Request::new("POST", &format!("/v1/{path}")).body("{");
                    with(t, token, &post).is(401, "ACL support disabled");
                }
            }
            t.send(&Request::new("POST", "/v1/acl/policies"))
                .status_is(405);
            t.api_get("/v1/acl/nothing").status_is(404);
        },
        ..BASE
    },
    Case {
        id: "acl/ground/parameters",
        claim: "Reads in an unknown datacenter are refused and writes are not; namespaces are unknown, filters ignored",
        source: "acl.md 0.7",
        run: |t| {
            ready(t);
            get(t, "policies?dc=other")
                .is(500, "No path to datacenter")
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Knownleader", "false");
            put(t, "policy?dc=other", r#"{"Name":"p1"}"#).status_is(200);
            // A secret of chance would decide its place in the list.
            let last = "ffffffff-ffff-4fff-8fff-ffffffffffff";
            let body = json!({"AccessorID": last, "SecretID": last}).to_string();
            put(t, "token?dc=other", &body).status_is(200);
            put(t, "role?dc=other", r#"{"Name":"r1"}"#).status_is(200);
            for path in ["policies?ns=x", "tokens?ns=x", "policy/name/p1?ns=x"] {
                get(t, path).says(
                    400,
                    "Invalid query parameter: \"ns\" - Namespaces are a Consul Enterprise feature",
                );
            }
            get(t, "token/self?ns=x").status_is(200);
            get(t, "policies?filter=bad").status_is(200);
            get(t, "tokens?stale").status_is(200);
            get(t, "tokens?consistent").status_is(200);
            get(t, "token/self?stale&consistent").status_is(400);
            get(t, "token/self?index=x").status_is(400);
        },
        ..BASE
    },
    Case {
        id: "acl/ground/methods",
        claim: "Other methods are 405 with the ones that there are; a slash at the end of a list is another path",
        source: "acl.md 0.8",
        run: |t| {
            ready(t);
            for (method, path, allow) in [
                ("GET", "policy", "OPTIONS,PUT"),
                ("POST", "token", "OPTIONS,PUT"),
                ("DELETE", "role", "OPTIONS,PUT"),
                ("GET", "bootstrap", "OPTIONS,PUT"),
                ("PUT", "policies", "OPTIONS,GET"),
                ("POST", "tokens", "OPTIONS,GET"),
                ("PUT", "token/self", "OPTIONS,GET"),
                ("PUT", "policy/name/x", "OPTIONS,GET"),
                ("POST", "policy/x", "OPTIONS,GET,PUT,DELETE"),
                ("POST", "token/x", "OPTIONS,GET,PUT,DELETE"),
                ("PATCH", "role/x", "OPTIONS,GET,PUT,DELETE"),
                ("GET", "login", "OPTIONS,POST"),
                ("PUT", "logout", "OPTIONS,POST"),
            ] {
                t.send(&Request::new(method, &format!("/v1/acl/{path}")))
                    .status_is(405)
                    .header_is("Allow", allow);
            }
            for path in ["tokens/", "policies/", "bootstrap/"] {
                get(t, path).status_is(404);
            }
            get(t, "policy/name")
                .status_is_one_of(&[301, 307])
                .header_is("Location", "/v1/acl/policy/name/");
        },
        ..BASE
    },
    Case {
        id: "acl/ground/bodies",
        claim: "Fields have their names in any case, what the server makes is ignored, what follows the object too, and chunks are read",
        source: "acl.md 0.9",
        run: |t| {
            ready(t);
            let body = r#"{"nAME":"p1","description":"d","Hash":"aGFzaA==","CreateIndex":7,"ModifyIndex":8} and more"#;
            let made = put(t, "policy", body)
                .status_is(200)
                .field_is("/Name", "p1")
                .field_is("/Description", "d")
                .json();
            t.check(made["CreateIndex"] != 7, "the index is that of the body");
            t.check(made["Hash"] != "aGFzaA==", "the Hash is that of the body");
            let body = r#"{"description":"d","CreateTime":"2001-01-01T00:00:00Z","Hash":"aGFzaA==","ModifyIndex":8}}"#;
            let made = put(t, "token", body).field_is("/Description", "d").json();
            t.check(
                made["CreateTime"] != "2001-01-01T00:00:00Z",
                "the time is that of the body",
            );
            let chunks = Request::new("PUT", "/v1/acl/role").chunked(&[b"{\"Name\":", b"\"r1\"}"]);
            with(t, ROOT, &chunks).field_is("/Name", "r1");
        },
        ..BASE
    },
    Case {
        id: "acl/ground/rights-of-each-endpoint",
        claim: "acl:read reads all of ACLs and acl:write changes them; nothing else does, and who reads sees no secrets",
        source: "acl.md 7.r37, 5.14",
        run: |t| {
            ready(t);
            let (_, reader) = granted(t, "reader", "acl = \"read\"");
            let (_, other) = granted(
                t,
                "other",
                "operator = \"write\" key_prefix \"\" { policy = \"write\" }",
            );
            let policy = policy(t, "p1");
            let reads = [
                "policies",
                "tokens",
                "roles",
                "auth-methods",
                "binding-rules",
                "policy/name/p1",
                &format!("policy/{policy}"),
            ];
            for path in reads {
                let read = Request::get(&format!("/v1/acl/{path}"));
                with(t, &reader, &read).status_is(200);
                with(t, &other, &read).says(403, "Permission denied");
                with(t, NOBODY, &read).says(403, "ACL not found");
            }
            for (path, body) in [
                ("policy", r#"{"Name":"p2"}"#),
                ("token", "{}"),
                ("role", r#"{"Name":"r2"}"#),
                ("auth-method", "{}"),
                ("binding-rule", "{}"),
            ] {
                let write = Request::put(&format!("/v1/acl/{path}"), body);
                for token in [reader.as_str(), &other, ""] {
                    with(t, token, &write).says(403, "Permission denied");
                }
                with(t, NOBODY, &write).says(403, "ACL not found");
            }
            for kind in ["policy", "token", "role"] {
                let delete = Request::delete(&format!("/v1/acl/{kind}/{NOBODY}"));
                with(t, &reader, &delete).says(403, "Permission denied");
            }
            let listed = with(t, &reader, &Request::get("/v1/acl/tokens")).text();
            t.check(!listed.contains(ROOT), "a list shows a secret");
        },
        ..BASE
    },
    Case {
        id: "acl/ground/words-of-denials-since-1-15",
        claim: "A denial names the token, the right and the name it is missing on, unescaped; a right without a name stands alone",
        source: "acl.md 2.11.r1, 2.11.r2, 2.11.r3, 2.11.r4, 2.11.r7, 13.r2, 13.r17",
        since: Version::V1_15,
        settings: SETTINGS,
        run: |t| {
            ready(t);
            let (accessor, secret) = granted(t, "p", "agent \"none\" { policy = \"read\" }");
            let anonymous =
                "The anonymous token is used implicitly when a request does not specify a token.";
            let denied = |request: &Request, right: &str| {
                let lacks = format!("lacks permission {right}");
                with(t, &secret, request).is(
                    403,
                    &format!("Permission denied: token with AccessorID '{accessor}' {lacks}"),
                );
                t.send(request).is(
                    403,
                    &format!("Permission denied: anonymous token {lacks}. {anonymous}"),
                );
            };
            let node = t.facts().node.clone();
            for (path, right) in [
                ("kv/app/a", "'key:read' on \"app/a\"".to_owned()),
                ("kv/a%22b", "'key:read' on \"a\"b\"".to_owned()),
                ("agent/self", format!("'agent:read' on \"{node}\"")),
                ("acl/policies", "'acl:read'".to_owned()),
                ("operator/raft/configuration", "'operator:read'".to_owned()),
            ] {
                denied(&Request::get(&format!("/v1/{path}")), &right);
            }
            for (path, body, right) in [
                ("kv/a", "v", "'key:write' on \"a\"".to_owned()),
                (
                    "session/create",
                    "{}",
                    format!("'session:write' on \"{node}\""),
                ),
                ("acl/policy", "{}", "'acl:write'".to_owned()),
                (
                    "catalog/register",
                    r#"{"Node":"w1","Address":"1.2.3.4"}"#,
                    "'node:write' on \"w1\"".to_owned(),
                ),
                (
                    "agent/service/register",
                    r#"{"Name":"web"}"#,
                    "'service:write' on \"web\"".to_owned(),
                ),
            ] {
                denied(&Request::put(&format!("/v1/{path}"), body), &right);
            }
            denied(&Request::delete("/v1/kv/a?recurse"), "'key:write' on \"a\"");
            denied(&Request::delete("/v1/kv/?recurse"), "'key:write'");
        },
        ..BASE
    },
    Case {
        id: "acl/ground/keyring-since-1-22",
        claim: "The keyring is refused with 403 in the words of the other endpoints",
        source: "acl.md 2.11.r7, 7.r35, 13.r17",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            t.api_get("/v1/operator/keyring")
                .says(403, "lacks permission 'keyring:read'");
        },
        ..BASE
    },
    Case {
        id: "acl/filtered/is-said-of-other-lists-since-1-11",
        claim: "Lists of sessions, queries, events, and of the agent say that they were filtered, but not to the anonymous token, except that of events",
        source: "acl.md 2.12, 13.r15",
        since: Version::V1_11,
        run: |t| {
            ready(t);
            let (_, secret) = granted(t, "p", "agent \"none\" { policy = \"read\" }");
            let register = json!({"Node": "own", "Address": "127.0.0.1"}).to_string();
            with(t, ROOT, &Request::put("/v1/catalog/register", register)).is(200, "true");
            let session = json!({"Node": "own", "Checks": []}).to_string();
            let made = with(t, ROOT, &Request::put("/v1/session/create", session));
            let session = text(&made.status_is(200), "/ID");
            let service = json!({"Name": "web", "Check": {"TTL": "1h"}}).to_string();
            with(
                t,
                ROOT,
                &Request::put("/v1/agent/service/register", service),
            )
            .status_is(200);
            let query = Request::new("POST", "/v1/query")
                .body(r#"{"Name":"q","Service":{"Service":"web"}}"#);
            with(t, ROOT, &query).status_is(200);
            with(t, ROOT, &Request::put("/v1/event/fire/e", "")).status_is(200);
            t.settle();
            for path in [
                "session/list",
                "session/node/own",
                &format!("session/info/{session}"),
                "query",
                "event/list",
                "agent/members",
                "agent/services",
                "agent/checks",
            ] {
                let name = "X-Consul-Results-Filtered-By-Acls";
                let read = Request::get(&format!("/v1/{path}"));
                with(t, &secret, &read).header_is(name, "true");
                for anonymous in [t.send(&read), with(t, "anonymous", &read)] {
                    if path == "event/list" {
                        anonymous.header_is(name, "true");
                    } else {
                        anonymous.has_no_header(name);
                    }
                }
                with(t, ROOT, &read).has_no_header(name);
            }
        },
        ..BASE
    },
];
