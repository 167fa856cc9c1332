//! Many who write and many who wait, on threads that really run at once.

use std::sync::Arc;

use super::{Clock, Engine, Key, Query, Version, answer, engine, get, put, value, wait_past};
use crate::store::{Index, Rows};

/// How many write, each its own key under a prefix of its own.
const WRITERS: usize = 8;
/// How often each of them writes.
const WRITES: usize = 50;
/// How many wait for each key, and how many for each prefix.
const WAITERS: usize = 8;

/// Waits until the key of a writer has its last value. An answer that comes without a higher index comes because the
/// time is up, which is long enough to mean that the wake-up was lost.
async fn follow(engine: Arc<Engine>, read: Query) {
    let mut known = Index(1);
    loop {
        let answer = answer(&engine, &read, wait_past(known.0)).await;
        let answer = answer.expect("the store answers such a read");
        assert!(
            answer.index > known,
            "{read:?} was not told of what came after {known}"
        );
        known = answer.index;
        let row = match answer.rows {
            Rows::Entries(entries) => Rows::Entry(entries.into_iter().next()),
            row => row,
        };
        if value(&row).is_some_and(|value| value == WRITES.to_string()) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_who_wait_see_the_last_of_many_writes() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let engine = Arc::new(engine(version, Clock::running()));
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let key = format!("{writer}/key");
            let reads = [get(&key), Query::KvList(Key::new(format!("{writer}/")))];
            for read in reads.iter().cycle().take(2 * WAITERS) {
                tasks.push(tokio::spawn(follow(Arc::clone(&engine), read.clone())));
            }
            let engine = Arc::clone(&engine);
            tasks.push(tokio::spawn(async move {
                for number in 1..=WRITES {
                    put(&engine, &key, &number.to_string());
                    tokio::task::yield_now().await;
                }
            }));
        }
        for task in tasks {
            task.await.expect("the task does not panic");
        }
        assert!(super::nobody_waits(&engine));
    }
}
