//! What the conformance suite does not say of keys: bytes, sizes, and both sides of each release that changed something between
//! those that the suite runs on (kv.md 1 to 3; 1.22.md A1, A2).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn a_key_that_exists() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "x").is(200, "true");
    let entry =
        r#"[{"LockIndex":0,"Key":"a","Flags":0,"Value":"eA==","CreateIndex":8,"ModifyIndex":8}]"#;
    consul.get("/v1/kv/a").is(200, entry).has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 84",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
    ]);
}

#[test]
fn a_tree_of_any_size_is_one_list() {
    for consul in Consul::both() {
        for number in 0..100 {
            consul.put(&format!("/v1/kv/p/{number:03}"), vec![b'x'; 1000]);
        }
        let tree = consul.get("/v1/kv/p/?recurse");
        let entries = tree.json();
        let entries = entries.as_array().expect("the body is a list");
        let keys: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry["Key"].as_str())
            .collect();
        let expected: Vec<String> = (0..100).map(|number| format!("p/{number:03}")).collect();
        assert_eq!(keys, expected);
        assert_eq!(tree.index(), 107);
    }
}

#[test]
fn chunks_may_have_extensions_zeros_and_trailers() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        wire.send(
            b"PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
            3;ignored\r\nabc\r\n0002\r\nde\r\n0\r\nTrailer: ignored\r\n\r\n",
        );
        wire.answer().is(200, "true");
        consul.get("/v1/kv/a?raw").is(200, "abcde");
    }
}

#[test]
fn refused_writes_carry_no_index() {
    for consul in Consul::both() {
        for target in ["/v1/kv/a?acquire=nope", "/v1/kv/a?flags=x", "/v1/kv/a?ns=x"] {
            let answer = consul.put(target, "");
            assert!(answer.code() >= 400, "{target}");
            assert_eq!(answer.header("X-Consul-Index"), None, "{target}");
        }
    }
}

#[test]
fn a_traversal_is_let_through_with_its_own_warning() {
    let consul = Consul::with(|config| config.disable_kv_key_validation = true);
    let warning = "KV key validation bypassed: invalid key name, path traversal is not allowed. Consider enabling key validation for security.";
    for path in ["/v1/kv/%2E%2E", "/v1/kv/a%252e%252eb", "/v1/kv/..%252Fa"] {
        let answer = consul.put(path, "x");
        answer.is(200, "true");
        assert_eq!(answer.header("X-Consul-Kv-Warning"), Some(warning));
    }
    let consul = Consul::with(|config| {
        config.version = Version::V1_21_5;
        config.disable_http_unprintable_char_filter = true;
    });
    let answer = consul.put("/v1/kv/%C3%A7", "x");
    answer.is(200, "true");
    assert_eq!(answer.header("X-Consul-Kv-Warning"), None);
}

#[test]
fn dev_ends_the_line_until_1_17_and_after_it_where_pretty_was_asked_for() {
    for consul in [Consul::v1_8(), Consul::dev(Version::V1_22_0)] {
        consul.put("/v1/kv/a?pretty", "").is(200, "true\n");
        consul.get("/v1/kv/a?raw&pretty").is(200, "");
    }
    let newline = |version| Consul::dev(version).put("/v1/kv/a", "").body.len() == 5;
    assert!(newline(Version::new(1, 16, 4)));
    assert!(!newline(Version::new(1, 17, 0)));
}

/// The fix of CVE-2020-25864 came to the release lines at different times.
#[test]
fn before_the_fix_the_type_of_values_is_guessed_and_nothing_is_said_of_sandboxes() {
    for version in [Version::new(1, 8, 6), Version::new(1, 9, 4)] {
        let consul = Consul::of(version);
        consul.put("/v1/kv/a", "hello");
        let answer = consul.get("/v1/kv/a?raw");
        assert_eq!(
            answer.header("Content-Type"),
            Some("text/plain; charset=utf-8")
        );
        assert_eq!(answer.header("Content-Security-Policy"), None);
        assert_eq!(answer.header("X-Content-Type-Options"), None);
        consul.put("/v1/kv/b", [0, 1, 2]);
        assert_eq!(
            consul.get("/v1/kv/b?raw").header("Content-Type"),
            Some("application/octet-stream")
        );
    }
}

#[test]
fn the_charset_of_values_and_the_rules_of_names_came_with_1_21_5() {
    let is_of = |version, content_type: &str, code| {
        let consul = Consul::of(version);
        consul.put("/v1/kv/a", "hello");
        let answer = consul.get("/v1/kv/a?raw");
        assert_eq!(answer.header("Content-Type"), Some(content_type));
        for path in ["/v1/kv/%20a", "/v1/kv/%C3%A7", "/v1/kv/a%2520b"] {
            assert_eq!(consul.put(path, "x").code(), code, "{path}");
        }
    };
    is_of(Version::new(1, 21, 4), "text/plain", 200);
    is_of(Version::V1_21_5, "text/plain; charset=utf-8", 500);
}

#[test]
fn the_newline_of_conflicts_came_with_1_19_1() {
    let ends = |version| {
        let answer = Consul::of(version).put("/v1/kv/a?cas=0&acquire=x", "");
        answer.text().ends_with('\n')
    };
    assert!(!ends(Version::new(1, 19, 0)));
    assert!(ends(Version::new(1, 19, 1)));
}

/// The prefix is a little older than the lookup.
#[test]
fn a_malformed_session_is_an_unknown_one_since_1_11() {
    for (version, text) in [
        (
            Version::new(1, 10, 0),
            "failed session lookup: index error: UUID must be 36 characters",
        ),
        (Version::new(1, 11, 0), "invalid session \"nope\""),
    ] {
        let answer = Consul::of(version).put("/v1/kv/k?acquire=nope", "x");
        answer.is(500, &format!("raft apply failed: {text}"));
    }
}

/// Writes to a path, and gives the only key that is then there, as JSON prints it.
fn written(consul: &Consul, path: &str) -> String {
    consul.put(path, "x").is(200, "true");
    consul.get(&format!("{path}?raw")).is(200, "x");
    let keys = consul.get("/v1/kv/?keys").text().to_owned();
    let key = keys
        .strip_prefix("[\"")
        .and_then(|keys| keys.strip_suffix("\"]"));
    let key = key.unwrap_or_else(|| panic!("{keys} is not one key"));
    consul.delete(path).is(200, "true");
    consul.get("/v1/kv/?keys").is(200, "[]");
    key.to_owned()
}

#[test]
fn in_1_20_escaped_slashes_and_dots_belong_to_the_key_and_to_no_route() {
    let consul = Consul::of(Version::V1_20_0);
    for (path, key) in [
        ("/v1/kv/x%2F%2Fz", "x//z"),
        ("/v1/kv/x/%2Fz", "x//z"),
        ("/v1/kv/%2Flead2", "/lead2"),
        ("/v1/kv/dd/%2E%2E/k3", "dd/../k3"),
        ("/v1/kv/x%2F..%2Fy", "x/../y"),
        ("/v1/kv/a%2F..", "a/.."),
        ("/v1/kv/%2E", "."),
        ("/v1/kv/%2E%2E", ".."),
        ("/v1/kv/a%2F.%2F", "a/./"),
        ("/v1/kv/%2F", "/"),
        ("/v1/kv/%2F%2F", "//"),
    ] {
        assert_eq!(written(&consul, path), key, "{path}");
    }
    let unknown = "Invalid URL path: not a recognized HTTP API endpoint\n";
    consul.get("/v1/kv%2Fa").is(404, unknown);
    let redirect = consul.get("/v1/kv/a%20b//c%2Bd+e%C3%A9?raw");
    assert_eq!(
        redirect.header("Location"),
        Some("/v1/kv/a%2520b/c%252Bd+e%25C3%25A9?raw")
    );
}

#[test]
fn from_1_12_0_to_1_12_2_the_path_was_decoded_twice() {
    let key = |version| written(&Consul::of(version), "/v1/kv/a%2520b");
    assert_eq!(key(Version::new(1, 11, 0)), "a%20b");
    assert_eq!(key(Version::new(1, 12, 0)), "a b");
    assert_eq!(key(Version::new(1, 12, 2)), "a b");
    assert_eq!(key(Version::new(1, 12, 3)), "a%20b");
}
