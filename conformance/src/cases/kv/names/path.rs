//! From the path of a URL to the name of a key (kv.md 1.6).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// The release that is certain to clean the path before it is decoded (1.22.md A1.6).
const V1_20: Version = Version::V1_20;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/path/encoded-slash-is-a-slash",
        claim: "%2F in the path is a slash of the key",
        source: "kv.md 1.6; trap 25",
        run: |t| {
            t.put(&t.key("a%2Fb"), "", "v").is(200, "true");
            t.get(&t.key("a/b"), "raw").is(200, "v");
            t.put(&t.key("c/d"), "", "w").is(200, "true");
            t.get(&t.key("c%2fd"), "raw").is(200, "w");
            let keys = t.get(&t.key(""), "keys").strings();
            t.same("keys", keys, vec![t.key("a/b"), t.key("c/d")]);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/path/trailing-slash-belongs-to-the-key",
        claim: "`name/` and `name` are two keys",
        source: "kv.md 1.6",
        run: |t| {
            t.put(&t.key("trail/"), "", "with").is(200, "true");
            t.get(&t.key("trail"), "").is(404, "");
            t.put(&t.key("trail"), "", "without").is(200, "true");
            t.get(&t.key("trail/"), "raw").is(200, "with");
            t.get(&t.key("trail"), "raw").is(200, "without");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/path/letters-may-be-escaped",
        claim: "A path with needless escapes names the same key as without, also outside of the key",
        source: "kv.md 1.6, 1.22.md A1.6",
        run: |t| {
            let key = t.key("k");
            t.put(&t.key("%6b"), "", "v").is(200, "true");
            t.get(&key, "raw").is(200, "v");
            t.api_get(&format!("/v1/%6bv/{key}?raw")).is(200, "v");
        },
        ..Case::SHOULD
    },
    PLUS,
    Case {
        id: "kv/path/plus-is-a-plus-since-1-22",
        since: Version::V1_22,
        until: None,
        ..PLUS
    },
    ESCAPES,
    Case {
        id: "kv/path/escapes-are-decoded-since-1-22",
        since: Version::V1_22,
        until: None,
        ..ESCAPES
    },
    FORBIDDEN,
    Case {
        id: "kv/path/forbidden-characters-since-1-22",
        since: Version::V1_22,
        until: None,
        ..FORBIDDEN
    },
    BYTES,
    Case {
        id: "kv/path/bytes-as-they-are-since-1-22",
        since: Version::V1_22,
        until: None,
        ..BYTES
    },
    ONCE,
    Case {
        id: "kv/path/decoded-twice-in-1-12",
        claim: "The path of a key is decoded twice: %2520 is a space",
        source: "1.22.md A1.6 [D]",
        since: Version::V1_12,
        until: Some(Version::new(1, 12, 3)),
        run: |t| stores(t, &[("a%2520b", "a b")]),
        ..Case::REAL
    },
    Case {
        id: "kv/path/decoded-once-since-1-12-3",
        source: "1.22.md A1.6 [D]",
        since: Version::new(1, 12, 3),
        until: Some(Version::V1_21_5),
        ..ONCE
    },
    Case {
        id: "kv/path/unprintable-is-400",
        claim: "A path with a character that Go calls unprintable is 400 with an empty body and only Date and Content-Length",
        source: "kv.md 0.2, 1.6; trap 25; 1.22.md A0.2",
        run: |t| {
            let escapes = [
                "%00",
                "%09",
                "%0A",
                "%1F",
                "%7F",
                "%C2%85",
                "%C2%A0",
                "%C2%AD",
                "%E2%80%8B",
                "%E2%80%A8",
                "%EE%80%80",
            ];
            for escape in escapes {
                for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
                    let target = format!("/v1/kv/{}{escape}", t.key("a"));
                    t.send(&Request::new(method, &target))
                        .is(400, "")
                        .header_names_are(&["Date", "Content-Length"]);
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/unprintable-is-refused-everywhere",
        claim: "The refusal of unprintable characters comes before everything else and concerns every path, but no query",
        source: "kv.md 0",
        run: |t| {
            for target in [
                "/v1/nowhere%00",
                "/v1/kv//a%00",
                "/v1/kv/%C2%A0?x=%zz",
                "/%7F",
            ] {
                t.api_get(target)
                    .is(400, "")
                    .header_names_are(&["Date", "Content-Length"]);
            }
            t.get(&t.key("missing"), "x=%00%7F").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/very-long-keys",
        claim: "A key may have 900,000 bytes",
        source: "kv.md 1.6, 1.22.md A0.1 [G]",
        run: |t| {
            let key = t.key(&"a".repeat(900_000));
            t.put(&key, "", "v").is(200, "true");
            t.get(&key, "raw").is(200, "v");
            t.delete(&key, "").is(200, "true");
            t.get(&key, "raw").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/too-long-is-431",
        claim: "A path beyond the header limit of about 1 MiB is 431, and the connection is closed",
        source: "kv.md 0.1, 1.6",
        run: |t| {
            let target = format!("/v1/kv/{}", t.key(&"a".repeat(1_100_000)));
            let words = "431 Request Header Fields Too Large";
            t.send(&Request::get(&target))
                .is(431, words)
                .header_names_are(&["Content-Type", "Connection"])
                .header_is("Connection", "close");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/transactions-take-names-verbatim",
        claim: "A transaction stores `//`, `..` and NUL in a key as they are; listings and transactions show and delete such keys",
        source: "kv.md 1.6; trap 24",
        run: |t| {
            let prefix = t.key("");
            let names = ["//lead//x/../y", "./z", "j\0k"].map(|name| format!("{prefix}{name}"));
            let each = |verb: &str| {
                let operation =
                    |key: &String| json!({"KV": {"Verb": verb, "Key": key, "Value": "dg=="}});
                t.txn(&names.iter().map(operation).collect())
            };
            each("set").status_is(200);
            let mut sorted = names.to_vec();
            sorted.sort();
            t.same("?keys", t.get(&prefix, "keys").strings(), sorted.clone());
            let entries = t.get(&prefix, "recurse").entries();
            let keys: Vec<_> = entries.into_iter().map(|entry| entry.key).collect();
            t.same("?recurse", keys, sorted);
            for (number, name) in names.iter().enumerate() {
                let path = format!("/Results/{number}/KV");
                each("get")
                    .field_is(&format!("{path}/Key"), name.as_str())
                    .field_is(&format!("{path}/Value"), "dg==");
            }
            each("delete").status_is(200);
            t.get(&prefix, "keys").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/names-of-transactions-have-no-url",
        claim: "A key with `//`, `..` or NUL that a transaction stored cannot be read by URL",
        source: "kv.md 1.6, 1.22.md A1.6 [S]",
        run: |t| {
            let prefix = t.key("p");
            let set = |name: &str| {
                let key = format!("{prefix}{name}");
                t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]))
                    .status_is(200);
            };
            set("//x");
            t.get(&format!("{prefix}//x"), "raw").status_is(t.moved());
            set("/../y");
            t.get(&format!("{prefix}/../y"), "raw").status_is(t.moved());
            set("j\0k");
            t.get(&format!("{prefix}j%00k"), "raw").is(400, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/encoded-segments-stay-since-1-20",
        claim: "Encoded doubled slashes and dots are part of the key as they are",
        source: "1.22.md A1.6 [I]; 1.22.md A0.3",
        since: V1_20,
        until: Some(Version::V1_21_5),
        run: |t| {
            stores(
                t,
                &[
                    ("x%2F%2Fz", "x//z"),
                    ("dd/%2E%2E/k3", "dd/../k3"),
                    ("w%2F..%2Fy", "w/../y"),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/encoded-segments-are-cleaned-since-1-21-5",
        claim: "Encoded doubled slashes and dots are cleaned out of the key without a redirect; a trailing slash stays",
        source: "1.22.md A1.6 [G]",
        since: Version::V1_21_5,
        run: |t| {
            stores(
                t,
                &[
                    ("x%2F%2Fz", "x/z"),
                    ("v/%2Fz", "v/z"),
                    ("dd/%2E%2E/k3", "k3"),
                    ("w%2F..%2Fy", "y"),
                    ("a%2F.", "a"),
                    ("b%2F.%2F", "b/"),
                    ("trail%2F%2F", "trail/"),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/encoded-leading-slash-stays-since-1-20",
        claim: "An encoded slash at the start of a key stays",
        source: "1.22.md A1.6 [G]",
        since: V1_20,
        run: |t| {
            let key = format!("/{}", t.key("lead"));
            let target = format!("/v1/kv/%2F{}", t.key("lead"));
            t.api_put(&target, "v").is(200, "true");
            t.get(&t.key("lead"), "").is(404, "");
            let shown = t.api_get(&target).entry().key;
            // Outside of the trial's prefix, so it is deleted before the claim is looked at.
            t.send(&Request::delete(&target)).is(200, "true");
            t.same("key", shown, key);
            t.api_get(&target).is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/names-of-dots-and-slashes-since-1-21-5",
        claim: "A path that cleaning empties is the key `.`, or `/` when it began with an encoded slash",
        source: "1.22.md A1.6 [G]",
        since: Version::V1_21_5,
        needs: &[Feature::OwnServer],
        run: |t| {
            for (path, key) in [
                ("%2E", "."),
                ("a%2F..", "."),
                ("a/%2E%2E", "."),
                ("%2F", "/"),
                ("%2F%2F", "/"),
            ] {
                t.put(path, "", path).is(200, "true");
                t.get(path, "raw").is(200, path);
                t.same(path, t.get("", "keys").strings(), vec![key.to_owned()]);
                t.delete("", "recurse").is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/encoded-slash-outside-of-the-key-is-a-slash",
        claim: "/v1/kv%2Fname is the key `name`",
        source: "1.22.md A1.6",
        until: Some(Version::new(1, 19, 1)),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.api_get(&format!("/v1/kv%2F{key}?raw")).is(200, "v");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/path/encoded-slash-outside-of-the-key-is-unknown-since-1-20",
        claim: "/v1/kv%2Fname is an unknown path",
        source: "1.22.md A1.6 [G]; 1.22.md A0.3",
        since: V1_20,
        run: |t| {
            t.api_get(&format!("/v1/kv%2F{}", t.key("k")))
                .says(404, "Invalid URL path");
        },
        ..Case::REAL
    },
];

const PLUS: Case = Case {
    id: "kv/path/plus-is-a-plus",
    claim: "+ in a path is a plus, in a query a space",
    source: "kv.md 1.6; trap 25",
    until: Some(Version::V1_21_5),
    run: |t| {
        stores(t, &[("a+b", "a+b"), ("c%2Bd", "c+d")]);
        t.put(&t.key("x+y/1"), "", "").is(200, "true");
        t.put(&t.key("x%20y/2"), "", "").is(200, "true");
        let keys = t.get(&t.key("x"), "keys&separator=+").strings();
        t.same("keys", keys, vec![t.key("x "), t.key("x+y/1")]);
        let keys = t.get(&t.key("x"), "keys&separator=%2B").strings();
        t.same("keys", keys, vec![t.key("x y/2"), t.key("x+")]);
    },
    ..Case::MUST
};

const ESCAPES: Case = Case {
    id: "kv/path/escapes-are-decoded",
    claim: "A key is stored decoded, whatever printable characters its path escapes or does not",
    source: "kv.md 1.6",
    until: Some(Version::V1_21_5),
    run: |t| {
        stores(
            t,
            &[
                ("sp%20ace", "sp ace"),
                ("%C3%A9", "é"),
                ("%F0%9F%98%80", "😀"),
                ("q%3Fmark", "q?mark"),
                ("h%23ash", "h#ash"),
                ("semi;colon", "semi;colon"),
                ("am&p=1", "am&p=1"),
                ("%7E", "~"),
                ("$@:!*'(),", "$@:!*'(),"),
                ("100%25", "100%"),
            ],
        );
    },
    ..Case::MUST
};

const FORBIDDEN: Case = Case {
    id: "kv/path/forbidden-characters",
    claim: "Characters that no URL may hold as they are stand for themselves in a path",
    source: "kv.md 1.6, 1.22.md A1.6",
    until: Some(Version::V1_21_5),
    run: |t| stores(t, &[("<b>", "<b>"), ("\"{}|\\^`[]", "\"{}|\\^`[]")]),
    ..Case::REAL
};

const BYTES: Case = Case {
    id: "kv/path/bytes-as-they-are",
    claim: "Bytes that are not ASCII may stand in the path as they are or escaped, even when they are not UTF-8",
    source: "kv.md 1.6",
    until: Some(Version::V1_21_5),
    run: |t| {
        let target = format!("/v1/kv/{}", t.key("p"));
        let request = |method: &str, byte: &[u8], query: &str| {
            let first = [
                method.as_bytes(),
                b" ",
                target.as_bytes(),
                byte,
                query.as_bytes(),
            ]
            .concat();
            let rest = format!(
                " HTTP/1.1\r\nHost: {}\r\nContent-Length: 1\r\n\r\nv",
                t.host()
            );
            t.raw([&first[..], rest.as_bytes()].concat())
        };
        request("PUT", b"\xff", "").is(200, "true");
        t.get(&t.key("p%FF"), "raw").is(200, "v");
        t.get(&t.key("p%FE"), "raw").is(404, "");
        t.put(&t.key("p%C3"), "", "half").is(200, "true");
        request("GET", b"\xc3", "?raw").is(200, "half");
        t.put(&t.key("p%C3%A9"), "", "whole").is(200, "true");
        request("GET", "é".as_bytes(), "?raw").is(200, "whole");
    },
    ..Case::REAL
};

const ONCE: Case = Case {
    id: "kv/path/decoded-once",
    claim: "The path of a key is decoded once: %2520 is %20",
    source: "kv.md 1.6",
    until: Some(Version::V1_12),
    run: |t| {
        stores(
            t,
            &[
                ("a%2520b", "a%20b"),
                ("a%252Fb", "a%2Fb"),
                ("p%2525", "p%25"),
            ],
        );
    },
    ..Case::MUST
};

/// Writes by each path, and finds the keys by that path and in a listing.
fn stores(t: &Trial, names: &[(&str, &str)]) {
    let prefix = t.key("names/");
    for (path, _) in names {
        t.put(&format!("{prefix}{path}"), "", path).is(200, "true");
    }
    for (path, _) in names {
        t.get(&format!("{prefix}{path}"), "raw").is(200, path);
    }
    let mut expected: Vec<_> = names
        .iter()
        .map(|(_, key)| format!("{prefix}{key}"))
        .collect();
    expected.sort();
    t.same("keys", t.get(&prefix, "keys").strings(), expected);
}
