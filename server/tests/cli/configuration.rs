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

#[test]
fn keys_and_flags_without_effect_are_named_once() {
    let arguments = [
        "-dev",
        "-data-dir",
        "d",
        "-retry-join=a",
        "-retry-join=b",
        "-config-file",
        "c.json",
    ];
    let config = r#"{"performance": {"raft_multiplier": 1}, "zork": 1, "limits": {"zork": 2}, "retry_join": ["c"]}"#;
    let run = Run::agent("named", &arguments)
        .file("c.json", config)
        .at_a_free_port();
    let agent = run.start().ready();
    let lines = |text: &str| {
        let lines: Vec<String> = agent
            .log()
            .lines()
            .filter(|line| line.contains(text))
            .map(str::to_owned)
            .collect();
        lines.join("\n")
    };
    let ignored = lines("Accepted and ignored");
    assert!(
        ignored.ends_with(": names=\"-data-dir -retry-join performance retry_join\""),
        "{ignored}"
    );
    let unknown = lines("Unknown configuration keys");
    assert!(
        unknown.ends_with(": names=\"limits.zork zork\""),
        "{unknown}"
    );
    assert_eq!((ignored.lines().count(), unknown.lines().count()), (1, 1));
}

#[test]
fn what_consul_refuses_is_refused_in_its_words() {
    let rows: &[(&[&str], &str)] = &[
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
            "-as-version: Consul 0.9.0 is not emulated (1.8.0 to 1.22 are)\n",
        ),
    ];
    for (index, (arguments, expected)) in rows.iter().enumerate() {
        let run = Run::agent(
            &format!("refused-{index}"),
            &[&["-dev"], *arguments].concat(),
        )
        .file("bad.json", "{ nope")
        .file("typed.json", r#"{"node_name": 5, "ports": {"http": "x"}}"#);
        assert_eq!(run.refusal(), format!("==> {expected}"), "{arguments:?}");
    }
}

#[test]
fn a_variable_that_does_not_fit_is_refused_as_its_flag_is() {
    let run = Run::agent("bad-variable", &["-dev"]).variable("PROCONSUL_SEED", "x");
    let expected = "==> invalid value \"x\" for flag -seed: strconv.ParseUint: parsing \"x\": invalid syntax\n";
    assert_eq!(run.refusal(), expected);
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
