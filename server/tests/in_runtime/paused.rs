//! tokio's paused clock moves the server's and the client's timers together.

use std::time::Duration;

use proconsul::control::{BlockedOn, Timestamp};
use proconsul::history::Filter;
use proconsul::in_runtime::RuntimeServer;
use proconsul::{Server, StartError};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use crate::http::{call, session_id};

const SECOND: Duration = Duration::from_secs(1);

fn server() -> RuntimeServer {
    let epoch = "2026-01-01T00:00:00Z".parse().expect("a time");
    let server = Server::builder().seed(7).epoch(epoch).in_runtime();
    server.expect("there is a runtime")
}

#[tokio::test(start_paused = true)]
async fn a_session_lives_for_as_long_as_its_client_renews_it_and_its_lock_delay_follows() {
    let server = server();
    let mut client = server.connect();
    let created = call(&mut client, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#).await;
    let created = created.expect("it answers");
    let session = session_id(&created);
    let acquire = format!("/v1/kv/job?acquire={session}");
    assert_eq!(
        call(&mut client, "PUT", &acquire, "a")
            .await
            .expect("it answers")
            .body,
        "true"
    );
    for _ in 0..360 {
        sleep(10 * SECOND).await;
        let renew = format!("/v1/session/renew/{session}");
        assert_eq!(
            call(&mut client, "PUT", &renew, "")
                .await
                .expect("it answers")
                .status(),
            "200"
        );
    }
    assert_eq!(server.now(), Timestamp::ZERO.plus(3600 * SECOND));
    sleep(20 * SECOND).await;
    let lock = server.explain("job");
    assert_eq!(
        (lock.holder, lock.lock_delay_left),
        (None, Some(15 * SECOND))
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_woken_by_a_write_and_ends_with_its_time() {
    let server = server();
    let waiting = async {
        let mut client = server.connect();
        let began = Instant::now();
        server.kv().put("k", "1");
        let put = server.kv().get("k").expect("it was put");
        let index = put.modify_index.0;
        let woken = call(
            &mut client,
            "GET",
            &format!("/v1/kv/k?index={index}&wait=10m"),
            "",
        )
        .await;
        let woken = woken.expect("it answers");
        let index = woken.header("X-Consul-Index").to_owned();
        let woken_after = began.elapsed();
        let over = call(
            &mut client,
            "GET",
            &format!("/v1/kv/k?index={index}&wait=16s"),
            "",
        )
        .await;
        assert_eq!(over.expect("it answers").header("X-Consul-Index"), index);
        (woken_after, began.elapsed() - woken_after)
    };
    let writing = async {
        sleep(60 * SECOND).await;
        let on = BlockedOn::prefix("k");
        let blocked = server.wait_blocked_async(&on, 1, SECOND).await;
        assert_eq!(blocked.expect("it waits").len(), 1);
        server.kv().put("k", "2");
    };
    let ((woken, over), ()) = tokio::join!(waiting, writing);
    assert_eq!(woken.as_secs(), 60);
    assert!(over >= 16 * SECOND && over <= 18 * SECOND, "{over:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_history() {
    let run = async || {
        let server = server();
        let mut client = server.connect();
        for _ in 0..3 {
            let created = call(&mut client, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#).await;
            let acquire = format!(
                "/v1/kv/job?acquire={}",
                session_id(&created.expect("it answers"))
            );
            call(&mut client, "PUT", &acquire, "a")
                .await
                .expect("it answers");
            sleep(40 * SECOND).await;
        }
        server.history_text()
    };
    let (once, again) = (run().await, run().await);
    assert!(once.lines().count() > 15, "{once}");
    assert_eq!(once, again);
}

#[tokio::test(start_paused = true)]
async fn a_real_socket_is_rejected_while_the_clock_is_paused() {
    let server = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let error = server.serve(listener).await.expect_err("it would jump");
    assert!(
        error
            .to_string()
            .starts_with("a real socket cannot be served while tokio's clock is paused")
    );
}

#[tokio::test]
async fn a_real_socket_is_served_while_the_clock_runs() {
    let server = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let serving = tokio::spawn(server.serve(listener));
    let mut client = tokio::net::TcpStream::connect(address)
        .await
        .expect("it listens");
    let leader = call(&mut client, "GET", "/v1/status/leader", "").await;
    assert_eq!(leader.expect("it answers").status(), "200");
    drop(server);
    let ended = call(&mut client, "GET", "/v1/status/leader", "").await;
    ended.expect_err("the server has stopped");
    serving.abort();
}

#[tokio::test(start_paused = true)]
async fn connections_are_cut_and_refused_on_demand() {
    let server = server();
    let mut client = server.connect();
    server
        .refuse_connections_async()
        .await
        .expect("there is nothing to close");
    call(&mut client, "GET", "/v1/status/leader", "")
        .await
        .expect_err("it is cut");
    let refused = call(&mut server.connect(), "GET", "/v1/status/leader", "").await;
    refused.expect_err("it is refused");
    server
        .accept_connections_async()
        .await
        .expect("there is nothing to open");
    let leader = call(&mut server.connect(), "GET", "/v1/status/leader", "").await;
    assert_eq!(leader.expect("it answers").status(), "200");
}

#[tokio::test(start_paused = true)]
async fn an_advance_and_a_barrier_do_not_wait_for_the_machine() {
    let server = server();
    let advanced = timeout(SECOND, server.advance_async(3600 * SECOND)).await;
    advanced.expect("nothing is waited for");
    assert!(server.now() >= Timestamp::ZERO.plus(3600 * SECOND));
    let began = Instant::now();
    let unmet = server
        .wait_for_async(&Filter::all().key("never"), 5 * SECOND)
        .await;
    unmet.expect_err("nothing is written");
    assert_eq!(began.elapsed().as_secs(), 5, "of the paused clock");
}

#[test]
fn without_a_runtime_there_is_no_server() {
    let error = Server::builder().in_runtime().expect_err("no runtime");
    assert!(matches!(error, StartError::Runtime(_)), "{error}");
}
