//! A real server with ACLs: refusals and what another token is shown are not judged, but counted; all else is compared.

use proconsul::config::{Config, LogLevel};
use proconsul_conformance::wire::{Address, Reply, Request};
use proconsul_lab::shadow::Place;

use crate::shadowed::{address, lines, shadowed_with};
use crate::{ask, text};

const MANAGEMENT: &str = "root";
const WRITER: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn strict() -> (proconsul::Server, Address) {
    let acl = format!(
        r#"acl {{ enabled = true default_policy = "deny" tokens {{ master = "{MANAGEMENT}" agent = "{MANAGEMENT}" }} }}"#
    );
    let config =
        Config::from_arguments(&["-dev", "-dns-port=-1", "-as-version=1.8.7", "-hcl", &acl]);
    let config = Config {
        listeners: Config::dev().listeners,
        log_level: LogLevel::Error,
        ..config.expect("these are settings")
    };
    let server = proconsul::Server::builder().config(config).start();
    let server = server.expect("the server starts");
    let address = address(&server.addr().to_string());
    (server, address)
}

fn with(token: &str, at: &Address, request: Request) -> Reply {
    ask(at, &request.header("X-Consul-Token", token))
}

#[test]
fn what_rights_decide_is_not_judged_and_all_else_is() {
    let (_server, real) = strict();
    with(MANAGEMENT, &real, Request::put("/v1/kv/old", "there"));
    let rules = r#"{"Name":"own","Rules":"key_prefix \"own/\" { policy = \"write\" }"}"#;
    with(MANAGEMENT, &real, Request::put("/v1/acl/policy", rules));
    let token = format!(r#"{{"SecretID":"{WRITER}","Policies":[{{"Name":"own"}}]}}"#);
    let shadowed = shadowed_with(MANAGEMENT, &real, None);
    let at = shadowed.address();
    // Not judged: an ACL endpoint, two refusals, and a list of which ACLs leave nothing.
    with(MANAGEMENT, &at, Request::put("/v1/acl/token", token));
    assert_eq!(ask(&at, &Request::get("/v1/kv/old")).status, 403);
    assert_eq!(
        with(WRITER, &at, Request::put("/v1/kv/old", "x")).status,
        403
    );
    assert_eq!(
        text(&with(WRITER, &at, Request::get("/v1/catalog/nodes"))),
        "[]"
    );
    // Judged: what the writer may do, and all that the management token does.
    with(WRITER, &at, Request::put("/v1/kv/own/k?flags=3", "mine"));
    with(WRITER, &at, Request::get("/v1/kv/own/k"));
    with(MANAGEMENT, &at, Request::get("/v1/kv/?recurse"));
    with(MANAGEMENT, &at, Request::get("/v1/catalog/nodes"));
    let findings = shadowed.finish();
    assert_eq!(findings.count_of_differences(), 0, "{}", lines(&findings));
    assert_eq!(findings.count_of_same(), 4, "{}", findings.summary());
    let told = findings.left_out().join("\n");
    let says = "4 answers were not judged: they depend on the rights of other tokens";
    assert!(told.contains(says), "{told}");
}

#[test]
fn a_wrong_answer_to_the_management_token_is_found() {
    let (_server, real) = strict();
    let shadowed = shadowed_with(MANAGEMENT, &real, Some("key/flags-ignored"));
    let at = shadowed.address();
    let key = "/v1/kv/conformance/k";
    with(
        MANAGEMENT,
        &at,
        Request::put(&format!("{key}?flags=3"), "v"),
    );
    with(MANAGEMENT, &at, Request::get(key));
    assert_eq!(shadowed.finish().exit_status(), 1);
}

#[test]
fn a_server_with_acls_needs_a_management_token() {
    let (_server, real) = strict();
    for token in ["", WRITER] {
        let refused = Place::new(&[("127.0.0.1:0", &real.host)], token);
        let error = refused.expect_err("it is no management token").0;
        assert!(error.contains("shadow needs a management token"), "{error}");
    }
}
