//! Filters against what a real Consul 1.8.7 says.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::expression::{Match, Operator};
use super::{Each, Expression, Field, Filter, Keyed, Listed, Within};
use proconsul_testing::random_cases;
use proconsul_testing::{DEPTHS, on_small_stack};
use proconsul_version::Version;

/// A row with a field of every kind.
struct Row {
    name: &'static str,
    port: i64,
    flag: bool,
    tags: Vec<String>,
    meta: Option<BTreeMap<String, String>>,
    parts: Vec<Part>,
    named: Option<BTreeMap<String, Part>>,
    inner: Part,
}

struct Part {
    label: String,
}

const PART: &Listed<Part> = &Listed(&[Field::text("Label", |part| &part.label)]);
const ROW: &Listed<Row> = &Listed(&[
    Field::text("Name", |row| row.name),
    Field::number("Port", |row| row.port),
    Field::flag("Flag", |row| row.flag),
    Field::texts("Tags", |row| &row.tags),
    Field::labels("Meta", |row| row.meta.as_ref()),
    Field::rows(
        "Parts",
        &Each {
            get: |row: &Row| row.parts.iter().collect(),
            fields: PART,
        },
    ),
    Field::rows(
        "Named",
        &Keyed {
            get: |row: &Row| row.named.as_ref(),
            fields: PART,
        },
    ),
    Field::rows(
        "Inner",
        &Within {
            get: |row: &Row| &row.inner,
            fields: PART,
        },
    ),
]);

fn part(label: &str) -> Part {
    Part {
        label: label.into(),
    }
}

fn full() -> Row {
    Row {
        name: "n1",
        port: 80,
        flag: true,
        tags: vec!["v1".into(), "a.b".into()],
        meta: Some(BTreeMap::from([("b-c".into(), "2".into())])),
        parts: vec![part("p"), part("q")],
        named: Some(BTreeMap::from([("lan".into(), part("p"))])),
        inner: part("in"),
    }
}

fn bare() -> Row {
    Row {
        name: "",
        port: 0,
        flag: false,
        tags: Vec::new(),
        meta: None,
        parts: Vec::new(),
        named: None,
        inner: part(""),
    }
}

#[track_caller]
fn kept(filter: &str) -> (bool, bool) {
    let read = Filter::new(filter.as_bytes(), ROW, Version::default());
    let read = read.unwrap_or_else(|error| panic!("{filter}: {error}"));
    (read.keeps(&full()), read.keeps(&bare()))
}

fn refused(filter: &[u8]) -> String {
    Filter::new(filter, ROW, Version::default()).expect_err("the filter is refused")
}

#[test]
fn what_filters_let_through() {
    for (filter, expected) in [
        ("", (true, true)),
        ("Name == n1", (true, false)),
        ("Name==\"n1\"", (true, false)),
        ("Name != `n1`", (false, true)),
        ("\t Name ==\nn1 ", (true, false)),
        ("n in Name", (true, false)),
        ("Name contains n", (true, false)),
        ("Name not contains n", (false, true)),
        ("n not in Name", (false, true)),
        ("\"\" in Name", (true, true)),
        ("Name matches `^n[0-9]$`", (true, false)),
        ("Name not matches 1", (false, true)),
        ("Port == 80", (true, false)),
        ("Port == \"0x50\"", (true, false)),
        ("Port != -1", (true, true)),
        ("Flag == true", (true, false)),
        ("Flag != T", (false, true)),
        ("v1 in Tags", (true, false)),
        ("Tags contains a.b", (true, false)),
        ("a[\"b\"] in Tags", (true, false)),
        ("v not in Tags", (true, true)),
        ("Tags is empty", (false, true)),
        ("Tags is  not\tempty", (true, false)),
        ("Meta is empty", (false, true)),
        ("\"b-c\" in Meta", (true, false)),
        ("Meta[\"b-c\"] == 2", (true, false)),
        ("Meta[ `b-c` ] == 3", (false, false)),
        ("Parts is empty", (false, true)),
        ("Parts.Label == q", (true, false)),
        ("Parts.Label != q", (true, false)),
        ("not Parts.Label == q", (false, true)),
        ("lan in Named", (true, false)),
        ("Named.lan.Label == p", (true, false)),
        ("Named is not empty", (true, false)),
        ("Inner.Label == in", (true, false)),
    ] {
        assert_eq!(kept(filter), expected, "{filter}");
    }
}

#[test]
fn what_is_absent_meets_every_claim_but_equality_and_containment() {
    for (filter, expected) in [
        ("Meta.none == \"\"", false),
        ("Meta.none contains \"\"", false),
        ("Meta.none != \"\"", true),
        ("Meta.none not contains \"\"", true),
        ("Meta.none matches x", true),
        ("Meta.none not matches x", true),
        ("Named.wan.Label == \"\"", false),
        ("Named.wan.Label matches x", true),
    ] {
        assert_eq!(kept(filter), (expected, expected), "{filter}");
    }
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    for (filter, expected) in [
        ("Name == n1 or Name == \"\" and Port == 1", (true, false)),
        ("(Name == n1 or Name == \"\") and Port == 0", (false, true)),
        ("not Name == n1 and Port == 0", (false, true)),
        ("not Name == n1 or Port == 80", (true, true)),
        ("not not Name == n1", (true, false)),
        ("not (Name == n1 and Port == 80)", (false, true)),
        ("((Name == n1))", (true, false)),
        ("( Name == n1 )", (true, false)),
        ("not in Name", (false, false)),
        ("Name == and and Name == or", (false, false)),
    ] {
        assert_eq!(kept(filter), expected, "{filter}");
    }
}

/// What would have gone on at the farthest place, and where that is.
#[test]
fn texts_that_are_no_expression() {
    let start = r#""(", "-", "0", "\"", "`", "not", [ \t\r\n], [1-9] or [a-zA-Z]"#;
    let operator = r#""!=", "==", "contains", "in", "is", "matches", "not" or [ \t\r\n]"#;
    let name = r#""!=", ".", "==", "[", [ \t\r\n] or [a-zA-Z0-9_]"#;
    let value = r#""-", "0", "\"", "`", [ \t\r\n], [1-9] or [a-zA-Z]"#;
    let end = r#""and", "or", [ \t\r\n] or EOF"#;
    for (text, place, expected) in [
        ("   ", "1:4 (3)", start),
        ("Name", "1:5 (4)", name),
        ("Name ==", "1:8 (7)", value),
        ("Name = n1", "1:6 (5)", operator),
        ("Name == n1 and", "1:15 (14)", r"[ \t\r\n]"),
        ("Name == n1 and ()", "1:17 (16)", start),
        (
            "Name == n1)",
            "1:11 (10)",
            r#"".", "[", [ \t\r\n], [a-zA-Z0-9_] or EOF"#,
        ),
        ("Name == n1 n2", "1:12 (11)", end),
        ("Name == -", "1:10 (9)", r#""0" or [1-9]"#),
        ("Name == -\n", "2:0 (9)", r#""0" or [1-9]"#),
        ("Name == 1)", "1:10 (9)", r#"".", [ \t\r\n], [0-9] or EOF"#),
        ("Name == 1.5)", "1:12 (11)", r"[ \t\r\n], [0-9] or EOF"),
        ("Meta.1 == 1", "1:6 (5)", "[a-zA-Z]"),
        (
            "n1 not Name",
            "1:8 (7)",
            r#""contains", "in", "matches" or [ \t\r\n]"#,
        ),
        ("\"n1\" == Name", "1:6 (5)", r#""in", "not" or [ \t\r\n]"#),
        ("Name is not", "1:12 (11)", r"[ \t\r\n]"),
        ("Name\n==\n\n\nx\ny", "6:1 (12)", end),
        ("Name==`\u{fffd}` x", "1:11 (12)", end),
        ("Name is emptyx", "1:14 (13)", r"[ \t\r\n] or EOF"),
        (
            "not ",
            "1:5 (4)",
            r#""!=", "(", "-", "0", "==", "\"", "`", "contains", "in", "is", "matches", "not", [ \t\r\n], [1-9] or [a-zA-Z]"#,
        ),
    ] {
        let message = format!("{place}: no match found, expected: {expected}");
        assert_eq!(refused(text.as_bytes()), message, "{text}");
    }
}

/// What rules complain of, all of it.
#[test]
fn complaints_of_rules() {
    for (text, complaints) in [
        (
            &b"(Name == n1"[..],
            &["1:12 (11): rule \"grouping\": Unmatched parentheses"][..],
        ),
        (
            b"(Name == n1 n2)",
            &["1:13 (12): rule \"grouping\": Unmatched parentheses"],
        ),
        (
            b"Name == 01",
            &["1:10 (9): rule \"number\": Invalid number literal"],
        ),
        (
            b"Name == 10.0.0.1",
            &["1:13 (12): rule \"number\": Invalid number literal"],
        ),
        (
            b"Name == \"a",
            &["1:11 (10): rule \"string\": Unterminated string literal"],
        ),
        (
            b"Name == \"a\\\"b\"",
            &["1:9 (8): rule \"string\": invalid syntax"],
        ),
        (b"Meta[a] == 1", &["1:6 (5): rule \"index\": Invalid index"]),
        (
            b"Meta[\"a\" == 1",
            &["1:10 (9): rule \"index\": Unclosed index expression"],
        ),
        (b"a in 5", &["1:6 (5): rule \"match\": Invalid selector"]),
        (
            b"Name == \"\\q\" and Name == \"\\r\" and Name == \"\\z\"",
            &[
                "1:9 (8): rule \"string\": invalid syntax",
                "1:43 (42): rule \"string\": invalid syntax",
            ],
        ),
        (
            b"(Name == \"\\q\"",
            &[
                "1:10 (9): rule \"string\": invalid syntax",
                "1:14 (13): rule \"grouping\": Unmatched parentheses",
            ],
        ),
        (
            b"n1 in Name[\"a",
            &[
                "1:14 (13): rule \"string\": Unterminated string literal",
                "1:12 (11): rule \"index\": Invalid index",
            ],
        ),
    ] {
        assert_eq!(refused(text), complaints.join("\n"));
    }
}

#[test]
fn bytes_that_are_no_utf_8() {
    for (text, complaints) in [
        (&b"\xff"[..], &["1:1 (0): invalid encoding"][..]),
        (
            b"Name==\xff",
            &["1:7 (6): rule MatchEqual: invalid encoding"],
        ),
        (
            b"Name==\"\xff\"",
            &["1:8 (7): rule \"string\": invalid encoding"],
        ),
        (
            b"(\xff",
            &[
                "1:2 (1): rule Input: invalid encoding",
                "1:2 (1): rule \"grouping\": invalid encoding",
            ],
        ),
        (
            b"Name i\xff",
            &[
                "1:7 (6): rule MatchIsEmpty: invalid encoding",
                "1:7 (6): rule MatchIsNotEmpty: invalid encoding",
                "1:7 (6): rule MatchIn: invalid encoding",
            ],
        ),
        (
            b"1.\xff",
            &[
                "1:3 (2): rule IntegerOrFloat: invalid encoding",
                "1:3 (2): rule EOF: invalid encoding",
                "1:2 (1): rule \"number\": Invalid number literal",
            ],
        ),
        (
            b"Name in \xff",
            &[
                "1:9 (8): rule \"whitespace\": invalid encoding",
                "1:9 (8): rule \"match\": Invalid selector",
            ],
        ),
    ] {
        assert_eq!(refused(text), complaints.join("\n"));
    }
}

#[test]
fn claims_that_cannot_be_made() {
    for (filter, error) in [
        ("Nope == 1", r#"Selector "Nope" is not valid"#),
        ("name == 1", r#"Selector "name" is not valid"#),
        ("Nope.a == 1", r#"Selector "Nope" is not valid"#),
        (
            "Named.a.Nope.c == 1",
            r#"Selector "Named.a.Nope" is not valid"#,
        ),
        ("Name.x == 1", r#"Selector "Name.x" is not valid"#),
        ("Meta[\"a\"].b == 1", r#"Selector "Meta.a.b" is not valid"#),
        ("Inner.Nope == 1", r#"Selector "Inner.Nope" is not valid"#),
        (
            "Name is empty",
            r#"Invalid match operator "Is Empty" for selector "Name""#,
        ),
        (
            "Meta == 1",
            r#"Invalid match operator "Equal" for selector "Meta""#,
        ),
        (
            "Tags != 1",
            r#"Invalid match operator "Not Equal" for selector "Tags""#,
        ),
        (
            "Port contains 8",
            r#"Invalid match operator "In" for selector "Port""#,
        ),
        (
            "Parts matches p",
            r#"Invalid match operator "Matches" for selector "Parts""#,
        ),
        (
            "Inner is empty",
            r#"Invalid match operator "Is Empty" for selector "Inner""#,
        ),
        (
            "Named.lan == 1",
            r#"Invalid match operator "Equal" for selector "Named.lan""#,
        ),
        (
            "Port == `a\"b`",
            r#"Failed to coerce value "a\"b" for selector "Port": strconv.ParseInt: parsing "a\"b": invalid syntax"#,
        ),
        (
            "Flag == yes",
            r#"Failed to coerce value "yes" for selector "Flag": strconv.ParseBool: parsing "yes": invalid syntax"#,
        ),
        (
            "Name matches \"[\"",
            r#"Failed to compile regular expression "[": error parsing regexp: missing closing ]: `[`"#,
        ),
        (
            "Port == x and Nope == 1",
            r#"Failed to coerce value "x" for selector "Port": strconv.ParseInt: parsing "x": invalid syntax"#,
        ),
    ] {
        assert_eq!(refused(filter.as_bytes()), error, "{filter}");
    }
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let nested = |depth: usize| format!("{}Name == n1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(kept(&nested(20)), (true, false));
    let too_deep = "the expression is nested too deeply";
    assert_eq!(refused(nested(20_000).as_bytes()), too_deep);
    on_small_stack(|| {
        for depth in DEPTHS {
            let nots = "not ".repeat(depth.min(10_000));
            assert_eq!(kept(&format!("{nots}Name == n1")), (true, false), "{depth}");
            let refused = refused(nots.as_bytes());
            assert!(refused.contains("no match found, expected:"), "{refused}");
            for open in ["(", "not (", "Name == b or (", "( not "] {
                let text = open.repeat(depth) + "Name == n1" + &")".repeat(depth);
                let refused = Filter::new(text.as_bytes(), ROW, Version::default()).err();
                assert!(
                    refused.is_none() || depth > 10,
                    "{open} {depth}: {refused:?}"
                );
            }
        }
    });
    let chain = |word: &str| vec!["Name == n1"; 5_000].join(word);
    assert_eq!(kept(&chain(" or ")), (true, false));
    assert_eq!(kept(&chain(" and ")), (true, false));
}

/// The second line begins behind what is complained of first; positions are counted on from the last one.
#[test]
fn complaints_come_with_their_places() {
    let refused = refused(b"Name == \"\xff\n\xff\xff\" and");
    assert_eq!(
        refused,
        "1:10 (9): rule \"string\": invalid encoding\n\
         2:1 (11): rule DoubleStringChar: invalid encoding\n\
         2:2 (12): rule DoubleStringChar: invalid encoding\n\
         1:9 (8): rule \"string\": invalid syntax"
    );
}

fn expressions() -> impl Strategy<Value = Expression> {
    let names = prop_oneof![Just(b"Meta".to_vec()), vec(any::<u8>(), 0..5)];
    let operator = select(vec![
        Operator::Equal,
        Operator::NotEqual,
        Operator::In,
        Operator::NotIn,
        Operator::IsEmpty,
        Operator::IsNotEmpty,
        Operator::Matches,
        Operator::NotMatches,
    ]);
    let claim = (vec(names, 0..3), operator, vec(any::<u8>(), 0..8));
    let claim = claim.prop_map(|(names, operator, value)| {
        let takes_none = matches!(operator, Operator::IsEmpty | Operator::IsNotEmpty);
        Expression::Match(Match {
            selector: std::iter::once(b"Name".to_vec()).chain(names).collect(),
            operator,
            value: if takes_none { Vec::new() } else { value },
        })
    });
    claim.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Expression::All),
            vec(inner.clone(), 2..4).prop_map(Expression::Any),
            inner.prop_map(|negated| Expression::Not(Box::new(negated))),
        ]
    })
}

proptest! {
    #![proptest_config(random_cases(1000))]

    #[test]
    fn what_is_printed_is_read_as_the_same(expression in expressions()) {
        let printed = expression.to_string();
        prop_assert_eq!(Expression::parse(printed.as_bytes()), Ok(expression), "{}", printed);
    }

    #[test]
    fn any_bytes_are_an_expression_or_an_error(bytes in vec(any::<u8>(), 0..60)) {
        let _ = Expression::parse(&bytes).map_err(|error| assert!(!error.is_empty()));
    }

    #[test]
    fn any_words_are_an_expression_or_an_error(words in vec(select(vec![
        "Name", "Meta", " ", "(", ")", "==", "!=", "not", "and", "or", "in", "is", "empty", "[", "]", "\"", "`", "a",
        "1", "-", ".", "\\", "\n", "contains", "matches", "é",
    ]), 0..25)) {
        match Filter::new(words.concat().as_bytes(), ROW, Version::default()) {
            Ok(filter) => { filter.keeps(&full()); }
            Err(error) => prop_assert!(!error.is_empty()),
        }
    }
}
