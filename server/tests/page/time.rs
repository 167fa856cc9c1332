//! Time: reading it, and moving it.

use std::time::Duration;

use proconsul::Server;
use proconsul::control::Session;
use proconsul_engine::clock::Rate;

use crate::support::Page;

#[test]
fn the_clock_is_moved_frozen_and_resumed() {
    let Some(mut page) = Page::frozen("dc1/time") else {
        return;
    };
    page.sees("The clock stands still.");
    let id = page.session("worker-a");
    page.acquire("job", &id);
    page.until("row('expires')?.textContent.includes('20.0s')");
    page.enter("Advance by", "5");
    page.press("Advance");
    page.sees("It caused nothing");
    page.until("document.querySelector('.clock-face').textContent.startsWith('0:00:05.000')");
    page.press("To the next deadline");
    page.sees("session worker-a ended: its TTL ran out");
    page.until("row('the lock-delay of job ends')");
    page.press("+1m");
    page.sees("can be acquired");
    page.sees("Nothing will happen by itself.");
    page.enter("Advance by", "soon");
    page.press("Advance");
    page.until("document.querySelector('.notice.bad')");
    page.press("Resume");
    page.sees("The clock runs as the machine's does.");
    assert_eq!(page.server.rate(), Rate::REAL);
    page.press("Freeze");
    page.sees("The clock stands still.");
    page.enter("Rate", "1000");
    page.press("Set the rate");
    page.sees("1000 times as fast");
    page.is_clean();
}

#[test]
fn a_clock_that_is_a_thousand_times_faster_is_followed() {
    let Some(mut page) = Page::of(Server::builder(), "dc1/sessions") else {
        return;
    };
    page.server
        .set_rate(Rate::new(1000.0).expect("it is in range"));
    for number in 0..20 {
        let session = Session::ttl(Duration::from_secs(3600)).name(format!("worker-{number}"));
        page.server
            .sessions()
            .create(session)
            .expect("it is created");
    }
    page.until("document.querySelector('.watch').textContent.includes('×1000')");
    page.until("document.querySelectorAll('.rows > .row').length > 0");
    page.sees("There are no sessions.");
    page.is_clean();
}

#[test]
fn times_are_shown_by_the_clock_that_is_chosen() {
    let epoch = "2026-01-01T00:00:00Z".parse().expect("a time");
    let Some(mut page) = Page::of(Server::builder().frozen().epoch(epoch), "dc1/history") else {
        return;
    };
    page.server.advance(Duration::from_secs(3723));
    page.server.kv().put("a", "x");
    let shown = "row('\"a\" written')?.querySelector('time').textContent";
    page.until(&format!("{shown} === '1:02:03.000'"));
    page.enter("Times", "utc");
    page.until(&format!("{shown} === '01:02:03.000Z'"));
    page.until(
        "row('\"a\" written').querySelector('time').dateTime === '2026-01-01T01:02:03.000Z'",
    );
    page.enter("Times", "ago");
    page.server.advance(Duration::from_secs(60));
    page.until(&format!("{shown} === '1m 00s ago'"));
    page.enter("Times", "start");
    page.is_clean();
}
