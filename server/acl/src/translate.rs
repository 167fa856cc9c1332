//! Rules of the old system as policies have them (acl.md 8.5.r4).

use proconsul_hcl as hcl;

/// The names of old rules, which are about all names that begin with a text, and the new ones.
const RENAMED: [(&str, &str); 7] = [
    ("agent", "agent_prefix"),
    ("event", "event_prefix"),
    ("key", "key_prefix"),
    ("node", "node_prefix"),
    ("query", "query_prefix"),
    ("service", "service_prefix"),
    ("session", "session_prefix"),
];

/// Returns rules of the old system in the language of policies. Nothing but the syntax is checked.
///
/// # Errors
/// What is wrong with the syntax, in Consul's words.
pub fn translate(rules: &str) -> Result<String, String> {
    let rename = |name: &str| {
        let renamed = RENAMED.iter().find(|(old, _)| *old == name);
        renamed.map(|(_, new)| *new)
    };
    hcl::laid_out(rules, rename).map_err(|error| format!("Failed to parse rules: {error}"))
}

#[cfg(test)]
mod tests {
    use super::translate;

    /// What a real 1.8.7 made of these.
    const SEEN: &[(&str, &str)] = &[
        ("", ""),
        (
            r#"key "a" { policy = "read" }"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        (
            "# c\nkey \"a\" { policy = \"read\" } # after\n\n\n// d\nservice \"\" { policy=\"write\" }",
            "# c\nkey_prefix \"a\" {\n  policy = \"read\"\n} # after\n\n// d\nservice_prefix \"\" {\n  policy = \"write\"\n}",
        ),
        (
            "key \"a\" {\n  policy = \"read\"\n  # in\n  x = 1\n}\nkey \"b\" { }",
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  # in\n  x = 1\n}\n\nkey_prefix \"b\" {}",
        ),
        (
            "acl = \"read\" operator=\"write\"\nkeyring = \"read\"",
            "acl = \"read\"\n\noperator = \"write\"\n\nkeyring = \"read\"",
        ),
        (
            r#"agent "a" { policy = "read" } event "a" { policy = "read" } node "a" { policy = "read" } query "a" { policy = "read" } session "a" { policy = "read" }"#,
            "agent_prefix \"a\" {\n  policy = \"read\"\n}\n\nevent_prefix \"a\" {\n  policy = \"read\"\n}\n\nnode_prefix \"a\" {\n  policy = \"read\"\n}\n\nquery_prefix \"a\" {\n  policy = \"read\"\n}\n\nsession_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        (
            r#"KEY "a" { Policy = "read" }"#,
            "KEY \"a\" {\n  Policy = \"read\"\n}",
        ),
        (
            r#"{"key":{"a":{"policy":"read"}}}"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        (
            r#"key_prefix "a" { policy = "read" }"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        (
            r#"key "a" { policy = "x" }"#,
            "key_prefix \"a\" {\n  policy = \"x\"\n}",
        ),
        (
            r#"key "a" "b" { policy = "read" }"#,
            "key_prefix \"a\" \"b\" {\n  policy = \"read\"\n}",
        ),
        (
            r#"key a { policy = "read" }"#,
            "key_prefix a {\n  policy = \"read\"\n}",
        ),
        (
            r#"key = { a = { policy = "read" } }"#,
            "key_prefix = {\n  a = {\n    policy = \"read\"\n  }\n}",
        ),
        (
            "sentinel { code = <<E\nx\nE\n }",
            "sentinel {\n  code = <<E\nx\nE\n}",
        ),
        (
            r#"a = [1,2, "x"] b = { c = 1, d = "e" }"#,
            "a = [1, 2, \"x\"]\n\nb = {\n  c = 1\n\n  d = \"e\"\n}",
        ),
        (
            "service \"a\" { policy = \"read\"\n intentions = \"write\" }",
            "service_prefix \"a\" {\n  policy     = \"read\"\n  intentions = \"write\"\n}",
        ),
        (
            "/* block\n comment */ key \"a\" { policy = \"read\" }",
            "/* block\n comment */\n\nkey_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        ("a = 1\nbbb = 2\n\ncc = 3", "a = 1\n\nbbb = 2\n\ncc = 3"),
        (
            r#"key "a" { policy = "read" policy = "write" }"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  policy = \"write\"\n}",
        ),
        ("x = [\n1,\n# c\n2\n]", "x = [\n  1,\n\n  # c\n  2,\n]"),
        (
            "x = [{ a = 1 }, { b = 2 }]",
            "x = [\n  {\n    a = 1\n  },\n  {\n    b = 2\n  },\n]",
        ),
        ("x {}\ny { }\nz = {}", "x {}\ny {}\n\nz = {}"),
        (
            r#"key "a" { policy = "read" sentinel { code = "x" } }"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  sentinel {\n    code = \"x\"\n  }\n}",
        ),
        (
            "key \"a\" { a = 1\n b { c = 2 }\n longer = 3 }",
            "key_prefix \"a\" {\n  a = 1\n\n  b {\n    c = 2\n  }\n\n  longer = 3\n}",
        ),
        (
            r#"{"key":{"a":{"policy":"read"},"b":{"policy":"x"}},"operator":"read"}"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n}\n\nkey_prefix \"b\" {\n  policy = \"x\"\n}\n\n\"operator\" = \"read\"",
        ),
        (
            "{\n\"operator\":\"read\",\n\"keyring\":\"read\"\n}",
            "\"operator\" = \"read\"\n\n\"keyring\" = \"read\"",
        ),
        (
            "{\"key\":{\"a\":{\"policy\":\"read\",\n\"sentinel\":{\"code\":\"c\"}}}}",
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  \"sentinel\" = {\n    \"code\" = \"c\"\n  }\n}",
        ),
        (
            r#"{"x":[1,2,"a"],"y":true,"a b":1.5}"#,
            "\"x\" = [1, 2, \"a\"]\n\n\"y\" = true\n\n\"a b\" = 1.5",
        ),
        (
            "{\"service\":{\"web\":{\n\"policy\":\"read\",\n\"intentions\":\"write\"}}}",
            "service_prefix \"web\" {\n  policy = \"read\"\n\n  \"intentions\" = \"write\"\n}",
        ),
        (
            r#""key" "a" { policy = "read" }"#,
            "key_prefix \"a\" {\n  policy = \"read\"\n}",
        ),
        (
            "key \"a\" {}\nkey \"b\" {}\nnode \"c\" {}",
            "key_prefix \"a\" {}\nkey_prefix \"b\" {}\nnode_prefix \"c\" {}",
        ),
        (
            "key \"a\" { }\n\nkey \"b\" {}",
            "key_prefix \"a\" {}\n\nkey_prefix \"b\" {}",
        ),
        (
            "key \"a\" { policy = \"read\" }\nkey \"b\" { policy = \"write\" }",
            "key_prefix \"a\" {\n  policy = \"read\"\n}\n\nkey_prefix \"b\" {\n  policy = \"write\"\n}",
        ),
        (
            "key \"a\" {\n  x = 1 # one\n  yyy = 2 # two\n}",
            "key_prefix \"a\" {\n  x   = 1 # one\n  yyy = 2 # two\n}",
        ),
        (
            "key \"a\" {\n  x = 1\n\n  yyy = 2\n  z = 3\n}",
            "key_prefix \"a\" {\n  x = 1\n\n  yyy = 2\n  z   = 3\n}",
        ),
        (
            "key \"a\" {\n  # only\n}",
            "key_prefix \"a\" {\n  # only\n}",
        ),
        (
            "key \"a\" {\n  x = 1\n  # last\n}",
            "key_prefix \"a\" {\n  x = 1\n\n  # last\n}",
        ),
        ("# only", "# only\n"),
        (
            "key \"a\" {} # t\n# end",
            "key_prefix \"a\" {} # t\n\n# end\n",
        ),
        ("a = []", "a = []"),
        ("a = [\n]", "a = []"),
        (
            "a = [1]\nb = [\"x\", \"y\",]",
            "a = [1]\n\nb = [\"x\", \"y\"]",
        ),
        (
            "a = [\n  \"x\", # one\n  \"y\"\n]",
            "a = [\n  \"x\", # one\n  \"y\",\n]",
        ),
        (
            "key \"a\" {\n  x {}\n  y {}\n}",
            "key_prefix \"a\" {\n  x = {}\n  y = {}\n}",
        ),
        (
            "key \"a\" {\n  x = {}\n  y = 1\n}",
            "key_prefix \"a\" {\n  x = {}\n  y = 1\n}",
        ),
        (
            "key \"a\" {\n  policy = \"read\"\n  l = [1,2]\n}",
            "key_prefix \"a\" {\n  policy = \"read\"\n  l      = [1, 2]\n}",
        ),
        (
            "key \"a\" {\n  policy = \"read\"\n  l = [\n1,2]\n  m = 3\n}",
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  l = [\n    1,\n    2,\n  ]\n\n  m = 3\n}",
        ),
        ("a = 1 # x\nb = 2", "a = 1 # x\n\nb = 2"),
        (
            "# one\n\n# two\nkey \"a\" {}",
            "# one\n\n# two\nkey_prefix \"a\" {}",
        ),
        (
            "key \"a\" { x = <<E\nq\nE\n y = 1 }",
            "key_prefix \"a\" {\n  x = <<E\nq\nE\n\n  y = 1\n}",
        ),
        ("key = 1", "key_prefix = 1"),
        (
            "a = -1.5e3\nb = 0x1F c = true",
            "a = -1.5e3\n\nb = 0x1F\n\nc = true",
        ),
        ("acl =", ""),
        (
            "key \"a\\\"b\" { policy = \"${x}\" }",
            "key_prefix \"a\\\"b\" {\n  policy = \"${x}\"\n}",
        ),
        (
            "key \"a\" {\n  policy = \"read\", x = 1\n}",
            "key_prefix \"a\" {\n  policy = \"read\"\n\n  x = 1\n}",
        ),
        (
            r#"session "" { policy = "read" } 	"#,
            "session_prefix \"\" {\n  policy = \"read\"\n}",
        ),
    ];

    #[test]
    fn rules_are_laid_out_as_1_8_7_lays_them_out() {
        for (old, new) in SEEN {
            assert_eq!(translate(old).as_deref(), Ok(*new), "{old}");
        }
    }

    #[test]
    fn broken_rules_are_refused() {
        let rows = [
            (
                "key \"a\" {",
                "Failed to parse rules: At 1:11: object expected closing RBRACE got: EOF",
            ),
            (
                "key",
                "Failed to parse rules: At 1:5: key 'key' expected start of object ('{') or assignment ('=')",
            ),
        ];
        for (old, words) in rows {
            assert_eq!(translate(old), Err(words.to_owned()));
        }
    }
}
