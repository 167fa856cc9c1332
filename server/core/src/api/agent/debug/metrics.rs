//! `/v1/agent/metrics`: what was counted and measured, as JSON and for Prometheus (operator.md 7).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::Context;
use crate::api::agent::failure;
use crate::api::catalog::NOTHING;
use crate::body::time;
use crate::failure::Failure;
use crate::reply::body::MetricsBody;
use crate::reply::header::JSON_UTF_8;
use crate::reply::object::object;
use crate::reply::{self, Reply, ReplyContent};
use crate::request::Request;
use proconsul_engine::metrics::{Aggregate, Kind, Labels, Total};
use proconsul_gocompat::json::encode;
use proconsul_gocompat::json::maps;
use proconsul_store::CatalogUsage;
use proconsul_version::Behaviour;

/// Why an answer is empty.
const REASON: HeaderName = HeaderName::from_static("x-consul-reason");
/// The type of Prometheus' format.
const PROMETHEUS: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// The quantiles of a summary.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
/// How many calls of its own a lone server counts in an interval.
const OWN_CALLS: u64 = 5;
/// What Go's runtime would say of itself.
const RUNTIME: [&str; 8] = [
    "runtime.alloc_bytes",
    "runtime.free_count",
    "runtime.heap_objects",
    "runtime.malloc_count",
    "runtime.num_goroutines",
    "runtime.sys_bytes",
    "runtime.total_gc_pause_ns",
    "runtime.total_gc_runs",
];

/// Shows the metrics of the last interval, or all of them in Prometheus' format.
pub(in crate::api::agent) fn metrics(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    if wants_prometheus(request) {
        return for_prometheus(request);
    }
    Ok(Reply::json(request, &report(&request.context)))
}

/// Shows the metrics of each interval when it is over, from the last one on.
pub(in crate::api::agent) fn stream(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let (context, style) = (Arc::clone(&request.context), reply::style(request));
    let clock = Arc::clone(&request.context.engine);
    let render = move || {
        let mut text = encode::to_vec(&report(&context), style);
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text
    };
    Ok(Reply::stream(MetricsBody::new(clock, Box::new(render))))
}

/// Returns what is shown of the last interval.
fn report(context: &Context) -> impl Serialize + use<> {
    let clock = context.engine.clock();
    let interval = context.engine.metrics().shown(clock.now());
    let of_kind = |wanted: Kind| {
        let all = interval.values.iter();
        let all = all.filter(|(series, _)| series.kind == wanted);
        let all =
            all.map(|(series, values)| (named(context, &series.name), &series.labels, *values));
        all.collect::<Vec<_>>()
    };
    let (mut counters, unlabelled) = (of_kind(Kind::Counter), Labels::new());
    let calls = Aggregate::ones(OWN_CALLS);
    counters.push((named(context, "rpc.request"), &unlabelled, calls));
    let gauges = gauges(context).into_iter().map(|(name, value)| {
        object! {
            "Name" => name,
            "Value" => value,
            "Labels" => object! {},
        }
    });
    object! {
        "Timestamp" => timestamp(clock.unix_nanos_of_epoch() + interval.began),
        "Gauges" => gauges.collect::<Vec<_>>(),
        "Points" => NOTHING,
        "Counters" => listed(context, counters),
        "Samples" => listed(context, of_kind(Kind::Sample)),
    }
}

/// Returns the metrics that are shown, by name with labels (operator.md 7).
fn listed(
    context: &Context,
    mut all: Vec<(String, &Labels, Aggregate)>,
) -> Vec<impl Serialize + use<>> {
    all.retain(|(name, ..)| context.config.telemetry.shows(name));
    all.sort_by_cached_key(|(name, labels, _)| {
        let labels = labels
            .iter()
            .map(|(label, value)| format!(";{label}={value}"));
        std::iter::once(name.clone())
            .chain(labels)
            .collect::<String>()
    });
    let all = all.into_iter().map(|(name, labels, values)| {
        object! {
            "Name" => name,
            "Count" => values.count,
            "Rate" => values.sum / 10.0,
            "Sum" => values.sum,
            "Min" => values.min,
            "Max" => values.max,
            "Mean" => values.mean(),
            "Stddev" => values.deviation(),
            "Labels" => maps::collect(labels.iter().cloned()),
        }
    });
    all.collect()
}

/// Returns the name of a metric with what all names begin with.
fn named(context: &Context, name: &str) -> String {
    match context.config.telemetry.metrics_prefix.as_str() {
        "" => name.to_owned(),
        prefix => format!("{prefix}.{name}"),
    }
}

/// Returns what stands now, by name.
#[expect(clippy::cast_precision_loss, reason = "nothing counts so far")]
fn gauges(context: &Context) -> BTreeMap<String, f64> {
    let store = context.engine.snapshot();
    let applied = store.applied().0 as f64;
    let mut gauges = vec![
        ("autopilot.failure_tolerance", 0.0),
        ("autopilot.healthy", 1.0),
        ("raft.applied_index", applied),
        ("raft.commitNumLogs", 1.0),
        ("raft.last_index", applied),
        ("raft.leader.dispatchNumLogs", 1.0),
        (
            "rpc.queries_blocking",
            context.engine.metrics().waiting() as f64,
        ),
        ("session_ttl.active", store.ttl_sessions() as f64),
    ];
    gauges.extend(RUNTIME.map(|name| (name, 0.0)));
    let of_state = context.has(Behaviour::MetricsOfState);
    if of_state {
        let Ok(usage) = context.engine.read(&CatalogUsage);
        let usage = usage.rows;
        gauges.extend([
            ("server.isLeader", 1.0),
            ("state.kv_entries", store.keys() as f64),
            ("state.nodes", usage.nodes as f64),
            ("state.service_instances", usage.instances as f64),
            ("state.services", usage.services as f64),
        ]);
    }
    let config = &context.config;
    let telemetry = &config.telemetry;
    let is_kept = !telemetry.prometheus_retention_time.is_zero();
    let has_host = !telemetry.disable_hostname && (of_state || is_kept);
    let named = gauges.into_iter().map(|(name, value)| {
        let name = match has_host {
            true => named(context, &format!("{}.{name}", config.host_name())),
            false => named(context, name),
        };
        (name, value)
    });
    maps::collect(named.filter(|(name, _)| telemetry.shows(name)))
}

/// Returns the time in the form of Go's `Time.String`, in whole seconds.
fn timestamp(unix_nanos: i128) -> String {
    let text = time::format(unix_nanos - unix_nanos.rem_euclid(1_000_000_000));
    let text = text.trim_end_matches('Z').replace('T', " ");
    format!("{text} +0000 UTC")
}

fn wants_prometheus(request: &Request) -> bool {
    let accepts = request.headers.get(ACCEPT).is_some_and(|accept| {
        let accept = String::from_utf8_lossy(accept);
        accept.contains("application/openmetrics-text")
    });
    accepts || request.query.get("format") == b"prometheus"
}

fn for_prometheus(request: &Request) -> Result<Reply, Failure> {
    let context = &request.context;
    let now = context.engine.clock().now();
    let Some(totals) = context.engine.metrics().totals(now) else {
        return no_prometheus(request);
    };
    let mut families: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let calls = now
        .since(proconsul_store::timestamp::Timestamp::ZERO)
        .as_secs()
        * OWN_CALLS
        / 10;
    let mut add = |name: &str, kind: &'static str, write: &dyn Fn(&str, &mut String)| {
        let name = name.replace([' ', '.', '=', '-', '/'], "_");
        let (_, lines) = families
            .entry(name.clone())
            .or_insert((kind, String::new()));
        write(&name, lines);
    };
    for (name, value) in gauges(context) {
        add(&name, "gauge", &|name, lines| {
            line(lines, name, "", &[], value);
        });
    }
    let shows = |name: &str| context.config.telemetry.shows(name);
    #[expect(clippy::cast_precision_loss, reason = "nothing counts so far")]
    for (series, total) in &totals {
        let name = named(context, &series.name);
        if !shows(&name) {
            continue;
        }
        match series.kind {
            Kind::Counter => add(&name, "counter", &|name, lines| {
                line(lines, name, "", &series.labels, total.count as f64);
            }),
            Kind::Sample => add(&name, "summary", &|name, lines| {
                summary(lines, name, &series.labels, total);
            }),
        }
    }
    let own = named(context, "rpc.request");
    if shows(&own) {
        #[expect(clippy::cast_precision_loss, reason = "nothing counts so far")]
        add(&own, "counter", &|name, lines| {
            line(lines, name, "", &[], calls as f64);
        });
    }
    let mut text = String::new();
    for (name, (kind, lines)) in &families {
        writeln!(text, "# HELP {name} {name}\n# TYPE {name} {kind}")
            .expect("a string takes any text");
        text.push_str(lines);
    }
    Ok(Reply {
        content_type: Some(PROMETHEUS),
        content: ReplyContent::Whole(text.into()),
        ..Reply::empty(StatusCode::OK)
    })
}

#[expect(clippy::cast_precision_loss, reason = "nothing counts so far")]
fn summary(lines: &mut String, name: &str, labels: &Labels, total: &Total) {
    for part in QUANTILES {
        let mut labels = labels.clone();
        labels.push(("quantile", part.to_string()));
        let value = total.quantile(part).map_or(f64::NAN, f64::from);
        line(lines, name, "", &labels, value);
    }
    line(lines, name, "_sum", labels, total.sum);
    line(lines, name, "_count", labels, total.count as f64);
}

/// Writes a value with its name and labels.
fn line(lines: &mut String, name: &str, end: &str, labels: &[(&str, String)], value: f64) {
    let labels: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    let labels = match labels.as_slice() {
        [] => String::new(),
        labels => format!("{{{}}}", labels.join(",")),
    };
    let value = number(value);
    writeln!(lines, "{name}{end}{labels} {value}").expect("a string takes any text");
}

/// Prints a number as Go's `%g` does, with as many digits as it needs.
fn number(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return "NaN".to_owned();
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if exponent < -4 => format!("{digits}e-{:02}", -exponent),
        Ok(exponent) if exponent > 5 => format!("{digits}e+{exponent:02}"),
        _ => value.to_string(),
    }
}

/// Refuses Prometheus' format: no setting says how long metrics are kept for it.
fn no_prometheus(request: &Request) -> Result<Reply, Failure> {
    if !request.has(Behaviour::AgentPrometheusReason) {
        return Err(failure::no_prometheus());
    }
    let why = HeaderValue::from_static(failure::NO_PROMETHEUS);
    let mut reply = Reply::empty(StatusCode::OK);
    reply.content_type = Some(JSON_UTF_8);
    reply.headers.push((REASON, why));
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::number;

    /// Seen on 1.8.7, but for the last row.
    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        let rows = [
            (0.0, "0"),
            (8.0, "8"),
            (0.2096, "0.2096"),
            (5.346_438_981_592_655, "5.346438981592655"),
            (115_489.0, "115489"),
            (1_388_439.0, "1.388439e+06"),
            (11_754_304.0, "1.1754304e+07"),
            (0.000_043_984, "4.3984e-05"),
            (1.844_674_407_370_955_2e19, "1.8446744073709552e+19"),
            (f64::NAN, "NaN"),
            (0.0001, "0.0001"),
        ];
        for (value, expected) in rows {
            assert_eq!(number(value), expected);
        }
    }
}
