//! Two holders, stale writes and lost updates: what the server alone shows.

use proconsul_explore::Property::{LostUpdate, StaleWrite, TwoHolders};

use crate::runs::{breaks, is_right, says};

#[test]
fn one_key_has_one_holder() {
    let run = |end: &str| {
        format!(
            "mute\n0 a create s1 10\n0 b create s2 10\n0 a acquire lock s1\n{end}\n5 b acquire lock s2"
        )
    };
    breaks(&run(""), &[TwoHolders]);
    says(
        &run(""),
        TwoHolders,
        "two-holders: at 5.000s session s2 acquired \"lock\", which session s1 held",
    );
    // A key that is written goes on to be held.
    breaks(&run("4 b put lock"), &[TwoHolders]);
    is_right(&run("4 - expires s1 lock"));
    is_right(&run("5 a release lock s1"));
    is_right(&run("4 b delete lock s1"));
    is_right(&run("").replace("5 b acquire lock", "5 b acquire other"));
    is_right(&run("4 a release lock s1\n4 a acquire other s1"));
    is_right("0 a create s1 10\n0 a acquire lock s1\n5 a again lock s1");
}

/// `a` loses the lock at 20 s, and `b` has it from 21 s on and works.
const TAKEN_OVER: &str = "
    guard work/
    mute
    0 a create s1 10
    0 b create s2 10
    0 a acquire lock s1
    1 a put work/item
    20 - expires s1 lock
    21 b acquire lock s2
    22 b put work/item";

#[test]
fn a_former_holder_writes_behind_the_next_one() {
    let run = |rest: &str| format!("{TAKEN_OVER}\n{rest}");
    breaks(&run("23 a put work/item"), &[StaleWrite]);
    says(
        &run("23 a put work/item"),
        StaleWrite,
        "stale-write: at 23.000s a wrote \"work/item\": it had lost \"lock\" at 20.000s, and b, which had acquired it at \
         21.000s, had written \"work/item\" at 22.000s",
    );
    breaks(&run("23 a put work/other"), &[StaleWrite]);
    breaks(&run("23 a put work%2Fitem"), &[StaleWrite]);
    breaks(&run("23 a delete work/item"), &[StaleWrite]);
    breaks(&run("23 a txn work/item"), &[StaleWrite]);
    // It was sent while `a` held the lock.
    breaks(&run("19 a put work/item after 4"), &[StaleWrite]);
    // A third one has it since.
    breaks(
        &run(
            "contenders 3\n23 c create s3 10\n24 b release lock s2\n25 c acquire lock s3\n26 a put work/item",
        ),
        &[StaleWrite],
    );
}

#[test]
fn a_write_that_is_not_behind_the_next_holder_is_not_stale() {
    let run = |rest: &str| format!("{TAKEN_OVER}\n{rest}");
    is_right(&run("20.5 a put work/item"));
    // The next holder has the lock, and has written nothing.
    is_right(&run("21.5 a put work/item"));
    is_right(&run("23 a put work/item fails 500"));
    is_right(&run("23 a txn work/item fails 409"));
    is_right(&run("23 a get work/item"));
    is_right(&run("23 a put other/item"));
    // Nobody that competes has sent it.
    is_right(&run("23 - put work/item"));
    is_right(&run("23 a put work/item").replace("guard work/", ""));
    // Who has held no lock is no former holder.
    is_right(&run("contenders 3\n23 c put work/item"));
    // The other wrote when it had the lock no more.
    is_right(&run("end 30\n21.5 b release lock s2\n23 a put work/item"));
    // It was overtaken by nobody but itself.
    is_right(
        "guard work/\nmute\n0 b create s2 10\n0 a create s1 10\n0 b reject lock s2\n1 a acquire lock s1\n5 a release lock s1
        6 a acquire lock s1\n7 a put work/item\n8 a release lock s1\n9 a put work/item",
    );
    // It holds the lock again.
    is_right(&run(
        "24 b release lock s2\n25 a create s3 10\n25 a acquire lock s3\n26 a put work/item",
    ));
}

#[test]
fn a_lock_below_the_guarded_prefix_is_no_work() {
    let run = TAKEN_OVER
        .replace("lock s", "work/lock s")
        .replace("s1 lock", "s1 work/lock");
    is_right(&run);
    // The acquire of the next holder is no work of it.
    is_right(&format!("{run}\n21.5 a put work/item"));
    is_right(&format!(
        "{run}\n23 a create s3 10\n23 a reject work/lock s3"
    ));
    breaks(&format!("{run}\n23 a put work/lock"), &[StaleWrite]);
}

#[test]
fn a_key_of_ones_own_does_not_hide_that_the_lock_is_lost() {
    let own = "1 a create s3 0\n2 a acquire members/a s3";
    breaks(
        &format!("{TAKEN_OVER}\n{own}\n23 a put work/item"),
        &[StaleWrite],
    );
}

/// `a` and `b` count up a key.
const COUNTED: &str = "
    guard work/
    1 a get count
    2 b get count
    3 b put count
    4 a put count";

#[test]
fn who_writes_what_it_has_read_overwrites_nothing() {
    breaks(COUNTED, &[LostUpdate]);
    says(
        COUNTED,
        LostUpdate,
        "lost-update: at 4.000s a overwrote \"count\", which it had read at 1.000s and b had written at 3.000s",
    );
    breaks(
        &COUNTED.replace("1 a get count", "1 a get count fails 404"),
        &[LostUpdate],
    );
    breaks(
        &COUNTED.replace("1 a get count", "1 a get count?index=4 in 1"),
        &[LostUpdate],
    );
    breaks(&COUNTED.replace("4 a put", "4 a delete"), &[LostUpdate]);
    breaks(&COUNTED.replace("3 b put", "3 b delete"), &[LostUpdate]);
    breaks(
        &COUNTED.replace("4 a put count", "2.5 a put count after 2"),
        &[LostUpdate],
    );
    is_right(&COUNTED.replace("4 a put count", "4 a put count?cas=7"));
    is_right(&COUNTED.replace("4 a put count", "4 a txn count"));
    is_right(&COUNTED.replace("4 a put count", "4 a put count fails 500"));
    is_right(&COUNTED.replace("3 b put count", "5 b put count?cas=3"));
    is_right(&COUNTED.replace("3 b put", "0 b put"));
    is_right(&COUNTED.replace("1 a get count", "1 a get count fails 500"));
}

#[test]
fn a_write_that_does_not_follow_a_read_is_not_made_of_it() {
    // It lists the keys.
    is_right(&COUNTED.replace("1 a get count", "1 a get count?keys"));
    is_right(&COUNTED.replace("1 a get count", "1 a get co?recurse"));
    // It watches the key, and writes it for other reasons.
    is_right(&COUNTED.replace(
        "1 a get count",
        "0 a get count in 1\n1 a get count?index=4 in 2.5",
    ));
    // It says at times that it lives.
    is_right(&format!("{COUNTED}\n5 b put count\n6 a put count").replace("1 a get count", ""));
    is_right(&COUNTED.replace("1 a get count", "0 a get count\n1 a put count"));
}

#[test]
fn a_write_that_is_sent_before_the_read_is_answered_is_not_made_of_it() {
    let run = |read: &str| {
        let run = COUNTED.replace("1 a get count", read);
        run.replace("3 b put", "3.6 b put")
            .replace("4 a put count", "3 a put count after 1")
    };
    is_right(&run("1 a get count in 2.5"));
    breaks(&run("1 a get count in 1.5"), &[LostUpdate]);
}

#[test]
fn a_lock_protects_what_its_holder_writes() {
    let once = "0 b create s2 10\n0 b acquire count s2\n0.5 b release count s2";
    is_right(&format!("mute\nend 12\n{COUNTED}\n{once}"));
    is_right(&COUNTED.replace("count", "work/count"));
    is_right(&format!(
        "{COUNTED}\n3.5 a create s1 10\n3.5 a acquire lock s1"
    ));
    is_right(&format!(
        "mute\n{COUNTED}\n0 a create s1 10\n0 a acquire count s1"
    ));
}
