//! Busy loops, sessions that pile up, and missed values.

use std::fmt::Write as _;

use proconsul_explore::Property::{BusyLoop, MissedValue, SessionsPileUp};

use crate::runs::{breaks, is_right, says};

/// Returns so many requests a second, for so many seconds.
fn sent(rate: u32, seconds: u32, request: &str) -> String {
    let mut run = "guard work/\n".to_owned();
    for number in 0..rate * seconds {
        let at = f64::from(number) / f64::from(rate);
        writeln!(run, "{at:.6} a {request}").expect("it is a text");
    }
    run
}

#[test]
fn requests_without_end_are_a_busy_loop() {
    breaks(&sent(101, 4, "get config?index=0 in 0"), &[BusyLoop]);
    says(
        &sent(250, 4, "get config"),
        BusyLoop,
        "busy-loop: at 1.200s a sent 301 requests within 3 s, the last of them /v1/kv/config",
    );
    // All at one moment, on a clock that stands still.
    breaks(
        &format!("{}\n", "0 a get config\n".repeat(301)),
        &[BusyLoop],
    );
    breaks(&sent(250, 4, "put config fails 500"), &[BusyLoop]);
    breaks(&sent(250, 4, "txn work/item fails 409"), &[BusyLoop]);
}

#[test]
fn who_polls_or_begins_with_a_burst_sends_no_requests_without_end() {
    is_right(&sent(10, 50, "get config"));
    is_right(&sent(99, 10, "get config"));
    is_right(&sent(290, 1, "get config"));
    // The holder's work.
    is_right(&sent(400, 4, "put work/item"));
    is_right(&sent(400, 4, "txn work/item"));
    // Two contenders, and nobody.
    is_right(&format!(
        "{}{}",
        sent(90, 4, "get config"),
        sent(90, 4, "get config").replace(" a ", " b ")
    ));
    is_right(&sent(400, 4, "get config").replace(" a ", " - "));
}

/// `a` makes four sessions, and does nothing with them.
const PILE: &str = "
    0 a create s1 0
    1 a create s2 0
    2 a create s3 10
    3 a create s4 10";

#[test]
fn sessions_that_are_left_behind_pile_up() {
    breaks(PILE, &[SessionsPileUp]);
    says(
        PILE,
        SessionsPileUp,
        "sessions-pile-up: at 60.000s at the end a has 4 sessions that hold no key and that it has not destroyed",
    );
    breaks(
        &format!("{PILE}\n4 a renew s4\n5 b destroy s1 fails 500"),
        &[SessionsPileUp],
    );
    is_right(&PILE.replace("3 a create", "3 b create"));
    is_right(&PILE.replace("3 a create", "3 - create"));
    is_right(&format!("{PILE}\n23 - expires s4"));
    is_right(&format!("{PILE}\n23 a destroy s4"));
    // It has tried to.
    is_right(&format!("{PILE}\n23 a destroy s4 cut").replace("cut", "fails 500"));
}

#[test]
fn sessions_that_a_contender_needs_or_does_not_know_do_not_pile_up() {
    is_right(&format!("{PILE}\n5 a acquire lock s4"));
    breaks(
        &format!("{PILE}\n5 a acquire lock s4\n6 a release lock s4"),
        &[SessionsPileUp],
    );
    is_right(&PILE.replace("s4 10", "s4 10 cut"));
    is_right(&PILE.replace("s4 10", "s4 10 open"));
    // They are of earlier starts.
    is_right(&format!("{PILE}\n2.5 > a create 4: restart a 0.4s"));
    breaks(
        &format!(
            "{PILE}\n2.5 > a create 4: restart a 0.4s\n4 a create s5 0\n5 a create s6 0\n6 a create s7 0"
        ),
        &[SessionsPileUp],
    );
}

/// `a` watches a key, and the key changes at 5 s.
const WATCHED: &str = "
    0 a get config
    1 a get config?index=900 open
    5 - put config";

#[test]
fn a_watch_shows_a_change_within_the_bound() {
    breaks(WATCHED, &[MissedValue]);
    says(
        WATCHED,
        MissedValue,
        "missed-value: at 17.000s a, which watches \"config\", has not read its change of 5.000s",
    );
    breaks(&WATCHED.replace("put", "delete"), &[MissedValue]);
    breaks(&WATCHED.replace("- put", "b put"), &[MissedValue]);
    breaks(
        &WATCHED.replace("config?index=900 open", "config?index=900 in 17"),
        &[MissedValue],
    );
    // Changes never end.
    breaks(
        &format!("{WATCHED}\n6 - put config\n30 - put config\n59 - put config"),
        &[MissedValue],
    );
    is_right(&WATCHED.replace("open", "in 4"));
    is_right(&format!("end 16.9\n{WATCHED}"));
    is_right(&WATCHED.replace("5 - put config", "5 - put other"));
    is_right(&WATCHED.replace("- put", "a put"));
    // It reads it otherwise, or tries to acquire it.
    let tries = format!("{WATCHED}\n0 a create s9 10\n16 a reject");
    is_right(&format!("{tries} config s9"));
    breaks(&format!("{tries} other s9"), &[MissedValue]);
    is_right(&format!("{WATCHED}\n16 a get config\n58 a get config"));
    is_right(&format!("{WATCHED}\n16 a get con?recurse"));
    breaks(
        &format!("{WATCHED}\n16 a get config fails 500"),
        &[MissedValue],
    );
    breaks(&format!("{WATCHED}\n16 a get other"), &[MissedValue]);
}

#[test]
fn a_service_is_watched_too() {
    let run = |path: &str| {
        format!("1 a get {path}?passing=1&index=900 open\n5 ! changed /v1/health/service/web")
    };
    breaks(&run("/v1/health/service/web"), &[MissedValue]);
    says(
        &run("/v1/health/service/web"),
        MissedValue,
        "missed-value: at 17.000s a, which watches \"/v1/health/service/web\", has not read its change of 5.000s",
    );
    is_right(&run("/v1/health/service/db"));
    is_right(&run("/v1/health/service/web").replace("open", "in 4"));
    is_right(&format!(
        "{}\n10 a get /v1/health/service/web",
        run("/v1/health/service/web")
    ));
    is_right(&format!("{}\n0.5 - lower", run("/v1/health/service/web")));
}

#[test]
fn who_does_not_wait_misses_nothing() {
    // It has stopped to watch.
    is_right(&WATCHED.replace("open", "in 3"));
    is_right(&WATCHED.replace("open", "cut 3"));
    // The change came before.
    is_right(&WATCHED.replace("1 a get config?index=900", "6 a get config?index=900"));
    // Consul has no HEAD for keys.
    is_right(&WATCHED.replace(
        "1 a get config?index=900 open",
        "1 a get config?index=900 fails 405",
    ));
}

#[test]
fn who_cannot_read_misses_nothing() {
    let run = |rest: &str| format!("end 29\n{WATCHED}\n{rest}");
    is_right(&run("16 > b read 1: silence a 2s").replace("end 29", "end 20"));
    is_right(&run("16 > b read 1: pause a 2s"));
    is_right(&run("6 > b read 1: lose-leader").replace("end 29", "end 17.1"));
    is_right(&run("1 > a watch 1: hold"));
    // Its index is of before all indexes went back.
    is_right(&run("1 > a watch 1: rebuild").replace("open", "held"));
    is_right(&run("0.5 > b read 1: rebuild\n0.5 - lower"));
    // A write shows no index, and they go back once more.
    is_right(&run("0.5 - lower\n0.7 a put config"));
    is_right(&run("0.5 - lower\n0.7 a get config\n0.9 - lower"));
    // What was missed before they went back.
    breaks(
        &run("20 - lower").replace("open", "in 19.1"),
        &[MissedValue],
    );
    // A server that has nothing yet never answers, but only who allows that.
    let stale = run("1 > a watch 1: empty").replace("index=900", "stale&index=900");
    is_right(&stale);
    breaks(&run("1 > a watch 1: empty"), &[MissedValue]);
    // It has seen the new ones.
    breaks(
        &run("0.5 > b read 1: rebuild\n0.5 - lower\n0.7 a get config"),
        &[MissedValue],
    );
    // What was open when they went back is answered at once, and shows them.
    breaks(
        &run("0.5 > b read 1: rebuild\n0.5 - lower\n0.1 a get config?index=900 in 0.4"),
        &[MissedValue],
    );
    // That answer was made before.
    is_right(&run(
        "0.5 > b read 1: rebuild\n0.5 - lower\n0.1 a get config?index=900 in 0.5\n0.1 > a watch 1: delay-response 0.5s",
    ));
}

#[test]
fn a_prefix_is_watched_too() {
    let run = |target: &str, change: &str| format!("1 a get {target} open\n5 - {change}");
    for target in [
        "con?recurse&index=900",
        "?recurse&index=9",
        "con?keys&index=900",
    ] {
        breaks(&run(target, "put config"), &[MissedValue]);
        is_right(&run(target, "put other").replace("?recurse&index=9 ", "oth?index=9 "));
        // Consul shows a deletion late where the index of the prefix goes back by it.
        is_right(&run(target, "delete config"));
    }
    breaks(
        &run("jobs%2Fconfig?index=900", "put jobs/config"),
        &[MissedValue],
    );
}
