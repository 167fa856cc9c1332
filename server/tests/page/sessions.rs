//! Sessions, their time, and ending them.

use std::time::Duration;

use proconsul::control::Session;
use serde_json::json;

use crate::support::Page;

#[test]
fn a_session_counts_down_on_the_servers_clock_and_is_ended() {
    let Some(mut page) = Page::frozen("dc1/sessions") else {
        return;
    };
    let id = page.session("worker-a");
    page.acquire("job", &id);
    page.until("row('worker-a')?.textContent.includes('20.0s')");
    page.server.advance(Duration::from_secs(5));
    page.until("row('worker-a')?.textContent.includes('15.0s')");
    page.until("row('worker-a')?.querySelector('.cell:last-child').textContent === '1'");
    page.click_row("worker-a");
    page.sees("Holds 1 key");
    page.press("Destroy");
    page.sees("It holds 1 key.");
    page.confirm();
    page.sees("is not there (any more)");
    assert!(page.server.sessions().list().is_empty());
    page.is_clean();
}

#[test]
fn a_session_is_expired_and_its_key_shows_the_lock_delay() {
    let Some(mut page) = Page::frozen("dc1/kv?key=job") else {
        return;
    };
    let id = page.session("worker-a");
    page.acquire("job", &id);
    page.sees("held");
    page.sees("worker-a");
    page.sees("20.0s");
    page.open(&format!("dc1/sessions?id={id}"));
    page.press("Expire now");
    page.sees("is not there (any more)");
    page.open("dc1/kv?key=job");
    page.sees("lock-delay");
    page.sees("15.0s");
    page.is_clean();
}

#[test]
fn ten_thousand_sessions_are_a_list_like_any_other() {
    let Some(mut page) = Page::frozen("dc1/sessions") else {
        return;
    };
    for number in 0..10_000 {
        let session = Session::ttl(Duration::from_secs(3600)).name(format!("worker-{number}"));
        page.server
            .sessions()
            .create(session)
            .expect("it is created");
    }
    page.sees("10,000 sessions");
    page.enter("Filter sessions", "worker-9999");
    page.until("row('worker-9999') && document.querySelectorAll('.rows > .row').length === 1");
    page.is_clean();
}

#[test]
fn what_is_selected_stays_selected() {
    let Some(mut page) = Page::frozen("dc1/sessions") else {
        return;
    };
    let id = page.session("worker-a");
    page.acquire("job", &id);
    // The names that a view shows last, when its data is complete: later, what is selected would be drawn again.
    for (view, place, complete) in [
        (
            format!("dc1/sessions?id={id}"),
            ".pane",
            ["Expires in", "Holds 1 key"].as_slice(),
        ),
        (
            "dc1/kv?key=job".to_owned(),
            ".card",
            &["Node", "Held since", "Expires in", "Waiting for it"],
        ),
    ] {
        page.open(&view);
        // A list beside it has columns of the same names.
        for name in complete {
            page.until(&format!(
                "[...document.querySelectorAll('{place} :is(dt, h3)')].some((one) => one.textContent === '{name}')"
            ));
        }
        let selected = format!("{place} dd .mono");
        page.until(&format!(
            "document.querySelector('{selected}')?.textContent === '{id}'"
        ));
        page.eval(&format!(
            "getSelection().selectAllChildren(document.querySelector('{selected}'))"
        ));
        page.server.sessions().renew(&id).expect("it lives");
        page.server.kv().put("other", "x");
        page.server.advance(Duration::from_secs(1));
        page.until("document.querySelector('.countdown').textContent === '19.0s'");
        assert_eq!(page.eval("getSelection().toString()"), json!(id));
    }
    page.is_clean();
}
