//! GET of a value as it is (kv.md 1.5; 1.22.md A1).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn a_value_as_it_is() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "hello");
    consul.get("/v1/kv/a?raw").is(200, "hello").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 5",
        "Content-Security-Policy: sandbox",
        "Content-Type: text/plain",
        "Vary: Accept-Encoding",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
        "X-Content-Type-Options: nosniff",
    ]);
    let consul = Consul::v1_22();
    consul.put("/v1/kv/a", "hello");
    consul.get("/v1/kv/a?raw").is(200, "hello").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 5",
        "Content-Security-Policy: sandbox",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
        "X-Consul-Query-Backend: blocking-query",
        "X-Content-Type-Options: nosniff",
    ]);
}

#[test]
fn every_byte_comes_back() {
    for consul in Consul::both() {
        let all: Vec<u8> = (0..=255).collect();
        consul.put("/v1/kv/a", &all);
        assert_eq!(consul.get("/v1/kv/a?raw").body, all);
    }
}

#[test]
fn the_length_is_named_also_where_it_is_large() {
    for consul in Consul::both() {
        let large = vec![b'x'; 100_000];
        consul.put("/v1/kv/a", &large);
        let answer = consul.get("/v1/kv/a?raw");
        assert_eq!(answer.header("Content-Length"), Some("100000"));
        assert_eq!(answer.body, large);
    }
}

#[test]
fn an_empty_value() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "");
        let answer = consul.get("/v1/kv/a?raw");
        answer.is(200, "");
        assert_eq!(answer.header("Content-Length"), Some("0"));
    }
}

#[test]
fn nothing_is_added_in_dev() {
    let consul = Consul::dev(Version::V1_8_7);
    consul.put("/v1/kv/a", "hello");
    consul.get("/v1/kv/a?raw").is(200, "hello");
    consul.get("/v1/kv/a?raw&pretty").is(200, "hello");
}

/// The fix of CVE-2020-25864 came to the release lines at different times.
#[test]
fn before_the_fix_the_type_is_guessed_and_nothing_is_said_of_sandboxes() {
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
fn the_charset_came_with_1_21_5() {
    let content_type = |version| {
        let consul = Consul::of(version);
        consul.put("/v1/kv/a", "hello");
        let answer = consul.get("/v1/kv/a?raw");
        answer.header("Content-Type").map(str::to_owned)
    };
    assert_eq!(
        content_type(Version::new(1, 21, 4)).as_deref(),
        Some("text/plain")
    );
    assert_eq!(
        content_type(Version::V1_21_5).as_deref(),
        Some("text/plain; charset=utf-8")
    );
}
