//! Tokens: where they stand, and what they allow on keys (kv.md 6.3).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{ROOT, SETTINGS};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The same before anybody has a token.
const NOT_BOOTSTRAPPED: &str = r#"{"acl": {"enabled": true, "default_policy": "deny"}}"#;
const UNKNOWN: &str = "22222222-2222-4222-8222-222222222222";
/// What the cases' own token may do.
const RULES: &str = r#"key_prefix "open/" { policy = "write" } key_prefix "open/read/" { policy = "read" }
    key_prefix "open/closed/" { policy = "deny" }"#;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/token/in-the-query-first",
        claim: "A token in the query counts more than one in a header, unless it is empty",
        source: "kv.md 6.3; acl.md 2.1",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let read = |query: &str, header: &str| {
                let request = Request::get(&format!("/v1/kv/open/k?raw{query}"));
                t.send(&request.header("X-Consul-Token", header))
            };
            read(&format!("&token={token}"), UNKNOWN).is(200, "v");
            read(&format!("&token={UNKNOWN}"), &token).says(403, "ACL not found");
            read("&token=", &token).is(200, "v");
            read("&token", &token).is(200, "v");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/token/in-its-header-before-authorization",
        claim: "X-Consul-Token counts more than Authorization, unless it is empty",
        source: "kv.md 6.3; acl.md 2.1",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let read = |header: &str, bearer: &str| {
                let request = Request::get("/v1/kv/open/k?raw").header("X-Consul-Token", header);
                t.send(&request.header("Authorization", &format!("Bearer {bearer}")))
            };
            read(&token, UNKNOWN).is(200, "v");
            read(UNKNOWN, &token).says(403, "ACL not found");
            read("", &token).is(200, "v");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/token/bearer-in-any-case",
        claim: "Authorization takes `Bearer` in any case with any spaces, and drops what follows the token's first word",
        source: "kv.md 6.3; acl.md 2.1",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            for text in [
                format!("Bearer {token}"),
                format!("bearer   {token}"),
                format!("BEARER {token} and more"),
            ] {
                t.send(&Request::get("/v1/kv/open/k?raw").header("Authorization", &text))
                    .is(200, "v");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/token/other-schemes-are-anonymous",
        claim: "Authorization without a scheme, with another one, or without a token is like no token",
        source: "kv.md 6.3; acl.md 2.1",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            for text in [token.clone(), format!("Basic {token}"), "Bearer".to_owned()] {
                t.send(&Request::get("/v1/kv/open/k?raw").header("Authorization", &text))
                    .says(403, "Permission denied");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "acl/denied/single-keys-and-writes-are-403",
        claim: "Without permission single reads, writes and deletes are 403, whether the key exists or not, and nothing is written",
        source: "kv.md 6.3; acl.md 6.1, 6.4, trap 3",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            for target in ["/v1/kv/open/k", "/v1/kv/open/k?raw", "/v1/kv/missing"] {
                refused(&t.api_get(target));
            }
            refused(&t.put("open/k", "", "w"));
            refused(&t.put("open/k", "acquire=x", "w"));
            refused(&t.delete("open/k", ""));
            refused(&t.delete("open/", "recurse"));
            with(t, ROOT, &Request::get("/v1/kv/open/k?raw")).is(200, "v");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/denied/words",
        claim: "The whole text of a denial is `Permission denied`",
        source: "kv.md 6.3; acl.md 2.11.r1, 2.11.r2",
        until: Some(Version::V1_12),
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            t.get("open/k", "")
                .is(403, "Permission denied")
                .header_is("Content-Type", "text/plain; charset=utf-8");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/denied/words-since-1-15",
        claim: "The text of a denial names who lacks which permission on what",
        source: "1.22.md A6.3 [D]; acl.md 2.11.r2, 13.r2; 1.22.md A6.r6",
        since: Version::V1_15,
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            t.get("open/k", "").is(
                403,
                "Permission denied: anonymous token lacks permission 'key:read' on \"open/k\". The anonymous token is used implicitly when a request does not specify a token.",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "acl/denied/lists-are-filtered",
        claim: "Without permission lists are answered like those of an empty prefix, with the read headers",
        source: "kv.md 6.3; acl.md 6.2, trap 3",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            for query in ["recurse", "keys"] {
                t.get("open/", query)
                    .is(404, "")
                    .has_header("X-Consul-Index")
                    .header_is("X-Consul-Knownleader", "true");
            }
            t.get("", "keys").is(200, "[]");
            t.get("", "recurse").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/denied/lists-show-what-is-allowed",
        claim: "Lists show the keys that the token may read and no others",
        source: "kv.md 6.3; acl.md 6.2",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let list = |target: &str| with(t, &token, &Request::get(target));
            let expected = ["open/k", "open/read/k"].map(str::to_owned).to_vec();
            t.same("keys", list("/v1/kv/?keys").strings(), expected.clone());
            let entries = list("/v1/kv/?recurse").entries();
            let keys = entries.into_iter().map(|entry| entry.key).collect();
            t.same("entries", keys, expected);
            list("/v1/kv/open/closed/?keys").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/denied/longest-prefix-counts",
        claim: "Of the rules of a token that of the longest prefix counts",
        source: "kv.md 6.3; acl.md 9.6, 9.7",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let as_token = |request: Request| with(t, &token, &request);
            as_token(Request::put("/v1/kv/open/new", "v")).is(200, "true");
            as_token(Request::get("/v1/kv/open/read/k?raw")).is(200, "v");
            refused(&as_token(Request::put("/v1/kv/open/read/k", "w")));
            refused(&as_token(Request::get("/v1/kv/open/closed/k")));
            refused(&as_token(Request::put("/v1/kv/open/closed/k", "w")));
            refused(&as_token(Request::delete("/v1/kv/open/?recurse")));
            as_token(Request::delete("/v1/kv/open/new")).is(200, "true");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/session/locking-asks-for-the-key-alone",
        claim: "A token that may write a key, and nothing about sessions, acquires and releases it with a session of another's",
        source: "session.md 3.5, trap 24; acl.md 6.6",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let create = Request::put("/v1/session/create", "{}");
            refused(&with(t, &token, &create));
            // A young server takes a moment until it knows its own node.
            let made = t.eventually("there is a session", Duration::from_secs(10), || {
                let answer = with(t, ROOT, &create);
                (answer.status() == 200).then(|| answer.json())
            });
            let session = made["ID"].as_str().unwrap_or_default();
            let put = |key: &str, verb: &str| {
                let path = format!("/v1/kv/open/{key}?{verb}={session}");
                with(t, &token, &Request::put(&path, "w"))
            };
            put("k", "acquire").is(200, "true");
            put("k", "release").is(200, "true");
            refused(&put("read/k", "acquire"));
        },
        ..Case::MUST
    },
    Case {
        id: "acl/unknown-token/is-403",
        claim: "A token that does not exist is 403 everywhere, also where no token would see an empty list",
        source: "kv.md 6.3; acl.md 2.5, 6.7",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            for target in [
                "/v1/kv/open/k",
                "/v1/kv/open/?recurse",
                "/v1/kv/open/?keys",
                "/v1/kv/?keys",
            ] {
                with(t, UNKNOWN, &Request::get(target)).says(403, "ACL not found");
            }
            with(t, UNKNOWN, &Request::put("/v1/kv/open/k", "w")).says(403, "ACL not found");
            with(t, UNKNOWN, &Request::delete("/v1/kv/open/k")).says(403, "ACL not found");
            with(t, UNKNOWN, &Request::put("/v1/txn", "[]")).says(403, "ACL not found");
            let get = json!([{"KV": {"Verb": "get", "Key": "open/k"}}]).to_string();
            with(t, UNKNOWN, &Request::put("/v1/txn", get)).says(403, "ACL not found");
        },
        ..Case::MUST
    },
    Case {
        id: "acl/unknown-token/words",
        claim: "The whole text about an unknown token is `ACL not found`, also before ACLs were bootstrapped",
        source: "kv.md 6.3; acl.md 2.5",
        until: Some(Version::V1_15),
        needs: &[Feature::AclPolicies],
        settings: NOT_BOOTSTRAPPED,
        run: |t| {
            with(t, UNKNOWN, &Request::get("/v1/kv/k")).is(403, "ACL not found");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/unknown-token/words-since-1-15",
        claim: "Before ACLs were bootstrapped the text about an unknown token says that they must be",
        source: "1.22.md A6.3 [D]; acl.md 2.5, 13.r3; 1.22.md A6.r7",
        since: Version::V1_15,
        needs: &[Feature::AclPolicies],
        settings: NOT_BOOTSTRAPPED,
        run: |t| {
            with(t, UNKNOWN, &Request::get("/v1/kv/k")).is(
                403,
                "ACL system must be bootstrapped before making any requests that require authorization: ACL not found",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "acl/txn/reads-are-filtered",
        claim: "A transaction leaves out of its results what the token may not read",
        source: "kv.md 6.3; acl.md 6.7.r1, trap 4",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            for operation in [
                json!({"Verb": "get", "Key": "open/k"}),
                json!({"Verb": "get-tree", "Key": "open/"}),
            ] {
                t.txn(&json!([{"KV": operation}]))
                    .status_is(200)
                    .field_is("/Results", json!([]));
            }
            let both = json!([
                {"KV": {"Verb": "get", "Key": "open/closed/k"}},
                {"KV": {"Verb": "get", "Key": "open/k"}},
            ]);
            with(t, &token, &Request::put("/v1/txn", both.to_string()))
                .status_is(200)
                .field_is("/Results/0/KV/Key", "open/k")
                .field_is("/Results/1", json!(null));
        },
        ..Case::MUST
    },
    Case {
        id: "acl/txn/checks-and-writes-are-denied",
        claim: "A transaction that writes or checks without permission is 409 and says so",
        source: "kv.md 6.3; acl.md 6.7.r2, 6.7.r3",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            for operation in [
                json!({"Verb": "set", "Key": "open/k"}),
                json!({"Verb": "delete", "Key": "open/k"}),
                json!({"Verb": "check-index", "Key": "open/k", "Index": 1}),
                json!({"Verb": "check-session", "Key": "open/k", "Session": UNKNOWN}),
                json!({"Verb": "check-not-exists", "Key": "open/missing"}),
            ] {
                t.txn(&json!([{"KV": operation}]))
                    .says(409, "Permission denied");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "acl/txn/check-not-exists-needs-write",
        claim: "check-not-exists needs permission to write, not only to read",
        source: "kv.md 6.3; acl.md 6.7.r3, trap 4",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let check = |key: &str| {
                let body = json!([{"KV": {"Verb": "check-not-exists", "Key": key}}]).to_string();
                with(t, &token, &Request::put("/v1/txn", body))
            };
            check("open/missing").status_is(200);
            check("open/read/missing").says(409, "Permission denied");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/txn/missing-keys-are-told",
        claim: "A transaction that gets a missing key says so to who may not read it",
        source: "kv.md 6.3; acl.md 6.7.r1, trap 4",
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            prepared(t);
            t.txn(&json!([{"KV": {"Verb": "get", "Key": "missing"}}]))
                .status_is(409)
                .field_is("/Errors/0/What", "key \"missing\" doesn't exist");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/filtered/is-not-said",
        claim: "A filtered list does not say that it is one",
        source: "kv.md 6.3; acl.md 2.12",
        until: Some(Version::V1_11),
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            with(t, &token, &Request::get("/v1/kv/?keys"))
                .status_is(200)
                .has_no_header("X-Consul-Results-Filtered-By-Acls");
        },
        ..Case::REAL
    },
    Case {
        id: "acl/filtered/is-said-since-1-11",
        claim: "A filtered list says that it is one, but only to a token",
        source: "1.22.md A6.3 [D]; acl.md 2.12",
        since: Version::V1_11,
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            let token = prepared(t);
            let name = "X-Consul-Results-Filtered-By-Acls";
            with(t, &token, &Request::get("/v1/kv/?keys")).header_is(name, "true");
            with(t, &token, &Request::get("/v1/kv/open/read/?keys")).has_no_header(name);
            t.get("", "keys").has_no_header(name);
        },
        ..Case::REAL
    },
    Case {
        id: "acl/headers/default-policy-deny",
        claim: "Every answer of an endpoint says X-Consul-Default-Acl-Policy: deny",
        source: "1.22.md A0.4 [S]; acl.md 0.3",
        since: Version::V1_9,
        needs: &[Feature::AclPolicies],
        settings: SETTINGS,
        run: |t| {
            t.get("k", "")
                .status_is(403)
                .header_is("X-Consul-Default-Acl-Policy", "deny");
            t.get("", "keys")
                .header_is("X-Consul-Default-Acl-Policy", "deny");
        },
        ..Case::REAL
    },
];

fn with(t: &Trial, token: &str, request: &Request) -> Answer {
    t.send(&request.clone().header("X-Consul-Token", token))
}

fn refused(answer: &Answer) {
    let answer = answer.clone().says(403, "Permission denied");
    answer.has_no_header("X-Consul-Index");
}

/// A token with [`RULES`], on a server with a key that it may write, one that it may read, and one that it may not.
fn prepared(t: &Trial) -> String {
    let policy = json!({"Name": "conformance", "Rules": RULES}).to_string();
    let policy = Request::put("/v1/acl/policy", policy);
    // A young server takes a moment until it knows its ACLs; one that has none will never know them.
    let answer = t.eventually("ACLs are known", Duration::from_secs(10), || {
        let answer = with(t, ROOT, &policy);
        matches!(answer.status(), 200 | 401).then_some(answer)
    });
    answer.status_is(200);
    for key in ["open/k", "open/read/k", "open/closed/k"] {
        with(t, ROOT, &Request::put(&format!("/v1/kv/{key}"), "v")).is(200, "true");
    }
    let token = json!({"Policies": [{"Name": "conformance"}]}).to_string();
    let answer = with(t, ROOT, &Request::put("/v1/acl/token", token)).status_is(200);
    let json = answer.json();
    let secret = json.get("SecretID").and_then(|secret| secret.as_str());
    t.check(secret.is_some(), "a token without a SecretID");
    secret.unwrap_or_default().to_owned()
}
