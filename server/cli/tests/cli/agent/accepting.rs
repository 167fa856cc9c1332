//! Accepting when there are no file descriptors left.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How many files the server may have open.
const FILES: usize = 64;
/// For how long the server is watched.
const WATCHED: Duration = Duration::from_secs(3);
/// How much of that it may spend, in hundredths of a second. It rests some ten times; were it to try again at once, it would
/// take all that the machine has left for it.
const MOST: u64 = 10;

/// An agent in a process of its own. Dropping it kills it.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Agent {
    /// An agent that may have few files open, and its address.
    fn start() -> (Self, SocketAddr) {
        let command = format!(
            "ulimit -n {FILES}; exec \"$0\" agent -dev -log-level err --http-port-ephemeral"
        );
        let mut child = Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_proconsul")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut lines = output.lines().map_while(Result::ok);
        let line = lines.find(|line| line.starts_with("{\"http\""));
        let line = line.expect("the agent says where it is");
        let address = line.split('"').nth(3).expect("it is JSON");
        (Self(child), address.parse().expect("it is an address"))
    }

    /// What the process has spent, in hundredths of a second.
    fn spent(&self) -> u64 {
        let path = format!("/proc/{}/stat", self.0.id());
        let stat = std::fs::read_to_string(path).expect("the process is there");
        let (_, behind_name) = stat.rsplit_once(')').expect("the name is in parentheses");
        let fields: Vec<&str> = behind_name.split(' ').collect();
        let field = |place: usize| fields[place].parse::<u64>().expect("a number");
        field(12) + field(13)
    }
}

fn status(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(b"GET /v1/status/leader HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(target_os = "linux")]
#[test]
fn without_files_accepting_rests_and_goes_on() {
    let (agent, address) = Agent::start();
    let connect = |_| TcpStream::connect(address).expect("there is room to wait");
    let clients: Vec<TcpStream> = (0..2 * FILES).map(connect).collect();
    let before = agent.spent();
    let last = clients.last().expect("there are clients");
    let set = last.set_read_timeout(Some(WATCHED));
    set.expect("a socket has a timeout");
    let waited = { last }.read(&mut [0]);
    assert!(
        waited.is_err(),
        "nobody has been accepted who asked nothing"
    );
    let spent = agent.spent() - before;
    assert!(spent <= MOST, "{spent} hundredths of a second");
    drop(clients);
    let answer = status(address).expect("the server accepts again");
    assert!(answer.starts_with("HTTP/1.0 200 OK"), "{answer}");
}
