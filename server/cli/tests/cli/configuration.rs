//! Configuration files: where they are looked for, which one wins, and how they are refused.

use crate::agent::Run;

/// `Config.NodeName` after a start with these arguments and files.
fn node_name(name: &str, arguments: &[&str]) -> String {
    let run = Run::agent(name, &[&["-dev"], arguments].concat())
        .file("dir/b.json", r#"{"node_name": "b"}"#)
        .file("dir/a.hcl", "node_name = \"a\"\n")
        .file("dir/below.json/z.json", r#"{"node_name": "below"}"#)
        .file("dir/c.txt", "{ not read")
        .file("x.json", r#"{"node_name": "x"}"#)
        .file("plain", "node_name = \"plain\"");
    let mut agent = run.at_a_free_port().start().ready();
    let own = agent.get("/v1/agent/self");
    let (_, rest) = own
        .split_once("\"NodeName\": \"")
        .expect("the agent has a name");
    rest.split('"').next().unwrap_or_default().to_owned()
}

#[test]
fn later_files_win_then_flags_then_pieces() {
    let rows: &[(&str, &[&str])] = &[
        ("b", &["-config-dir=dir"]),
        ("x", &["-config-dir=dir", "-config-file=x.json"]),
        ("b", &["-config-file=x.json", "-config-dir=dir"]),
        ("b", &["-config-file=dir"]),
        ("x", &["-config-dir=x.json"]),
        ("flag", &["-node=flag", "-config-file=x.json"]),
        ("second", &["-node", "first", "--node=second"]),
        (
            "piece",
            &[
                "-hcl",
                "node_name = \"piece\"",
                "-node=flag",
                "-config-file=x.json",
            ],
        ),
        (
            "last",
            &["-hcl", "node_name = \"piece\"", "-hcl=node_name = \"last\""],
        ),
        ("plain", &["-config-format=hcl", "-config-file=plain"]),
    ];
    for (index, (expected, arguments)) in rows.iter().enumerate() {
        assert_eq!(
            node_name(&format!("order-{index}"), arguments),
            *expected,
            "{arguments:?}"
        );
    }
}

#[test]
fn files_of_an_unknown_language_are_skipped_aloud() {
    let run = Run::agent("skipped", &["-dev", "-config-dir=dir"]).file("dir/c.txt", "{ not read");
    let mut agent = run.at_a_free_port().start();
    let line = agent.wait_for("skipping file");
    let expected = "[WARN]  agent: skipping file dir/c.txt, extension must be .hcl or .json, or config format must be set";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn lists_grow_and_maps_are_merged() {
    let run = Run::agent("merged", &["-dev", "-config-file=a.json", "-config-file=b.json"])
        .file(
            "a.json",
            r#"{"http_config": {"block_endpoints": ["/v1/a"], "response_headers": {"X": "a", "Y": "a"}}}"#,
        )
        .file("b.json", r#"{"http_config": {"block_endpoints": ["/v1/b"], "response_headers": {"X": "b"}}}"#);
    let mut agent = run.at_a_free_port().start().ready();
    for path in ["/v1/a", "/v1/b", "/v1/status/leader"] {
        let mut connection =
            std::net::TcpStream::connect(agent.address()).expect("the agent listens");
        let head = format!("GET {path} HTTP/1.0\r\nHost: a\r\n\r\n");
        std::io::Write::write_all(&mut connection, head.as_bytes()).expect("the server reads");
        let answer = std::io::read_to_string(connection).expect("the server answers");
        assert!(
            answer.contains("X: b\r\n") && answer.contains("Y: a\r\n"),
            "{path}: {answer}"
        );
    }
}

#[test]
fn what_a_file_says_reaches_the_server() {
    let config = r#"{"session_ttl_min": "1s", "limits": {"kv_max_value_size": 3}}"#;
    let run = Run::agent("reaches", &["-dev", "-config-file=c.json"]).file("c.json", config);
    let mut agent = run.at_a_free_port().start().ready();
    assert!(
        agent
            .put("/v1/session/create", r#"{"TTL": "1s"}"#)
            .contains("ID")
    );
    assert_eq!(agent.put("/v1/kv/key", "abc").trim(), "true");
    let mut connection = std::net::TcpStream::connect(agent.address()).expect("the agent listens");
    let (status, _) = crate::agent::request(&mut connection, "PUT", "/v1/kv/key", "abcd");
    assert!(status.contains(" 413 "), "{status}");
}

/// F15: `-log-level=err` hid them.
#[test]
fn keys_and_flags_without_effect_are_named_once_on_standard_error() {
    let arguments = [
        "-dev",
        "-log-level=err",
        "-data-dir",
        "d",
        "-retry-join=a",
        "-retry-join=b",
        "-recursor=192.0.2.1",
        "-config-file",
        "c.json",
    ];
    let config = r#"{"performance": {"raft_multiplier": 1}, "retry_join": ["c"], "encrypt": "k", "segments": null,
        "addresses": {}, "ports": {"https": -1, "grpc": 8502}}"#;
    let run = Run::agent("named", &arguments)
        .file("c.json", config)
        .at_a_free_port();
    let mut agent = run.start_with_errors();
    agent.address();
    agent.signal("INT");
    assert_eq!(
        agent.errors(),
        "proconsul: without effect here: -recursor -retry-join encrypt performance ports.grpc retry_join; \
         not emulated, and refused by --strict: -recursor encrypt ports.grpc\n"
    );
}

/// F15: they were named in the log, and the agent started.
#[test]
fn strict_refuses_what_consul_knows_and_proconsul_does_not_honour() {
    let run = |name: &str, arguments: &[&str]| Run::agent(name, &[&["-dev"], arguments].concat());
    let refused = run("strict-one", &["--strict", "-hcl", "encrypt = \"k\""]).refusal();
    assert_eq!(
        refused,
        "==> -strict: proconsul does not emulate what encrypt asks for: leave it out, or start without -strict\n"
    );
    let two = run("strict-two", &["-syslog", "-hcl", "encrypt = \"k\""]);
    assert_eq!(
        two.variable("PROCONSUL_STRICT", "true").refusal(),
        "==> PROCONSUL_STRICT: proconsul does not emulate what -syslog, encrypt ask for: leave them out, or start \
         without PROCONSUL_STRICT\n"
    );
    let arguments = [
        "--strict",
        "-data-dir=d",
        "-hcl",
        "performance { raft_multiplier = 1 }",
    ];
    let run = run("strict-moot", &arguments).at_a_free_port();
    run.start().ready();
}

/// F14: the server started, allowed everything, and said in every answer that it denied.
#[test]
fn acls_are_enforced_in_every_spelling() {
    let rows: [(&str, &[&str]); 5] = [
        (
            "",
            &["-hcl", "acl { enabled = true default_policy = \"deny\" }"],
        ),
        (
            "",
            &["-hcl", "acl = { enabled = true default_policy = \"deny\" }"],
        ),
        ("", &["-config-file=acl.json"]),
        (
            "",
            &[
                "-hcl",
                "acl_datacenter = \"dc1\" acl_default_policy = \"deny\"",
            ],
        ),
        (
            r#"{"ACL": {"Enabled": true, "Default_Policy": "deny"}}"#,
            &[],
        ),
    ];
    for (index, (local, arguments)) in rows.into_iter().enumerate() {
        let run = Run::agent(
            &format!("acl-{index}"),
            &[&["-dev", "--strict"], arguments].concat(),
        )
        .file(
            "acl.json",
            r#"{"acl": {"enabled": true, "default_policy": "deny", "tokens": {"master": "root"}}}"#,
        )
        .variable("CONSUL_LOCAL_CONFIG", local);
        let mut agent = run.at_a_free_port().start().ready();
        let (head, _) = agent.exchange("GET", "/v1/agent/self", "");
        assert!(head.starts_with("HTTP/1.0 403 "), "{arguments:?}: {head}");
        let (head, _) = agent.exchange("GET", "/v1/agent/self?token=root", "");
        let expected = if index == 2 {
            "HTTP/1.0 200 "
        } else {
            "HTTP/1.0 403 "
        };
        assert!(head.starts_with(expected), "{arguments:?}: {head}");
    }
    let off = "acl { enabled = false default_policy = \"deny\" } acl_datacenter = \"dc1\"";
    let mut agent = Run::agent("acl-off", &["-dev", "-hcl", off])
        .at_a_free_port()
        .start()
        .ready();
    let (head, _) = agent.exchange("GET", "/v1/status/leader", "");
    assert!(head.contains("X-Consul-Default-Acl-Policy: deny"), "{head}");
}

/// Arguments that Consul refuses, and what it says of them.
const REFUSALS: &[(&[&str], &str)] = &[
    (
        &["-config-file=none.json"],
        "config: Open failed on none.json. open none.json: no such file or directory\n",
    ),
    (
        &["-config-dir="],
        "config: Open failed on . open : no such file or directory\n",
    ),
    (
        &["-config-format=yaml"],
        "config: -config-format must be either 'hcl' or 'json'\n",
    ),
    (
        &["-config-file=bad.json"],
        "failed to parse bad.json: invalid character 'n' looking for beginning of object key string\n",
    ),
    (
        &["-config-file=typed.json"],
        "failed to parse typed.json: 2 error(s) decoding:\n\n\
             * 'node_name' expected type 'string', got unconvertible type 'float64'\n\
             * 'ports.http' expected type 'int', got unconvertible type 'string'\n",
    ),
    (
        &["-config-file=unknown.json", "-hcl", "zork = 1"],
        "failed to parse unknown.json: 3 errors occurred:\n\t* invalid config key limits.zork\n\
             \t* invalid config key node_nam\n\t* invalid config key service.prot\n\n\n",
    ),
    (
        &["-hcl", "acl { enabled = \"true\" }"],
        "failed to parse flags-0.hcl: 1 error(s) decoding:\n\n\
             * 'acl.enabled' expected type 'bool', got unconvertible type 'string'\n",
    ),
    (
        &[
            "-hcl",
            "acl { tokens { foo = \"x\" } bar = 1 token_max_expiration = \"1h\" }",
        ],
        "failed to parse flags-0.hcl: 3 errors occurred:\n\t* invalid config key acl.bar\n\
             \t* invalid config key acl.token_max_expiration\n\t* invalid config key acl.tokens.foo\n\n\n",
    ),
    (
        &["-hcl", "acl { policy_ttl = \"x\" token_ttl = \"y\" }"],
        "1 error occurred:\n\t* acl.token_ttl: invalid duration: \"y\": time: invalid duration \"y\"\n\n\n",
    ),
    (
        &["-hcl", "server = true", "-hcl", "server = yes"],
        "failed to parse flags-1.hcl: At 1:10: Unknown token: 1:10 IDENT yes\n",
    ),
    (
        &["-hcl", "session_ttl_min = \"abc\""],
        "1 error occurred:\n\t* session_ttl_min: invalid duration: \"abc\": time: invalid duration \"abc\"\n\n\n",
    ),
    (
        &["-datacenter", "a b"],
        "datacenter cannot be \"a b\". Please use only [a-z0-9-_]\n",
    ),
    (
        &["-log-level=loud"],
        "Invalid log level: loud. Valid log levels are: [TRACE DEBUG INFO WARN ERR ERROR]\n",
    ),
    (
        &["-as-version=0.9"],
        "-as-version: Consul 0.9.0 is not emulated (1.8.0 to 1.22, 2.0 and 2.1 are)\n",
    ),
];

#[test]
fn what_consul_refuses_is_refused_in_its_words() {
    for (index, (arguments, expected)) in REFUSALS.iter().enumerate() {
        let run = Run::agent(
            &format!("refused-{index}"),
            &[&["-dev"], *arguments].concat(),
        )
        .file("bad.json", "{ nope")
        .file(
            "unknown.json",
            r#"{"node_nam": 1, "limits": {"zork": 2}, "service": {"name": "a", "prot": 80}}"#,
        )
        .file("typed.json", r#"{"node_name": 5, "ports": {"http": "x"}}"#);
        assert_eq!(run.refusal(), format!("==> {expected}"), "{arguments:?}");
    }
}

/// F15: `PROCONSUL_CONTROL=yes` blamed `-control` with strconv.ParseBool, and what was misspelt was silent.
#[test]
fn a_variable_that_does_not_fit_or_is_unknown_is_named() {
    let rows = [
        (
            "PROCONSUL_CONTROL",
            "yes",
            "PROCONSUL_CONTROL: expected true or false, not \"yes\"",
        ),
        (
            "PROCONSUL_SEED",
            "x",
            "PROCONSUL_SEED: expected a whole number from 0 to 18446744073709551615, not \"x\"",
        ),
        (
            "PROCONSUL_AS_VERSION",
            "0.9",
            "PROCONSUL_AS_VERSION: Consul 0.9.0 is not emulated (1.8.0 to 1.22, 2.0 and 2.1 are)",
        ),
        (
            "PROCONSUL_CONTROL_PORT",
            "70000",
            "PROCONSUL_CONTROL_PORT: invalid port: 70000, expected 0 to 65535",
        ),
        (
            "PROCONSUL_CONTROL_ADDR",
            "localhost",
            "PROCONSUL_CONTROL_ADDR: invalid ip address: localhost; the port is given by -control-port",
        ),
        (
            "PROCONSUL_SEDE",
            "1",
            "PROCONSUL_SEDE: unknown variable; did you mean PROCONSUL_SEED?",
        ),
        (
            "PROCONSUL_VERSION",
            "1.8.7",
            "PROCONSUL_VERSION: unknown variable; did you mean PROCONSUL_AS_VERSION?",
        ),
        (
            "CONSUL_LOCAL_CONFIG",
            "{\"zork\": 1}",
            "failed to parse CONSUL_LOCAL_CONFIG: 1 error occurred:\n\t* invalid config key zork\n\n",
        ),
    ];
    for (index, (name, value, expected)) in rows.into_iter().enumerate() {
        let run = Run::agent(&format!("bad-variable-{index}"), &["-dev"]).variable(name, value);
        assert_eq!(run.refusal(), format!("==> {expected}\n"));
    }
    // Who says it by a flag after all is told of the flag.
    let run = Run::agent("bad-flag-value", &["-dev", "--as-version=0.9"]);
    let refused = run.variable("PROCONSUL_AS_VERSION", "1.8.7").refusal();
    assert!(refused.starts_with("==> -as-version: "), "{refused}");
}

#[test]
fn services_and_checks_of_the_files_are_registered_at_the_start() {
    let run = Run::agent("definitions", &["-dev", "-config-dir=dir"])
        .file(
            "dir/web.json",
            r#"{"service":{"name":"web","id":"w1","port":80,"check":{"id":"wc","ttl":"1h","status":"passing"}},
                "services":[{"Name":"two","Checks":[{"ttl":"1h"},{"ttl":"2h"}]}]}"#,
        )
        .file(
            "dir/checks.hcl",
            "check { name = \"alone\" ttl = \"30m\" }\nchecks = [{ id = \"c3\" name = \"n\" ttl = \"1h\" service_id = \"w1\" }]",
        );
    let mut agent = run.at_a_free_port().start().ready();
    let services = agent.get("/v1/agent/services");
    for part in ["\"w1\": {", "\"two\": {", "\"Port\": 80"] {
        assert!(services.contains(part), "{part} is not in {services}");
    }
    let checks = agent.get("/v1/health/state/any");
    for part in [
        "\"wc\"",
        "\"service:two:1\"",
        "\"service:two:2\"",
        "\"alone\"",
        "\"c3\"",
    ] {
        assert!(checks.contains(part), "{part} is not in {checks}");
    }
    let passing = agent.get("/v1/health/service/web?passing");
    assert_eq!(passing.trim(), "[]", "a check of it is critical");
}

#[test]
fn a_definition_that_cannot_be_registered_ends_the_start() {
    for (index, (document, text)) in [
        (
            r#"{"service":{"port":1}}"#,
            "Failed to register service \"\": Service name missing",
        ),
        (
            r#"{"check":{"name":"a","ttl":"1h","service_id":"zz"}}"#,
            "Failed to register check 'a': ServiceID \"zz\" does not exist",
        ),
        (
            r#"{"check":{"name":"a","ttl":"x"}}"#,
            "check[].ttl: invalid duration: \"x\": time: invalid duration \"x\"",
        ),
        (
            r#"{"services":{"name":"q"}}"#,
            "'services': source data must be an array or slice, got map",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let run = Run::agent(
            &format!("bad-definition-{index}"),
            &["-dev", "-config-file=x.json"],
        )
        .file("x.json", document);
        let refusal = run.refusal();
        assert!(refusal.contains(text), "{refusal}");
    }
}

/// In both languages; 1.8.7 knows none of it.
#[test]
fn services_of_files_have_ports_sockets_and_places() {
    let hcl = r#"service {
        name = "a" socket_path = "/s" locality { region = "r" }
        ports = [{ name = "http" port = 80 default = true }, { name = "admin" port = 81 }]
    }"#;
    let json =
        r#"{"service": {"name": "b", "ports": [{"name": "http", "port": 80, "default": true}]}}"#;
    let later = [
        r#""Port":80,"Ports":[{"Name":"http","Port":80,"Default":true},{"Name":"admin","Port":81,"Default":false}]"#,
        r#""SocketPath":"/s""#,
        r#""Locality":{"Region":"r","Zone":""}"#,
        r#""Port":80,"Ports":[{"Name":"http","Port":80,"Default":true}]"#,
    ];
    for (version, is_known) in [("1.22.0", true), ("1.8.7", false)] {
        let version = format!("--as-version={version}");
        let arguments = ["-dev", "-config-dir=dir", &version];
        let run = Run::agent(&format!("later-services-{is_known}"), &arguments);
        let run = run.file("dir/a.hcl", hcl).file("dir/b.json", json);
        let mut agent = run.at_a_free_port().start().ready();
        let services = agent.get("/v1/agent/services");
        let services: String = services.split_whitespace().collect();
        assert!(services.contains(r#""Service":"a""#), "{services}");
        for part in later {
            assert_eq!(services.contains(part), is_known, "{part} in {services}");
        }
    }
}
