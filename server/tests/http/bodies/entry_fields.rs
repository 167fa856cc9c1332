//! Configuration entries of later kinds, with all fields that the official Go client sends: each is known at any depth, in
//! any spelling, and is read back as it was written (operator.md 4.3.r14).

use proconsul::Version;
use serde_json::{Value, json};

use crate::support::Consul;

/// The entries. Each field has a value, so that one that is lost shows.
fn entries() -> Vec<Value> {
    let reference = json!({"Kind": "api-gateway", "Name": "g", "SectionName": "s"});
    let certificate = json!({"Kind": "inline-certificate", "Name": "c"});
    let tokens =
        json!({"Providers": [{"Name": "p", "VerifyClaims": [{"Path": ["a", "b"], "Value": "v"}]}]});
    let headers = json!({"Headers": [{"Add": {"a": "1"}, "Remove": ["b"], "Set": {"c": "2"}}]});
    let mut filters = headers.clone();
    filters["URLRewrite"] = json!({"Path": "/new"});
    filters["RetryFilter"] = json!({"NumRetries": 3, "RetryOn": ["reset"], "RetryOnStatusCodes": [500], "RetryOnConnectFailure": true});
    filters["TimeoutFilter"] = json!({"RequestTimeout": 5_000_000_000_i64, "IdleTimeout": 7});
    filters["JWT"] = tokens.clone();
    let matching = json!([{"Match": "exact", "Name": "n", "Value": "v"}]);
    vec![
        json!({"Kind": "service-resolver", "Name": "web", "LoadBalancer": {
            "Policy": "ring_hash",
            "RingHashConfig": {"MinimumRingSize": 1, "MaximumRingSize": 2},
            "HashPolicies": [
                {"Field": "cookie", "FieldValue": "c", "CookieConfig": {"TTL": 7, "Path": "/"}},
                {"SourceIP": true, "Terminal": true},
            ],
        }}),
        json!({"Kind": "ingress-gateway", "Name": "in",
            "TLS": {"Enabled": true, "SDS": {"ClusterName": "c", "CertResource": "r"}},
            "Listeners": [{"Port": 1, "Protocol": "http", "Services": [{
                "Name": "web", "Hosts": ["h"], "TLS": {"SDS": {"ClusterName": "c", "CertResource": "r"}},
                "PassiveHealthCheck": {"Interval": 4, "MaxFailures": 5},
            }]}],
        }),
        json!({"Kind": "mesh", "TransparentProxy": {"MeshDestinationsOnly": false}, "HTTP": {
            "SanitizeXForwardedClientCert": true,
            "Incoming": {"RequestNormalization": {
                "InsecureDisablePathNormalization": true, "MergeSlashes": true,
                "PathWithEscapedSlashesAction": "REJECT_REQUEST", "HeadersWithUnderscoresAction": "ALLOW",
            }},
        }}),
        json!({"Kind": "api-gateway", "Name": "g", "Listeners": [{
            "Name": "l", "Hostname": "h", "Port": 1, "Protocol": "http",
            "TLS": {"Certificates": [certificate], "MaxVersion": "TLSv1_3"}, "MaxRequestHeadersKB": 60,
        }]}),
        json!({"Kind": "http-route", "Name": "r", "Parents": [reference], "Hostnames": ["h"], "Rules": [{
            "Filters": filters, "ResponseFilters": headers,
            "Matches": [{"Headers": matching, "Method": "GET", "Path": {"Match": "prefix", "Value": "/"}, "Query": matching}],
            "Services": [{"Name": "web", "Weight": 1, "Filters": filters, "ResponseFilters": headers}],
        }]}),
        json!({"Kind": "tcp-route", "Name": "t", "Parents": [reference], "Services": [{"Name": "web"}]}),
        json!({"Kind": "jwt-provider", "Name": "p", "Issuer": "i", "Audiences": ["a"],
            "JSONWebKeySet": {"Remote": {
                "URI": "https://x", "RequestTimeoutMs": 1, "CacheDuration": 2, "FetchAsynchronously": true, "UseSNI": true,
                "RetryPolicy": {"NumRetries": 3, "RetryPolicyBackOff": {"BaseInterval": 4, "MaxInterval": 5}},
                "JWKSCluster": {"DiscoveryType": "STATIC", "ConnectTimeout": 6, "TLSCertificates": {
                    "CaCertificateProviderInstance": {"InstanceName": "n", "CertificateName": "c"},
                    "TrustedCA": {"Filename": "f", "EnvironmentVariable": "e", "InlineString": "s", "InlineBytes": "Yg=="},
                }},
            }},
            "Locations": [{"Header": {"Name": "h", "ValuePrefix": "v", "Forward": true}},
                {"QueryParam": {"Name": "q"}}, {"Cookie": {"Name": "c"}}],
            "Forwarding": {"HeaderName": "h", "PadForwardPayloadHeader": true},
            "CacheConfig": {"Size": 8},
        }),
        // It names the provider above.
        json!({"Kind": "service-intentions", "Name": "web", "JWT": tokens, "Sources": [{
            "Name": "api",
            "Permissions": [{"Action": "allow", "HTTP": {
                "PathPrefix": "/", "Methods": ["GET"],
                "Header": [{"Name": "h", "Contains": "x", "IgnoreCase": true}],
            }, "JWT": tokens}],
            "Precedence": 9, "Type": "consul",
        }]}),
    ]
}

/// Spells names as HCL files do: `MaxRequestHeadersKB` is `max_request_headers_kb`.
fn snake_case(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(snake_case).collect(),
        Value::Object(members) => {
            // What is no field but a name of the user's.
            let is_label = |name: &str| name.len() == 1;
            let name = |name: &str| {
                let mut snake = String::new();
                let mut before = '_';
                for letter in name.chars() {
                    if letter.is_uppercase() && before.is_lowercase() && !is_label(name) {
                        snake.push('_');
                    }
                    snake.extend(letter.to_lowercase());
                    before = letter;
                }
                snake
            };
            let members = members.iter();
            let members = members.map(|(key, value)| (name(key), snake_case(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// The first place at which `shown` lacks what `given` has.
fn difference(given: &Value, shown: &Value, path: &str) -> Option<String> {
    match (given, shown) {
        (Value::Object(given), Value::Object(_)) => given
            .iter()
            .find_map(|(name, value)| difference(value, &shown[name], &format!("{path}/{name}"))),
        (Value::Array(given), Value::Array(list)) if given.len() == list.len() => given
            .iter()
            .zip(list)
            .enumerate()
            .find_map(|(at, (given, shown))| difference(given, shown, &format!("{path}/{at}"))),
        _ => (given != shown).then(|| format!("{path}: {given}, but {shown}")),
    }
}

fn with_http() -> Consul {
    let consul = Consul::v1_22();
    let http = r#"{"Kind":"proxy-defaults","Name":"global","Config":{"protocol":"http"}}"#;
    consul.put("/v1/config", http).is(200, "true");
    consul
}

#[test]
fn what_the_official_client_sends_is_read_back() {
    for spelling in [Value::clone, snake_case] {
        let consul = with_http();
        for entry in entries() {
            let written = consul.put("/v1/config", spelling(&entry).to_string());
            assert_eq!((written.code(), written.text()), (200, "true"), "{entry}");
            let kind = entry["Kind"].as_str().expect("it has a kind");
            let name = entry["Name"].as_str().unwrap_or(kind);
            let shown = consul.get(&format!("/v1/config/{kind}/{name}"));
            assert_eq!(difference(&entry, &shown.json(), kind), None);
        }
    }
}

#[test]
fn unknown_names_are_refused_at_any_depth() {
    let consul = with_http();
    let rows = [
        (
            r#"{"Kind":"http-route","Name":"r","Rules":[{"Bogus":1,"Services":[{"Name":"a","Zork":1}]}]}"#,
            "2 errors occurred:\n\t* invalid config key \"Rules[0].Services[0].Zork\"\n\t* invalid config key \"Rules[0].Bogus\"\n\n",
        ),
        (
            r#"{"Kind":"mesh","HTTP":{"Bogus":1}}"#,
            "1 error occurred:\n\t* invalid config key \"HTTP.Bogus\"\n\n",
        ),
        (
            r#"{"Kind":"mesh","Name":"mesh"}"#,
            "1 error occurred:\n\t* invalid config key \"Name\"\n\n",
        ),
    ];
    for (body, text) in rows {
        let refused = consul.put("/v1/config", body);
        refused.is(400, &format!("Request decoding failed: {text}"));
    }
}

/// Structures that are unset are `null` in routes, as the official client sends them.
#[test]
fn what_a_route_does_not_say_is_null() {
    let consul = with_http();
    let route = r#"{"Kind":"http-route","Name":"r","Rules":[{"Services":[{"Name":"a"}]}]}"#;
    consul.put("/v1/config", route).is(200, "true");
    let shown = consul.get("/v1/config/http-route/r");
    let filters = r#""Filters":{"Headers":null,"URLRewrite":null,"RetryFilter":null,"TimeoutFilter":null,"JWT":null},"ResponseFilters":{"Headers":null}"#;
    let rules = format!(
        r#""Rules":[{{{filters},"Matches":null,"Services":[{{"Name":"a","Weight":1,{filters}}}]}}]"#
    );
    assert!(shown.text().contains(&rules), "{}", shown.text());
}

/// What the Go client of 2.1 sends beside (2.1.md 5).
#[test]
fn the_fields_of_2_1_are_read_back_there_and_refused_before() {
    let tls = json!({"SDS": {"ClusterName": "c", "CertResource": "r"}});
    let passive = json!({
        "EnforcingConsecutiveGatewayFailure": 1, "Consecutive5xx": 2, "ConsecutiveGatewayFailure": 3,
    });
    let limits = json!({"MaxConnections": 4, "PassiveHealthCheck": passive});
    let looks = json!({"HeadersMode": "send", "BodyMode": "none", "TrailersMode": "skip", "MaxBodyBytes": 5});
    let filters = json!({
        "ExtAuthz": {"Enabled": true},
        "ExtProc": [{"StatPrefix": "s", "Mode": "m", "Overrides": {
            "Processing": {"Request": looks, "Response": looks},
            "GRPCInitialMetadata": [{"Key": "k", "Value": "v"}],
        }}],
    });
    let matching = json!([{"Match": "exact", "Name": "n", "Value": "v", "Invert": true}]);
    let entries = [
        json!({"Kind": "api-gateway", "Name": "g", "TLS": {"Enabled": true}, "Defaults": limits,
            "ExtAuthz": {"Enabled": true},
            "Listeners": [{"Name": "l", "Port": 1, "Protocol": "grpc", "TLS": tls}]}),
        json!({"Kind": "http-route", "Name": "r", "Rules": [{
            "Filters": filters,
            "Matches": [{"Headers": matching}],
            "Services": [{"Name": "web", "TLS": tls, "Limits": limits}],
        }]}),
        json!({"Kind": "tcp-route", "Name": "t", "Services": [{"Name": "web", "TLS": tls, "Limits": limits}]}),
        json!({"Kind": "service-defaults", "Name": "s", "UpstreamConfig": {"Defaults": {"Limits": limits}}}),
        json!({"Kind": "mesh", "TLS": {"Incoming": {"ECDHCurves": ["P-256"]}}}),
    ];
    let consul = Consul::of(Version::new(2, 1, 0));
    let http = r#"{"Kind":"proxy-defaults","Name":"global","Config":{"protocol":"http"}}"#;
    consul.put("/v1/config", http).is(200, "true");
    for entry in entries {
        assert_eq!(with_http().put("/v1/config", entry.to_string()).code(), 400);
        let written = consul.put("/v1/config", entry.to_string());
        written.is(200, "true");
        let kind = entry["Kind"].as_str().expect("it has a kind");
        assert_eq!(written.header("X-Proconsul-Unchecked"), Some(kind));
        let name = entry["Name"].as_str().unwrap_or(kind);
        let shown = consul.get(&format!("/v1/config/{kind}/{name}"));
        assert_eq!(difference(&entry, &shown.json(), kind), None);
    }
}

/// A kind, a field of one, and the first release with it.
#[test]
fn releases_know_the_kinds_and_fields_of_their_time() {
    let rows = [
        (
            9,
            r#"{"Kind":"service-intentions","Name":"a","Sources":[{"Name":"b","Action":"allow"}]}"#,
        ),
        (
            9,
            r#"{"Kind":"service-resolver","Name":"a","LoadBalancer":{}}"#,
        ),
        (10, r#"{"Kind":"mesh"}"#),
        (
            10,
            r#"{"Kind":"service-defaults","Name":"a","TransparentProxy":{}}"#,
        ),
        (11, r#"{"Kind":"exported-services","Name":"default"}"#),
        (
            13,
            r#"{"Kind":"service-defaults","Name":"a","Destination":{}}"#,
        ),
        (
            14,
            r#"{"Kind":"service-resolver","Name":"a","Redirect":{"Peer":"x"}}"#,
        ),
        (15, r#"{"Kind":"api-gateway","Name":"a"}"#),
        (
            16,
            r#"{"Kind":"service-defaults","Name":"a","MutualTLSMode":""}"#,
        ),
        (17, r#"{"Kind":"jwt-provider","Name":"a"}"#),
        (18, r#"{"Kind":"mesh","ValidateClusters":true}"#),
        (20, r#"{"Kind":"file-system-certificate","Name":"a"}"#),
    ];
    for (since, body) in rows {
        for (minor, status) in [(since - 1, 400), (since, 200)] {
            let consul = Consul::of(Version::new(1, minor, 0));
            assert_eq!(
                consul.put("/v1/config", body).code(),
                status,
                "1.{minor}: {body}"
            );
        }
    }
}

/// Entries of which it is not known all that Consul checks are taken with a word.
#[test]
fn what_consul_may_refuse_is_said() {
    let rows = [
        (8, r#"{"Kind":"ingress-gateway","Name":"g"}"#, ""),
        (
            9,
            r#"{"Kind":"service-defaults","Name":"a"}"#,
            "service-defaults",
        ),
        (22, r#"{"Kind":"service-defaults","Name":"a"}"#, ""),
        (
            22,
            r#"{"Kind":"service-defaults","Name":"a","EnvoyExtensions":[{"Name":"builtin/lua"}]}"#,
            "service-defaults",
        ),
        (
            22,
            r#"{"Kind":"ingress-gateway","Name":"g","Listeners":[{"Port":1,"TLS":{"CipherSuites":["x"]},"Services":[{"Name":"a"}]}]}"#,
            "ingress-gateway",
        ),
        (22, r#"{"Kind":"tcp-route","Name":"r"}"#, "tcp-route"),
        (
            22,
            r#"{"Kind":"file-system-certificate","Name":"c"}"#,
            "file-system-certificate",
        ),
    ];
    for (minor, body, unchecked) in rows {
        let consul = Consul::of(Version::new(1, minor, 0));
        let written = consul.put("/v1/config", body);
        written.is(200, "true");
        let said = written.header("X-Proconsul-Unchecked").unwrap_or_default();
        assert_eq!(said, unchecked, "1.{minor}: {body}");
    }
    let consul = Consul::v1_22();
    let refused = consul.put("/v1/config?cas=7", r#"{"Kind":"tcp-route","Name":"r"}"#);
    refused.is(200, "false");
    assert_eq!(refused.header("X-Proconsul-Unchecked"), None);
}
