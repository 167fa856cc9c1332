use super::*;
use proconsul_version::Version;

fn authorizer(texts: &[&str], default: DefaultPolicy, version: Version) -> Authorizer {
    let rules = texts.iter().map(|text| {
        let rules = Rules::parse(text, version);
        Arc::new(rules.unwrap_or_else(|error| panic!("{text}: {error}")))
    });
    Authorizer::new(&rules.collect::<Vec<_>>(), default)
}

/// Compares the questions that are allowed: `resource access name`, of which the last may be missing.
fn check(texts: &[&str], default: DefaultPolicy, rows: &[(&str, bool)]) {
    let version = Version::V1_22_0;
    let authorizer = authorizer(texts, default, version);
    for (row, expected) in rows {
        let mut words = row.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let question = Question::asked(word(), word(), word(), version);
        let question = question.unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(
            authorizer.allows(question),
            *expected,
            "{row} by {texts:?}, {default:?}"
        );
    }
}

use DefaultPolicy::{Allow, Deny};

/// acl.md 9.6, 9.7.
#[test]
fn the_exact_rule_decides_then_the_longest_prefix_then_the_default() {
    let rules = r#"
        key "a/b" { policy = "deny" } key_prefix "a/" { policy = "write" } key_prefix "a/b/c" { policy = "read" }
        key_prefix "a/b" { policy = "list" } key "" { policy = "read" } key_prefix "b" { policy = "read" }
    "#;
    let rows = [
        ("key read a/b", false),
        ("key read a/b1", true),
        ("key list a/b1", true),
        ("key write a/b1", false),
        ("key write a/c", true),
        ("key write a/", true),
        ("key read a", false),
        ("key read a/b/c/d", true),
        ("key list a/b/c/d", false),
        ("key list a/b/d", true),
        ("key read ", true),
        ("key read B", false),
        ("key read ab", false),
        ("key read ba", true),
        ("key read c", false),
    ];
    check(&[rules], Deny, &rows);
    check(
        &[rules],
        Allow,
        &[("key write c", true), ("key write b", false)],
    );
}

/// acl.md 9.8.
#[test]
fn the_strictest_or_highest_of_equal_rules_counts() {
    let [deny, read, list, write, upper] = ["deny", "read", "list", "write", "WRITE"]
        .map(|level| format!("key \"a\" {{ policy = \"{level}\" }}"));
    let rows: [(&[&str], [bool; 3]); 6] = [
        (&[&read, &write], [true, true, true]),
        (&[&write, &list, &read], [true, true, true]),
        (&[&read, &list], [true, true, false]),
        (&[&write, &deny, &read], [false, false, false]),
        (&[&upper], [true, true, true]),
        (&[&upper, &read], [true, false, false]),
    ];
    for (texts, [reads, lists, writes]) in rows {
        let expected = [
            ("key read a", reads),
            ("key list a", lists),
            ("key write a", writes),
        ];
        check(texts, Deny, &expected);
        let joined: Vec<&str> = texts.iter().rev().copied().collect();
        check(&joined, Deny, &expected);
        check(&[&texts.concat()], Deny, &expected);
    }
}

/// acl.md 9.9.
#[test]
fn services_decide_intentions() {
    let rules = r#"
        service "a" { policy = "write" } service "b" { policy = "deny" } service "c" { policy = "read" intentions = "write" }
    "#;
    let rows = [
        ("intention read a", true),
        ("intention write a", false),
        ("intention read b", false),
        ("intention write c", true),
        ("service write c", false),
        ("intention read *", true),
        ("intention write *", false),
    ];
    check(&[rules], Deny, &rows);
    let all = "service_prefix \"\" { policy = \"read\" intentions = \"write\" }";
    check(&[all], Deny, &[("intention write *", true)]);
    let none = "service_prefix \"\" { policy = \"deny\" }";
    check(&[none], Allow, &[("intention read *", false)]);
    check(&[], Allow, &[("intention write *", true)]);
    check(&[], Deny, &[("intention read *", false)]);
}

/// acl.md 9.10.
#[test]
fn rules_without_names_fall_back_but_acl_never_does() {
    let rows = [
        ("acl read", false),
        ("acl write", false),
        ("operator write", true),
        ("keyring write", true),
        ("mesh write", true),
        ("peering write", true),
    ];
    check(&[], Allow, &rows);
    let rows = [
        ("acl read", false),
        ("keyring read", false),
        ("mesh write", true),
        ("peering write", false),
        ("peering read", true),
    ];
    let rules = "operator = \"write\" peering = \"read\"";
    check(&[rules], Deny, &rows);
    check(
        &["acl = \"read\""],
        Deny,
        &[("acl read", true), ("acl write", false)],
    );
    let management = Authorizer::management();
    assert!(management.allows(Question::write(Resource::Acl, "")));
    assert!(management.allows(Question::delete_tree("")));
}

/// acl.md 6.5.
#[test]
fn a_tree_is_deleted_if_all_rules_in_it_are_write() {
    let rows = [
        ("key write-prefix app/q", true),
        ("key write-prefix app/", true),
        ("key write-prefix app", false),
        ("key write-prefix ", false),
    ];
    let write = "key_prefix \"app/\" { policy = \"write\" }";
    check(&[write], Deny, &rows);
    check(
        &["key \"app\" { policy = \"write\" }"],
        Deny,
        &[("key write-prefix app", false)],
    );
    let lower = "key \"app/a/b\" { policy = \"list\" }";
    let rows = [
        ("key write-prefix app/", false),
        ("key write-prefix app/a/b", false),
        ("key write-prefix app/b", true),
    ];
    check(&[write, lower], Deny, &rows);
    // acl.md 9.11.
    let secret = "key_prefix \"sec/\" { policy = \"deny\" }";
    let rows = [
        ("key write-prefix ", false),
        ("key write-prefix other", true),
        ("key read sec/a", false),
    ];
    check(&[secret], Allow, &rows);
}

/// acl.md 2.11.
#[test]
fn refusals_name_the_permission() {
    let rows = [
        (Question::read(Resource::Key, "a"), "'key:read' on \"a\""),
        (
            Question::read(Resource::Key, "a\"b"),
            "'key:read' on \"a\"b\"",
        ),
        (Question::list_keys(""), "'key:list'"),
        (Question::delete_tree("p/"), "'key:write' on \"p/\""),
        (Question::write(Resource::Acl, "x"), "'acl:write'"),
    ];
    for (question, expected) in rows {
        assert_eq!(question.to_string(), expected);
    }
}

/// acl.md 8.5.r2.
#[test]
fn questions_that_cannot_be_asked_say_why() {
    let asked = |resource, access| {
        let question = Question::asked(resource, access, "", Version::V1_8_7);
        question.map_or_else(|error| error.to_string(), |question| question.to_string())
    };
    let rows = [
        ("key", "READ", "'key:read'"),
        (
            "key",
            "bogus",
            "Invalid access level for key resource: bogus",
        ),
        (
            "node",
            "list",
            "Invalid access level for node resource: list",
        ),
        ("mesh", "read", "Invalid ACL resource requested: \"mesh\""),
        ("Key", "read", "Invalid ACL resource requested: \"Key\""),
    ];
    for (resource, access, expected) in rows {
        assert_eq!(asked(resource, access), expected);
    }
}
