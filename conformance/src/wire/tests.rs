//! The wire against a server that says fixed bytes.

use std::time::Duration;

use super::*;
use crate::wire::fake::Fake;

fn reply_to(bytes: &[u8]) -> Outcome {
    let fake = Fake::saying(bytes);
    exchange(&fake.address(), &Request::get("/x"))
}

fn reply(outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("no reply but {other:?}"),
    }
}

#[test]
fn keeps_order_and_spelling_of_headers() {
    let reply = reply(reply_to(
        b"HTTP/1.1 404 Not Found\r\nX-Consul-Index: 7\r\nvary: a\r\nContent-Length: 0\r\n\r\n",
    ));
    assert_eq!((reply.status, reply.reason.as_str()), (404, "Not Found"));
    let names: Vec<&str> = reply
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["X-Consul-Index", "vary", "Content-Length"]);
    assert_eq!(reply.header("x-consul-INDEX"), Some("7"));
    assert_eq!(reply.framing, Framing::Length);
}

#[test]
fn reads_a_sized_body_and_no_more() {
    let reply = reply(reply_to(
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrueEXTRA",
    ));
    assert_eq!(reply.body, b"true");
}

#[test]
fn reads_chunks() {
    let reply = reply(reply_to(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
    ));
    assert_eq!(reply.body, b"abc0123456789");
    assert_eq!(reply.framing, Framing::Chunked);
}

#[test]
fn reads_until_close_without_framing() {
    let reply = reply(reply_to(b"HTTP/1.0 200 OK\r\n\r\nabc"));
    assert_eq!(
        (reply.version.as_str(), reply.body.as_slice()),
        ("HTTP/1.0", &b"abc"[..])
    );
    assert_eq!(reply.framing, Framing::UntilClose);
}

#[test]
fn a_head_request_has_no_body_to_read() {
    let fake = Fake::saying(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 23\r\n\r\n");
    let reply = reply(exchange(&fake.address(), &Request::new("HEAD", "/x")));
    assert_eq!((reply.status, reply.framing), (405, Framing::Bodiless));
}

#[test]
fn closing_without_an_answer_is_a_value() {
    assert_eq!(reply_to(b""), Outcome::Closed);
}

#[test]
fn a_reply_cut_short_is_broken_and_keeps_what_came() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
    match reply_to(cut) {
        Outcome::Broken { received, why } => {
            assert_eq!(received, cut);
            assert_eq!(why, "the connection ended within the reply");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nonsense_is_broken() {
    assert!(matches!(
        reply_to(b"SSH-2.0-server\r\n"),
        Outcome::Broken { .. }
    ));
}

#[test]
fn a_silent_server_ends_the_patience() {
    let fake = Fake::silent();
    let request = Request::get("/x").patience(Duration::from_millis(30));
    assert_eq!(
        exchange(&fake.address(), &request),
        Outcome::Silent { received: vec![] }
    );
}

#[test]
fn nobody_listening_is_unreachable() {
    let address = Fake::saying(b"").address_after_stop();
    assert!(matches!(
        exchange(&address, &Request::get("/x")),
        Outcome::Unreachable(_)
    ));
}

#[test]
fn two_replies_on_one_connection() {
    let fake = Fake::saying(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    let mut connection = Connection::open(&fake.address()).expect("the fake listens");
    let first = reply(connection.exchange(&Request::put("/x", "")));
    assert_eq!(first.status, 100);
    assert_eq!(reply(connection.read(false, PATIENCE)).body, b"ok");
    assert_eq!(connection.read(false, PATIENCE), Outcome::Closed);
}

#[test]
fn requests_are_sent_as_they_stand() {
    let request = Request::put("/v1/kv/a%2fb?x", "v").header("X-Odd", "1");
    assert_eq!(
        String::from_utf8(request.to_bytes("h:1")).expect("all ASCII"),
        "PUT /v1/kv/a%2fb?x HTTP/1.1\r\nHost: h:1\r\nX-Odd: 1\r\nContent-Length: 1\r\n\r\nv"
    );
    let chunked = Request::new("PUT", "/").chunked(&[b"abc", b"", b"0123456789"]);
    assert!(
        String::from_utf8(chunked.to_bytes("h"))
            .expect("all ASCII")
            .ends_with(
                "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"
            )
    );
    assert_eq!(
        Request::get("/").to_bytes("h"),
        b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    );
}

#[test]
fn addresses_as_users_write_them() {
    let address = Address::parse("http://127.0.0.1:8500/").expect("a good address");
    assert_eq!(address.host, "127.0.0.1:8500");
    assert!(
        Address::parse("https://127.0.0.1:8501")
            .unwrap_err()
            .contains("https://")
    );
    assert!(
        Address::parse("127.0.0.1")
            .unwrap_err()
            .contains("not host:port")
    );
}
