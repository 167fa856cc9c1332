//! What waits has two forms: an async one for any runtime, and one that parks its thread wherever that can end well.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use proconsul::control::{Restart, Session};
use proconsul::history::{Filter, Kind};
use proconsul::{Server, test};
use proconsul_engine::{BlockedOn, Unmet, WhyUnmet};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

use crate::support::{PATIENCE, SECOND, frozen, put, request};

/// A client on the test's own runtime: sends a request and reads all that comes back.
async fn ask(address: SocketAddr, method: &'static str, target: String, body: String) -> String {
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let request = request(method, &target, &[], &body);
    connection
        .write_all(request.as_bytes())
        .await
        .expect("it reads");
    let mut answer = String::new();
    let read = connection.read_to_string(&mut answer).await;
    read.expect("it answers");
    answer
}

async fn get(server: &Server, target: &str) -> String {
    ask(server.addr(), "GET", target.to_owned(), String::new()).await
}

/// A blocking read in a task.
fn watch(server: &Server, target: &str) -> tokio::task::JoinHandle<String> {
    tokio::spawn(ask(server.addr(), "GET", target.to_owned(), String::new()))
}

/// Registers a service whose HTTP check asks `target` every ten seconds.
fn register(server: &Server, target: SocketAddr) {
    let body = format!(
        r#"{{"Name":"web","Check":{{"CheckID":"c","HTTP":"http://{target}/","Interval":"10s"}}}}"#
    );
    let registered = put(server, "/v1/agent/service/register", &body);
    assert_eq!(registered.status, 200, "{}", registered.body);
}

/// A healthy HTTP server on the test's own runtime.
async fn healthy() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut head = [0; 1024];
            let _ = stream.read(&mut head).await;
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell";
            let _ = stream.write_all(answer).await;
        }
    });
    address
}

fn names_its_twin<T: std::fmt::Debug>(refused: Result<T, Unmet>, twin: &'static str) {
    let unmet = refused.expect_err("it would wait for itself");
    assert_eq!(unmet.why, WhyUnmet::BlocksItsRuntime(twin));
    let says = format!("use `{twin}(..).await`");
    assert!(unmet.to_string().ends_with(&says), "{unmet}");
    assert_eq!(format!("{unmet:?}"), unmet.to_string());
}

/// The text of a panic.
fn panic_of<T>(call: impl FnOnce() -> T) -> String {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    let panic = caught.err().expect("it panics");
    *panic.downcast::<String>().expect("a panic with a text")
}

#[tokio::test]
async fn a_client_on_the_thread_of_the_test_is_waited_for() {
    let server = frozen();
    let watching = watch(&server, "/v1/kv/a/x?index=1");
    let on_key = BlockedOn::prefix("a/");
    let blocked = server.wait_blocked_async(&on_key, 1, PATIENCE).await;
    assert_eq!(blocked.expect("it blocks")[0].min_index.0, 1);
    let writing = tokio::spawn(ask(
        server.addr(),
        "PUT",
        "/v1/kv/a/x".to_owned(),
        "1".to_owned(),
    ));
    let written = Filter::of(Kind::KeyWritten).key("a/x");
    let record = server.wait_for_async(&written, PATIENCE).await;
    assert!(record.is_ok(), "{record:?}");
    assert!(
        watching
            .await
            .expect("no panic")
            .starts_with("HTTP/1.1 200")
    );
    writing.await.expect("no panic");
    let idle = server.wait_idle_async(PATIENCE).await;
    assert!(idle.is_ok(), "{idle:?}");
}

/// Whatever is there already: a test must not pass or fail by who was faster.
#[tokio::test]
async fn a_barrier_that_would_wait_for_itself_fails_at_once() {
    let server = frozen();
    server.kv().put("k", "1");
    names_its_twin(
        server.wait_blocked(&BlockedOn::Anything, 0, PATIENCE),
        "wait_blocked_async",
    );
    let written = Filter::of(Kind::KeyWritten);
    names_its_twin(server.wait_for(&written, PATIENCE), "wait_for_async");
    names_its_twin(server.wait_idle(PATIENCE), "wait_idle_async");
    let control = server.clone();
    let in_a_task = async move { names_its_twin(control.wait_idle(PATIENCE), "wait_idle_async") };
    tokio::spawn(in_a_task).await.expect("it fails at once");
    let control = server.clone();
    let local = tokio::task::LocalSet::new();
    let in_a_set = async move { names_its_twin(control.wait_idle(PATIENCE), "wait_idle_async") };
    local.run_until(in_a_set).await;
}

#[tokio::test]
async fn a_barrier_may_park_a_thread_that_runs_no_tasks() {
    let server = frozen();
    let watching = watch(&server, "/v1/kv/k?index=1");
    let control = server.clone();
    let waiting = tokio::task::spawn_blocking(move || {
        control.wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
    });
    let blocked = waiting.await.expect("no panic");
    assert!(blocked.is_ok(), "{blocked:?}");
    server.advance_async(601 * SECOND).await;
    watching.await.expect("no panic");
}

/// The only worker goes on with the client while the barrier parks its thread.
#[test]
fn a_barrier_may_park_a_worker_of_a_multi_thread_runtime() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let test = runtime.spawn(async {
        let server = frozen();
        let watching = watch(&server, "/v1/kv/k?index=1");
        let blocked = server.wait_blocked(&BlockedOn::Anything, 1, PATIENCE);
        assert!(blocked.is_ok(), "{blocked:?}");
        server.advance(601 * SECOND);
        watching.await.expect("no panic");
    });
    runtime.block_on(test).expect("the test passes");
}

#[tokio::test]
async fn a_check_of_the_tests_own_runtime_is_waited_for_by_the_async_form() {
    let server = frozen();
    register(&server, healthy().await);
    let caused = server.advance_async(10 * SECOND).await;
    assert!(!caused.is_empty());
    let checks = get(&server, "/v1/health/checks/web").await;
    assert!(checks.contains(r#""Status":"passing""#), "{checks}");
}

#[tokio::test]
async fn an_advance_that_waits_for_itself_says_so() {
    let server = frozen();
    register(&server, healthy().await);
    let says = panic_of(|| server.advance(10 * SECOND));
    assert_eq!(
        says,
        "`advance` timed out waiting for checks that it let run, on the thread of a current-thread runtime: no task went \
         on meanwhile, use `advance_async(..).await`"
    );
    // Another that moves the clock lives on this thread, and has come to the lapse.
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    session.expect("a node");
    let mut moving = pin!(server.advance_async(Duration::from_secs(60)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(moving.as_mut().poll(&mut context).is_pending());
    let says = panic_of(|| server.jump(SECOND));
    assert!(says.ends_with("use `jump_async(..).await`"), "{says}");
}

/// Servers have threads of their own, which answer while this one is parked.
#[tokio::test]
async fn an_advance_that_waits_for_the_server_alone_may_park_any_thread() {
    let server = frozen();
    let watching = watch(&server, "/v1/kv/k?index=1&wait=10s");
    let blocked = server
        .wait_blocked_async(&BlockedOn::Anything, 1, PATIENCE)
        .await;
    assert!(blocked.is_ok(), "{blocked:?}");
    let caused = server.advance(11 * SECOND);
    let last = caused.last().expect("the wait is over");
    assert_eq!(last.what.kind(), Kind::Answer);
    assert!(
        watching
            .await
            .expect("no panic")
            .starts_with("HTTP/1.1 404")
    );
    // Enough deadlines for a task's budget, which only a return to the runtime renews.
    for _ in 0..300 {
        let session = server.sessions().create(Session::ttl(10 * SECOND));
        session.expect("a node");
        assert_eq!(server.advance_to_next().len(), 1);
    }
    server.refuse_connections().expect("the socket closes");
    server.accept_connections().expect("the socket opens");
    server
        .restart(Restart::KeepState)
        .expect("the server restarts");
}

/// Polls a future `times` without a wake.
fn poll(future: std::pin::Pin<&mut impl Future>, times: usize) {
    let mut future = future;
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..times {
        assert!(future.as_mut().poll(&mut context).is_pending());
    }
}

#[tokio::test]
async fn an_advance_whose_caller_has_gone_moves_the_clock_no_more() {
    let server = frozen();
    for seconds in 0..100 {
        let session = server
            .sessions()
            .create(Session::ttl((10 + seconds) * SECOND));
        session.expect("a node");
    }
    let lapsed = |server: &Server| server.history(&Filter::of(Kind::SessionEnded)).len();
    {
        let mut moving = pin!(server.advance_async(3600 * SECOND));
        poll(moving.as_mut(), 3);
        // The next one begins when this one has ended.
        let mut next = pin!(server.advance_async(3600 * SECOND));
        poll(next.as_mut(), 3);
    }
    let stood_at = server.now();
    assert_eq!(lapsed(&server), 3, "one deadline each time");
    server.advance_async(SECOND).await;
    assert_eq!(server.now(), stood_at.plus(SECOND));
    let (first, second) = tokio::join!(
        server.advance_async(3600 * SECOND),
        server.advance_async(3600 * SECOND)
    );
    assert_eq!(server.now(), stood_at.plus(7201 * SECOND));
    assert_eq!((first.len(), second.len()), (97, 0));
}

#[tokio::test]
async fn the_next_deadline_and_jumps_have_twins() {
    let server = test::frozen();
    for _ in 0..2 {
        let session = server.sessions().create(Session::ttl(10 * SECOND));
        session.expect("a node");
    }
    assert_eq!(server.advance_to_next_async().await.len(), 2);
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    session.expect("a node");
    let caused = server.jump_async(100 * SECOND).await;
    let at: Vec<_> = caused.iter().map(|record| record.at.as_nanos()).collect();
    assert_eq!(
        at, [120_000_000_000; 2],
        "the jump, and the lapse at its end"
    );
}

#[tokio::test]
async fn doors_have_twins_and_a_restart_that_is_given_up_lets_clients_in() {
    let server = frozen();
    server.kv().put("k", "1");
    server.refuse_connections_async().await.expect("it closes");
    let refused = TcpStream::connect(server.addr()).await;
    refused.expect_err("nobody is let in");
    server.accept_connections_async().await.expect("it opens");
    let restarted = server.restart_async(Restart::WipeState).await;
    restarted.expect("it restarts");
    assert!(get(&server, "/v1/kv/k").await.starts_with("HTTP/1.1 404"));
    {
        let mut restarting = pin!(server.restart_async(Restart::KeepState));
        let mut context = Context::from_waker(Waker::noop());
        let _ = restarting.as_mut().poll(&mut context);
    }
    server.accept_connections_async().await.expect("it opens");
    assert!(get(&server, "/v1/kv/k").await.starts_with("HTTP/1.1 404"));
}

/// Runs `call` in a thread, stops the server meanwhile, and returns what the call came to.
fn stopped<T: Send + 'static>(
    server: Server,
    call: impl FnOnce(&Server) -> T + Send + 'static,
) -> T {
    let control = server.clone();
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(call(&control)));
    drop(server);
    end.recv_timeout(PATIENCE).expect("it ends with its server")
}

#[test]
fn everything_that_waits_ends_with_its_server() {
    let day = 86400 * SECOND;
    let unmet = stopped(frozen(), move |control| {
        control.wait_blocked(&BlockedOn::prefix("a/"), 1, day)
    });
    assert_eq!(
        unmet.expect_err("nobody ever blocks").to_string(),
        "the server stopped while waiting for 1 requests blocked on keys under \"a/\"; \
         nobody was blocked"
    );
    let years = 100 * 365 * day;
    let server = frozen();
    register(&server, server.addr());
    stopped(server, move |control| control.advance(years));
    let refused = stopped(frozen(), |control| {
        while control.accept_connections().is_ok() {}
        control.refuse_connections()
    });
    let error = refused.expect_err("the server is gone");
    assert_eq!(error.to_string(), "the server has stopped");
}

/// The target of a check takes connections and never answers: an advance over an hour of runs gives it up once.
#[test]
fn an_advance_is_patient_once_and_not_at_every_deadline() {
    let target = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = frozen();
    register(&server, target.local_addr().expect("it is bound"));
    let (ended, end) = mpsc::channel();
    let control = server;
    std::thread::spawn(move || ended.send(control.advance(3600 * SECOND).len()));
    end.recv_timeout(3 * PATIENCE)
        .expect("360 runs are not waited for one by one");
}

/// All of them can be spawned on a runtime of several threads, and moved into a handler.
#[test]
fn the_futures_are_send() {
    fn is_send(_: impl Send) {}
    let server = frozen();
    let filter = Filter::all();
    is_send(server.wait_blocked_async(&BlockedOn::Anything, 1, SECOND));
    is_send(server.wait_for_async(&filter, SECOND));
    is_send(server.wait_idle_async(SECOND));
    is_send(server.advance_async(SECOND));
    is_send(server.advance_to_next_async());
    is_send(server.jump_async(SECOND));
    is_send(server.refuse_connections_async());
    is_send(server.restart_async(Restart::KeepState));
}
