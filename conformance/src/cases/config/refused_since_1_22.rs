//! Entries that Consul of late 2025 refuses, kind by kind, with what it says (operator.md 4.2).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{read, set, write};

/// Entries with the texts of their refusals.
type Rows = Vec<(Value, &'static str)>;

/// Each of these entries is refused with status 500 and this text.
#[track_caller]
fn refused(t: &Trial, kind: &str, rows: Rows) {
    for (mut entry, text) in rows {
        entry["Kind"] = json!(kind);
        write(t, &entry).is(500, text);
    }
}

fn tls_version() -> &'static str {
    "no matching TLS version found for bogus, please specify one of [TLS_AUTO, TLSv1_0, TLSv1_1, TLSv1_2, TLSv1_3]"
}

fn services() -> Rows {
    let named = |fields: Value| {
        let mut entry = fields;
        entry["Name"] = json!("x");
        entry
    };
    vec![
        (
            json!({"Name": "*"}),
            "service-defaults name must be the name of a service, and not a wildcard",
        ),
        (
            named(json!({"UpstreamConfig": {"Overrides": [{"Protocol": "http"}]}})),
            "1 error occurred:\n\t* error in upstream override for :: Name is required\n\n",
        ),
        (
            named(json!({"UpstreamConfig": {"Defaults": {"Name": "y"}}})),
            "1 error occurred:\n\t* error in upstream defaults: Name must be empty\n\n",
        ),
        (
            named(json!({"Destination": {"Addresses": [], "Port": 443}})),
            "1 error occurred:\n\t* Destination must contain at least one valid address\n\n",
        ),
        (
            named(json!({"Destination": {"Addresses": ["1.2.3.4"]}})),
            "1 error occurred:\n\t* Invalid Port number 0\n\n",
        ),
        (
            named(json!({"Destination": {"Addresses": ["*.b"], "Port": 1}})),
            "1 error occurred:\n\t* Destination address '*.b' is invalid Could not validate address *.b as an IP or Hostname\n\n",
        ),
        (
            named(json!({"BalanceInboundConnections": "bogus"})),
            "1 error occurred:\n\t* invalid value for balance_inbound_connections: bogus\n\n",
        ),
        (
            named(json!({"MutualTLSMode": "bogus"})),
            "Invalid MutualTLSMode \"bogus\". Must be one of \"\", \"strict\", or \"permissive\".",
        ),
        (
            named(json!({"EnvoyExtensions": [{"Name": "bogus"}]})),
            "1 error occurred:\n\t* invalid EnvoyExtensions[0][bogus]: name \"bogus\" is not a built-in extension\n\n",
        ),
        (
            named(json!({"EnvoyExtensions": [{"Arguments": {}}]})),
            "1 error occurred:\n\t* invalid EnvoyExtensions[0]: Name is required\n\n",
        ),
    ]
}

fn proxies() -> Rows {
    let logs = |logs: Value| json!({"Name": "global", "AccessLogs": logs});
    vec![
        (
            logs(json!({"Enabled": true, "Type": "file"})),
            "path must be specified when using file type access logs",
        ),
        (
            logs(json!({"Type": "bogus"})),
            "invalid access log type: bogus",
        ),
        (
            logs(json!({"JSONFormat": "{}", "TextFormat": "x"})),
            "cannot specify both access log JSONFormat and TextFormat",
        ),
        (
            json!({"Name": "global", "PrioritizeByLocality": {"Mode": "failover"}}),
            "Prioritize-by-locality requires Consul Enterprise ",
        ),
    ]
}

fn resolvers() -> Rows {
    let named = |fields: Value| {
        let mut entry = fields;
        entry["Name"] = json!("r");
        entry
    };
    let failover = |failover: Value| named(json!({"Failover": {"*": failover}}));
    let balancer = |balancer: Value| named(json!({"LoadBalancer": balancer}));
    let required = "Bad Failover[\"*\"]: one of Service, ServiceSubset, Namespace, Targets, SamenessGroup, or Datacenters is required";
    vec![
        (
            named(json!({"RequestTimeout": "-5s"})),
            "Bad RequestTimeout '-5s', must be >= 0",
        ),
        (
            named(json!({"Subsets": {"v1": {"Filter": "(("}}})),
            "Filter for subset \"v1\" is not a valid expression: 1:3 (2): no match found, expected: \"(\", \"-\", \"0\", \"\\\"\", \"`\", \"not\", [ \\t\\r\\n], [1-9] or [a-zA-Z]",
        ),
        (
            named(json!({"Redirect": {"Peer": "p", "ServiceSubset": "v", "Service": "y"}})),
            "Redirect.Peer cannot be set with Redirect.ServiceSubset",
        ),
        (failover(json!({})), required),
        (failover(json!({"Targets": []})), required),
        (
            failover(json!({"Service": "o", "Targets": [{"Service": "o"}]})),
            "Bad Failover[\"*\"]: Targets cannot be set with Service",
        ),
        (
            failover(json!({"Service": "o", "Policy": {"Mode": "sequential"}})),
            "Bad Failover[\"*\"]: Setting failover policies requires Consul Enterprise",
        ),
        (
            balancer(json!({"Policy": "bogus"})),
            "Bad LoadBalancer policy: \"bogus\" is not supported",
        ),
        (
            balancer(json!({"Policy": "least_request", "RingHashConfig": {"MinimumRingSize": 5}})),
            "Bad LoadBalancer configuration. RingHashConfig specified for incompatible load balancing policy \"least_request\"",
        ),
        (
            balancer(
                json!({"Policy": "maglev", "HashPolicies": [{"Field": "cookie", "FieldValue": "x", "CookieConfig": {"Session": true, "TTL": "5s"}}]}),
            ),
            "Bad LoadBalancer HashPolicy[0]: a session cookie cannot have an associated TTL",
        ),
        (
            balancer(
                json!({"Policy": "maglev", "HashPolicies": [{"SourceIP": true, "Field": "header"}]}),
            ),
            "Bad LoadBalancer HashPolicy[0]: A single hash policy cannot hash both a source address and a \"header\"",
        ),
        (
            balancer(json!({"Policy": "random", "HashPolicies": [{"SourceIP": true}]})),
            "Bad LoadBalancer configuration: HashPolicies specified for non-hash-based Policy: \"random\"",
        ),
    ]
}

fn ingress() -> Rows {
    let gateway = |services: Value, tls: Value| json!({"Name": "ig", "TLS": tls, "Listeners": [{"Port": 80, "Protocol": "http", "Services": services}]});
    vec![
        (
            json!({}),
            "failed inserting config entry: object missing primary index",
        ),
        (
            gateway(json!([{"Name": "api"}, {"Name": "api"}]), json!({})),
            "Service api cannot be added multiple times (listener on port 80)",
        ),
        (
            gateway(json!([{"Name": "api"}]), json!({"TLSMinVersion": "bogus"})),
            tls_version(),
        ),
        (
            gateway(
                json!([{"Name": "api", "TLS": {"SDS": {"CertResource": "x"}}}]),
                json!({}),
            ),
            "A service specifying TLS.SDS.CertResource must have at least one item in Hosts (service \"api\" on listener on port 80)",
        ),
    ]
}

fn mesh() -> Rows {
    let incoming = |tls: Value| json!({"TLS": {"Incoming": tls}});
    vec![
        (
            incoming(json!({"TLSMinVersion": "bogus"})),
            "error in incoming TLS configuration: no matching TLS version found for bogus, please specify one of [TLS_AUTO, TLSv1_0, TLSv1_1, TLSv1_2, TLSv1_3]",
        ),
        (
            incoming(json!({"TLSMinVersion": "TLSv1_3", "TLSMaxVersion": "TLSv1_2"})),
            "error in incoming TLS configuration: configuring max version TLSv1_2 less than the configured min version TLSv1_3 is invalid",
        ),
        (
            incoming(json!({"CipherSuites": ["bogus"]})),
            "error in incoming TLS configuration: no matching Envoy TLS cipher suite found for bogus",
        ),
        (
            json!({"HTTP": {"Incoming": {"RequestNormalization": {"MergeSlashes": true, "PathWithEscapedSlashesAction": "bogus"}}}}),
            "error in HTTP incoming request normalization configuration: no matching PathWithEscapedSlashesAction value found for bogus, please specify one of [IMPLEMENTATION_SPECIFIC_DEFAULT, KEEP_UNCHANGED, REJECT_REQUEST, UNESCAPE_AND_REDIRECT, UNESCAPE_AND_FORWARD]",
        ),
    ]
}

fn exported() -> Rows {
    let to = |consumers: Value| json!({"Name": "default", "Services": [{"Name": "web", "Consumers": consumers}]});
    vec![
        (json!({}), "exported-services Name must be \"default\""),
        (
            json!({"Name": "default", "Services": [{"Name": "", "Consumers": [{"Peer": "p"}]}]}),
            "Services[0]: service name cannot be empty",
        ),
        (
            to(json!([])),
            "Services[0]: must have at least one consumer",
        ),
        (
            to(json!([{"SamenessGroup": "g"}])),
            "Services[0].Consumers[0]: sameness-groups are an enterprise-only feature",
        ),
        (
            to(json!([{"Peer": "*"}])),
            "Services[0].Consumers[0]: exporting to all peers (wildcard) is not supported",
        ),
        (
            to(json!([{"Peer": "p", "Partition": "q"}])),
            "Services[0].Consumers[0]: must define at most one of Peer, Partition, or SamenessGroup",
        ),
    ]
}

fn api_gateways() -> Rows {
    let with = |listeners: Value| json!({"Name": "ag", "Listeners": listeners});
    vec![
        (
            json!({"Name": "ag"}),
            "api gateway must have at least one listener",
        ),
        (
            with(json!([{"Name": "l1", "Port": 80, "Protocol": "bogus"}])),
            "unsupported listener protocol \"bogus\", must be one of 'tcp', or 'http'",
        ),
        (
            with(json!([{"Name": "l1", "Port": 0, "Protocol": "http"}])),
            "listener port 0 not in the range 1-65535",
        ),
        (
            with(json!([{"Name": "l1", "Port": 70000, "Protocol": "http"}])),
            "listener port 70000 not in the range 1-65535",
        ),
        (
            with(json!([{"Port": 80, "Protocol": "http"}])),
            "listener name \"\" is invalid, must be at least 1 character and contain only letters, numbers, or dashes",
        ),
        (
            with(json!([{"Name": "bad name!", "Port": 80, "Protocol": "http"}])),
            "listener name \"bad name!\" is invalid, must be at least 1 character and contain only letters, numbers, or dashes",
        ),
        (
            with(
                json!([{"Name": "l", "Port": 80, "Protocol": "http"}, {"Name": "l", "Port": 81, "Protocol": "http"}]),
            ),
            "found multiple listeners with the name \"l\"",
        ),
        (
            with(
                json!([{"Name": "l1", "Port": 80, "Protocol": "http"}, {"Name": "l2", "Port": 80, "Protocol": "tcp"}]),
            ),
            "listeners \"l1\" and \"l2\" cannot be merged",
        ),
        (
            with(json!([{"Name": "l1", "Port": 80, "Protocol": "tcp", "Hostname": "a.b"}])),
            "hostname specification is not supported when using TCP",
        ),
        (
            with(
                json!([{"Name": "l1", "Port": 443, "Protocol": "http", "TLS": {"Certificates": [{"Kind": "bogus", "Name": "c"}]}}]),
            ),
            "unsupported certificate kind: \"bogus\", must be 'file-system-certificate' or 'inline-certificate'",
        ),
        (
            with(
                json!([{"Name": "l1", "Port": 443, "Protocol": "http", "TLS": {"MinVersion": "bogus"}}]),
            ),
            tls_version(),
        ),
    ]
}

fn http_routes() -> Rows {
    let matching = |matching: Value| json!({"Name": "hr", "Rules": [{"Matches": [matching]}]});
    vec![
        (
            json!({"Name": "hr", "Parents": [{"Kind": "bogus", "Name": "ag"}]}),
            "unsupported parent kind: \"bogus\", must be 'api-gateway'",
        ),
        (
            json!({"Name": "hr", "Parents": [{"Name": "ag"}, {"Name": "ag"}]}),
            "route parents must be unique",
        ),
        (
            matching(json!({"Path": {"Match": "bogus", "Value": "/"}})),
            "Rule[0], Match[0], Path, match type should be one of exact, prefix, or regex",
        ),
        (
            matching(json!({"Path": {"Match": "prefix", "Value": "a"}})),
            "Rule[0], Match[0], Path, prefix type match doesn't start with '/': \"a\"",
        ),
        (
            matching(json!({"Query": [{"Name": "q"}]})),
            "Rule[0], Match[0], Query[0], match type should be one of present, exact, or regex",
        ),
        (
            matching(json!({"Method": "BOGUS"})),
            "Rule[0], Match[0], Method contains an invalid method \"BOGUS\"",
        ),
    ]
}

fn jwt_providers() -> Rows {
    let keys = |keys: Value| json!({"Name": "j", "JSONWebKeySet": keys});
    let mut located = keys(json!({"Local": {"Filename": "/f"}}));
    let mut forwarded = located.clone();
    located["Locations"] = json!([{}]);
    forwarded["Forwarding"] = json!({"PadForwardPayloadHeader": true});
    vec![
        (json!({"Name": "j"}), "JSONWebKeySet is required"),
        (keys(json!({"Remote": {}})), "Remote JWKS URI is required"),
        (
            keys(json!({"Local": {"JWKS": "x!"}})),
            "JWKS must be valid base64 encoded string",
        ),
        (
            keys(json!({"Local": {"Filename": "/f", "JWKS": "e30="}})),
            "must specify exactly one of String or filename for local keyset",
        ),
        (
            keys(json!({"Local": {"JWKS": "e30="}, "Remote": {"URI": "https://x"}})),
            "must specify exactly one of Local or Remote JSON Web key set",
        ),
        (
            located,
            "1 error occurred:\n\t* must set exactly one of: JWT location header, query param or cookie\n\n",
        ),
        (forwarded, "Header name required for forwarding config"),
    ]
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/refusal/services-since-1-22",
        claim: "Late 2025 looks at what a service's defaults, and those of all proxies, say of upstreams, destinations, TLS, extensions and logs",
        source: "operator.md 4.2.r18, 4.2.r19",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(t, "service-defaults", services());
            refused(t, "proxy-defaults", proxies());
            let permissive =
                json!({"Kind": "service-defaults", "Name": "x", "MutualTLSMode": "permissive"});
            write(t, &permissive).is(500, "cannot set MutualTLSMode=permissive because AllowEnablingPermissiveMutualTLS=false in the mesh config entry");
            set(
                t,
                &json!({"Kind": "mesh", "AllowEnablingPermissiveMutualTLS": true}),
            );
            set(t, &permissive);
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/chains-since-1-22",
        claim: "Late 2025 looks at the filters, timeouts, failovers and load balancers of resolvers, and at the methods and retries of routes",
        source: "operator.md 4.2.r10, 4.2.r20",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(t, "service-resolver", resolvers());
            let route = |route: Value| json!({"Name": "ro", "Routes": [route]});
            refused(
                t,
                "service-router",
                vec![
                    (
                        route(json!({"Match": {"HTTP": {"Methods": ["BOGUS", ""]}}})),
                        "Route[0] Methods contains an invalid method \"BOGUS\"",
                    ),
                    (
                        route(json!({"Destination": {"RetryOn": ["bogus"]}})),
                        "Route[0] contains an invalid retry condition: \"bogus\"",
                    ),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/mesh-since-1-22",
        claim: "Late 2025 looks at the gateways, the mesh, what peers see of it, and who issues its tokens",
        source: "operator.md 4.2.r21 to 4.2.r24; operator.md 4.2.r27",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(t, "ingress-gateway", ingress());
            refused(t, "mesh", mesh());
            refused(t, "exported-services", exported());
            refused(t, "jwt-provider", jwt_providers());
            write(t, &json!({"Kind": "mesh", "Name": "mesh"}))
                .says(400, "invalid config key \"Name\"");
            write(
                t,
                &json!({"Kind": "service-defaults", "Name": "x", "MeshGateway": "local"}),
            )
            .says(
                400,
                "'MeshGateway' expected a map or struct, got \"string\"",
            );
            write(
                t,
                &json!({"Kind": "proxy-defaults", "Name": "global", "Config": "x"}),
            )
            .says(
                400,
                "'Config' expected type 'map[string]interface {}', got unconvertible type 'string'",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/refusal/api-gateways-since-1-22",
        claim: "Late 2025 looks at the listeners of API gateways and at the routes that are bound to them",
        source: "operator.md 4.2.r25, 4.2.r26",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            refused(t, "api-gateway", api_gateways());
            refused(t, "http-route", http_routes());
            refused(
                t,
                "tcp-route",
                vec![
                    (
                        json!({"Name": "tr", "Services": [{"Name": "t1"}, {"Name": "t2"}]}),
                        "tcp-route currently only supports one service",
                    ),
                    (
                        json!({"Name": "tr", "Parents": [{"Kind": "x", "Name": "ag"}]}),
                        "unsupported parent kind: \"x\", must be 'api-gateway'",
                    ),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "config/entry/filled-in-since-1-22",
        claim: "What a route, a token's provider and a service's defaults do not say is filled in, and nothing else",
        source: "operator.md 4.3.r1, 4.3.r6, 4.3.r12, 4.3.r17",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("Consul writes the time into the status of routes");
            let is = |entry: &Value, place: &str, path: &str, value: &Value| {
                set(t, entry);
                let shown = read(t, place).json();
                t.same(path, shown.pointer(path), Some(value));
            };
            let route = json!({"Kind": "http-route", "Name": "hr", "Parents": [{"Name": "g"}], "Rules": [{"Matches": [{}], "Services": [{"Name": "web"}, {"Name": "api", "Weight": -1}, {"Name": "c", "Weight": 3}]}]});
            for (path, value) in [
                ("/Parents/0/Kind", json!("api-gateway")),
                (
                    "/Rules/0/Matches/0/Path",
                    json!({"Match": "prefix", "Value": "/"}),
                ),
                ("/Rules/0/Services/0/Weight", json!(1)),
                ("/Rules/0/Services/1/Weight", json!(1)),
                ("/Rules/0/Services/2/Weight", json!(3)),
            ] {
                is(&route, "http-route/hr", path, &value);
            }
            let provider = json!({"Kind": "jwt-provider", "Name": "j", "JSONWebKeySet": {"Local": {"Filename": "/f"}}});
            is(&provider, "jwt-provider/j", "/ClockSkewSeconds", &json!(30));
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            let destination = json!({"Service": "b", "NumRetries": 2});
            let router = json!({"Kind": "service-router", "Name": "ro", "Routes": [{"Match": {"HTTP": {"Methods": ["get"]}}, "Destination": destination}]});
            is(
                &router,
                "service-router/ro",
                "/Routes/0/Destination",
                &destination,
            );
            set(
                t,
                &json!({"Kind": "service-defaults", "Name": "kb", "MaxRequestHeadersKB": 80}),
            );
            let shown = read(t, "service-defaults/kb");
            let text = shown.text();
            let at = |name: &str| text.find(name);
            t.check(
                at("MaxRequestHeadersKB") > at("ModifyIndex"),
                "MaxRequestHeadersKB comes last",
            );
        },
        ..Case::REAL
    },
];
