//! gRPC and H2PING checks against a server of HTTP/2 in this process (session.md 4.4).

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use proconsul::Version;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::agent::probes::{consul_with, run};

/// A server of gRPC; what it was asked comes back.
struct Target {
    address: SocketAddr,
    asked: Receiver<Request<()>>,
}

impl Target {
    fn start() -> Self {
        Self::over(|stream| async { Some(stream) })
    }

    /// Starts a server over what `secure` makes of a connection.
    fn over<S, F>(secure: impl Fn(tokio::net::TcpStream) -> F + Clone + Send + 'static) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = Option<S>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr();
        let address = address.expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket can be");
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener);
                let listener = listener.expect("the socket is of this runtime");
                loop {
                    let (stream, _) = listener.accept().await.expect("a connection comes in");
                    let (secure, tell) = (secure.clone(), tell.clone());
                    tokio::spawn(async move {
                        if let Some(stream) = secure(stream).await {
                            serve(stream, tell).await;
                        }
                    });
                }
            });
        });
        Self { address, asked }
    }

    fn asked(&self) -> Request<()> {
        let asked = self.asked.recv_timeout(Duration::from_secs(20));
        asked.expect("the target is asked")
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, tell: Sender<Request<()>>) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let mut unanswered = Vec::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (head, body) = request.into_parts();
        let service = service_in(body);
        // The body comes while the connection is driven.
        let service = tokio::select! {
            service = service => service,
            _ = connection.accept() => return,
        };
        let _ = tell.send(Request::from_parts(head, ()));
        unanswered.extend(answer(respond, &service));
    }
}

/// The name in a message of one field.
async fn service_in(mut body: RecvStream) -> String {
    let mut message = Vec::new();
    while let Some(Ok(part)) = body.data().await {
        message.extend_from_slice(&part);
    }
    assert_eq!(message[0], 0, "it is not compressed");
    assert_eq!(usize::from(message[4]), message.len() - 5);
    let name = message.get(7..).unwrap_or_default();
    String::from_utf8(name.to_vec()).expect("a name is text")
}

/// Answers as the service that was asked for, unless it is `slow`.
fn answer(mut respond: SendResponse<Bytes>, service: &str) -> Option<SendResponse<Bytes>> {
    let head = |status: u16| {
        let head = Response::builder().status(status);
        head.header("content-type", "application/grpc").body(())
    };
    let head = |status| head(status).expect("a head is sound");
    let trailers = |status: &str, message: &str| {
        let mut trailers = HeaderMap::new();
        for (name, value) in [("grpc-status", status), ("grpc-message", message)] {
            trailers.insert(name, value.parse().expect("a value is sound"));
        }
        trailers
    };
    let state = match service {
        "slow" => return Some(respond),
        "reset" => {
            respond.send_reset(Reason::REFUSED_STREAM);
            return None;
        }
        "page" => {
            let sent = respond.send_response(head(404), true);
            sent.expect("the check reads on");
            return None;
        }
        "unknown" => {
            let mut head = head(200);
            head.headers_mut().extend(trailers("5", "unknown service"));
            let sent = respond.send_response(head, true);
            sent.expect("the check reads on");
            return None;
        }
        "down" => 2,
        _ => 1,
    };
    let body = respond.send_response(head(200), false);
    let mut body = body.expect("the check reads on");
    let message = Bytes::copy_from_slice(&[0, 0, 0, 0, 2, 8, state]);
    body.send_data(message, false).expect("the check reads on");
    let (status, text) = match service {
        "broken" => ("13", "it broke: %C3%A4"),
        "odd" => ("77", ""),
        _ => ("0", ""),
    };
    let sent = body.send_trailers(trailers(status, text));
    sent.expect("the check reads on");
    None
}

/// What a check says whose status turns.
fn turned(version: Version, check: &str, to: &str) -> String {
    let before = if to == "passing" {
        "critical"
    } else {
        "passing"
    };
    let consul = consul_with(version, &format!(r#"{check},"Status":"{before}""#));
    let (status, output) = run(&consul);
    assert_eq!(status, to, "{check}: {output}");
    output
}

/// The words were seen on 1.8.7.
#[test]
fn a_grpc_check_goes_by_what_the_health_service_says() {
    let target = Target::start();
    let address = target.address;
    for (service, status, expected) in [
        ("", "passing", format!("gRPC check {address}: success")),
        ("/", "passing", format!("gRPC check {address}/: success")),
        ("/web", "passing", format!("gRPC check {address}/web: success")),
        ("/down", "critical", "gRPC application didn't report service healthy".to_owned()),
        ("/unknown", "critical", "rpc error: code = NotFound desc = unknown service".to_owned()),
        ("/broken", "critical", "rpc error: code = Internal desc = it broke: ä".to_owned()),
        ("/odd", "critical", "rpc error: code = Code(77) desc = ".to_owned()),
        (
            "/reset",
            "critical",
            "rpc error: code = Unavailable desc = stream terminated by RST_STREAM with error code: REFUSED_STREAM".to_owned(),
        ),
        (
            "/page",
            "critical",
            "rpc error: code = Unimplemented desc = unexpected HTTP status code received from server: 404 (Not Found)".to_owned(),
        ),
    ] {
        let check = format!(r#""GRPC":"{address}{service}""#);
        assert_eq!(turned(Version::V1_8_7, &check, status), expected);
        let (asked, _) = target.asked().into_parts();
        let uri = format!("http://{address}/grpc.health.v1.Health/Check");
        assert_eq!((asked.method.as_str(), asked.uri.to_string()), ("POST", uri));
        for (name, value) in [
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("user-agent", "grpc-go/1.27.1"),
            ("grpc-timeout", "10000m"),
        ] {
            assert_eq!(asked.headers[name], value);
        }
    }
    let check = format!(r#""GRPC":"{address}/down""#);
    let late = format!("gRPC {address}/down serving status: NOT_SERVING");
    assert_eq!(turned(Version::V1_22_0, &check, "critical"), late);
}

#[test]
fn a_grpc_check_that_is_not_answered_in_time_is_critical() {
    let target = Target::start();
    let check = format!(
        r#""GRPC":"{}/slow","Timeout":"3s","Status":"passing""#,
        target.address
    );
    let consul = consul_with(Version::V1_8_7, &check);
    let index = consul.get("/v1/health/checks/web").index();
    let mut changed = consul.block(&format!("/v1/health/checks/web?index={index}"));
    consul.server().advance_to_next();
    target.asked();
    consul.server().advance(Duration::from_millis(2_999));
    assert!(!consul.has_answered(&mut changed));
    consul.server().advance(Duration::from_millis(1));
    let expected = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
    let answer = changed.answer();
    assert!(answer.text().contains(expected), "{}", answer.text());
}

/// The words of 1.8.7 were seen there, the others with the library alone.
#[test]
fn a_grpc_check_says_why_it_cannot_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr();
    let address = address.expect("a bound socket has an address");
    let check = format!(r#""GRPC":"{address}""#);
    std::thread::spawn(move || {
        use std::io::Write as _;
        for stream in listener.incoming().take(2) {
            let mut stream = stream.expect("a connection comes in");
            let _ = stream.write_all(b"HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n");
        }
    });
    let [early, late] = [Version::V1_8_7, Version::V1_22_0];
    let error = |text: &str| format!("rpc error: code = Unavailable desc = {text}");
    assert_eq!(
        turned(early, &check, "critical"),
        error("connection closed")
    );
    let text = "connection error: desc = \"error reading server preface: EOF\"";
    assert_eq!(turned(late, &check, "critical"), error(text));

    let closed = TcpListener::bind("127.0.0.1:0").and_then(|closed| closed.local_addr());
    let closed = closed.expect("a port is free");
    let check = format!(r#""GRPC":"{closed}""#);
    for (version, colon) in [(early, ""), (late, ":")] {
        let text = format!(
            "connection error: desc = \"transport: Error while dialing{colon} dial tcp {closed}: connect: connection refused\""
        );
        assert_eq!(turned(version, &check, "critical"), error(&text));
    }
    let text = "connection error: desc = \"transport: Error while dialing dial tcp: address 127.0.0.1: missing port in address\"";
    assert_eq!(
        turned(early, r#""GRPC":"127.0.0.1""#, "critical"),
        error(text)
    );
}

/// What is said of another authority and of a server of HTTP/1 was seen on 1.22, the rest nowhere.
#[test]
fn an_h2ping_check_goes_by_whether_a_ping_is_answered() {
    let target = Target::start();
    let late = Version::V1_22_0;
    let check = format!(r#""H2PING":"{}","H2PingUseTLS":false"#, target.address);
    assert_eq!(turned(late, &check, "passing"), "HTTP2 ping was successful");
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|closed| closed.local_addr());
    let closed = closed.expect("a port is free");
    // TLS is spoken unless the check says otherwise.
    let check = format!(r#""H2PING":"{closed}""#);
    let expected =
        format!("Failed to dial to {closed}: dial tcp {closed}: connect: connection refused");
    assert_eq!(turned(late, &check, "critical"), expected);
    let early = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = early.local_addr().expect("a bound socket has an address");
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = early.accept().expect("a connection comes in");
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        // The check ends the connection.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let check = format!(r#""H2PING":"{address}","H2PingUseTLS":false"#);
    let expected = "HTTP2 ping failed: http2: frame too large";
    assert_eq!(turned(late, &check, "critical"), expected);
    #[cfg(feature = "https-checks")]
    {
        let check = format!(r#""H2PING":"{}""#, target.address);
        let expected = format!(
            "Failed to dial to {}: tls: first record does not look like a TLS handshake",
            target.address
        );
        assert_eq!(turned(late, &check, "critical"), expected);
    }
}

#[cfg(feature = "https-checks")]
#[test]
fn all_go_by_the_certificate_unless_they_say_otherwise() {
    use std::sync::Arc;

    use crate::agent::probes::secure_config;

    let mut config = secure_config(&["localhost"]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let target = Target::over(move |stream| {
        let accepted = acceptor.accept(stream);
        async { accepted.await.ok() }
    });
    let address = format!("localhost:{}", target.address.port());
    let skipping = r#""TLSSkipVerify":true"#;
    let unknown = "x509: certificate signed by unknown authority";
    let late = format!("tls: failed to verify certificate: {unknown}");

    let grpc = format!(r#""GRPC":"{address}/web","GRPCUseTLS":true"#);
    let failed = format!(
        "rpc error: code = Unavailable desc = connection error: desc = \"transport: authentication handshake failed: {unknown}\""
    );
    assert_eq!(turned(Version::V1_8_7, &grpc, "critical"), failed);
    let passed = turned(Version::V1_8_7, &format!("{grpc},{skipping}"), "passing");
    assert_eq!(passed, format!("gRPC check {address}/web: success"));
    assert_eq!(target.asked().uri().scheme_str(), Some("https"));

    let ping = format!(r#""H2PING":"{address}""#);
    let failed = format!("Failed to dial to {address}: {late}");
    assert_eq!(turned(Version::V1_22_0, &ping, "critical"), failed);
    let passed = turned(Version::V1_22_0, &format!("{ping},{skipping}"), "passing");
    assert_eq!(passed, "HTTP2 ping was successful");
    let tcp = format!(r#""TCP":"{address}","TCPUseTLS":true"#);
    assert_eq!(turned(Version::V1_22_0, &tcp, "critical"), late);
    let passed = turned(Version::V1_22_0, &format!("{tcp},{skipping}"), "passing");
    assert_eq!(passed, format!("TCP connect {address}: Success"));
}
