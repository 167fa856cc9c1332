//! Methods and unknown paths (kv.md 6.6; 1.22.md A6; session.md 0.1 to 0.6).

use proconsul::Version;
use proconsul::config::Config;

use crate::support::Consul;

/// Every route with its methods.
const ROUTES: [(&str, &str); 18] = [
    ("/v1/agent/self", "OPTIONS,GET"),
    ("/v1/agent/members", "OPTIONS,GET"),
    ("/v1/catalog/datacenters", "OPTIONS,GET"),
    ("/v1/catalog/nodes", "OPTIONS,GET"),
    ("/v1/catalog/services", "OPTIONS,GET"),
    ("/v1/catalog/node/x", "OPTIONS,GET"),
    ("/v1/health/node/x", "OPTIONS,GET"),
    ("/v1/health/state/x", "OPTIONS,GET"),
    ("/v1/kv/x", "OPTIONS,GET,PUT,DELETE"),
    ("/v1/session/create", "OPTIONS,PUT"),
    ("/v1/session/destroy/x", "OPTIONS,PUT"),
    ("/v1/session/info/x", "OPTIONS,GET"),
    ("/v1/session/node/x", "OPTIONS,GET"),
    ("/v1/session/list", "OPTIONS,GET"),
    ("/v1/session/renew/x", "OPTIONS,PUT"),
    ("/v1/status/leader", "OPTIONS,GET"),
    ("/v1/status/peers", "OPTIONS,GET"),
    ("/v1/txn", "OPTIONS,PUT"),
];

// trap: kv 23
#[test]
fn head_is_refused_and_options_lists_methods_without_spaces() {
    let consul = Consul::v1_8();
    for (target, allow) in ROUTES {
        consul.ask("HEAD", target).has_head(&[
            "HTTP/1.1 405 Method Not Allowed",
            &format!("Allow: {allow}"),
            "Content-Length: 23",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
        ]);
        consul.ask("OPTIONS", target).is(200, "").has_head(&[
            "HTTP/1.1 200 OK",
            &format!("Allow: {allow}"),
            "Content-Length: 0",
            "Vary: Accept-Encoding",
        ]);
    }
    let consul = Consul::v1_22();
    for (target, allow) in ROUTES {
        consul.ask("HEAD", target).has_head(&[
            "HTTP/1.1 405 Method Not Allowed",
            &format!("Allow: {allow}"),
            "Content-Length: 23",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
        ]);
        consul.ask("OPTIONS", target).is(200, "").has_head(&[
            "HTTP/1.1 200 OK",
            &format!("Allow: {allow}"),
            "Content-Length: 0",
            "Content-Type: application/json; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
        ]);
    }
}

#[test]
fn other_methods_are_named_and_refused() {
    for consul in Consul::both() {
        for (target, allow) in ROUTES {
            for method in [
                "POST",
                "PATCH",
                "TRACE",
                "BREW",
                "get",
                "Put",
                "X-Y!#$%&'*+.^_`|~",
            ] {
                let answer = consul.ask(method, target);
                answer.is(405, &format!("method {method} not allowed"));
                assert_eq!(answer.header("Allow"), Some(allow));
            }
        }
        consul
            .ask("PUT", "/v1/session/list")
            .is(405, "method PUT not allowed");
        consul
            .ask("GET", "/v1/txn")
            .is(405, "method GET not allowed");
        consul
            .ask("DELETE", "/v1/txn")
            .is(405, "method DELETE not allowed");
    }
}

#[test]
fn a_method_counts_before_what_is_wrong_with_the_rest() {
    for consul in Consul::both() {
        let answer = consul.ask("POST", "/v1/kv/?index=abc&ns=x");
        answer.is(405, "method POST not allowed");
        assert_eq!(consul.ask("OPTIONS", "/v1/kv/?index=abc").code(), 200);
        // But behind a query that cannot be read.
        consul.ask("POST", "/v1/kv/a?a=%zz").is(500, "");
        consul.ask("OPTIONS", "/v1/kv/a?a=%zz").is(500, "");
    }
}

#[test]
fn a_query_that_cannot_be_read() {
    let consul = Consul::v1_8();
    for target in ["/v1/kv/a?a=%zz", "/v1/kv/a?%", "/v1/session/list?a=%4"] {
        consul.get(target).is(500, "").has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            "Content-Length: 0",
            "Vary: Accept-Encoding",
        ]);
    }
    let consul = Consul::v1_22();
    for target in ["/v1/kv/a?a=%zz", "/v1/kv/a?a;b", "/v1/kv/a?;"] {
        consul.get(target).is(500, "").has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            "Content-Length: 0",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
        ]);
    }
}

#[test]
fn until_1_10_a_semicolon_separates_parameters() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a?cas=0;flags=1", "x").is(200, "true");
    assert!(consul.get("/v1/kv/a").text().contains(r#""Flags":1,"#));
    let code = |version| {
        Consul::of(version)
            .put("/v1/kv/a?cas=0;flags=1", "x")
            .code()
    };
    assert_eq!(code(Version::new(1, 10, 0)), 200);
    assert_eq!(code(Version::new(1, 11, 0)), 500);
    // In a path it is a character as any other.
    Consul::v1_22().put("/v1/kv/a;b", "x").is(200, "true");
}

/// Paths that are nobody's, all with `/v1/` in them.
const UNKNOWN_API_PATHS: [&str; 8] = [
    "/v1/",
    "/v1/nope",
    "/v1/kvs/a",
    "/v1/agent/self/",
    "/v1/session/create/",
    "/v1/session/list/",
    "/v1/status/leader/x",
    "/v2/v1/x",
];

#[test]
fn an_unknown_path_in_1_8() {
    let consul = Consul::v1_8();
    for target in UNKNOWN_API_PATHS
        .into_iter()
        .chain(["/nope", "/V1/kv/x", "/v1", "/api/x"])
    {
        consul
            .ask("HEAD", target)
            .has_head(&["HTTP/1.1 404 Not Found"]);
        for method in ["GET", "PUT", "POST", "OPTIONS"] {
            consul
                .ask(method, target)
                .is(404, "")
                .has_head(&["HTTP/1.1 404 Not Found", "Content-Length: 0"]);
        }
    }
}

#[test]
fn an_unknown_path_since_1_11() {
    let consul = Consul::v1_22();
    for target in UNKNOWN_API_PATHS {
        for method in ["GET", "PUT", "OPTIONS"] {
            let answer = consul.ask(method, target);
            answer.is(
                404,
                "Invalid URL path: not a recognized HTTP API endpoint\n",
            );
            answer.has_head(&[
                "HTTP/1.1 404 Not Found",
                "Content-Length: 53",
                "Content-Type: text/plain; charset=utf-8",
            ]);
        }
        assert_eq!(
            consul.ask("HEAD", target).header("Content-Length"),
            Some("53")
        );
    }
    let start =
        "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n";
    for target in ["/nope", "/V1/kv/x", "/v1"] {
        consul.get(target).is(404, start);
    }
    assert_eq!(Consul::of(Version::new(1, 10, 0)).get("/nope").body, b"");
    assert_eq!(
        Consul::of(Version::new(1, 11, 0)).get("/nope").text(),
        start
    );
}

#[test]
fn the_resource_api_is_somebody_elses_since_1_17() {
    let consul = Consul::v1_22();
    let answer = consul.get("/api/x");
    answer.is(404, "404 page not found\n").has_head(&[
        "HTTP/1.1 404 Not Found",
        "Content-Length: 19",
        "Content-Type: text/plain; charset=utf-8",
        "X-Content-Type-Options: nosniff",
    ]);
    let answer = consul.get("/api");
    answer.is(301, "<a href=\"/api/\">Moved Permanently</a>.\n\n");
    assert_eq!(answer.header("Location"), Some("/api/"));
    let text = Consul::of(Version::new(1, 16, 4))
        .get("/api/x")
        .text()
        .to_owned();
    assert!(text.starts_with("Invalid URL path: if"));
}

#[test]
fn the_root_without_the_page() {
    Consul::v1_8().get("/").is(200, "Consul Agent").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 12",
        "Content-Type: text/plain; charset=utf-8",
    ]);
    let text = "Consul Agent: UI disabled. To enable, set ui_config.enabled=true in the agent configuration and restart.";
    Consul::v1_22().get("/").is(200, text);
    Consul::of(Version::new(1, 11, 1))
        .get("/")
        .is(200, "Consul Agent");
    Consul::of(Version::new(1, 11, 2)).get("/").is(200, text);
}

#[test]
fn the_root_leads_to_the_page_where_there_is_one() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::dev(version);
        let answer = consul.get("/");
        answer.is(301, "<a href=\"/ui/\">Moved Permanently</a>.\n\n");
        assert_eq!(answer.header("Location"), Some("/ui/"));
        assert_eq!(consul.get("/ui/").code(), 200);
    }
}

#[test]
fn types_of_empty_answers_by_version() {
    let options = |version, target: &str, content_type: &[&str]| {
        let consul = Consul::with(|config| {
            *config = Config {
                version,
                ..Config::default()
            };
        });
        let answer = consul.ask_with("OPTIONS", target, content_type, b"");
        answer.header("Content-Type").map(str::to_owned)
    };
    for (version, content_type) in [
        (Version::new(1, 19, 2), None),
        (Version::V1_20_0, Some("text/plain; charset=utf-8")),
        (Version::new(1, 20, 1), Some("text/plain; charset=utf-8")),
        (Version::new(1, 20, 2), Some("application/json")),
        (Version::new(1, 21, 4), Some("application/json")),
        (Version::V1_21_5, Some("application/json; charset=utf-8")),
        (Version::V1_22_0, Some("application/json; charset=utf-8")),
    ] {
        let own = ["Content-Type: text/x-own"];
        assert_eq!(options(version, "/v1/kv/a", &own).as_deref(), content_type);
    }
}
