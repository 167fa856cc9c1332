//! What responses show to a contender that has lost the lock, and which lock a belief is about.

use proconsul_explore::Property::{NoticedLate, TwoBelievers};

use crate::runs::{breaks, is_right, says};

/// `a` holds the lock, and its lease runs until 24 s. Somebody destroys its session at 15 s, and `b` takes over.
const LOST: &str = "
    0 a create s1 10
    0 a acquire lock s1
    0 a holds
    0 b create s2 10
    0 b reject lock s2
    7 a renew s1
    14 a renew s1
    15 > a watch 1 after acquire 1: destroy-sessions a
    15 - expires s1 lock
    16 b acquire lock s2
    16 b holds
    24.4 a lost";

/// A response that shows the loss is found by a belief that goes on; one that does not is not.
#[track_caller]
fn shows(request: &str) {
    breaks(&format!("{LOST}\n{request}"), &[TwoBelievers, NoticedLate]);
}

#[track_caller]
fn shows_nothing(request: &str) {
    is_right(&format!("{LOST}\n{request}"));
}

#[test]
fn a_read_behind_the_loss_shows_it() {
    shows("17 a get lock");
    shows("17 a get lock?consistent");
    shows("17 a get lock?stale fails 404");
    shows("17 a get lock?index=5");
    says(
        &format!("{LOST}\n17 a get lock"),
        NoticedLate,
        "noticed-late: at 17.500s a believed that it held \"lock\": a had lost the lock at 15.000s (its session ended: its TTL \
         ran out), and a response showed a the loss at 17.000s",
    );
    shows_nothing("17 a get lock fails 500");
    shows_nothing("17 a get lock fails 429");
    shows_nothing("17 a get lock cut");
    shows_nothing("17 a get lock open");
    shows_nothing("17 a get lock?raw");
    shows_nothing("17 a get lock?keys");
    shows_nothing("17 a get other");
    shows_nothing("17 b get lock");
}

#[test]
fn a_response_shows_what_was_so_when_it_was_made() {
    // The watch is woken by the loss.
    shows("14 a get lock?index=5 in 1");
    shows_nothing("14 a get lock?index=5 in 0.9");
    // It is under way for long, which the schedule does, and may be of before the loss.
    shows_nothing("13 a get lock?index=5 in 5\n13 > a watch 1 after acquire 1: delay-response 4s");
    // The same, of a read that was sent later.
    shows("15.5 a get lock in 4\n15.5 > a read 1 after acquire 1: delay-response 4s");
    // A delay of the request does not matter.
    shows("14 a get lock in 4\n14 > a read 1 after acquire 1: delay 4s");
}

#[test]
fn what_a_silent_link_delivers_may_be_of_before_the_loss() {
    // The watch's time is over at 14.5 s, and its response arrives when the link is up again.
    shows_nothing("14.2 > a renew 3: silence a 4s\n10 a get lock?index=5 in 8.2");
    shows("14.2 > a renew 3: silence a 0.5s\n10 a get lock?index=5 in 8.2");
    // What was sent in the silence was handled behind it.
    shows("14.2 > a renew 3: silence a 4s\n15.5 a get lock in 2.7");
}

#[test]
fn a_prefix_shows_the_loss_to_who_does_not_follow_the_key_itself() {
    shows("17 a get lo?recurse");
    shows("17 a get ?recurse");
    shows("17 a get lo?recurse&raw");
    shows_nothing("17 a get lo?keys");
    shows_nothing("17 a get locks?recurse");
    shows_nothing("1 a get lock\n17 a get lo?recurse");
}

#[test]
fn a_key_that_is_escaped_is_the_same_key() {
    let run = |path: &str| {
        let run = LOST
            .replace("lock s", "jobs/lock s")
            .replace("s1 lock", "s1 jobs/lock");
        format!("{run}\n17 a get {path}")
    };
    breaks(&run("jobs%2Flock"), &[TwoBelievers, NoticedLate]);
    breaks(&run("jobs/lock"), &[TwoBelievers, NoticedLate]);
    is_right(&run("jobs%252Flock"));
}

/// The key of the lock is deleted, and the session lives on.
const DELETED: &str = "
    0 a create s1 10
    0 a acquire lock s1
    0 a holds
    0 b create s2 10
    0 b reject lock s2
    14 a renew s1
    15 > b read 1: delete-lock a
    15 - loses lock s1
    15 b acquire lock s2
    15 b holds
    19 a renew s1
    28 a renew s1";

#[test]
fn who_renews_a_session_whose_lock_was_deleted_knows_nothing() {
    is_right(&format!("{DELETED}\n30 a lost"));
    is_right(&format!("{DELETED}\n30 a get lock\n30.4 a lost"));
    breaks(
        &format!("{DELETED}\n20 a get lock\n30 a lost"),
        &[TwoBelievers, NoticedLate],
    );
    // It renews no more.
    breaks(
        &format!("{DELETED}\n48 - expires s1\n40 a lost"),
        &[TwoBelievers, NoticedLate],
    );
}

#[test]
fn a_lock_that_its_holder_releases_itself_is_not_lost() {
    let run = |end: &str| {
        let run = LOST.replace("15 > a watch 1 after acquire 1: destroy-sessions a", "");
        run.replace("15 - expires s1 lock", end)
    };
    for end in [
        "15 a release lock s1",
        "15 a destroy s1 lock",
        "15 a delete lock s1",
    ] {
        is_right(&format!("{}\n17 a get lock", run(end)));
    }
    for end in [
        "15 b destroy s1 lock",
        "15 b delete lock s1",
        "15 - loses lock s1",
    ] {
        breaks(
            &format!("{}\n17 a get lock", run(end)),
            &[TwoBelievers, NoticedLate],
        );
    }
}

#[test]
fn a_belief_is_right_as_long_as_one_of_two_locks_is_held() {
    let both = "
        contenders 3
        0 c create s3 10
        0 c reject other s3
        1 a create s4 10
        1 a acquire other s4";
    is_right(&format!(
        "{both}{LOST}\n17 a get lock\n30 a renew s4\n59 a renew s4"
    ));
    breaks(
        &format!(
            "{both}{LOST}\n17 a get lock\n18 - expires s4 other\n19 a get other\n18 c acquire other s3"
        ),
        &[NoticedLate],
    );
}

#[test]
fn a_key_of_ones_own_is_no_lock() {
    // It is acquired by the same session, and later.
    let own = "\n1 a create s5 0\n1 a acquire members/a s5\n1 b acquire members/b s2\n2 b get members/?recurse";
    breaks(
        &format!("{LOST}{own}\n17 a get lock"),
        &[TwoBelievers, NoticedLate],
    );
    is_right(&format!("{LOST}{own}"));
}

#[test]
fn the_slots_of_a_semaphore_are_locks_where_there_is_no_other() {
    let run = |rest: &str| {
        format!(
            "0 a create s1 10\n0 a acquire sem/s1 s1\n0 a holds\n0 b create s2 10\n0 b acquire sem/s2 s2\n1 b holds
            20 - expires s1 sem/s1\n40 b destroy s2 sem/s2\n{rest}"
        )
    };
    is_right(&run("20.4 a lost\n40 b lost"));
    breaks(&run("22 a lost\n40 b lost"), &[NoticedLate]);
}
