//! What the page asks for: the records that the view in sight needs, and all of them while the history is shown.

use std::time::Duration;

use super::speed::sees_record;
use crate::support::{Page, js, send};

/// Goes to another view as a reader does, and waits until the page follows what that view needs.
#[track_caller]
fn turn_to(page: &mut Page, view: &str) {
    page.tab.listen();
    let view = js(view);
    page.eval(&format!("named('nav a', {view}).click()"));
    page.tab.until_heard("begin");
    page.tab.heard.clear();
}

/// Writes a key and reads it, which makes five records.
fn use_key(page: &Page, key: &str) {
    send(&page.server, "PUT", &format!("/v1/kv/{key}"), key);
    send(&page.server, "GET", &format!("/v1/kv/{key}"), "");
}

/// Fails unless the page has every record of the server once.
#[track_caller]
fn has_all_records(page: &mut Page) {
    let last = page.server.last_record();
    sees_record(page, last);
    let numbers = page.eval(
        "import('/ui/assets/data/records.js').then(({ records: { all } }) => all.map((one) => one.number))",
    );
    let all: Vec<u64> = (1..=last).collect();
    assert_eq!(numbers, serde_json::json!(all));
}

#[test]
fn a_view_gets_the_records_that_it_needs() {
    let Some(mut page) = Page::frozen("dc1/services") else {
        return;
    };
    turn_to(&mut page, "Keys");
    use_key(&page, "one");
    use_key(&page, "two");
    page.until("row('one') && row('two')");
    // The rows may come from the list that the view has read before.
    page.tab.until_heard("key-written");
    let others = ["request", "answer"];
    let is_other = |one: &String| others.contains(&one.as_str());
    assert!(!page.tab.heard.iter().any(is_other), "{:?}", page.tab.heard);

    // What happened before is there when the history is opened, and what happens then.
    turn_to(&mut page, "History");
    has_all_records(&mut page);
    use_key(&page, "three");
    has_all_records(&mut page);
    page.tab.until_heard("answer");

    // And less again when it is left, without a gap in what it shows later.
    turn_to(&mut page, "Keys");
    page.until("row('three')");
    use_key(&page, "four");
    page.until("row('four')");
    assert!(!page.tab.heard.iter().any(is_other), "{:?}", page.tab.heard);
    turn_to(&mut page, "History");
    has_all_records(&mut page);
    page.is_clean();
}

/// A link to a record of long ago leads there, although the page has only the last ones.
#[test]
fn an_old_record_is_read_when_a_link_leads_to_it() {
    let Some(mut page) = Page::frozen("dc1/kv") else {
        return;
    };
    page.server.kv().put("old", "x");
    let old = page.server.last_record();
    for number in 0..8000 {
        page.server.kv().put("new", number.to_string());
    }
    page.open(&format!("dc1/history?at={old}"));
    page.until("document.querySelector('.pane').innerText.includes('\"old\" written')");
    page.until("row('\"old\" written')?.getAttribute('aria-selected') === 'true'");
    // The list goes on from there, and behind a gap.
    let last = page.server.last_record();
    page.until(&format!(
        "(document.querySelector('.table').scrollTop = 1e9) && row('{last}')"
    ));
    page.is_clean();
}

/// What happens between two views is in neither's first answer, and is not lost.
#[test]
fn nothing_is_lost_between_views() {
    let Some(mut page) = Page::frozen("dc1/kv") else {
        return;
    };
    for round in 0..5 {
        for (view, path) in [("Services", "services"), ("Locks", "locks"), ("Keys", "kv")] {
            page.eval(&format!("named('nav a', {}).click()", js(view)));
            let key = format!("{path}-{round}");
            let id = page.session(&key);
            page.acquire(&key, &id);
            page.until(&format!("location.pathname.endsWith('/{path}')"));
        }
    }
    for round in 0..5 {
        for path in ["services", "locks", "kv"] {
            page.until(&format!(
                "row('{path}-{round}')?.textContent.includes('held')"
            ));
        }
    }
    page.eval("named('nav a', 'Locks').click()");
    page.until("document.querySelectorAll('.lock-bar.open').length === 15");
    page.server.advance(Duration::from_secs(20));
    page.until("document.querySelectorAll('.lock-bar').length === 15 && !document.querySelector('.lock-bar.open')");
    page.is_clean();
}
