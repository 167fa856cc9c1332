//! Which texts are no rules, and what is said of them (acl.md 9, Errors).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, ready};
use crate::cases::support::rules::made_of;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/rules/bad-levels",
        claim: "A level that is none, or missing, is refused with the rule as Go prints it",
        source: "acl.md 9.errors.r1, 9.3",
        run: |t| {
            ready(t);
            let enterprise = "EnterpriseRule:acl.EnterpriseRule{}";
            for (kind, rule) in [
                (
                    "key",
                    format!("KeyRule{{Prefix:\"a\", Policy:\"x\", {enterprise}}}"),
                ),
                (
                    "node",
                    format!("NodeRule{{Name:\"a\", Policy:\"x\", {enterprise}}}"),
                ),
                (
                    "service",
                    format!(
                        "ServiceRule{{Name:\"a\", Policy:\"x\", Intentions:\"\", {enterprise}}}"
                    ),
                ),
                (
                    "session",
                    "SessionRule{Node:\"a\", Policy:\"x\"}".to_owned(),
                ),
                ("event", "EventRule{Event:\"a\", Policy:\"x\"}".to_owned()),
                (
                    "query",
                    "PreparedQueryRule{Prefix:\"a\", Policy:\"x\"}".to_owned(),
                ),
                ("agent", "AgentRule{Node:\"a\", Policy:\"x\"}".to_owned()),
            ] {
                for kind in [kind.to_owned(), format!("{kind}_prefix")] {
                    for level in ["x", "", "list"] {
                        if level == "list" && kind.starts_with("key") {
                            continue;
                        }
                        let rules = format!("{kind} \"a\" {{ policy = \"{level}\" }}");
                        let shown = rule.replace("\"x\"", &format!("\"{level}\""));
                        refused(t, &rules, &format!("Invalid {kind} policy: &acl.{shown}"));
                    }
                }
            }
            let missing = format!("&acl.KeyRule{{Prefix:\"a\", Policy:\"\", {enterprise}}}");
            refused(t, "key \"a\" {}", &format!("Invalid key policy: {missing}"));
        },
        ..BASE
    },
    Case {
        id: "acl/rules/bad-intentions-and-scalars",
        claim: "Bad levels of intentions and of scalars are refused, `list` too",
        source: "acl.md 9.errors.r2, 9.errors.r3, 9.3",
        run: |t| {
            ready(t);
            let rule = "&acl.ServiceRule{Name:\"a\", Policy:\"read\", Intentions:\"x\", EnterpriseRule:acl.EnterpriseRule{}}";
            for kind in ["service", "service_prefix"] {
                let rules = format!("{kind} \"a\" {{ policy = \"read\" intentions = \"x\" }}");
                refused(
                    t,
                    &rules,
                    &format!("Invalid {kind} intentions policy: {rule}"),
                );
            }
            for kind in ["acl", "keyring", "operator"] {
                for level in ["x", "list"] {
                    let rules = format!("{kind} = \"{level}\"");
                    refused(t, &rules, &format!("Invalid {kind} policy: \"{level}\""));
                }
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/first-error",
        claim: "Of several errors that of the kind that comes first is told, whatever the order of the text",
        source: "acl.md 9.errors.r4",
        run: |t| {
            ready(t);
            let kinds = [
                "acl",
                "agent",
                "agent_prefix",
                "key",
                "key_prefix",
                "node",
                "node_prefix",
                "service",
                "service_prefix",
                "session",
                "session_prefix",
                "event",
                "event_prefix",
                "query",
                "query_prefix",
                "keyring",
                "operator",
            ];
            for (number, first) in kinds.iter().enumerate() {
                let rules: Vec<String> = kinds[number..]
                    .iter()
                    .rev()
                    .map(|kind| match *kind {
                        "acl" | "keyring" | "operator" => format!("{kind} = \"x\""),
                        _ => format!("{kind} \"a\" {{ policy = \"x\" }}"),
                    })
                    .collect();
                let answer = policy(t, &rules.join("\n"));
                answer.says(500, &format!("Invalid {first} policy: "));
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/syntax",
        claim: "Text that is no HCL is refused with the words of HCL 1 and the place",
        source: "acl.md 9.errors.r5, 9.5",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for (rules, words) in [
                (
                    "key \"a\" { policy = \"read\"",
                    "At 1:27: object expected closing RBRACE got: EOF",
                ),
                (
                    "key \"a\" { policy = read }",
                    "At 1:20: Unknown token: 1:20 IDENT read",
                ),
                (
                    "key = \"read\"",
                    "At 1:7: unknown slice type: *ast.LiteralType",
                ),
                (
                    "key \"a\" { policy = [\"read\"] }",
                    "At 1:20: root.key[0].Policy: unknown type for string *ast.ListType",
                ),
                (
                    "[]",
                    "At 1:1: expected: IDENT | STRING | ASSIGN | LBRACE got: LBRACK",
                ),
                (
                    "key_prefix \"\" = { policy = \"write\" }",
                    "At 1:15: nested object expected: LBRACE got: ASSIGN",
                ),
                ("key 'a' { policy = \"read\" }", "At 1:5: illegal char"),
            ] {
                refused(t, rules, &format!("Failed to parse ACL rules: {words}"));
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/other-kinds-of-values",
        claim: "Values of another kind are refused before any level is checked, in JSON without a place",
        source: "acl.md 9.errors.r7",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for (rules, words) in [
                (
                    "acl = true",
                    "At 1:7: root.acl: unknown type for string *ast.LiteralType",
                ),
                (
                    "acl = 1.5",
                    "At 1:7: root.acl: unknown type for string *ast.LiteralType",
                ),
                (
                    "acl = [\"read\"]",
                    "At 1:7: root.acl: unknown type for string *ast.ListType",
                ),
                (
                    "key \"a\" { policy = \"x\" } acl = true",
                    "At 1:32: root.acl: unknown type for string *ast.LiteralType",
                ),
                (
                    "key = [\"a\"]",
                    "At 1:8: root.key[0]: not an object type for struct (*ast.LiteralType)",
                ),
                (
                    r#"{"key":"read"}"#,
                    "At -: unknown slice type: *ast.LiteralType",
                ),
            ] {
                refused(t, rules, &format!("Failed to parse ACL rules: {words}"));
            }
            policy(t, "key = [{ a = 1 }]")
                .says(500, "root.key[0]: Prefix asked for 'key', impossible");
            refused(t, "acl = 7", "Invalid acl policy: \"7\"");
        },
        ..BASE
    },
    Case {
        id: "acl/rules/json-syntax",
        claim: "Text that is no JSON is refused without `At`",
        source: "acl.md 9.errors.r8",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for (rules, words) in [
                (r#"{"a":x}"#, "1:6: illegal char"),
                (r#"{"a":01}"#, "1:7: numbers cannot start with 0"),
            ] {
                let answer = policy(t, rules);
                let shown = answer.clone().status_is(500).text();
                t.check(!shown.contains("At "), shown);
                answer.says(500, words);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/rules/twice-before-1-20-2",
        claim: "Of a setting that stands twice the last one counts",
        source: "acl.md 9.errors.r6, 13.r12",
        until: Some(Version::new(1, 20, 2)),
        run: |t| {
            ready(t);
            made_of(
                t,
                "inside",
                "key \"a\" { policy = \"x\" policy = \"read\" }",
            )
            .status_is(200);
            made_of(t, "outside", "acl = \"x\" acl = \"read\"").status_is(200);
            policy(t, "key \"a\" { policy = \"read\" policy = \"x\" }").says(500, "Policy:\"x\"");
        },
        ..BASE
    },
    Case {
        id: "acl/rules/twice-since-1-20-2",
        claim: "A setting that stands twice is refused; repeated blocks and names of JSON are not",
        source: "acl.md 9.errors.r6, 13.r12",
        since: Version::new(1, 20, 2),
        run: |t| {
            ready(t);
            let once = "was already set. Each argument can only be defined once";
            refused(
                t,
                "key \"a\" { policy = \"read\" policy = \"read\" }",
                &format!("Failed to parse ACL rules: The argument \"policy\" at 1:27 {once}"),
            );
            policy(t, "acl = \"read\" acl = \"read\"").says(500, once);
            let blocks = "key \"a\" { policy = \"read\" } key \"a\" { policy = \"write\" }";
            made_of(t, "blocks", blocks).status_is(200);
            made_of(t, "json", r#"{"acl":"read","acl":"write"}"#).status_is(200);
        },
        ..BASE
    },
];

fn policy(t: &Trial, rules: &str) -> crate::wire::answer::Answer {
    made_of(t, "refused", rules)
}

/// Requires that these rules are refused in these words.
fn refused(t: &Trial, rules: &str, words: &str) {
    policy(t, rules).is(500, words);
}
