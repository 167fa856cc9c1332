//! Programs that people run against Consul, on the emulator and on a real Consul: the guides as scripts of curl
//! calls, and the command line of a real Consul as a client.

mod hosts;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use hosts::{Host, MANAGEMENT, hosts, hosts_with_acls};
use proconsul::config::Config;
use proconsul_conformance::report::left_out;

/// Runs a guide against each of these servers; `binary` is the command line that it uses.
fn run_guide(guide: &str, hosts: impl FnOnce() -> Vec<Host>, binary: &Path) {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("guides")
        .join(guide);
    for host in hosts() {
        let output = Command::new("bash")
            .arg(&script)
            .env("CONSUL", format!("http://{}", host.address))
            .env("MANAGEMENT", MANAGEMENT)
            .env("BINARY", binary)
            .output()
            .expect("bash runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{guide} on {}: {errors}",
            host.name
        );
    }
}

fn plain() -> Vec<Host> {
    hosts(&Config::dev())
}

#[test]
fn the_guide_to_leader_election_works() {
    run_guide("leader-election.sh", plain, Path::new(""));
}

#[test]
fn the_guide_to_leader_election_works_with_a_token_and_is_refused_without_a_right() {
    run_guide("leader-election-acl.sh", hosts_with_acls, Path::new(""));
}

#[test]
fn the_guide_to_leader_election_works_by_a_command_line_with_a_token() {
    if let Some(binary) = left_out::consul() {
        run_guide("leader-election-acl-cli.sh", hosts_with_acls, &binary);
    }
}

#[test]
fn the_guide_to_a_semaphore_works() {
    run_guide("semaphore.sh", plain, Path::new(""));
}

/// A folder for one test, deleted with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("proconsul-programs-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system clears its folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The command line of a real Consul, talking to one host.
struct CommandLine<'a> {
    binary: &'a Path,
    host: &'a Host,
}

impl CommandLine<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command
            .args(arguments)
            .env("CONSUL_HTTP_ADDR", &self.host.address)
            .env("CONSUL", self.binary)
            .stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("consul runs")
    }

    /// What a command that succeeds prints.
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let name = self.host.name;
        assert!(
            output.status.success(),
            "consul {arguments:?} on {name}: {printed}{errors}"
        );
        printed
    }

    /// Starts a command whose lines are read while it runs.
    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("consul runs")
    }
}

/// Runs `test` with Consul's command line on every host, if there is a Consul.
fn with_command_line(test: impl Fn(&CommandLine<'_>)) {
    let Some(binary) = left_out::consul() else {
        return;
    };
    for host in hosts(&Config::dev()) {
        test(&CommandLine {
            binary: &binary,
            host: &host,
        });
    }
}

#[test]
fn consul_kv_reads_writes_exports_and_imports() {
    with_command_line(|consul| {
        let written = consul.prints(&["kv", "put", "cli/a", "hello"]);
        assert_eq!(written, "Success! Data written to: cli/a\n");
        assert_eq!(consul.prints(&["kv", "get", "cli/a"]), "hello\n");
        consul.prints(&["kv", "put", "-flags=42", "cli/b", "two"]);
        assert!(
            consul
                .prints(&["kv", "get", "-detailed", "cli/b"])
                .contains("42")
        );
        assert_eq!(
            consul.prints(&["kv", "get", "-keys", "cli/"]),
            "cli/a\ncli/b\n"
        );
        let exported = consul.prints(&["kv", "export", "cli/"]);
        assert!(exported.contains("\"value\": \"aGVsbG8=\""), "{exported}");
        let deleted = consul.prints(&["kv", "delete", "-recurse", "cli/"]);
        assert_eq!(deleted, "Success! Deleted keys with prefix: cli/\n");
        let missing = consul.output(&["kv", "get", "cli/a"]);
        assert_eq!(missing.status.code(), Some(1));
        assert_eq!(
            String::from_utf8_lossy(&missing.stderr),
            "Error! No key exists at: cli/a\n"
        );
        let imported = consul.prints(&["kv", "import", &exported]);
        assert_eq!(imported, "Imported: cli/a\nImported: cli/b\n");
        assert_eq!(consul.prints(&["kv", "export", "cli/"]), exported);
    });
}

#[test]
fn consul_members_and_info_show_the_agent() {
    with_command_line(|consul| {
        let members = consul.prints(&["members"]);
        assert!(
            members.contains("alive") && members.contains("server"),
            "{members}"
        );
        let info = consul.prints(&["info"]);
        assert!(info.contains("health_score = 0"), "{info}");
        assert!(info.contains("leader = true"), "{info}");
    });
}

#[test]
fn consul_services_registers_and_deregisters() {
    with_command_line(|consul| {
        let register = [
            "services",
            "register",
            "-name=cli-web",
            "-port=80",
            "-tag=a",
        ];
        assert_eq!(consul.prints(&register), "Registered service: cli-web\n");
        assert_eq!(
            consul.prints(&["catalog", "services", "-tags"]),
            "cli-web      a\nconsul\n"
        );
        let deregister = ["services", "deregister", "-id=cli-web"];
        assert_eq!(
            consul.prints(&deregister),
            "Deregistered service: cli-web\n"
        );
        assert_eq!(consul.prints(&["catalog", "services"]), "consul\n");
        let folder = Folder::new();
        let file = folder.0.join("service.json");
        let definition = r#"{"service":{"name":"of-file","port":1,"check":{"ttl":"1h"}}}"#;
        std::fs::write(&file, definition).expect("the folder takes a file");
        let file = file.to_str().expect("the folder's name is text");
        assert_eq!(
            consul.prints(&["services", "register", file]),
            "Registered service: of-file\n"
        );
        assert_eq!(
            consul.prints(&["services", "deregister", file]),
            "Deregistered service: of-file\n"
        );
    });
}

#[test]
fn consul_maint_reload_join_and_leave() {
    with_command_line(|consul| {
        consul.prints(&["services", "register", "-name=cli-maint"]);
        let on = consul.prints(&["maint", "-enable", "-service=cli-maint", "-reason=why"]);
        assert_eq!(on, "Service maintenance is now enabled for \"cli-maint\"\n");
        let shown = "Service:\n  ID:     cli-maint\n  Reason: why\n\n";
        assert_eq!(consul.prints(&["maint"]), shown);
        let off = consul.prints(&["maint", "-disable", "-service=cli-maint"]);
        assert_eq!(
            off,
            "Service maintenance is now disabled for \"cli-maint\"\n"
        );
        let on = consul.prints(&["maint", "-enable", "-reason=node"]);
        assert_eq!(on, "Node maintenance is now enabled\n");
        assert!(consul.prints(&["maint"]).contains("Reason: node"));
        let off = consul.prints(&["maint", "-disable"]);
        assert_eq!(off, "Node maintenance is now disabled\n");
        assert_eq!(
            consul.prints(&["reload"]),
            "Configuration reload triggered\n"
        );
        let forced = consul.output(&["force-leave", "nobody"]);
        assert_eq!(forced.status.code(), Some(1));
        assert_eq!(consul.prints(&["leave"]), "Graceful leave complete\n");
    });
}

/// Runs contenders for `consul lock` at the same time; what they wrote down while they held it.
fn contend(consul: &CommandLine<'_>, contenders: usize, options: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    let log = folder.0.join("log");
    // Between coming and going each talks to the server, so that a second holder has the time to show.
    let work = format!(
        "echo in >>{log}; for i in 1 2 3 4 5; do $CONSUL kv get -keys nothing >/dev/null; done; echo out >>{log}",
        log = log.display()
    );
    let mut arguments = vec!["lock"];
    arguments.extend(options);
    arguments.extend(["cli-lock", &work]);
    let children: Vec<Child> = (0..contenders).map(|_| consul.start(&arguments)).collect();
    for child in children {
        let output = child.wait_with_output().expect("consul ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "lock on {}: {errors}",
            consul.host.name
        );
    }
    let log = std::fs::read_to_string(log).expect("the contenders wrote");
    log.lines().map(str::to_owned).collect()
}

/// The most holders that there were at once.
fn most_holders(log: &[String]) -> usize {
    let mut holders = 0_usize;
    let mut most = 0;
    for line in log {
        if line == "in" {
            holders += 1;
        } else {
            holders -= 1;
        }
        most = most.max(holders);
    }
    most
}

#[test]
fn consul_lock_lets_one_of_two_in_at_a_time() {
    with_command_line(|consul| {
        let log = contend(consul, 2, &[]);
        assert_eq!(log, ["in", "out", "in", "out"], "on {}", consul.host.name);
    });
}

#[test]
fn consul_lock_with_two_slots_lets_three_contenders_through() {
    with_command_line(|consul| {
        let log = contend(consul, 3, &["-n=2"]);
        assert_eq!(log.len(), 6, "each came and went: {log:?}");
        assert!(most_holders(&log) <= 2, "on {}: {log:?}", consul.host.name);
    });
}

#[test]
fn consul_watch_prints_once_without_a_handler() {
    with_command_line(|consul| {
        assert_eq!(
            consul.prints(&["watch", "-type=key", "-key=cli-none"]),
            "null\n"
        );
        consul.prints(&["kv", "put", "cli-watch/a", "x"]);
        let seen = consul.prints(&["watch", "-type=keyprefix", "-prefix=cli-watch/"]);
        assert!(seen.contains("\"Key\": \"cli-watch/a\""), "{seen}");
    });
}

/// A watch with a handler; each line is what the handler was given at a change.
fn watch_changes(consul: &CommandLine<'_>, options: &[&str], change: impl Fn(), expected: &str) {
    let mut arguments = vec!["watch"];
    arguments.extend(options);
    arguments.extend(["sh", "-c", "cat; echo"]);
    let mut child = consul.start(&arguments);
    let output = child.stdout.take().expect("the output is piped");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let first = lines.next().expect("a watch fires at its start");
    assert_eq!(first, "null", "on {}", consul.host.name);
    change();
    // The handler's own line end may come as an empty line.
    let second = lines.find(|line| !line.is_empty());
    child.kill().expect("the watch still runs");
    child.wait().expect("the watch ends");
    let second = second.expect("a watch fires at a change");
    assert!(
        second.contains(expected),
        "on {}: {second}",
        consul.host.name
    );
}

#[test]
fn consul_watch_calls_its_handler_at_a_change_of_a_key() {
    with_command_line(|consul| {
        watch_changes(
            consul,
            &["-type=key", "-key=cli-changing"],
            || {
                consul.prints(&["kv", "put", "cli-changing", "now"]);
            },
            "\"Value\":\"bm93\"",
        );
    });
}

#[test]
fn consul_watch_calls_its_handler_at_a_change_below_a_prefix() {
    with_command_line(|consul| {
        watch_changes(
            consul,
            &["-type=keyprefix", "-prefix=cli-below/"],
            || {
                consul.prints(&["kv", "put", "cli-below/k", "now"]);
            },
            "\"Key\":\"cli-below/k\"",
        );
    });
}
