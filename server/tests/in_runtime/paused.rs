//! tokio's paused clock moves the server's and the client's timers together.

use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use proconsul::control::{BlockedOn, Timestamp};
use proconsul::history::Filter;
use proconsul::in_runtime::RuntimeServer;
use proconsul::{Server, StartError};
use proconsul_client::{Client, Connector, Error, NewSession, QueryOptions};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);

fn server() -> Arc<RuntimeServer> {
    let epoch = "2026-01-01T00:00:00Z".parse().expect("a time");
    let server = Server::builder().seed(7).epoch(epoch).in_runtime();
    Arc::new(server.expect("there is a runtime"))
}

fn client(server: &Arc<RuntimeServer>) -> Client {
    let server = Arc::clone(server);
    let connector = Connector::new(move |_uri| ready(Ok(server.connect())));
    let client = Client::builder().connector(connector).build();
    client.expect("an address")
}

#[tokio::test(start_paused = true)]
async fn a_session_lives_for_as_long_as_its_client_renews_it_and_its_lock_delay_follows()
-> Result<(), Error> {
    let server = server();
    let client = client(&server);
    let sessions = client.sessions();
    let session = sessions.create(&NewSession::new().ttl(TTL)).await?;
    assert!(client.kv().write("job", "a").acquire(&session).await?);
    for _ in 0..360 {
        sleep(TTL).await;
        assert!(sessions.renew(&session).await?.is_some());
    }
    assert_eq!(server.now(), Timestamp::ZERO.plus(3600 * SECOND));
    sleep(2 * TTL).await;
    let lock = server.explain("job");
    assert_eq!(
        (lock.holder, lock.lock_delay_left),
        (None, Some(15 * SECOND))
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_woken_by_a_write_and_ends_with_its_time() -> Result<(), Error> {
    let server = server();
    server.kv().put("k", "1");
    let began = Instant::now();
    let waiting = async {
        let client = client(&server);
        let put = server.kv().get("k").expect("it was put");
        let read = async |index, wait| {
            let options = QueryOptions::new().index(index).wait(wait);
            let read = client.with(options).kv().get("k").await?;
            Ok::<_, Error>(read.meta.index)
        };
        let index = read(put.modify_index.0, 600 * SECOND).await?;
        let woken_after = began.elapsed();
        assert_eq!(read(index, 16 * SECOND).await?, index);
        Ok::<_, Error>((woken_after, began.elapsed() - woken_after))
    };
    let writing = async {
        sleep(60 * SECOND).await;
        let on = BlockedOn::prefix("k");
        let blocked = server.wait_blocked_async(&on, 1, SECOND).await;
        assert_eq!(blocked.expect("it waits").len(), 1);
        server.kv().put("k", "2");
    };
    let (waited, ()) = tokio::join!(waiting, writing);
    let (woken, over) = waited?;
    assert_eq!(woken.as_secs(), 60);
    assert!(over >= 16 * SECOND && over <= 18 * SECOND, "{over:?}");
    Ok(())
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
async fn a_real_socket_is_served_while_the_clock_runs() -> Result<(), Error> {
    let server = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let serving = tokio::spawn(server.serve(listener));
    let client = Client::new(&address.to_string())?;
    client.leader().await?;
    drop(server);
    client.leader().await.expect_err("it has stopped");
    serving.abort();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn connections_are_cut_and_refused_on_demand() -> Result<(), Error> {
    let server = server();
    let client = client(&server);
    client.leader().await?;
    let refused = server.refuse_connections_async().await;
    refused.expect("there is nothing to close");
    client.leader().await.expect_err("it is refused");
    let accepted = server.accept_connections_async().await;
    accepted.expect("there is nothing to open");
    client.leader().await?;
    Ok(())
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

/// A client that never sends anything; counts how often it is asked.
struct Silent(Arc<AtomicUsize>);

impl AsyncRead for Silent {
    fn poll_read(
        self: Pin<&mut Self>,
        _task: &mut Context<'_>,
        _buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.fetch_add(1, Relaxed);
        Poll::Pending
    }
}

impl AsyncWrite for Silent {
    fn poll_write(
        self: Pin<&mut Self>,
        _task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// With a busy poll the number of reads would depend on the machine.
#[tokio::test(start_paused = true)]
async fn a_simulated_client_is_waited_for_and_not_asked_again() {
    let server = server();
    let asked = Arc::new(AtomicUsize::new(0));
    server.serve_connection(Silent(Arc::clone(&asked)), None);
    sleep(SECOND).await;
    assert_eq!(asked.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn datacenters_share_the_clock() -> Result<(), Error> {
    let server = Server::builder().datacenters(["dc1", "dc2"]).in_runtime();
    let server = Arc::new(server.expect("there is a runtime"));
    let there = Arc::clone(&server);
    let connector = Connector::new(move |_uri| ready(Ok(there.connect_to(1))));
    let there = Client::builder().connector(connector).build();
    let there = there.expect("an address");
    let here = client(&server);
    for client in [&here, &there] {
        client
            .sessions()
            .create(&NewSession::new().ttl(TTL))
            .await?;
    }
    let across = here.with(QueryOptions::new().datacenter("dc2"));
    assert_eq!(across.sessions().list().await?.value.len(), 1);
    sleep(2 * TTL).await;
    for client in [&here, &there, &across] {
        assert!(client.sessions().list().await?.value.is_empty());
    }
    Ok(())
}
