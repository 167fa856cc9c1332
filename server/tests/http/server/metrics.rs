//! Metrics on a clock that stands still (operator.md 7).

use std::time::Duration;

use proconsul::Version;
use serde_json::{Value, json};

use crate::support::{Consul, create_session, request};

const METRICS: &str = "/v1/agent/metrics";
const PROMETHEUS: &str = "/v1/agent/metrics?format=prometheus";

fn shown(consul: &Consul) -> Value {
    consul.get(METRICS).json()
}

/// The number of values of a metric, with its labels.
fn count(metrics: &Value, kind: &str, name: &str, labels: &Value) -> u64 {
    let all = metrics[kind].as_array().expect("a list");
    let mut all = all.iter();
    let found = all.find(|one| one["Name"] == name && one["Labels"] == *labels);
    found.map_or(0, |one| one["Count"].as_u64().expect("a count"))
}

#[test]
fn an_interval_counts_what_happened_in_it() {
    let consul = Consul::frozen(Version::V1_8_7);
    consul.advance(10);
    for value in ["a", "b", "c"] {
        consul.put("/v1/kv/k", value).is(200, "true");
    }
    consul.put("/v1/kv/k?cas=x", "").code();
    consul.get("/v1/kv/k");
    consul.advance(10);
    let metrics = shown(&consul);
    let of = |kind, name| count(&metrics, kind, name, &json!({}));
    assert_eq!(of("Samples", "consul.http.PUT.v1.kv._"), 4);
    assert_eq!(of("Samples", "consul.http.GET.v1.kv._"), 1);
    assert_eq!(of("Samples", "consul.kvs.apply"), 3);
    assert_eq!(of("Counters", "consul.raft.apply"), 3);
    assert_eq!(of("Counters", "consul.rpc.query"), 1);
    let set = json!({"op": "set"});
    assert_eq!(count(&metrics, "Samples", "consul.fsm.kvs", &set), 3);
    consul.advance(10);
    assert_eq!(
        count(&shown(&consul), "Samples", "consul.kvs.apply", &json!({})),
        0
    );
}

#[test]
fn a_session_that_lapses_is_counted_and_a_wait_takes_as_long_as_the_clock_says() {
    let consul = Consul::frozen(Version::V1_8_7);
    create_session(&consul, r#"{"TTL":"10s"}"#);
    let index = consul.get("/v1/session/list").index();
    let mut blocked = consul.block(&format!("/v1/session/list?index={index}"));
    let gauge = |metrics: &Value, name: &str| {
        let all = metrics["Gauges"].as_array().expect("a list");
        let found = all.iter().find(|one| one["Name"] == name);
        found.expect("it is shown")["Value"].clone()
    };
    let before = shown(&consul);
    assert_eq!(gauge(&before, "consul.session_ttl.active"), 1);
    assert_eq!(gauge(&before, "consul.rpc.queries_blocking"), 1);
    consul.advance(20);
    blocked.answer();
    consul.advance(10);
    let metrics = shown(&consul);
    let lapsed = "consul.session_ttl.invalidate";
    assert_eq!(count(&metrics, "Samples", lapsed, &json!({})), 1);
    let samples = metrics["Samples"].as_array().expect("a list");
    let listed = "consul.http.GET.v1.session.list";
    let listed = samples.iter().find(|one| one["Name"] == listed);
    assert_eq!(listed.expect("it was read")["Max"], 20_000.0);
    assert_eq!(gauge(&metrics, "consul.session_ttl.active"), 0);
    assert_eq!(gauge(&metrics, "consul.rpc.queries_blocking"), 0);
}

#[test]
fn the_same_requests_have_the_same_metrics() {
    let metrics = || {
        let consul = Consul::frozen(Version::V1_8_7);
        consul.put("/v1/kv/k", "x").is(200, "true");
        consul.get("/v1/catalog/services");
        let mut shown = shown(&consul);
        shown["Timestamp"] = Value::Null;
        shown
    };
    assert_eq!(metrics(), metrics());
}

#[test]
fn prometheus_is_shown_for_as_long_as_metrics_are_kept() {
    let consul = Consul::frozen_with(|config| {
        config.version = Version::V1_8_7;
        config.telemetry.prometheus_retention_time = Duration::from_secs(60);
        config.telemetry.disable_hostname = true;
    });
    consul.put("/v1/kv/k", "x").is(200, "true");
    let shows = |line: &str| consul.get(PROMETHEUS).text().contains(line);
    assert!(shows("\nconsul_kvs_apply{quantile=\"0.5\"} 0\n"));
    consul.advance(10);
    assert!(shows("\nconsul_kvs_apply{quantile=\"0.5\"} NaN\n"));
    consul.advance(50);
    assert!(shows("\nconsul_kvs_apply_count 1\n"));
    consul.advance(1);
    assert!(!shows("consul_kvs_apply"));
}

#[test]
fn later_releases_stream_one_interval_after_another() {
    let consul = Consul::frozen(Version::V1_22_0);
    let mut wire = consul.connect();
    wire.send(&request("GET", "/v1/agent/metrics/stream", &[], b""));
    assert_eq!(wire.answer_to_head().code(), 200);
    let interval = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        assert!(text.ends_with('\n'), "{text:?}");
        serde_json::from_str::<Value>(&text).expect("metrics are JSON")
    };
    interval(wire.chunk());
    consul.put("/v1/kv/k", "x").is(200, "true");
    assert!(!wire.has_something_to_read());
    let labels = json!({"method": "PUT", "path": "v1_kv__"});
    for counted in [1, 0] {
        consul.advance(10);
        let metrics = interval(wire.chunk());
        assert_eq!(
            count(&metrics, "Samples", "consul.api.http", &labels),
            counted
        );
    }
    let early = Consul::frozen(Version::V1_8_7);
    early.get("/v1/agent/metrics/stream").is(404, "");
}
