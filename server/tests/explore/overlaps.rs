//! Actions with a duration that overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proconsul::explore::{Contender, Explore, Schedule};
use tokio::time::sleep;

use crate::contenders::{SECOND, client};

async fn read(contender: Contender) {
    let client = client(&contender, 2 * SECOND);
    loop {
        // It reads again, whatever has happened.
        drop(client.kv().get("key").await);
        sleep(SECOND).await;
    }
}

#[test]
fn a_contender_that_is_killed_twice_starts_once_when_both_are_over() {
    let schedule = "contenders 1\na read 1: restart a 5s\na read 1: restart a 20s\n";
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let starts = Arc::new(AtomicUsize::new(0));
    let explore = Explore::new().length(60 * SECOND);
    let _judged = explore.replay(&schedule, 1, |contender| {
        starts.fetch_add(1, Ordering::Relaxed);
        read(contender)
    });
    // One of them is that of the run without faults.
    assert_eq!(starts.load(Ordering::Relaxed), 3);
}
