//! Names of keys that later versions refuse (1.22.md A1.6b). Nothing here can be seen on 1.8.

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// The one text of 1.21.5.
const REGEX: &str =
    r#"invalid key name, keys should respect the "^[a-zA-Z0-9,_./\\-?&=]+$" format"#;
/// The two texts since 1.22.
const SPACES: &str = "invalid key name, leading/trailing spaces are not allowed";
const TRAVERSAL: &str = "invalid key name, path traversal is not allowed";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/names/anything-goes",
        claim: "Names with spaces at the ends, dots and escapes are names like any other",
        source: "kv.md 1.6",
        until: Some(Version::V1_12),
        run: |t| {
            for name in ["a%20", "%20", "a..b", "%252e%252e", "%2520", "%25"] {
                let key = t.key(name);
                t.put(&key, "", "v").is(200, "true");
                t.get(&key, "raw").is(200, "v");
                t.delete(&key, "").is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/names/regex-in-1-21-5",
        claim: "A key with other characters than letters, digits and ,_./-?&= is 500 with one text",
        source: "1.22.md A1.6b [D]",
        since: Version::V1_21_5,
        until: Some(Version::V1_22),
        run: |t| {
            for name in ["a%20b", "%C3%A9", "a+b", "a:b", "%25", "a~", "con..fig"] {
                refuses(t, &t.key(name), REGEX);
            }
            for name in ["azAZ09,_./-", "q%3F&=", "con.fig"] {
                t.put(&t.key(name), "", "v").is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/names/spaces-since-1-22",
        claim: "A key that begins or ends with a space is 500",
        source: "1.22.md A1.6b [S] [G]",
        since: Version::V1_22,
        run: |t| {
            refuses(t, &t.key("a%20"), SPACES);
            refuses(t, &format!("%20{}", t.key("a")), SPACES);
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/names/traversal-since-1-22",
        claim: "A key with `..` as a segment that cleaning leaves is 500",
        source: "1.22.md A1.6b [S] [G]",
        since: Version::V1_22,
        run: |t| {
            for key in ["%2E%2E", "%2E%2E%2Fa", "a%2F..%2F..%2Fb"] {
                refuses(t, key, TRAVERSAL);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/names/escapes-since-1-22",
        claim: "A key that still holds an escape is 500 when it stands for a space or for `..`",
        source: "1.22.md A1.6b [S] [G]",
        since: Version::V1_22,
        run: |t| {
            refuses(t, &t.key("a%2520b"), SPACES);
            refuses(t, &t.key("a%252e%252eb"), TRAVERSAL);
            refuses(t, &t.key("..%252Fa"), TRAVERSAL);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/names/allowed-since-1-22",
        claim: "Spaces within a name, dots that are no segment, percent signs and other letters stay allowed",
        source: "1.22.md A1.6b [G]",
        since: Version::V1_22,
        run: |t| {
            for name in [
                "a%20b", "a/%20b", "con..fig", "...", ".x", "100%25", "a+b", "%C3%A7", "a%252Fb",
            ] {
                let key = t.key(name);
                t.put(&key, "", "v").is(200, "true");
                t.get(&key, "raw").is(200, "v");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/names/prefixes-are-checked-since-1-22",
        claim: "The prefix of a listing or of a recursive delete is checked like a key",
        source: "1.22.md A1.6b [S]",
        since: Version::V1_22,
        run: |t| {
            let prefix = t.key("a%20");
            t.get(&prefix, "recurse").is(500, SPACES);
            t.get(&prefix, "keys").is(500, SPACES);
            t.delete(&prefix, "recurse").is(500, SPACES);
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/names/checked-after-the-query-since-1-22",
        claim: "A name is checked after index and consistency, before namespace, flags and cas",
        source: "1.22.md A0.10b [S]",
        since: Version::V1_22,
        run: |t| {
            let key = t.key("a%20");
            t.get(&key, "index=abc").is(400, "Invalid index");
            t.get(&key, "stale&consistent").status_is(400);
            t.put(&key, "ns=x", "v").is(500, SPACES);
            t.put(&key, "cas=0&acquire=x&flags=abc", "v")
                .is(500, SPACES);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/names/transactions-are-not-checked",
        claim: "Transactions take every name, also one that a URL may not have",
        source: "kv.md 1.6, 1.22.md A1.6b",
        run: |t| {
            let prefix = t.key("p");
            for name in [" ", "/../x", "%2e%2e", "ç", "//"] {
                let key = format!("{prefix}{name}");
                t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]))
                    .field_is("/Results/0/KV/Key", key.as_str());
            }
            t.same("keys", t.get(&prefix, "keys").list().len(), 5);
        },
        ..Case::REAL
    },
];

/// Every method is refused with that text, and nothing is stored.
fn refuses(t: &Trial, key: &str, text: &str) {
    for method in ["GET", "PUT", "DELETE"] {
        t.send(&Request::new(method, &format!("/v1/kv/{key}")))
            .is(500, text)
            .header_is("Content-Type", "text/plain; charset=utf-8")
            .has_header("Vary")
            .has_no_header("X-Consul-Index");
    }
}
