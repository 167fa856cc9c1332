//! Connections that are made by the test.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use proconsul::Server;
use proconsul::control::Timestamp;
use proconsul::faults::{Cut, Effect, Rule};
use proconsul::in_runtime::RuntimeServer;
use proconsul_client::recipes::{Keeper, Lock, Lost};
use proconsul_client::{Client, Connector, Error, NewSession, QueryOptions};
use tokio::net::TcpStream;

const TTL: Duration = Duration::from_secs(10);

/// A server and a client in this runtime, and nothing between them but memory.
fn in_runtime() -> (Arc<RuntimeServer>, Client) {
    let server = Server::builder().seed(7).in_runtime();
    let server = Arc::new(server.expect("there is a runtime"));
    let dialled = Arc::clone(&server);
    let connector = Connector::new(move |_| ready(Ok(dialled.connect())));
    let client = Client::builder().connector(connector).build();
    (server, client.expect("an address"))
}

#[tokio::test(start_paused = true)]
async fn a_call_times_out_and_a_read_is_held_on_the_paused_clock() -> Result<(), Error> {
    let (server, client) = in_runtime();
    client.kv().put("k", "v").await?;
    let index = client.kv().get("k").await?.meta.index;
    let held = QueryOptions::new().index(index).wait(16 * TTL);
    assert_eq!(client.with(held).kv().get("k").await?.meta.index, index);
    let read = server.now();
    assert!(read >= Timestamp::ZERO.plus(16 * TTL), "{read:?}");

    let silent = server.fault(Rule::new(Effect::Hang).path("/v1/kv/"));
    let _silent = silent.expect("it can be asked for");
    let error = client.kv().get("k").await.expect_err("nothing comes");
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    assert_eq!(server.now(), read.plus(TTL), "the client's timeout");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_cannot_renew_gives_up_its_lock_before_anybody_has_it() -> Result<(), Error> {
    let (server, client) = in_runtime();
    let session = Keeper::start(&client, NewSession::new().ttl(TTL)).await?;
    let held = Lock::new(&client, "k").acquire(&session).await?;
    let refused = server.refuse_connections_async().await;
    refused.expect("there is nothing to close");
    assert_eq!(held.lost().await, Lost::Unconfirmed);
    assert_eq!(server.explain("k").holder, Some(session.id().to_string()));
    assert_eq!(server.now(), Timestamp::ZERO.plus(TTL));
    Ok(())
}

#[tokio::test]
async fn a_client_of_two_agents_goes_on_with_the_other() -> Result<(), Error> {
    let server = Server::builder().agents(3).start().expect("free ports");
    let [first, second] = [1, 2].map(|agent| server.agent(agent).addr());
    let connector = Connector::new(move |_| async move {
        match TcpStream::connect(first).await {
            Err(_) => TcpStream::connect(second).await,
            connected => connected,
        }
    });
    let client = Client::builder().connector(connector).build()?;
    client.kv().put("k", "before").await?;
    let mut watch = client.watch_key("k");
    assert!(watch.next().await?.value.is_some());
    let killed = server.agent(1).kill_async().await;
    killed.expect("it runs");
    server.kv().put("k", "after");
    // The watch that was cut is an error once.
    let seen = loop {
        if let Ok(answer) = watch.next().await {
            break answer.value.expect("it is there");
        }
    };
    assert_eq!(seen.value, b"after");
    assert!(server.history_text().contains("at agent 2"));
    Ok(())
}

#[tokio::test]
async fn connections_that_fail_are_typed_errors() {
    let none = Connector::new(|uri| async move {
        assert_eq!(uri.authority().expect("a host"), "consul.test:8500");
        Err::<tokio::io::DuplexStream, _>(io::Error::other("no way"))
    });
    let builder = Client::builder().address("consul.test:8500");
    let client = builder.connector(none).build().expect("an address");
    let error = client.kv().get("k").await.expect_err("there is no way");
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(error.to_string().contains("no way"), "{error}");

    let (server, client) = in_runtime();
    let lost = server.fault(Rule::new(Effect::AppliedThen(Cut::Reset)).method("PUT"));
    let _lost = lost.expect("it can be asked for");
    let error = client.kv().put("k", "v").await.expect_err("it is cut");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
    assert!(error.may_be_applied());
}

#[test]
fn a_connector_makes_no_tls_and_no_unix_sockets() {
    for address in ["https://consul", "unix:///run/consul.sock"] {
        let connector = Connector::new(|_| ready(Ok(tokio::io::duplex(1).0)));
        let builder = Client::builder().address(address).connector(connector);
        let error = builder.build().expect_err("it cannot be dialled");
        assert!(error.to_string().contains(address), "{error}");
    }
}
