//! Running the binary and talking to it. Nothing sleeps: a test waits for a line or for an answer, with a bound.

mod accepting;
pub(super) mod frozen;
pub(super) mod log;
pub(super) mod on_demand;
pub(super) mod output;
pub(super) mod own_files;
pub(super) mod signals;
pub(super) mod start_data;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// Longer than anything takes on the slowest machine; reached only by what has failed.
const BOUND: Duration = Duration::from_secs(30);

/// A run of the binary that is being prepared, in a folder of its own and without any variables but those it is given.
pub(crate) struct Run {
    command: Command,
    folder: PathBuf,
}

impl Run {
    /// A run of `proconsul agent` with these arguments. `name` is that of the folder.
    pub(crate) fn agent(name: &str, arguments: &[&str]) -> Run {
        Run::verb(name, &[&["agent"], arguments].concat())
    }

    /// A run of any verb.
    pub(crate) fn verb(name: &str, arguments: &[&str]) -> Run {
        Run::program(name, Path::new(env!("CARGO_BIN_EXE_proconsul")), arguments)
    }

    /// A run of the binary through a link named `consul`.
    pub(crate) fn as_consul(name: &str, arguments: &[&str]) -> Run {
        let link = new_folder(&format!("{name}-link")).join("consul");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_proconsul"), &link)
            .expect("the folder is new");
        Run::program(name, &link, arguments)
    }

    fn program(name: &str, program: &Path, arguments: &[&str]) -> Run {
        let folder = new_folder(name);
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&folder)
            .env_clear()
            .stdin(Stdio::null());
        Run { command, folder }
    }

    /// Writes a file into the folder, in which the binary runs.
    pub(crate) fn file(self, name: &str, text: &str) -> Run {
        let path = self.folder.join(name);
        let parent = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .expect("the folder can be written to");
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Run {
        self.command.env(name, value);
        self
    }

    /// Serves HTTP at a free port, whatever the arguments say.
    pub(crate) fn at_a_free_port(self) -> Run {
        self.variable("PROCONSUL_HTTP_PORT_EPHEMERAL", "true")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts an agent whose standard error is kept for [`Agent::errors`].
    pub(crate) fn start_with_errors(mut self) -> Agent {
        self.command.stderr(Stdio::piped());
        self.start()
    }

    /// Starts an agent.
    pub(crate) fn start(self) -> Agent {
        self.start_and_read_after(|| {})
    }

    /// Starts an agent whose output nobody reads before `wait` has returned.
    pub(crate) fn start_and_read_after(mut self, wait: impl FnOnce() + Send + 'static) -> Agent {
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let stdout = child.stdout.take().expect("the output is piped");
        let (sender, lines) = channel();
        thread::spawn(move || {
            wait();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Agent {
            child,
            lines,
            log: Vec::new(),
            folder: self.folder,
        }
    }

    /// Runs to the end.
    pub(crate) fn output(mut self) -> Ended {
        let command = self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be run");
        let stdout = read_in_background(child.stdout.take().expect("the output is piped"));
        let stderr = read_in_background(child.stderr.take().expect("the output is piped"));
        let texts = stdout
            .recv_timeout(BOUND)
            .and_then(|stdout| Ok((stdout, stderr.recv_timeout(BOUND)?)));
        let Ok((stdout, stderr)) = texts else {
            child.kill().expect("it still runs");
            panic!(
                "it does not end, but prints: {}",
                stdout.recv().unwrap_or_default()
            );
        };
        let status = child.wait().expect("a child can be waited for");
        Ended {
            code: status.code(),
            stdout,
            stderr,
        }
    }

    /// Runs to the end, and expects to be refused: the text on standard error, and exit code 1.
    pub(crate) fn refusal(self) -> String {
        let ended = self.output();
        assert_eq!(
            (ended.code, &ended.stdout[..]),
            (Some(1), ""),
            "{}",
            ended.stderr
        );
        ended.stderr
    }
}

/// Everything that comes, once the other side has closed it.
fn read_in_background(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        if pipe.read_to_string(&mut text).is_ok() {
            // Nobody may be waiting any more.
            let _ = sender.send(text);
        }
    });
    receiver
}

/// An empty folder below Cargo's folder for temporary files.
fn new_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(name);
    // What an earlier run left.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("Cargo's folder for temporary files can be written to");
    folder
}

/// What a run that has ended printed.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A running agent. Dropping it kills it.
pub(crate) struct Agent {
    child: Child,
    lines: Receiver<String>,
    log: Vec<String>,
    folder: PathBuf,
}

impl Agent {
    /// Waits for a line that contains `text`, also among those that were waited for before.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        if let Some(line) = self.log.iter().find(|line| line.contains(text)) {
            return line.clone();
        }
        loop {
            match self.lines.recv_timeout(BOUND) {
                Ok(line) => self.log.push(line.clone()),
                Err(error) => panic!(
                    "no line with {text:?} ({error}) in\n{}",
                    self.log.join("\n")
                ),
            }
            if let Some(line) = self.log.last().filter(|line| line.contains(text)) {
                return line.clone();
            }
        }
    }

    /// Waits until the agent says that it runs, and returns itself.
    pub(crate) fn ready(mut self) -> Agent {
        self.wait_for("Consul agent running!");
        self
    }

    /// All lines so far, one after the other.
    pub(crate) fn log(&self) -> String {
        self.log.join("\n")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where HTTP is served, as the line of JSON says.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let line = self.wait_for("{\"http\":");
        address_of(&line)
    }

    /// Asks for a path that has to be answered with 200, and returns the body.
    pub(crate) fn get(&mut self, path: &str) -> String {
        self.request("GET", path, "")
    }

    /// Sends a body to a path that has to answer with 200, and returns the answer's body.
    pub(crate) fn put(&mut self, path: &str, body: &str) -> String {
        self.request("PUT", path, body)
    }

    /// Puts to a path that has to refuse, and returns the answer's body.
    pub(crate) fn put_in_vain(&mut self, path: &str) -> String {
        let mut connection = TcpStream::connect(self.address()).expect("the agent listens");
        let (status, answer) = request(&mut connection, "PUT", path, "");
        assert!(status.ends_with("500 Internal Server Error"), "{status}");
        answer
    }

    fn request(&mut self, method: &str, path: &str, body: &str) -> String {
        let (head, answer) = self.exchange(method, path, body);
        let status = head.lines().next().unwrap_or_default();
        assert!(
            status.ends_with("200 OK"),
            "{method} {path}: {status}\n{answer}"
        );
        answer
    }

    /// Any request, and what comes of it: the head and the body of the answer.
    pub(crate) fn exchange(&mut self, method: &str, path: &str, body: &str) -> (String, String) {
        let mut connection = TcpStream::connect(self.address()).expect("the agent listens");
        exchange(&mut connection, method, path, body)
    }

    /// Sends a signal by its name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let status = Command::new("sh")
            .args(["-c", &kill])
            .status()
            .expect("there is a shell");
        assert!(status.success(), "the agent can be sent a signal");
    }

    /// Stops the process until it is sent `CONT`. It stands still when this returns, which is a moment after the
    /// signal was sent.
    pub(crate) fn stand_still(&self) {
        self.signal("STOP");
        let state = format!("/proc/{}/stat", self.child.id());
        while fs::read_to_string(&state).is_ok_and(|state| !state.contains(") T ")) {
            thread::yield_now();
        }
    }

    /// Everything on standard error, after the end.
    pub(crate) fn errors(mut self) -> String {
        let errors = self.child.stderr.take();
        let errors = read_in_background(errors.expect("it was started with errors"));
        errors.recv_timeout(BOUND).expect("it ends")
    }

    /// Waits for the end, and returns the exit code and everything that was printed.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        loop {
            match self.lines.recv_timeout(BOUND) {
                Ok(line) => self.log.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.log()),
            }
        }
        // Its output has ended, so it has, or will at once.
        let status = self.child.wait().expect("a child can be waited for");
        (status.code(), self.log())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in the line of JSON; what is served everywhere is asked at the loopback interface.
pub(crate) fn address_of(line: &str) -> SocketAddr {
    let line: Value = serde_json::from_str(line).expect("the line is JSON");
    let address = line["http"].as_str().expect("HTTP is served");
    let address: SocketAddr = address.parse().expect("the line holds an address");
    if address.ip().is_unspecified() {
        SocketAddr::from(([127, 0, 0, 1], address.port()))
    } else {
        address
    }
}

/// One request on a connection, which the server closes: the status line and the body.
pub(crate) fn request(
    connection: &mut (impl Read + Write),
    method: &str,
    path: &str,
    body: &str,
) -> (String, String) {
    let (head, body) = exchange(connection, method, path, body);
    (head.lines().next().unwrap_or_default().to_owned(), body)
}

/// One request on a connection, which the server closes: the head and the body of the answer.
fn exchange(
    connection: &mut (impl Read + Write),
    method: &str,
    path: &str,
    body: &str,
) -> (String, String) {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.0\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    connection
        .write_all((head + body).as_bytes())
        .expect("the server reads");
    let mut answer = String::new();
    connection
        .read_to_string(&mut answer)
        .expect("the server answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    (head.to_owned(), body.to_owned())
}
