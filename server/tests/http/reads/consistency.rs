//! The parameters that reads share: consistency, caching, `wait`, `index` (kv.md 6.1; session.md 0.7).

use crate::support::Consul;

const STALE_AND_CONSISTENT: &str = "Cannot specify ?stale with ?consistent, conflicting semantics.";
const CACHED_AND_CONSISTENT: &str =
    "Cannot specify ?cached with ?consistent, conflicting semantics.";

/// What parses the parameters of a read, though it may be a write.
const PARSING: [(&str, &str); 18] = [
    ("GET", "/v1/kv/a"),
    ("GET", "/v1/kv/?keys"),
    ("GET", "/v1/kv/?recurse"),
    ("PUT", "/v1/kv/a"),
    ("PUT", "/v1/kv/"),
    ("DELETE", "/v1/kv/a"),
    (
        "GET",
        "/v1/session/info/00000000-0000-0000-0000-000000000000",
    ),
    ("GET", "/v1/session/info/"),
    ("GET", "/v1/session/node/proconsul"),
    ("GET", "/v1/session/list"),
    (
        "PUT",
        "/v1/session/renew/00000000-0000-0000-0000-000000000000",
    ),
    ("GET", "/v1/status/leader"),
    ("GET", "/v1/status/peers"),
    ("GET", "/v1/catalog/nodes"),
    ("GET", "/v1/catalog/services"),
    ("GET", "/v1/catalog/node/proconsul"),
    ("GET", "/v1/health/node/proconsul"),
    ("GET", "/v1/health/state/any"),
];

fn with(target: &str, parameters: &str) -> String {
    let separator = if target.contains('?') { '&' } else { '?' };
    format!("{target}{separator}{parameters}")
}

#[test]
fn bad_parameters_are_refused_in_one_order() {
    for consul in Consul::both() {
        for (method, target) in PARSING {
            for (parameters, text) in [
                ("stale&consistent", STALE_AND_CONSISTENT),
                ("max_stale=1s&consistent", STALE_AND_CONSISTENT),
                ("cached&consistent", CACHED_AND_CONSISTENT),
                ("max_stale=abc", "Invalid max_stale value \"abc\""),
                ("max_stale=10", "Invalid max_stale value \"10\""),
                ("wait=abc", "Invalid wait time"),
                ("index=abc", "Invalid index"),
                ("index=abc&wait=abc", "Invalid wait time"),
                ("wait=abc&stale&consistent", STALE_AND_CONSISTENT),
                (
                    "max_stale=abc&stale&consistent",
                    "Invalid max_stale value \"abc\"",
                ),
            ] {
                let target = with(target, parameters);
                let answer = consul.ask(method, &target);
                assert_eq!((answer.code(), answer.text()), (400, text), "{target}");
                assert!(answer.header("X-Consul-Index").is_none());
            }
        }
    }
}

#[test]
fn the_head_of_a_bad_parameter() {
    Consul::v1_8().get("/v1/kv/a?index=abc").has_head(&[
        "HTTP/1.1 400 Bad Request",
        "Content-Length: 13",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
    ]);
    Consul::v1_22().get("/v1/kv/a?index=abc").has_head(&[
        "HTTP/1.1 400 Bad Request",
        "Content-Length: 13",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
    ]);
}

#[test]
fn writes_of_sessions_do_not_look_at_them() {
    for consul in Consul::both() {
        let bad = "index=abc&wait=abc&stale&consistent";
        assert_eq!(
            consul.put(&format!("/v1/session/create?{bad}"), "").code(),
            200
        );
        let target = format!("/v1/session/destroy/00000000-0000-0000-0000-000000000000?{bad}");
        consul.put(&target, "").is(200, "true");
    }
}

#[test]
fn with_one_server_all_consistencies_answer_alike() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "x");
        let plain = consul.get("/v1/kv/a");
        for parameters in [
            "stale",
            "consistent",
            "leader",
            "cached",
            "cached&stale",
            "leader&stale",
            "max_stale=1s",
            "max_stale=0s",
            "max_stale=-1s",
            "max_stale=",
            "max_stale=0s&consistent",
            "max_stale=-1s&consistent",
        ] {
            let answer = consul.get(&format!("/v1/kv/a?{parameters}"));
            answer.is(200, plain.text());
            assert_eq!(answer.head(), plain.head(), "{parameters}");
        }
    }
}

#[test]
fn since_1_10_cached_counts_only_where_the_cache_is_used() {
    let code = |version, use_cache| {
        let consul = Consul::with(|config| {
            config.version = version;
            config.use_cache = use_cache;
        });
        consul.get("/v1/kv/a?cached&consistent").code()
    };
    let (old, new) = (proconsul::Version::V1_8_7, proconsul::Version::V1_22_0);
    assert_eq!(code(old, true), 400);
    assert_eq!(code(old, false), 400);
    assert_eq!(code(new, true), 400);
    assert_eq!(code(new, false), 404);
}

#[test]
fn numbers_in_cache_control() {
    for consul in Consul::both() {
        for (method, target) in PARSING {
            for value in [
                "max-age=abc",
                "stale-if-error=x",
                "x, max-age=abc",
                "MAX-AGE=x",
            ] {
                let header = format!("Cache-Control: {value}");
                let answer = consul.ask_with(method, target, &[&header], b"");
                answer.is(400, "Invalid Cache-Control header.");
            }
        }
        for value in [
            "max-age=",
            "max-age= 5",
            "max-age=5;",
            "max-age=\"5\"",
            "max-age=1.5",
        ] {
            let header = format!("Cache-Control: {value}");
            let answer = consul.get_with("/v1/kv/a", &header);
            answer.is(400, "Invalid Cache-Control header.");
        }
        for value in [
            "no-cache",
            "max-age=5, must-revalidate",
            "max-age",
            "max-age=-5",
            "max-age=+5",
            "x max-age=abc",
        ] {
            let header = format!("Cache-Control: {value}");
            let answer = consul.get_with("/v1/kv/a", &header);
            answer.is(404, "");
            assert!(answer.header("X-Cache").is_none() && answer.header("Age").is_none());
        }
        // Only the first of several such headers is looked at.
        let two = ["Cache-Control: no-cache", "Cache-Control: max-age=abc"];
        consul.ask_with("GET", "/v1/kv/a", &two, b"").is(404, "");
    }
}

/// Consul notices the error, says it, and goes on.
#[test]
fn the_list_of_datacenters_says_what_is_wrong_and_answers() {
    for consul in Consul::both() {
        for (parameters, text) in [
            ("stale&consistent", STALE_AND_CONSISTENT),
            ("cached&consistent", CACHED_AND_CONSISTENT),
            ("max_stale=abc", "Invalid max_stale value \"abc\""),
        ] {
            let answer = consul.get(&format!("/v1/catalog/datacenters?{parameters}"));
            answer.is(400, &format!("{text}[\"dc1\"]"));
            assert_eq!(
                answer.header("Content-Type"),
                Some("text/plain; charset=utf-8")
            );
        }
        let answer = consul.get_with("/v1/catalog/datacenters", "Cache-Control: max-age=x");
        answer.is(400, "Invalid Cache-Control header.[\"dc1\"]");
        // It has no index to wait for.
        let answer = consul.get("/v1/catalog/datacenters?index=abc&wait=abc");
        answer.is(200, "[\"dc1\"]");
    }
}

#[test]
fn only_the_catalog_and_health_report_their_consistency() {
    for consul in Consul::both() {
        for target in [
            "/v1/catalog/nodes",
            "/v1/catalog/services",
            "/v1/catalog/node/proconsul",
            "/v1/health/node/proconsul",
            "/v1/health/state/any",
        ] {
            for (parameters, consistency) in [
                ("", "leader"),
                ("stale", "stale"),
                ("max_stale=1s", "stale"),
                ("consistent", "consistent"),
                ("leader", "leader"),
                ("leader&stale", "stale"),
            ] {
                let answer = consul.get(&with(target, parameters));
                assert_eq!(
                    answer.header("X-Consul-Effective-Consistency"),
                    Some(consistency),
                    "{target} {parameters}"
                );
            }
        }
        for target in ["/v1/kv/?keys", "/v1/session/list", "/v1/status/leader"] {
            let answer = consul.get(&with(target, "stale"));
            assert!(answer.header("X-Consul-Effective-Consistency").is_none());
        }
    }
}
