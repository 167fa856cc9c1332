//! Entries that are refused: bodies that cannot be read are 400, entries that say what cannot be are 500 (operator.md 4.2).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{PATH, read, remove, set, write};

/// Bodies that cannot be read, with what 1.8.7 says of them.
const UNDECODABLE: &[(&str, &str)] = &[
    ("", "EOF"),
    ("{", "unexpected EOF"),
    (
        "null",
        "Payload does not contain a kind/Kind key at the top level",
    ),
    (
        "{} x",
        "Payload does not contain a kind/Kind key at the top level",
    ),
    ("[]", "'' expected a map, got 'slice'"),
    ("5", "'' expected a map, got 'float64'"),
    (r#"{"Kind":5}"#, "Kind value in payload is not a string"),
    (
        r#"{"Kind":"Service-Defaults"}"#,
        "invalid config entry kind: Service-Defaults",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","Protocol":{}}"#,
        "1 error(s) decoding:\n\n* 'Protocol' expected type 'string', got unconvertible type 'map[string]interface {}'",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","Protocol":["a","b"]}"#,
        "1 error(s) decoding:\n\n* 'Protocol' expected type 'string', got unconvertible type '[]interface {}'",
    ),
    (
        r#"{"Kind":"service-resolver","Name":"a","Failover":[[{"Service":"b"}]]}"#,
        "1 error(s) decoding:\n\n* 'Failover[0][Service]' expected a map, got 'string'",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","MeshGateway":{"Mode":{}}}"#,
        "1 error(s) decoding:\n\n* 'MeshGateway.Mode' expected type 'structs.MeshGatewayMode', got unconvertible type 'map[string]interface {}'",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","MeshGateway":"x"}"#,
        "1 error(s) decoding:\n\n* 'MeshGateway' expected a map, got 'string'",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","Expose":{"Checks":"q","Paths":[{"ListenerPort":"x"}]}}"#,
        "2 error(s) decoding:\n\n* cannot parse 'Expose.Checks' as bool: strconv.ParseBool: parsing \"q\": invalid syntax\n* cannot parse 'Expose.Paths[0].ListenerPort' as int: strconv.ParseInt: parsing \"x\": invalid syntax",
    ),
    (
        r#"{"Kind":"service-resolver","Name":"a","ConnectTimeout":"abc"}"#,
        "1 error(s) decoding:\n\n* error decoding 'ConnectTimeout': time: invalid duration \"abc\"",
    ),
    (
        r#"{"Kind":"service-resolver","Name":"a","ConnectTimeout":{}}"#,
        "1 error(s) decoding:\n\n* 'ConnectTimeout' expected type 'time.Duration', got unconvertible type 'map[string]interface {}'",
    ),
    (
        r#"{"Kind":"service-resolver","Name":"a","Subsets":{"v1":"x"}}"#,
        "1 error(s) decoding:\n\n* 'Subsets[v1]' expected a map, got 'string'",
    ),
    (
        r#"{"Kind":"service-splitter","Name":"a","Splits":[{"Weight":"x"}]}"#,
        "1 error(s) decoding:\n\n* cannot parse 'Splits[0].Weight' as float: strconv.ParseFloat: parsing \"x\": invalid syntax",
    ),
    (
        r#"{"Kind":"service-router","Name":"a","Routes":[{"Destination":{"NumRetries":"x"}}]}"#,
        "1 error(s) decoding:\n\n* cannot parse 'Routes[0].Destination.NumRetries' as uint: strconv.ParseUint: parsing \"x\": invalid syntax",
    ),
];

/// Unknown names, which are told alike in all releases.
const UNKNOWN: &[(&str, &str)] = &[
    (
        r#"{"Kind":"service-defaults","Name":"a","Bogus":1}"#,
        "1 error occurred:\n\t* invalid config key \"Bogus\"\n\n",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","MeshGateway":{"B":1},"C":2}"#,
        "2 errors occurred:\n\t* invalid config key \"MeshGateway.B\"\n\t* invalid config key \"C\"\n\n",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","protocol":"x","Protocol":"y"}"#,
        "1 error occurred:\n\t* invalid config key \"protocol\"\n\n",
    ),
    (
        r#"{"Kind":"service-defaults","Name":"a","Namespace":"default"}"#,
        "1 error occurred:\n\t* invalid config key \"Namespace\", namespaces are a consul enterprise feature\n\n",
    ),
    (
        r#"{"Kind":"service-resolver","Name":"a","Subsets":{"v1":{"Bogus":1}}}"#,
        "1 error occurred:\n\t* invalid config key \"Subsets[v1].Bogus\"\n\n",
    ),
    (
        r#"{"Kind":"terminating-gateway","Name":"a","Services":[{"Name":"b","Bogus":1}]}"#,
        "1 error occurred:\n\t* invalid config key \"Services[0].Bogus\"\n\n",
    ),
];

/// Each of these entries is refused with this text.
#[track_caller]
fn refused(t: &Trial, kind: &str, rows: &[(Value, &str)]) {
    for (fields, text) in rows {
        let mut entry = json!({"Kind": kind, "Name": "a"});
        if let (Value::Object(entry), Value::Object(fields)) = (&mut entry, fields) {
            entry.extend(fields.clone());
        }
        write(t, &entry).is(500, text);
    }
}

fn splits(splits: &Value) -> Value {
    json!({"Splits": splits})
}

fn route(http: &Value) -> Value {
    json!({"Routes": [{"Match": {"HTTP": http}}]})
}

fn listener(protocol: &str, services: &Value) -> Value {
    json!({"Listeners": [{"Port": 1, "Protocol": protocol, "Services": services}]})
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/refusal/undecodable-in-1-8",
        claim: "A body that cannot be read is 400, with the words of Go's mapstructure",
        source: "operator.md 4.2.r1 to 4.2.r4, 4.2.r6",
        until: Some(Version::V1_10),
        run: |t| {
            for (body, text) in UNDECODABLE {
                let text = format!("Bad request: Request decoding failed: {text}");
                t.api_put(PATH, body).is(400, &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/unknown-names",
        claim: "Unknown names are told with their paths, all of them at once",
        source: "operator.md 4.2.r5",
        run: |t| {
            for (body, text) in UNKNOWN {
                let text = format!("Request decoding failed: {text}");
                t.api_put(PATH, body).says(400, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/order",
        claim: "The body is looked at before cas, and that before what the entry says",
        source: "operator.md 4.2.r4, 4.2.r7, 4.1.r3",
        run: |t| {
            let path = format!("{PATH}?cas=abc");
            t.api_put(&path, r#"{"Kind":"bogus"}"#)
                .says(400, "invalid config entry kind: bogus");
            t.api_put(&path, r#"{"Kind":"service-defaults"}"#)
                .says(500, "strconv.ParseUint: parsing \"abc\": invalid syntax");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/no-name-in-1-8",
        claim: "An entry without a name is refused, in words that differ from kind to kind",
        source: "operator.md 4.2.r7",
        until: Some(Version::V1_10),
        run: |t| {
            for (kind, text) in [
                ("service-defaults", "serviceName is required"),
                ("terminating-gateway", "serviceName is required"),
                ("service-resolver", "Name is required"),
                ("service-router", "Name is required"),
                ("service-splitter", "Name is required"),
                (
                    "ingress-gateway",
                    "failed inserting config entry: object missing primary index",
                ),
            ] {
                write(t, &json!({"Kind": kind})).is(500, text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/no-name-at-another-index-in-1-8",
        claim: "Some kinds check the name only when the entry is stored, which a ?cas of another index prevents",
        source: "operator.md 4.2.r7",
        until: Some(Version::V1_10),
        run: |t| {
            let path = format!("{PATH}?cas=5");
            let put = |kind: &str| t.api_put(&path, json!({"Kind": kind}).to_string());
            for kind in ["service-defaults", "terminating-gateway", "ingress-gateway"] {
                put(kind).is(200, "false");
            }
            put("service-resolver").says(500, "Name is required");
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/resolver",
        claim: "A resolver's subsets exist, and its redirects and failovers lead somewhere",
        source: "operator.md 4.2.r10",
        needs: &[Feature::OwnServer],
        run: |t| {
            let no_subset = if t.since(Version::V1_22) {
                "Bad Failover[\"v1\"]: not a valid subset subset"
            } else {
                "Bad Failover[\"v1\"]: not a valid subset"
            };
            refused(
                t,
                "service-resolver",
                &[
                    (
                        json!({"DefaultSubset": "nope"}),
                        "DefaultSubset \"nope\" is not a valid subset",
                    ),
                    (
                        json!({"Subsets": {"": {}}}),
                        "Subset defined with empty name",
                    ),
                    (
                        json!({"Subsets": {"-a": {}}}),
                        "Subset \"-a\" is invalid: must be 63 characters or fewer, begin or end with lower case alphanumeric characters, and contain lower case alphanumeric characters or '-' in between",
                    ),
                    (json!({"Redirect": {}}), "Redirect is empty"),
                    (
                        json!({"Redirect": {"ServiceSubset": "v1"}}),
                        "Redirect.ServiceSubset defined without Redirect.Service",
                    ),
                    (
                        json!({"Redirect": {"Service": "a", "ServiceSubset": "v1"}}),
                        "Redirect.ServiceSubset \"v1\" is not a valid subset of \"a\"",
                    ),
                    (
                        json!({"Redirect": {"Service": "b", "ServiceSubset": "v1"}}),
                        "service \"b\" does not have a subset named \"v1\"",
                    ),
                    (
                        json!({"Redirect": {"Service": "b"}, "Failover": {"*": {"Service": "c"}}}),
                        "Redirect and Failover cannot both be set",
                    ),
                    (json!({"Failover": {"v1": {"Service": "c"}}}), no_subset),
                    (
                        json!({"Failover": {"*": {"ServiceSubset": "v1"}}}),
                        "Bad Failover[\"*\"].ServiceSubset \"v1\" is not a valid subset of \"\"",
                    ),
                    (
                        json!({"Failover": {"*": {"Datacenters": [""]}}}),
                        "Bad Failover[\"*\"].Datacenters: found empty datacenter",
                    ),
                    (
                        json!({"ConnectTimeout": "-1s"}),
                        "Bad ConnectTimeout '-1s', must be >= 0",
                    ),
                ],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/splitter",
        claim: "The weights of a splitter make a hundred",
        source: "operator.md 4.2.r11",
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(
                t,
                "service-splitter",
                &[
                    (json!({}), "no splits configured"),
                    (
                        splits(&json!([{"Weight": 90}])),
                        "the sum of all split weights must be 100, not 90.000000",
                    ),
                    (
                        splits(
                            &json!([{"Weight": 33.333}, {"Weight": 33.333, "Service": "b"}, {"Weight": 33.333, "Service": "c"}]),
                        ),
                        "the sum of all split weights must be 100, not 99.989998",
                    ),
                ],
            );
            write(t, &json!({"Kind": "service-splitter", "Name": "a", "Splits": [{"Weight": 50}, {"Weight": 50, "Service": "a"}]}))
                .says(500, "split destination occurs more than once: service=\"a\", subset=\"\", namespace=\"\"");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/router",
        claim: "A route looks at one path, and at one side of each header and parameter",
        source: "operator.md 4.2.r12",
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(
                t,
                "service-router",
                &[
                    (
                        route(&json!({"PathPrefix": "a"})),
                        "Route[0] PathPrefix doesn't start with '/': \"a\"",
                    ),
                    (
                        route(&json!({"PathExact": "a"})),
                        "Route[0] PathExact doesn't start with '/': \"a\"",
                    ),
                    (
                        route(&json!({"PathExact": "/a", "PathPrefix": "/b"})),
                        "Route[0] should only contain at most one of PathExact, PathPrefix, or PathRegex",
                    ),
                    (
                        route(&json!({"Header": [{}]})),
                        "Route[0] Header[0] missing required Name field",
                    ),
                    (
                        route(&json!({"QueryParam": [{"Name": "x", "Exact": "a", "Regex": "b"}]})),
                        "Route[0] QueryParam[0] should only contain one of Present, Exact, or Regex",
                    ),
                    (
                        route(&json!({"Methods": ["GET", "get"]})),
                        "Route[0] Methods contains \"GET\" more than once",
                    ),
                    (
                        json!({"Routes": [{"Destination": {"PrefixRewrite": "/x"}}]}),
                        "Route[0] cannot make use of PrefixRewrite without configuring either PathExact or PathPrefix",
                    ),
                ],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/ingress",
        claim: "Listeners have ports of their own, a known protocol, and services that fit it",
        source: "operator.md 4.2.r15",
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(
                t,
                "ingress-gateway",
                &[
                    (
                        json!({"Listeners": [{}]}),
                        "No service declared for listener with port 0",
                    ),
                    (
                        listener("bogus", &json!([])),
                        "protocol must be 'tcp', 'http', 'http2', or 'grpc'. 'bogus' is an unsupported protocol",
                    ),
                    (
                        json!({"Listeners": [{"Port": 1, "Services": [{"Name": "a"}]}, {"Port": 1, "Services": [{"Name": "b"}]}]}),
                        "port 1 declared on two listeners",
                    ),
                    (
                        listener("tcp", &json!([{"Name": "*"}])),
                        "Wildcard service name is only valid for protocol = 'http' (listener on port 1)",
                    ),
                    (
                        listener("tcp", &json!([{}])),
                        "Service name cannot be blank (listener on port 1)",
                    ),
                    (
                        listener("tcp", &json!([{"Name": "a", "Hosts": ["x"]}])),
                        "Associating hosts to a service is not supported for the tcp protocol (listener on port 1)",
                    ),
                    (
                        listener("http", &json!([{"Name": "*", "Hosts": ["x"]}])),
                        "Associating hosts to a wildcard service is not supported (listener on port 1)",
                    ),
                    (
                        listener("http", &json!([{"Name": "a", "Hosts": ["x", "x"]}])),
                        "Hosts must be unique within a specific listener (listener on port 1)",
                    ),
                    (
                        listener("http", &json!([{"Name": "a", "Hosts": ["x.*.y"]}])),
                        "Host \"x.*.y\" is not valid, a wildcard specifier is only allowed as the leftmost label",
                    ),
                    (
                        listener("http", &json!([{"Name": "a"}])),
                        "service \"a\" has protocol \"tcp\", which does not match defined listener protocol \"http\"",
                    ),
                ],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/terminating",
        claim: "A terminating gateway has each service once, and all files for TLS or those of the authority alone",
        source: "operator.md 4.2.r16",
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(
                t,
                "terminating-gateway",
                &[
                    (json!({"Services": [{}]}), "Service name cannot be blank."),
                    (
                        json!({"Services": [{"Name": "b"}, {"Name": "b"}]}),
                        "Service \"b\" was specified more than once within a namespace",
                    ),
                    (
                        json!({"Services": [{"Name": "b", "CertFile": "x", "KeyFile": "y"}]}),
                        "Service \"b\" must have a CertFile, CAFile, and KeyFile specified for TLS origination",
                    ),
                ],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/chains",
        claim: "No write and no deletion leaves a chain whose protocols differ, that splits without requests, or that goes in a circle",
        source: "operator.md 4.2.r13, 4.2.r14, 4.1.r11",
        needs: &[Feature::OwnServer],
        run: |t| {
            let protocol = |name: &str, protocol: &str| json!({"Kind": "service-defaults", "Name": name, "Protocol": protocol});
            let splitter =
                json!({"Kind": "service-splitter", "Name": "s", "Splits": [{"Weight": 100}]});
            let advanced = "discovery chain \"s\" uses a protocol \"tcp\" that does not permit advanced routing or splitting behavior";
            write(t, &splitter).is(500, advanced);
            set(t, &protocol("s", "http"));
            set(t, &splitter);
            remove(t, "service-defaults/s").is(500, advanced);
            write(t, &protocol("s", "tcp")).is(500, advanced);
            set(
                t,
                &json!({"Kind": "service-resolver", "Name": "f", "Failover": {"*": {"Service": "db"}}}),
            );
            let index = read(t, "service-resolver/f").index();
            write(t, &protocol("db", "http")).is(500, "discovery chain \"f\" uses inconsistent protocols; service \"db\" has \"http\" which is not \"tcp\"");
            t.same("the index", read(t, "service-resolver/f").index(), index);
            set(
                t,
                &json!({"Kind": "ingress-gateway", "Name": "g", "Listeners": [{"Port": 1, "Protocol": "http", "Services": [{"Name": "s"}]}]}),
            );
            remove(t, "service-splitter/s").is(200, "{}");
            remove(t, "service-defaults/s").is(500, "service \"s\" has protocol \"tcp\", which does not match defined listener protocol \"http\"");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/circles",
        claim: "No redirects and no splitters make a circle",
        source: "operator.md 4.2.r14b",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("which of the chains of a circle is told is chance");
            let to = |name: &str, service: &str| json!({"Kind": "service-resolver", "Name": name, "Redirect": {"Service": service}});
            set(t, &to("a", "b"));
            write(t, &to("b", "a")).says(500, "detected circular resolver redirect: [");
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            let to = |name: &str, service: &str| json!({"Kind": "service-splitter", "Name": name, "Splits": [{"Weight": 50}, {"Weight": 50, "Service": service}]});
            set(t, &to("c", "d"));
            write(t, &to("d", "c")).says(500, "detected circular reference: [splitter:");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/refusal/since-1-22",
        claim: "Late 2025 refuses what earlier releases took: unknown protocols, another name than global, kinds of Enterprise",
        source: "operator.md 4.2.r3, 4.2.r6 to 4.2.r9, 4.2.r17",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_put(PATH, "[]").is(400, "Request decoding failed: '' expected type 'map[string]interface {}', got unconvertible type '[]interface {}'");
            t.api_put(PATH, r#"{"Kind":"service-resolver","Name":"a","ConnectTimeout":"abc"}"#)
                .is(400, "Request decoding failed: decoding failed due to the following error(s):\n\n'ConnectTimeout' time: invalid duration");
            for (entry, status, text) in [
                (json!({"Kind": "service-defaults"}), 500, "Name is required"),
                (
                    json!({"Kind": "service-defaults", "Name": "a", "Protocol": "bogus"}),
                    500,
                    "1 error occurred:\n\t* invalid value for protocol: bogus\n\n",
                ),
                (
                    json!({"Kind": "proxy-defaults", "Name": "x"}),
                    500,
                    "invalid name (\"x\"), only \"global\" is supported",
                ),
                (
                    json!({"Kind": "exported-services", "Name": "x"}),
                    500,
                    "exported-services Name must be \"default\"",
                ),
                (
                    json!({"Kind": "sameness-group", "Name": "x"}),
                    500,
                    "sameness-groups are an enterprise-only feature",
                ),
                (
                    json!({"Kind": "bound-api-gateway", "Name": "x"}),
                    403,
                    "Permission denied: only writeable by controller",
                ),
                (
                    json!({"Kind": "inline-certificate", "Name": "x"}),
                    500,
                    "failed to parse private key PEM",
                ),
            ] {
                write(t, &entry).is(status, text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/permissions-without-requests",
        claim: "Permissions of an intention need a service whose protocol has requests",
        source: "operator.md 4.2.r17",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            let permits = json!({"Kind": "service-intentions", "Name": "foo", "Sources": [
                {"Name": "web", "Permissions": [{"Action": "allow", "HTTP": {"PathPrefix": "/"}}]},
            ]});
            write(t, &permits).is(500, "service \"foo\" has protocol \"tcp\", which is incompatible with L7 intentions permissions");
            let http = json!({"Kind": "service-defaults", "Name": "foo", "Protocol": "http"});
            set(t, &http);
            set(t, &permits);
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/lists-in-place-of-maps-in-1-8",
        claim: "A list in place of a map is its only element, or maps that together are one; the first that is none is told",
        source: "operator.md 4.2.r2b",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            let written = |value: &str| {
                let body = format!(r#"{{"Kind":"service-resolver","Name":"a","Subsets":{value}}}"#);
                t.api_put(PATH, body)
            };
            for value in [
                "[]",
                "[{}]",
                "[[]]",
                r#"[{"a":{}},{"b":{}}]"#,
                r#"[[{"a":{}}]]"#,
            ] {
                written(value).is(200, "true");
            }
            for (value, place, got) in [
                (r#"["a"]"#, "Subsets", "string"),
                ("[true]", "Subsets", "bool"),
                (r#"[["a"]]"#, "Subsets[0]", "string"),
                ("[1,\"a\"]", "Subsets[0]", "float64"),
                (r#"[{"a":{}},2]"#, "Subsets[1]", "float64"),
            ] {
                let text =
                    format!("1 error(s) decoding:\n\n* '{place}' expected a map, got '{got}'");
                written(value).is(
                    400,
                    &format!("Bad request: Request decoding failed: {text}"),
                );
            }
        },
        ..Case::REAL
    },
];
