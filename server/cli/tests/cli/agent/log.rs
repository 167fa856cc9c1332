//! The log of an agent: what it says at its start, and about requests.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::channel;

use crate::agent::{Agent, Run, address_of, request};

/// A line without its time, its client's address and its latency.
fn simplified(line: &str) -> String {
    let words = line.split(' ').skip_while(|word| !word.starts_with('['));
    let words = words.filter(|word| !word.is_empty());
    let words = words.map(|word| match word.split_once('=') {
        Some((name @ ("from" | "latency"), _)) => format!("{name}=..."),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The lines about requests so far, simplified.
fn about_requests(agent: &Agent) -> Vec<String> {
    let log = agent.log();
    let lines = log.lines().filter(|line| line.contains(" agent.http: "));
    lines.map(simplified).collect()
}

fn ask_all(agent: &mut Agent, requests: &[(&str, &str)]) {
    for (method, path) in requests {
        agent.exchange(method, path, "");
    }
}

/// F16: no request was logged at any level. Taken down from 1.8.7.
#[test]
fn requests_are_logged_in_consuls_form() {
    let mut agent = Run::agent("log-requests", &["-dev", "--as-version=1.8.7"])
        .at_a_free_port()
        .start();
    let requests = [
        ("PUT", "/v1/kv/a%20b?flags=3&token=secret"),
        ("GET", "/v1/kv/none"),
        ("GET", "/v1/kv/x?wait=foo&index=1"),
        ("POST", "/v1/status/leader"),
        ("OPTIONS", "/v1/status/leader"),
        ("GET", "/v1/catalog/service/x?dc=nope"),
        ("GET", "/ui/"),
        ("GET", "//v1/status/leader"),
        ("GET", "/v1/kv/last"),
    ];
    ask_all(&mut agent, &requests);
    let last = agent.wait_for("url=/v1/kv/last");
    assert!(
        last.starts_with("    20"),
        "indented as all lines: {last:?}"
    );
    let latency = last.split("latency=").nth(1).expect("it is the last");
    assert!(latency.ends_with('s') && latency.contains(|digit: char| digit.is_ascii_digit()));
    let finished = |method: &str, url: &str| {
        format!(
            "[DEBUG] agent.http: Request finished: method={method} url={url} from=... latency=..."
        )
    };
    let failed = |method: &str, url: &str, error: &str| {
        format!(
            "[ERROR] agent.http: Request error: method={method} url={url} from=... error={error:?}"
        )
    };
    let expected = [
        finished("PUT", "/v1/kv/a%20b?flags=3&token=<hidden>"),
        finished("GET", "/v1/kv/none"),
        finished("GET", "/v1/kv/x?wait=foo&index=1"),
        failed("POST", "/v1/status/leader", "method POST not allowed"),
        finished("POST", "/v1/status/leader"),
        finished("OPTIONS", "/v1/status/leader"),
        failed(
            "GET",
            "/v1/catalog/service/x?dc=nope",
            "No path to datacenter",
        ),
        finished("GET", "/v1/catalog/service/x?dc=nope"),
        finished("GET", "/v1/kv/last"),
    ];
    assert_eq!(about_requests(&agent), expected);
}

#[test]
fn in_json_requests_have_consuls_members() {
    let arguments = ["-dev", "-log-json", "--as-version=1.8.7"];
    let mut agent = Run::agent("log-requests-json", &arguments)
        .at_a_free_port()
        .start();
    agent.exchange("GET", "/v1/kv/x?token=<&>", "");
    agent.exchange("POST", "/v1/status/leader", "");
    let line = agent.wait_for("\"@message\":\"Request finished\"");
    let start = "    {\"@level\":\"debug\",\"@message\":\"Request finished\",\"@module\":\"agent.http\",\"@timestamp\":\"20";
    assert!(line.starts_with(start), "{line}");
    let line: serde_json::Value = serde_json::from_str(&line).expect("a line is JSON");
    let names: Vec<&String> = line.as_object().expect("it is an object").keys().collect();
    let expected = [
        "@level",
        "@message",
        "@module",
        "@timestamp",
        "from",
        "latency",
        "method",
        "url",
    ];
    assert_eq!(names, expected);
    let line = agent.wait_for("\"@message\":\"Request error\"");
    assert!(
        line.contains("\"error\":\"method POST not allowed\",\"from\":\"127.0.0.1:"),
        "{line}"
    );
}

#[test]
fn at_the_level_of_info_only_errors_of_requests_are_shown() {
    let mut agent = Run::agent("log-info", &["-dev", "-log-level=info"])
        .at_a_free_port()
        .start();
    ask_all(
        &mut agent,
        &[("GET", "/v1/kv/x"), ("POST", "/v1/status/leader")],
    );
    agent.wait_for("Request error");
    agent.signal("INT");
    let (_, log) = agent.end();
    assert!(!log.contains("Request finished"), "{log}");
}

/// F16: a 501 was logged nowhere.
#[test]
fn an_endpoint_that_is_not_emulated_is_named_once() {
    let mut agent = Run::agent("log-501", &["-dev", "-log-level=warn"])
        .at_a_free_port()
        .start();
    let requests = [
        ("GET", "/v1/agent/connect/ca/leaf/web"),
        ("GET", "/v1/agent/connect/ca/leaf/web"),
        ("GET", "/v1/internal/federation-states"),
    ];
    ask_all(&mut agent, &requests);
    agent.wait_for("endpoint=/v1/internal/federation-states");
    let expected = ["/v1/agent/connect/ca/leaf/", "/v1/internal/federation-states"].map(|endpoint| {
        format!(
            "[WARN] agent.http: Request for an endpoint of Consul's that is not emulated: endpoint={endpoint} status=501"
        )
    });
    assert_eq!(about_requests(&agent), expected);
}

/// F16: the start never said that this is proconsul, where page and control plane are, or the seed.
#[test]
fn one_line_of_the_start_says_what_this_is() {
    let introduction = |name: &str, arguments: &[&str]| {
        let run = Run::agent(name, &[&["-dev", "--seed=7"], arguments].concat());
        let mut agent = run.at_a_free_port().start().ready();
        let address = agent.address();
        let lines = agent.log();
        let lines: Vec<&str> = lines
            .lines()
            .filter(|line| line.contains("This is proconsul"))
            .collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        (address, simplified(lines[0]))
    };
    let version = env!("CARGO_PKG_VERSION");
    let text = "[INFO] agent: This is proconsul, a stand-in for Consul in tests:";
    let (address, line) = introduction("introduction", &["--control", "-client=0.0.0.0"]);
    assert_eq!(
        line,
        format!(
            "{text} version={version} emulates=2.1.0 seed=7 page=http://{address}/ui/ \
             control=http://{address}/proconsul/v1/"
        )
    );
    let (_, line) = introduction("introduction-off", &["-ui=false", "--as-version=1.8.7"]);
    assert_eq!(
        line,
        format!("{text} version={version} emulates=1.8.7 seed=7 page=off control=off")
    );
}

/// F16: nothing listens at a port of gRPC. DNS is at a free port where HTTP is.
#[test]
fn the_banner_and_the_log_say_where_the_agent_listens() {
    let run = Run::agent("ports", &["-dev", "-grpc-port=8502", "--port-file=port"]);
    let path = run.folder().join("port");
    let agent = run.start().ready();
    let line = fs::read_to_string(&path).expect("the file is there when the agent is");
    let ports: serde_json::Value = serde_json::from_str(&line).expect("it is a line of JSON");
    let dns = ports["dns"].as_str().expect("DNS is served");
    let log = agent.log();
    for expected in [
        "HTTPS: -1, gRPC: -1, gRPC-TLS: -1, DNS: 0)".to_owned(),
        format!("agent: Started DNS server: address={dns} network=udp"),
        format!("agent: Started DNS server: address={dns} network=tcp"),
    ] {
        assert!(log.contains(&expected), "{expected} in {log}");
    }
    agent.signal("INT");
    let (_, log) = agent.end();
    for network in ["udp", "tcp"] {
        let expected =
            format!("agent: Stopping server: protocol=DNS address={dns} network={network}");
        assert!(log.contains(&expected), "{expected} in {log}");
    }
    let agent = Run::agent("ports-off", &["-dev", "-dns-port=-1"]);
    let agent = agent.at_a_free_port().start().ready();
    let log = agent.log();
    assert!(
        log.contains("DNS: -1)") && !log.contains("DNS server"),
        "{log}"
    );
}

/// A pipe that nobody reads is full after some requests. All are answered, and the log says what is missing.
#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let (read, wait) = channel::<()>();
    let run = Run::agent("log-unread", &["-dev", "--port-file=port"]);
    let path = run.folder().join("port");
    let agent = run.start_and_read_after(move || {
        let _ = wait.recv();
    });
    let line = loop {
        if let Ok(line) = fs::read_to_string(&path) {
            break line;
        }
        std::thread::yield_now();
    };
    let address = address_of(line.trim_end());
    let long = format!("/v1/kv/{}", "x".repeat(16 * 1024));
    for _ in 0..200 {
        let mut connection = TcpStream::connect(address).expect("the agent listens");
        let (status, _) = request(&mut connection, "GET", &long, "");
        assert!(status.ends_with("404 Not Found"), "{status}");
    }
    drop(read);
    let mut agent = agent.ready();
    agent.wait_for("Lines of the log are missing here: nobody read standard output: lines=");
    agent.signal("TERM");
    let (code, log) = agent.end();
    assert_eq!(code, Some(1));
    assert!(
        log.lines()
            .last()
            .is_some_and(|line| line.contains("Exit code")),
        "{log}"
    );
}

/// Opens a stream of the log, and reads its head.
fn monitor(agent: &mut Agent, query: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(agent.address()).expect("the agent listens");
    let head = format!("GET /v1/agent/monitor?{query} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("the agent reads");
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        lines.read_line(&mut head).expect("the agent answers");
    }
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(!head.contains("Content-Type"), "{head}");
    lines
}

/// Returns the next line of the log: the chunks have one each.
fn next_of(lines: &mut BufReader<TcpStream>) -> String {
    let mut chunk = [const { String::new() }; 3];
    for line in &mut chunk {
        lines.read_line(line).expect("the agent goes on");
    }
    chunk[1].clone()
}

/// Taken down from 1.8.7.
#[test]
fn the_log_is_streamed_at_a_level_of_its_own() {
    let mut agent = Run::agent(
        "log-monitor",
        &["-dev", "--as-version=1.8.7", "-log-level=err"],
    )
    .at_a_free_port()
    .start()
    .ready();
    let mut texts = monitor(&mut agent, "");
    let mut objects = monitor(&mut agent, "loglevel=Debug&logjson");
    agent.put("/v1/agent/check/register", r#"{"Name":"a b","TTL":"10s"}"#);
    agent.put("/v1/agent/check/deregister/a%20b", "");
    agent.put("/v1/agent/service/register", r#"{"Name":"web"}"#);
    agent.put("/v1/agent/service/deregister/web", "");
    for expected in [
        "[INFO] agent: Synced check: check=\"a b\"",
        "[INFO] agent: Deregistered check: check=\"a b\"",
        "[INFO] agent: Synced service: service=web",
        "[INFO] agent: Deregistered service: service=web",
    ] {
        assert_eq!(simplified(next_of(&mut texts).trim_end()), expected);
    }
    let synced = next_of(&mut objects);
    assert!(
        synced.starts_with(r#"{"@level":"info","@message":"Synced check","#),
        "{synced}"
    );
    let finished = next_of(&mut objects);
    assert!(
        finished.contains(r#""@message":"Request finished""#),
        "{finished}"
    );
    // Whoever listens no longer is forgotten, and nothing of this is in the log itself.
    drop((texts, objects));
    agent.put("/v1/agent/service/register", r#"{"Name":"web"}"#);
    let log = agent.log();
    assert!(
        !log.contains("Synced") && !log.contains("Request finished"),
        "{log}"
    );
}

/// F13: nothing said that other machines read the secrets of all tokens.
#[test]
fn a_control_plane_that_other_machines_reach_is_warned_of() {
    let arguments = ["-dev", "-client=0.0.0.0", "-control"];
    let mut agent = Run::agent("log-control", &arguments)
        .at_a_free_port()
        .start_with_errors();
    let start = "The control plane is served at 0.0.0.0: whoever reaches it";
    agent.wait_for(&format!("[WARN]  agent: {start}"));
    agent.signal("TERM");
    let errors = agent.errors();
    assert_eq!(errors.matches(start).count(), 1, "{errors}");

    for arguments in [
        &["-dev", "-control"][..],
        &["-dev", "-client=0.0.0.0"],
        &["-dev", "-client=0.0.0.0", "-control-addr=127.0.0.1"],
    ] {
        let agent = Run::agent("log-no-control", arguments)
            .at_a_free_port()
            .start()
            .ready();
        let log = agent.log();
        assert!(!log.contains("whoever reaches it"), "{log}");
    }
}
