//! Every view in both themes and at two widths: nothing sticks out, nothing is an error, and axe-core finds nothing
//! serious.

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use proconsul::control::Session;
use proconsul::history::{Filter, Kind};
use proconsul_conformance::report::left_out;
use serde_json::json;

use crate::support::{Page, send};

/// The source of axe-core; `None` where it is not: the published crate lacks it.
fn axe() -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/axe/axe.min.js.gz");
    let Ok(compressed) = std::fs::read(path) else {
        left_out::test("the repository, which has axe-core");
        return None;
    };
    let mut source = String::new();
    GzDecoder::new(&compressed[..])
        .read_to_string(&mut source)
        .expect("it is compressed text");
    Some(source)
}

/// A server with something in every view.
fn full(page: &mut Page) -> Vec<String> {
    let server = &page.server;
    for number in 0..40 {
        server.kv().put(
            format!("app/service-{number}/a/rather/long/path/to/a/key"),
            r#"{"a":[1,2,{"b":null}]}"#,
        );
    }
    let make = |name: &str| {
        let session = Session::ttl(Duration::from_secs(10)).name(name);
        server.sessions().create(session).expect("it is created")
    };
    let (first, second) = (make("worker-a"), make("worker-b"));
    server
        .kv()
        .acquire("job", "x", &first)
        .expect("it is acquired");
    server
        .kv()
        .acquire("job", "x", &second)
        .expect("it is refused");
    server.advance(Duration::from_secs(12));
    server.sessions().renew(&second).expect("it lives");
    server.advance(Duration::from_secs(12));
    server
        .kv()
        .acquire("held", "x", &second)
        .expect("it is acquired");
    server.checkpoint("before");
    let service = r#"{"Name":"web","Port":80,"Tags":["a"],"Check":{"TTL":"1h","Name":"alive"}}"#;
    send(server, "PUT", "/v1/agent/service/register", service);
    send(server, "PUT", "/v1/event/fire/deploy", "now");
    let released = server.history(&Filter::of(Kind::Released))[0].number;
    [
        "dc1/kv",
        "dc1/kv?key=held",
        "dc1/kv?key=app/service-1/a/rather/long/path/to/a/key",
        "dc1/sessions",
        "dc1/locks",
        "dc1/history",
        "dc1/blocked",
        "dc1/services",
        "dc1/services?name=web",
        "dc1/nodes",
        "dc1/nodes?name=proconsul",
        "dc1/checks",
        "dc1/more",
        "dc1/time",
        "dc1/faults",
        "dc1/agents",
        "dc1/state",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        format!("dc1/history?at={released}"),
        format!("dc1/sessions?id={second}"),
    ])
    .collect()
}

/// What axe-core finds on the page that is serious or worse.
fn serious(page: &mut Page, axe: &str) -> impl Iterator<Item = String> + use<> {
    page.eval(axe);
    let found = page.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((one) => one.html.slice(0, 160)).join(' | ')}`))",
    );
    let found: Vec<String> = serde_json::from_value(found).expect("a list of texts");
    found.into_iter()
}

#[test]
fn every_view_fits_and_is_accessible_in_both_themes() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    let Some(axe) = axe() else { return };
    let views = full(&mut page);
    let mut found = Vec::new();
    for (theme, width) in [
        ("light", 1280),
        ("dark", 400),
        ("light", 400),
        ("dark", 1280),
    ] {
        page.tab.theme(theme);
        page.tab.size(width, 800);
        for view in &views {
            page.open(view);
            page.until("document.querySelector('main').innerText.trim().length > 3");
            page.until("!document.querySelector('main').innerText.includes('Reading …') && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
            let wide = page.eval("document.documentElement.scrollWidth");
            if wide != json!(width) {
                found.push(format!("{view} {theme} {width}: {wide} pixels wide"));
            }
            // Colors depend on the theme and what is shown on the width: each of both once.
            if (theme == "light") == (width == 1280) {
                let serious = serious(&mut page, &axe);
                found.extend(serious.map(|one| format!("{view} {theme} {width}: {one}")));
            }
            if let Some(folder) = std::env::var_os("PAGE_PICTURES") {
                let name = view.replace(['/', '?', '='], "_");
                let name = format!("{}-{theme}-{width}.base64", &name[..name.len().min(40)]);
                std::fs::write(std::path::Path::new(&folder).join(name), page.tab.picture())
                    .expect("a folder");
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    page.is_clean();
}

/// axe-core finds what it is to find.
#[test]
fn a_control_without_a_name_is_found() {
    let Some(mut page) = Page::frozen("dc1/kv") else {
        return;
    };
    let Some(axe) = axe() else { return };
    page.eval("document.querySelector('main').append(document.createElement('button'))");
    let found: Vec<String> = serious(&mut page, &axe).collect();
    assert!(
        found.iter().any(|one| one.starts_with("button-name: ")),
        "{found:?}"
    );
}
