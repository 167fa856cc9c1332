use super::*;
use proconsul_testing::{DEPTHS, on_small_stack};

/// Prints a document in one line, with unwrapped objects.
fn shown(text: &str) -> String {
    fn show(tree: &Tree) -> String {
        match tree {
            Tree::Null => "null".to_owned(),
            Tree::Bool(value) => value.to_string(),
            Tree::Integer(number) => number.to_string(),
            Tree::Float(number) => format!("{number:?}"),
            Tree::Text(text) => format!("{text:?}"),
            Tree::List(items) => {
                format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            Tree::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, member)| format!("{name}={}", show(member)))
                    .collect();
                format!("{{{}}}", members.join(" "))
            }
        }
    }
    match parse(text) {
        Ok(tree) => show(&tree),
        Err(error) => error,
    }
}

fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(shown(text), *expected, "{text:?}");
    }
}

#[test]
fn values_of_every_kind() {
    check(&[
        ("", "{}"),
        ("a = 1 b = -2 c = 0x1F d = 010", "{a=1 b=-2 c=31 d=8}"),
        (
            "a = 1.5 b = 1e3 c = .5 d = 1.",
            "{a=1.5 b=1000.0 c=0.5 d=1.0}",
        ),
        ("a = true b = false", "{a=true b=false}"),
        (r#"a = "x" "b c" = "y""#, r#"{a="x" b c="y"}"#),
        (
            r#"a = "\"q\" \\ \t \u00e9 \x41 \101""#,
            r#"{a="\"q\" \\ \t é A A"}"#,
        ),
        (r#"a = "${foo "bar"} x""#, r#"{a="${foo \"bar\"} x"}"#),
        (r#"a = ["x", "y",]"#, r#"{a=["x" "y"]}"#),
        ("a = [1,,2] b = [,] c = [[1]]", "{a=[1 2] b=[] c=[[1]]}"),
        ("a-b.c_d = 1", "{a-b.c_d=1}"),
    ]);
}

#[test]
fn objects_are_lists_to_which_blocks_of_the_same_name_add() {
    check(&[
        ("a { b = 1 }", "{a=[{b=1}]}"),
        ("a = { b = 1, c = 2, }", "{a=[{b=1 c=2}]}"),
        ("a { b = 1 } a { c = 2 }", "{a=[{b=1} {c=2}]}"),
        (r#"a "x" "y" { b = 1 }"#, "{a=[{x=[{y=[{b=1}]}]}]}"),
        ("a = [{ b = 1 }, { c = 2 }]", "{a=[{b=1} {c=2}]}"),
        ("a = [1] a = [2]", "{a=[1 2]}"),
        ("a = 1 a = 2", "{a=2}"),
    ]);
}

#[test]
fn several_items_fit_on_one_line_and_commas_are_allowed() {
    check(&[
        (
            r#"acl { enabled = true default_policy = "deny" }"#,
            r#"{acl=[{default_policy="deny" enabled=true}]}"#,
        ),
        ("a = 1, b = 2", "{a=1 b=2}"),
    ]);
}

#[test]
fn comments_and_line_ends() {
    check(&[
        ("# all\n", "{}"),
        ("a = 1 # x\n// y\n/* z\n */ b = 2\r\n", "{a=1 b=2}"),
        ("\u{feff}a = 1", "At 1:1: illegal char"),
        ("a\0 = 1", "At 1:2: unexpected null character (0x00)"),
        ("a = 1 /* x", "At 1:11: comment not terminated"),
        ("a = 1 / x", "At 1:7: expected '/' for comment"),
    ]);
}

#[test]
fn heredocs_keep_their_lines_and_lose_a_common_margin() {
    check(&[
        ("a = <<EOF\nabc\n  d\nEOF\n", r#"{a="abc\n  d\n"}"#),
        (
            "a = <<-EOF\n    abc\n  def\n  EOF\nb = 1",
            r#"{a="  abc\ndef\n" b=1}"#,
        ),
        (
            "node_meta { a = <<EOF x\nabc\nEOF\n}",
            "At 1:22: invalid characters in heredoc anchor",
        ),
        (
            "node_meta { a = <<\nabc\nEOF\n}",
            "At 1:19: zero-length heredoc anchor",
        ),
        ("node_name=<<EOF\nabc\n", "At 3:1: heredoc not terminated"),
    ]);
}

#[test]
fn a_brace_at_the_start_means_json() {
    check(&[(
        r#" {"a": {"b": 1}, "c": [1.5, null]}"#,
        "{a={b=1} c=[1.5 null]}",
    )]);
    assert!(parse("{ nope").is_err());
}

#[test]
fn errors_are_those_of_consuls_reader() {
    check(&[
        ("server = yes", "At 1:10: Unknown token: 1:10 IDENT yes"),
        ("node_name : \"x\"", "At 1:11: illegal char"),
        ("node_name=\"q", "At 1:13: literal not terminated"),
        (r#"node_name="a\qb""#, "At 1:14: illegal char escape"),
        (r#"node_name = "\u12""#, "At 1:18: illegal char escape"),
        ("a = -", "At 1:5: Unknown token: 1:5 SUB -"),
        ("ports { http = , }", "At 1:16: Unknown token: 1:16 COMMA ,"),
        ("= 5", "At 1:1: no object keys found!"),
        ("node_meta { = }", "At 1:13: no object keys found!"),
        (
            "a 3",
            "At 1:3: expected: IDENT | STRING | ASSIGN | LBRACE got: NUMBER",
        ),
        (
            "node_name = \"a\" }",
            "At 1:17: expected: IDENT | STRING | ASSIGN | LBRACE got: RBRACE",
        ),
        (
            "true = 1",
            "At 1:1: expected: IDENT | STRING | ASSIGN | LBRACE got: BOOL",
        ),
        (
            "a b = 3",
            "At 1:5: nested object expected: LBRACE got: ASSIGN",
        ),
        (
            "a = {b}",
            "At 1:7: key 'b' expected start of object ('{') or assignment ('=')",
        ),
        (
            "node_name \"x\"",
            "At 1:14: key 'node_name \"x\"' expected start of object ('{') or assignment ('=')",
        ),
        (
            "retry_join = [\"a\" \"b\"]",
            "At 1:19: error parsing list, expected comma or list end, got: STRING",
        ),
        (
            "retry_join = [foo]",
            "At 1:15: unexpected token while parsing list: IDENT",
        ),
        ("a = [", "At 1:6: unexpected token while parsing list: EOF"),
        ("a = {", "At 1:7: object expected closing RBRACE got: EOF"),
        ("a = 08", "strconv.ParseInt: parsing \"08\": invalid syntax"),
        (
            "a = 99999999999999999999",
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range",
        ),
        (
            "a = 1e400",
            "strconv.ParseFloat: parsing \"1e400\": value out of range",
        ),
        ("limits { a = 0xZ }", "At 1:16: illegal hexadecimal number"),
    ]);
}

#[test]
fn a_document_that_ends_instead_of_a_value_is_let_pass() {
    check(&[("a = 1 b = ", "{a=1}")]);
}

#[test]
fn deep_documents_take_no_stack() {
    on_small_stack(|| {
        for depth in DEPTHS {
            for (open, close) in [("a {", "}"), ("a = [", "]"), ("a = {", "}")] {
                // Lists contain no names.
                let inner = open.strip_prefix("a = ").filter(|open| *open == "[");
                let opening = open.to_owned() + &inner.unwrap_or(open).repeat(depth);
                refused_if_deep(depth, &(opening + &close.repeat(depth + 1)));
            }
            refused_if_deep(depth, &format!("{}{{}}", "a ".repeat(depth)));
            refused_if_deep(
                depth,
                &format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
            );
            assert!(parse(&"[".repeat(depth)).is_err());
            assert!(parse(&format!("a = {}", "[".repeat(depth))).is_err());
            assert!(parse(&"a {".repeat(depth)).is_err());
            assert!(parse(&format!("a = \"{}\"", "${".repeat(depth))).is_err());
        }
    });
}

fn refused_if_deep(depth: usize, text: &str) {
    match parse(text) {
        Ok(tree) => {
            assert!(depth < 64, "{depth}");
            assert_eq!(tree.clone(), tree);
        }
        Err(error) => {
            assert!(
                depth > 16 && error.contains("exceeded max depth"),
                "{depth}: {error}"
            );
        }
    }
}
