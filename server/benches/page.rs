//! What an open page costs the server that it looks at: CPU of a GET and of a PUT beside a reader of its events, against
//! the same without one. The reader asks for what the page asks for, and throws it away: a browser would take the caches
//! and the processors, too, and would be measured in place of the server.
//!
//! `cargo bench -p proconsul-cli --bench page` prints a line for each figure; a path behind `--` names another binary.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures the machine's time; the server never reads it outside of its clock"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "figures are read by people, and have far fewer digits than a float"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often each server has its turn.
const ROUNDS: usize = 11;
/// How long a turn is.
const TURN: Duration = Duration::from_secs(1);
/// How long it is from one of 500 requests a second to the next.
const PACE: Duration = Duration::from_millis(2);
/// What the page asks for while it shows keys: what may change them, their locks, and who holds these.
const KEYS: &str = "key-written key-deleted key-tree-deleted acquired acquire-refused released lock-delay-began lock-delay-ended \
    session-created session-renewed session-refused session-ended catalog-changed tombstones-reaped control";
const GET: &[u8] = b"GET /v1/kv/get HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A server in a process of its own, and a connection to it.
struct Server {
    child: Child,
    connection: TcpStream,
    port: u16,
    /// How many values were written: each is another one.
    written: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already if these fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(program: &str, more: &[&str]) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
        let port = free.expect("the machine has a free port").port();
        let child = Command::new(program)
            .args(["agent", "-dev", "-log-level=err", "-disable-host-node-id"])
            .args(["-grpc-port=-1", "-dns-port=-1"])
            .arg(format!("-http-port={port}"))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = child.expect("the program can be started");
        let began = Instant::now();
        let connection = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(connection) => break connection,
                Err(error) => assert!(began.elapsed() < 30 * TURN, "it does not start: {error}"),
            }
            std::thread::sleep(PACE);
        };
        connection.set_nodelay(true).expect("TCP has this option");
        let mut server = Self {
            child,
            connection,
            port,
            written: 0,
        };
        server.ask(&put("get", 0));
        server
    }

    /// Begins to read events, in a thread that ends with the server.
    fn open_page(&self, kinds: &str) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it listens");
        let kinds = kinds.split_whitespace().map(|kind| format!("&kind={kind}"));
        let query = format!("behind=5000{}", kinds.collect::<String>());
        let request =
            format!("GET /proconsul/v1/events?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut scratch = vec![0; 256 * 1024];
        let first = stream.read(&mut scratch).expect("it answers");
        assert!(scratch[..first].starts_with(b"HTTP/1.1 200"));
        std::thread::spawn(move || while stream.read(&mut scratch).is_ok_and(|count| count > 0) {});
    }

    /// Sends a request and reads its answer, which is small enough to come at once.
    fn ask(&mut self, request: &[u8]) {
        self.connection.write_all(request).expect("it reads");
        let mut answer = [0; 4096];
        let count = self.connection.read(&mut answer).expect("it answers");
        assert!(answer[..count].starts_with(b"HTTP/1.1 200"));
    }

    /// The CPU time of all threads, in nanoseconds.
    fn cpu(&self) -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let tasks = tasks.expect("it runs").filter_map(Result::ok);
        // A thread can end between the listing and the look.
        let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
        let first = |text: String| text.split_whitespace().next()?.parse::<u64>().ok();
        texts.filter_map(first).sum()
    }

    /// The CPU time of one request in a turn, in microseconds.
    fn turn(&mut self, writes: bool, is_paced: bool) -> f64 {
        let (before, began) = (self.cpu(), Instant::now());
        let mut count = 0;
        while began.elapsed() < TURN {
            if writes {
                self.written += 1;
                self.ask(&put("put", self.written));
            } else {
                self.ask(GET);
            }
            count += 1;
            if is_paced {
                std::thread::sleep((count * PACE).saturating_sub(began.elapsed()));
            }
        }
        (self.cpu() - before) as f64 / 1000.0 / f64::from(count)
    }
}

/// A PUT of 100 bytes.
fn put(key: &str, value: u64) -> Vec<u8> {
    format!(
        "PUT /v1/kv/{key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{value:0100}"
    )
    .into_bytes()
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // Cargo adds `--bench`.
    let named = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    let program = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_proconsul").to_owned());
    let controlled = || Server::start(&program, &["--control"]);
    let mut servers = [
        Server::start(&program, &[]),
        controlled(),
        controlled(),
        controlled(),
    ];
    servers[2].open_page(KEYS);
    servers[3].open_page("");
    println!(
        "| CPU of a request | without --control | with it, no page | page open on keys | on the history |"
    );
    println!("|---|---|---|---|---|");
    for is_paced in [true, false] {
        for writes in [false, true] {
            let rounds: Vec<_> = (0..ROUNDS)
                .map(|_| {
                    servers
                        .each_mut()
                        .map(|server| server.turn(writes, is_paced))
                })
                .collect();
            let of = |server: usize| median(rounds.iter().map(|round| round[server]));
            let ratio = |server: usize| median(rounds.iter().map(|round| round[server] / round[1]));
            println!(
                "| {}, {} | {:.1} us | {:.1} us | {:.1} us, {:.2} x | {:.1} us, {:.2} x |",
                if writes { "PUT" } else { "GET" },
                if is_paced {
                    "500/s"
                } else {
                    "as fast as it goes"
                },
                of(0),
                of(1),
                of(2),
                ratio(2),
                of(3),
                ratio(3),
            );
        }
    }
}
