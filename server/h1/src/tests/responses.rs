//! Responses that no test over HTTP can request.

use bytes::Bytes;
use http::{HeaderValue, StatusCode};

use super::{GET, LAST, SETTINGS, Served};
use crate::{Closed, Ending, HttpResponse};

/// Sends a request to a connection with this response, and closes it. Returns the bytes that came without their date, and
/// whether a reset ended them.
fn ask(request: &str, answer: fn() -> HttpResponse<Bytes>) -> (String, bool) {
    let mut served = Served::new(SETTINGS, move |_, _| async move { answer() });
    let came = served.exchange(request);
    assert!(
        served.peer.is_closed(),
        "each of these requests is the last"
    );
    served.peer.end();
    served.run();
    assert!(
        served.has_ended(),
        "nobody waits for a client that has gone"
    );
    let was_reset = served.peer.closed() == Some(Closed::Reset);
    (without_dates(&came), was_reset)
}

fn without_dates(text: &str) -> String {
    let is_date = |line: &&str| line.starts_with("Date: ");
    text.split_inclusive("\r\n")
        .filter(|line| !is_date(line))
        .collect()
}

fn text(length: usize, ending: Ending) -> HttpResponse<Bytes> {
    HttpResponse {
        body: "x".repeat(length).into(),
        ending,
        ..HttpResponse::empty(StatusCode::OK)
    }
}

#[test]
fn a_whole_answer() {
    let (came, _) = ask(LAST, || text(3, Ending::Whole));
    let expected = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxxx";
    assert_eq!(came, expected);
}

#[test]
fn no_answer() {
    let (came, was_reset) = ask(GET, || text(3, Ending::Silence));
    assert_eq!((came.as_str(), was_reset), ("", false));
}

#[test]
fn a_reset() {
    let (came, was_reset) = ask(GET, || text(3, Ending::Reset));
    assert_eq!((came.as_str(), was_reset), ("", true));
}

#[test]
fn an_answer_that_is_cut_off() {
    // The head has the full length, and no header announces the close.
    let (came, _) = ask(GET, || text(3, Ending::CutOff(2)));
    assert_eq!(came, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxx");
    let (came, _) = ask(GET, || text(3, Ending::CutOff(0)));
    assert_eq!(came, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    let (came, _) = ask(GET, || text(5000, Ending::CutOff(2)));
    let expected = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxx\r\n";
    assert_eq!(came, expected);
}

#[test]
fn statuses_without_a_body() {
    for status in [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED] {
        let (came, _) = match status {
            StatusCode::NO_CONTENT => ask(LAST, || HttpResponse::empty(StatusCode::NO_CONTENT)),
            _ => ask(LAST, || HttpResponse::empty(StatusCode::NOT_MODIFIED)),
        };
        assert_eq!(
            came,
            format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n")
        );
    }
}

#[test]
fn what_was_set_stands_before_what_the_server_adds() {
    let answer = || HttpResponse {
        headers: vec![(http::header::ALLOW, HeaderValue::from_static("GET"))],
        guessed_type: Some(HeaderValue::from_static("text/plain")),
        ..text(1, Ending::Whole)
    };
    let (came, _) = ask("GET / HTTP/1.0\r\n\r\n", answer);
    let expected =
        "HTTP/1.0 200 OK\r\nAllow: GET\r\nContent-Length: 1\r\nContent-Type: text/plain\r\n\r\nx";
    assert_eq!(came, expected);
}

#[test]
fn a_large_body_in_either_protocol() {
    let large = "x".repeat(5000);
    let (came, _) = ask(LAST, || text(5000, Ending::Whole));
    assert_eq!(
        came,
        format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n{large}\r\n0\r\n\r\n"
        )
    );
    let (came, _) = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", || {
        text(5000, Ending::Whole)
    });
    assert_eq!(came, format!("HTTP/1.0 200 OK\r\n\r\n{large}"));
}

#[test]
fn a_head_that_is_too_long() {
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(1000));
    let (came, _) = ask(&long, || text(3, Ending::Whole));
    assert!(came.starts_with("HTTP/1.1 431 "), "{came}");
}
