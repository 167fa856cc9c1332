//! What keys and sessions ask for, and what blocked reads keep (acl.md 6, 7, 10).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

use crate::cases::support::acl::{self, NOBODY, ROOT, SETTINGS, text, with};
use crate::cases::support::rights::{UNKNOWN, allowed, get_key, put, ready, register, txn};
use crate::wire::Request;

/// A server that asks for the right to list keys, too.
const LISTS: &str = r#"{"acl": {"enabled": true, "default_policy": "deny", "enable_key_list_policy": true,
    "tokens": {"master": "11111111-1111-4111-8111-111111111111"}}}"#;
/// A longest wait that no case reaches.
const WAIT: &str = "wait=60s";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/key/asks-first",
        claim: "A read of one key without the right is 403 at once, also with an index and for a missing key, without the headers of a read",
        source: "acl.md 6.1, 10.7, 2.11.r9",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"key "a" { policy = "read" }"#);
            put(t, "b", "v");
            let read = |token: &str, key: &str| with(t, token, &get_key(key));
            for key in ["b", "b?raw", "missing", "b?index=999999&wait=60s"] {
                let answer = read(&token, key).says(403, "Permission denied");
                answer.has_no_header("X-Consul-Index");
            }
            read(UNKNOWN, "b?index=999999&wait=60s").says(403, "ACL not found");
            read(&token, "a").is(404, "").has_header("X-Consul-Index");
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/key/filtered-before-the-separator",
        claim: "Keys that the token may not read are dropped before the separator cuts them, and the index is that of all",
        source: "acl.md 6.2",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let rules = r#"key_prefix "d/open/" { policy = "read" } key "d/k" { policy = "read" }"#;
            let token = allowed(t, rules);
            for key in ["d/k", "d/open/k", "d/shut/k", "d/shut/z"] {
                put(t, key, "v");
            }
            let list = |token: &str| with(t, token, &get_key("d/?keys&separator=/"));
            let shown = list(&token);
            t.same(
                "the keys",
                shown.strings(),
                vec!["d/k".to_owned(), "d/open/".to_owned()],
            );
            t.same("the index", shown.index(), list(ROOT).index());
            let none = with(t, &token, &get_key("d/shut/?recurse")).is(404, "");
            let all = with(t, ROOT, &get_key("d/shut/?recurse"));
            t.same("the index of nothing", none.index(), all.index());
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/key/list-policy",
        claim: "With enable_key_list_policy a list asks for `list` on its path, then drops what may not be read; get-tree does not ask",
        source: "acl.md 6.3, 1.2",
        needs: &[Feature::AclPolicies],
        settings: LISTS,
        run: |t| {
            let token = allowed(
                t,
                r#"key_prefix "l/" { policy = "list" } key_prefix "l/shut/" { policy = "deny" } key_prefix "r/" { policy = "read" }
                key_prefix "w/" { policy = "write" } key "x/" { policy = "list" }"#,
            );
            for key in ["l/k", "l/shut/k", "r/k", "w/k"] {
                put(t, key, "v");
            }
            let list = |path: &str| with(t, &token, &get_key(path));
            t.same(
                "the keys",
                list("l/?keys").strings(),
                vec!["l/k".to_owned()],
            );
            list("w/?recurse").status_is(200);
            list("x/?keys").is(404, "");
            for path in [
                "r/?keys",
                "r/?recurse",
                "r/k?recurse",
                "?keys",
                "x/y?keys",
                "l/shut/?keys",
            ] {
                list(path).says(403, "Permission denied");
            }
            txn(t, &token, r#"[{"KV": {"Verb": "get-tree", "Key": "r/"}}]"#)
                .field_is("/Results/0/KV/Key", "r/k");
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/key/list-policy-words-since-1-12",
        claim: "A refused list says `key:list`, with the path unless it is empty",
        source: "acl.md 6.3, 2.11.r3",
        since: Version::V1_12,
        needs: &[Feature::AclPolicies],
        settings: LISTS,
        run: |t| {
            let token = allowed(t, r#"key_prefix "r/" { policy = "read" }"#);
            with(t, &token, &get_key("r/?keys")).says(403, "lacks permission 'key:list' on \"r/\"");
            let bare = with(t, &token, &get_key("?keys")).says(403, "lacks permission 'key:list'");
            t.check(bare.text().ends_with("'key:list'"), bare.text());
        },
        ..Case::REAL
    },
    Case {
        id: "acl/key/write-before-the-session",
        claim: "Without the right to write all kinds of writes are 403, before the session of an acquire is looked at; bad numbers come before",
        source: "acl.md 6.4, 2.9",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"key_prefix "" { policy = "read" }"#);
            let write = |token: &str, query: &str| {
                with(t, token, &Request::put(&format!("/v1/kv/k{query}"), "v"))
            };
            for query in ["", "?cas=0", "?flags=3", "?acquire=x", "?release=x"] {
                write(&token, query).says(403, "Permission denied");
                write(UNKNOWN, query).says(403, "ACL not found");
            }
            with(t, &token, &Request::delete("/v1/kv/k?cas=1")).says(403, "Permission denied");
            write(UNKNOWN, "?flags=x").status_is(500);
            write(UNKNOWN, "?cas=x").status_is(500);
            with(t, UNKNOWN, &Request::put("/v1/kv/", "v")).status_is(400);
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/key/delete-tree",
        claim: "Deleting a tree asks for write on the longest prefix rule and on every rule below; an exact rule gives nothing",
        source: "acl.md 6.5, trap 7, 6.7.r4",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(
                t,
                r#"key_prefix "app/" { policy = "write" } key_prefix "app/low/" { policy = "read" } key "exact" { policy = "write" }"#,
            );
            let delete = |path: &str| {
                with(
                    t,
                    &token,
                    &Request::delete(&format!("/v1/kv/{path}?recurse")),
                )
            };
            let in_txn = |path: &str| {
                let operation = json!([{"KV": {"Verb": "delete-tree", "Key": path}}]);
                txn(t, &token, &operation.to_string())
            };
            for path in ["app/q", "app/q/"] {
                delete(path).is(200, "true");
                in_txn(path).status_is(200);
            }
            for path in ["app/", "app/l", "app/low/", "app", "a", "", "exact"] {
                delete(path).says(403, "Permission denied");
                in_txn(path).says(409, "Permission denied");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/key/locks-with-others-sessions",
        claim: "Acquire and release ask for the key alone, whoever made the session, on whatever node",
        source: "acl.md 6.6, trap 6; session.md trap 24",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(
                t,
                r#"key "k" { policy = "write" } session_prefix "" { policy = "deny" }"#,
            );
            let session = session(t, "elsewhere");
            let put = |verb: &str| {
                with(
                    t,
                    &token,
                    &Request::put(&format!("/v1/kv/k?{verb}={session}"), "v"),
                )
            };
            put("acquire").is(200, "true");
            put("release").is(200, "true");
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/session/create-asks-for-its-node",
        claim: "session/create asks for session:write on the node of the body as it is spelled, before node, TTL and behavior are looked at",
        source: "acl.md 7.r1, 2.9, 2.10, trap 5",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"session "own" { policy = "write" }"#);
            register(t, "own");
            let create =
                |token: &str, body: &str| with(t, token, &Request::put("/v1/session/create", body));
            create(&token, r#"{"Node": "own", "Checks": []}"#).status_is(200);
            for body in [
                "{}",
                r#"{"Node": "OWN", "Checks": []}"#,
                r#"{"Node": "nowhere"}"#,
                r#"{"Node": "nowhere", "TTL": "x"}"#,
                r#"{"Node": "nowhere", "Behavior": "x"}"#,
            ] {
                create(&token, body).says(403, "Permission denied");
                create(UNKNOWN, body).says(403, "ACL not found");
            }
            create(UNKNOWN, r#"{"Node": ""}"#).is(500, "Must provide Node");
            create(UNKNOWN, "{").status_is(400);
            create(&token, r#"{"Node": "own", "TTL": "x"}"#).status_is(500);
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/session/destroy-and-renew-ask-for-its-node",
        claim: "destroy and renew ask for session:write on the node of the session; an unknown id is 200 and 404 for every valid token",
        source: "acl.md 7.r2, 2.10",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(
                t,
                r#"session "own" { policy = "write" } session "other" { policy = "read" }"#,
            );
            let (own, other) = (session(t, "own"), session(t, "other"));
            let change = |token: &str, what: &str, id: &str| {
                with(
                    t,
                    token,
                    &Request::put(&format!("/v1/session/{what}/{id}"), ""),
                )
            };
            for what in ["renew", "destroy"] {
                change(&token, what, &other).says(403, "Permission denied");
                change(UNKNOWN, what, &own).says(403, "ACL not found");
                change(UNKNOWN, what, NOBODY).says(403, "ACL not found");
                change(UNKNOWN, what, "").status_is(400);
                change(&token, what, &own).status_is(200);
            }
            change("", "destroy", NOBODY).is(200, "true");
            change("", "renew", NOBODY).status_is(404);
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/session/malformed-ids",
        claim: "With ACLs the text of session/destroy about a malformed id says what failed; the token comes first",
        source: "acl.md 7.r2",
        until: Some(Version::V1_12),
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            ready(t);
            let change = |token: &str, what: &str| {
                with(
                    t,
                    token,
                    &Request::put(&format!("/v1/session/{what}/x"), ""),
                )
            };
            let text = "failed session lookup: index error: UUID must be 36 characters";
            change("", "renew").is(500, text);
            change("", "destroy").is(500, &format!("Session lookup failed: {text}"));
            change(UNKNOWN, "destroy").is(403, "ACL not found");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/session/reads-are-filtered",
        claim: "Reads of sessions show those whose node the token may read, with the index of all",
        source: "acl.md 7.r3, 2.11.r10",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"session "own" { policy = "read" }"#);
            let (own, other) = (session(t, "own"), session(t, "other"));
            let read = |token: &str, path: &str| {
                with(t, token, &Request::get(&format!("/v1/session/{path}")))
            };
            for path in [
                "list".to_owned(),
                "node/own".to_owned(),
                format!("info/{own}"),
            ] {
                let shown = read(&token, &path).status_is(200);
                shown
                    .clone()
                    .field_is("/0/ID", own.as_str())
                    .field_is("/1", json!(null));
                t.same("the index", shown.index(), read(ROOT, &path).index());
            }
            for path in ["node/other".to_owned(), format!("info/{other}")] {
                let hidden = read(&token, &path).is(200, "[]");
                t.same("the index", hidden.index(), read(ROOT, &path).index());
            }
            read("", "list").is(200, "[]");
            read(UNKNOWN, "list")
                .says(403, "ACL not found")
                .header_is("X-Consul-Index", "1");
            read(UNKNOWN, "list?index=x").status_is(400);
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/status/asks-nothing",
        claim: "Leader and peers are shown to unknown tokens too",
        source: "acl.md 2.6, 7.r43",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            ready(t);
            for path in ["leader", "peers"] {
                with(t, UNKNOWN, &Request::get(&format!("/v1/status/{path}"))).status_is(200);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/blocking/keeps-its-rights",
        claim: "A blocked read of a key or of sessions survives the deletion of its token, and shows the next change in full",
        source: "acl.md 10.4, trap 16",
        needs: &[Feature::AclPolicies, Feature::Blocking],
        settings: SETTINGS,
        run: |t| {
            ready(t);
            put(t, "k", "v");
            session(t, "own");
            let rules =
                r#"key_prefix "" { policy = "read" } session_prefix "" { policy = "read" }"#;
            let policy = json!({"Name": "blocked", "Rules": rules}).to_string();
            acl::put(t, "policy", &policy).status_is(200);
            let (accessor, secret) = acl::token(t, &json!({"Policies": [{"Name": "blocked"}]}));
            let block = |path: &str| {
                let index = with(t, ROOT, &Request::get(path)).index();
                let separator = if path.contains('?') { '&' } else { '?' };
                let path = format!("{path}{separator}index={index}&{WAIT}");
                t.start(&Request::get(&path).header("X-Consul-Token", &secret))
            };
            let waiting = ["/v1/kv/k", "/v1/kv/?keys", "/v1/session/list"].map(block);
            waiting.iter().for_each(|waiting| t.still_blocked(waiting));
            acl::delete(t, &format!("token/{accessor}")).is(200, "true");
            waiting.iter().for_each(|waiting| t.still_blocked(waiting));
            put(t, "k", "w");
            let new = session(t, "new");
            let [key, keys, sessions] = waiting;
            key.answer().status_is(200).field_is("/0/Value", "dw==");
            t.same("the keys", keys.answer().strings(), vec!["k".to_owned()]);
            t.check(
                sessions.answer().text().contains(&new),
                "the new session is missing",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/blocking/filtered-reads-block",
        claim: "Reads of which everything is filtered block, wake on what they cannot see, and answer nothing with the moved index",
        source: "acl.md 10.7",
        needs: &[Feature::AclPolicies, Feature::Blocking],
        settings: SETTINGS,
        run: |t| {
            let token = allowed(t, r#"key "nothing" { policy = "read" }"#);
            put(t, "p/k", "v");
            session(t, "own");
            let rows = [
                ("/v1/kv/p/?recurse&", 404, ""),
                ("/v1/kv/?keys&", 200, "[]"),
                ("/v1/session/list?", 200, "[]"),
            ];
            let started = rows.map(|(path, status, body)| {
                let index = with(t, &token, &Request::get(path))
                    .is(status, body)
                    .index();
                let request = Request::get(&format!("{path}index={index}&{WAIT}"));
                let waiting = t.start(&request.header("X-Consul-Token", &token));
                t.still_blocked(&waiting);
                (waiting, index, status, body)
            });
            put(t, "p/k", "w");
            session(t, "new");
            for (waiting, index, status, body) in started {
                let answer = waiting.answer().is(status, body);
                t.grew("X-Consul-Index", index, answer.index());
            }
        },
        ..Case::SHOULD
    },
];

/// Returns a session on a new node.
fn session(t: &Trial, node: &str) -> String {
    register(t, node);
    let body = json!({"Node": node, "Checks": []}).to_string();
    let made = with(t, ROOT, &Request::put("/v1/session/create", body));
    text(&made.status_is(200), "/ID")
}
