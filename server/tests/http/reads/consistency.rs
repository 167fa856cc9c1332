//! What the conformance suite does not say of consistency and caching (kv.md 6.1; session.md 0.7).

use crate::support::Consul;

#[test]
fn numbers_in_cache_control() {
    for consul in Consul::both() {
        for value in [
            "max-age=",
            "max-age= 5",
            "max-age=5;",
            "max-age=\"5\"",
            "x, max-age=abc",
        ] {
            let header = format!("Cache-Control: {value}");
            let answer = consul.get_with("/v1/kv/a", &header);
            answer.is(400, "Invalid Cache-Control header.");
        }
        for value in ["max-age=+5", "x max-age=abc"] {
            let header = format!("Cache-Control: {value}");
            consul.get_with("/v1/kv/a", &header).is(404, "");
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
            (
                "stale&consistent",
                "Cannot specify ?stale with ?consistent, conflicting semantics.",
            ),
            (
                "cached&consistent",
                "Cannot specify ?cached with ?consistent, conflicting semantics.",
            ),
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
    }
}
