use super::*;
use proconsul_testing::{DEPTHS, on_small_stack};

/// Returns what a release says about rules; `ok` if it takes them.
fn said(text: &str, version: Version) -> String {
    match Rules::parse(text, version) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Compares with what 1.8.7 was seen to say.
fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(said(text, Version::V1_8_7), *expected, "{text:?}");
    }
}

/// acl.md 9.1, 9.2, 9.3, 9.5.
#[test]
fn texts_that_say_nothing_or_are_let_pass() {
    check(&[
        ("", "ok"),
        ("# x", "ok"),
        ("KEY \"a\" { POLICY = \"WRITE\" }", "ok"),
        ("acK = \"x\" ſession \"a\" { policy = \"read\" }", "ok"),
        ("acl = \"\"", "ok"),
        (
            "sentinel { a = 1 } foo = 1 mesh = \"x\" peering = \"x\"",
            "ok",
        ),
        (
            "key \"a\" { policy = \"read\" namespace = \"x\" sentinel { code = \"y\" } }",
            "ok",
        ),
        ("key { policy = \"write\" }", "ok"),
        ("key = []", "ok"),
        ("acl =", "ok"),
        ("x = 08", "ok"),
        ("{\"key\":", "ok"),
        ("{", "ok"),
        ("{\"acl\" \"x\"}", "ok"),
        ("{\"a\":1]", "ok"),
        ("{} x", "ok"),
        ("{\"acl\":null}", "ok"),
        ("{\"key\":[[{}]]}", "ok"),
        ("x { a = } }", "ok"),
    ]);
}

/// acl.md 9.errors.r1 to r4.
const LEVELS: &[(&str, &str)] = &[
    (
        "key \"a\" { policy = \"x\" }",
        "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    (
        "key \"a\" {}",
        "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    (
        "key_prefix \"a\" { policy = \"x\" }",
        "Invalid key_prefix policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    ("key_prefix \"a\" { policy = \"list\" }", "ok"),
    (
        "node \"a\" { policy = \"list\" }",
        "Invalid node policy: &acl.NodeRule{Name:\"a\", Policy:\"list\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    (
        "service \"a\" { policy = \"x\" intentions = \"y\" }",
        "Invalid service policy: &acl.ServiceRule{Name:\"a\", Policy:\"x\", Intentions:\"y\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    (
        "service_prefix \"a\" { policy = \"read\" intentions = \"list\" }",
        "Invalid service_prefix intentions policy: &acl.ServiceRule{Name:\"a\", Policy:\"read\", Intentions:\"list\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    (
        "service \"a\" { policy = \"write\" intentions = \"DENY\" }",
        "ok",
    ),
    (
        "session_prefix \"a\" { policy = \" read\" }",
        "Invalid session_prefix policy: &acl.SessionRule{Node:\"a\", Policy:\" read\"}",
    ),
    (
        "event \"a\" { policy = \"x\" }",
        "Invalid event policy: &acl.EventRule{Event:\"a\", Policy:\"x\"}",
    ),
    (
        "query_prefix \"a\" { policy = \"x\" }",
        "Invalid query_prefix policy: &acl.PreparedQueryRule{Prefix:\"a\", Policy:\"x\"}",
    ),
    (
        "agent_prefix \"a\" { policy = \"\" }",
        "Invalid agent_prefix policy: &acl.AgentRule{Node:\"a\", Policy:\"\"}",
    ),
    (
        "key \"é\\u0001\\\"\\u2028\" { policy = \"x\" }",
        "Invalid key policy: &acl.KeyRule{Prefix:\"é\\x01\\\"\\u2028\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    ("acl = \"x\"", "Invalid acl policy: \"x\""),
    ("acl = \"list\"", "Invalid acl policy: \"list\""),
    ("acl = 5", "Invalid acl policy: \"5\""),
    ("keyring = \"x\"", "Invalid keyring policy: \"x\""),
    ("operator = \"x\"", "Invalid operator policy: \"x\""),
    (
        "key_prefix \"b\" { policy = \"y\" } agent \"a\" { policy = \"q\"} acl = \"write\" operator = \"x\"",
        "Invalid agent policy: &acl.AgentRule{Node:\"a\", Policy:\"q\"}",
    ),
    (
        "query \"z\" { policy = \"x\" } key \"b\" { policy = \"y\" } acl = \"z\"",
        "Invalid acl policy: \"z\"",
    ),
    (
        "event \"z\" { policy = \"x\" } session \"b\" { policy = \"y\" }",
        "Invalid session policy: &acl.SessionRule{Node:\"b\", Policy:\"y\"}",
    ),
    ("acl = \"read\" acl = \"x\"", "Invalid acl policy: \"x\""),
    ("key \"a\" { policy = \"x\" policy = \"read\" }", "ok"),
    (
        "key \"a\" \"b\" { policy = \"read\" }",
        "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"\", EnterpriseRule:acl.EnterpriseRule{}}",
    ),
    ("key \"a\" \"b\" \"c\" { policy = \"read\" }", "ok"),
];

#[test]
fn levels_are_checked_in_one_order() {
    check(LEVELS);
}

/// acl.md 9.errors.r5.
const KINDS_OF_VALUES: &[(&str, &str)] = &[
    (
        "acl = true",
        "Failed to parse ACL rules: At 1:7: root.acl: unknown type for string *ast.LiteralType",
    ),
    (
        "acl = [\"read\"]",
        "Failed to parse ACL rules: At 1:7: root.acl: unknown type for string *ast.ListType",
    ),
    (
        "acl { x = \"y\" }",
        "Failed to parse ACL rules: At 1:7: root.acl: unknown type for string *ast.ObjectList",
    ),
    (
        "acl \"x\" { y = 1 }",
        "Failed to parse ACL rules: At 1:5: root.acl: unknown type for string *ast.ObjectList",
    ),
    (
        "key = \"read\"",
        "Failed to parse ACL rules: At 1:7: unknown slice type: *ast.LiteralType",
    ),
    (
        "key = [\"a\"]",
        "Failed to parse ACL rules: At 1:8: root.key[0]: not an object type for struct (*ast.LiteralType)",
    ),
    (
        "key = [[]]",
        "Failed to parse ACL rules: At 1:8: root.key[0]: not an object type for struct (*ast.ListType)",
    ),
    (
        "key = [{ a = { policy = \"read\" } }]",
        "Failed to parse ACL rules: At 1:10: root.key[0]: Prefix asked for 'key', impossible",
    ),
    (
        "key \"a\" { policy = [\"read\"] }",
        "Failed to parse ACL rules: At 1:20: root.key[0].Policy: unknown type for string *ast.ListType",
    ),
    (
        "key \"a\" { policy = true }",
        "Failed to parse ACL rules: At 1:20: root.key[0].Policy: unknown type for string *ast.LiteralType",
    ),
    (
        "key \"a\" \"policy\" { x = 1 }",
        "Failed to parse ACL rules: At 1:20: root.key[0].Policy: unknown type for string *ast.ObjectList",
    ),
    (
        "service \"a\" { intentions = true policy = true }",
        "Failed to parse ACL rules: At 1:42: root.service[0].Policy: unknown type for string *ast.LiteralType",
    ),
    (
        "key = 5 acl = true",
        "Failed to parse ACL rules: At 1:15: root.acl: unknown type for string *ast.LiteralType",
    ),
    (
        "operator = true key = 5",
        "Failed to parse ACL rules: At 1:23: unknown slice type: *ast.LiteralType",
    ),
    (
        "key = 5 key \"b\" { policy = true }",
        "Failed to parse ACL rules: At 1:28: root.key[0].Policy: unknown type for string *ast.LiteralType",
    ),
    (
        "{\"key\":\"read\"}",
        "Failed to parse ACL rules: At -: unknown slice type: *ast.LiteralType",
    ),
    (
        "{\"key\":[5]}",
        "Failed to parse ACL rules: At -: root.key[0]: not an object type for struct (*ast.LiteralType)",
    ),
    (
        "{\"key\":{\"a\":[]}}",
        "Failed to parse ACL rules: At -: root.key[0]: not an object type for struct (*ast.ListType)",
    ),
    (
        "{\"acl\":{\"x\":1}}",
        "Failed to parse ACL rules: At -: root.acl: unknown type for string *ast.ObjectList",
    ),
    (
        "{\"key\":{\"a\":{\"policy\":[\"x\"]}}}",
        "Failed to parse ACL rules: At -: root.key[0].Policy: unknown type for string *ast.ListType",
    ),
];

#[test]
fn values_of_another_kind_are_refused_where_they_stand() {
    check(KINDS_OF_VALUES);
}

/// acl.md 9.4.
#[test]
fn json_has_the_forms_of_blocks() {
    check(&[
        (
            "{\"key\":{\"a\":{\"policy\":\"x\"}}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\":[{\"a\":{\"policy\":\"write\"}},{\"b\":{\"policy\":\"y\"}}]}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"b\", Policy:\"y\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\":{\"a\":[{\"policy\":\"x\"}]}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\":{\"a\":\"read\"}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\":{\"policy\":\"x\"}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"policy\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\":{\"a\":{\"b\":{\"policy\":\"read\"}}}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"KEY\":{\"b\":{\"POLICY\":\"x\"}}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"b\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "{\"key\" \"a\":{\"policy\":\"x\"}}",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        ("{\"acl\":\"x\",\"acl\":\"read\"}", "ok"),
        (
            "key = { a = { policy = \"x\" } }",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
        (
            "key { a { policy = \"x\" } }",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
    ]);
}

/// acl.md 9.errors.r5.
const SYNTAX: &[(&str, &str)] = &[
    (
        "policy = read",
        "Failed to parse ACL rules: At 1:10: Unknown token: 1:10 IDENT read",
    ),
    (
        "key \"a\" { policy = \"x\"",
        "Failed to parse ACL rules: At 1:24: object expected closing RBRACE got: EOF",
    ),
    (
        "key \"a\" {policy = 1",
        "Failed to parse ACL rules: At 1:23: object expected closing RBRACE got: EOF",
    ),
    (
        "key",
        "Failed to parse ACL rules: At 1:5: key 'key' expected start of object ('{') or assignment ('=')",
    ),
    (
        "a = [1",
        "Failed to parse ACL rules: At 1:9: error parsing list, expected comma or list end, got: EOF",
    ),
    (
        "a = [{b = 1",
        "Failed to parse ACL rules: At 1:6: error while trying to parse object within list: At 1:15: object expected closing RBRACE got: EOF",
    ),
    (
        "x {{",
        "Failed to parse ACL rules: At 1:4: expected: IDENT | STRING got: LBRACE",
    ),
    (
        "key_prefix \"\" = { policy = \"write\" }",
        "Failed to parse ACL rules: At 1:15: nested object expected: LBRACE got: ASSIGN",
    ),
    (
        "key 'a' { policy = 'x' }",
        "Failed to parse ACL rules: At 1:5: illegal char",
    ),
    (
        "[]",
        "Failed to parse ACL rules: At 1:1: expected: IDENT | STRING | ASSIGN | LBRACE got: LBRACK",
    ),
    (
        "a = \"\\q\" b = \"",
        "Failed to parse ACL rules: At 1:15: literal not terminated",
    ),
    ("{\"a\":x}", "Failed to parse ACL rules: 1:6: illegal char"),
    (
        "{\"a\":01}",
        "Failed to parse ACL rules: 1:7: numbers cannot start with 0",
    ),
    (
        "{\"a\":-0555}",
        "Failed to parse ACL rules: 1:10: numbers cannot start with 0",
    ),
    (
        "{055",
        "Failed to parse ACL rules: 1:6: numbers cannot start with 0",
    ),
    (
        "{0",
        "Failed to parse ACL rules: 1:4: numbers cannot start with 0",
    ),
    (
        "{\"acl\":+1}",
        "Failed to parse ACL rules: 1:8: illegal char: +",
    ),
    (
        "{\"acl\":\"a",
        "Failed to parse ACL rules: 1:10: literal not terminated",
    ),
    (
        "{\"a\":,}",
        "Failed to parse ACL rules: Expected object value, got unknown token: 1:6 COMMA ,",
    ),
    (
        "{,\"acl\":\"x\"}",
        "Failed to parse ACL rules: expected: STRING got: COMMA",
    ),
    (
        "{\"a\":[1",
        "Failed to parse ACL rules: unexpected token while parsing list: EOF",
    ),
    (
        "{\"key\":[null]}",
        "Failed to parse ACL rules: unexpected token while parsing list: NULL",
    ),
    (
        "{\"a\":[{]}",
        "Failed to parse ACL rules: expected: STRING got: RBRACK",
    ),
];

#[test]
fn syntax_errors_have_positions_in_hcl_alone() {
    check(SYNTAX);
}

/// acl.md 9.2, 9.errors.r3.
#[test]
fn late_releases_know_mesh_and_peering() {
    for (text, version, expected) in [
        ("mesh = \"x\"", Version::new(1, 9, 17), "ok"),
        (
            "mesh = \"x\"",
            Version::new(1, 10, 0),
            "Invalid mesh policy: \"x\"",
        ),
        ("peering = \"x\"", Version::new(1, 12, 0), "ok"),
        (
            "peering = \"x\"",
            Version::V1_22_0,
            "Invalid peering policy: \"x\"",
        ),
        (
            "peering = \"x\" mesh = \"y\" operator = \"z\"",
            Version::V1_22_0,
            "Invalid operator policy: \"z\"",
        ),
    ] {
        assert_eq!(said(text, version), expected, "{text} on {version}");
    }
}

/// acl.md 9.errors.r6.
#[test]
fn late_releases_take_an_argument_once() {
    for (text, expected) in [
        (
            "key \"a\" { policy = \"read\" policy = \"read\" }",
            "Failed to parse ACL rules: The argument \"policy\" at 1:27 was already set. Each argument can only be \
             defined once",
        ),
        ("key \"a\" {policy = \"read\"\n }\nacl = \"read\"", "ok"),
        (
            "key \"a\" { policy = \"read\" } key \"a\" { policy = \"read\" }",
            "ok",
        ),
        ("{\"acl\":\"read\",\"acl\":\"read\"}", "ok"),
        (
            "key \"a\" { policy = \"x\" } policy = 1",
            "Invalid key policy: &acl.KeyRule{Prefix:\"a\", Policy:\"x\", EnterpriseRule:acl.EnterpriseRule{}}",
        ),
    ] {
        assert_eq!(said(text, Version::V1_22_0), expected, "{text}");
    }
    assert_eq!(
        said(
            "key \"a\" { policy = \"read\" policy = \"read\" }",
            Version::new(1, 20, 1)
        ),
        "ok"
    );
}

#[test]
fn deep_rules_take_no_stack() {
    on_small_stack(|| {
        for depth in DEPTHS {
            let texts = [("{\"a\":", "1", "}"), ("a {", "", "}"), ("a ", "{}", "")];
            for (open, middle, close) in texts {
                let text = open.repeat(depth) + middle + &close.repeat(depth);
                let said = said(&text, Version::V1_8_7);
                assert!(depth < 64 || said.ends_with("exceeded max depth"), "{said}");
            }
            let lists = format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
            let said = said(&lists, Version::V1_8_7);
            assert!(
                depth < 64 || said.ends_with("exceeded max depth"),
                "{depth}"
            );
        }
    });
}
