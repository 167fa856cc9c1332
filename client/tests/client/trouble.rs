//! Servers that are not there, not Consul, or in trouble: a typed error, in time.

use std::time::Duration;

use proconsul_client::{Client, Error, NewSession};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::support::frozen;

/// A server that says the same bytes to everybody, once they have asked, and closes.
async fn saying(bytes: &'static [u8]) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let _ = stream.write_all(bytes).await;
        }
    });
    Client::new(&address).expect("an address")
}

#[tokio::test]
async fn no_server_is_a_connection_error() {
    let (server, client) = frozen();
    drop(server);
    let error = client.kv().get("k").await.expect_err("nobody listens");
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(error.is_transient() && !error.may_be_applied());
}

#[tokio::test]
async fn a_server_that_is_no_consul_is_called_that() {
    let client = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n<html>hi</html").await;
    let error = client.kv().get("k").await.expect_err("it is no JSON");
    assert!(matches!(error, Error::Garbled { .. }), "{error:?}");
    assert!(error.to_string().contains("<html>hi</htm"), "{error}");
    let error = client.kv().put("k", "v").await.expect_err("it is no true");
    assert!(matches!(error, Error::Garbled { .. }), "{error:?}");
    let garbage = saying(b"\x00\x01\x02\r\n\r\n").await;
    let error = garbage.kv().get("k").await.expect_err("it is no HTTP");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_may_have_been_a_yes() {
    let client = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ntr").await;
    let error = client
        .kv()
        .put("k", "v")
        .await
        .expect_err("the body is cut off");
    assert!(
        matches!(error, Error::Broken { .. }) && error.may_be_applied(),
        "{error:?}"
    );
    let client = saying(b"").await;
    let error = client
        .kv()
        .put("k", "v")
        .await
        .expect_err("there is no answer");
    assert!(error.may_be_applied(), "{error:?}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let asked = Duration::from_millis(20);
    let client = Client::builder()
        .address(&address)
        .timeout(asked)
        .build()
        .expect("an address");
    let error = client.kv().get("k").await.expect_err("nobody answers");
    let Error::Timeout { after, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(after, asked);
}

#[tokio::test]
async fn refusals_have_consuls_text() -> Result<(), Error> {
    let (_server, client) = frozen();
    let large = client.kv().put("k", vec![b'x'; 600_000]).await;
    let large = large.expect_err("it is beyond the limit");
    assert_eq!(large.status(), Some(413), "{large}");
    assert!(client.kv().get("k").await?.value.is_none());
    let short = NewSession::new().ttl(Duration::from_secs(1));
    let short = client
        .sessions()
        .create(&short)
        .await
        .expect_err("it is too short");
    assert!(short.to_string().contains("Invalid Session TTL"), "{short}");
    Ok(())
}

#[tokio::test]
async fn the_leader_may_be_missing_and_the_token_wrong() {
    let client = saying(
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 17\r\n\r\nNo cluster leader",
    )
    .await;
    let error = client
        .kv()
        .put("k", "v")
        .await
        .expect_err("there is no leader");
    assert!(error.is_no_leader() && error.is_transient(), "{error:?}");
    let client =
        saying(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\n\r\nPermission denied").await;
    let error = client
        .kv()
        .put("k", "v")
        .await
        .expect_err("it is not allowed");
    assert!(error.is_forbidden() && !error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_to_another_key() {
    let client = saying(
        b"HTTP/1.1 301 Moved Permanently\r\nLocation: /v1/kv/other\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let error = client.kv().get("k").await.expect_err("it is another key");
    assert_eq!(error.status(), Some(301));
}
