//! How the verb `lock` ends what it runs: as that of a real Consul 1.8.7, and all of it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use proconsul::Server;
use proconsul::Version;
use proconsul_conformance::report::left_out;
use proconsul_engine::BlockedOn;

/// Longer than anything takes on the slowest machine; reached only by what has failed.
const BOUND: Duration = Duration::from_secs(60);

/// A run of `lock`.
struct Locker {
    child: Child,
    stdout: BufReader<ChildStdout>,
    said: String,
}

impl Drop for Locker {
    fn drop(&mut self) {
        // It has ended as a rule.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Locker {
    fn start(binary: &Path, server: &Server, arguments: &[&str]) -> Self {
        let mut child = Command::new(binary)
            .arg("lock")
            .args(arguments)
            .env("CONSUL_HTTP_ADDR", server.addr().to_string())
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let stdout = child.stdout.take().expect("it is piped");
        Self {
            child,
            stdout: BufReader::new(stdout),
            said: String::new(),
        }
    }

    /// The rest of the first line that begins so.
    fn wait_for(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).expect("it is text");
            assert!(read > 0, "no line with {start:?} in {}", self.said);
            self.said += &line;
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        // The shell's own: not every machine has a program of that name.
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("sh is there").success());
    }

    /// Standard output and error without ids, and the exit code.
    fn end(mut self) -> (String, String, Option<i32>) {
        let (mut said, mut errors) = (std::mem::take(&mut self.said), String::new());
        let read = self.stdout.read_to_string(&mut said);
        read.expect("it is text");
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        stderr.read_to_string(&mut errors).expect("it is text");
        let without_ids = said.lines().map(|line| match line.split_once(" pid ") {
            Some((before, _)) => format!("{before} pid N\n"),
            None => format!("{line}\n"),
        });
        let status = self.child.wait().expect("it was started here");
        (without_ids.collect(), errors, status.code())
    }
}

fn own() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_proconsul"))
}

fn frozen() -> Server {
    let server = Server::builder().version(Version::V1_8_7).frozen();
    server.start().expect("a free port")
}

/// Ours, and that of a real Consul if there is one: both do the same.
fn on_both(scenario: impl Fn(&Path, &Server) -> (String, String, Option<i32>) + Sync) {
    let Some(consul) = left_out::consul() else {
        scenario(&own(), &frozen());
        return;
    };
    std::thread::scope(|scope| {
        let theirs = scope.spawn(|| scenario(&consul, &frozen()));
        let ours = scenario(&own(), &frozen());
        let theirs = theirs.join().expect("the scenario does not panic");
        assert_eq!(ours, theirs);
    });
}

/// Ends at SIGTERM, and says so by its exit code.
const OBEDIENT: &str =
    "exec 2>/dev/null; trap '' INT; trap 'exit 3' TERM; echo started; while :; do sleep 0.05; done";

#[test]
fn a_signal_ends_the_program_and_is_no_failure_of_it() {
    for options in [&["-verbose"][..], &["-child-exit-code"], &[]] {
        for signal in ["INT", "TERM"] {
            on_both(|binary, server| {
                let arguments = [options, &["l", OBEDIENT]].concat();
                let mut locker = Locker::start(binary, server, &arguments);
                locker.wait_for("started");
                locker.signal(signal);
                let ended = locker.end();
                assert_eq!(ended.2, Some(0));
                assert!(ended.1.contains("exit status 3"), "{}", ended.1);
                assert!(server.kv().get("l/.lock").is_none(), "it is given back");
                ended
            });
        }
    }
}

/// What was signalled is passed on before anything else: here the program ends of it. A real Consul does so too, but it begins to
/// listen for what it is to pass on only after the program has started, which nothing outside of it tells: at times it passes nothing on.
#[test]
fn an_interrupt_reaches_the_program() {
    let program = "exec 2>/dev/null; trap '' TERM; trap 'exit 7' INT; echo started; while :; do sleep 0.05; done";
    let server = frozen();
    let mut locker = Locker::start(&own(), &server, &["l", program]);
    locker.wait_for("started");
    locker.signal("INT");
    let (_, errors, _) = locker.end();
    assert_eq!(errors, "Error running handler: exit status 7\n");
}

#[test]
fn a_lost_lock_ends_the_program() {
    for options in [&["-verbose"][..], &["-child-exit-code"]] {
        on_both(|binary, server| {
            let arguments = [options, &["l", OBEDIENT]].concat();
            let mut locker = Locker::start(binary, server, &arguments);
            locker.wait_for("started");
            let held = server.kv().get("l/.lock").expect("it is held");
            let session = held.session().expect("by a session").to_owned();
            let destroyed = server.sessions().destroy(session.as_ref());
            destroyed.expect("it is there");
            let ended = locker.end();
            assert!(ended.1.contains("exit status 3"), "{}", ended.1);
            ended
        });
    }
}

#[test]
fn a_program_that_does_not_end_is_killed_after_five_seconds() {
    on_both(|binary, server| {
        let program = "trap '' TERM; echo started; while :; do sleep 0.05; done";
        let mut locker = Locker::start(binary, server, &["-verbose", "l", program]);
        locker.wait_for("started");
        locker.signal("TERM");
        let (said, errors, code) = locker.end();
        assert!(said.contains("grace period of 5s"), "{said}");
        // A real Consul at times ends before it says what has become of the program.
        let says = binary == own() || !errors.is_empty();
        let expected = ["", "Error running handler: signal: killed\n"][usize::from(says)];
        assert_eq!(errors, expected);
        (said, String::new(), code)
    });
}

/// At once. Consul's lets the read under way come to its end first, which takes up to 15 s.
#[test]
fn a_signal_ends_the_wait_for_a_lock() {
    let server = frozen();
    let mut holder = Locker::start(&own(), &server, &["l", OBEDIENT]);
    holder.wait_for("started");
    let mut locker = Locker::start(&own(), &server, &["-verbose", "l", "echo never"]);
    locker.wait_for("Attempting lock acquisition");
    // The holder watches the key, and so does who waits for it.
    let waiting = server.wait_blocked(&BlockedOn::prefix("l/"), 2, BOUND);
    waiting.expect("it waits");
    locker.signal("TERM");
    let (said, errors, code) = locker.end();
    assert_eq!(
        (errors.as_str(), code),
        ("Shutdown triggered during lock acquisition\n", Some(0)),
        "{said}"
    );
    assert!(said.ends_with("Cleanup succeeded\n"), "{said}");
    assert_eq!(server.sessions().list().len(), 1, "that of the holder");
    holder.signal("TERM");
    holder.end();
}

/// Whether a process still runs; one that nobody has waited for yet does not.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// Better than Consul's, which ends the shell and lets the worker work on without a lock.
#[test]
fn what_the_shell_has_started_ends_with_it_and_before_the_lock_is_given_back() {
    for worker in [
        "exec sleep 600",
        "trap '' TERM; while :; do sleep 0.05; done",
    ] {
        let server = frozen();
        let program = format!("sh -c \"echo started \\$\\$; {worker}\" | cat");
        let mut locker = Locker::start(&own(), &server, &["l", &program]);
        let id = locker.wait_for("started ");
        assert!(runs(&id) && server.kv().get("l/.lock").is_some());
        locker.signal("TERM");
        while server.kv().get("l/.lock").is_some() {
            std::thread::yield_now();
        }
        assert!(!runs(&id), "{worker} works without the lock");
        locker.end();
    }
}
