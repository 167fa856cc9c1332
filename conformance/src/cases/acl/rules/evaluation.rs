//! What rules allow (acl.md 9, Evaluation).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, ROOT, granted, put, ready, token, with};
use crate::cases::support::rules::may;
use crate::wire::Request;

/// A server that allows what no rule denies.
const ALLOWING: &str = r#"{"acl": {"enabled": true, "default_policy": "allow",
    "tokens": {"master": "11111111-1111-4111-8111-111111111111"}}}"#;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/rules/which-counts",
        claim: "The exact rule counts, then the longest prefix; it decides alone, whatever shorter ones say, and names have their case",
        source: "acl.md 9.6, 9.7",
        run: |t| {
            ready(t);
            let rules = r#"key_prefix "a" { policy = "write" } key_prefix "a/low/" { policy = "read" } key "a/low/none" { policy = "deny" }
                key "a/low/all" { policy = "write" } key "" { policy = "read" } session "n1" { policy = "write" }"#;
            let (_, secret) = granted(t, "p", rules);
            let rows = [
                (("key", "write", "a"), true),
                (("key", "write", "ab"), true),
                (("key", "write", "a/low"), true),
                (("key", "write", "a/low/k"), false),
                (("key", "read", "a/low/k"), true),
                (("key", "read", "a/low/none"), false),
                (("key", "read", "a/low/none/"), true),
                (("key", "write", "a/low/all"), true),
                (("key", "read", "A"), false),
                (("key", "read", ""), true),
                (("key", "write", ""), false),
                (("key", "read", "b"), false),
                (("session", "write", "n1"), true),
                (("session", "write", "N1"), false),
            ];
            may(t, &secret, &rows);
        },
        ..BASE
    },
    Case {
        id: "acl/rules/levels",
        claim: "write includes list and read, list includes read, and deny nothing",
        source: "acl.md 9.7, 9.3, 8.5.r2",
        run: |t| {
            ready(t);
            let rules = ["write", "list", "read", "deny"]
                .map(|level| format!("key_prefix \"{level}/\" {{ policy = \"{level}\" }}"));
            let (_, secret) = granted(t, "p", &rules.join("\n"));
            let rows = [
                (("key", "write", "write/k"), true),
                (("key", "list", "write/k"), true),
                (("key", "read", "write/k"), true),
                (("key", "write-prefix", "write/k"), true),
                (("key", "write", "list/k"), false),
                (("key", "list", "list/k"), true),
                (("key", "read", "list/k"), true),
                (("key", "list", "read/k"), false),
                (("key", "read", "read/k"), true),
                (("key", "write-prefix", "read/k"), false),
                (("key", "read", "deny/k"), false),
                (("key", "LIST", "deny/k"), false),
            ];
            may(t, &secret, &rows);
        },
        ..BASE
    },
    Case {
        id: "acl/rules/several-policies",
        claim: "Of rules about the same name in several policies, roles and blocks deny counts most, then write, list, read, in any order",
        source: "acl.md 9.8, trap 12",
        run: |t| {
            ready(t);
            let key =
                |name: &str, level: &str| format!("key \"{name}\" {{ policy = \"{level}\" }}\n");
            let levels = ["deny", "write", "list", "read"];
            let mut expected = Vec::new();
            let mut rules = [String::new(), String::new()];
            let mut blocks = String::new();
            for (one, first) in levels.iter().enumerate() {
                for (other, second) in levels.iter().enumerate() {
                    let name = format!("{first}-{second}");
                    rules[0] += &key(&name, first);
                    rules[1] += &key(&name, second);
                    blocks += &(key(&name, first) + &key(&name, second));
                    expected.push((name, levels[one.min(other)]));
                }
            }
            for (name, rules) in [
                ("one", &rules[0]),
                ("other", &rules[1]),
                ("blocks", &blocks),
            ] {
                granted(t, name, rules);
            }
            put(t, "role", r#"{"Name":"r","Policies":[{"Name":"other"}]}"#).status_is(200);
            for links in [
                json!({"Policies": [{"Name": "one"}, {"Name": "other"}]}),
                json!({"Policies": [{"Name": "other"}, {"Name": "one"}]}),
                json!({"Policies": [{"Name": "one"}], "Roles": [{"Name": "r"}]}),
                json!({"Policies": [{"Name": "blocks"}]}),
            ] {
                let (_, secret) = token(t, &links);
                let rows: Vec<_> = expected
                    .iter()
                    .flat_map(|(name, level)| {
                        [
                            (("key", "write", name.as_str()), *level == "write"),
                            (("key", "list", name), matches!(*level, "write" | "list")),
                            (("key", "read", name), *level != "deny"),
                        ]
                    })
                    .collect();
                may(t, &secret, &rows);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/levels-in-another-case",
        claim: "Beside another rule about the same name a level in upper case does not count",
        source: "acl.md 9.8",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let (_, alone) = granted(t, "alone", "key \"a\" { policy = \"WRITE\" }");
            may(t, &alone, &[(("key", "write", "a"), true)]);
            let both = "key \"a\" { policy = \"WRITE\" } key \"a\" { policy = \"read\" }";
            let (_, both) = granted(t, "both", both);
            may(
                t,
                &both,
                &[(("key", "write", "a"), false), (("key", "read", "a"), true)],
            );
        },
        ..BASE
    },
    Case {
        id: "acl/rules/intentions",
        claim: "Rules about services decide intentions, by their own level or as read and deny; all intentions are written only where every rule allows it",
        source: "acl.md 9.9",
        run: |t| {
            ready(t);
            let rules = r#"service "own" { policy = "read" intentions = "write" } service "written" { policy = "write" }
                service "denied" { policy = "deny" } service "shut" { policy = "write" intentions = "deny" }"#;
            let (_, secret) = granted(t, "p", rules);
            let rows = [
                (("intention", "write", "own"), true),
                (("intention", "read", "written"), true),
                (("intention", "write", "written"), false),
                (("intention", "read", "denied"), false),
                (("intention", "read", "shut"), false),
                (("intention", "read", "other"), false),
                (("intention", "read", "*"), true),
                (("intention", "write", "*"), false),
            ];
            may(t, &secret, &rows);
            let all = r#"service_prefix "" { policy = "read" intentions = "write" }"#;
            let (_, all) = granted(t, "all", all);
            may(t, &all, &[(("intention", "write", "*"), true)]);
        },
        ..BASE
    },
    Case {
        id: "acl/rules/default-allow",
        claim: "Under default allow all is allowed but ACLs and what is denied; a tree with something denied is not deleted",
        source: "acl.md 9.10, 9.11, 6.5",
        settings: ALLOWING,
        run: |t| {
            ready(t);
            let rules =
                r#"key_prefix "sec/" { policy = "deny" } session_prefix "" { policy = "read" }"#;
            let (_, secret) = granted(t, "p", rules);
            let rows = [
                (("key", "write", "a"), true),
                (("key", "read", "sec/k"), false),
                (("key", "write-prefix", "a"), true),
                (("key", "write-prefix", ""), false),
                (("operator", "write", ""), true),
                (("keyring", "write", ""), true),
                (("acl", "read", ""), false),
                (("session", "write", "n1"), false),
                (("intention", "write", "*"), true),
            ];
            may(t, &secret, &rows);
            for key in ["other/k", "sec/k"] {
                let put = Request::put(&format!("/v1/kv/{key}"), "v");
                with(t, ROOT, &put).is(200, "true");
            }
            let delete = |path: &str| Request::delete(&format!("/v1/kv/{path}?recurse"));
            with(t, &secret, &delete("")).says(403, "Permission denied");
            with(t, &secret, &delete("other")).is(200, "true");
            let keys = Request::get("/v1/kv/?keys");
            with(t, &secret, &keys).is(200, "[]");
            with(t, &secret, &Request::put("/v1/session/create", "{}"))
                .says(403, "Permission denied");
            with(t, &secret, &Request::get("/v1/snapshot")).says(403, "Permission denied");
        },
        ..BASE
    },
    Case {
        id: "acl/rules/operator-is-not-all",
        claim: "operator gives nothing on the keyring or ACLs",
        source: "acl.md 9.10",
        run: |t| {
            ready(t);
            let (_, secret) = granted(t, "p", "operator = \"write\"");
            let rows = [
                (("operator", "write", ""), true),
                (("keyring", "read", ""), false),
                (("acl", "read", ""), false),
            ];
            may(t, &secret, &rows);
            let (_, secret) = granted(t, "acl", "acl = \"write\"");
            let rows = [
                (("acl", "write", ""), true),
                (("operator", "read", ""), false),
                (("key", "read", "a"), false),
            ];
            may(t, &secret, &rows);
        },
        ..BASE
    },
];
