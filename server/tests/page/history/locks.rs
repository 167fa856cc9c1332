//! Locks over time: the two workers of an article on exclusive jobs, and a semaphore.

use std::time::Duration;

use proconsul::Server;
use proconsul::control::Session;
use serde_json::json;

use crate::support::{Page, send};

const KEY: &str = "service/task1/leader";

pub(super) fn worker(server: &Server, name: &str) -> String {
    let body = json!({ "Name": name, "TTL": "15s", "Behavior": "delete" }).to_string();
    let answer = send(server, "PUT", "/v1/session/create", &body);
    let (_, id) = answer.split_once("\"ID\"").expect("a session is created");
    id.split('"').nth(1).expect("it has an id").to_owned()
}

pub(super) fn acquire(server: &Server, id: &str) -> bool {
    let answer = send(server, "PUT", &format!("/v1/kv/{KEY}?acquire={id}"), id);
    answer.trim_end().ends_with("true")
}

/// One worker works, the other is refused; the first is killed, its session lapses with its key, the lock-delay passes,
/// and the second takes over.
#[test]
fn two_exclusive_workers_are_watched_live() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    page.sees("No key has been locked yet.");
    let (first, second) = (
        worker(&page.server, "worker-1"),
        worker(&page.server, "worker-2"),
    );
    assert!(acquire(&page.server, &first));
    page.until("named('.lock-bar.open', 'worker-1') || document.querySelector('.lock-bar.open')?.textContent === 'worker-1'");
    page.server.advance(Duration::from_secs(10));
    assert!(!acquire(&page.server, &second));
    page.until(
        "document.querySelector('.lock-refused')?.title.startsWith('1 refused from 0:00:10.000')",
    );
    page.sees("1 refused");
    // The first one is killed: nothing renews its session. The second one goes on.
    send(
        &page.server,
        "PUT",
        &format!("/v1/session/renew/{second}"),
        "",
    );
    page.server.advance(Duration::from_secs(20));
    page.until("document.querySelector('.lock-cause')?.textContent.includes('TTL expired')");
    page.until("document.querySelector('.lock-delay')?.title.includes('(15.0s)')");
    page.until("!document.querySelector('.lock-bar.open')");
    assert!(!acquire(&page.server, &second), "the lock-delay runs");
    page.until("[...document.querySelectorAll('.lock-refused')].some((one) => /lock-delay/.test(one.title))");
    send(
        &page.server,
        "PUT",
        &format!("/v1/session/renew/{second}"),
        "",
    );
    page.server.advance(Duration::from_secs(15));
    assert!(acquire(&page.server, &second));
    page.until("document.querySelector('.lock-bar.open')?.textContent === 'worker-2'");
    page.press("Fit");
    page.until("document.querySelectorAll('.lock-bar').length === 2");
    page.is_clean();
}

/// A worker that does not notice that its lock is lost: what it believes is drawn beside who holds.
#[test]
fn beliefs_are_drawn_beside_holders() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    let first = worker(&page.server, "worker-1");
    assert!(acquire(&page.server, &first));
    page.server.note_belief("worker-1", true, None);
    page.until("document.querySelector('.lock-bar.belief.open')?.textContent === 'worker-1'");
    page.server.advance(Duration::from_secs(40));
    page.until("!document.querySelector('.lock-bar.open:not(.belief)')");
    page.server.note_belief("worker-1", false, None);
    page.until("document.querySelector('.lock-bar.belief')?.title.includes('until 0:00:40.000 (40.0s): it said so')");
    page.until("document.querySelector('.lock-bar.belief').title.startsWith('worker-1 believed that it held a lock from 0:00:00.000')");
    page.press("Fit");
    page.is_clean();
}

#[test]
fn the_time_is_zoomed_and_moved() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    let id = page
        .server
        .sessions()
        .create(Session::ttl(Duration::from_secs(60)))
        .expect("it is created");
    for number in 0..3 {
        page.server
            .kv()
            .acquire(format!("job{number}"), "x", &id)
            .expect("it is acquired");
    }
    page.server.advance(Duration::from_secs(60));
    page.until("document.querySelectorAll('.lock-bar').length === 3");
    let width = "document.querySelector('.lock-bar').getBoundingClientRect().width";
    // The records come before the time that has passed.
    page.sees("0:01:00.000");
    page.press("Fit");
    page.until(&format!("{width} > 100"));
    let before = page.eval(width).as_f64().expect("a width");
    page.press("Zoom in");
    page.until(&format!("Math.abs({width} / {before} - 2) < 0.05"));
    page.press("Zoom out");
    page.until(&format!("Math.abs({width} / {before} - 1) < 0.05"));
    let left = "document.querySelector('.lock-bar').getBoundingClientRect().left";
    let at = page.eval(left).as_f64().expect("a place");
    page.press("Earlier");
    page.until(&format!("{left} > {at} + 100"));
    page.press("Now");
    page.until(&format!("Math.abs({left} - {at}) < 5"));
    page.eval("document.querySelector('[role=grid]').focus()");
    page.tab.press("ArrowDown");
    page.tab.press("ArrowLeft");
    page.until(&format!("{left} > {at} + 100"));
    page.enter("Filter keys", "job1");
    page.until("document.querySelectorAll('.lock-bar').length === 1");
    page.is_clean();
}

#[test]
fn a_semaphore_is_one_row_with_its_holders() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    let mut holders = serde_json::Map::new();
    for name in ["one", "two", "three"] {
        let session = Session::ttl(Duration::from_secs(60)).name(name);
        let id = page
            .server
            .sessions()
            .create(session)
            .expect("it is created");
        page.server
            .kv()
            .acquire(format!("sem/{id}"), "x", &id)
            .expect("it contends");
        if name != "three" {
            holders.insert(id, json!(true));
        }
    }
    page.server.kv().put(
        "sem/.lock",
        json!({ "Limit": 2, "Holders": holders }).to_string(),
    );
    page.sees("2 of 2");
    page.until("document.querySelectorAll('.rows > .row').length === 1 && document.querySelectorAll('.lock-bar.open').length === 2");
    holders.clear();
    page.server.kv().put(
        "sem/.lock",
        json!({ "Limit": 2, "Holders": holders }).to_string(),
    );
    page.sees("0 of 2");
    page.is_clean();
}

/// Locks of a state that was loaded have no records.
#[test]
fn what_is_held_is_shown_without_a_history() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    let id = page
        .server
        .sessions()
        .create(Session::ttl(Duration::from_secs(60)).name("old"))
        .expect("it is created");
    page.acquire("job", &id);
    page.server.clear_history();
    page.open("dc1/locks");
    page.until("document.querySelector('.lock-bar.open')?.textContent === 'old'");
    page.is_clean();
}
