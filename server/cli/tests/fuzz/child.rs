//! The server: a debug build in a process of its own, so that its end is seen, whatever ends it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// As much stack as the smallest threads of test programs have. The whole server has to do with it.
const STACK: &str = "524288";
/// How much of what the server said last is kept.
const KEPT: usize = 16 * 1024;

/// A running server.
pub(crate) struct Server {
    child: Child,
    said: Arc<Mutex<String>>,
    /// Where Consul's API is served.
    pub(crate) data: SocketAddr,
    /// Where the control plane is, which no fault touches.
    pub(crate) control: SocketAddr,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_proconsul"))
            .args(["agent", "-dev", "-log-level", "err", "--seed", "1"])
            .args(["--control", "--control-port", "0"])
            .arg("--http-port-ephemeral")
            .env_clear()
            .env("RUST_MIN_STACK", STACK)
            // What glibc keeps in an arena for each thread grows for a long time, and would hide what leaks.
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let said = Arc::new(Mutex::new(String::new()));
        keep(child.stderr.take().expect("it is piped"), Arc::clone(&said));
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let ports = loop {
            let mut line = String::new();
            let read = output.read_line(&mut line).expect("its output is text");
            assert!(read > 0, "the server has not started: {}", tail(&said));
            if line.starts_with("{\"") {
                break line;
            }
        };
        let ports: serde_json::Value = serde_json::from_str(&ports).expect("the line is JSON");
        let address = |name: &str| {
            let text = ports[name].as_str().expect("the line names the port");
            text.parse().expect("it is an address")
        };
        let (data, control) = (address("http"), address("control"));
        keep(output, Arc::default());
        Self {
            child,
            said,
            data,
            control,
        }
    }

    /// What is wrong with the process, if anything is.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let said = tail(&self.said);
        if let Some(status) = self.child.try_wait().expect("a child can be asked") {
            return Some(format!("the server has ended: {status}\n{said}"));
        }
        said.contains("panicked at")
            .then(|| format!("the server has panicked\n{said}"))
    }

    /// How much memory the process has, in KiB; 0 where the system does not say.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().split(' ').next());
        number.map_or(0, |number| number.parse().expect("a number of KiB"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the end of what the server says, in a thread of its own: it must never wait for who reads it.
fn keep(from: impl Read + Send + 'static, to: Arc<Mutex<String>>) {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let mut kept = to.lock().expect("nobody panics with it");
            kept.push_str(&String::from_utf8_lossy(&line));
            // A panic's first line stays.
            if kept.len() > KEPT && !kept.contains("panicked at") {
                kept.clear();
            }
            kept.truncate(2 * KEPT);
            line.clear();
        }
    });
}

fn tail(said: &Mutex<String>) -> String {
    said.lock().expect("nobody panics with it").clone()
}
