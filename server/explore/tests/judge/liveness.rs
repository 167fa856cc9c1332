//! Nobody leads, and a contender that ends.

use proconsul_explore::Property::{Ended, MissedValue, NobodyLeads};
use proconsul_explore::{Limits, Property, judge};

use crate::runs::{breaks, is_right, judged, run, says};

/// `a` loses the lock at 5 s. It is free from 6 s on.
const FREE: &str = "
    mute
    0 a create s1 10
    0 a acquire lock s1
    0 b create s2 10
    0 b reject lock s2
    5 > a renew 1 after acquire 1: destroy-sessions a
    5 - expires s1 lock
    5 - delay lock 1";

#[test]
fn a_free_lock_is_taken_within_the_bound() {
    breaks(FREE, &[NobodyLeads]);
    says(
        FREE,
        NobodyLeads,
        "nobody-leads: at 22.000s nobody took \"lock\", which has been free since 6.000s (it was lost at 5.000s: its session \
         ended: its TTL ran out), though a wants it",
    );
    breaks(&format!("{FREE}\n23 b acquire lock s2"), &[NobodyLeads]);
    is_right(&format!("{FREE}\n21.9 b acquire lock s2"));
    is_right(&format!("end 21.9\n{FREE}"));
    // `a` knows it sooner.
    breaks(
        &format!("end 18\n{FREE}\n5.5 a renew s1 fails 404"),
        &[NobodyLeads],
    );
    // The lock-delay ends early, which nobody can know, or is long.
    let known = format!("{FREE}\n5.5 a renew s1 fails 404\n5.5 - free lock");
    is_right(&format!("end 17.9\n{known}"));
    is_right(&format!(
        "end 62\n{}",
        FREE.replace("delay lock 1", "delay lock 60")
    ));
}

#[test]
fn who_is_not_well_cannot_take_it() {
    let run = |rest: &str| format!("end 29\n{FREE}\n{rest}");
    is_right(&run("5 > a read 9: silence a\n17 > a read 9: pause b 1s"));
    is_right(&run("5 > a read 9: cut a\n17 > a read 9: restart b 1s"));
    is_right(&run("17 > a read 9: lose-leader"));
    is_right(&run("5 > a read 9: revoke-token"));
    // A server that autopilot has removed does not vote at once: there is no leader until the other one is back.
    let lost = |lasts| {
        let lost = format!("0 > a read 9: restart-agent a {lasts}\n12 > b read 9: cut-agent b 30s");
        format!("end 44\n{FREE}\n{lost}")
    };
    is_right(&lost("7s"));
    breaks(&lost("2s"), &[NobodyLeads]);
    let ended = run("5 ! a ended by itself: exit status 0");
    breaks(&ended.replace("mute", "mute\ncontenders 1"), &[Ended]);
    // One of them is well for long enough.
    breaks(
        &run("16.5 > a read 9: silence a\n17 > a read 9: pause b 1s"),
        &[],
    );
    breaks(
        &run("5 > a read 9: silence a\n6 b get lock\n19 b get lock"),
        &[NobodyLeads],
    );
    breaks(&run("16.9 > a read 9: cut a 100ms"), &[NobodyLeads]);
}

#[test]
fn what_the_schedule_keeps_from_a_contender_excuses_it() {
    let away = format!("{FREE}\n5 > a read 9: silence a");
    // The watch of `b` is held, so that it cannot know.
    is_right(&format!(
        "{away}\n3 b get lock?index=5 held\n3 > b watch 1: hold"
    ));
    is_right(&format!(
        "end 44.9\n{away}\n3 b get lock?index=5 cut 30\n3 > b watch 1: delay 30s"
    ));
    breaks(
        &format!("end 46\n{away}\n3 b get lock?index=5 cut 30\n3 > b watch 1: delay 30s"),
        &[NobodyLeads],
    );
    for (outcome, action) in [
        ("in 30", "delay-response 30s"),
        ("fails 500 30", "error no-cluster-leader"),
    ] {
        let watch = format!("3 b get lock?index=5 {outcome}\n3 > b watch 1: {action}");
        is_right(&format!("end 44.9\n{away}\n{watch}"));
        breaks(
            &format!("end 46\n{away}\n{watch}\n34 b get lock"),
            &[NobodyLeads],
        );
    }
    // Its index is of before all indexes went back, so that Consul does not answer.
    is_right(
        &format!("{away}\n3 b get lock?index=5 open\n3 > b watch 1: rebuild")
            .replace("open", "held"),
    );
    // It has read another index since.
    breaks(
        &format!(
            "{away}\n3 > b read 1: rebuild\n3 - lower\n3.1 b get lock\n3.2 b get lock?index=500 open"
        ),
        &[NobodyLeads, MissedValue],
    );
}

#[test]
fn a_lock_that_nobody_wants_may_be_free() {
    let run = |rest: &str| {
        format!("mute\n0 a create s1 10\n0 a acquire lock s1\n0 b create s2 10\n{rest}")
    };
    for back in [
        "5 a release lock s1",
        "5 a destroy s1 lock",
        "5 a delete lock s1",
    ] {
        // Both have done their work, or have tried once.
        is_right(&run(&format!("0 b reject lock s2\n{back}")));
        is_right(&run(&format!(
            "{back}\n6 b acquire lock s2\n7 b release lock s2"
        )));
        // The holder has watched its own lock.
        is_right(&run(&format!(
            "0 b reject lock s2\n1 a get lock?index=5 in 4\n{back}"
        )));
        // Somebody waits for it, or asks again and again.
        breaks(
            &run(&format!("1 b get lock?index=5 in 4\n{back}")),
            &[NobodyLeads],
        );
        breaks(
            &run(&format!(
                "{back}\n10 b acquire lock s0 fails 500\n20 b acquire lock s0 fails 500"
            )),
            &[NobodyLeads],
        );
        // The last that it heard was an error.
        breaks(
            &run(&format!(
                "1 b reject lock s2\n2 b get lock fails 500\n{back}"
            )),
            &[NobodyLeads],
        );
        // The former holder itself asks again.
        breaks(
            &run(&format!("0 b reject lock s2\n{back}\n10 a get lock")),
            &[NobodyLeads],
        );
    }
    // Deleted by another.
    breaks(
        &run("0 b reject lock s2\n5 - loses lock s1"),
        &[NobodyLeads],
    );
}

#[test]
fn who_cannot_know_that_its_lock_is_lost_does_not_take_it_again() {
    let run = |rest: &str| {
        format!(
            "0 b create s2 10\n0 b reject lock s2\n0 a create s1 10\n0 a acquire lock s1\n0 a holds\n9 a renew s1
            10 > b read 1: delete-lock a\n10 - loses lock s1\n18 a renew s1\n27 a renew s1\n36 a renew s1\n{rest}"
        )
    };
    is_right(&format!("end 46\n{}", run("")));
    breaks(
        &format!("end 40\n{}", run("20 a get lock\n20.1 a lost")),
        &[NobodyLeads],
    );
    breaks(
        &format!("end 40\n{}", run("20 b get lock\n30 b get lock")),
        &[NobodyLeads],
    );
}

#[test]
fn a_key_that_one_contender_uses_is_nobodys_lock() {
    is_right(
        "mute\n0 a create s1 10\n0 a acquire members/a s1\n20 - expires s1 members/a\n21 b get members/?recurse",
    );
    is_right("mute\ncontenders 1\n0 a create s1 10\n0 a acquire sem/s1 s1\n20 - expires s1 sem/s1");
    breaks(
        "mute\ncontenders 1\n0 a create s1 10\n0 a acquire lock s1\n20 - expires s1 lock",
        &[NobodyLeads],
    );
    // A key of its own does not hide that it waits for the lock.
    breaks(
        &format!(
            "{FREE}\n5 > a read 9: silence a\n1 b acquire members/b s2\n10 b get lock\n17 b get lock"
        ),
        &[NobodyLeads],
    );
    // The holder of the lock watches a key of another.
    is_right(
        "mute\n0 b create s2 10\n0 b acquire members/b s2\n0 a create s1 10\n0 a acquire lock s1\n0 b reject lock s2
        1 a get members/b?index=5 in 19\n1 > b renew 1: silence b\n20 - expires s2 members/b\n20 a get members/b?index=9 in 39",
    );
}

/// `a` acquires the lock, and its response is lost.
const UNKNOWN: &str = "
    0 a create s1 10
    0 b create s2 10
    0 a acquire lock s1 cut
    0 > a acquire 1: lose-response
    0 b reject lock s2";

#[test]
fn a_holder_knows_that_it_holds_the_lock() {
    let renewed =
        format!("end 28\n{UNKNOWN}\n5 a renew s1\n10 a renew s1\n15 a renew s1\n20 a renew s1");
    breaks(&renewed, &[NobodyLeads]);
    says(
        &renewed,
        NobodyLeads,
        "nobody-leads: at 12.000s a has held \"lock\" since 0.000s, and no contender has believed since 0.000s \
         that it holds a lock",
    );
    is_right(&format!("{renewed}\n11 a again lock s1\n11 a holds"));
    is_right(&format!(
        "{renewed}\n11 a destroy s1 lock\n12 b acquire lock s2\n12 b holds"
    ));
    is_right(&format!("mute\n{renewed}"));
    // It leads, and the lock is another one.
    is_right(&format!(
        "{renewed}\n1 a create s3 10\n1 a acquire other s3\n1 a holds\n1 b reject other s2"
    ));
}

#[test]
fn a_session_that_nobody_renews_is_waited_for() {
    is_right(&format!(
        "end 31\n{UNKNOWN}\n20 - expires s1 lock\n20 b acquire lock s2\n20 b holds"
    ));
    // The TTL starts anew with a new leader.
    is_right(&format!(
        "end 41\n{UNKNOWN}\n15 > b renew 1: change-leader\n15 - leader\n16 a create s3 10"
    ));
    // The server should have ended it.
    breaks(&format!("end 33\n{UNKNOWN}"), &[NobodyLeads]);
    // Without a TTL it never ends.
    breaks(
        &format!("end 29\n{}", UNKNOWN.replace("s1 10", "s1 0")),
        &[NobodyLeads],
    );
}

#[test]
fn a_contender_that_is_started_anew_waits_for_its_old_session() {
    let run = |ttl: &str, rest: &str| {
        format!(
            "0 a create s1 {ttl}\n0 b create s2 10\n0 a acquire lock s1\n0 a holds\n0 b reject lock s2\n4 a renew s1
            5 > a renew 2 after acquire 1: restart a 1s\n7 a create s3 10\n7 a reject lock s3\n{rest}"
        )
    };
    is_right(&run(
        "10",
        "24 - expires s1 lock\n25 b acquire lock s2\n25 b holds",
    ));
    is_right(&run(
        "10",
        "24 - expires s1 lock\n25 a acquire lock s3\n25 a holds",
    ));
    // A session without a TTL holds the lock for good.
    breaks(&format!("end 19\n{}", run("0", "")), &[NobodyLeads]);
    is_right(&format!("end 17.9\n{}", run("0", "")));
}

#[test]
fn a_contender_does_not_end_by_itself() {
    let ended = "5 ! a ended by itself: exit status 1: no leader";
    breaks(ended, &[Ended]);
    says(
        ended,
        Ended,
        "ended: at 5.000s a ended: exit status 1: no leader",
    );
    is_right("5 > a read 1: restart a 1s");
    is_right("5 ! new leader\n6 ! a cannot be started");
}

#[test]
fn what_cannot_be_judged_is_said() {
    let missing =
        |text: &str| -> Vec<(Property, &str)> { judge(&run(text), &Limits::default()).not_judged };
    let has = |text: &str, property: Property, why: &str| missing(text).contains(&(property, why));
    assert!(has(
        "mute",
        Property::NoticedLate,
        "the contenders do not say what they believe"
    ));
    assert!(has("", Property::NoticedLate, "nobody has acquired a lock"));
    assert!(has(
        "0 a holds s1",
        Property::TokenBack,
        "the contenders have no fencing tokens"
    ));
    assert!(has(
        "",
        Property::StaleWrite,
        "no prefix of guarded keys is given"
    ));
    assert!(has("", MissedValue, "no contender has watched anything"));
    let alone = "0 a create s1 10\n0 a acquire lock s1";
    assert!(has(
        alone,
        NobodyLeads,
        "no two contenders use the same lock"
    ));
    assert!(
        !missing(FREE)
            .iter()
            .any(|(property, _)| *property == NobodyLeads)
    );
    assert!(judged("").is_empty());
}

#[test]
fn a_takeover_is_one_of_the_same_lock() {
    let taken = |text: &str| judge(&run(text), &Limits::default()).has_takeover;
    let run = "0 a create s1 10\n0 b create s2 10\n0 a acquire lock s1\n1 b acquire members/b s2\n5 a release lock s1";
    assert!(!taken(run));
    assert!(!taken(&format!("{run}\n6 a acquire lock s1")));
    assert!(taken(&format!(
        "{run}\n6 a acquire other s1\n7 b acquire lock s2"
    )));
}
