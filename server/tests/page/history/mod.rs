//! The history, live; and the requests that are blocked.

pub(super) mod locks;
pub(super) mod speed;
pub(super) mod story;
pub(super) mod stream;

use std::time::Duration;

use proconsul::control::Session;
use proconsul::history::{Filter, Kind};
use proconsul_engine::BlockedOn;
use serde_json::json;

use crate::support::{Page, send};

#[test]
fn records_come_as_they_are_made_and_are_filtered() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    send(&page.server, "PUT", "/v1/kv/one", "x");
    page.until("row('\"one\" written')");
    let id = page.session("worker-a");
    page.acquire("two", &id);
    page.until("row('acquired by worker-a')");
    page.enter("Kind", "locks");
    page.until("document.querySelectorAll('.rows > .row').length === 1");
    page.enter("Kind", "");
    page.enter("Key", "one");
    page.until("row('\"one\" written') && !row('worker-a')");
    page.enter("Key", "on");
    page.until("!document.querySelector('.rows > .row')");
    page.enter("Key", "on*");
    page.until("row('\"one\" written') && !row('worker-a')");
    page.enter("Key", "");
    page.enter("Session", &id);
    page.until("row('worker-a') && !row('\"one\" written')");
    page.enter("Session", "");
    page.enter("Text", "ANSWERED 200");
    page.until("row('answered 200') && document.querySelectorAll('.rows > .row').length === 1");
    assert_eq!(
        page.eval("new URLSearchParams(location.search).get('text')"),
        json!("ANSWERED 200")
    );
    page.is_clean();
}

#[test]
fn who_reads_back_is_left_there() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    for number in 0..200 {
        page.server.kv().put(format!("key-{number}"), "x");
    }
    page.until("row('key-199') && button('Following').ariaPressed === 'true'");
    page.eval("document.querySelector('[role=grid]').focus()");
    page.tab.press("PageUp");
    page.tab.press("PageUp");
    page.until("button('Following').ariaPressed === 'false'");
    let place = page.eval("document.querySelector('[role=grid]').scrollTop");
    assert_ne!(place, json!(0), "it goes on from the rows in sight");
    page.server.kv().put("later", "x");
    page.until("seen('201 of 201 records') || seen('202 of 202 records')");
    assert_eq!(
        page.eval("document.querySelector('[role=grid]').scrollTop"),
        place
    );
    page.is_clean();
}

#[test]
fn a_record_in_sight_shows_what_it_causes_later() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    let id = page.session("worker-a");
    page.acquire("job", &id);
    page.click_row("acquired by worker-a");
    page.until("document.querySelector('.pane h2')?.textContent.includes('acquired')");
    page.server.advance(Duration::from_secs(20));
    page.until(
        "[...document.querySelectorAll('.pane dt')].some((one) => one.textContent === 'Lost by')",
    );
    page.eval("[...document.querySelectorAll('.pane dt')].find((one) => one.textContent === 'Lost by').nextSibling.querySelector('a').click()");
    page.until("document.querySelector('.pane h2')?.textContent.includes('released')");
    page.is_clean();
}

#[test]
fn a_record_leads_to_its_cause_and_to_what_it_caused() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    let id = page
        .server
        .sessions()
        .create(Session::ttl(Duration::from_secs(10)))
        .expect("it is created");
    page.acquire("job", &id);
    page.server.advance(Duration::from_secs(20));
    page.click_row("\"job\" released");
    page.until("document.querySelector('.pane h2')?.textContent.includes('released')");
    page.eval("[...document.querySelectorAll('.pane a')].find((one) => one.textContent.startsWith('#')).click()");
    page.until("document.querySelector('.pane h2')?.textContent.includes('session-ended')");
    page.until("[...document.querySelectorAll('.pane li .badge')].some((one) => one.textContent === 'lock-delay-began')");
    page.until("document.querySelector('.pane').innerText.includes('The server’s clock, or the program that the server is a part of.')");
    // Of two requests with the same target, the one that did it.
    send(&page.server, "PUT", "/v1/kv/other", "x");
    send(&page.server, "PUT", "/v1/kv/other", "x");
    let requests = page.server.history(&Filter::of(Kind::Request));
    page.click_row("\"other\" written");
    let cause = requests[0].number;
    page.until(&format!(
        "document.querySelector('.pane li')?.innerText.startsWith('#{cause} ')"
    ));
    page.until("document.querySelector('.pane')?.innerText.includes('PUT /v1/kv/other')");
    page.eval("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    page.press("Copy as JSON");
    page.until("JSON.parse(window.copied).kind === 'key-written' && button('Copied')");
    page.is_clean();
}

#[test]
fn the_history_is_cleared_after_a_question() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    page.server.kv().put("one", "x");
    page.until("row('\"one\" written')");
    page.press("Clear");
    page.confirm();
    page.sees("The history is empty.");
    page.until("!row('\"one\" written')");
    assert_eq!(page.server.history_text(), "");
    page.is_clean();
}

#[test]
fn a_blocked_request_says_what_would_wake_it() {
    let Some(mut page) = Page::frozen("dc1/blocked") else {
        return;
    };
    page.sees("No request is blocked.");
    page.server.kv().put("job", "x");
    let target = format!("/v1/kv/job?index={}&wait=60s", page.server.index());
    let patience = Duration::from_secs(20);
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| send(&page.server, "GET", &target, ""));
        page.server
            .wait_blocked(&BlockedOn::prefix("job"), 1, patience)
            .expect("it blocks");
        page.tab.until("row('key \"job\"')");
        page.server.advance(Duration::from_secs(7));
        page.tab
            .until("row('key \"job\"').textContent.includes('7.0s')");
        page.server.kv().put("job", "y");
        assert!(waits.join().expect("it is answered").contains("200 OK"));
    });
    page.sees("No request is blocked.");
    page.is_clean();
}

/// Looking at a test changes nothing in it.
#[test]
fn what_the_page_reads_is_not_recorded() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    page.server.kv().put("a", "x");
    let before = page.server.history_text();
    for view in [
        "dc1/kv?key=a",
        "dc1/sessions",
        "dc1/services",
        "dc1/nodes",
        "dc1/checks",
        "dc1/more",
        "dc1/locks",
        "dc1/state",
    ] {
        page.open(view);
    }
    page.open("dc1/kv?key=a");
    page.until("document.querySelector('.value pre')?.textContent === 'x'");
    assert_eq!(page.server.history_text(), before);
    assert_eq!(page.server.open_requests(), 0);
    page.is_clean();
}

#[test]
fn an_answer_shows_its_whole_request() {
    let Some(mut page) = Page::frozen("dc1/history") else {
        return;
    };
    page.server.kv().put("job", "x");
    let target = format!("/v1/kv/job?index={}&wait=60s", page.server.index());
    let patience = Duration::from_secs(20);
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| send(&page.server, "GET", &target, ""));
        let blocked = page
            .server
            .wait_blocked(&BlockedOn::prefix("job"), 1, patience);
        blocked.expect("it blocks");
        page.server.advance(Duration::from_secs(7));
        page.server.kv().put("job", "y");
        assert!(waits.join().expect("it is answered").contains("200 OK"));
    });
    page.click_row("answered 200");
    page.sees("The whole request");
    page.until("[...document.querySelectorAll('.request-records .badge')].map((one) => one.textContent).join() === 'request,blocked,woken,answer'");
    page.until(
        "document.querySelector('.request-records [aria-current]').textContent.includes('+7.0s')",
    );
    page.is_clean();
}

/// What a reader has selected, pressed or focused stays while a busy test goes on.
#[test]
fn a_busy_server_takes_nothing_from_the_readers_hand() {
    let Some(mut page) = Page::frozen("dc1/sessions") else {
        return;
    };
    let id = page.session("worker-a");
    page.acquire("job", &id);
    let acquired = page
        .server
        .history(&Filter::of(Kind::Acquired))
        .remove(0)
        .number;
    for (view, drawn, text, control) in [
        (
            format!("dc1/sessions?id={id}"),
            "seen('Holds 1 key') && document.querySelector('.pane .countdown')",
            ".pane dd .mono",
            ".pane .danger",
        ),
        (
            "dc1/kv?key=job".to_owned(),
            "seen('Waiting for it') && document.querySelector('.card .countdown')",
            ".card dd .mono",
            ".pane .danger",
        ),
        (
            format!("dc1/history?at={acquired}"),
            "document.querySelector('.pane .session-link')?.textContent === 'worker-a'",
            ".pane dd",
            ".pane .actions button",
        ),
    ] {
        page.open(&view);
        page.until(drawn);
        page.eval(&format!(
            "window.control = document.querySelector('{control}');
            control.focus();
            getSelection().selectAllChildren(document.querySelector('{text}'));
            window.selected = getSelection().toString()"
        ));
        for round in 0..40 {
            for number in 0..10 {
                page.server
                    .kv()
                    .put(format!("other-{number}"), round.to_string());
            }
            page.server.sessions().renew(&id).expect("it lives");
            page.eval("new Promise((done) => setTimeout(done, 50))");
        }
        assert_eq!(
            page.eval("[selected !== '' && getSelection().toString() === selected, document.activeElement === control, control.isConnected]"),
            json!([true, true, true]),
            "{view}"
        );
    }
    page.is_clean();
}
