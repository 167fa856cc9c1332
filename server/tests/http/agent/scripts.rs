//! Script checks: programs that are really run (seen on 1.8.7).

use std::time::Duration;

use proconsul::Version;

use crate::support::Consul;

const REGISTER: &str = "/v1/agent/check/register";

fn consul() -> Consul {
    Consul::frozen_with(|config| {
        config.version = Version::V1_8_7;
        config.enable_script_checks = true;
        config.check_update_interval = Duration::ZERO;
    })
}

/// Runs a script once, and returns the status and output that it came to.
#[track_caller]
fn ran(words: &[&str], more: &str) -> (String, String) {
    let consul = consul();
    let words = serde_json::json!(words);
    let body = format!(r#"{{"ID":"s","Name":"s","Interval":"10s","Args":{words}{more}}}"#);
    consul.put(REGISTER, body).is(200, "");
    consul.server().advance(Duration::from_secs(10));
    let checks = consul.get("/v1/agent/checks").json();
    let text = |name: &str| checks["s"][name].as_str().unwrap_or_default().to_owned();
    (text("Status"), text("Output"))
}

fn is(result: &(String, String), status: &str, output: &str) {
    assert_eq!((result.0.as_str(), result.1.as_str()), (status, output));
}

#[test]
fn a_script_has_nothing_to_read() {
    let result = ran(&["sh", "-c", "cat; echo end"], "");
    is(&result, "passing", "end\n");
}

#[test]
fn the_end_of_a_long_output_is_kept() {
    let result = ran(&["sh", "-c", "seq 1 20"], r#","OutputMaxSize":10"#);
    let kept = "Captured 10 of 51 bytes\n...\n\n18\n19\n20\n";
    is(&result, "passing", kept);
}

#[test]
fn what_cannot_be_started_is_critical_in_gos_words() {
    let missing = "exec: \"nosuchcmd\": executable file not found in $PATH";
    is(&ran(&["nosuchcmd"], ""), "critical", missing);
    let missing = "fork/exec /nonexistent: no such file or directory";
    is(&ran(&["/nonexistent"], ""), "critical", missing);
}

/// A fifo that a script and all that it starts keep open: reading it ends when none of them is left.
struct Alive(std::path::PathBuf);

impl Alive {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("proconsul-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        Self(path)
    }

    /// A script that says that it runs, and then goes on in a child of its own for an hour.
    fn script(&self) -> String {
        let path = self.0.display();
        format!("exec 3>{path}; echo up >&3; (sleep 3600) & wait")
    }

    /// What the script says until the last of its processes has ended.
    fn said(&self) -> String {
        std::fs::read_to_string(&self.0).expect("a fifo can be read")
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_script_that_takes_too_long_is_killed_with_all_that_it_started() {
    let alive = Alive::new("late");
    let consul = consul();
    let words = serde_json::json!(["sh", "-c", alive.script()]);
    let body =
        format!(r#"{{"ID":"s","Name":"s","Interval":"1s","Timeout":"500ms","Args":{words}}}"#);
    consul.put(REGISTER, body).is(200, "");
    std::thread::scope(|scope| {
        let said = scope.spawn(|| alive.said());
        consul.server().advance(Duration::from_millis(1500));
        assert_eq!(said.join().expect("the reader ends"), "up\n");
    });
    let checks = consul.get("/v1/agent/checks");
    let late = r#""Output":"Timed out (500ms) running check""#;
    assert!(checks.text().contains(late), "{}", checks.text());
}

/// That the running script of a check is killed by `end`.
fn is_killed(name: &str, end: impl FnOnce(Consul)) {
    let alive = Alive::new(name);
    let consul = Consul::with(|config| config.enable_script_checks = true);
    let words = serde_json::json!(["sh", "-c", alive.script()]);
    let body = format!(r#"{{"ID":"s","Name":"s","Interval":"1s","Args":{words}}}"#);
    consul.put(REGISTER, body).is(200, "");
    // Opened for reading once the script writes to it.
    let mut fifo = std::fs::File::open(&alive.0).expect("a fifo can be opened");
    end(consul);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut fifo, &mut said).expect("a fifo can be read");
    assert!(said.is_empty() || said == "up\n", "{said}");
}

#[test]
fn a_script_of_a_check_that_goes_is_killed() {
    // The server is kept, so that its end kills nothing.
    let mut kept = None;
    is_killed("gone", |consul| {
        consul.put("/v1/agent/check/deregister/s", "").is(200, "");
        kept = Some(consul);
    });
}

#[test]
fn a_script_is_killed_when_its_server_stops() {
    is_killed("stopped", drop);
}

#[test]
fn scripts_of_clients_need_a_setting() {
    let consul = Consul::v1_8();
    let body = r#"{"Name":"s","Interval":"1s","Args":["true"]}"#;
    let refusal = "Scripts are disabled on this agent from remote calls; \
        to enable, configure 'enable_script_checks' to true";
    consul.put(REGISTER, body).is(500, refusal);
}
