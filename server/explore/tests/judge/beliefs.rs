//! Noticed late, and two believers: a loss by the end of a lease.

use proconsul_explore::Property::{NoticedLate, TwoBelievers};

use crate::runs::{breaks, is_right, says};

/// `a` holds the lock, and `b` has tried.
const HELD: &str = "
    0 a create s1 10
    0 a acquire lock s1
    0 a holds
    0 b create s2 10
    0 b reject lock s2";

/// The link of `a` is silent from 3 s on. Its session expires, and `b` takes over.
const SILENT: &str = "
    3 > a renew 1 after acquire 1: silence a
    3 a renew s1 held
    20 - expires s1 lock
    20 - delay lock 15
    35 b acquire lock s2
    35 b holds";

#[test]
fn who_never_notices_its_expiry_is_found_when_its_lease_is_over() {
    let run = format!("{HELD}{SILENT}");
    breaks(&run, &[TwoBelievers, NoticedLate]);
    says(
        &run,
        NoticedLate,
        "noticed-late: at 20.500s a believed that it held \"lock\": a had lost the lock at 20.000s (its session ended: its TTL \
         ran out), and the lease of a was over at 10.000s",
    );
    says(
        &run,
        TwoBelievers,
        "two-believers: at 35.000s both a and b believed that they held \"lock\": b has held it since 35.000s; a had lost the \
         lock at 20.000s (its session ended: its TTL ran out), and the lease of a was over at 10.000s",
    );
}

#[test]
fn who_notices_within_the_slack_is_right() {
    is_right(&format!("{HELD}{SILENT}\n20.5 a lost"));
    breaks(&format!("{HELD}{SILENT}\n20.6 a lost"), &[NoticedLate]);
    is_right(&format!("{HELD}{SILENT}\n10 a lost"));
}

#[test]
fn two_believe_only_while_both_do_and_the_other_holds_the_same_lock() {
    let late = |rest: &str| format!("{HELD}{SILENT}{rest}");
    // The other has given the lock back before it says that it holds it.
    breaks(&late("\n34 a lost"), &[NoticedLate]);
    let other_key = late("").replace("35 b acquire lock s2", "19 b acquire other s2");
    let other_key = format!("{other_key}\n36 a get other\n36 c get other");
    breaks(
        &format!(
            "contenders 3\n{other_key}\n21 c create s3 10\n35 c acquire lock s3\n40 c destroy s3 lock"
        ),
        &[NoticedLate],
    );
    let quiet = late("").replace("35 b holds", "");
    let is_believed_later = format!("{quiet}\n41 a lost\n41.1 b holds");
    breaks(&is_believed_later, &[NoticedLate]);
}

/// Somebody destroys the session of `a`, with a lock-delay that is shorter than its lease.
const DESTROYED: &str = "
    15 > a renew 3 after acquire 1: destroy-sessions a
    15 - expires s1 lock
    15 - delay lock 1
    16 b acquire lock s2
    16 b holds";

#[test]
fn a_lease_runs_from_the_sending_of_the_last_renewal_that_was_answered() {
    let run = |rest: &str| format!("{HELD}{DESTROYED}\n7 a renew s1\n{rest}");
    is_right(&run("17.4 a lost"));
    breaks(&run("18 a lost"), &[TwoBelievers, NoticedLate]);
    // Sent before the loss, answered behind it, in time.
    is_right(&run("14 a renew s1 in 2\n24.4 a lost"));
    breaks(
        &run("14 a renew s1 in 2\n25 a lost"),
        &[TwoBelievers, NoticedLate],
    );
    // Applied late: the lease runs from the sending all the same.
    breaks(
        &run("10 a renew s1 after 4\n22 a lost"),
        &[TwoBelievers, NoticedLate],
    );
}

#[test]
fn a_renewal_whose_answer_is_lost_or_comes_too_late_gives_no_lease() {
    let run = |rest: &str| format!("{HELD}{DESTROYED}\n7 a renew s1\n{rest}");
    for renewal in [
        "14 a renew s1 cut",
        "14 a renew s1 open",
        "14 a renew s1 in 4",
    ] {
        is_right(&run(&format!("{renewal}\n17.4 a lost")));
        breaks(
            &run(&format!("{renewal}\n18 a lost")),
            &[TwoBelievers, NoticedLate],
        );
    }
    // Another's request at the same time is lost: that is not about this lease.
    is_right(&run("14 a renew s1\n14 b renew s2 cut\n24.4 a lost"));
}

#[test]
fn a_renewal_that_finds_no_session_shows_the_loss() {
    let run = |rest: &str| format!("{HELD}{DESTROYED}\n14 a renew s1\n{rest}");
    is_right(&run("17 a renew s1 fails 404\n17.4 a lost"));
    breaks(
        &run("17 a renew s1 fails 404\n18 a lost"),
        &[TwoBelievers, NoticedLate],
    );
    // It is under way when the session ends.
    is_right(&run("14.9 a renew s1 fails 404 3\n18.3 a lost"));
    // An error does not say that.
    is_right(&run("17 a renew s1 fails 500\n24.4 a lost"));
    // Nor does that of another session.
    is_right(&run("17 a renew s0 fails 404\n24.4 a lost"));
}

#[test]
fn a_session_without_a_ttl_has_no_lease() {
    let run = |rest: &str| {
        let held = HELD.replace("s1 10", "s1 0");
        format!(
            "{held}\n15 > a write 1: fail-node\n15 - expires s1 lock\n16 b acquire lock s2\n16 b holds\n{rest}"
        )
    };
    is_right(&run(""));
    breaks(&run("20 a get lock"), &[TwoBelievers, NoticedLate]);
}

#[test]
fn who_stands_still_notices_when_it_goes_on() {
    let run = |rest: &str| format!("{HELD}{SILENT}{rest}");
    is_right(&run("\n19 > b renew 1: pause a 20s\n39.4 a lost"));
    // Two pauses, one after the other.
    is_right(&run(
        "\n19 > b renew 1: pause a 20s\n39.1 > b renew 2: pause a 5s\n44.4 a lost",
    ));
    breaks(
        &run("\n19 > b renew 1: pause a 20s\n40 a lost"),
        &[TwoBelievers, NoticedLate],
    );
    // The pause comes when it should have noticed long ago.
    breaks(
        &run("\n30 > b renew 1: pause a 4s\n34.1 a lost"),
        &[NoticedLate],
    );
}

#[test]
fn a_belief_may_cover_two_holds() {
    let again = "
        5 > a watch 1 after acquire 1: destroy-sessions a
        5 - expires s1 lock
        5.1 a create s3 10
        5.2 a acquire lock s3";
    is_right(&format!("{HELD}{again}"));
    // The loss of the second counts, too.
    breaks(
        &format!("{HELD}{again}\n25 - expires s3 lock\n25.1 b acquire lock s2"),
        &[NoticedLate],
    );
    // What is between them counts only as long as the gap lasts.
    let late = again.replace("5.2 a acquire", "9 a acquire");
    breaks(
        &format!("{HELD}{late}\n6 a renew s1 fails 404"),
        &[NoticedLate],
    );
    is_right(&format!("{HELD}{late}"));
}

#[test]
fn a_belief_may_begin_when_the_lock_is_lost_already() {
    let run = |rest: &str| {
        format!(
            "0 a create s1 10\n0 b create s2 10\n0 a acquire lock s1 in 12\n1 > b read 1: delete-lock a\n1 - loses lock s1
            2 b acquire lock s2\n2 b holds\n{rest}"
        )
    };
    is_right(&run("12 a holds\n12.4 a lost\n12.1 a get lock"));
    is_right(&run("5 a renew s1\n12 a holds\n15.4 a lost"));
    breaks(
        &run("12 a holds\n14 a lost\n12.1 a get lock"),
        &[TwoBelievers, NoticedLate],
    );
}

#[test]
fn who_has_acquired_nothing_does_not_hold_the_lock() {
    let run = |rest: &str| format!("end 20\n{HELD}\n{rest}");
    breaks(&run("1 b holds"), &[TwoBelievers]);
    says(
        &run("1 b holds"),
        TwoBelievers,
        "two-believers: at 1.500s both b and a believed that they held \"lock\": a has held it since 0.000s; b had not acquired \
         it",
    );
    is_right(&run("1 b holds\n1.4 b lost"));
    is_right(&run("1 b holds\n1 a lost\n1 a release lock s1"));
    is_right(&run(
        "1.1 b holds\n1 a lost\n1 a release lock s1\n2 b acquire lock s2",
    ));
    // It holds another key, which nobody else has asked for yet.
    is_right(&run("1 b acquire other s2\n1 b holds"));
}

#[test]
fn a_process_that_was_killed_or_has_ended_believes_nothing() {
    let restart = "\n5 > a watch 1 after acquire 1: restart a 1s";
    is_right(&format!("{HELD}{SILENT}{restart}"));
    // What it has said shortly before it was killed is read later.
    let soon = HELD.replace("0 a holds", "5.1 a holds");
    is_right(&format!("{soon}{SILENT}{restart}"));
    breaks(
        &format!("{HELD}{SILENT}{restart}\n6.1 a holds"),
        &[TwoBelievers, NoticedLate],
    );
    breaks(
        &format!("{HELD}{SILENT}\n5 ! a ended by itself: exit status 1"),
        &[proconsul_explore::Property::Ended],
    );
}

#[test]
fn the_holder_is_who_acquired_the_lock_whoever_made_its_session() {
    let held = HELD.replace("0 a create s1", "0 b create s1");
    breaks(&format!("{held}{SILENT}"), &[TwoBelievers, NoticedLate]);
    is_right(&format!("{held}{SILENT}\n20.5 a lost"));
}

#[test]
fn a_session_is_the_same_in_upper_case() {
    let held = HELD.replace("acquire lock s1", "acquire lock S1");
    breaks(&format!("{held}{SILENT}"), &[TwoBelievers, NoticedLate]);
    breaks(
        &format!("{held}{DESTROYED}\n14 a renew s1\n17 a renew s1 fails 404\n18 a lost"),
        &[TwoBelievers, NoticedLate],
    );
    is_right(&format!("{held}{DESTROYED}\n14 a renew s1\n24.4 a lost"));
}

#[test]
fn nothing_is_said_of_contenders_that_say_nothing() {
    is_right(&format!("mute\n{HELD}{SILENT}"));
}
