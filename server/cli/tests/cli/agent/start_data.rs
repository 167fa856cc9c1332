//! What an agent starts with: `--load`, `--kv-file` and `--services`.

use std::fs;

use proconsul::Server;

use crate::agent::{Agent, Run};

const KEYS: &str = r#"[
    {"key": "color", "flags": 7, "value": "cmVk"},
    {"key": "size", "flags": 0, "value": "WEw="}
]"#;
const WEB: &str =
    r#"service { name = "web" port = 80 check { id = "alive" name = "alive" ttl = "30s" } }"#;

/// The state of a server with a key, and a service of the agent.
fn dump() -> String {
    let server = Server::builder().frozen().start().expect("a free port");
    server.kv().put("color", "blue");
    server.kv().put("shape", "round");
    server.dump()
}

fn agent(name: &str, arguments: &[&str]) -> Run {
    let run = Run::agent(name, &[&["-dev", "-node=proconsul"], arguments].concat());
    run.file("state.json", &dump())
        .file("keys.json", KEYS)
        .file("more.json", r#"[{"key": "more", "flags": 0, "value": ""}]"#)
        .file("web.hcl", WEB)
        .file(
            "folder/a.json",
            r#"{"services": [{"name": "a"}], "check": {"name": "c", "ttl": "1m"}}"#,
        )
        .at_a_free_port()
}

fn has_all(agent: &mut Agent) {
    assert_eq!(agent.get("/v1/kv/color?raw"), "red");
    assert_eq!(agent.get("/v1/kv/shape?raw"), "round");
    assert_eq!(agent.get("/v1/kv/size?raw"), "XL");
    // The state's index is 9, and each key has an index of its own.
    let more = agent.get("/v1/kv/more");
    assert!(more.contains("\"ModifyIndex\": 12"), "{more}");
    for service in ["web", "a"] {
        let found = agent.get(&format!("/v1/catalog/service/{service}"));
        assert!(
            found.contains(&format!("\"ServiceName\": \"{service}\"")),
            "{found}"
        );
    }
    let checks = agent.get("/v1/agent/checks");
    for check in ["alive", "\"c\""] {
        assert!(checks.contains(check), "{check} in {checks}");
    }
}

#[test]
fn the_first_request_finds_all_of_it_whatever_the_order_of_the_flags() {
    let arguments = [
        "-services=web.hcl",
        "-services",
        "folder",
        "--kv-file=keys.json",
        "-kv-file",
        "more.json",
        "--load",
        "state.json",
    ];
    has_all(&mut agent("start-data-flags", &arguments).start());
}

#[test]
fn variables_list_files_with_commas_and_flags_add_to_them() {
    let run = agent("start-data-variables", &["-kv-file=more.json"]);
    let run = run
        .variable("PROCONSUL_LOAD", "state.json")
        .variable("PROCONSUL_KV_FILE", "keys.json")
        .variable("PROCONSUL_SERVICES", "web.hcl,folder");
    has_all(&mut run.start());
}

/// N13: an export of keys was refused where a state was.
#[test]
fn keys_are_loaded_over_states_by_either_flag() {
    let arguments = [
        "-load=keys.json,state.json",
        "-kv-file=more.json",
        "-services=web.hcl,folder",
    ];
    has_all(&mut agent("start-data-keys", &arguments).start());
}

#[test]
fn a_flag_enables_acls_whatever_the_release_calls_its_token() {
    for release in ["1.8.7", "1.22.0"] {
        let arguments = ["-acl=root", "-as-version", release];
        let mut agent = agent("start-data-acl", &arguments).start();
        let (head, denied) = agent.exchange("PUT", "/v1/kv/a", "1");
        assert!(
            head.contains(" 403 ") && denied.starts_with("Permission denied"),
            "{head}\n{denied}"
        );
        assert_eq!(agent.put("/v1/kv/a?token=root", "1").trim(), "true");
    }
    let refusal = agent("start-data-acl-empty", &["-acl="]).refusal();
    assert_eq!(refusal, "==> -acl: the secret of the token is empty\n");
}

/// Of a server with another name, as a snapshot may be.
#[test]
fn a_snapshot_is_restored() {
    let source = Run::agent("start-data-source", &["-dev", "-node=elsewhere"]).at_a_free_port();
    let mut source = source.start().ready();
    source.put("/v1/kv/color", "green");
    let saved = source.folder().join("saved.tgz");
    let address = source.address().to_string();
    let path = saved.to_string_lossy();
    let save = Run::verb("start-data-save", &["snapshot", "save", &path]);
    assert_eq!(
        save.variable("CONSUL_HTTP_ADDR", &address).output().code,
        Some(0)
    );
    let mut agent = agent("start-data-archive", &["-load", &path, "-services=web.hcl"]).start();
    assert_eq!(agent.get("/v1/kv/color?raw"), "green");
    assert!(agent.get("/v1/catalog/services").contains("web"));

    let mut broken = fs::read(&saved).expect("the snapshot was saved");
    broken.truncate(broken.len() / 2);
    fs::write(&saved, broken).expect("the folder can be written to");
    let refused = Run::agent("start-data-broken", &["-dev", "-load", &path]).refusal();
    let expected = format!("==> cannot load {path}: failed to");
    assert!(refused.starts_with(&expected), "{refused}");
}

#[test]
fn a_file_that_is_wrong_is_named_with_the_place() {
    let rows: &[(&str, &str, &str)] = &[
        (
            "-load=x.json",
            "",
            "cannot load x.json: not a state: EOF while parsing a value at line 1 column 0",
        ),
        (
            "-load=x.json",
            "{\"format\": 2}",
            "cannot load x.json: the state has format 2, expected 1",
        ),
        (
            "-load=x.json",
            "[5]",
            "cannot load x.json: not an export of keys: invalid type: integer `5`, expected struct Exported at line 1 column 2",
        ),
        (
            "-load=nowhere",
            "",
            "cannot load nowhere: no such file or directory",
        ),
        ("-load=x.json,", "", "-load: the name of a file is empty"),
        (
            "-kv-file=x.json",
            "[\n{\"key\": 5}]",
            "cannot load x.json: not an export of keys: invalid type: integer `5`, expected a string at line 2 column 9",
        ),
        (
            "-kv-file=keys.json,x.json",
            r#"[{"key": "a", "flags": 0, "value": ""}, {"key": "b", "flags": 0, "value": "?"}]"#,
            "cannot load x.json: not an export of keys: entry 2: the value of \"b\" is no base64: Invalid symbol 63, offset 0.",
        ),
        (
            "-services=x.json",
            "{",
            "failed to parse x.json: unexpected end of JSON input",
        ),
        (
            "-services=x.json",
            "{}",
            "x.json: defines neither a service nor a check",
        ),
        (
            "-services=x.json",
            r#"{"service": {"name": "a", "colour": 1}}"#,
            "failed to parse x.json: 1 error occurred:\n\t* invalid config key service.colour\n\n",
        ),
        (
            "-services=web.hcl,x.json",
            r#"{"service": {"port": 1}}"#,
            "x.json: Failed to register service \"\": Service name missing",
        ),
        (
            "-services=keys.txt",
            "",
            "keys.txt: expected a file whose name ends with .hcl or .json, or a folder that has one",
        ),
        (
            "-services=nowhere",
            "",
            "config: Open failed on nowhere. open nowhere: no such file or directory",
        ),
    ];
    for (index, (argument, text, expected)) in rows.iter().enumerate() {
        let run = agent(&format!("start-data-wrong-{index}"), &[argument]);
        let refused = run.file("x.json", text).file("keys.txt", "").refusal();
        assert_eq!(refused, format!("==> {expected}\n"), "{argument} {text}");
    }
}

/// What another server's state has stays beside what this configuration defines.
#[test]
fn a_state_keeps_its_own_definitions_until_a_reload() {
    let mut source = agent("start-data-defined", &["-services=folder", "-control"])
        .start()
        .ready();
    let state = source.get("/proconsul/v1/state");
    let run = agent("start-data-both", &["-load=with.json", "-services=web.hcl"]);
    let mut both = run.file("with.json", &state).start();
    for service in ["\"a\"", "\"web\""] {
        assert!(
            both.get("/v1/agent/services").contains(service),
            "{service}"
        );
    }
    both.put("/v1/agent/reload", "");
    let services = both.get("/v1/agent/services");
    assert!(
        services.contains("\"web\"") && !services.contains("\"a\""),
        "{services}"
    );
}
