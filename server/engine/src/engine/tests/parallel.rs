//! Many who write and many who wait, on threads that really run at once.

use std::convert::Infallible;
use std::sync::Arc;

use super::{Clock, Engine, Key, KvList, Version, answer, engine, get, put, value, wait_past};
use proconsul_store::{Entry, Index, Read};

/// How many write, each its own key under a prefix of its own.
const WRITERS: usize = 8;
/// How often each of them writes.
const WRITES: usize = 50;
/// How many wait for each key, and how many for each prefix.
const WAITERS: usize = 8;

/// Waits until the key of a writer has its last value. An answer that comes without a higher index comes because the
/// time is up, which is long enough to mean that the wake-up was lost.
async fn follow<R: Read<Refused = Infallible>>(
    engine: Arc<Engine>,
    read: R,
    entry: fn(R::Rows) -> Option<Entry>,
) {
    let mut known = Index(1);
    loop {
        let Ok(answer) = answer(&engine, &read, wait_past(known.0)).await;
        assert!(
            answer.index > known,
            "who reads {} was not told of what came after {known}",
            read.subject()
        );
        known = answer.index;
        if value(&entry(answer.rows)).is_some_and(|value| value == WRITES.to_string()) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_who_wait_see_the_last_of_many_writes() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let engine = Arc::new(engine(version, Clock::frozen()));
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let key = format!("{writer}/key");
            let prefix = KvList(Key::new(format!("{writer}/")));
            for _ in 0..WAITERS {
                let one = follow(Arc::clone(&engine), get(&key), |entry| entry);
                tasks.push(tokio::spawn(one));
                let first = |entries: Vec<Entry>| entries.into_iter().next();
                let all = follow(Arc::clone(&engine), prefix.clone(), first);
                tasks.push(tokio::spawn(all));
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
