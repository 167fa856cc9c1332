//! Responses that no test over HTTP can request.

use std::io::ErrorKind;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{Calendar, Ending, HangingUp, HttpResponse, ServeOptions, Stream, Strictness, serve};

#[derive(Debug)]
struct Today;

impl Calendar for Today {
    fn date(&self) -> HeaderValue {
        HeaderValue::from_static("today")
    }
}

const SETTINGS: ServeOptions<'_> = ServeOptions {
    head_limit: 1000,
    strict: Strictness {
        heads: true,
        chunks: true,
    },
    hanging_up: HangingUp::Waits,
    busy_poll: true,
    calendar: &Today,
    // The client closes the connection.
    sleep: |_| Box::pin(std::future::pending()),
};

/// Sends a request to a connection with this response and reads to the end. Returns the bytes, and whether a
/// reset ended them.
async fn ask(request: &str, answer: fn() -> HttpResponse<Bytes>) -> (String, bool) {
    let plain = ask_over(request, answer, false).await;
    let sealed = ask_over(request, answer, true).await;
    assert_eq!(plain, sealed, "a layer over the socket changes nothing");
    plain
}

async fn ask_over(
    request: &str,
    answer: fn() -> HttpResponse<Bytes>,
    is_sealed: bool,
) -> (String, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a socket has an address");
    let mut client = TcpStream::connect(address).await.expect("it is listened");
    let (served, _) = listener.accept().await.expect("a client is there");
    let mut stream = Stream::from(served);
    if is_sealed {
        // A layer that passes on all bytes.
        let sealing = stream.sealed(|mut socket| async {
            socket.first(3).await?;
            Ok(socket)
        });
        client
            .write_all(&request.as_bytes()[..3])
            .await
            .expect("it reads");
        stream = sealing.await.expect("it is sealed once");
    }
    let serving = tokio::spawn(serve(stream, SETTINGS, move |_, _| async move { answer() }));
    client
        .write_all(&request.as_bytes()[if is_sealed { 3 } else { 0 }..])
        .await
        .expect("it reads");
    let mut came = Vec::new();
    let mut was_reset = false;
    let end = client.read_to_end(&mut came).await;
    if let Err(error) = end {
        was_reset = error.kind() == ErrorKind::ConnectionReset;
    }
    drop(client);
    serving.await.expect("a connection ends without a panic");
    let came = String::from_utf8(came).expect("the answers are text");
    (without_dates(&came), was_reset)
}

fn without_dates(text: &str) -> String {
    let is_date = |line: &&str| line.starts_with("Date: ");
    text.split_inclusive("\r\n")
        .filter(|line| !is_date(line))
        .collect()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

fn text(length: usize, ending: Ending) -> HttpResponse<Bytes> {
    HttpResponse {
        body: "x".repeat(length).into(),
        ending,
        ..HttpResponse::empty(StatusCode::OK)
    }
}

#[tokio::test]
async fn a_whole_answer() {
    let (came, _) = ask(LAST, || text(3, Ending::Whole)).await;
    let expected = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxxx";
    assert_eq!(came, expected);
}

#[tokio::test]
async fn no_answer() {
    let (came, was_reset) = ask(GET, || text(3, Ending::Silence)).await;
    assert_eq!((came.as_str(), was_reset), ("", false));
}

#[tokio::test]
async fn a_reset() {
    let (came, was_reset) = ask(GET, || text(3, Ending::Reset)).await;
    assert_eq!((came.as_str(), was_reset), ("", true));
}

#[tokio::test]
async fn an_answer_that_is_cut_off() {
    // The head has the full length, and no header announces the close.
    let (came, _) = ask(GET, || text(3, Ending::CutOff(2))).await;
    assert_eq!(came, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxx");
    let (came, _) = ask(GET, || text(3, Ending::CutOff(0))).await;
    assert_eq!(came, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    let (came, _) = ask(GET, || text(5000, Ending::CutOff(2))).await;
    let expected = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxx\r\n";
    assert_eq!(came, expected);
}

#[tokio::test]
async fn statuses_without_a_body() {
    for status in [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED] {
        let (came, _) = match status {
            StatusCode::NO_CONTENT => {
                ask(LAST, || HttpResponse::empty(StatusCode::NO_CONTENT)).await
            }
            _ => ask(LAST, || HttpResponse::empty(StatusCode::NOT_MODIFIED)).await,
        };
        assert_eq!(
            came,
            format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n")
        );
    }
}

#[tokio::test]
async fn what_was_set_stands_before_what_the_server_adds() {
    let answer = || HttpResponse {
        headers: vec![(http::header::ALLOW, HeaderValue::from_static("GET"))],
        guessed_type: Some(HeaderValue::from_static("text/plain")),
        ..text(1, Ending::Whole)
    };
    let (came, _) = ask("GET / HTTP/1.0\r\n\r\n", answer).await;
    let expected =
        "HTTP/1.0 200 OK\r\nAllow: GET\r\nContent-Length: 1\r\nContent-Type: text/plain\r\n\r\nx";
    assert_eq!(came, expected);
}

#[tokio::test]
async fn a_large_body_in_either_protocol() {
    let large = "x".repeat(5000);
    let (came, _) = ask(LAST, || text(5000, Ending::Whole)).await;
    assert_eq!(
        came,
        format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n{large}\r\n0\r\n\r\n"
        )
    );
    let (came, _) = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", || {
        text(5000, Ending::Whole)
    })
    .await;
    assert_eq!(came, format!("HTTP/1.0 200 OK\r\n\r\n{large}"));
}

#[tokio::test]
async fn a_head_that_is_too_long() {
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(1000));
    let (came, _) = ask(&long, || text(3, Ending::Whole)).await;
    assert!(came.starts_with("HTTP/1.1 431 "), "{came}");
}
