//! Services, nodes, checks, prepared queries, events and ACLs; and a server that cannot be controlled.

use proconsul::Server;
use proconsul::config::Config;

use crate::support::{Page, send};

const SERVICE: &str = r#"{"Name":"web","ID":"web-1","Port":8080,"Tags":["blue"],"Meta":{"team":"red"},
    "Check":{"TTL":"1h","Name":"alive","Status":"critical","Notes":"why"}}"#;

#[test]
fn services_nodes_and_checks_are_shown_live() {
    let Some(mut page) = Page::frozen("dc1/services") else {
        return;
    };
    send(&page.server, "PUT", "/v1/agent/service/register", SERVICE);
    page.until("row('web')?.textContent.includes('1 critical')");
    page.click_row("web");
    for text in ["web-1", "8080", "blue", "red", "alive"] {
        page.sees(text);
    }
    send(
        &page.server,
        "PUT",
        "/v1/agent/check/pass/service:web-1?note=fine",
        "",
    );
    page.until("document.querySelector('.pane').textContent.includes('fine')");
    page.until("row('web').textContent.includes('1 passing')");
    page.open("dc1/nodes");
    page.click_row("proconsul");
    page.sees("Serf Health Status");
    page.open("dc1/checks");
    page.enter("Filter checks", "alive");
    page.until("document.querySelectorAll('.rows > .row').length === 1");
    page.click_row("alive");
    page.sees("service:web-1");
    page.is_clean();
}

#[test]
fn queries_and_events_are_lists() {
    let Some(mut page) = Page::frozen("dc1/more") else {
        return;
    };
    page.sees("0 entries");
    send(
        &page.server,
        "POST",
        "/v1/query",
        r#"{"Name":"near","Service":{"Service":"web"}}"#,
    );
    page.sees("near");
    page.press("Events");
    send(&page.server, "PUT", "/v1/event/fire/deploy", "now");
    page.sees("deploy");
    page.press("Tokens");
    page.sees("ACL support disabled");
    page.is_clean();
}

#[test]
fn a_token_shows_what_it_may_see_and_is_kept_in_the_tab_alone() {
    let Some(mut page) = Page::of(Server::builder().acl("root").frozen(), "dc1/more") else {
        return;
    };
    page.server.kv().put("secret", "x");
    page.press("Tokens");
    page.sees("Permission denied");
    page.press("Token");
    page.enter("Token of ACLs", "root");
    page.press("Use");
    page.sees("global-management");
    page.press("Policies");
    page.until("seen('global-management')");
    page.open("dc1/kv?key=secret");
    page.until("document.querySelector('.value pre')?.textContent === 'x'");
    assert_eq!(page.eval("localStorage.length + document.cookie.length"), 0);
    page.is_clean();
}

/// How the page says what a reader has to do to see the rest.
const HOW_TO_CONTROL: &str = "start the server with --control, and leave out --control-port.";

/// A control plane on a port of its own is of another origin than the page, and does not serve Consul's API.
#[test]
fn with_a_control_port_the_page_says_what_to_do() {
    let config = Config {
        control: true,
        control_port: Some(0),
        ..Config::default()
    };
    let Some(mut page) = Page::of(Server::builder().config(config), "") else {
        return;
    };
    page.sees(HOW_TO_CONTROL);
    page.server.kv().put("job", "x");
    page.until("row('job')");
    page.open("dc1/history");
    page.sees("This view needs the control plane");
    page.is_clean();
}

#[test]
fn without_control_consuls_api_is_enough_for_keys_and_sessions() {
    let config = Config {
        control: false,
        ..Config::default()
    };
    let Some(mut page) = Page::of(Server::builder().config(config), "") else {
        return;
    };
    page.sees(HOW_TO_CONTROL);
    send(&page.server, "PUT", "/v1/kv/a/b", "one");
    page.until("row('a/')");
    page.click_row("a/");
    page.click_row("b");
    page.until("document.querySelector('.value pre')?.textContent === 'one'");
    send(&page.server, "PUT", "/v1/kv/a/b", "two");
    page.until("document.querySelector('.value pre')?.textContent === 'two'");
    page.open("dc1/sessions");
    send(
        &page.server,
        "PUT",
        "/v1/session/create",
        r#"{"Name":"worker-a","TTL":"10s"}"#,
    );
    page.until("row('worker-a')");
    page.open("dc1/services");
    send(&page.server, "PUT", "/v1/agent/service/register", SERVICE);
    page.until("row('web')");
    page.open("dc1/locks");
    page.sees("This view needs the control plane");
    page.is_clean();
}

#[test]
fn services_are_sorted_and_filtered_by_the_state_of_their_checks() {
    let Some(mut page) = Page::frozen("dc1/services") else {
        return;
    };
    send(&page.server, "PUT", "/v1/agent/service/register", SERVICE);
    let names = "[...document.querySelectorAll('.rows > .row')]
        .sort((one, other) => one.ariaRowIndex - other.ariaRowIndex).map((one) => one.firstChild.textContent).join()";
    page.until(&format!("{names} === 'web,consul'"));
    page.press("Service");
    page.until(&format!("{names} === 'consul,web'"));
    page.press("Service");
    page.until(&format!("{names} === 'web,consul'"));
    page.until("document.querySelector('[aria-sort=descending]')?.textContent === 'Service'");
    page.enter("Status", "passing");
    page.until(&format!("{names} === ''"));
    page.enter("Status", "critical");
    page.until(&format!("{names} === 'web'"));
    page.is_clean();
}
