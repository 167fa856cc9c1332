//! Watches follow Consul's rules for blocking queries.

use std::time::Duration;

use futures_util::StreamExt;
use proconsul_client::{Client, Error, Registration, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::support::{ManualClock, frozen, keeper};

#[tokio::test]
async fn a_key_is_seen_as_it_is_and_as_it_changes() -> Result<(), Error> {
    let (_server, client) = frozen();
    let mut watch = client.watch_key("k");
    assert_eq!(watch.next().await?.value, None);
    for value in ["1", "2"] {
        // What is written elsewhere is no change of this key.
        client.kv().put("other", value).await?;
        client.kv().put("k", value).await?;
        let pair = watch.next().await?.value.expect("it was put");
        assert_eq!(pair.value, value.as_bytes());
    }
    client.kv().delete("k").await?;
    assert_eq!(watch.next().await?.value, None);
    Ok(())
}

#[tokio::test]
async fn a_watch_is_a_stream() -> Result<(), Error> {
    let (_server, client) = frozen();
    let mut stream = Box::pin(client.watch_prefix("p/").into_stream());
    let first = stream.next().await.expect("a watch does not end")?;
    assert!(first.value.is_empty());
    client.kv().put("p/a", "").await?;
    let second = stream.next().await.expect("a watch does not end")?;
    assert_eq!(second.value[0].key, "p/a");
    Ok(())
}

#[tokio::test]
async fn services_checks_and_sessions_are_watched() -> Result<(), Error> {
    let (_server, client) = frozen();
    let register = |status| {
        Registration::node("far", "10.0.0.7")
            .service("web", "web", 80, &[])
            .service_check("web", "http", status)
    };
    let mut all = client.watch_service("web", false);
    let mut passing = client.watch_service("web", true);
    let mut checks = client.watch_checks("web");
    assert!(all.next().await?.value.is_empty());
    assert!(passing.next().await?.value.is_empty());
    assert!(checks.next().await?.value.is_empty());
    client
        .catalog()
        .register(&register(Status::Passing))
        .await?;
    assert_eq!(all.next().await?.value.len(), 1);
    assert_eq!(passing.next().await?.value.len(), 1);
    assert_eq!(checks.next().await?.value[0].status, Status::Passing);
    client
        .catalog()
        .register(&register(Status::Critical))
        .await?;
    assert!(passing.next().await?.value.is_empty());

    let session = keeper(&client).await;
    let mut watch = client.watch_session(session.id());
    assert!(watch.next().await?.value.is_some());
    session.close().await?;
    assert_eq!(watch.next().await?.value, None);
    Ok(())
}

/// Answers each connection's requests with the next of the given indexes and values, and gives the targets asked for.
async fn scripted(
    answers: Vec<(&'static str, &'static str)>,
) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let served = tokio::spawn(async move {
        let mut targets = Vec::new();
        let (mut stream, _) = listener.accept().await.expect("the client comes");
        for (index, value) in answers {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.expect("the client asks"));
            }
            let head = String::from_utf8(head).expect("it is text");
            let target = head.split(' ').nth(1).expect("a request has a target");
            targets.push(target.to_owned());
            let body = format!(
                r#"[{{"LockIndex":0,"Key":"k","Flags":0,"Value":"{value}","CreateIndex":1,"ModifyIndex":1}}]"#
            );
            let answer = format!(
                "HTTP/1.1 200 OK\r\nX-Consul-Index: {index}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream
                .write_all(answer.as_bytes())
                .await
                .expect("the client listens");
        }
        targets
    });
    (address, served)
}

#[tokio::test]
async fn an_index_that_goes_backwards_starts_again_and_zero_never_spins() -> Result<(), Error> {
    let answers = vec![("9", "YQ=="), ("3", "YQ=="), ("0", "Yg=="), ("0", "YQ==")];
    let (address, served) = scripted(answers).await;
    let client = Client::new(&address)?;
    let mut watch = client.watch_key("k");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let pair = watch.next().await?.value.expect("the script has a value");
        seen.push(pair.value);
    }
    // The second answer says nothing new, and is not reported.
    assert_eq!(seen, [b"a", b"b", b"a"]);
    let targets = served.await.expect("the script ends");
    let ends: Vec<&str> = targets
        .iter()
        .map(|target| &target["/v1/kv/k".len()..])
        .collect();
    assert_eq!(ends, ["?index=0", "?index=9", "?index=0", "?index=1"]);
    Ok(())
}

#[tokio::test]
async fn an_error_is_reported_and_waited_out() -> Result<(), Error> {
    let (server, _) = frozen();
    let address = server.addr();
    let clock = ManualClock::new();
    let client = Client::builder()
        .address(address.to_string())
        .clock(std::sync::Arc::new(clock.clone()))
        .build()?;
    let mut watch = client.watch_key("k");
    assert_eq!(watch.next().await?.value, None);
    drop(server);
    let error = watch.next().await.expect_err("the server is gone");
    assert!(error.is_transient(), "{error}");
    let listener = std::net::TcpListener::bind(address).expect("the port is free again");
    let _server = proconsul::Server::builder()
        .listener(listener)
        .start()
        .expect("it starts");
    client.kv().put("k", "back").await?;
    let next = tokio::spawn(async move { watch.next().await });
    // It sleeps before it asks again, after a first failure for 100 ms at the most.
    tokio::task::yield_now().await;
    clock.advance(Duration::from_millis(100));
    let pair = next
        .await
        .expect("the watch does not panic")?
        .value
        .expect("it was put");
    assert_eq!(pair.value, b"back");
    Ok(())
}
