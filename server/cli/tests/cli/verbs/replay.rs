//! `explore -replay`: schedules on a server of ours, and on a real Consul 1.8.7 behind a proxy.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use proconsul::Server;
use proconsul::history::{Filter, Happened, Kind};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use serde_json::Value;

use super::folder;

/// What both programs begin with.
const COMMON: &str = r#"
api=http://$CONSUL_HTTP_ADDR/v1
new_session() { session=$(curl -s -X PUT -d "$1" "$api/session/create" | grep -o '[0-9a-f-]\{36\}'); }
acquires() { [ "$(curl -s -X PUT -d x "$api/kv/replay/lock?acquire=$session")" = true ]; }
works() { curl -s -X PUT -d "$PROCONSUL_CONTENDER" "$api/kv/jobs/item" >/dev/null; sleep 0.1; }
"#;

/// Never looks at the lock again.
const BROKEN: &str = r#"
new_session '{"TTL": "60s", "LockDelay": "0s"}'
until acquires; do sleep 0.1; done
echo held
while :; do works; done
"#;

/// Looks at its session and at the lock before each write, and has a lock-delay for what is under way. Its session has no TTL,
/// which a busy machine would let run out.
const RIGHT: &str = r#"
renews() { curl -sf -X PUT "$api/session/renew/$session" >/dev/null; }
holds() { curl -s "$api/kv/replay/lock" | grep -q "$session"; }
while :; do
  new_session '{"LockDelay": "3s"}'
  until acquires; do
    renews || new_session '{"LockDelay": "3s"}'
    sleep 0.1
  done
  echo held
  while renews && holds; do works; done
  echo lost
done
"#;

/// Waits for an index that a service will never have, whatever changes.
const BLIND: &str = r#"curl -s "$api/health/service/config?index=1000000000" >/dev/null"#;

/// Never looks at the lock again, which is given to another after a lock-delay, and writes once a second.
const SLOW: &str = r#"
new_session '{"LockDelay": "3s"}'
until acquires; do sleep 0.1; done
echo held
while :; do works; sleep 1; done
"#;

const DESTROYED: &str = "contenders 2\na write 1 after acquire 1: destroy-sessions a\n";

/// Replays a schedule, and returns what is printed and the exit code.
fn replay(name: &str, program: &str, schedule: &str, flags: &[&str]) -> (String, Option<i32>) {
    let program = format!("{COMMON}{program}");
    let files = [("program", program.as_str()), ("schedule", schedule)];
    let folder = folder(&format!("replay-{name}"), &files);
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
        .args(["explore", "-guard", "jobs/", "-replay"])
        .arg(folder.join("schedule"))
        .args(flags)
        .args(["--", "bash"])
        .arg(folder.join("program"))
        .output()
        .expect("it is built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout) + &text(&output.stderr);
    (printed, output.status.code())
}

/// Replays a schedule on a server of ours and on a real Consul, if there is one. Returns what the latter prints.
fn on_both(
    (name, program, schedule): (&str, &str, &str),
    (code, verdict): (i32, &str),
    flags: &[&str],
) -> Option<String> {
    let ours = || {
        let (printed, ended) = replay(name, program, schedule, flags);
        assert!(
            printed.contains(verdict) && ended == Some(code),
            "{printed}"
        );
    };
    let Some(binary) = left_out::consul() else {
        ours();
        return None;
    };
    let agent = Agent {
        settings: r#"{"session_ttl_min": "100ms"}"#.to_owned(),
        ..Agent::default()
    };
    let site = consul::start_unasked(&binary, &agent).expect("it starts");
    let address = site.address().to_string();
    let flags = [flags, &["-consul", &address]].concat();
    let printed = std::thread::scope(|scope| {
        let on_ours = scope.spawn(ours);
        let name = format!("{name}-real");
        let (printed, ended) = replay(&name, program, schedule, &flags);
        assert!(
            printed.contains(verdict) && ended == Some(code),
            "{printed}"
        );
        on_ours.join().expect("the replay on our server is right");
        printed
    });
    for left in ["kv/?keys", "session/list", "health/service/config"] {
        let url = format!("http://{address}/v1/{left}");
        let left = Command::new("curl").args(["-s", &url]).output();
        let left = left.expect("curl is there").stdout;
        let left = String::from_utf8_lossy(&left).replace(char::is_whitespace, "");
        assert!(["", "[]"].contains(&&*left), "{url}: {left}");
    }
    Some(printed)
}

#[test]
fn a_program_that_never_looks_again_is_broken_on_a_real_consul_too() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let printed = on_both(
        ("broken", BROKEN, DESTROYED),
        (1, "broken: stale-write"),
        &["-runs", "2"],
    );
    if let Some(printed) = printed {
        let (_, last) = printed.split_once("\nConsul ").expect("it is named");
        assert!(last.contains(": 2 of 2 replays break it"), "{printed}");
    }
}

/// A run goes on after the lock-delay, until the former holder writes.
#[test]
fn a_program_that_writes_long_after_its_loss_is_broken_on_a_real_consul_too() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let program = ("slow", SLOW, DESTROYED);
    let flags = ["-runs", "1", "-property", "stale-write"];
    let printed = on_both(program, (1, "broken: stale-write"), &flags);
    if let Some(printed) = printed {
        assert!(printed.contains(": 1 of 1 replays break it"), "{printed}");
    }
}

#[test]
fn a_program_that_misses_changes_of_a_service_is_broken_on_a_real_consul_too() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let flags = "-runs 1 -change-service config -within 1s -property missed-value";
    let flags: Vec<&str> = flags.split(' ').collect();
    let program = ("blind", BLIND, "contenders 1\n");
    let printed = on_both(program, (1, "broken: missed-value"), &flags);
    if let Some(printed) = printed {
        assert!(printed.contains(": 1 of 1 replays break it"), "{printed}");
    }
}

#[test]
fn a_program_that_looks_before_it_writes_is_not_broken_on_a_real_consul_either() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let flags = ["-runs", "1", "-slack", "4s"];
    let printed = on_both(("right", RIGHT, DESTROYED), (0, "not broken"), &flags);
    if let Some(printed) = printed {
        assert!(printed.contains(": 0 of 1 replays break it"), "{printed}");
    }
}

/// Takes what its own agent has for the state of the lock. It gives up a request that hangs: a leader that is silent is waited for
/// for 28 s.
const BELIEVES_STALE: &str = r#"
curl() { command curl -m 1 "$@"; }
until [ -n "$session" ]; do new_session '{"TTL": "2s", "LockDelay": "1s"}'; done
renews() { curl -s -X PUT "$api/session/renew/$session" >/dev/null; }
holds() { curl -s "$api/kv/replay/lock?stale" | grep -q "$session"; }
until acquires; do renews; sleep 0.1; done
echo held
while holds; do renews; sleep 0.1; done
echo lost
"#;

#[test]
fn a_program_that_believes_its_own_agent_is_broken_when_that_is_cut_off() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let schedule = "contenders 2\nagents 3\na renew 1 after acquire 1: cut-agent a\n";
    let (printed, ended) = replay("own-agent", BELIEVES_STALE, schedule, &["-runs", "1"]);
    assert!(
        printed.contains("both a and b believed that they held") && ended == Some(1),
        "{printed}"
    );
}

#[test]
fn two_agents_are_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
        .args(["explore", "-agents", "2", "--", "true"])
        .output()
        .expect("it is built");
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "-agents: expected 1 agent for all contenders, or 3 to 5, and one for each";
    assert!(said.contains(expected), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

/// Runs a test of the folder, with the command on its `PATH`. Returns whether it passes, and what it prints.
fn passes(folder: &Path, command: &[&str]) -> (bool, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_proconsul")).parent();
    let mut paths = vec![binary.expect("it is in a folder").to_owned()];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").expect("it is set"),
    ));
    let mut test = Command::new(command[0]);
    test.args(&command[1..]).current_dir(folder);
    test.env(
        "PATH",
        std::env::join_paths(paths).expect("no path has a colon"),
    );
    let output = test.output().expect("it is there");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = printed + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), printed)
}

#[test]
fn the_tests_that_come_back_fail_until_the_program_is_mended() {
    const PYTHON: &str =
        "import pathlib, test_replay as t; t.test_stale_write_is_not_broken(pathlib.Path('.'))";
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-tests");
    let flags = [
        "-runs",
        "1",
        "-slack",
        "4s",
        "-out",
        out.to_str().expect("it is text"),
    ];
    let (printed, code) = replay("tests", BROKEN, DESTROYED, &flags);
    assert_eq!(code, Some(1), "{printed}");
    let mut tests: Vec<&[&str]> = vec![&["sh", "replay.sh"]];
    if left_out::has("python3", "--version") {
        tests.push(&["python3", "-c", PYTHON]);
    }
    if left_out::has("go", "version") {
        tests.push(&["go", "test", "-count=1", "replay_test.go"]);
    }
    for test in &tests {
        let (is_passed, printed) = passes(&out, test);
        assert!(
            !is_passed && printed.contains("broken: stale-write"),
            "{test:?}: {printed}"
        );
    }
    folder("replay-tests", &[("program", &format!("{COMMON}{RIGHT}"))]);
    let (is_passed, printed) = passes(&out, tests[0]);
    assert!(is_passed, "{printed}");
}

/// A server of ours in the place of the real Consul has a history of its own, with which the recorded run is compared.
#[test]
fn what_is_recorded_before_a_proxy_is_what_happened_behind_it() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let server = Server::builder().session_ttl_min(Duration::from_millis(100));
    let server = server.start().expect("a free port");
    server.kv().put("of-others", "1");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-out");
    let out = out.to_str().expect("it is text");
    let address = server.addr().to_string();
    let flags = ["-runs", "1", "-out", out, "-consul", &address];
    let (printed, code) = replay("recorded", BROKEN, DESTROYED, &flags);
    assert_eq!(code, Some(1), "{printed}");
    let run = fs::read_to_string(Path::new(out).join("run.jsonl")).expect("something was found");
    let recorded: Vec<String> = run.lines().filter_map(told).collect();
    let wanted = [
        Kind::SessionCreated,
        Kind::Acquired,
        Kind::Released,
        Kind::SessionEnded,
    ];
    let history = server.history(&wanted.into_iter().fold(Filter::all(), Filter::or));
    let mut happened: Vec<String> = history.iter().filter_map(|one| text(&one.what)).collect();
    // The run without faults comes before it, and the clearing up of both after them.
    let begin = happened.iter().position(|one| *one == recorded[0]);
    happened.drain(..begin.expect("the first session is there"));
    happened.truncate(recorded.len());
    assert_eq!(recorded, happened);
    assert!(
        recorded.len() >= 6,
        "two sessions, and a change of the holder"
    );
    let keys = server.kv().list("");
    let keys: Vec<String> = keys.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, ["of-others"], "the others are removed");
    assert!(server.sessions().list().is_empty());
}

/// Returns what a line of a recorded run says of sessions and locks.
fn told(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).expect("it is JSON");
    let of = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let what = of("what");
    let session = of("session");
    match what.as_str() {
        "created" => Some(format!("created {session} {}", line["ttl"])),
        "acquired" | "released" => Some(format!("{what} {} {session}", of("key"))),
        "ended" => Some(format!("ended {session}: {}", of("why"))),
        _ => None,
    }
}

fn text(what: &Happened) -> Option<String> {
    Some(match what {
        Happened::SessionCreated { session, ttl, .. } => {
            format!("created {session} {}", ttl.as_nanos())
        }
        Happened::Acquired { key, session, .. } => format!("acquired {key} {session}"),
        Happened::Released { key, session, .. } => format!("released {key} {session}"),
        Happened::SessionEnded { session, cause } => format!("ended {session}: {cause}"),
        _ => return None,
    })
}

#[test]
fn what_a_real_consul_cannot_be_brought_to_is_said_before_the_run() {
    let server = Server::start();
    let address = server.addr().to_string();
    let refused = |name: &str, action: &str, address: &str, why: &str| {
        let schedule = format!("a write 1: {action}\n");
        let (printed, code) = replay(name, "exit 1", &schedule, &["-consul", address]);
        assert!(printed.contains(why), "{printed}");
        assert_eq!(code, Some(2), "{printed}");
    };
    let no_other = "no other that could lead";
    refused("lost", "lose-leader", &address, "leads as long as it runs");
    refused("changed", "change-leader", &address, no_other);
    let ends = "change-leader-end-lock-delays";
    refused("ends", ends, &address, no_other);
    refused("rebuilt", "rebuild", &address, "keeps its indexes");
    refused(
        "wake",
        "wake",
        &address,
        "no request changes when it is answered",
    );
    let agents = "hold\nagents 3";
    refused("agents", agents, &address, "no agent for each contender");
    refused("away", "hold", "192.0.2.1:8500", "no loopback address");
    let session = server
        .sessions()
        .create(proconsul::control::Session::default());
    session.expect("it is valid");
    refused("others", "fail-node", &address, "there are some of others");
    assert_eq!(server.sessions().list().len(), 1, "it was left alone");
    let (printed, code) = {
        let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
            .args(["explore", "-consul", &address, "--", "true"])
            .output()
            .expect("it is built");
        (output.stderr, output.status.code())
    };
    let printed = String::from_utf8_lossy(&printed);
    assert!(printed.contains("expected -replay"), "{printed}");
    assert_eq!(code, Some(2));
}
