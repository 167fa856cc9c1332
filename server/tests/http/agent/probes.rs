//! HTTP, TCP and UDP checks against listeners that are well, turn sick, and do not answer (session.md 4.4).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session};

const INTERVAL: Duration = Duration::from_secs(10);

/// An HTTP server that answers each request as it is told to; what it was asked comes back.
struct Target {
    address: SocketAddr,
    answers: Sender<&'static str>,
    asked: Receiver<String>,
}

impl Target {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let (answers, next) = channel::<&'static str>();
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection comes in");
                let request = read_request(&stream);
                if tell.send(request).is_err() {
                    return;
                }
                let Ok(answer) = next.recv() else { return };
                // Nobody is left to read the answer of a check that took too long.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self {
            address,
            answers,
            asked,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn answers(&self, answer: &'static str) {
        self.answers.send(answer).expect("the target listens");
    }

    fn asked(&self) -> String {
        let asked = self.asked.recv_timeout(Duration::from_secs(20));
        asked.expect("the target is asked")
    }
}

/// Head and body of a request.
fn read_request(stream: impl Read) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the request is text");
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().expect("a length is a number");
        }
        request.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader
        .read_exact(&mut body)
        .expect("the body is as long as announced");
    request + &String::from_utf8(body).expect("the body is text")
}

const WELL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell";
const SICK: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nsick";
const TIRED: &str = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 5\r\n\r\ntired";

/// Registers a service with this check, whose clock stands still before the first run.
pub(crate) fn consul_with(version: Version, check: &str) -> Consul {
    let consul = Consul::frozen(version);
    let body = format!(r#"{{"Name":"web","Check":{{"CheckID":"c",{check},"Interval":"10s"}}}}"#);
    consul.put("/v1/agent/service/register", body).is(200, "");
    consul
}

pub(crate) fn run(consul: &Consul) -> (String, String) {
    run_checks_of(consul, "web")
}

/// Lets the next run come, and waits until the catalog knows its result: status and output of the service's first check.
pub(crate) fn run_checks_of(consul: &Consul, service: &str) -> (String, String) {
    let path = format!("/v1/health/checks/{service}");
    let index = consul.get(&path).index();
    let mut changed = consul.block(&format!("{path}?index={index}"));
    consul.server().advance(INTERVAL);
    let checks = changed.answer().json();
    let text = |name: &str| checks[0][name].as_str().unwrap_or_default().to_owned();
    (text("Status"), text("Output"))
}

#[test]
fn an_http_check_goes_by_the_status_of_the_answer() {
    let target = Target::start();
    let url = target.url("/health?deep");
    let consul = consul_with(Version::V1_8_7, &format!(r#""HTTP":"{url}""#));
    for (answer, status, said) in [
        (WELL, "passing", "200 OK Output: well"),
        (SICK, "critical", "503 Service Unavailable Output: sick"),
        (TIRED, "warning", "429 Too Many Requests Output: tired"),
        (
            "HTTP/1.1 404 Nobody\r\nConnection: close\r\n\r\n",
            "critical",
            "404 Nobody Output: ",
        ),
        (
            "HTTP/1.1 204 No Content\r\n\r\n",
            "passing",
            "204 No Content Output: ",
        ),
        ("", "critical", ""),
    ] {
        target.answers(answer);
        let expected = if answer.is_empty() {
            format!("Get \"{url}\": EOF")
        } else {
            format!("HTTP GET {url}: {said}")
        };
        assert_eq!(run(&consul), (status.to_owned(), expected));
        target.asked();
    }
}

#[test]
fn the_request_of_an_http_check() {
    let target = Target::start();
    let url = target.url("/x?y");
    let check = format!(
        r#""HTTP":"{url}","Method":"POST","Body":"hi","Header":{{"X-A":["1","2"],"Host":["there"]}}"#
    );
    let consul = consul_with(Version::V1_8_7, &check);
    target.answers(WELL);
    assert_eq!(run(&consul).0, "passing");
    let expected = [
        "POST /x?y HTTP/1.1",
        "Host: there",
        "User-Agent: Consul Health Check",
        "Content-Length: 2",
        "Accept: text/plain, text/*, */*",
        "X-A: 1",
        "X-A: 2",
        "Accept-Encoding: gzip",
        "Connection: close",
        "",
        "hi",
    ];
    assert_eq!(target.asked(), expected.join("\r\n"));
}

#[test]
fn a_redirect_is_followed() {
    let target = Target::start();
    let url = target.url("/a");
    let consul = consul_with(Version::V1_8_7, &format!(r#""HTTP":"{url}""#));
    target.answers("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n");
    target.answers(WELL);
    let expected = format!("HTTP GET {url}: 200 OK Output: well");
    assert_eq!(run(&consul), ("passing".to_owned(), expected));
    assert!(target.asked().starts_with("GET /a "));
    let second = target.asked();
    assert!(second.starts_with("GET /b ") && second.contains(&format!("Referer: {url}\r\n")));
}

#[test]
fn the_first_run_is_within_the_first_interval_and_the_next_an_interval_after_the_last() {
    let target = Target::start();
    let check = format!(r#""HTTP":"{}""#, target.url("/"));
    let consul = consul_with(Version::V1_8_7, &check);
    let first = consul.server().next_deadline().expect("a run is due");
    assert!(first < INTERVAL, "{first:?}");
    target.answers(WELL);
    consul.server().advance_to_next();
    target.asked();
    assert_eq!(consul.server().next_deadline(), Some(INTERVAL));
}

#[test]
fn an_http_check_that_is_not_answered_in_time_is_critical() {
    let target = Target::start();
    let url = target.url("/");
    let check = format!(r#""HTTP":"{url}","Timeout":"3s","Status":"passing""#);
    let consul = consul_with(Version::V1_8_7, &check);
    let index = consul.get("/v1/health/checks/web").index();
    let mut changed = consul.block(&format!("/v1/health/checks/web?index={index}"));
    consul.server().advance_to_next();
    target.asked();
    consul.server().advance(Duration::from_millis(2_999));
    assert!(!consul.has_answered(&mut changed));
    consul.server().advance(Duration::from_millis(1));
    let said = format!(
        r#""Output":"Get \"{url}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)""#
    );
    let answer = changed.answer();
    assert!(answer.text().contains(&said), "{}", answer.text());
}

/// Seen on 1.8.7.
#[test]
fn an_http_check_keeps_the_end_of_a_body() {
    let target = Target::start();
    let url = target.url("/");
    let check = format!(r#""HTTP":"{url}","OutputMaxSize":4"#);
    let consul = consul_with(Version::V1_8_7, &check);
    target.answers("HTTP/1.1 200 OK\r\n\r\n0123456789");
    let expected = format!("HTTP GET {url}: 200 OK Output: 6789");
    assert_eq!(run(&consul), ("passing".to_owned(), expected));
}

#[test]
fn a_tcp_check_goes_by_whether_somebody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let consul = consul_with(Version::V1_8_7, &format!(r#""TCP":"{address}""#));
    let success = format!("TCP connect {address}: Success");
    assert_eq!(run(&consul), ("passing".to_owned(), success));
    drop(listener);
    let refused = format!("dial tcp {address}: connect: connection refused");
    assert_eq!(run(&consul), ("critical".to_owned(), refused));
}

/// The words are those of Go's library, as reports of users show them.
#[test]
fn a_udp_check_goes_by_the_answer_to_a_datagram() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let address = socket.local_addr();
    let address = address.expect("a bound socket has an address");
    let patience = Some(Duration::from_secs(20));
    socket.set_read_timeout(patience).expect("it is not zero");
    let check = format!(r#""UDP":"{address}","Timeout":"1s""#);
    let consul = consul_with(Version::V1_22_0, &check);
    let asked = || socket.recv_from(&mut [0; 9]).expect("a datagram comes").1;

    // Nobody answers: the status stays, and the next run comes.
    let index = consul.get("/v1/health/checks/web").index();
    let mut changed = consul.block(&format!("/v1/health/checks/web?index={index}"));
    consul.server().advance_to_next();
    asked();
    consul.server().advance(Duration::from_secs(1));
    assert!(!consul.has_answered(&mut changed));

    consul.server().advance_to_next();
    let agent = asked();
    socket.send_to(b"well", agent).expect("the agent waits");
    let answer = changed.answer();
    let success = format!(r#""Output":"UDP connect {address}: Success""#);
    assert!(answer.text().contains(&success), "{}", answer.text());

    drop(socket);
    let (status, output) = run(&consul);
    assert_eq!(status, "critical");
    let refused = format!("->{address}: read: connection refused");
    assert!(output.starts_with("read udp 127.0.0.1:"), "{output}");
    assert!(output.ends_with(&refused), "{output}");
}

#[test]
fn a_check_that_turns_sick_ends_the_session_and_frees_the_lock() {
    let target = Target::start();
    let check = format!(r#""HTTP":"{}","Status":"passing""#, target.url("/"));
    let consul = consul_with(Version::V1_8_7, &check);
    let session = create_session(&consul, r#"{"NodeChecks":["c"]}"#);
    consul
        .put(&format!("/v1/kv/k?acquire={session}"), "v")
        .is(200, "true");
    target.answers(SICK);
    run(&consul);
    consul
        .get(&format!("/v1/session/info/{session}"))
        .is(200, "[]");
    assert!(!consul.get("/v1/kv/k").text().contains("Session"));
}

/// 1.8 goes by the last run, whatever the thresholds.
#[test]
fn thresholds_hold_a_status_back_since_1_9() {
    let check = |target: &Target| {
        format!(
            r#""HTTP":"{}","Status":"passing","FailuresBeforeCritical":2"#,
            target.url("/")
        )
    };
    let target = Target::start();
    let old = consul_with(Version::V1_8_7, &check(&target));
    target.answers(SICK);
    assert_eq!(run(&old).0, "critical");
    let target = Target::start();
    let new = consul_with(Version::V1_22_0, &check(&target));
    target.answers(SICK);
    new.server().advance(INTERVAL);
    target.asked();
    target.answers(SICK);
    // The second run comes an interval after the end of the first, of which nothing can be seen.
    let index = new.get("/v1/health/checks/web").index();
    let mut changed = new.block(&format!("/v1/health/checks/web?index={index}"));
    while !new.has_answered(&mut changed) {
        new.server().advance(INTERVAL);
    }
    assert!(changed.answer().text().contains(r#""Status":"critical""#));
}

#[test]
fn a_check_that_is_registered_anew_forgets_the_run_under_way() {
    let target = Target::start();
    let check = format!(r#""HTTP":"{}""#, target.url("/"));
    let consul = consul_with(Version::V1_8_7, &check);
    consul.server().advance(INTERVAL);
    target.asked();
    let body = r#"{"Name":"web","Check":{"CheckID":"c","TTL":"1h"}}"#;
    consul.put("/v1/agent/service/register", body).is(200, "");
    target.answers(WELL);
    consul
        .put("/v1/agent/check/warn/c?note=mine", "")
        .is(200, "");
    let checks = consul.get("/v1/agent/checks");
    assert!(
        checks.text().contains(r#""Status":"warning""#),
        "{}",
        checks.text()
    );
}

/// The settings of a server of TLS whose certificate for these names nobody has signed but itself.
#[cfg(feature = "https-checks")]
pub(crate) fn secure_config(names: &[&str]) -> rustls::ServerConfig {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names are sound");
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, "localhost");
    with_certificate(&params, &KeyPair::generate().expect("a key can be made"))
}

#[cfg(feature = "https-checks")]
fn with_certificate(
    params: &rcgen::CertificateParams,
    key: &rcgen::KeyPair,
) -> rustls::ServerConfig {
    use std::sync::Arc;

    use rustls::ServerConfig;
    use rustls::crypto::ring;
    use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

    let own = params.self_signed(key).expect("a certificate can be made");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for them")
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key);
    config.expect("the key is the certificate's")
}

/// A server of HTTPS that is well.
#[cfg(feature = "https-checks")]
fn secure_target(config: rustls::ServerConfig) -> SocketAddr {
    use std::sync::Arc;

    use rustls::{ServerConnection, StreamOwned};

    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection comes in");
            let server = ServerConnection::new(Arc::clone(&config)).expect("a sound config");
            let mut secure = StreamOwned::new(server, stream);
            // A client that does not trust it is gone.
            if secure.read(&mut [0; 4096]).is_ok() {
                let _ = secure.write_all(WELL.as_bytes());
                secure.conn.send_close_notify();
                let _ = secure.flush();
            }
        }
    });
    address.expect("a bound socket has an address")
}

/// What an HTTPS check says that turns critical.
#[cfg(feature = "https-checks")]
fn distrusted(version: Version, url: &str) -> String {
    let consul = consul_with(version, &format!(r#""HTTP":"{url}","Status":"passing""#));
    let (status, output) = run(&consul);
    assert_eq!(status, "critical", "{output}");
    let why = output.strip_prefix(&format!("Get \"{url}\": "));
    why.unwrap_or_else(|| panic!("it is about another URL: {output}"))
        .to_owned()
}

#[cfg(feature = "https-checks")]
#[test]
fn an_https_check_goes_by_the_certificate_unless_it_says_otherwise() {
    let secure = secure_target(secure_config(&["localhost"]));
    let url = format!("https://localhost:{}/x", secure.port());
    let unknown = "x509: certificate signed by unknown authority";
    assert_eq!(distrusted(Version::V1_8_7, &url), unknown);
    let late = format!("tls: failed to verify certificate: {unknown}");
    assert_eq!(distrusted(Version::V1_22_0, &url), late);
    let check = format!(r#""HTTP":"{url}","TLSSkipVerify":true"#);
    let expected = format!("HTTP GET {url}: 200 OK Output: well");
    assert_eq!(
        run(&consul_with(Version::V1_8_7, &check)),
        ("passing".to_owned(), expected)
    );
}

/// The words were seen on 1.8.7. The name is told before the authority.
#[cfg(feature = "https-checks")]
#[test]
fn an_https_check_says_which_names_a_certificate_has() {
    let legacy = "certificate relies on legacy Common Name field, use SANs or temporarily enable Common Name matching \
                  with GODEBUG=x509ignoreCN=0";
    let none = "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs";
    let rows: [(&[&str], &str, &str); 4] = [
        (
            &["a.example", "*.b.example"],
            "certificate is valid for a.example, *.b.example, not localhost",
            none,
        ),
        (
            &["127.0.0.2", "10.0.0.1"],
            "certificate is not valid for any names, but wanted to match localhost",
            "certificate is valid for 127.0.0.2, 10.0.0.1, not 127.0.0.1",
        ),
        (
            &["localhost"],
            "certificate signed by unknown authority",
            none,
        ),
        (&[], legacy, none),
    ];
    for (names, by_name, by_address) in rows {
        let port = secure_target(secure_config(names)).port();
        let said = |host: &str| distrusted(Version::V1_8_7, &format!("https://{host}:{port}/"));
        assert_eq!(said("localhost"), format!("x509: {by_name}"));
        assert_eq!(said("127.0.0.1"), format!("x509: {by_address}"));
    }
}

/// The words were seen on 1.8.7. The time is told before the name.
#[cfg(feature = "https-checks")]
#[test]
fn an_https_check_says_when_a_certificate_is_valid() {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    let rows = [
        (2020, " is after 2021-01-01T00:00:00Z"),
        (2999, " is before 2999-01-01T00:00:00Z"),
    ];
    for (year, end) in rows {
        let mut params = CertificateParams::new(["a.example".to_owned()]).expect("a sound name");
        params.not_before = date_time_ymd(year, 1, 1);
        params.not_after = date_time_ymd(year + 1, 1, 1);
        let key = KeyPair::generate().expect("a key can be made");
        let port = secure_target(with_certificate(&params, &key)).port();
        let said = distrusted(Version::V1_8_7, &format!("https://localhost:{port}/"));
        let start = "x509: certificate has expired or is not yet valid: current time 2";
        assert!(said.starts_with(start) && said.ends_with(end), "{said}");
    }
}

#[cfg(feature = "https-checks")]
#[test]
fn an_https_check_of_a_server_that_speaks_http() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr();
    let address = address.expect("a bound socket has an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection comes in");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n");
        }
    });
    let url = format!("https://{address}/");
    let check = format!(r#""HTTP":"{url}","TLSSkipVerify":true,"Status":"passing""#);
    let consul = consul_with(Version::V1_8_7, &check);
    let expected = format!("Get \"{url}\": tls: first record does not look like a TLS handshake");
    assert_eq!(run(&consul), ("critical".to_owned(), expected));
}
