//! A hundred thousand keys, and a busy history.

#![expect(clippy::print_stdout, reason = "what was measured is worth reading")]

use proconsul::Server;
use serde_json::{Value, json};

use crate::support::Page;

/// Generous: another test may use the same machine. What is measured on a quiet one is printed.
const PATIENCE: f64 = 10.0;

fn milliseconds(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_hundred_thousand_keys_are_shown_and_filtered() {
    let Some(mut page) = Page::of(Server::builder().history_capacity(1000), "dc1/state") else {
        return;
    };
    for number in 0..100_000 {
        page.server.kv().put(
            format!("app/{}/{}/key-{number}", number % 10, number % 1000),
            "x",
        );
    }
    page.open("dc1/kv");
    page.sees("100,000 keys");
    let painted = page.eval("performance.getEntriesByName('first-contentful-paint')[0].startTime");
    let listed = page.eval("performance.now()");
    page.click_row("app/");
    page.until("row('9/')?.textContent.includes('10,000')");
    page.eval("window.slowest = 0");
    // From a letter of the filter until the next picture.
    let typed = page.eval(
        "(async () => {
            const field = fieldOf('Filter keys');
            for (const text of ['k', 'ke', 'key', 'key-', 'key-9', 'key-99', 'key-999', 'key-9999']) {
                const began = performance.now();
                field.value = text;
                field.dispatchEvent(new Event('input', { bubbles: true }));
                const took = performance.now() - began;
                await new Promise(requestAnimationFrame);
                const drawing = performance.now();
                await new Promise((done) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); });
                slowest = Math.max(slowest, took + performance.now() - drawing);
            }
            return slowest;
        })()",
    );
    page.sees("11 of 100,000 keys");
    page.server.kv().put("app/new", "x");
    page.enter("Filter keys", "app/new");
    page.sees("1 of 100,001 keys");
    let (painted, listed, typed) = (
        milliseconds(&painted),
        milliseconds(&listed),
        milliseconds(&typed),
    );
    println!("first paint {painted:.0} ms, all keys {listed:.0} ms, slowest letter {typed:.1} ms");
    assert!(
        painted < 1000.0 * PATIENCE && typed < 50.0 * PATIENCE,
        "{painted} {listed} {typed}"
    );
    page.is_clean();
}

/// A minute of 500 records a second, as fast as the page takes them: it misses none, and does not grow without a bound.
#[test]
fn thirty_thousand_records_are_followed() {
    let Some(mut page) = Page::of(Server::builder(), "dc1/history") else {
        return;
    };
    let began = page.eval("performance.now()");
    for _ in 0..60 {
        for number in 0..500 {
            page.server.kv().put(format!("key-{number}"), "x");
        }
        let last = page.server.last_record();
        page.until(&format!(
            "[...document.querySelectorAll('.rows > .row .cell:first-child')].some((one) => one.textContent === '{last}')"
        ));
    }
    let took = milliseconds(&page.eval("performance.now()")) - milliseconds(&began);
    let heap = page.tab.call("Runtime.getHeapUsage", json!({}));
    let memory: f64 = ["usedSize", "embedderHeapUsedSize", "backingStorageSize"]
        .iter()
        .filter_map(|part| heap[part].as_f64())
        .sum::<f64>()
        / 1_048_576.0;
    println!("30,000 records in {took:.0} ms, {memory:.0} MiB");
    assert_eq!(page.eval("seen('left out')"), false);
    assert!(memory < 150.0, "{memory}");
    page.is_clean();
}
