//! Which names of keys are refused (1.22.md A1.6b).

use proconsul::Version;

use crate::support::Consul;

const SPACES: &str = "invalid key name, leading/trailing spaces are not allowed";
const TRAVERSAL: &str = "invalid key name, path traversal is not allowed";
const PATTERN: &str =
    r#"invalid key name, keys should respect the "^[a-zA-Z0-9,_./\\-?&=]+$" format"#;

/// Paths whose keys are taken by 1.22.0.
const TAKEN: [&str; 11] = [
    "/v1/kv/a%20b",
    "/v1/kv/a%2F%20b",
    "/v1/kv/a%20%2F",
    "/v1/kv/con..fig",
    "/v1/kv/...",
    "/v1/kv/.x",
    "/v1/kv/%2Fa",
    "/v1/kv/100%25",
    "/v1/kv/a+b",
    "/v1/kv/%C3%A7",
    "/v1/kv/a%252Fb",
];

/// Paths whose keys are refused by 1.22.0, and why.
const REFUSED: [(&str, &str); 9] = [
    ("/v1/kv/%20a", SPACES),
    ("/v1/kv/a%20", SPACES),
    ("/v1/kv/%20", SPACES),
    ("/v1/kv/%2E%2E", TRAVERSAL),
    ("/v1/kv/%2E%2E%2Fa", TRAVERSAL),
    ("/v1/kv/a%2F..%2F..%2Fb", TRAVERSAL),
    ("/v1/kv/a%2520b", SPACES),
    ("/v1/kv/a%252e%252eb", TRAVERSAL),
    ("/v1/kv/..%252Fa", TRAVERSAL),
];

#[test]
fn the_rules_of_1_22() {
    let consul = Consul::v1_22();
    for path in TAKEN {
        consul.put(path, "x").is(200, "true");
        consul.get(path);
        consul.delete(path).is(200, "true");
    }
    for (path, text) in REFUSED {
        for (method, parameters) in [
            ("GET", ""),
            ("GET", "?recurse"),
            ("GET", "?keys"),
            ("PUT", ""),
            ("DELETE", ""),
            ("DELETE", "?recurse"),
        ] {
            let answer = consul.ask(method, &format!("{path}{parameters}"));
            answer.is(500, text);
        }
    }
    consul.get("/v1/kv/?keys").is(200, "[]");
}

#[test]
fn the_head_of_a_refusal() {
    Consul::v1_22().get("/v1/kv/%20").has_head(&[
        "HTTP/1.1 500 Internal Server Error",
        "Content-Length: 57",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
    ]);
}

#[test]
fn the_pattern_of_1_21_5() {
    let consul = Consul::of(Version::V1_21_5);
    for path in ["/v1/kv/aZ09,_./-%3F&=", "/v1/kv/a.b/c-d"] {
        consul.put(path, "x").is(200, "true");
    }
    for path in [
        "/v1/kv/%C3%A7",
        "/v1/kv/a%20b",
        "/v1/kv/a+b",
        "/v1/kv/a..b",
        "/v1/kv/%2E%2E",
    ] {
        for method in ["GET", "PUT", "DELETE"] {
            consul.ask(method, path).is(500, PATTERN);
        }
    }
}

#[test]
fn other_releases_take_any_name() {
    for version in [Version::V1_8_7, Version::new(1, 21, 4)] {
        let consul = Consul::of(version);
        for path in ["/v1/kv/%20a", "/v1/kv/%C3%A7", "/v1/kv/a%2520b"] {
            consul.put(path, "x").is(200, "true");
        }
    }
}

#[test]
fn the_rules_come_after_the_parameters_of_reads_and_before_all_else() {
    let consul = Consul::v1_22();
    consul.get("/v1/kv/%20?index=x").is(400, "Invalid index");
    consul.get("/v1/kv/%20?ns=x").is(500, SPACES);
    consul.put("/v1/kv/%20?cas=1&acquire=x", "").is(500, SPACES);
    consul.put("/v1/kv/%20?flags=x", "").is(500, SPACES);
    consul
        .ask("POST", "/v1/kv/%20")
        .is(405, "method POST not allowed");
    // The empty key is none.
    consul.get("/v1/kv/").is(400, "Missing key name");
}

#[test]
fn the_rules_of_1_22_can_be_switched_off_with_a_warning() {
    let consul = Consul::with(|config| config.disable_kv_key_validation = true);
    for (path, text) in REFUSED {
        let answer = consul.put(path, "x");
        answer.is(200, "true");
        let warning = format!(
            "KV key validation bypassed: {text}. Consider enabling key validation for security."
        );
        assert_eq!(
            answer.header("X-Consul-Kv-Warning"),
            Some(warning.as_str()),
            "{path}"
        );
    }
    // Cleaning is not.
    let keys = r#"[" "," a","..","..%2Fa","../a","../b","a ","a%20b","a%2e%2eb"]"#;
    consul.get("/v1/kv/?keys").is(200, keys);
    let missing = consul.get("/v1/kv/%20zz");
    assert!(missing.header("X-Consul-Kv-Warning").is_some());
    assert!(
        consul
            .put("/v1/kv/fine", "x")
            .header("X-Consul-Kv-Warning")
            .is_none()
    );
}

#[test]
fn the_pattern_of_1_21_5_can_be_switched_off_without_a_word() {
    let consul = Consul::with(|config| {
        config.version = Version::V1_21_5;
        config.disable_http_unprintable_char_filter = true;
    });
    let answer = consul.put("/v1/kv/%C3%A7", "x");
    answer.is(200, "true");
    assert!(answer.header("X-Consul-Kv-Warning").is_none());
}

#[test]
fn transactions_take_any_name() {
    let consul = Consul::v1_22();
    let set = r#"[{"KV":{"Verb":"set","Key":" a/../b "}}]"#;
    assert_eq!(consul.put("/v1/txn", set).code(), 200);
    consul.get("/v1/kv/?keys").is(200, r#"[" a/../b "]"#);
}
