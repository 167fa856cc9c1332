//! What Go's decoder does with whole bodies, as printed by Go and seen on Consul 1.8.7.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::decode;
use crate::generation::{EmbeddedNames, Go};
use crate::json::context::{DecodeOptions, Release, ReleaseChange, UnknownFields};
use crate::json::kinds::Any;
use proconsul_testing::{DEPTHS, on_small_stack};

const STRICT: DecodeOptions = DecodeOptions {
    unknown_fields: UnknownFields::Refused,
    release: Release::NEWEST,
    go_type: Some("api.TxnOps"),
};

go_struct! {
    #[derive(Debug, PartialEq)]
    struct Operation as "api.TxnOp" {
        "KV": Option<Kv> => kv,
        "Node": Option<Node> => node,
    }
}

go_struct! {
    #[derive(Debug, PartialEq)]
    struct Kv as "api.KVTxnOp" {
        "Verb" is "api.KVOp": String => verb,
        "Key": String => key,
        "Value": Bytes => value,
        "Flags": u64 => flags,
    }
}

go_struct! {
    #[derive(Debug, PartialEq)]
    struct Node as "structs.Node" {
        "Meta": BTreeMap<String, String> => meta,
        "Check": Definition => check,
    }
}

go_struct! {
    /// Decodes itself, as some of Consul's types do.
    #[derive(Debug, PartialEq)]
    struct Definition as "struct { Interval interface {}; *structs.Alias }",
    own decoder: Accepted, then: interval_is_no_text {
        "Interval": Any => interval,
        *Alias {
            "TCP": String => tcp,
            "Tags": Option<Vec<String>> => tags,
        }
    }
}

fn interval_is_no_text(definition: &mut Definition) -> Result<(), String> {
    match &definition.interval {
        Any::String(text) => Err(format!("time: invalid duration \"{text}\"")),
        _ => Ok(()),
    }
}

type Operations = Vec<Option<Operation>>;

fn operations(body: &str) -> Operations {
    let mut operations = Operations::default();
    decode::<Operations>(body.as_bytes(), &mut operations, STRICT)
        .expect("the body is well-formed");
    operations
}

fn kv(body: &str) -> Kv {
    let mut operation = Operation::default();
    decode::<Operation>(body.as_bytes(), &mut operation, STRICT).expect("the body is well-formed");
    operation.kv.expect("the body has a KV operation")
}

fn message(body: &str) -> String {
    let mut operations = Operations::default();
    decode::<Operations>(body.as_bytes(), &mut operations, STRICT)
        .expect_err("the body is refused")
        .to_string()
}

#[test]
fn a_whole_body() {
    let body = r#"[{"KV":{"Verb":"set","Key":"a/b","Value":"YQ==","Flags":18446744073709551615}},null] trailing"#;
    let kv = Kv {
        verb: "set".into(),
        key: "a/b".into(),
        value: Bytes::from("a"),
        flags: u64::MAX,
    };
    assert_eq!(
        operations(body),
        [
            Some(Operation {
                kv: Some(kv),
                node: None
            }),
            None
        ]
    );
    assert_eq!(operations("null"), []);
    assert_eq!(
        operations("[{}, {\"KV\": null}]"),
        [Some(Operation::default()), Some(Operation::default())]
    );
}

#[test]
fn names_match_without_regard_to_case() {
    let kv = kv("{\"\u{212a}v\":{\"vERB\":\"a\",\"\u{212a}ey\":\"b\",\"flag\u{17f}\":3}}");
    assert_eq!((kv.verb.as_str(), kv.key.as_str(), kv.flags), ("a", "b", 3));
    assert_eq!(
        message("[{\"KV\":{\"Keys\":1}}]"),
        "json: unknown field \"Keys\""
    );
}

#[test]
fn later_duplicates_win_and_null_changes_no_scalar() {
    let kv = kv(r#"{"KV":{"Verb":"a","Key":"x","Flags":1,"verb":"b","Key":null,"Flags":null}}"#);
    assert_eq!((kv.verb.as_str(), kv.key.as_str(), kv.flags), ("b", "x", 1));
}

#[test]
fn objects_that_come_twice_are_merged_unless_null_is_between() {
    assert_eq!(kv(r#"{"KV":{"Verb":"a"},"KV":{"Key":"b"}}"#).verb, "a");
    assert_eq!(
        kv(r#"{"KV":{"Verb":"a"},"KV":null,"kv":{"Key":"b"}}"#).verb,
        ""
    );
}

#[test]
fn syntax_goes_before_everything() {
    assert_eq!(message(""), "EOF");
    assert_eq!(message("["), "unexpected EOF");
    assert_eq!(
        message("[{\"KV\":{\"Verb\":5}} x"),
        "invalid character 'x' after array element"
    );
}

#[test]
fn type_errors_name_struct_path_and_type() {
    let go_value =
        |found, go_type| format!("json: cannot unmarshal {found} into Go value of type {go_type}");
    assert_eq!(message("{}"), go_value("object", "api.TxnOps"));
    assert_eq!(message("5"), go_value("number", "api.TxnOps"));
    assert_eq!(message("\"x\""), go_value("string", "api.TxnOps"));
    assert_eq!(message("[5]"), go_value("number", "api.TxnOp"));
    assert_eq!(message("[[]]"), go_value("array", "api.TxnOp"));
    for (body, error) in [
        (
            r#"[{"KV":5}]"#,
            "number into Go struct field TxnOp.KV of type api.KVTxnOp",
        ),
        (
            r#"[{"KV":{"Verb":5}}]"#,
            "number into Go struct field KVTxnOp.KV.Verb of type api.KVOp",
        ),
        (
            r#"[{"KV":{"Key":true}}]"#,
            "bool into Go struct field KVTxnOp.KV.Key of type string",
        ),
        (
            r#"[{"KV":{"Value":5}}]"#,
            "number into Go struct field KVTxnOp.KV.Value of type []uint8",
        ),
        (
            r#"[{"KV":{"Flags":-1}}]"#,
            "number -1 into Go struct field KVTxnOp.KV.Flags of type uint64",
        ),
        (
            r#"[{"KV":{"Flags":"1"}}]"#,
            "string into Go struct field KVTxnOp.KV.Flags of type uint64",
        ),
        (
            r#"[{"Node":{"Meta":{"a":5}}}]"#,
            "number into Go struct field Node.Node.Meta of type string",
        ),
        (
            r#"[{"Node":{"Meta":[]}}]"#,
            "array into Go struct field Node.Node.Meta of type map[string]string",
        ),
    ] {
        assert_eq!(message(body), format!("json: cannot unmarshal {error}"));
    }
}

#[test]
fn the_first_problem_of_the_body_counts() {
    for (body, error) in [
        (
            r#"[{"KV":{"Zzz":5,"Verb":1}}]"#,
            "json: unknown field \"Zzz\"",
        ),
        (
            r#"[{"KV":{"Flags":{},"Zzz":1,"Verb":1}}]"#,
            "json: cannot unmarshal object into Go struct field KVTxnOp.KV.Flags of type uint64",
        ),
        (
            r#"[{"KV":{"Value":"YQ","Zzz":1}}]"#,
            "illegal base64 data at input byte 0",
        ),
        (
            r#"[{"Node":null,"KV":{"Key":5}},{"KV":{"Verb":true}}]"#,
            "json: cannot unmarshal number into Go struct field KVTxnOp.KV.Key of type string",
        ),
    ] {
        assert_eq!(message(body), error);
    }
}

#[test]
fn unknown_fields() {
    assert_eq!(
        message(r#"[{"a\"b\u00e9\u0001":1}]"#),
        "json: unknown field \"a\\\"b\u{e9}\\x01\""
    );
    assert_eq!(message(r#"[{"KV":{"":1}}]"#), "json: unknown field \"\"");
    let accepting = DecodeOptions {
        unknown_fields: UnknownFields::Accepted,
        ..STRICT
    };
    let mut operation = Operation::default();
    assert_eq!(
        decode::<Operation>(
            br#"{"Zzz":{"KV":5},"KV":{"Key":"k"}}"#,
            &mut operation,
            accepting
        ),
        Ok(())
    );
    assert_eq!(operation.kv.map(|kv| kv.key).as_deref(), Some("k"));
}

#[test]
fn own_decoders_have_their_own_rules() {
    let body = r#"[{"Node":{"Check":{"Zzz":1,"TCP":"x"}}}]"#;
    let node = operations(body)
        .remove(0)
        .and_then(|operation| operation.node);
    assert_eq!(node.map(|node| node.check.tcp).as_deref(), Some("x"));
    assert_eq!(
        message(r#"[{"Node":{"Check":{"Zzz":1},"Zzz":1}}]"#),
        "json: unknown field \"Zzz\""
    );
    assert_eq!(
        message(r#"[{"Node":{"Check":{"Interval":"abc"}}}]"#),
        "time: invalid duration \"abc\""
    );
}

#[test]
fn problems_of_own_decoders_go_before_earlier_ones() {
    let own = "time: invalid duration \"abc\"";
    assert_eq!(
        message(r#"[{"Node":{"Zzz":1,"Check":{"Interval":"abc"}}}]"#),
        own
    );
    assert_eq!(
        message(r#"[{"Node":{"Check":{"Interval":"abc"},"check":{"Interval":"d"}}}]"#),
        own
    );
    assert_eq!(
        message(r#"[{"Node":{"Zzz":1,"Check":{"Tags":5,"Interval":"abc"}}}]"#),
        "json: cannot unmarshal number into Go struct field Node.Node.Check.Alias.Tags of type []string"
    );
}

#[test]
fn embedded_structs_are_named_by_newer_go_only() {
    let messages = |body: &str| {
        [EmbeddedNames::Shown, EmbeddedNames::Hidden].map(|embedded_names| {
            let rules = DecodeOptions {
                release: Release {
                    go: Go {
                        embedded_names,
                        ..Go::NEWEST
                    },
                    ..Release::NEWEST
                },
                go_type: None,
                ..STRICT
            };
            let root = decode::<Definition>(body.as_bytes(), &mut Definition::default(), rules);
            let field = decode::<Node>(
                format!("{{\"Check\":{body}}}").as_bytes(),
                &mut Node::default(),
                rules,
            );
            [root, field].map(|result| {
                let message = result.expect_err("the body is refused").to_string();
                message.replace("json: cannot unmarshal number into Go ", "")
            })
        })
    };
    assert_eq!(
        messages(r#"{"TCP":5}"#),
        [
            [
                "struct field .Alias.TCP of type string",
                "struct field Node.Check.Alias.TCP of type string"
            ],
            [
                "struct field .TCP of type string",
                "struct field Node.Check of type string"
            ],
        ]
    );
    let unnamed = "struct { Interval interface {}; *structs.Alias }";
    assert_eq!(
        messages("5")[1],
        [
            format!("value of type {unnamed}"),
            format!("struct field Node.Check of type {unnamed}")
        ]
    );
}

#[test]
fn what_was_there_before_stays() {
    let mut kv = Kv {
        verb: "preset".into(),
        flags: 7,
        ..Kv::default()
    };
    assert_eq!(decode::<Kv>(br#"{"Flags":8}"#, &mut kv, STRICT), Ok(()));
    assert_eq!((kv.verb.as_str(), kv.flags), ("preset", 8));
    assert_eq!(decode::<Kv>(b"null", &mut kv, STRICT), Ok(()));
    assert_eq!(kv.flags, 8);
}

/// A type that can hold one of its own kind.
#[derive(Default)]
struct Nested {
    name: String,
    inner: Option<Box<Nested>>,
}

go_struct! {
    NestedFields as "tests.Nested" for nested: Nested, own decoder: Refused {
        "Name": String => nested.name,
        "Inner": Option<Box<NestedFields>> => nested.inner,
    }
}

#[test]
fn deep_bodies_take_no_stack() {
    on_small_stack(|| {
        let accepting = DecodeOptions {
            unknown_fields: UnknownFields::Accepted,
            ..STRICT
        };
        for depth in DEPTHS {
            for open in ["{\"x\":", "{\"KV\":", "{\"Inner\":"] {
                let deep = open.repeat(depth) + "null" + &"}".repeat(depth);
                let operation =
                    decode::<Operation>(deep.as_bytes(), &mut Operation::default(), accepting);
                let nested =
                    decode::<NestedFields>(deep.as_bytes(), &mut Nested::default(), accepting);
                assert_eq!(operation.is_ok(), depth <= 10_000, "{open} {depth}");
                assert_eq!(nested.is_ok(), depth <= 10_000 && open.contains("Inner"));
            }
        }
    });
}

/// Nothing reads them, so nothing finds what is wrong with them.
#[test]
fn structs_far_down_stay_empty() {
    let body = |depth| {
        let open = "{\"Inner\":".repeat(depth);
        format!("{open}{{\"Name\":5}}{}", "}".repeat(depth))
    };
    let taken =
        |depth| decode::<NestedFields>(body(depth).as_bytes(), &mut Nested::default(), STRICT);
    assert!(taken(31).is_err());
    assert_eq!(taken(32), Ok(()));
}

go_struct! {
    /// A type with a field that came with the second change.
    struct Grown as "api.Grown" {
        "New" since SECOND: u64 => new,
    }
}

const SECOND: usize = 2;

#[test]
fn a_field_that_came_later_is_unknown() {
    let with = |number: u16| {
        let release = Release {
            number: [number, 0, 0],
            has: |[number, _, _], ReleaseChange(change)| usize::from(number) >= change,
            ..Release::NEWEST
        };
        let mut target = Grown::default();
        let decoded = decode::<Grown>(
            br#"{"New":7}"#,
            &mut target,
            DecodeOptions { release, ..STRICT },
        );
        decoded
            .map(|()| target.new)
            .map_err(|error| error.to_string())
    };
    assert_eq!(with(2), Ok(7));
    let refusal = "json: unknown field \"New\"";
    assert_eq!(with(1), Err(refusal.to_owned()));
}
