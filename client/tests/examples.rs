//! The examples, as programs: what Consul's guides promise of them happens, on a frozen server and on a real Consul.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use proconsul::Server;
use proconsul_client::{Behavior, Client, Error, Pair, Session};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::Target;
use proconsul_conformance::target::built;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::time::{Clock, RealClock};

/// An example that runs until its standard input ends.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(address: &str, name: &str, arguments: &[&str]) -> Self {
        let program = built::example(name).expect("it was there before");
        let mut child = Command::new(program)
            .args(arguments)
            .env("CONSUL_HTTP_ADDR", address)
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

    /// What Ctrl+C in a terminal does.
    fn interrupt(&self) {
        let kill = format!("kill -INT {}", self.child.id());
        // The shell's own: not every machine has a program of that name.
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("sh is there").success());
    }

    /// Waits until it ends by itself; whether it says that it failed.
    fn fails(&mut self) -> bool {
        // To wait would close its standard input, which asks it to finish.
        let _input = self.child.stdin.take();
        let ended = self.child.wait().expect("it was started here");
        !ended.success()
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

/// Where a program is tried: on a frozen server, whose time the test moves, and on a real Consul.
enum Host {
    Frozen(Server),
    Consul { address: String, _agent: Target },
}

impl Host {
    fn address(&self) -> String {
        match self {
            Self::Frozen(server) => server.addr().to_string(),
            Self::Consul { address, .. } => address.clone(),
        }
    }

    fn start(&self, name: &str, arguments: &[&str]) -> Program {
        Program::start(&self.address(), name, arguments)
    }

    /// Asks the server something.
    fn ask<T>(&self, question: impl AsyncFnOnce(Client) -> Result<T, Error>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("the system gives a reactor");
        let client = Client::new(&self.address()).expect("it is an address");
        let answer = runtime.block_on(question(client));
        answer.expect("the server is there")
    }

    fn sessions(&self) -> Vec<Session> {
        self.ask(async |client| Ok(client.sessions().list().await?.value))
    }

    fn key(&self, key: &str) -> Option<Pair> {
        self.ask(async |client| Ok(client.kv().get(key).await?.value))
    }

    /// Ends every session, as an operator may.
    fn end_sessions(&self) {
        for session in self.sessions() {
            self.ask(async |client| client.sessions().destroy(&session.id).await);
        }
    }

    /// Lets the sessions of dead programs lapse. For a real Consul an operator does what would come in half a minute.
    fn lapse(&self) {
        match self {
            Self::Frozen(server) => {
                server.advance(2 * TTL);
            }
            Self::Consul { .. } => self.end_sessions(),
        }
    }

    /// Lets the lock-delay pass, which is 15 s.
    fn pass_lock_delay(&self) {
        let lock_delay = Duration::from_secs(15);
        match self {
            Self::Frozen(server) => {
                server.advance(lock_delay);
            }
            Self::Consul { .. } => {
                let passed = RealClock.pass(lock_delay + Duration::from_secs(1));
                passed.expect("real time always passes");
            }
        }
    }
}

/// Of the programs' sessions.
const TTL: Duration = Duration::from_secs(15);

/// Runs a test of an example on a server of its own of every kind.
fn on_each_host(example: &str, test: impl Fn(&Host)) {
    // A run of this test target alone does not build the examples.
    if let Err(command) = built::example(example) {
        return left_out::test(&command);
    }
    let server = Server::builder().frozen().start().expect("a free port");
    test(&Host::Frozen(server));
    let Some(binary) = left_out::consul() else {
        return;
    };
    let agent = consul::start(&binary, &Agent::default());
    let agent = agent.unwrap_or_else(|error| panic!("{error}"));
    let address = agent.shared_address().expect("one agent for all");
    test(&Host::Consul {
        address: address.host.clone(),
        _agent: agent,
    });
}

#[test]
fn a_kept_session_goes_with_its_program() {
    on_each_host("session_keeper", |host| {
        let mut keeper = host.start("session_keeper", &[]);
        let said = keeper.says();
        let sessions = host.sessions();
        assert_eq!(sessions.len(), 1, "{said}");
        assert_eq!(said, format!("session {}", sessions[0].id));
        assert_eq!(sessions[0].ttl(), Some(TTL));
        assert!(keeper.finishes());
        assert_eq!(keeper.says(), "destroyed");
        assert!(host.sessions().is_empty());
    });
}

#[test]
fn a_second_worker_is_refused_also_right_after_the_first_one_died() {
    on_each_host("exclusive_worker", |host| {
        let mut first = host.start("exclusive_worker", &[]);
        assert_eq!(first.says(), "working");
        let session = &host.sessions()[0];
        assert_eq!(
            (session.behavior, session.ttl()),
            (Behavior::Delete, Some(TTL))
        );
        let row = host.key("service/job/leader").expect("it is held");
        assert_eq!(row.text(), Ok(session.id.as_str()));
        let refused = || {
            let mut program = host.start("exclusive_worker", &[]);
            assert_eq!(program.says(), "somebody else does it");
            assert!(program.finishes(), "to be refused is no failure");
        };
        refused();
        first.child.kill().expect("it runs");
        first.child.wait().expect("it was started here");
        // Its session lives on, until it lapses and its lock-delay begins.
        refused();
        host.lapse();
        assert!(host.key("service/job/leader").is_none(), "nothing is left");
        refused();
        host.pass_lock_delay();
        let mut second = host.start("exclusive_worker", &[]);
        assert_eq!(second.says(), "working");
        assert!(second.finishes());
        assert_eq!(second.says(), "finished");
    });
}

#[test]
fn a_worker_that_is_done_or_interrupted_cleans_up_and_its_lock_delay_refuses_the_next() {
    on_each_host("exclusive_worker", |host| {
        let refused = || {
            let mut program = host.start("exclusive_worker", &[]);
            assert_eq!(program.says(), "somebody else does it");
            assert!(program.finishes());
            assert!(host.sessions().is_empty(), "nobody's session is left");
        };
        let mut worker = host.start("exclusive_worker", &[]);
        assert_eq!(worker.says(), "working");
        worker.interrupt();
        assert_eq!(worker.says(), "interrupted, cleaning up");
        assert!(host.key("service/job/leader").is_none());
        refused();
        host.pass_lock_delay();
        let mut worker = host.start("exclusive_worker", &[]);
        assert_eq!(worker.says(), "working");
        assert!(worker.finishes());
        assert_eq!(worker.says(), "finished");
        refused();
    });
}

#[test]
fn a_candidate_follows_when_the_leader_resigns_and_stops_when_its_session_is_ended() {
    on_each_host("leader_election", |host| {
        let mut first = host.start("leader_election", &["one"]);
        assert_eq!(first.says(), "leading");
        let mut second = host.start("leader_election", &["two"]);
        assert!(first.finishes());
        assert_eq!(first.says(), "resigned");
        assert_eq!(second.says(), "leading");
        let row = host.key("service/leader").expect("it is held");
        assert_eq!((row.text(), row.lock_index), (Ok("two"), 2));
        host.end_sessions();
        assert!(second.fails(), "it leads on without a session");
        let row = host.key("service/leader").expect("the behavior is release");
        assert_eq!(row.session, None);
    });
}

#[test]
fn an_observer_sees_one_leader_after_the_other() {
    on_each_host("leader_observer", |host| {
        let mut program = host.start("leader_observer", &[]);
        assert_eq!(program.says(), "nobody leads");
        assert_eq!(program.says(), "one leads");
        let next = program.says();
        // The moment between two leaders is short enough to be missed.
        let next = match &next[..] {
            "nobody leads" => program.says(),
            _ => next,
        };
        assert_eq!(next, "two leads");
        assert!(program.finishes());
        assert!(program.lines.next().is_none(), "it has seen a third leader");
        let row = host.key("service/observed/leader").expect("it was held");
        assert_eq!((row.session, row.lock_index), (None, 2));
        assert!(host.sessions().is_empty(), "nobody's session is left");
    });
}

#[test]
fn a_semaphore_of_two_has_no_third_slot_and_forgets_who_died() {
    on_each_host("semaphore", |host| {
        let start = || host.start("semaphore", &[]);
        let (mut first, mut second) = (start(), start());
        assert_eq!(
            (first.says(), second.says()),
            ("has a slot".into(), "has a slot".into())
        );
        let table = host.key("service/db/semaphore/.lock");
        let table: serde_json::Value = table.expect("it is in use").json().expect("it is JSON");
        assert_eq!(table["Limit"], 2);
        assert_eq!(start().says(), "no slot is free");
        assert!(first.finishes());
        assert_eq!(first.says(), "gave it back");
        let mut third = start();
        assert_eq!(third.says(), "has a slot");
        third.child.kill().expect("it runs");
        second.child.kill().expect("it runs");
        host.lapse();
        // Nobody gave these slots back: whoever comes next sees that their holders are gone.
        assert_eq!(start().says(), "has a slot");
    });
}
