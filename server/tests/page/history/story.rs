//! The story of a lock: a click on its bar tells it, and it is copied, linked and saved.

use std::time::Duration;

use proconsul::Server;
use serde_json::json;

use super::locks::{acquire, worker};
use crate::support::{Page, send};

/// A name that would be an element if a name were ever taken for HTML.
const SECOND: &str = "worker-2<img src=x onerror=owned=1>";

/// Finds the only bar that has ended.
const LOST: &str = "document.querySelector('.side .lock-bar:not(.open)')";

fn renew(server: &Server, session: &str) {
    let target = format!("/v1/session/renew/{session}");
    let answer = send(server, "PUT", &target, "");
    assert!(answer.contains("200 OK"), "{answer}");
}

/// The first worker renews once, and is killed; the second is refused in the middle of that and in the lock-delay, and is next.
fn lose_a_lock(server: &Server) {
    let (first, second) = (worker(server, "worker-1"), worker(server, SECOND));
    assert!(acquire(server, &first));
    server.advance(Duration::from_secs(10));
    renew(server, &first);
    for _ in 0..2 {
        renew(server, &second);
        server.advance(Duration::from_secs(10));
        for _ in 0..3 {
            assert!(!acquire(server, &second));
        }
    }
    renew(server, &second);
    server.advance(Duration::from_secs(10));
    assert!(!acquire(server, &second), "the lock-delay runs");
    server.advance(Duration::from_secs(15));
    assert!(acquire(server, &second));
}

fn tells(page: &mut Page, texts: &[&str]) {
    for text in texts {
        page.until(&format!(
            "document.querySelector('.pane').innerText.includes({})",
            json!(text)
        ));
    }
}

/// The list of keys that are held can be there before the records of how that came.
#[test]
fn late_records_take_the_place_of_what_was_only_seen_to_be_held() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    page.until(
        "document.querySelector('.timeline').innerText.includes('No key has been locked yet')",
    );
    let bars = page.eval(
        "import('/ui/assets/data/locklog.js').then(({ addHeld, addLockRecord, locks }) => {
            const seen = { key: 'k', session: 'second' };
            const add = (number, at_ms, kind, session) =>
                addLockRecord({ number, at_ms, kind, key: 'k', session, cause: 'why' });
            addHeld([seen], 50, performance.now());
            add(1001, 10, 'acquired', 'first');
            add(1002, 40, 'released', 'first');
            addHeld([seen], 50, performance.now());
            add(1003, 45, 'acquired', 'second');
            return locks.rows.get('k').bars.map((bar) => [bar.session, bar.from, bar.to, bar.began]);
        })",
    );
    let expected = json!([["first", 10, 40, 1001], ["second", 45, null, 1003]]);
    assert_eq!(bars, expected);
}

#[test]
fn a_click_on_a_bar_tells_why_the_lock_was_lost() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    lose_a_lock(&page.server);
    page.until(&format!(
        "{LOST} && document.querySelector('.lock-bar.open')"
    ));
    page.eval("window.isSame = true");
    // Refused acquires in the middle of the bar do not keep a click from it.
    page.until("document.querySelectorAll('.lock-refused').length === 3");
    page.eval(&format!(
        "(() => {{ const at = {LOST}.getBoundingClientRect();
            document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2).click(); }})()"
    ));
    let story = [
        "worker-1 held service/task1/leader for 40.0s",
        "TTL 15.0s, on expiry: delete",
        "request 3: PUT /v1/kv/service/task1/leader?acquire=worker-1",
        "Renewed once",
        "the next one due by 0:00:25.000",
        "6 acquires refused while it was held",
        "worker-2<img src=x onerror=owned=1> ×6",
        "Lost: TTL expired, after 40.0s",
        "Lock-delay of 15.0s: nobody can acquire it until 0:00:55.000",
        "1 acquire refused in the lock-delay",
        "acquired it next, 15.0s later",
    ];
    tells(&mut page, &story);
    page.until(&format!("{LOST}.ariaCurrent === 'true' && isSame"));
    // The address tells it again.
    let address = page.eval("location.pathname.slice(4) + location.search");
    page.open(address.as_str().expect("an address"));
    tells(&mut page, &story);
    page.eval("[...document.querySelectorAll('.pane .lock-story strong a')].at(-1).click()");
    tells(
        &mut page,
        &[
            "holds service/task1/leader",
            "Still held; the session expires in 5.0s",
        ],
    );
    page.press("Close");
    page.until("!document.querySelector('.pane').checkVisibility()");
    page.is_clean();
}

#[test]
fn a_story_is_copied_and_saved_as_a_file_without_scripts() {
    let Some(mut page) = Page::frozen("dc1/locks") else {
        return;
    };
    lose_a_lock(&page.server);
    page.until(LOST);
    page.eval(&format!("{LOST}.click()"));
    page.eval(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } });
        const url = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return url(blob); };",
    );
    page.press("Copy as text");
    page.until("copied.includes('0:00:40.000   Lost: TTL expired, after 40.0s')");
    page.press("Copy link");
    page.until("copied === location.href");
    page.press("Save as one HTML file");
    page.until("saved.endsWith('</html>\\n')");
    let saved = page.eval("saved");
    let path = std::env::temp_dir().join(format!("proconsul-story-{}.html", std::process::id()));
    std::fs::write(&path, saved.as_str().expect("a text")).expect("a file");
    page.tab.go(&format!("file://{}", path.display()));
    page.tab.until(
        "document.documentElement.className === 'saved' && document.readyState === 'complete'",
    );
    std::fs::remove_file(&path).expect("it is there");
    let found = page.eval(
        "[document.querySelectorAll('script, img, a, link').length, document.body.innerText.includes('Lost: TTL expired'),
            document.querySelectorAll('.track .lock-bar').length, document.body.innerText.includes('worker-2<img src=x onerror=owned=1> \u{d7}6'),
            getComputedStyle(document.querySelector('.lock-bar')).position]",
    );
    assert_eq!(found, json!([0, true, 2, true, "absolute"]));
    page.is_clean();
}

/// Hundreds of refused acquires and dozens of bars are few stops for Tab; arrows go from bar to bar.
#[test]
fn a_long_lock_has_few_stops_for_the_keyboard() {
    let Some(mut page) = Page::frozen("") else {
        return;
    };
    let (first, second) = (page.session("worker-1"), page.session("worker-2"));
    for _ in 0..30 {
        page.acquire("job", &first);
        for _ in 0..10 {
            page.server
                .kv()
                .acquire("job", "x", &second)
                .expect("it is refused");
        }
        page.server.advance(Duration::from_secs(1));
        page.server
            .kv()
            .release("job", "x", &first)
            .expect("it is released");
        page.server.advance(Duration::from_secs(1));
        for session in [&first, &second] {
            page.server.sessions().renew(session).expect("it lives");
        }
    }
    page.open("dc1/locks");
    page.until("document.querySelectorAll('.lock-bar').length >= 29");
    let stops = page.eval("[...document.querySelectorAll('main :is(a, button, input, summary, [tabindex])')].filter((one) => one.tabIndex >= 0).length");
    assert!(stops.as_u64().is_some_and(|stops| stops < 15), "{stops}");
    page.eval("document.querySelector('.lock-bar[tabindex=\"0\"]').focus()");
    page.tab.press("ArrowLeft");
    page.tab.press("ArrowLeft");
    page.until("document.activeElement.ariaLabel?.includes('from 0:00:54.000')");
    page.tab.press("Enter");
    tells(
        &mut page,
        &[
            "Released by worker-1, after 1.0s",
            "10 acquires refused while it was held",
        ],
    );
    page.is_clean();
}

/// Time that passes moves the layers, and what is held grows; no other bar is touched.
#[test]
fn only_layers_move() {
    let Some(mut page) = Page::of(Server::builder(), "dc1/locks") else {
        return;
    };
    let id = page.session("worker-1");
    page.acquire("job", &id);
    page.server
        .kv()
        .release("job", "x", &id)
        .expect("it is released");
    page.acquire("job", &id);
    page.until("document.querySelectorAll('.lock-bar').length === 2");
    let touched = page.eval(
        "new Promise((done) => {
            const touched = new Set();
            const seen = new MutationObserver((all) => {
                for (const { target } of all) touched.add(target.className);
                if (!touched.has('lock-bar open')) return;
                seen.disconnect();
                done([...touched].filter((name) => /lock-|tick/.test(name)));
            });
            seen.observe(document.querySelector('.timeline'), { subtree: true, attributes: true, childList: true, characterData: true });
        })",
    );
    assert_eq!(touched, json!(["lock-bar open"]));
    page.is_clean();
}
