//! Fencing tokens, writes after the word that the lock is lost, and locks that are given up.

use proconsul_explore::Property::{self, ActedAfterLoss, GivesUpLock, NobodyLeads, TokenBack};
use proconsul_explore::{Limits, judge};

use crate::runs::{breaks, is_right, run, says};

/// `a` holds the lock for 10 s, and then `b`.
fn in_turn(tokens: [&str; 2], rest: &str) -> String {
    let [first, second] = tokens;
    format!(
        "0 a create s1 10
        0 b create s2 10
        0 a acquire lock s1
        0 a holds {first}
        10 a lost
        10 a release lock s1
        11 b acquire lock s2
        11 b holds {second}
        {rest}"
    )
}

#[test]
fn tokens_grow_from_holder_to_holder() {
    breaks(&in_turn(["5", "5"], ""), &[TokenBack]);
    breaks(&in_turn(["1", "0"], ""), &[TokenBack]);
    says(
        &in_turn(["5", "4"], ""),
        TokenBack,
        "token-back: at 11.000s b holds \"lock\" with the token 4, and a held it before with 5",
    );
    is_right(&in_turn(["9", "10"], ""));
    is_right(&in_turn(["", ""], ""));
    // A session id is no number.
    is_right(&in_turn(["s2", "s1"], ""));
    is_right(&in_turn(["5", ""], ""));
}

#[test]
fn a_token_belongs_to_what_its_contender_acquired() {
    // The same hold, after a time without a lease.
    is_right(&in_turn(
        ["5", "6"],
        "20 b lost\n20 b get lock\n20.2 b holds 6\n20 > b renew 1: hold",
    ));
    // A program that says nothing when it gives the lock back.
    let quiet = in_turn(
        ["5", "6"],
        "15 b release lock s2\n16 b acquire lock s2\n16 b holds 6",
    );
    breaks(&quiet, &[TokenBack]);
    is_right(&quiet.replace("16 b holds 6", "16 b holds 7"));
    // An old response to an acquire arrives when another holds the lock.
    is_right(
        "0 a create s1 10\n0 b create s2 10\n0 a acquire lock s1 in 5\n1 > a acquire 1: delete-lock a\n1 - loses lock s1
        2 b acquire lock s2\n2 b holds 7\n5 a holds 5\n5.1 a get lock\n5.2 a lost",
    );
    // Another key.
    is_right(&in_turn(
        ["9", "10"],
        "12 a create s3 10\n12 b reject other s2\n12 a acquire other s3\n12 a holds 3",
    ));
}

#[test]
fn tokens_go_back_where_all_indexes_do() {
    is_right(&in_turn(
        ["50", "2"],
        "10.5 > b read 1: rebuild\n10.5 - lower",
    ));
    is_right(&in_turn(["50", "2"], "11 > b read 1: rebuild\n11 - lower"));
    breaks(
        &in_turn(["50", "2"], "20 > b read 1: rebuild\n20 - lower"),
        &[TokenBack],
    );
}

#[test]
fn who_has_said_that_the_lock_is_lost_writes_no_more() {
    let run = |rest: &str| format!("guard work/\n{}", in_turn(["", ""], rest));
    breaks(&run("15 a put work/item"), &[ActedAfterLoss]);
    says(
        &run("15 a put work/item"),
        ActedAfterLoss,
        "acted-after-loss: at 15.000s a wrote \"work/item\": it had said at 10.000s that it had lost the lock",
    );
    // It does not matter whether it takes effect.
    breaks(&run("15 a put work/item fails 500"), &[ActedAfterLoss]);
    breaks(&run("15 a delete work%2Fitem"), &[ActedAfterLoss]);
    breaks(&run("15 a txn work/item"), &[ActedAfterLoss]);
    // A transaction that checks the lock's session is rejected: it wrote nothing.
    is_right(&run("15 a txn work/item fails 409"));
    is_right(&run("10.4 a put work/item"));
    is_right(&run("15 a put other/item"));
    is_right(&run("15 a get work/item"));
    is_right(&run("15 - put work/item"));
    is_right(&in_turn(["", ""], "15 a put work/item"));
}

#[test]
fn a_write_that_was_sent_before_the_word_is_none_after_it() {
    let run = |rest: &str| format!("guard work/\n{}", in_turn(["", ""], rest));
    is_right(&run("9.9 a put work/item after 1"));
    // It stood still between the word and the write.
    is_right(&run(
        "10.2 > b renew 1: pause a 5s\n15.3 a put work/item cut",
    ));
    breaks(
        &run("10.2 > b renew 1: pause a 5s\n15.8 a put work/item cut"),
        &[ActedAfterLoss],
    );
}

#[test]
fn a_holder_may_write_before_its_word_is_read() {
    let again = "20 b lost\n20 b release lock s2\n21 a acquire lock s1\n22 a holds";
    let run = |rest: &str| format!("guard work/\n{}\n{rest}", in_turn(["", ""], again));
    is_right(&run("21.1 a put work/item"));
    is_right(&run("21.9 a put work/item"));
    breaks(&run("20.9 a put work/item"), &[ActedAfterLoss]);
    // It takes up again what it has held all the time.
    is_right(&run("22.5 a lost\n23.4 a put work/item\n23.5 a holds"));
    // Who has been started anew has said nothing.
    is_right(&run(
        "end 40\n30 > a renew 1: restart a 1s\n32 a put work/item cut",
    ));
}

/// `a` holds the lock and says that it has lost it.
const GIVEN_UP: &str = "
    0 a create s1 10
    0 a acquire lock s1
    0 a holds
    0 b create s2 10
    0 b reject lock s2
    9 a renew s1
    15 a lost";

#[test]
fn who_says_without_a_reason_that_the_lock_is_lost_gives_it_up() {
    let run = |rest: &str| format!("end 26\n{GIVEN_UP}\n{rest}");
    breaks(&run(""), &[GivesUpLock]);
    says(
        &run(""),
        GivesUpLock,
        "gives-up-lock: at 15.000s a said that it had lost \"lock\", which its session s1 held, and nothing had gone wrong",
    );
    // A response that is late by a tenth of the TTL is no reason, and one that is later is.
    let late = |by: &str| {
        run(&format!(
            "14 > a watch 1 after acquire 1: delay-response {by}"
        ))
    };
    breaks(&late("1s"), &[GivesUpLock]);
    is_right(&late("1.1s"));
    // With a short TTL, a quarter of it is left.
    let short = |renews: &str| {
        let run = run("").replace("s1 10", "s1 1").replace("s2 10", "s2 1");
        run.replace("9 a renew", &format!("{renews} a renew"))
    };
    breaks(&short("14.3"), &[GivesUpLock]);
    is_right(&short("14.2"));
    // It lets the session lapse.
    breaks(&run("20 - expires s1 lock"), &[GivesUpLock]);
    breaks(&run("25.8 a release lock s1"), &[GivesUpLock]);
    // Another has written the key, which changes nothing.
    breaks(&run("14.9 b put lock\n14.9 a get lock"), &[GivesUpLock]);
}

#[test]
fn who_gives_the_lock_back_when_its_work_is_done_is_right() {
    let run = |rest: &str| format!("end 26\n{GIVEN_UP}\n{rest}");
    for back in ["release lock s1", "destroy s1 lock", "delete lock s1"] {
        is_right(&run(&format!("15 a {back}")));
        is_right(&run(&format!("24 a {back}")));
        is_right(&run(&format!("14.9 a {back}")));
    }
    // It may do so when the run is over.
    is_right(&format!("end 25\n{GIVEN_UP}"));
}

#[test]
fn a_contender_that_keeps_its_lock_has_no_reason_to_release_it() {
    let kept = |rest: &str| {
        let run = run(&format!("end 26\n{GIVEN_UP}\n{rest}"));
        let mut limits = Limits::default();
        limits.keeps_lock = true;
        let findings = judge(&run, &limits).findings;
        findings
            .into_iter()
            .map(|finding| finding.property)
            .collect::<Vec<Property>>()
    };
    for back in [
        "15 a release lock s1",
        "15 a destroy s1 lock",
        "14.9 a destroy s1 lock",
    ] {
        assert_eq!(kept(back), [GivesUpLock], "{back}");
    }
    assert_eq!(kept("13 a release lock s1"), [], "it is another matter");
    assert_eq!(kept("14.9 - expires s1 lock"), [], "it was lost");
}

#[test]
fn who_has_a_reason_to_say_that_the_lock_is_lost_is_right() {
    let run = |rest: &str| format!("end 26\n{GIVEN_UP}\n{rest}");
    is_right(&run("14 > a watch 1 after acquire 1: error rpc-eof"));
    is_right(&run("14 > b read 2: lose-leader"));
    // The schedule keeps a request from it for long.
    is_right(&run("0 a get lock?index=1 held\n0 > a watch 1: hold"));
    let watch = "0 a get lock?index=1 held\n0 > a watch 1: hold";
    let later = run(watch).replace("s1 10", "s1 0");
    is_right(&later.replace("0 a acquire lock", "1 a acquire lock"));
    is_right(&run("0 > a renew 1 after acquire 1: silence a 15s"));
    is_right(&run("15 - expires s1 lock"));
    is_right(&run("15.1 - expires s1 lock").replace("15 a lost", "15.1 a lost"));
    // It has not renewed its session in time.
    is_right(&run("").replace("9 a renew s1", "5 a renew s1"));
    is_right(&run("").replace("9 a renew s1", "9 a renew s1 cut"));
    // It speaks of another lock.
    is_right(&run(
        "1 a create s3 10\n1 a acquire other s3\n1 b reject other s2\n14.9 a release other s3",
    ));
    // It was killed.
    is_right(&run("15 > a renew 1: restart a 20s").replace("15 a lost", ""));
}

#[test]
fn a_lock_that_is_kept_by_a_session_of_a_contender_that_has_given_it_up_leads_nowhere() {
    let run = format!("{GIVEN_UP}\n20 a renew s1\n30 a renew s1\n40 a renew s1");
    breaks(&run, &[NobodyLeads, GivesUpLock]);
}
