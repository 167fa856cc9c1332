//! What was counted and measured (operator.md 7).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

const METRICS: &str = "/v1/agent/metrics";
const PROMETHEUS: &str = "/v1/agent/metrics?format=prometheus";
/// A server that keeps metrics for Prometheus, and whose gauges do not have the host in their names.
const KEPT: &str =
    r#"{"telemetry": {"prometheus_retention_time": "1h", "disable_hostname": true}}"#;

/// The metrics of a kind with this name.
fn named(answer: &Answer, kind: &str, name: &str) -> Vec<Value> {
    let all = answer.json()[kind].as_array().cloned().unwrap_or_default();
    all.into_iter().filter(|one| one["Name"] == name).collect()
}

/// Waits until an interval with this sample is shown; gives the sample.
fn shown(t: &Trial, name: &str, labels: &Value) -> Value {
    shown_where(t, name, |one| one["Labels"] == *labels)
}

/// Lets time pass until an interval with such a sample is shown; gives the sample. A clock that nobody moves ends no interval.
fn shown_where(t: &Trial, name: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
    t.eventually("the interval is over", Duration::from_secs(30), || {
        let answer = t.api_get(METRICS).status_is(200);
        let found = named(&answer, "Samples", name).into_iter().find(&is_meant);
        if found.is_none() {
            t.pass(Duration::from_secs(1));
        }
        found
    })
}

/// The value in a line of Prometheus' format.
fn value(answer: &Answer, series: &str) -> Option<f64> {
    let text = answer.text();
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line?.trim().parse().ok()
}

/// The numbers of a sample fit each other.
#[track_caller]
fn is_consistent(t: &Trial, sample: &Value) {
    let number = |name: &str| sample[name].as_f64().unwrap_or(f64::NAN);
    let close = |left: f64, right: f64| (left - right).abs() <= 1e-6 * left.abs().max(1.0);
    let holds = close(number("Rate") * 10.0, number("Sum"))
        && close(number("Mean") * number("Count"), number("Sum"))
        && number("Min") <= number("Mean") + 1e-6
        && number("Mean") <= number("Max") + 1e-6
        && number("Stddev") >= 0.0;
    t.check(holds, format!("the sample is {sample}"));
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/metrics/shape",
        claim: "Metrics have the time at which their interval began, gauges, counters and samples, each by name, and no points",
        source: "operator.md 7",
        run: |t| {
            t.not_compared("what is measured is left to chance");
            // A server that has just started has not yet measured everything.
            let gauge = if t.since(Version::V1_9) {
                "session_ttl.active"
            } else {
                "consul.session_ttl.active"
            };
            let answer = t.eventually("sessions are counted", Duration::from_secs(30), || {
                let answer = t.api_get(METRICS).status_is(200);
                let gauges = answer.json()["Gauges"].clone();
                let mut gauges = gauges.as_array().into_iter().flatten();
                let name = |one: &Value| {
                    one["Name"]
                        .as_str()
                        .is_some_and(|name| name.ends_with(gauge))
                };
                gauges.any(name).then_some(answer)
            });
            let answer = answer
                .has_no_header("X-Consul-Index")
                .field_is("/Points", json!([]));
            let all = answer.json();
            let time = all["Timestamp"].as_str().unwrap_or_default().to_owned();
            t.check(
                time.ends_with("0 +0000 UTC")
                    && time.len() == "2026-11-22 05:00:10 +0000 UTC".len(),
                format!("the time is {time:?}"),
            );
            for kind in ["Gauges", "Counters", "Samples"] {
                let list = all[kind].as_array().cloned().unwrap_or_default();
                // What has labels is sorted as if they stood behind its name and a semicolon.
                let name = |one: &Value| {
                    let has_labels = one["Labels"].as_object().is_some_and(|all| !all.is_empty());
                    let end = if has_labels { ";" } else { "" };
                    format!("{}{end}", one["Name"].as_str().unwrap_or_default())
                };
                // Events may have names that are no text, which JSON does not show as they were sorted.
                let names = list
                    .iter()
                    .map(name)
                    .filter(|name| !name.contains('\u{fffd}'));
                let names: Vec<_> = names.collect();
                t.check(names.is_sorted(), format!("{kind} come as {names:?}"));
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/metrics/of-requests",
        claim: "Requests to an endpoint are measured under its path with its method, whatever came of them",
        source: "operator.md 7.r1",
        until: Some(Version::V1_9),
        run: |t| {
            t.not_compared("what is measured is left to chance");
            t.put(&t.key("k"), "", "x").is(200, "true");
            t.api_put("/v1/agent/monitor", "").status_is(405);
            // In the order of the requests: an interval may end between them.
            for path in ["kv._", "agent.monitor"] {
                let name = format!("consul.http.PUT.v1.{path}");
                is_consistent(t, &shown(t, &name, &json!({})));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/of-requests-since-1-22",
        claim: "Requests to an endpoint are measured with method and path as labels",
        source: "operator.md 7.r1 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| {
            t.not_compared("what is measured is left to chance");
            t.put(&t.key("k"), "", "x").is(200, "true");
            let is_of_kv = |one: &Value| {
                let path = one["Labels"]["path"].as_str().unwrap_or_default();
                one["Labels"]["method"] == "PUT" && path.starts_with("v1_kv")
            };
            is_consistent(t, &shown_where(t, "consul.api.http", is_of_kv));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/of-the-log",
        claim: "Entries of the log are counted, and measured by what they change and with which operation",
        source: "operator.md 7.r2",
        needs: &[Feature::Registration],
        run: |t| {
            t.not_compared("what is measured is left to chance");
            let (key, session) = (t.key("k"), t.session_without_delay());
            t.put(&key, "cas=0", "x").is(200, "true");
            t.put(&key, &format!("acquire={session}"), "x")
                .is(200, "true");
            t.put(&key, &format!("release={session}"), "x")
                .is(200, "true");
            t.delete(&key, "");
            t.destroy(&session);
            t.register_node("node");
            t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "eA=="}}]));
            t.delete(&key, "recurse");
            // In the order of the requests: an interval may end between them.
            for (name, operation) in [
                ("fsm.session", "create"),
                ("fsm.kvs", "cas"),
                ("fsm.kvs", "lock"),
                ("fsm.kvs", "unlock"),
                ("fsm.kvs", "delete"),
                ("fsm.session", "destroy"),
                ("session.apply", ""),
                ("catalog.register", ""),
                ("fsm.register", ""),
                ("txn.apply", ""),
                ("fsm.txn", ""),
                ("fsm.kvs", "delete-tree"),
                ("kvs.apply", ""),
                ("raft.commitTime", ""),
                ("raft.fsm.apply", ""),
            ] {
                let labels = match operation {
                    "" => json!({}),
                    operation => json!({ "op": operation }),
                };
                is_consistent(t, &shown(t, &format!("consul.{name}"), &labels));
            }
            let counters = named(&t.api_get(METRICS), "Counters", "consul.raft.apply");
            let is_counter = |one: &Value| one["Sum"] == one["Count"] && one["Max"] == 1;
            t.check(counters.iter().all(is_counter), format!("{counters:?}"));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/of-entries",
        claim: "Writes and deletions of configuration entries are measured, by their kind and operation",
        source: "operator.md 7.r2",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("what is measured is left to chance");
            let entry = json!({"Kind": "service-defaults", "Name": t.node("web")});
            t.api_put("/v1/config", entry.to_string()).is(200, "true");
            t.api_put("/v1/config?cas=1", entry.to_string())
                .is(200, "false");
            let path = format!("/v1/config/service-defaults/{}", t.node("web"));
            t.send(&Request::delete(&path)).is(200, "{}");
            let fsm = "consul.fsm.config_entry.service-defaults";
            for (name, labels) in [
                ("consul.config_entry.apply", json!({})),
                (fsm, json!({"op": "upsert"})),
                ("consul.config_entry.delete", json!({})),
                (fsm, json!({"op": "delete"})),
            ] {
                is_consistent(t, &shown(t, name, &labels));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/rotates",
        claim: "What was counted is gone when the interval after its own is over, too",
        source: "operator.md 7.r3",
        until: Some(Version::V1_9),
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("what is measured is left to chance");
            let delete = "consul.http.DELETE.v1.kv._";
            t.delete(&t.key("k"), "");
            shown(t, delete, &json!({}));
            t.pass(Duration::from_secs(21));
            let after = t.api_get(METRICS);
            t.same("requests", named(&after, "Samples", delete).len(), 0);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/prometheus",
        claim: "With a retention time metrics are shown for Prometheus: counters, gauges, and summaries with three quantiles",
        source: "operator.md 7.r4",
        until: Some(Version::V1_9),
        settings: KEPT,
        run: |t| {
            t.not_compared("what is measured is left to chance");
            for _ in 0..3 {
                t.put(&t.key("k"), "", "x").is(200, "true");
            }
            let answer = t
                .api_get(PROMETHEUS)
                .status_is(200)
                .header_is("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            let text = answer.text();
            let has = |line: &str| t.check(text.contains(line), format!("{line:?} is missing"));
            has(
                "# HELP consul_raft_apply consul_raft_apply\n# TYPE consul_raft_apply counter\nconsul_raft_apply ",
            );
            has(
                "# HELP consul_http_PUT_v1_kv__ consul_http_PUT_v1_kv__\n# TYPE consul_http_PUT_v1_kv__ summary\nconsul_http_PUT_v1_kv__{quantile=\"0.5\"} ",
            );
            has("\nconsul_http_PUT_v1_kv___count 3\n");
            has("\nconsul_fsm_kvs{op=\"set\",quantile=\"0.99\"} ");
            has("\nconsul_fsm_kvs_count{op=\"set\"} 3\n");
            t.put(&t.key("k"), "", "x").is(200, "true");
            let later = t.api_get(PROMETHEUS);
            let count = value(&later, "consul_kvs_apply_count");
            t.same("the number of writes", count, Some(4.0));
            let open = Request::get(METRICS).header("Accept", "application/openmetrics-text");
            let open = t.send(&open).status_is(200);
            t.check(open.text().starts_with("# HELP "), "Accept has no effect");
            for format in ["Prometheus", "json"] {
                let path = format!("{METRICS}?format={format}");
                t.api_get(&path)
                    .status_is(200)
                    .header_is("Content-Type", "application/json");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/metrics/accept-without-prometheus",
        claim: "A client that accepts OpenMetrics is told, too, that there is no retention time; one that accepts plain text gets JSON",
        source: "operator.md 7.r4",
        until: Some(Version::V1_9),
        run: |t| {
            let accepting = |accept: &str| t.send(&Request::get(METRICS).header("Accept", accept));
            t.not_compared("what is measured is left to chance");
            accepting("application/openmetrics-text; version=0.0.1,*/*;q=0.1").is(
                415,
                "Prometheus is not enabled since its retention time is not positive",
            );
            accepting("text/plain;version=0.0.4").status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/retention",
        claim: "Quantiles are of the last seconds; a metric that is not added to for the retention time goes, and begins anew",
        source: "operator.md 7.r5",
        until: Some(Version::V1_9),
        settings: r#"{"telemetry": {"prometheus_retention_time": "15s", "disable_hostname": true}}"#,
        run: |t| {
            t.not_compared("what is measured is left to chance");
            let count = |answer: &Answer| value(answer, "consul_kvs_apply_count");
            for _ in 0..2 {
                t.put(&t.key("k"), "", "x").is(200, "true");
            }
            t.same(
                "the number of writes",
                count(&t.api_get(PROMETHEUS)),
                Some(2.0),
            );
            t.pass(Duration::from_secs(12));
            let later = t.api_get(PROMETHEUS);
            t.same("the number later", count(&later), Some(2.0));
            let none = "\nconsul_kvs_apply{quantile=\"0.5\"} NaN\n";
            t.check(later.text().contains(none), "there still is a quantile");
            t.pass(Duration::from_secs(5));
            t.same("the number at the end", count(&t.api_get(PROMETHEUS)), None);
            t.put(&t.key("k"), "", "x").is(200, "true");
            t.same("a new number", count(&t.api_get(PROMETHEUS)), Some(1.0));
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/names",
        claim: "All names have the configured prefix; the longest rule that fits a name decides whether it is shown",
        source: "operator.md 7.r6",
        until: Some(Version::V1_9),
        settings: r#"{"telemetry": {"prometheus_retention_time": "1h", "disable_hostname": true, "metrics_prefix": "foo", "filter_default": false,
            "prefix_filter": ["+foo.http", "-foo.http.PUT.v1.kv", "+foo.raft", "-foo.raft.apply", "+foo.session_ttl"]}}"#,
        run: |t| {
            t.not_compared("what is measured is left to chance");
            t.put(&t.key("k"), "", "x").is(200, "true");
            t.txn(&json!([{"KV": {"Verb": "get", "Key": t.key("k")}}]));
            let families = t.eventually("sessions are counted", Duration::from_secs(10), || {
                let text = t.api_get(PROMETHEUS).status_is(200).text();
                let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
                let families: Vec<_> = families.map(str::to_owned).collect();
                let gauge = "foo_session_ttl_active gauge".to_owned();
                families.contains(&gauge).then_some(families)
            });
            let has = |family: &str| families.iter().any(|own| own == family);
            let shown = ["foo_http_PUT_v1_txn summary", "foo_raft_commitTime summary"];
            t.check(
                shown.iter().all(|family| has(family)),
                format!("{families:?}"),
            );
            let hidden = [
                "foo_http_PUT_v1_kv__ summary",
                "foo_raft_apply counter",
                "foo_kvs_apply summary",
            ];
            t.check(
                !hidden.iter().any(|family| has(family)),
                format!("{families:?}"),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/host",
        claim: "Where metrics are kept for Prometheus the names of gauges have the host's in them, unless it is disabled",
        source: "operator.md 7.r6",
        until: Some(Version::V1_9),
        settings: r#"{"telemetry": {"prometheus_retention_time": "1h"}}"#,
        run: |t| {
            t.not_compared("the name is the machine's");
            let names = t.eventually("sessions are counted", Duration::from_secs(30), || {
                let gauges = t.api_get(METRICS).json()["Gauges"].clone();
                let all = gauges.as_array().into_iter().flatten();
                let names = all.filter_map(|one| one["Name"].as_str().map(str::to_owned));
                let names: Vec<_> = names.collect();
                let counted = |name: &String| name.ends_with(".session_ttl.active");
                names.iter().any(counted).then_some(names)
            });
            let bare = "consul.session_ttl.active".to_owned();
            t.check(
                !names.contains(&bare),
                format!("there is no host in {names:?}"),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "agent/metrics/no-stream",
        claim: "There is no stream of metrics",
        source: "operator.md 7",
        until: Some(Version::V1_9),
        run: |t| drop(t.api_get("/v1/agent/metrics/stream").is(404, "")),
        ..Case::REAL
    },
];
