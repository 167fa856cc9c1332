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

/// How much of a page's memory the records of a test may take, in MiB.
const MOST: f64 = 150.0;

/// What the page keeps of the history, and what that costs it.
#[derive(Debug)]
struct Kept {
    first: u64,
    last: u64,
    count: u64,
    missed: u64,
    /// The heaps of its scripts, of its document and of its buffers, in MiB.
    memory: f64,
    /// All nodes of documents, those that nothing shows any more included.
    nodes: u64,
}

impl Kept {
    fn of(page: &mut Page) -> Self {
        let kept = page.eval(
            "import('/ui/assets/data/records.js').then(({ records: { all, last, missed } }) =>
                ({ first: all[0].number, last, count: all.length, missed }))",
        );
        page.tab.call("HeapProfiler.collectGarbage", json!({}));
        let heap = page.tab.call("Runtime.getHeapUsage", json!({}));
        let bytes = ["usedSize", "embedderHeapUsedSize", "backingStorageSize"];
        let bytes = bytes.iter().filter_map(|part| heap[part].as_f64());
        let nodes = &page.tab.call("Memory.getDOMCounters", json!({}))["nodes"];
        let number = |value: &Value| value.as_u64().expect("a number");
        Self {
            first: number(&kept["first"]),
            last: number(&kept["last"]),
            count: number(&kept["count"]),
            missed: number(&kept["missed"]),
            memory: bytes.sum::<f64>() / 1_048_576.0,
            nodes: number(nodes),
        }
    }

    /// Fails unless the page has each of the last records and is no larger than it may be.
    fn assert_whole(&self, last: u64) {
        println!("{self:?}");
        assert_eq!((self.last, self.missed), (last, 0), "{self:?}");
        assert_eq!(self.count, last - self.first + 1, "{self:?}");
        assert!(self.count >= last.min(20_000), "{self:?}");
        assert!(self.memory < MOST && self.nodes < 20_000, "{self:?}");
    }
}

/// Waits until a record is in sight.
pub(super) fn sees_record(page: &mut Page, number: u64) {
    page.until(&format!(
        "[...document.querySelectorAll('.rows > .row .cell:first-child')].some((one) => one.textContent === '{number}')"
    ));
}

/// As many records as a minute has at 500 a second, as fast as the page takes them: it misses none, and does not grow
/// without a bound.
#[test]
fn thirty_thousand_records_are_followed() {
    let Some(mut page) = Page::of(Server::builder(), "dc1/history") else {
        return;
    };
    let before = page.server.last_record();
    for round in 0..60 {
        for number in 0..500 {
            // The same value again would be no change, and no record.
            page.server
                .kv()
                .put(format!("key-{number}"), round.to_string());
        }
        let last = page.server.last_record();
        sees_record(&mut page, last);
    }
    let last = page.server.last_record();
    assert_eq!(last - before, 30_000);
    Kept::of(&mut page).assert_whole(last);
    page.is_clean();
}

/// 500 records a second by the page's own clock, a few before each picture that it draws: the last one is in sight soon
/// after. `PAGE_SECONDS` says for how long; 10 seconds without it.
#[test]
fn five_hundred_records_a_second_are_followed() {
    let Some(mut page) = Page::of(Server::builder(), "dc1/history") else {
        return;
    };
    let seconds = std::env::var("PAGE_SECONDS").map_or(10, |text| text.parse().expect("seconds"));
    let before = page.server.last_record();
    page.eval("window.began = performance.now()");
    let (mut made, mut pictures) = (0, 0);
    while made < seconds * 500 {
        let passed = page.eval(
            "new Promise(requestAnimationFrame).then(() => Math.floor(performance.now() - began))",
        );
        let due = passed.as_u64().expect("milliseconds") / 2;
        while made < due.min(seconds * 500) {
            page.server
                .kv()
                .put(format!("key-{}", made % 500), made.to_string());
            made += 1;
        }
        pictures += 1;
    }
    let last = page.server.last_record();
    assert_eq!(last - before, made);
    page.eval("window.ended = performance.now()");
    sees_record(&mut page, last);
    let behind = milliseconds(&page.eval("performance.now() - ended"));
    println!(
        "{made} records in {seconds} s and {pictures} pictures, the last after {behind:.0} ms"
    );
    assert!(behind < 500.0 * PATIENCE, "{behind}");
    Kept::of(&mut page).assert_whole(last);
    page.is_clean();
}
