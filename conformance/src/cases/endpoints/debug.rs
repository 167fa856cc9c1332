//! What operators look at when something is wrong: the log, metrics, profiles (operator.md 7).

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::wire::{Outcome, Request};

const METRICS: &str = "/v1/agent/metrics?format=prometheus";
const NO_PROMETHEUS: &str = "Prometheus is not enabled since its retention time is not positive";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "agent/monitor/level",
        claim: "The log is shown at a known level, in any case; warning is none",
        source: "operator.md 7",
        run: |t| {
            let br = if t.since(Version::V1_13) {
                ""
            } else {
                "Bad request: "
            };
            for level in ["bogus", "warning", "Fatal"] {
                t.api_get(&format!("/v1/agent/monitor?loglevel={level}&logjson"))
                    .is(400, &format!("{br}Unknown log level: {level}"));
            }
            t.api_put("/v1/agent/monitor", "")
                .is(405, "method PUT not allowed")
                .header_is("Allow", "OPTIONS,GET");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/monitor/begins-at-once",
        claim: "The log begins with its head, before there is a line, and has no type",
        source: "operator.md 7",
        run: |t| {
            t.not_compared("the answer has no end");
            let mut connection = t.connect();
            connection
                .send(b"GET /v1/agent/monitor?loglevel=ERR HTTP/1.1\r\nHost: conformance\r\n\r\n");
            let answer = connection.answer_within(Duration::from_secs(2));
            let Outcome::Silent { received } = answer.outcome() else {
                return t.check(false, format!("it has ended: {:?}", answer.outcome()));
            };
            let received = String::from_utf8_lossy(received);
            let begins = received.starts_with("HTTP/1.1 200 OK\r\nVary: Accept-Encoding\r\n");
            t.check(begins, format!("it begins with {received:?}"));
            t.check(!received.contains("Content-Type"), "it has a type");
            t.check(
                received.contains("Transfer-Encoding: chunked\r\n\r\n"),
                "the head does not end in its framing",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/metrics/no-prometheus",
        claim: "Metrics in Prometheus' format are refused where nothing says how long they are kept",
        source: "operator.md 7",
        until: Some(Version::V1_9),
        run: |t| drop(t.api_get(METRICS).is(415, NO_PROMETHEUS)),
        ..Case::SHOULD
    },
    Case {
        id: "agent/metrics/no-prometheus-since-1-22",
        claim: "Metrics in Prometheus' format are empty where nothing says how long they are kept, and a header says why",
        source: "operator.md 7 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        run: |t| {
            t.api_get(METRICS)
                .is(200, "")
                .header_is("X-Consul-Reason", NO_PROMETHEUS)
                .header_is("Content-Type", "application/json; charset=utf-8");
        },
        ..Case::SHOULD
    },
    Case {
        id: "agent/pprof/unknown-profile",
        claim: "In development mode a profile that does not exist is 404, and the command line is shown",
        source: "operator.md 7",
        needs: &[Feature::DevMode, Feature::AclsOff],
        run: |t| {
            t.not_compared("the command line is the process's own");
            t.api_get("/debug/pprof/conformance")
                .is(404, "Unknown profile\n")
                .header_is("X-Go-Pprof", "1")
                .header_is("X-Content-Type-Options", "nosniff");
            t.api_get("/debug/pprof/cmdline").status_is(200);
            t.api_get("/debug/pprof").status_is_one_of(&[301, 307]);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/pprof/disabled",
        claim: "enable_debug decides in development mode, too",
        source: "operator.md 7.r7",
        until: Some(Version::V1_9),
        settings: r#"{"enable_debug": false}"#,
        run: |t| {
            drop(
                t.send(&Request::get("/debug/pprof/cmdline"))
                    .is(401, "ACL support disabled"),
            );
            t.api_get("/v1/agent/self")
                .field_is("/DebugConfig/EnableDebug", false);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/pprof/disabled-since-1-22",
        claim: "Without enable_debug and ACLs there are no profiles, in development mode, too",
        source: "operator.md 7.r7 (between 1.8.7 and late 2025 [N])",
        since: Version::V1_22,
        settings: r#"{"enable_debug": false}"#,
        run: |t| {
            t.send(&Request::get("/debug/pprof/cmdline")).is(404, "");
            t.api_get("/v1/agent/self")
                .field_is("/DebugConfig/EnableDebug", false);
        },
        ..Case::REAL
    },
    Case {
        id: "agent/pprof/off",
        claim: "Without debugging and without ACLs profiles are refused as ACLs are, whatever the method",
        source: "operator.md 7",
        until: Some(Version::V1_9),
        needs: &[Feature::CompactJson, Feature::AclsOff],
        run: |t| {
            for path in ["/debug/pprof/", "/debug/pprof/heap"] {
                t.send(&Request::get(path)).is(401, "ACL support disabled");
                t.send(&Request::put(path, ""))
                    .is(401, "ACL support disabled");
            }
        },
        ..Case::REAL
    },
];
