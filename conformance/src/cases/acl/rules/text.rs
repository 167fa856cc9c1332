//! Which texts are rules (acl.md 9, Text).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, granted, put, ready};
use crate::cases::support::rules::{made_of, may};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/rules/spellings",
        claim: "HCL with any spelling of names, three kinds of comments and several settings on a line, and JSON in its shapes, mean the same",
        source: "acl.md 9.1, 9.4",
        run: |t| {
            ready(t);
            let rows = [
                ("upper-case", "KEY_PREFIX \"app/\" { POLICY = \"write\" }"),
                (
                    "comments",
                    "# one\n// two\n/* three */ key_prefix \"app/\" {\n  policy = \"write\" # four\n}\n",
                ),
                (
                    "one-line",
                    "acl = \"read\" operator = \"read\" key_prefix \"app/\" { policy = \"write\" }",
                ),
                (
                    "assigned",
                    "key_prefix = { \"app/\" = { policy = \"write\" } }",
                ),
                ("level", "key_prefix \"app/\" { policy = \"Write\" }"),
                ("json", r#"{"key_prefix":{"app/":{"policy":"write"}}}"#),
                (
                    "json-list",
                    r#"{"key_prefix":[{"app/":{"policy":"write"}},{"b/":{"policy":"read"}}]}"#,
                ),
                (
                    "json-inner-list",
                    r#"{"key_prefix":{"app/":[{"policy":"write"}]}}"#,
                ),
                (
                    "json-upper-case",
                    r#"{"Key_Prefix":{"app/":{"Policy":"write"}}}"#,
                ),
            ];
            for (name, rules) in rows {
                let (_, secret) = granted(t, name, rules);
                let rows = [
                    (("key", "write", "app/k"), true),
                    (("key", "write", "other"), false),
                ];
                may(t, &secret, &rows);
            }
            let (_, unquoted) = granted(t, "unquoted", "key app { policy = \"write\" }");
            may(t, &unquoted, &[(("key", "write", "app"), true)]);
        },
        ..BASE
    },
    Case {
        id: "acl/rules/empty-texts",
        claim: "Empty, blank and comment-only rules are valid and allow nothing",
        source: "acl.md 9.1, 2.7",
        run: |t| {
            ready(t);
            for (name, rules) in [("empty", ""), ("blank", " \n\t"), ("comment", "# nothing")] {
                gives_nothing(t, name, rules);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/every-name",
        claim: "Each kind of rule, exact and by prefix, and each scalar allows what it is about",
        source: "acl.md 9.2",
        run: |t| {
            ready(t);
            for kind in [
                "agent", "event", "key", "node", "query", "service", "session",
            ] {
                let rules = format!(
                    "{kind} \"one\" {{ policy = \"write\" }} {kind}_prefix \"more\" {{ policy = \"read\" }}"
                );
                let (_, secret) = granted(t, kind, &rules);
                let rows = [
                    ((kind, "write", "one"), true),
                    ((kind, "read", "one"), true),
                    ((kind, "read", "one-more"), false),
                    ((kind, "read", "more-of-it"), true),
                    ((kind, "write", "more-of-it"), false),
                    ((kind, "read", "other"), false),
                ];
                may(t, &secret, &rows);
            }
            for kind in ["acl", "keyring", "operator"] {
                let (_, secret) = granted(t, kind, &format!("{kind} = \"read\""));
                for other in ["acl", "keyring", "operator"] {
                    let rows = [
                        ((other, "read", ""), other == kind),
                        ((other, "write", ""), false),
                    ];
                    may(t, &secret, &rows);
                }
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/ignored-names",
        claim: "Unknown rules and unknown keys inside a rule are ignored",
        source: "acl.md 9.2",
        run: |t| {
            ready(t);
            let rows = [
                (
                    "unknown",
                    "bogus \"a\" { policy = \"write\" } nothing = \"x\"",
                ),
                (
                    "enterprise",
                    "namespace \"a\" { policy = \"x\" } partition \"a\" { policy = \"x\" } identity \"a\" { policy = \"x\" }",
                ),
            ];
            for (name, rules) in rows {
                gives_nothing(t, name, rules);
            }
            let inside = "key \"a\" { policy = \"read\" bogus = \"x\" sentinel { code = \"x\" } }";
            let (_, secret) = granted(t, "inside", inside);
            may(t, &secret, &[(("key", "read", "a"), true)]);
        },
        ..BASE
    },
    Case {
        id: "acl/rules/mesh-and-peering-before-1-10",
        claim: "Rules about meshes and peerings are ignored, whatever they say",
        source: "acl.md 9.2, 13.r14",
        until: Some(Version::V1_10),
        run: |t| {
            ready(t);
            gives_nothing(t, "later", "mesh = \"x\" peering = \"x\"");
        },
        ..BASE
    },
    Case {
        id: "acl/rules/mesh-and-peering-since-1-13",
        claim: "Rules about meshes and peerings have levels",
        source: "acl.md 9.2, 9.errors.r3, 13.r14",
        since: Version::V1_13,
        run: |t| {
            ready(t);
            for kind in ["mesh", "peering"] {
                made_of(t, "bad", &format!("{kind} = \"x\""))
                    .is(500, &format!("Invalid {kind} policy: \"x\""));
                made_of(t, kind, &format!("{kind} = \"write\"")).status_is(200);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/cut-off-json",
        claim: "JSON that is cut off, names without a value and empty levels of scalars are taken and allow nothing",
        source: "acl.md 9.5",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let rows = [
                ("cut-off", r#"{"key":"#),
                ("other-bracket", r#"{"a":1]"#),
                ("no-colon", r#"{"acl" "x"}"#),
                ("no-value", "acl ="),
                ("empty-level", "acl = \"\""),
            ];
            for (name, rules) in rows {
                gives_nothing(t, name, rules);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/names-of-blocks",
        claim: "A block without a name is about the name `policy`; one with three names has its level, one with two has none",
        source: "acl.md 9.5",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let (_, secret) = granted(t, "nameless", "key { policy = \"write\" }");
            may(t, &secret, &[(("key", "write", "policy"), true)]);
            made_of(t, "three", "key \"a\" \"b\" \"c\" { policy = \"write\" }").status_is(200);
            made_of(t, "two", "key \"a\" \"b\" { policy = \"write\" }").says(
                500,
                "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"\"",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/rules/checked-last",
        claim: "Rules are checked on every write of a policy, after all else and before an index is taken",
        source: "acl.md 4.20, 0.5",
        run: |t| {
            ready(t);
            let made = |name: &str| {
                let made = made_of(t, name, "").status_is(200).json();
                (made["ID"].clone(), made["CreateIndex"].as_u64())
            };
            let (id, before) = made("a");
            made_of(t, "A", "acl = \"x\"").says(500, "already exists");
            made_of(t, "b", "acl = \"x\"").is(500, "Invalid acl policy: \"x\"");
            let path = format!("policy/{}", id.as_str().unwrap_or_default());
            put(t, &path, r#"{"Name":"a","Rules":"acl = \"x\""}"#)
                .is(500, "Invalid acl policy: \"x\"");
            t.same("the next index", made("c").1, before.map(|index| index + 1));
        },
        ..BASE
    },
];

/// Requires that these rules are taken and allow nothing.
fn gives_nothing(t: &Trial, name: &str, rules: &str) {
    let (_, secret) = granted(t, name, rules);
    let rows = [
        (("key", "read", "a"), false),
        (("acl", "read", ""), false),
        (("operator", "read", ""), false),
        (("service", "read", "a"), false),
    ];
    may(t, &secret, &rows);
}
