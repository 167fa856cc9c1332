//! Lists of keys (kv.md 1.4).

use crate::support::Consul;

/// The keys of the contract's table.
const KEYS: [&str; 7] = [
    "foo", "foo/a", "foo/b/c", "foo/b/d", "foo/bar", "foobar", "zed",
];

fn filled(consul: &Consul) {
    for key in KEYS {
        consul.put(&format!("/v1/kv/{key}"), "").is(200, "true");
    }
}

#[test]
fn what_a_separator_folds() {
    let table = [
        (
            "?keys",
            r#"["foo","foo/a","foo/b/c","foo/b/d","foo/bar","foobar","zed"]"#,
        ),
        ("?keys&separator=/", r#"["foo","foo/","foobar","zed"]"#),
        ("?keys&seperator=/", r#"["foo","foo/","foobar","zed"]"#),
        (
            "?keys&seperator=b&separator=",
            r#"["foo","foo/a","foo/b/c","foo/b/d","foo/bar","foobar","zed"]"#,
        ),
        (
            "?keys&separator=b&seperator=/",
            r#"["foo","foo/a","foo/b","foob","zed"]"#,
        ),
        ("foo?keys&separator=/", r#"["foo","foo/","foobar"]"#),
        ("foo/?keys&separator=/", r#"["foo/a","foo/b/","foo/bar"]"#),
        ("foo/b?keys&separator=/", r#"["foo/b/","foo/bar"]"#),
        ("?keys&separator=oo", r#"["foo","zed"]"#),
        (
            "?keys&separator=b",
            r#"["foo","foo/a","foo/b","foob","zed"]"#,
        ),
        ("?keys&separator=%2F", r#"["foo","foo/","foobar","zed"]"#),
    ];
    for consul in Consul::both() {
        filled(&consul);
        for (target, keys) in table {
            consul.get(&format!("/v1/kv/{target}")).is(200, keys);
        }
    }
}

#[test]
fn keys_are_in_the_order_of_their_bytes() {
    for consul in Consul::both() {
        for key in ["aa", "a/b", "B", "a", "%C3%A9", "z"] {
            consul.put(&format!("/v1/kv/{key}"), "");
        }
        consul
            .get("/v1/kv/?keys")
            .is(200, "[\"B\",\"a\",\"a/b\",\"aa\",\"z\",\"\u{e9}\"]");
    }
}

#[test]
fn the_index_is_that_of_the_whole_prefix_also_of_folded_keys() {
    for consul in Consul::both() {
        filled(&consul);
        let folded = consul.get("/v1/kv/foo/?keys&separator=/").index();
        consul.put("/v1/kv/foo/b/d", "new");
        let keys = consul.get("/v1/kv/foo/?keys&separator=/");
        assert_eq!(keys.index(), folded + 3);
        assert_eq!(keys.index(), consul.get("/v1/kv/foo/?recurse").index());
    }
}

#[test]
fn a_list_of_keys_has_the_head_of_any_read() {
    let consul = Consul::v1_8();
    filled(&consul);
    consul
        .get("/v1/kv/zed?keys")
        .is(200, r#"["zed"]"#)
        .has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 7",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
            "X-Consul-Index: 14",
            "X-Consul-Knownleader: true",
            "X-Consul-Lastcontact: 0",
        ]);
}
