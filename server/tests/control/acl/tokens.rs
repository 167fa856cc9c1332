//! ACLs: tokens that tests make, who was refused what and why, and tokens on the server's clock and in dumps.

use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul::config::{AclConfig, Config};
use proconsul::control::AclError;
use proconsul::history::{Filter, Happened, Kind};
use serde_json::json;

use crate::over_http::face::{call, parsed};
use crate::support::{Answer, exchange, get, parse, put, request};

pub(crate) const BOTH: [Version; 2] = [Version::V1_8_7, Version::V1_22_0];

pub(crate) fn started(version: Version) -> Server {
    let server = Server::builder().version(version).acl("root").frozen();
    server.start().expect("there is a free port")
}

/// Sends a request with a token in the header.
pub(crate) fn ask_with(server: &Server, token: &str, method: &str, target: &str) -> Answer {
    let header = format!("X-Consul-Token: {token}");
    let sent = request(method, target, &[&header], "x");
    parse(&exchange(server.addr(), &sent).expect("an answer comes"))
}

/// A token lapses when the test says so; its row goes half a second later, and a dump takes both with it.
#[test]
fn a_token_expires_when_time_is_moved_and_after_a_load() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let server = started(version);
        let secret = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
        let body = format!(r#"{{"SecretID":"{secret}","ExpirationTTL":"60s"}}"#);
        let made = put(&server, "/v1/acl/token?token=root", &body);
        assert_eq!(made.status, 200);
        let own = format!("/v1/acl/token/self?token={secret}");
        let is_known = |server: &Server| get(server, &own).status == 200;
        server.advance(Duration::from_secs(30));
        let state = server.dump();
        assert!(is_known(&server));
        let other = started(version);
        other.load(&state).expect("the state is of such a server");
        assert_eq!(other.dump(), state);
        other.advance(Duration::from_secs(29));
        assert!(is_known(&other));
        for server in [&server, &other] {
            server.advance(Duration::from_secs(30));
            assert!(!is_known(server));
        }
        server.reset();
        assert!(!is_known(&server));
        let list = get(&server, "/v1/acl/tokens?token=root");
        assert_eq!(list.body.matches("AccessorID").count(), 2);
    }
}

const READER: &str = r#"key_prefix "app/" { policy = "read" }"#;

/// One call gives default deny and a management token; another one a token that may less.
#[test]
fn a_token_for_a_test_may_what_its_rules_say() {
    for version in BOTH {
        let server = started(version);
        let reader = server.acl().token(READER).expect("these are rules");
        let read = |secret: &str| ask_with(&server, secret, "GET", "/v1/kv/app/a").status;
        let write = |secret: &str| ask_with(&server, secret, "PUT", "/v1/kv/app/a").status;
        assert_eq!((read(&reader.secret), write(&reader.secret)), (404, 403));
        assert_eq!((read("anonymous"), write("root")), (403, 200));
        assert_eq!(read(&reader.secret), 200);
        let acl = server.acl();
        let writer = r#"{"key_prefix":{"app/":{"policy":"write"}}}"#;
        let changed = acl.change_rules(&reader.accessor, writer);
        changed.expect("the token has a policy");
        assert_eq!(write(&reader.secret), 200);
        acl.revoke(&reader.secret).expect("there is such a token");
        let refused = ask_with(&server, &reader.secret, "GET", "/v1/kv/app/a");
        assert_eq!((refused.status, &*refused.body), (403, "ACL not found"));
        let own = format!("/v1/acl/token/{}?token=root", reader.accessor);
        assert_eq!(get(&server, &own).status, 403);
    }
}

/// A token that a test makes is one like any other: Consul's API shows it.
#[test]
fn a_token_for_a_test_is_shown_by_the_api() {
    let server = started(Version::V1_22_0);
    let made = server.acl().described_token("worker", READER);
    let made = made.expect("these are rules");
    let own = get(
        &server,
        &format!("/v1/acl/token/self?token={}", made.secret),
    );
    let shown = parsed(&own);
    assert_eq!(shown["AccessorID"], json!(made.accessor));
    assert_eq!(shown["Description"], json!("worker"));
    let policy = shown["Policies"][0]["ID"].as_str().expect("it has one");
    let policy = parsed(&get(
        &server,
        &format!("/v1/acl/policy/{policy}?token=root"),
    ));
    assert_eq!(policy["Rules"], json!(READER));
    server.reset();
    let own = get(
        &server,
        &format!("/v1/acl/token/self?token={}", made.secret),
    );
    assert_eq!(own.status, 403);
}

#[test]
fn what_is_wrong_is_an_error_of_its_own() {
    let off = Server::start();
    for error in [
        off.acl().token("").err(),
        off.acl().revoke("root").err(),
        off.acl().change_rules("root", "").err(),
        off.acl().explain("root", "acl:read", "").err(),
    ] {
        assert_eq!(error, Some(AclError::Off));
    }
    let server = started(Version::V1_22_0);
    let (acl, before) = (server.acl(), server.last_record());
    let sentence = r#"Invalid key_prefix policy: &acl.KeyRule{Prefix:"a", Policy:"all", EnterpriseRule:acl.EnterpriseRule{}}"#;
    let rules = AclError::Rules(sentence.to_owned());
    let wrong = r#"key_prefix "a" { policy = "all" }"#;
    assert_eq!(acl.token(wrong), Err(rules.clone()));
    assert_eq!(acl.change_rules("root", wrong), Err(rules));
    let unknown = AclError::UnknownToken("nobody's".to_owned());
    assert_eq!(acl.revoke("nobody's"), Err(unknown.clone()));
    assert_eq!(acl.change_rules("nobody's", ""), Err(unknown.clone()));
    assert_eq!(acl.explain("nobody's", "key:read", "a"), Err(unknown));
    assert_eq!(acl.revoke("anonymous"), Err(AclError::Anonymous));
    let without = acl.change_rules("root", "");
    assert!(matches!(without, Err(AclError::NoPolicy(_))), "{without:?}");
    for (permission, part) in [
        ("key", "a permission has the form key:write"),
        ("lock:read", "Invalid ACL resource requested"),
        ("node:list", "Invalid access level for node resource: list"),
    ] {
        let error = acl.explain("root", permission, "a");
        let text = error.expect_err("there is no such permission").to_string();
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(server.last_record(), before, "nothing happened");
}

/// Asks whether a token may do something, and why.
#[track_caller]
fn explained(server: &Server, token: &str, permission: &str, name: &str) -> (bool, String) {
    let explained = server.acl().explain(token, permission, name);
    let explained = explained.expect("there are both");
    (explained.is_allowed, explained.because)
}

#[test]
fn explain_names_the_rule_that_decides_and_its_policy() {
    let server = started(Version::V1_22_0);
    let rules = r#"key_prefix "" { policy = "read" } key_prefix "app/" { policy = "write" } key "app/secret" { policy = "deny" } operator = "read""#;
    let token = server.acl().token(rules).expect("these are rules");
    let policy = parsed(&get(
        &server,
        &format!("/v1/acl/token/self?token={}", token.secret),
    ));
    let policy = policy["Policies"][0]["Name"].as_str().expect("a name");
    let because = |rule: &str| format!("{rule} of policy {policy:?}");
    for (permission, name, is_allowed, rule) in [
        (
            "key:read",
            "a",
            true,
            r#"key_prefix "" { policy = "read" }"#,
        ),
        (
            "key:write",
            "a",
            false,
            r#"key_prefix "" { policy = "read" }"#,
        ),
        (
            "key:write",
            "app/a",
            true,
            r#"key_prefix "app/" { policy = "write" }"#,
        ),
        (
            "key:read",
            "app/secret",
            false,
            r#"key "app/secret" { policy = "deny" }"#,
        ),
        (
            "key:write-prefix",
            "app/",
            false,
            r#"key "app/secret" { policy = "deny" }"#,
        ),
        (
            "key:write-prefix",
            "app/x",
            true,
            r#"key_prefix "app/" { policy = "write" }"#,
        ),
        ("mesh:read", "", true, r#"operator = "read""#),
        ("mesh:write", "", false, r#"operator = "read""#),
    ] {
        let answer = explained(&server, &token.accessor, permission, name);
        assert_eq!(answer, (is_allowed, because(rule)), "{permission} {name}");
    }
    let (is_allowed, because) = explained(&server, "anonymous", "session:read", "n");
    assert!(!is_allowed);
    assert_eq!(because, "no rule, and the default policy is deny");
    let (is_allowed, because) = explained(&server, "root", "session:write", "n");
    assert!(is_allowed);
    assert_eq!(
        because,
        r#"session_prefix "" { policy = "write" } of policy "global-management""#
    );
}

/// The history says who was refused what and why, and never a secret.
#[test]
fn the_history_says_who_was_refused_what_and_why() {
    for version in BOTH {
        let server = started(version);
        let made = server.acl().described_token("worker", READER);
        let token = made.expect("these are rules");
        let after = server.last_record();
        put(&server, "/v1/kv/app/a?token=root", "x");
        put(&server, "/v1/kv/other?token=root", "x");
        assert_eq!(
            ask_with(&server, &token.secret, "PUT", "/v1/kv/app/a").status,
            403
        );
        let listed = format!("/v1/kv/?keys&token={}", token.secret);
        assert_eq!(get(&server, &listed).body.matches("app/a").count(), 1);
        let session = ask_with(&server, "anonymous", "GET", "/v1/agent/self");
        assert_eq!(session.status, 403);
        ask_with(&server, "gone", "GET", "/v1/kv/app/a");
        // However its name is written, a token is a secret.
        for query in ["%74oken=", "x;token="] {
            get(&server, &format!("/v1/kv/app/a?{query}{}", token.secret));
        }
        let of = |kind| server.history(&Filter::of(kind).after(after));
        let denied = of(Kind::AccessDenied);
        let lines: Vec<_> = denied
            .iter()
            .map(|record| record.what.to_string())
            .collect();
        let policy = lines[0].rsplit(' ').next().expect("it ends in the policy");
        let [first, second] = &lines[..] else {
            panic!("{lines:?}");
        };
        let accessor = &token.accessor;
        assert_eq!(
            *first,
            format!(
                r#"request 3: refused, token {accessor} ("worker") lacks key:write on "app/a" by key_prefix "app/" {{ policy = "read" }} of policy {policy}"#
            )
        );
        assert!(
            second.starts_with("request 5: refused, token 00000000-0000-0000-0000-000000000002 (\"Anonymous Token\") lacks agent:read"),
            "{second}"
        );
        assert!(
            second.ends_with(" by no rule, and the default policy is deny"),
            "{second}"
        );
        let removed = of(Kind::RowsRemoved);
        assert!(
            matches!(&removed[..], [record] if matches!(&record.what, Happened::RowsRemoved { rows: 1, token, .. } if token.accessor == *accessor)),
            "{removed:?}"
        );
        assert_eq!(of(Kind::TokenUnknown).len(), 1);
        assert!(server.timeline("app/a").contains("lacks key:write"));
        let text = server.history_text();
        assert!(!text.contains(&token.secret), "{text}");
        assert!(!text.contains("token=root"), "{text}");
    }
}

/// The same over HTTP.
#[test]
fn the_calls_over_http_make_change_explain_and_revoke() {
    let server = started(Version::V1_22_0);
    let body = json!({ "rules": READER, "description": "worker" }).to_string();
    let made = parsed(&call(&server, "POST", "/acl/token", &body));
    let (accessor, secret) = (&made["accessor"], made["secret"].as_str().expect("a text"));
    let explain = format!("/acl/explain?token={secret}&permission=key:write&name=app/a");
    let explained = parsed(&call(&server, "GET", &explain, ""));
    assert_eq!(explained["allowed"], json!(false));
    assert_eq!(explained["token"], *accessor);
    assert_eq!(explained["token_description"], json!("worker"));
    let cause = explained["cause"].as_str().expect("a text");
    assert!(cause.starts_with("key_prefix \"app/\""), "{cause}");
    ask_with(&server, secret, "PUT", "/v1/kv/app/a");
    let records = parsed(&call(&server, "GET", "/history?kind=access-denied", ""));
    let record = &records["records"][0];
    assert_eq!(record["token"], *accessor);
    assert_eq!(record["token_description"], json!("worker"));
    assert_eq!(record["permission"], json!("key:write"));
    assert_eq!(
        (&record["name"], &record["key"]),
        (&json!("app/a"), &json!("app/a"))
    );
    assert_eq!(record["cause"], explained["cause"]);
    let rules = json!({ "token": accessor, "rules": "key_prefix \"\" { policy = \"write\" }" });
    parsed(&call(&server, "POST", "/acl/rules", &rules.to_string()));
    assert_eq!(ask_with(&server, secret, "PUT", "/v1/kv/app/a").status, 200);
    let revoked = json!({ "token": secret }).to_string();
    parsed(&call(&server, "POST", "/acl/revoke", &revoked));
    assert_eq!(ask_with(&server, secret, "PUT", "/v1/kv/app/a").status, 403);
    assert_eq!(call(&server, "POST", "/acl/revoke", &revoked).status, 404);
    assert_eq!(call(&server, "GET", &explain, "").status, 404);
    let wrong = json!({ "rules": "key" }).to_string();
    assert_eq!(call(&server, "POST", "/acl/token", &wrong).status, 400);
    let off = Server::start();
    assert_eq!(call(&off, "POST", "/acl/token", &body).status, 409);
}

/// A state without ACLs leaves those of the server as they are, and takes over everything else.
#[test]
fn a_state_without_acls_keeps_all_tokens() {
    for version in BOTH {
        let plain = Server::builder().version(version).start();
        let plain = plain.expect("there is a free port");
        plain.kv().put("app/a", "x");
        let server = started(version);
        let reader = server.acl().token(READER).expect("these are rules");
        let body = r#"{"ExpirationTTL":"60s"}"#;
        let lapsing = parsed(&put(&server, "/v1/acl/token?token=root", body));
        let lapsing = lapsing["SecretID"].as_str().expect("it has one");
        server.advance(Duration::from_secs(30));
        server.load(&plain.dump()).expect("the state fits");
        let read = |secret: &str| ask_with(&server, secret, "GET", "/v1/kv/app/a").status;
        assert_eq!(
            (read("root"), read(&reader.secret), read("anonymous")),
            (200, 200, 403)
        );
        let own = |server: &Server| ask_with(server, lapsing, "GET", "/v1/acl/token/self").status;
        server.advance(Duration::from_secs(29));
        assert_eq!(own(&server), 200);
        server.advance(Duration::from_secs(2));
        assert_eq!(own(&server), 403);
        // What was kept can be dumped and loaded like any other state.
        let again = started(version);
        again.load(&server.dump()).expect("the state is one");
        assert_eq!(
            ask_with(&again, &reader.secret, "GET", "/v1/kv/app/a").status,
            200
        );
    }
}

/// A state with ACLs brings its own; the configured management token stays, so that the test is not locked out.
#[test]
fn a_state_with_acls_keeps_the_configured_management_token() {
    for version in BOTH {
        let other = Server::builder().version(version).acl("other").start();
        let other = other.expect("there is a free port");
        let of_other = other.acl().token(READER).expect("these are rules");
        let server = started(version);
        let own = server.acl().token(READER).expect("these are rules");
        server.load(&other.dump()).expect("the state fits");
        let may_read = |secret: &str| {
            let answer = ask_with(&server, secret, "GET", "/v1/kv/app/a");
            answer.status != 403
        };
        assert!(may_read("root") && may_read("other") && may_read(&of_other.secret));
        assert!(!may_read(&own.secret), "it is not of the state");
    }
}

/// acl.md 3.1.r4, as seen on 1.8.7.
#[test]
fn a_file_in_the_data_folder_allows_one_more_bootstrap() {
    let folder = std::env::temp_dir().join(format!("proconsul-reset-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    let file = folder.join("acl-bootstrap-reset");
    let acl = AclConfig {
        enabled: true,
        data_dir: Some(folder.clone()),
        ..AclConfig::default()
    };
    let config = Config {
        acl,
        ..Config::default()
    };
    let server = Server::builder().config(config).start();
    let server = server.expect("there is a free port");
    let bootstrap = || {
        let answer = put(&server, "/v1/acl/bootstrap", "");
        (answer.status, answer.body)
    };
    let write = |text: &str| std::fs::write(&file, text).expect("files can be written");
    let index = |body: &str| {
        let after = body.split("\"CreateIndex\"").nth(1).unwrap_or_default();
        let digits = after.trim_start_matches([':', ' ']).split([',', '\n']);
        digits.take(1).collect::<String>()
    };
    let first = bootstrap();
    assert_eq!(first.0, 200);
    let reset = index(&first.1);
    let over = format!("Permission denied: ACL bootstrap no longer allowed (reset index: {reset})");
    for text in ["", "x", "-1"] {
        write(text);
        assert_eq!(bootstrap(), (403, over.clone()), "{text}");
    }
    write("3");
    let other = format!("Invalid bootstrap reset index (specified 3, reset index: {reset})");
    assert_eq!(bootstrap(), (500, other));
    write(&format!(" {reset}\n"));
    assert_eq!(bootstrap().0, 200);
    assert!(!file.exists(), "the file counts once");
    assert_eq!(bootstrap().0, 403);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
