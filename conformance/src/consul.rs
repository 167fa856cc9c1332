//! A `consul` binary that the suite finds, starts and stops itself.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::target::{Site, Target, ToolError};
use crate::time::{Deadline, pause};
use crate::wire::{self, Address, Outcome, Request};

/// How long an agent may take until it has a leader and passes its own check.
const BOOT: Duration = Duration::from_secs(30);
/// A port may be taken between asking for it and using it.
const ATTEMPTS: usize = 3;
/// Between two looks at an agent that boots.
const POLL: Duration = Duration::from_millis(50);
const TAKEN: &str = "address already in use";
/// What every agent of the suite gets: short sessions, and room for all cases at once.
const SETTINGS: &str =
    r#"{"session_ttl_min": "1s", "limits": {"http_max_conns_per_client": 4096}}"#;

/// How a `consul` of the suite's own is run.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// A plain server with a data directory instead of `-dev`.
    pub plain: bool,
    /// Configuration files or directories for `-config-file`/`-config-dir`, after the suite's own settings.
    pub config: Vec<PathBuf>,
    /// More settings as JSON, which count before all others; empty for none.
    pub settings: String,
    /// Further arguments for `agent`.
    pub arguments: Vec<String>,
}

impl Agent {
    /// What reports call such an agent: the binary's name and its mode.
    fn name(&self, binary: &Path) -> String {
        let file = binary.file_name().unwrap_or(binary.as_os_str());
        let mode = if self.plain { "server" } else { "-dev" };
        format!("{} {mode}", file.to_string_lossy())
    }
}

/// Finds a binary: `CONSUL_BIN`, then `consul` on `PATH`, then the one that `fetch-consul` has put under `target/`.
///
/// `None` when there is none. A `CONSUL_BIN` is taken as it is; when it does not run, starting it says so.
#[must_use]
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CONSUL_BIN").filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join("consul"));
    let exe = std::env::current_exe().unwrap_or_default();
    let fetched = exe
        .ancestors()
        .map(|directory| directory.join("consul-1.8.7/usr/bin/consul"));
    on_path.chain(fetched).find(|file| file.is_file())
}

/// Starts an agent and waits until it serves; dropping the last user of the target stops it.
///
/// # Errors
/// When the binary does not start, ends early or does not come up in time; with the end of its log.
pub fn start(binary: &Path, agent: &Agent) -> Result<Target, ToolError> {
    let target = Target::shared(&agent.name(binary), start_site(binary, agent)?)?;
    Ok(with_own(target, binary, agent))
}

/// Starts so many agents of one kind, each for one trial at a time.
///
/// # Errors
/// As [`start`].
pub fn start_pool(binary: &Path, agent: &Agent, size: usize) -> Result<Target, ToolError> {
    let sites: Result<Vec<Site>, ToolError> =
        (0..size).map(|_| start_site(binary, agent)).collect();
    let target = Target::pool(&agent.name(binary), sites?)?;
    Ok(with_own(target, binary, agent))
}

fn with_own(target: Target, binary: &Path, agent: &Agent) -> Target {
    let (binary, agent) = (binary.to_owned(), agent.clone());
    target.with_own_servers(move |settings| {
        let settings = settings.to_owned();
        let agent = agent.clone();
        start_site(&binary, &Agent { settings, ..agent })
    })
}

fn start_site(binary: &Path, agent: &Agent) -> Result<Site, ToolError> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match Process::start(binary, agent) {
            Ok(process) => return Ok(Site::new(process.address.clone()).keeping(process)),
            Err(error) if error.0.contains(TAKEN) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.expect("the loop only ends after an error"))
}

#[derive(Debug)]
struct Process {
    child: Mutex<Child>,
    address: Address,
    /// The agent's node id, by which its answers are told from those of another process that took the port first.
    id: String,
    directory: PathBuf,
}

impl Process {
    fn start(binary: &Path, agent: &Agent) -> Result<Self, ToolError> {
        let cannot = |what: &str, error: &dyn std::fmt::Display| {
            ToolError(format!("cannot {what} for {}: {error}", binary.display()))
        };
        let directory = own_directory().map_err(|error| cannot("make a directory", &error))?;
        let [http, server, lan, wan] =
            free_ports().map_err(|error| cannot("find ports", &error))?;
        let id = random_id();
        let configuration =
            configuration(agent, &directory).map_err(|error| cannot("write settings", &error))?;
        let log = File::create(directory.join("log")).map_err(|error| cannot("log", &error))?;
        let errors = log.try_clone().map_err(|error| cannot("log", &error))?;
        let mut command = Command::new(binary);
        command.arg("agent");
        if agent.plain {
            command.args(["-server", "-bootstrap-expect=1", "-data-dir"]);
            command.arg(directory.join("data"));
        } else {
            command.arg("-dev");
        }
        command
            .args(["-bind=127.0.0.1", "-client=127.0.0.1", "-log-level=warn"])
            .args(["-dns-port=-1", "-grpc-port=-1"])
            // One name for all: what servers of a pool say must not differ by it.
            .arg("-node=suite-node")
            .arg(format!("-node-id={id}"))
            .arg(format!("-http-port={http}"))
            .arg(format!("-server-port={server}"))
            .arg(format!("-serf-lan-port={lan}"))
            .arg(format!("-serf-wan-port={wan}"))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        for file in configuration {
            let flag = if file.is_dir() {
                "-config-dir"
            } else {
                "-config-file"
            };
            command.arg(flag).arg(file);
        }
        command.args(&agent.arguments);
        let child = command.spawn();
        let child = child
            .map_err(|error| ToolError(format!("cannot run {}: {error}", binary.display())))?;
        let process = Self {
            child: Mutex::new(child),
            address: Address::parse(&format!("127.0.0.1:{http}")).map_err(ToolError)?,
            id,
            directory,
        };
        // Only who was told so can refuse to serve.
        let may_refuse = !agent.config.is_empty() || !agent.settings.is_empty();
        process.wait_until_it_serves(may_refuse)?;
        Ok(process)
    }

    /// A session bound to the agent's own check needs a leader, the node and the check: then everything is there.
    /// Where nobody may make one, a leader must do.
    fn wait_until_it_serves(&self, may_refuse: bool) -> Result<(), ToolError> {
        let deadline = Deadline::after(BOOT);
        let request = Request::put("/v1/session/create", "");
        while deadline.left().is_some() {
            let ended = self.child.lock().map(|mut child| child.try_wait());
            if let Ok(Ok(Some(status))) = ended {
                return Err(ToolError(format!(
                    "consul ended early ({status}): {}",
                    self.log()
                )));
            }
            self.check_identity()?;
            let Outcome::Reply(reply) = wire::exchange(&self.address, &request) else {
                pause(POLL);
                continue;
            };
            if reply.status == 403 && !may_refuse {
                return Err(self.taken());
            }
            if reply.status == 403 && self.has_leader() {
                return Ok(());
            }
            if reply.status == 200 {
                let body = String::from_utf8_lossy(&reply.body).into_owned();
                if let Some(id) = body.split('"').nth(3) {
                    let destroy = format!("/v1/session/destroy/{id}");
                    let destroyed = wire::exchange(&self.address, &Request::put(&destroy, ""));
                    debug_assert!(matches!(destroyed, Outcome::Reply(_)));
                }
                if self.is_synced() {
                    return Ok(());
                }
            }
            pause(POLL);
        }
        Err(ToolError(format!(
            "consul did not serve within {BOOT:?}: {}",
            self.log()
        )))
    }

    fn has_leader(&self) -> bool {
        match wire::exchange(&self.address, &Request::get("/v1/status/leader")) {
            Outcome::Reply(reply) => reply.body.starts_with(b"\"1"),
            _ => false,
        }
    }

    /// The agent has entered its own node into the catalog as it wants it: no index moves by itself soon.
    fn is_synced(&self) -> bool {
        match wire::exchange(&self.address, &Request::get("/v1/catalog/nodes")) {
            // Where it must not be looked at, or not so often, nobody can tell.
            Outcome::Reply(reply) if reply.status != 200 => true,
            Outcome::Reply(reply) => String::from_utf8_lossy(&reply.body).contains("\"lan\""),
            _ => false,
        }
    }

    /// Whoever answers is the process that was started.
    fn check_identity(&self) -> Result<(), ToolError> {
        let is_ours = |body: &[u8]| String::from_utf8_lossy(body).contains(&self.id);
        match wire::exchange(&self.address, &Request::get("/v1/agent/self")) {
            Outcome::Reply(reply) if reply.status == 200 && !is_ours(&reply.body) => {
                Err(self.taken())
            }
            _ => Ok(()),
        }
    }

    fn taken(&self) -> ToolError {
        ToolError(format!("{}: {TAKEN} by another agent", self.address))
    }

    /// The last lines of its log.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let stopped = child.kill().and_then(|()| child.wait().map(drop));
            debug_assert!(stopped.is_ok(), "a child that was started can be stopped");
        }
        if fs::remove_dir_all(&self.directory).is_err() {
            // The system's temporary directory is cleared by the system in the end.
        }
    }
}

/// Files and folders of settings, of which the last counts.
fn configuration(agent: &Agent, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (first, last) = (directory.join("settings.json"), directory.join("more.json"));
    fs::write(&first, SETTINGS)?;
    let mut files = vec![first];
    files.extend(agent.config.iter().cloned());
    if !agent.settings.is_empty() {
        fs::write(&last, &agent.settings)?;
        files.push(last);
    }
    Ok(files)
}

/// An id in the form of a UUID that no other agent has.
fn random_id() -> String {
    let chance = |salt: u8| RandomState::new().hash_one(salt);
    let digits = format!("{:016x}{:016x}", chance(0), chance(1));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

fn own_directory() -> std::io::Result<PathBuf> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("proconsul-conformance-{}-{number}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    fs::create_dir_all(&directory).map(|()| directory)
}

/// Ports that were free a moment ago.
fn free_ports() -> std::io::Result<[u16; 4]> {
    let mut ports = [0; 4];
    // All are held until all are known, so that they differ.
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, genuine_like};

    #[test]
    fn ids_have_the_form_of_a_uuid_and_differ() {
        let id = random_id();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(
            id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()),
            "{id}"
        );
        assert_ne!(id, random_id());
    }

    #[test]
    fn ports_differ() {
        let mut ports = free_ports().expect("the system has free ports").to_vec();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4);
    }

    #[test]
    fn an_answer_of_another_process_is_told_apart() {
        let fake = Fake::answering(|line| Some(genuine_like(line)));
        let process = Process {
            child: Mutex::new(Command::new("sleep").arg("60").spawn().expect("sleep runs")),
            address: fake.address(),
            id: random_id(),
            directory: std::env::temp_dir().join(random_id()),
        };
        let error = process
            .wait_until_it_serves(false)
            .expect_err("it is not ours");
        assert!(error.0.contains(TAKEN), "{error}");
    }
}
