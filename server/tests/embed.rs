//! Servers inside a test, as a user embeds them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use proconsul::{Server, StartError};

/// The status line and the body of an answer.
fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> (String, String) {
    let mut connection = TcpStream::connect(address).expect("the server listens");
    let length = body.len();
    write!(
        connection,
        "{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("the server reads");
    let mut answer = String::new();
    connection
        .read_to_string(&mut answer)
        .expect("the server answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.lines().next().expect("a head has a status line");
    (status.to_owned(), body.to_owned())
}

/// The id in the answer of `session/create`.
fn create_session(server: &Server, body: &str) -> String {
    let (_, answer) = ask(server.addr(), "PUT", "/v1/session/create", body);
    answer
        .split('"')
        .nth(3)
        .expect("the answer names the session")
        .to_owned()
}

#[test]
fn the_first_request_succeeds() {
    let server = Server::start();
    let answer = ask(server.addr(), "PUT", "/v1/session/create", "{}");
    assert_eq!(answer.0, "HTTP/1.0 200 OK");
}

#[test]
fn servers_are_isolated_from_each_other() {
    let first = Server::start();
    let second = Server::start();
    assert_ne!(first.addr(), second.addr());
    ask(first.addr(), "PUT", "/v1/kv/k", "v");
    let (status, _) = ask(second.addr(), "GET", "/v1/kv/k", "");
    assert_eq!(status, "HTTP/1.0 404 Not Found");
}

#[test]
fn dropping_a_server_frees_its_port_even_with_an_open_connection() {
    let server = Server::start();
    let address = server.addr();
    let mut connection = TcpStream::connect(address).expect("the server listens");
    write!(
        connection,
        "GET /v1/kv/k?index=1&wait=10m HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    .expect("the server reads");
    drop(server);
    let mut rest = Vec::new();
    // Reset or closed: either way it is over.
    let _ = connection.read_to_end(&mut rest);
    TcpStream::connect(address).expect_err("nobody listens any more");
}

#[test]
fn a_listener_of_the_caller_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let server = Server::builder().listener(listener).start();
    assert_eq!(server.expect("the socket is bound").addr(), address);
}

#[test]
fn a_port_in_use_is_an_error_in_the_words_of_consul() {
    let first = Server::start();
    let mut config = proconsul::config::Config::default();
    config.listeners = vec![proconsul::config::Listener::Tcp(first.addr())];
    let error = Server::builder().config(config).start();
    let error: StartError = error.expect_err("the port is in use");
    assert_eq!(
        error.to_string(),
        format!("listen tcp {}: bind: address already in use", first.addr())
    );
}

#[tokio::test]
async fn a_server_serves_inside_of_another_runtime() {
    let server = Server::start();
    let address = server.addr();
    let answer = tokio::task::spawn_blocking(move || ask(address, "GET", "/v1/status/leader", ""));
    let (_, body) = answer.await.expect("the request does not panic");
    assert_eq!(body, "\"127.0.0.1:8300\"");
}

#[test]
fn the_seed_decides_the_session_ids() {
    let id = |seed| {
        let server = Server::builder().seed(seed).start();
        create_session(&server.expect("a free port"), "{}")
    };
    assert_eq!(id(7), id(7));
    assert_ne!(id(7), id(8));
}

/// F11: servers shared session ids, so that one server's session could lock a key of another.
#[test]
fn two_servers_share_no_id_unless_they_share_a_seed() {
    let own = |server: &Server| ask(server.addr(), "GET", "/v1/catalog/nodes", "").1;
    let (first, second) = (Server::start(), Server::start());
    assert_ne!(first.seed(), second.seed());
    assert_ne!(own(&first), own(&second), "the node ids differ");
    let session = create_session(&first, "{}");
    assert_ne!(create_session(&second, "{}"), session);

    let again = Server::builder().seed(first.seed()).start();
    let again = again.expect("a free port");
    assert_eq!((again.seed(), own(&again)), (first.seed(), own(&first)));
    assert_eq!(create_session(&again, "{}"), session);
}

/// A lock that is lost to its TTL, guarded by the lock-delay and taken over: 35 s of Consul's time.
#[test]
fn time_can_be_skipped() {
    let server = Server::builder().frozen().start().expect("a free port");
    let first = create_session(&server, r#"{"TTL":"10s"}"#);
    let second = create_session(&server, r#"{"TTL":"60s"}"#);
    let acquire = |session: &str| {
        let path = format!("/v1/kv/lock?acquire={session}");
        ask(server.addr(), "PUT", &path, "").1
    };
    assert_eq!(acquire(&first), "true");
    server.advance(Duration::from_secs(19));
    assert_eq!(acquire(&second), "false", "held");
    server.advance(Duration::from_secs(1));
    assert_eq!(acquire(&second), "false", "lapsed, and guarded");
    server.advance(Duration::from_secs(14));
    assert_eq!(acquire(&second), "false", "still guarded");
    server.advance(Duration::from_secs(1));
    assert_eq!(acquire(&second), "true");
}
