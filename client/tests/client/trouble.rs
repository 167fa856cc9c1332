//! Servers that are not there, not Consul, or in trouble: a typed error, in time.

use std::time::Duration;

use proconsul::faults::{ConsulError, Effect, Rule};
use proconsul_client::recipes::Lock;
use proconsul_client::{Client, Error, NewSession};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::support::{driven, frozen, keeper};

/// A server that says the same bytes to everybody, once they have asked, and closes.
async fn saying(bytes: &'static [u8]) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            read_head(&mut stream).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    Client::new(&address).expect("an address")
}

async fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
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

#[tokio::test]
async fn a_404_of_something_else_is_not_taken_for_an_absent_key() {
    let page = b"HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\n\r\n<h1>nope</h1>";
    let client = saying(page).await;
    let error = client.kv().get("k").await.expect_err("it is no Consul");
    assert!(matches!(error, Error::Garbled { .. }), "{error:?}");
    assert!(
        error.to_string().contains("is the address right?"),
        "{error}"
    );
    let error = client.kv().list("k/").await.expect_err("it is no Consul");
    assert!(matches!(error, Error::Garbled { .. }), "{error:?}");
}

#[tokio::test]
async fn what_consul_refuses_comes_with_what_to_do() {
    for (answer, advice) in [
        (
            &b"HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\n\r\nPermission denied"[..],
            "CONSUL_HTTP_TOKEN",
        ),
        (
            b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
            "try again, less often",
        ),
        (
            b"HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\n\r\n",
            "kv_max_value_size",
        ),
        (
            b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 17\r\n\r\nNo cluster leader",
            "elected in a moment",
        ),
    ] {
        let error = saying(answer).await.kv().put("k", "v").await;
        let text = error.expect_err("it is refused").to_string();
        assert!(text.contains(advice), "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_stops_in_the_middle_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client comes");
        read_head(&mut stream).await;
        let start = b"HTTP/1.1 200 OK\r\nX-Consul-Index: 1\r\nContent-Length: 99\r\n\r\n[";
        stream.write_all(start).await.expect("the client listens");
        // Nothing more, and no end.
        std::future::pending::<()>().await;
    });
    let asked = Duration::from_millis(50);
    let client = Client::builder().address(&address).timeout(asked).build();
    let client = client.expect("an address");
    let error = client.kv().get("k").await.expect_err("nobody goes on");
    assert!(
        matches!(error, Error::Timeout { after, .. } if after == asked),
        "{error:?}"
    );
    assert!(error.may_be_applied());
}

#[tokio::test]
async fn a_session_that_has_lapsed_is_called_lost() -> Result<(), Error> {
    let (server, client) = frozen();
    let ttl = Duration::from_secs(10);
    let session = client
        .sessions()
        .create(&NewSession::new().ttl(ttl))
        .await?;
    server.advance(2 * ttl);
    let acquired = client.kv().write("k", "v").acquire(&session).await;
    let error = acquired.expect_err("there is no such session");
    assert!(
        error.is_session_lost() && !error.is_transient(),
        "{error:?}"
    );
    assert!(error.to_string().contains("a new one"), "{error}");
    assert!(client.sessions().renew(&session).await?.is_none());
    assert!(client.kv().get("k").await?.value.is_none());
    Ok(())
}

#[tokio::test]
async fn who_is_rate_limited_was_not_heard_and_may_try_again() -> Result<(), Error> {
    let (server, client) = frozen();
    let limit = Rule::new(Effect::Error(ConsulError::RateLimited));
    let limit = server.fault(limit).expect("it can match");
    let error = client.kv().put("k", "v").await.expect_err("it is too much");
    assert!(error.is_rate_limited() && error.is_transient(), "{error:?}");
    assert!(!error.may_be_applied());
    drop(limit);
    client.kv().put("k", "v").await
}

/// Both who waits for a lock and who holds one.
#[tokio::test]
async fn a_burst_of_500s_is_waited_out_and_costs_no_guard() -> Result<(), Error> {
    let (server, client, clock) = driven();
    let burst = |times| {
        let error = Rule::new(Effect::Error(ConsulError::RpcEof));
        let rule = error.path("/v1/kv/").times(times);
        server.fault(rule).expect("it can match")
    };
    let session = keeper(&client).await;
    let lock = Lock::new(&client, "l");
    let first = burst(4);
    let (held, ()) = tokio::join!(lock.acquire(&session), async {
        for failures in 1..=4 {
            clock.pass_backoff(failures).await;
        }
    });
    let held = held?;
    assert_eq!(first.hits(), 4);
    let second = burst(3);
    // The holder's watch is woken, and hears nothing but errors.
    server.kv().put("l", "somebody's note");
    for failures in 1..=3 {
        clock.pass_backoff(failures).await;
    }
    assert_eq!((second.hits(), held.is_lost()), (3, None));
    held.release().await?;
    let pair = client.kv().get("l").await?.value.expect("it was locked");
    assert_eq!(pair.session, None);
    Ok(())
}
