//! A server for the suite's own tests: it answers what a function says, or stays silent.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::wire::Address;

/// A listening fake; dropping it stops it.
pub(crate) struct Fake {
    socket: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Reads one request head per connection, says `bytes` and closes.
    pub(crate) fn saying(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::answering(move |_| Some(bytes.clone()))
    }

    /// Never says anything.
    pub(crate) fn silent() -> Self {
        Self::answering(|_| None)
    }

    /// Answers each request line with the bytes that `answer` gives; `None` keeps the connection open in silence.
    pub(crate) fn answering(
        answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let socket = listener
            .local_addr()
            .expect("a bound listener has an address");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let answer = Arc::new(answer);
        let thread = std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                if let Some(stream) = serve(stream, answer.as_ref()) {
                    silent.push(stream);
                }
            }
        });
        Self {
            socket,
            stopping,
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> Address {
        Address {
            host: self.socket.to_string(),
            socket: self.socket,
        }
    }

    /// Stops the fake and gives the address at which nobody listens any more.
    pub(crate) fn address_after_stop(self) -> Address {
        self.address()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // A connection of our own wakes the accepting thread.
        drop(TcpStream::connect(self.socket));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the fake's thread does not panic");
        }
    }
}

/// Serves one request; gives the stream back when it stays silent.
fn serve(
    mut stream: TcpStream,
    answer: &(impl Fn(&str) -> Option<Vec<u8>> + ?Sized),
) -> Option<TcpStream> {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut body = vec![0; content_length(&head)];
    if stream.read_exact(&mut body).is_err() {
        return None;
    }
    match answer(head.lines().next().unwrap_or_default()) {
        Some(bytes) => {
            if stream.write_all(&bytes).is_err() {
                // The client has gone; the fake does not care.
            }
            None
        }
        None => Some(stream),
    }
}

fn content_length(head: &str) -> usize {
    head.lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .and_then(|length| length.parse().ok())
        .unwrap_or(0)
}

/// The least that a server must say to be taken for a Consul.
pub(crate) fn consul_like(line: &str) -> Vec<u8> {
    const AGENT: &str = r#"{"Config":{"Version":"1.8.7","NodeName":"n","Datacenter":"dc1"}}"#;
    const TTL: &str = "Invalid Session TTL '1', must be between [10s=24h0m0s]";
    let (status, body) = match line.split(' ').nth(1).unwrap_or_default() {
        "/v1/agent/self" => (200, AGENT),
        "/v1/session/create" => (500, TTL),
        "/v1/acl/tokens" => (401, "ACL support disabled"),
        "/v1/status/peers" => (200, r#"["127.0.0.1:8300"]"#),
        "/v1/session/list" => (200, "[]"),
        "/v1/kv/good" => (200, "true"),
        _ => (404, ""),
    };
    answer(status, body)
}

/// The same with the inside of a real Consul.
pub(crate) fn genuine_like(line: &str) -> Vec<u8> {
    if !line.contains("/v1/agent/self") {
        return consul_like(line);
    }
    let settings: serde_json::Map<String, serde_json::Value> = (0..200)
        .map(|n| (format!("Setting{n}"), n.into()))
        .collect();
    let agent = serde_json::json!({
        "Config": {"Version": "1.8.7", "NodeName": "n", "Datacenter": "dc1"},
        "DebugConfig": settings,
        "Stats": {"runtime": {"version": "go1.15.9"}},
    });
    answer(200, &agent.to_string())
}

fn answer(status: u16, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
