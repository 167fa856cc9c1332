use std::net::SocketAddr;

use super::*;
use crate::definition::{CheckDefinition, NewService, ServiceDefinition, Timing};
use crate::document::hcl;
use crate::settings::keys::{Remarks, take_document};
use crate::{DnsConfig, Listener};

/// Resolves an HCL document on top of `-dev`.
fn dev(document: &str) -> Result<Resolved, String> {
    resolved(
        Settings {
            dev: Some(true),
            ..Settings::default()
        },
        document,
    )
}

fn resolved(mut settings: Settings, document: &str) -> Result<Resolved, String> {
    let tree = hcl::parse(document).expect("the test gives HCL");
    let version = settings.as_version.as_deref().map(str::parse);
    let version = version.and_then(Result::ok).unwrap_or_default();
    take_document(&tree, version, &mut settings, &mut Remarks::default())?;
    resolve(&settings)
}

fn refusal(document: &str) -> String {
    dev(document)
        .map(|_| ())
        .expect_err("the document cannot hold")
}

fn listeners(resolved: Result<Resolved, String>) -> Vec<String> {
    let listeners = resolved.expect("the document holds").config.listeners;
    listeners
        .into_iter()
        .map(|listener| match listener {
            Listener::Tcp(address) => address.to_string(),
            Listener::Unix(path) => path.display().to_string(),
        })
        .collect()
}

#[test]
fn dev_is_a_server_on_the_loopback_interface() {
    let resolved = dev("node_name = \"n\"").expect("nothing to refuse");
    let expected = Config {
        node_name: "n".to_owned(),
        // The machine's.
        host_name: resolved.config.host_name.clone(),
        listeners: vec![Listener::Tcp(SocketAddr::from(([127, 0, 0, 1], 8500)))],
        dns: DnsConfig {
            listeners: vec![SocketAddr::from(([127, 0, 0, 1], 8600))],
            ..DnsConfig::default()
        },
        ..Config::dev()
    };
    assert_eq!(resolved.config, expected);
    assert!(!resolved.bootstrap && !resolved.leave_on_interrupt && !resolved.leave_on_terminate);
    assert_eq!(resolved.warnings, Vec::<String>::new());
}

#[test]
fn without_dev_it_is_a_client_agent_that_leaves_when_told_to_stop() {
    let resolved = resolved(Settings::default(), "node_name = \"n\"").expect("nothing to refuse");
    let config = resolved.config;
    assert!(!config.dev && !config.server && !config.ui && config.log_level == LogLevel::Info);
    assert_eq!(config.bind_address, IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    assert_eq!(
        config.advertise_address,
        address::of_this_machine(IpVersion::Four)
    );
    assert!(resolved.leave_on_interrupt && resolved.leave_on_terminate);
    assert_eq!(resolved.warnings.len(), 1, "it says that it leads at once");
}

fn service_with_a_check(name: &str, port: i64) -> ServiceDefinition {
    ServiceDefinition {
        service: NewService {
            name: name.to_owned(),
            port,
            ..NewService::default()
        },
        checks: vec![ttl_check("", 5_000_000_000)],
        ..ServiceDefinition::default()
    }
}

fn ttl_check(name: &str, ttl_ns: i64) -> CheckDefinition {
    CheckDefinition {
        name: name.to_owned(),
        timing: Timing {
            ttl_ns,
            ..Timing::default()
        },
        ..CheckDefinition::default()
    }
}

/// All keys that change the configuration.
const HONOURED: &str = r#"
        acl { default_policy = "deny" } check { name = "c" ttl = "1h" } services = [{ name = "s" port = 1 check { ttl = "5s" } }]
        check_output_max_size = 99 check_update_interval = "7s" enable_script_checks = true
        enable_local_script_checks = true advertise_addr = "10.1.2.3" bind_addr = "127.0.0.9" datacenter = "DC9" primary_datacenter = "Main"
        default_query_time = "3s" max_query_time = "2s" session_ttl_min = "1.5s"
        disable_http_unprintable_char_filter = true disable_kv_key_validation = true translate_wan_addrs = true
        http_config {
            allow_write_http_from = ["10.0.0.0/8"] block_endpoints = ["/v1/x"] max_header_bytes = 4096
            response_headers { B = "1" A = "2" } use_cache = false
        }
        limits { http_max_conns_per_client = 5 kv_max_value_size = 7 txn_max_req_len = 9 }
        log_json = true log_level = "WARN" node_id = "ADF4238A-882B-9DDC-4A9D-5B6758E4159E" node_name = " n "
        node_meta { k = "v" } pid_file = "/p"
        ports { server = 1 serf_lan = 2 serf_wan = 3 http = 4 } ui_config { enabled = false } use_streaming_backend = false
        enable_debug = false connect { enabled = false }
"#;

#[test]
fn every_honoured_key_changes_its_value() {
    let text = str::to_owned;
    let expected = Config {
        acl: crate::AclConfig {
            default_policy: text("deny"),
            ..Default::default()
        },
        advertise_address: IpAddr::from([10, 1, 2, 3]),
        allow_write_http_from: vec![
            Network::new(IpAddr::from([10, 0, 0, 0]), 8).expect("a network"),
        ],
        bind_address: IpAddr::from([127, 0, 0, 9]),
        block_endpoints: vec![text("/v1/x")],
        check_output_max_size: 99,
        checks: vec![ttl_check("c", 3_600_000_000_000)],
        connect: false,
        services: vec![service_with_a_check("s", 1)],
        check_update_interval: Duration::from_secs(7),
        enable_local_script_checks: true,
        enable_script_checks: true,
        datacenter: text("dc9"),
        default_query_time: Duration::from_secs(3),
        dev: true,
        disable_http_unprintable_char_filter: true,
        disable_kv_key_validation: true,
        http_max_conns_per_client: 5,
        kv_max_value_size: 7,
        listeners: vec![Listener::Tcp(SocketAddr::from(([127, 0, 0, 1], 4)))],
        log_json: true,
        log_level: LogLevel::Warn,
        max_header_bytes: 4096,
        max_query_time: Duration::from_secs(2),
        node_id: text("adf4238a-882b-9ddc-4a9d-5b6758e4159e"),
        node_meta: [(text("k"), text("v"))].into(),
        node_name: text("n"),
        pid_file: Some(PathBuf::from("/p")),
        primary_datacenter: text("main"),
        response_headers: vec![(text("A"), text("2")), (text("B"), text("1"))],
        seed: None,
        serf_lan_port: 2,
        serf_wan_port: Some(3),
        server: true,
        server_port: 1,
        session_ttl_min: Duration::from_millis(1500),
        translate_wan_addrs: true,
        txn_max_req_len: 9,
        ui: false,
        control: false,
        use_cache: false,
        use_streaming_backend: false,
        ..Config::default()
    };
    let mut resolved = dev(HONOURED).expect("the document holds").config;
    // The machine's.
    resolved.host_name = None;
    assert_eq!(resolved, expected);
}

/// Seen on 1.8.7 (operator.md 3.r20).
#[test]
fn connect_is_off_in_plain_agents_of_earlier_releases() {
    let connect = |release: &str, dev: bool, document: &str| {
        let settings = Settings {
            as_version: Some(release.to_owned()),
            dev: Some(dev),
            server: Some(true),
            data_dir: Some("d".to_owned()),
            ..Settings::default()
        };
        let resolved = resolved(settings, document);
        resolved.expect("the document holds").config.connect
    };
    assert!(!connect("1.8.7", false, ""));
    assert!(connect("1.8.7", true, ""));
    assert!(connect("1.8.7", false, "connect { enabled = true }"));
    assert!(connect("1.22.0", false, ""));
}

#[test]
fn the_settings_of_metrics_are_honoured() {
    let document = r#"telemetry {
        prometheus_retention_time = "6s" disable_hostname = true metrics_prefix = "m" prefix_filter = ["-x"]
    }"#;
    let expected = crate::TelemetryConfig {
        prometheus_retention_time: Duration::from_secs(6),
        disable_hostname: true,
        metrics_prefix: "m".to_owned(),
        blocked_prefixes: vec!["x".to_owned()],
        ..Default::default()
    };
    let config = dev(document).expect("the document holds").config;
    assert_eq!(config.telemetry, expected);
}

#[test]
fn the_write_timeout_is_that_of_the_release_unless_it_is_set() {
    let resolved = |text: &str, release: &str| {
        let settings = Settings {
            as_version: Some(release.to_owned()),
            dev: Some(true),
            ..Settings::default()
        };
        resolved(settings, text)
    };
    let of = |text: &str, release: &str| {
        let config = resolved(text, release).expect("it is valid").config;
        config.write_timeout().map(|time| time.as_secs())
    };
    let releases = ["1.22.0", "1.22.4", "1.22.5", "2.1.0"];
    let expected = [None, Some(30), Some(900), Some(900)];
    assert_eq!(releases.map(|release| of("", release)), expected);
    for (text, expected) in [("2s", Some(2)), ("0s", None), ("-1s", None)] {
        let text = format!("http_config {{ write_timeout = \"{text}\" }}");
        assert_eq!(of(&text, "1.22.4"), expected, "{text}");
    }
    let short = r#"http_config { write_timeout = "999ms" }"#;
    let refused = resolved(short, "1.22.4").err().unwrap_or_default();
    assert!(
        refused.contains("http_config.write_timeout: 999ms is less than 1s"),
        "{refused}"
    );
    let unknown = resolved(short, "1.22.3").err().unwrap_or_default();
    assert!(unknown.contains("write_timeout"), "{unknown}");
}

#[test]
fn numbers_that_mean_nothing_special_in_consul_get_its_meaning() {
    let config = |document| dev(document).expect("the document holds").config;
    assert_eq!(
        config("session_ttl_min = \"0s\"").session_ttl_min,
        Duration::from_secs(10)
    );
    assert_eq!(
        config("session_ttl_min = \"-5s\"").session_ttl_min,
        Duration::ZERO
    );
    assert_eq!(
        config("default_query_time = \"-1s\"").default_query_time,
        Duration::from_secs(300)
    );
    assert_eq!(
        config("default_query_time = \"0s\"").default_query_time,
        Duration::ZERO
    );
    assert_eq!(
        config("limits { http_max_conns_per_client = -1 }").http_max_conns_per_client,
        0
    );
    assert_eq!(config("ports { serf_wan = -1 }").serf_wan_port, None);
}

#[test]
fn http_is_served_where_client_and_addresses_say() {
    assert_eq!(
        listeners(dev("client_addr = \"127.0.0.1 ::1\"")),
        ["127.0.0.1:8500", "[::1]:8500"]
    );
    assert_eq!(
        listeners(dev(
            "client_addr = \"0.0.0.0\" addresses { http = \"127.0.0.3 unix:///s\" } ports { http = 7 }"
        )),
        ["127.0.0.3:7", "/s"]
    );
    assert_eq!(
        listeners(dev("addresses { http = \"\" }")),
        ["127.0.0.1:8500"]
    );
    assert_eq!(listeners(dev("client_addr = \"\"")), Vec::<String>::new());
    for off in ["0", "-1"] {
        assert_eq!(
            listeners(dev(&format!("ports {{ http = {off} }}"))),
            Vec::<String>::new()
        );
        let unix = format!("addresses {{ http = \"unix:///s\" }} ports {{ http = {off} }}");
        assert_eq!(listeners(dev(&unix)), Vec::<String>::new());
    }
}

#[test]
fn a_free_port_is_taken_where_our_own_flags_ask_for_it() {
    let with = |settings: Settings| {
        resolve(&Settings {
            dev: Some(true),
            ..settings
        })
    };
    let ephemeral = || Settings {
        http_port_ephemeral: Some(true),
        ..Settings::default()
    };
    let to_file = || Settings {
        port_file: Some("/f".to_owned()),
        ..Settings::default()
    };
    assert_eq!(listeners(with(ephemeral())), ["127.0.0.1:0"]);
    assert_eq!(listeners(with(to_file())), ["127.0.0.1:0"]);
    assert_eq!(
        listeners(with(Settings {
            ports_http: Some(7),
            ..ephemeral()
        })),
        ["127.0.0.1:0"]
    );
    assert_eq!(
        listeners(with(Settings {
            ports_http: Some(7),
            ..to_file()
        })),
        ["127.0.0.1:7"]
    );
}

#[test]
fn what_cannot_be_is_refused_in_consuls_words() {
    let rows = [
        (
            "datacenter = \"a b\"",
            "datacenter cannot be \"a b\". Please use only [a-z0-9-_]",
        ),
        ("datacenter = \"\"", "datacenter cannot be empty"),
        (
            "primary_datacenter = \"a b\"",
            "acl_datacenter cannot be \"a b\". Please use only [a-z0-9-_]",
        ),
        (
            "bootstrap_expect = -1",
            "bootstrap_expect cannot be -1. Must be greater than or equal to zero",
        ),
        (
            "bootstrap_expect = 3",
            "'bootstrap_expect > 0' not allowed in dev mode",
        ),
        (
            "server = false bootstrap = true",
            "'bootstrap = true' requires 'server = true'",
        ),
        ("bind_addr = \"nope\"", "bind_addr cannot be empty"),
        (
            "bind_addr = \"127.0.0.1 127.0.0.2\"",
            "bind_addr cannot contain multiple addresses. Use 'addresses.{dns,http,https}' instead.",
        ),
        (
            "advertise_addr = \"0.0.0.0\"",
            "Advertise address cannot be 0.0.0.0, :: or [::]",
        ),
        (
            "addresses { http = \"::1 ::1\" }",
            "HTTP address [::1]:8500 already configured for HTTP",
        ),
        (
            "log_level = \"loud\"",
            "Invalid log level: loud. Valid log levels are: [TRACE DEBUG INFO WARN ERR ERROR]",
        ),
        (
            "node_id = \"foo\"",
            "failed to setup node ID: specified NodeID is invalid: uuid string is wrong length",
        ),
        (
            "node_id = \"111111112222333344445555555555555555\"",
            "failed to setup node ID: specified NodeID is invalid: uuid is improperly formatted",
        ),
        (
            "node_id = \"g1111111-2222-3333-4444-555555555555\"",
            "failed to setup node ID: specified NodeID is invalid: encoding/hex: invalid byte: U+0067 'g'",
        ),
        (
            "node_meta { \"a.b\" = \"x\" }",
            "node_meta invalid: Couldn't load metadata pair ('a.b', 'x'): Key contains invalid characters",
        ),
        (
            "node_meta { consul-x = \"y\" }",
            "node_meta invalid: Couldn't load metadata pair ('consul-x', 'y'): \
             Key prefix 'consul-' is reserved for internal use",
        ),
    ];
    for (document, expected) in rows {
        assert_eq!(refusal(document), expected, "{document}");
    }
}

#[test]
fn of_several_errors_the_one_that_consul_finds_first_is_told() {
    // A document is refused for the first of these reasons that it has.
    let reasons = [
        "bind_addr = \"\"",
        "advertise_addr = \"::\"",
        "datacenter = \"\"",
        "bootstrap_expect = -1",
        "primary_datacenter = \"\"",
        "node_meta { \"\" = \"x\" }",
        "client_addr = \"q\"",
        "log_level = \"loud\"",
        "node_id = \"foo\"",
    ];
    for index in 0..reasons.len() {
        assert_eq!(
            refusal(&reasons[index..].join(" ")),
            refusal(reasons[index]),
            "{}",
            reasons[index]
        );
    }
}

#[test]
fn the_limits_of_node_meta_are_those_of_consul() {
    let with = |key: String, value: String| {
        let settings = Settings {
            dev: Some(true),
            node_meta: [(key, value)].into(),
            ..Settings::default()
        };
        resolve(&settings).map(|_| ())
    };
    assert_eq!(with("k".repeat(128), "v".repeat(512)), Ok(()));
    let refused = with("k".repeat(129), String::new()).expect_err("the key is too long");
    assert!(
        refused.ends_with(": Key is too long (limit: 128 characters)"),
        "{refused}"
    );
    let refused = with("k".to_owned(), "v".repeat(513)).expect_err("the value is too long");
    assert!(
        refused.ends_with(": Value is too long (limit: 512 characters)"),
        "{refused}"
    );
    let many = (0..65)
        .map(|number| (format!("k{number}"), String::new()))
        .collect();
    let settings = Settings {
        dev: Some(true),
        node_meta: many,
        ..Settings::default()
    };
    let refused = resolve(&settings).map(|_| ());
    let expected = "node_meta invalid: Node metadata cannot contain more than 64 key/value pairs";
    assert_eq!(refused, Err(expected.to_owned()));
}

#[test]
fn some_errors_are_collected_and_durations_hide_the_others() {
    assert_eq!(
        refusal("session_ttl_min = \"abc\""),
        "1 error occurred:\n\t* session_ttl_min: invalid duration: \"abc\": time: invalid duration \"abc\"\n\n"
    );
    let others = r#"
        client_addr = "q r" ports { http = 99999 } addresses { http = "w" } advertise_addr = "nope"
        http_config { allow_write_http_from = ["z", "10.0.0.0"] }
    "#;
    assert_eq!(
        refusal(others),
        "7 errors occurred:\n\t* ports.http: invalid port: 99999\n\t* advertise_addr: invalid ip address: nope\n\
         \t* advertise_addr: invalid ip address: nope\n\t* client_addr: invalid ip address: q\n\
         \t* addresses.http: invalid ip address: w\n\
         \t* allow_write_http_from: invalid cidr: z\n\t* allow_write_http_from: invalid cidr: 10.0.0.0\n\n"
    );
    let all = format!("{others} max_query_time = \"10\"");
    assert_eq!(
        refusal(&all),
        "1 error occurred:\n\t* max_query_time: invalid duration: \"10\": time: missing unit in duration \"10\"\n\n"
    );
}

#[test]
fn consuls_warnings_are_given() {
    let warnings = |document| dev(document).expect("the document holds").warnings;
    assert_eq!(
        warnings("node_name = \"n\" bootstrap = true"),
        ["bootstrap = true: do not enable unless necessary"]
    );
    assert_eq!(
        warnings("node_name = \"n\" bootstrap_expect = 1")[0],
        "BootstrapExpect is set to 1; this is the same as Bootstrap mode."
    );
    assert!(
        warnings("node_name = \"a b\"")[0]
            .starts_with("Node name \"a b\" will not be discoverable via DNS")
    );
    assert_eq!(
        warnings("node_name = \"n\" acl_datacenter = \"dc1\" acl { tokens { master = \"root\" } }"),
        [
            "The 'acl_datacenter' field is deprecated. Use the 'primary_datacenter' field instead.",
            "The 'acl.tokens.master' field is deprecated. Use the 'acl.tokens.initial_management' field instead.",
            "Configuring a non-UUID management token is deprecated"
        ]
    );
    let server = Settings {
        server: Some(true),
        ..Settings::default()
    };
    let warnings = resolved(server, "node_name = \"n\" bootstrap_expect = 3")
        .expect("the document holds")
        .warnings;
    assert_eq!(warnings[0], "bootstrap_expect > 0: expecting 3 servers");
}

#[test]
fn leaving_can_be_chosen() {
    let chosen = dev("skip_leave_on_interrupt = false leave_on_terminate = true")
        .expect("the document holds");
    assert!(chosen.leave_on_interrupt && chosen.leave_on_terminate);
}

#[test]
fn a_version_that_is_not_emulated_is_refused() {
    let settings = Settings {
        as_version: Some("1.7.0".to_owned()),
        ..Settings::default()
    };
    let expected = "-as-version: Consul 1.7.0 is not emulated (1.8.0 to 1.22, 2.0 and 2.1 are)";
    assert_eq!(resolve(&settings).map(|_| ()), Err(expected.to_owned()));
}

#[test]
fn the_newest_version_stands_for_one_that_is_not_known_with_a_warning() {
    let with = |strict| {
        let settings = Settings {
            dev: Some(true),
            as_version: Some("1.23.0".to_owned()),
            strict: Some(strict),
            ..Settings::default()
        };
        resolve(&settings).map(|resolved| (resolved.config.version, resolved.warnings))
    };
    let text = "-as-version: Consul 1.23.0 is not known (1.8.0 to 1.22, 2.0 and 2.1 are)";
    let warning = format!("{text}: emulating 2.1.0");
    assert_eq!(with(false), Ok((Version::V2_1_0, vec![warning])));
    assert_eq!(with(true), Err(text.to_owned()));
}

#[test]
fn the_hosts_of_the_control_plane_are_names() {
    let with = |argument: &str| {
        let settings = Settings {
            dev: Some(true),
            allow_hosts: vec![argument.to_owned()],
            ..Settings::default()
        };
        let resolved = resolve(&settings);
        resolved.map(|resolved| resolved.config.allow_hosts)
    };
    let names = with("consul.example, other.example");
    assert_eq!(
        names,
        Ok(vec![
            "consul.example".to_owned(),
            "other.example".to_owned()
        ])
    );
    for wrong in [
        "",
        "a,,b",
        "consul.example:8500",
        "http://consul.example",
        "*",
    ] {
        let refused = with(wrong).expect_err("it is not a name");
        assert!(refused.starts_with("-allow-host: "), "{refused}");
    }
}
