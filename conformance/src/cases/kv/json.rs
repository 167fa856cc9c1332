//! How entries are printed: fields, values, escapes and white space (kv.md 1.3).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/json/fields-of-an-unlocked-key",
        claim: "An entry is LockIndex, Key, Flags, Value, CreateIndex, ModifyIndex in this order, and nothing else",
        source: "kv.md 1.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=42", "x").is(200, "true");
            let answer = t.get(&key, "");
            let index = answer.entry().modify_index;
            let expected = format!(
                r#"[{{"LockIndex":0,"Key":"{key}","Flags":42,"Value":"eA==","CreateIndex":{index},"ModifyIndex":{index}}}]"#
            );
            answer.is(200, &expected);
            t.get(&key, "recurse").is(200, &expected);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/json/session-stands-before-create-index",
        claim: "The Session of a held key stands between Value and CreateIndex",
        source: "kv.md 1.3",
        run: |t| {
            let key = t.key("k");
            let session = t.session_without_delay();
            t.put(&key, &format!("acquire={session}"), "x")
                .is(200, "true");
            let answer = t.get(&key, "");
            let index = answer.entry().modify_index;
            let expected = format!(
                r#"[{{"LockIndex":1,"Key":"{key}","Flags":0,"Value":"eA==","Session":"{session}","CreateIndex":{index},"ModifyIndex":{index}}}]"#
            );
            answer.is(200, &expected);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/json/value-is-padded-base64",
        claim: "A value is printed in base64 with the alphabet of + and /, and padded",
        source: "kv.md 1.3",
        run: |t| {
            let key = t.key("k");
            for (value, printed) in [
                (&b"\xfb\xff\xbf"[..], "+/+/"),
                (b"ab", "YWI="),
                (b"a", "YQ=="),
                (b"\0", "AA=="),
            ] {
                t.put(&key, "", value).is(200, "true");
                t.get(&key, "").field_is("/0/Value", printed);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/json/empty-values-of-transactions-are-null",
        claim: "A value that a transaction leaves out, or gives as \"\" or null, is printed as null",
        source: "kv.md 1.3",
        run: |t| {
            let (absent, empty, nothing) = (t.key("absent"), t.key("empty"), t.key("nothing"));
            t.txn(&json!([
                {"KV": {"Verb": "set", "Key": absent}},
                {"KV": {"Verb": "set", "Key": empty, "Value": ""}},
                {"KV": {"Verb": "set", "Key": nothing, "Value": null}},
            ]))
            .status_is(200);
            for key in [absent, empty, nothing] {
                t.get(&key, "").entry().value_is_null();
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/json/html-characters-are-escaped",
        claim: "In JSON texts & < > and the line separators U+2028 and U+2029 are printed as \\u escapes",
        source: "kv.md 1.3; trap 30",
        run: |t| {
            let printed = r"a\u0026b\u003cc\u003ed\u2028e\u2029f";
            lists_as(t, "a&b<c>d\u{2028}e\u{2029}f", printed);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/json/control-characters-are-escaped",
        claim: "Quotes, backslashes and control characters are printed as Go's JSON prints them, DEL and / as they are",
        source: "kv.md 1.3 (Go's encoding/json)",
        run: |t| {
            lists_as(
                t,
                "\"\\\n\r\t\u{1}\0\u{7f}/",
                "\\\"\\\\\\n\\r\\t\\u0001\\u0000\u{7f}/",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "kv/json/other-texts-are-utf-8",
        claim: "Everything else in a JSON text is printed as plain UTF-8",
        source: "kv.md 1.3",
        run: |t| lists_as(t, "é漢😀\u{a0}\u{200b}'+=", "é漢😀\u{a0}\u{200b}'+="),
        ..Case::REAL
    },
    INVALID_UTF8,
    Case {
        id: "kv/json/invalid-utf-8-since-1-22",
        since: Version::V1_22,
        until: None,
        ..INVALID_UTF8
    },
    Case {
        id: "kv/get/dev-prints-pretty",
        claim: "A dev agent indents JSON by four spaces and ends it with a newline",
        source: "kv.md 1.3; trap 1",
        until: Some(Version::V1_17),
        needs: &[Feature::DevMode],
        run: |t| {
            t.put(&t.key("k"), "", "v").body_is_exactly("true\n");
            let keys = t.get(&t.key(""), "keys");
            keys.body_is_exactly(format!("[\n    \"{}\"\n]\n", t.key("k")));
            is_pretty(t, "", "\n");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/json/dev-prints-no-newline",
        claim: "A dev agent indents JSON by four spaces and ends it without a newline",
        source: "1.22.md A1.2/1.3 [D] [S]",
        since: Version::V1_17,
        needs: &[Feature::DevMode],
        run: |t| {
            t.put(&t.key("k"), "", "v")
                .body_is_exactly("true")
                .header_is("Content-Length", "4");
            let keys = t.get(&t.key(""), "keys");
            keys.body_is_exactly(format!("[\n    \"{}\"\n]", t.key("k")));
            is_pretty(t, "", "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/json/pretty-is-asked-for-by-presence",
        claim: "?pretty, whatever its value, indents JSON by four spaces and ends it with one newline, also after a write",
        source: "kv.md 1.1, 1.3",
        run: |t| {
            for query in ["pretty", "pretty=", "pretty=no", "pretty=false"] {
                is_pretty(t, query, "\n");
                t.put(&t.key("other"), query, "v").body_is_exactly("true\n");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/json/compact-without-newline",
        claim: "An agent that is not in dev mode prints JSON without white space and without a newline",
        source: "kv.md 1.3; trap 1",
        needs: &[Feature::CompactJson],
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "x")
                .body_is_exactly("true")
                .header_is("Content-Length", "4");
            let answer = t.get(&key, "");
            let index = answer.entry().modify_index;
            answer.body_is_exactly(format!(
                r#"[{{"LockIndex":0,"Key":"{key}","Flags":0,"Value":"eA==","CreateIndex":{index},"ModifyIndex":{index}}}]"#
            ));
            let other = t.key("l");
            t.put(&other, "", "x").is(200, "true");
            t.get(&t.key(""), "keys")
                .body_is_exactly(format!(r#"["{key}","{other}"]"#));
            t.delete(&key, "").body_is_exactly("true");
        },
        ..Case::MUST
    },
];

const INVALID_UTF8: Case = Case {
    id: "kv/json/invalid-utf-8-is-replaced",
    claim: "Bytes of a key that are not UTF-8 are printed as \\ufffd, so that two keys can look equal",
    source: "kv.md 1.3",
    until: Some(Version::V1_21_5),
    run: |t| {
        let prefix = t.key("p");
        t.put(&format!("{prefix}%FE"), "", "a").is(200, "true");
        t.put(&format!("{prefix}%FF"), "", "b").is(200, "true");
        t.get(&prefix, "keys")
            .is(200, &format!(r#"["{prefix}\ufffd","{prefix}\ufffd"]"#));
        t.get(&format!("{prefix}%FF"), "raw").is(200, "b");
    },
    ..Case::REAL
};

/// Stores a key as it stands (transactions take every name) and looks at how a listing prints it.
fn lists_as(t: &Trial, name: &str, printed: &str) {
    let prefix = t.key("p");
    let key = format!("{prefix}{name}");
    t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "eA=="}}]))
        .status_is(200);
    t.get(&prefix, "keys")
        .is(200, &format!(r#"["{prefix}{printed}"]"#));
}

/// An entry is printed over lines of four spaces, and its body ends with `end`.
fn is_pretty(t: &Trial, query: &str, end: &str) {
    let key = t.key("k");
    t.put(&key, "", "x").is(200, "true");
    let answer = t.get(&key, query);
    let entry = answer.entry();
    let (created, modified) = (entry.create_index, entry.modify_index);
    let lines = [
        "[".to_owned(),
        "    {".to_owned(),
        "        \"LockIndex\": 0,".to_owned(),
        format!("        \"Key\": \"{key}\","),
        "        \"Flags\": 0,".to_owned(),
        "        \"Value\": \"eA==\",".to_owned(),
        format!("        \"CreateIndex\": {created},"),
        format!("        \"ModifyIndex\": {modified}"),
        "    }".to_owned(),
        format!("]{end}"),
    ];
    answer.body_is_exactly(lines.join("\n"));
}
