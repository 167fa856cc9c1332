//! Actions with a duration that overlap, and the server of a search.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proconsul::explore::{Contender, Explore, Schedule};
use proconsul_client::NewSession;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};

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
fn a_search_leaves_the_agents_of_its_server() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&answers);
    let search = Explore::new()
        .contenders(1)
        .server(|builder| builder.agents(3));
    search.replay(&Schedule::plain(1), 7, move |contender| {
        let told = Arc::clone(&told);
        async move {
            let mut connection = contender.connect().expect("it is its first start");
            let request = b"GET /v1/status/peers HTTP/1.0\r\nHost: x\r\n\r\n";
            connection.write_all(request).await.expect("it is read");
            let mut answer = String::new();
            let read = connection.read_to_string(&mut answer).await;
            read.expect("it is text");
            told.lock().expect("nobody panics").push(answer);
        }
    });
    let answers = answers.lock().expect("nobody panics");
    assert!(
        answers
            .iter()
            .all(|answer| answer.matches(":83").count() == 3),
        "{answers:?}"
    );
    assert!(!answers.is_empty());
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

#[test]
fn an_agent_that_is_killed_twice_is_back_when_both_are_over() {
    let schedule =
        "contenders 1\nagents 3\na renew 1: restart-agent a 5s\na renew 1: restart-agent a 20s\n";
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let renewed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&renewed);
    let explore = Explore::new().agents(3).length(60 * SECOND);
    let _judged = explore.replay(&schedule, 1, move |contender| {
        let told = Arc::clone(&told);
        async move {
            let client = client(&contender, SECOND);
            let new = NewSession::new();
            let session = client.sessions().create(&new).await.expect("it lives");
            told.lock().expect("nobody panics").clear();
            let begun = Instant::now();
            loop {
                let renewed = client.sessions().renew(&session).await;
                let lives = renewed.map(|session| session.is_some()).ok();
                let at = begun.elapsed().as_secs();
                told.lock().expect("nobody panics").push((at, lives));
                sleep(SECOND).await;
            }
        }
    });
    let renewed = renewed.lock().expect("nobody panics");
    let away = renewed.iter().filter(|(_, lives)| lives.is_none());
    let away: Vec<u64> = away.map(|(at, _)| *at).collect();
    assert!(away.len() > 10, "{renewed:?}");
    assert!(away.iter().all(|at| *at <= 21), "{renewed:?}");
    // Its node has failed meanwhile.
    let last = renewed.last().map(|(_, lives)| *lives);
    assert_eq!(last, Some(Some(false)), "{renewed:?}");
}
