//! Fields that later releases added: refused before, taken since (those of 1.8.7 seen there).

use proconsul::Version;

use crate::support::Consul;

/// Where a field goes, with `*` for it; the field with a value; and the words before the refusal.
const ROWS: &[(&str, &str, &str, &[&str])] = &[
    (
        "/v1/agent/service/register",
        r#"{"Name":"a",*}"#,
        "Request decode failed",
        &[r#""Locality":{}"#, r#""SocketPath":"""#, r#""Ports":[]"#],
    ),
    (
        "/v1/agent/service/register",
        r#"{"Name":"a","Kind":"connect-proxy","Port":1,"Proxy":{"DestinationServiceName":"x",*}}"#,
        "Request decode failed",
        &[
            r#""Mode":"""#,
            r#""TransparentProxy":{}"#,
            r#""EnvoyExtensions":[]"#,
            r#""AccessLogs":{}"#,
            r#""LocalServiceSocketPath":"""#,
        ],
    ),
    (
        "/v1/agent/check/register",
        r#"{"Name":"a","TTL":"1h",*}"#,
        "Request decode failed",
        &[
            r#""UDP":"""#,
            r#""H2PING":"""#,
            r#""H2PingUseTLS":false"#,
            r#""OSService":"""#,
            r#""TCPUseTLS":false"#,
            r#""TLSServerName":"""#,
            r#""DisableRedirects":false"#,
            r#""FailuresBeforeWarning":0"#,
        ],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1",*}"#,
        "Request decode failed",
        &[r#""PeerName":"""#, r#""Locality":{}"#],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1","Service":{"Service":"s",*}}"#,
        "Request decode failed",
        &[
            r#""PeerName":"""#,
            r#""Locality":{}"#,
            r#""SocketPath":"""#,
            r#""Ports":[]"#,
        ],
    ),
    (
        "/v1/catalog/register",
        r#"{"Node":"n","Address":"1.1.1.1","Check":{"Name":"c",*}}"#,
        "Request decode failed",
        &[
            r#""PeerName":"""#,
            r#""ExposedPort":0"#,
            r#""Interval":"""#,
            r#""Timeout":"""#,
        ],
    ),
    (
        "/v1/catalog/deregister",
        r#"{"Node":"none",*}"#,
        "Request decode failed",
        &[r#""PeerName":"""#],
    ),
    (
        "/v1/txn",
        r#"[{"Node":{"Verb":"set","Node":{"Node":"n","Address":"1.1.1.1",*}}}]"#,
        "Failed to parse body",
        &[r#""Partition":"""#, r#""PeerName":"""#, r#""Locality":{}"#],
    ),
    (
        "/v1/txn",
        r#"[{"KV":{"Verb":"set","Key":"k",*}}]"#,
        "Failed to parse body",
        &[r#""Partition":"""#],
    ),
];

#[test]
fn what_came_later_is_unknown_before() {
    let (old, new) = (Consul::v1_8(), Consul::of(Version::V1_22_0));
    for (target, body, words, fields) in ROWS {
        for field in *fields {
            let body = body.replace('*', field);
            let name = field.split(':').next().unwrap_or_default();
            let text = format!("{words}: json: unknown field {name}");
            old.put(target, &body).is(400, &text);
            assert_eq!(new.put(target, &body).code(), 200, "{body}");
        }
    }
}

#[test]
fn namespaces_are_refused_in_the_words_of_each_endpoint() {
    let bare = r#"Request decode failed: json: unknown field "Namespace""#;
    let long = format!("{bare} - Namespaces are a Consul Enterprise feature");
    let node = r#"{"Node":"n","Address":"1.1.1.1","Namespace":""}"#;
    let service = r#"{"Name":"a","Namespace":""}"#;
    let (old, new) = (Consul::v1_8(), Consul::v1_22());
    for consul in [&old, &new] {
        consul.put("/v1/catalog/register", node).is(400, &long);
        consul.put("/v1/catalog/deregister", node).is(400, &long);
    }
    for consul in [&old, &new] {
        consul
            .put("/v1/agent/service/register", service)
            .is(400, bare);
    }
}
