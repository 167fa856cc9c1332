//! The agent's cache on a clock that stands still (session.md 4.5c).

use std::time::Duration;

use proconsul::Version;

use crate::support::{Answer, Consul};

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DATACENTERS: &str = "/v1/catalog/datacenters?cached";

fn cache(answer: &Answer) -> (Option<&str>, Option<&str>) {
    (answer.header("X-Cache"), answer.header("Age"))
}

#[test]
fn entries_age_on_the_servers_clock() {
    let consul = Consul::frozen(Version::V1_8_7);
    let age_after = |passed: Duration, header: &str| {
        consul.server().advance(passed);
        let answer = consul.get_with(DATACENTERS, header);
        answer.header("Age").map(str::to_owned)
    };
    assert_eq!(age_after(SECOND, "Cache-Control: max-age=60"), None);
    assert_eq!(
        age_after(SECOND / 4, "Cache-Control: max-age=60").as_deref(),
        Some("0")
    );
    assert_eq!(
        age_after(SECOND / 4, "Cache-Control: max-age=60").as_deref(),
        Some("1")
    );
    assert_eq!(
        age_after(59 * SECOND, "Cache-Control: max-age=60").as_deref(),
        Some("60")
    );
    assert_eq!(
        age_after(SECOND / 2, "Cache-Control: max-age=60").as_deref(),
        Some("60")
    );
    assert_eq!(age_after(SECOND / 1000, "Cache-Control: max-age=60"), None);
    assert_eq!(age_after(2 * DAY, "Accept: */*").as_deref(), Some("172800"));
    assert_eq!(age_after(3 * DAY + SECOND, "Accept: */*"), None);
}

#[test]
fn waits_have_neither_jitter_nor_maximum_nor_default() {
    let consul = Consul::frozen(Version::V1_8_7);
    let read = "/v1/health/service/consul?cached";
    let index = consul.get(read).index();
    let mut blocked = consul.block(&format!("{read}&index={index}&wait=700s"));
    let mut endless = consul.block(&format!("{read}&index={index}"));
    consul.server().advance(700 * SECOND - SECOND / 1000);
    assert!(!consul.has_answered(&mut blocked));
    consul.server().advance(SECOND / 1000);
    assert_eq!(cache(&blocked.answer()), (Some("MISS"), None));
    consul.server().advance(30 * DAY);
    assert!(!consul.has_answered(&mut endless));
    let own = r#"{"Node":"n","Address":"::1","Service":{"Service":"consul"}}"#;
    consul.put("/v1/catalog/register", own).is(200, "true");
    assert_eq!(cache(&endless.answer()), (Some("MISS"), None));
}

#[test]
fn hits_are_current() {
    let consul = Consul::frozen(Version::V1_8_7);
    let read = "/v1/catalog/service/web?cached";
    assert_eq!(cache(consul.get(read).is(200, "[]")), (Some("MISS"), None));
    for number in 1..=3 {
        let body =
            format!(r#"{{"Node":"n{number}","Address":"::1","Service":{{"Service":"web"}}}}"#);
        consul.put("/v1/catalog/register", body).is(200, "true");
        let answer = consul.get(read);
        assert_eq!(cache(&answer), (Some("HIT"), Some("0")));
        assert_eq!(answer.text().matches(r#""Address":"::1""#).count(), number);
    }
}

#[test]
fn a_replaced_state_has_an_empty_cache() {
    let consul = Consul::frozen(Version::V1_8_7);
    let read = "/v1/catalog/services?cached";
    consul.get(read);
    assert_eq!(consul.get(read).header("X-Cache"), Some("HIT"));
    let dump = consul.server().dump();
    consul.server().load(&dump).expect("its own state");
    assert_eq!(consul.get(read).header("X-Cache"), Some("MISS"));
}
