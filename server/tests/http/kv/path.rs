//! Which key a path names, and where a path that is not clean is sent (kv.md 1.6; 1.22.md A1.6).

use proconsul::Version;
use proconsul::config::Config;

use crate::support::Consul;

/// The store's only key, as JSON prints it.
fn only_key(consul: &Consul) -> String {
    let keys = consul.get("/v1/kv/?keys").text().to_owned();
    let key = keys
        .strip_prefix("[\"")
        .and_then(|keys| keys.strip_suffix("\"]"));
    key.unwrap_or_else(|| panic!("{keys} is not one key"))
        .to_owned()
}

/// Writes to a path, and gives the key that is then there.
fn written(consul: &Consul, path: &str) -> String {
    consul.put(path, "x").is(200, "true");
    consul.get(&format!("{path}?raw")).is(200, "x");
    let key = only_key(consul);
    consul.delete(path).is(200, "true");
    consul.get("/v1/kv/?keys").is(200, "[]");
    key
}

// trap: kv 25
#[test]
fn paths_are_decoded_and_a_plus_is_a_plus() {
    for consul in Consul::both() {
        for (path, key) in [
            ("/v1/kv/a%2Fb", "a/b"),
            ("/v1/kv/plus+key", "plus+key"),
            ("/v1/kv/q%3Fmark", "q?mark"),
            ("/v1/kv/h%23ash", "h#ash"),
            ("/v1/kv/semi;colon", "semi;colon"),
            ("/v1/kv/%7E", "~"),
            ("/v1/kv/%C3%A9", "\u{e9}"),
            ("/v1/kv/%F0%9F%98%80", "\u{1f600}"),
            ("/v1/kv/trail/", "trail/"),
            ("/v1/%6bv/a", "a"),
            ("/v1/kv/a$b,c@d!e'f(g)*h:i=j", "a$b,c@d!e'f(g)*h:i=j"),
            ("http://elsewhere/v1/kv/absolute", "absolute"),
        ] {
            assert_eq!(written(&consul, path), key, "{path}");
        }
        // In a query a plus is a space, and the separator that is none folds nothing.
        consul.put("/v1/kv/a+b+c", "");
        consul.put("/v1/kv/a%20b", "");
        let folded = consul.get("/v1/kv/?keys&separator=+");
        folded.is(200, r#"["a ","a+b+c"]"#);
        let folded = consul.get("/v1/kv/?keys&separator=%2B");
        folded.is(200, r#"["a b","a+"]"#);
        for path in [
            "/v1/kv/nul%00",
            "/v1/kv/tab%09",
            "/v1/kv/line%0A",
            "/v1/kv/del%7F",
            "/v1/kv/next%C2%85line",
            "/v1/kv/nbsp%C2%A0",
            "/v1/kv/zwsp%E2%80%8B",
            "/nowhere%00",
        ] {
            let answer = consul.put(path, "x");
            answer
                .is(400, "")
                .has_head(&["HTTP/1.1 400 Bad Request", "Content-Length: 0"]);
        }
    }
}

#[test]
fn a_space_inside_of_a_key_is_printable() {
    for consul in Consul::both() {
        assert_eq!(written(&consul, "/v1/kv/sp%20ace"), "sp ace");
    }
}

#[test]
fn unprintable_keys_may_be_allowed() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::with(|config| {
            *config = Config {
                version,
                disable_http_unprintable_char_filter: true,
                ..Config::default()
            };
        });
        consul.get("/v1/kv/nul%00").is(404, "");
        assert_eq!(written(&consul, "/v1/kv/nul%00%C2%A0"), "nul\\u0000\u{a0}");
    }
}

#[test]
fn a_trailing_slash_makes_another_key() {
    for consul in Consul::both() {
        consul.put("/v1/kv/trail", "1");
        consul.put("/v1/kv/trail/", "2");
        consul.get("/v1/kv/trail?raw").is(200, "1");
        consul.get("/v1/kv/trail/?raw").is(200, "2");
    }
}

#[test]
fn a_path_that_is_no_path_is_refused_and_ends_the_connection() {
    for consul in Consul::both() {
        for path in ["/v1/kv/bad%zz", "/v1/kv/bad%", "/v1/kv/bad%4"] {
            let mut wire = consul.connect();
            wire.send(&crate::support::request("GET", path, &[], b""));
            let answer = wire.answer();
            answer.is(400, "400 Bad Request");
            assert_eq!(answer.header("Connection"), Some("close"));
            assert_eq!(
                answer.header("Content-Type"),
                Some("text/plain; charset=utf-8")
            );
            assert!(wire.is_closed(), "{path}");
        }
    }
}

/// The `Location` of a path on both muxes; nothing where there is no redirect.
fn location(consul: &Consul, path: &str) -> Option<String> {
    let answer = consul.get(path);
    let location = answer.header("Location").map(str::to_owned);
    assert_eq!(location.is_some(), answer.code() == 301, "{path}");
    location
}

// trap: kv 24
#[test]
fn literal_slashes_and_dots_are_redirected_in_all_versions() {
    for consul in Consul::both() {
        for (path, cleaned) in [
            ("/v1/kv//lead", "/v1/kv/lead"),
            ("/v1/kv/x//y", "/v1/kv/x/y"),
            ("/v1/kv/dot/./k", "/v1/kv/dot/k"),
            ("/v1/kv/dd/../k2", "/v1/kv/k2"),
            ("/v1/kv/trail//", "/v1/kv/trail/"),
            ("/v1/kv/..", "/v1"),
            ("/v1/kv/.", "/v1/kv/"),
            ("/v1/kv/a/..", "/v1/kv/"),
            ("//v1/kv/a", "/v1/kv/a"),
            ("/v1/kv/x//y?raw&a=b", "/v1/kv/x/y?raw&a=b"),
            ("/v1/kv", "/v1/kv/"),
            ("/v1/kv?keys", "/v1/kv/?keys"),
            ("/v1/session/destroy", "/v1/session/destroy/"),
        ] {
            assert_eq!(location(&consul, path).as_deref(), Some(cleaned), "{path}");
        }
        // A client that follows turns the PUT into a GET of a key that is not there.
        let redirected = consul.put("/v1/kv/foo//bar", "x");
        assert_eq!(redirected.code(), 301);
        let followed = redirected
            .header("Location")
            .expect("a redirect leads somewhere");
        consul.get(followed).is(404, "");
        // A transaction stores such a key as it is.
        let set = r#"[{"KV":{"Verb":"set","Key":"/lead//x/../y"}},{"KV":{"Verb":"set","Key":"j\u0000k"}}]"#;
        assert_eq!(consul.put("/v1/txn", set).code(), 200);
        consul
            .get("/v1/kv/?keys")
            .is(200, r#"["/lead//x/../y","j\u0000k"]"#);
    }
}

#[test]
fn the_answers_of_redirects() {
    for consul in Consul::both() {
        let target = "/v1/kv/x//y?a=1&b=2";
        let html = "<a href=\"/v1/kv/x/y?a=1&amp;b=2\">Moved Permanently</a>.\n\n";
        consul.get(target).is(301, html).has_head(&[
            "HTTP/1.1 301 Moved Permanently",
            "Content-Length: 57",
            "Content-Type: text/html; charset=utf-8",
            "Location: /v1/kv/x/y?a=1&b=2",
        ]);
        assert_eq!(
            consul.ask("HEAD", target).header("Content-Type"),
            Some("text/html; charset=utf-8")
        );
        for method in ["PUT", "DELETE", "POST", "OPTIONS"] {
            consul.ask(method, target).is(301, "").has_head(&[
                "HTTP/1.1 301 Moved Permanently",
                "Content-Length: 0",
                "Location: /v1/kv/x/y?a=1&b=2",
            ]);
        }
    }
}

#[test]
fn until_1_19_0_escaped_slashes_and_dots_are_redirected_as_well() {
    let consul = Consul::v1_8();
    for (path, cleaned) in [
        ("/v1/kv/%2Flead2", "/v1/kv/lead2"),
        ("/v1/kv/x%2F%2Fz", "/v1/kv/x/z"),
        ("/v1/kv/x/%2Fz", "/v1/kv/x/z"),
        ("/v1/kv/dd/%2E%2E/k3", "/v1/kv/k3"),
        ("/v1/kv/x%2F..%2Fy", "/v1/kv/y"),
        ("/v1/kv/a%2F..", "/v1/kv/"),
        ("/v1/kv/%2E", "/v1/kv/"),
        ("/v1/kv/%2E%2E", "/v1"),
        (
            "/v1/kv/a%20b//c%2Bd+e%C3%A9?raw",
            "/v1/kv/a%20b/c+d+e%C3%A9?raw",
        ),
    ] {
        assert_eq!(location(&consul, path).as_deref(), Some(cleaned), "{path}");
    }
    assert_eq!(written(&consul, "/v1/kv%2Fa"), "a");
}

#[test]
fn since_then_they_reach_the_handler() {
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
}

#[test]
fn since_1_21_5_the_key_is_cleaned() {
    let consul = Consul::v1_22();
    for (path, key) in [
        ("/v1/kv/x%2F%2Fz", "x/z"),
        ("/v1/kv/x/%2Fz", "x/z"),
        ("/v1/kv/%2Flead2", "/lead2"),
        ("/v1/kv/dd/%2E%2E/k3", "k3"),
        ("/v1/kv/x%2F..%2Fy", "y"),
        ("/v1/kv/a%2F..", "."),
        ("/v1/kv/a/%2E%2E", "."),
        ("/v1/kv/%2E", "."),
        ("/v1/kv/a%2F.", "a"),
        ("/v1/kv/a%2F.%2F", "a/"),
        ("/v1/kv/trail%2F%2F", "trail/"),
        ("/v1/kv/%2F", "/"),
        ("/v1/kv/%2F%2F", "/"),
    ] {
        assert_eq!(written(&consul, path), key, "{path}");
    }
    // Prefixes as well.
    consul.put("/v1/kv/a/b", "");
    consul.put("/v1/kv/ab", "");
    consul.delete("/v1/kv/a%2F%2F?recurse").is(200, "true");
    consul.get("/v1/kv/?keys").is(200, r#"["ab"]"#);
}

#[test]
fn an_escaped_slash_separates_no_more_where_the_route_wants_one() {
    for version in [Version::V1_20_0, Version::V1_22_0] {
        let unknown = "Invalid URL path: not a recognized HTTP API endpoint\n";
        Consul::of(version).get("/v1/kv%2Fa").is(404, unknown);
    }
}

#[test]
fn the_newer_redirect_escapes_twice() {
    for version in [Version::V1_20_0, Version::V1_22_0] {
        let consul = Consul::of(version);
        for (path, twice) in [
            (
                "/v1/kv/a%20b//c%2Bd+e%C3%A9?raw",
                "/v1/kv/a%2520b/c%252Bd+e%25C3%25A9?raw",
            ),
            ("/v1/kv/a\"b//c", "/v1/kv/a%2522b/c"),
        ] {
            assert_eq!(location(&consul, path).as_deref(), Some(twice), "{path}");
        }
    }
    let once = location(&Consul::v1_8(), "/v1/kv/a\"b//c");
    assert_eq!(once.as_deref(), Some("/v1/kv/a%22b/c"));
    // Whoever follows lands on a key that 1.22 does not take.
    let consul = Consul::v1_22();
    let refusal = "invalid key name, leading/trailing spaces are not allowed";
    consul.get("/v1/kv/a%2520b/c").is(500, refusal);
}

#[test]
fn from_1_12_0_to_1_12_2_the_path_was_decoded_twice() {
    let key = |version| written(&Consul::of(version), "/v1/kv/a%2520b");
    assert_eq!(key(Version::new(1, 11, 0)), "a%20b");
    assert_eq!(key(Version::new(1, 12, 0)), "a b");
    assert_eq!(key(Version::new(1, 12, 2)), "a b");
    assert_eq!(key(Version::new(1, 12, 3)), "a%20b");
}
