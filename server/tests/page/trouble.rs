//! Trouble: servers that go, come back as others, and pages from elsewhere.

use std::net::TcpListener;

use proconsul::Server;
use proconsul::faults::LeaderLoss;
use serde_json::{Value, json};

use crate::browser::Tab;
use crate::support::{Page, js, send};

#[test]
fn a_server_that_goes_is_waited_for_and_one_that_comes_back_is_shown() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("old", "x");
    page.until("row('old')");
    let address = page.server.addr();
    // The port is free when the server has been dropped.
    page.server = Server::start();
    page.sees("The server is gone.");
    let listener = TcpListener::bind(address).expect("the port is free");
    let back = Server::builder().listener(listener).ui(true).frozen();
    page.server = back.start().expect("it starts");
    page.server.kv().put("new", "x");
    page.sees("The server was restarted");
    page.until("row('new') && !row('old')");
    page.until("document.body.dataset.status === 'live'");
    page.server.kv().put("newer", "x");
    page.until("row('newer')");
    page.is_clean();
}

#[test]
fn a_rollback_by_a_test_is_seen() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("kept", "x");
    page.server.checkpoint("here");
    page.server.kv().put("lost", "x");
    page.until("row('kept') && row('lost')");
    page.server.rollback("here").expect("it is there");
    page.sees("rollback to \"here\"");
    page.until("row('kept') && !row('lost')");
    page.server.rollback("here").expect("it is there");
    page.sees("rollback to \"here\" ×2");
    // An action of the reader makes one notice.
    page.open("dc1/state");
    page.tab.listen();
    page.press("Roll back to here");
    page.confirm();
    page.sees("Rolled back to here.");
    page.tab.until_heard("control");
    assert_eq!(
        page.eval("document.querySelectorAll('.notice').length"),
        json!(1)
    );
    page.is_clean();
}

#[test]
fn consuls_text_is_shown_when_a_write_fails() {
    let Some(mut page) = Page::frozen("dc1/kv?key=a") else {
        return;
    };
    let rule =
        json!({ "effect": { "kind": "error", "error": "no-cluster-leader", "after": "0s" } });
    page.eval(&format!(
        "fetch('/proconsul/v1/faults', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: {} }}).then((answer) => answer.ok)",
        js(&rule.to_string())
    ));
    page.press("Create");
    page.enter("Value", "x");
    page.press("Write");
    page.sees("No cluster leader");
    page.server.lose_leader(LeaderLoss::quorum_lost());
    page.sees("The cluster has lost its leader (quorum-lost)");
    page.server.find_leader();
    page.until("document.querySelector('.banner').hidden");
    page.is_clean();
}

/// A page of another server, in the same browser, reads nothing and changes nothing here.
#[test]
fn a_page_from_another_origin_is_refused() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    let Some(mut elsewhere) = Tab::open() else {
        return;
    };
    let stranger = Server::builder().start().expect("a free port");
    elsewhere.go(&format!("{}/v1/status/leader", stranger.url()));
    elsewhere.until("location.href.includes('/v1/status/leader')");
    let before = page.server.now();
    let url = page.server.url();
    for (method, path, headers, body) in [
        ("GET", "/proconsul/v1/state", json!({}), Value::Null),
        (
            "GET",
            "/proconsul/v1/events?follow=false",
            json!({}),
            Value::Null,
        ),
        (
            "POST",
            "/proconsul/v1/clock/advance",
            json!({}),
            json!("{\"by\":\"1s\"}"),
        ),
        (
            "POST",
            "/proconsul/v1/clock/advance",
            json!({ "Content-Type": "text/plain" }),
            json!("{\"by\":\"1s\"}"),
        ),
        (
            "POST",
            "/proconsul/v1/clock/advance",
            json!({ "Content-Type": "application/json" }),
            json!("{\"by\":\"1s\"}"),
        ),
        (
            "GET",
            "/v1/kv/?keys",
            json!({ "X-Proconsul-Page": "1" }),
            Value::Null,
        ),
    ] {
        let options = json!({ "method": method, "headers": headers, "body": body });
        let tried = format!(
            "fetch({}, {options}).then((answer) => answer.text()).catch(() => 'refused')",
            js(&format!("{url}{path}"))
        );
        assert_eq!(elsewhere.eval(&tried), json!("refused"), "{method} {path}");
    }
    // Without its answer, which no other origin may read, a request may still be carried out: not this one.
    let blind = format!(
        "fetch({}, {{ method: 'POST', mode: 'no-cors', body: '{{\"by\":\"1s\"}}' }}).then(() => 'sent')",
        js(&format!("{url}/proconsul/v1/clock/advance"))
    );
    assert_eq!(elsewhere.eval(&blind), json!("sent"));
    assert_eq!(page.server.now(), before);
    let framed = format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe'); frame.onload = () => {{ let inner = 'hidden'; try {{ inner = frame.contentDocument.title; }} catch {{}} done(inner); }}; frame.src = {}; document.body.append(frame); }})",
        js(&page.url(""))
    );
    assert_ne!(elsewhere.eval(&framed), json!("Keys · proconsul"));
    page.is_clean();
}

#[test]
fn the_page_is_allowed_its_own_files_and_nothing_else() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    let head = send(&page.server, "GET", "/ui/dc1/kv", "");
    assert!(
        head.contains("Content-Security-Policy: default-src 'none'; script-src 'self';"),
        "{head}"
    );
    assert!(!head.contains("unsafe"));
    let blocked = "new Promise((done) => {
        addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'window.owned = 1';
        document.body.append(script);
    })";
    assert_eq!(page.eval(blocked), json!("script-src-elem"));
    assert_eq!(page.eval("window.owned ?? null"), Value::Null);
    assert!(send(&page.server, "GET", "/ui/assets/none.js", "").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_reader_without_a_token_is_told_that_acls_are_on() {
    let Some(mut page) = Page::of(Server::builder().acl("root").frozen(), "dc1/kv") else {
        return;
    };
    page.sees("ACLs are on: this shows what may be read without a token.");
    page.sees("There are no keys that may be read without a token.");
    page.open("dc1/kv?key=job");
    page.sees("Permission denied");
    page.until("!document.querySelector('section[aria-label=Lock] .badge')");
    page.eval("sessionStorage.setItem('token', 'root')");
    page.open("dc1/kv");
    page.until("document.querySelector('.banner').hidden");
    page.is_clean();
}
