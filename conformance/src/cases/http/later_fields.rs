//! Fields of bodies that later releases added, and that 1.8 refuses.

use crate::case::Case;
use crate::case::version::Version;
use crate::wire::Request;

/// Where a field goes, with `*` for it; the words before the refusal; and the fields.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const ROWS: &[Row] = &[
    (
        "/v1/agent/service/register",
        r#"{"Name":"a","*":null}"#,
        "Request decode failed",
        &[
            "Partition",
            "PeerName",
            "Locality",
            "SocketPath",
            "Ports",
            "Namespace",
        ],
    ),
    (
        "/v1/agent/service/register",
        r#"{"Name":"a","Kind":"connect-proxy","Port":1,"Proxy":{"DestinationServiceName":"x","*":null}}"#,
        "Request decode failed",
        &[
            "Mode",
            "TransparentProxy",
            "EnvoyExtensions",
            "AccessLogs",
            "LocalServiceSocketPath",
        ],
    ),
    (
        "/v1/agent/check/register",
        r#"{"Name":"a","TTL":"1h","*":null}"#,
        "Request decode failed",
        &[
            "UDP",
            "H2PING",
            "OSService",
            "TCPUseTLS",
            "TLSServerName",
            "DisableRedirects",
            "FailuresBeforeWarning",
        ],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1","*":null}"#,
        "Request decode failed",
        &["Partition", "PeerName", "Locality"],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1","Service":{"Service":"s","*":null}}"#,
        "Request decode failed",
        &["Partition", "PeerName", "Locality", "SocketPath", "Ports"],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1","Check":{"Name":"c","*":null}}"#,
        "Request decode failed",
        &[
            "Partition",
            "PeerName",
            "ExposedPort",
            "Interval",
            "Timeout",
        ],
    ),
    (
        "/v1/catalog/deregister",
        r#"{"Node":"none","*":null}"#,
        "Request decode failed",
        &["Partition", "PeerName"],
    ),
    (
        "/v1/txn",
        r#"[{"Node":{"Verb":"set","Node":{"Node":"n","Address":"1.1.1.1","*":null}}}]"#,
        "Failed to parse body",
        &["Partition", "PeerName", "Locality", "Namespace"],
    ),
    (
        "/v1/txn",
        r#"[{"Service":{"Verb":"set","Node":"n","Service":{"Service":"s","*":null}}}]"#,
        "Failed to parse body",
        &["Partition", "PeerName", "Locality", "SocketPath", "Ports"],
    ),
    (
        "/v1/txn",
        r#"[{"Check":{"Verb":"set","Check":{"Node":"n","CheckID":"c","*":null}}}]"#,
        "Failed to parse body",
        &["Partition", "PeerName", "ExposedPort"],
    ),
    (
        "/v1/txn",
        r#"[{"KV":{"Verb":"set","Key":"k","*":null}}]"#,
        "Failed to parse body",
        &["Partition"],
    ),
];

/// The cases.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "endpoint/body/later-fields-before-1-9",
        claim: "Fields that later releases added are unknown, and refused, in every body that is read strictly",
        source: "session.md 0.13",
        until: Some(Version::V1_9),
        run: |t| {
            for (target, body, words, fields) in ROWS {
                for field in *fields {
                    let text = format!("{words}: json: unknown field \"{field}\"");
                    t.api_put(target, body.replace('*', field)).is(400, &text);
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/body/later-fields-of-queries-before-1-14",
        claim: "Peers and sameness groups are unknown fields of a prepared query",
        source: "session.md 0.13",
        until: Some(Version::V1_13),
        run: |t| {
            for (body, field) in [
                (
                    r#"{"Service":{"Service":"s","Failover":{"Targets":null}}}"#,
                    "Targets",
                ),
                (r#"{"Service":{"Service":"s","Peer":null}}"#, "Peer"),
                (
                    r#"{"Service":{"Service":"s","SamenessGroup":null}}"#,
                    "SamenessGroup",
                ),
            ] {
                let text = format!("Request decode failed: json: unknown field \"{field}\"");
                let request = Request::new("POST", "/v1/query").body(body);
                t.send(&request).is(400, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/body/namespaces-of-the-catalog",
        claim: "The catalog says that namespaces belong to the other edition",
        source: "session.md 0.13",
        run: |t| {
            let text = "Request decode failed: json: unknown field \"Namespace\" - Namespaces are a Consul Enterprise feature";
            let body = r#"{"Node":"n","Address":"1.1.1.1","Namespace":""}"#;
            for target in ["/v1/catalog/register", "/v1/catalog/deregister"] {
                t.api_put(target, body).is(400, text);
            }
        },
        ..Case::SHOULD
    },
];
