//! The examples, as programs: what Consul's guides promise of them happens.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use proconsul::Server;

/// An example that runs until its standard input ends.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(server: &Server, name: &str, arguments: &[&str]) -> Self {
        // A run of this test alone does not build them.
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "-p",
                "proconsul-client",
                "--example",
                name,
            ])
            .status();
        assert!(built.expect("cargo runs").success(), "the example {name}");
        let own = std::env::current_exe().expect("this test is a file");
        let profile = own.parent().and_then(Path::parent);
        let examples = profile.expect("a test stands in a folder of the profile");
        let mut child = Command::new(examples.join("examples").join(name))
            .args(arguments)
            .env("CONSUL_HTTP_ADDR", server.addr().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it was built");
        let output = child.stdout.take().expect("it is piped");
        let lines = BufReader::new(output).lines();
        Self { child, lines }
    }

    /// The next line that it says.
    fn says(&mut self) -> String {
        let line = self.lines.next().expect("it says something");
        line.expect("it is text")
    }

    /// Lets it finish; whether it did as it should.
    fn finishes(&mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().expect("it was started here").success()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn frozen() -> Server {
    Server::builder().frozen().start().expect("a free port")
}

#[test]
fn a_kept_session_goes_with_its_program() {
    let server = frozen();
    let mut keeper = Program::start(&server, "session_keeper", &[]);
    let said = keeper.says();
    let sessions = server.sessions().list();
    assert_eq!(sessions.len(), 1, "{said}");
    assert!(keeper.finishes());
    assert_eq!(keeper.says(), "destroyed");
    assert!(server.sessions().list().is_empty());
}

#[test]
fn a_second_worker_is_refused_also_right_after_the_first_one_died() {
    let server = frozen();
    let mut first = Program::start(&server, "exclusive_worker", &[]);
    assert_eq!(first.says(), "working");
    let refused = || Program::start(&server, "exclusive_worker", &[]).says();
    assert_eq!(refused(), "somebody else does it");
    first.child.kill().expect("it runs");
    // Its session lapses, and its lock-delay begins.
    server.advance(Duration::from_secs(30));
    assert_eq!(refused(), "somebody else does it");
    server.advance(Duration::from_secs(15));
    let mut second = Program::start(&server, "exclusive_worker", &[]);
    assert_eq!(second.says(), "working");
    assert!(second.finishes());
    assert_eq!(second.says(), "finished");
}

#[test]
fn a_candidate_follows_when_the_leader_resigns() {
    let server = frozen();
    let mut first = Program::start(&server, "leader_election", &["one"]);
    assert_eq!(first.says(), "leading");
    let mut second = Program::start(&server, "leader_election", &["two"]);
    assert!(first.finishes());
    assert_eq!(first.says(), "resigned");
    assert_eq!(second.says(), "leading");
    let row = server.kv().get("service/leader").expect("it is held");
    assert_eq!(&*row.value, b"two");
    assert!(second.finishes());
}

#[test]
fn a_semaphore_of_two_has_no_third_slot() {
    let server = frozen();
    let start = || Program::start(&server, "semaphore", &[]);
    let (mut first, mut second) = (start(), start());
    assert_eq!(
        (first.says(), second.says()),
        ("has a slot".into(), "has a slot".into())
    );
    assert_eq!(start().says(), "no slot is free");
    assert!(first.finishes());
    assert_eq!(first.says(), "gave it back");
    assert_eq!(start().says(), "has a slot");
}
