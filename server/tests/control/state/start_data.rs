//! What a server starts with, in Rust: [`Builder::load_file`](proconsul::Builder::load_file) and its neighbours.

use std::fs;
use std::path::{Path, PathBuf};

use proconsul::{Builder, Server, StartError};

use crate::support::{frozen, get, put};

/// A file with this text below Cargo's folder for temporary files.
fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the target folder can be written");
    path
}

fn refused(builder: Builder) -> String {
    match builder.start() {
        Err(StartError::Data(text)) => text,
        other => panic!("started: {other:?}"),
    }
}

#[test]
fn states_come_before_keys_and_a_reset_goes_back_to_both() {
    let server = Server::builder().frozen().start().expect("a free port");
    server.kv().put("color", "blue");
    server.kv().put("shape", "round");
    let state = file("start-state.json", &server.dump());
    let keys = file(
        "start-keys.json",
        r#"[{"key": "color", "flags": 7, "value": "cmVk"}]"#,
    );
    let started = Server::builder().frozen().kv_file(&keys).load_file(&state);
    let started = started.start().expect("both files are sound");
    let has_all = || {
        let color = started.kv().get("color").expect("the key was loaded");
        assert_eq!((&color.value[..], color.flags()), (&b"red"[..], 7));
        assert_eq!(
            color.create_index,
            server.kv().get("color").expect("it is there").create_index
        );
        assert_eq!(color.modify_index.0, server.index().0 + 1);
        assert_eq!(started.index(), color.modify_index);
        assert!(started.kv().get("shape").is_some());
    };
    has_all();
    started.kv().delete_tree("");
    started.reset();
    has_all();
}

#[test]
fn nothing_starts_with_a_file_that_is_wrong() {
    let server = Server::builder()
        .node_name("n1")
        .start()
        .expect("a free port");
    let state = file("start-other.json", &server.dump());
    let text = refused(Server::builder().load_file(&state));
    let expected = "the state is of a server with node n1, expected proconsul as this one has";
    assert_eq!(text, format!("cannot load {}: {expected}", state.display()));

    let flawed = server.dump().replace("\"index\": 7,", "\"index\": 1,");
    let flawed = file("start-flawed.json", &flawed);
    let text = refused(Server::builder().node_name("n1").load_file(&flawed));
    assert!(
        text.contains(": no server can be in this state: "),
        "{text}"
    );
}

#[test]
fn services_are_registered() {
    let file = file("start-web.hcl", "service { name = \"web\" }");
    let server = Server::builder()
        .services_file(&file)
        .start()
        .expect("the file is sound");
    let services = server.catalog().services_of("proconsul");
    assert!(services.iter().any(|row| row.service.name == "web"));
}

/// The services behind a gateway depend on what happened, so a state has them.
#[test]
fn a_state_has_the_services_behind_gateways() {
    let server = frozen();
    let written = |path: &str, body: &str| {
        assert_eq!(put(&server, path, body).status, 200);
    };
    let gateway = r#"{"Kind":"terminating-gateway","Name":"t","Services":[{"Name":"*"}]}"#;
    written("/v1/config", gateway);
    for name in ["old", "new"] {
        let service =
            format!(r#"{{"Node":"n","Address":"1","Service":{{"ID":"a","Service":"{name}"}}}}"#);
        written("/v1/catalog/register", &service);
    }
    let path = "/v1/catalog/gateway-services/t";
    let shown = get(&server, path);
    assert!(shown.body.contains("\"old\""), "{}", shown.body);
    let state = server.dump();
    let other = frozen();
    other.load(&state).expect("it is a state");
    let loaded = get(&other, path);
    assert_eq!((loaded.index(), &loaded.body), (shown.index(), &shown.body));
    assert_eq!(other.dump(), state);
}
