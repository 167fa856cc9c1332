//! One agent process of the suite's own: started, told from every other, stopped.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Agent;
use super::owner::listens_at;
use super::release::release_of;
use crate::case::version::Version;
use crate::target::site::ToolError;
use crate::time::{Deadline, pause};
use crate::wire::{self, Address, Outcome, Reply, Request};

/// How long an agent may take until it has a leader and passes its own check.
const BOOT: Duration = Duration::from_secs(30);
/// Between two looks at an agent that boots.
const POLL: Duration = Duration::from_millis(50);
/// What a port that another process took is called.
pub(super) const TAKEN: &str = "address already in use";
/// How often an agent is started whose ports are taken.
const TRIES: usize = 4;
/// What every agent of the suite gets: short sessions, and room for all cases at once.
const SETTINGS: &str =
    r#"{"session_ttl_min": "1s", "limits": {"http_max_conns_per_client": 4096}}"#;

/// The flags that keep an agent from binding ports that the suite does not use, as far as its release knows them: the second
/// agent on a machine would find them taken.
fn unused_ports(binary: &Path) -> &'static [&'static str] {
    if release_of(binary).is_some_and(|release| release >= Version::V1_14) {
        &["-dns-port=-1", "-grpc-port=-1", "-grpc-tls-port=-1"]
    } else {
        &["-dns-port=-1", "-grpc-port=-1"]
    }
}

/// A running agent; dropping it stops it.
#[derive(Debug)]
pub(super) struct Process {
    child: Mutex<Child>,
    pub(super) address: Address,
    /// The agent's node id, by which its answers are told from those of another process that took the port first.
    id: String,
    /// Set once the process was seen to listen at its address.
    listens: AtomicBool,
    directory: PathBuf,
}

impl Process {
    /// Starts an agent and waits until it serves.
    pub(super) fn start(binary: &Path, agent: &Agent) -> Result<Self, ToolError> {
        // Only who was told so can refuse to serve.
        let may_refuse = !agent.config.is_empty() || !agent.settings.is_empty();
        let mut tries = 1;
        loop {
            let process = Self::spawn(binary, agent)?;
            match process.wait_until_it_serves(may_refuse) {
                Ok(()) => return Ok(process),
                // Another process took a port before this one did.
                Err(error) if error.0.contains(TAKEN) && tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Starts an agent, which may not listen yet.
    fn spawn(binary: &Path, agent: &Agent) -> Result<Self, ToolError> {
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
            .args(unused_ports(binary))
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
        Ok(Self {
            child: Mutex::new(child),
            address: Address::parse(&format!("127.0.0.1:{http}")).map_err(ToolError)?,
            id,
            listens: AtomicBool::new(false),
            directory,
        })
    }

    /// What an agent of this binary says at agent/self as soon as it listens.
    pub(super) fn self_of(binary: &Path) -> Result<Reply, ToolError> {
        let process = Self::spawn(binary, &Agent::default())?;
        let deadline = Deadline::after(BOOT);
        while deadline.left().is_some() {
            process.check_is_running()?;
            if process.is_ours()?
                && let Outcome::Reply(reply) = process.ask("/v1/agent/self")
            {
                return Ok(reply);
            }
            pause(POLL);
        }
        Err(process.too_slow())
    }

    /// A session bound to the agent's own check needs a leader, the node and the check: then everything is there.
    /// Where nobody may make one, a leader must do.
    fn wait_until_it_serves(&self, may_refuse: bool) -> Result<(), ToolError> {
        let deadline = Deadline::after(BOOT);
        let request = Request::put("/v1/session/create", "");
        while deadline.left().is_some() {
            self.check_is_running()?;
            if !self.is_ours()? {
                pause(POLL);
                continue;
            }
            let Outcome::Reply(reply) = wire::exchange(&self.address, &request) else {
                pause(POLL);
                continue;
            };
            if reply.status == 403 && !may_refuse {
                return Err(self.taken());
            }
            if reply.status == 403 && self.has_leader() {
                return self.check();
            }
            if reply.status == 200 {
                let body = String::from_utf8_lossy(&reply.body).into_owned();
                if let Some(id) = body.split('"').nth(3) {
                    let destroy = format!("/v1/session/destroy/{id}");
                    let destroyed = wire::exchange(&self.address, &Request::put(&destroy, ""));
                    debug_assert!(matches!(destroyed, Outcome::Reply(_)));
                }
                if self.is_synced() {
                    return self.check();
                }
            }
            pause(POLL);
        }
        Err(self.too_slow())
    }

    fn too_slow(&self) -> ToolError {
        let log = self.log();
        ToolError(format!("consul did not serve within {BOOT:?}: {log}"))
    }

    fn check_is_running(&self) -> Result<(), ToolError> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        match child.try_wait() {
            Ok(Some(status)) => Err(ToolError(format!(
                "consul ended early ({status}): {}",
                self.log()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether the process that was started runs and is the one that listens at its address.
    ///
    /// # Errors
    /// That it has ended, or that its port is another's.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        self.check_is_running()?;
        match self.is_ours()? {
            true => Ok(()),
            false => Err(ToolError(format!("{}: nobody listens", self.address))),
        }
    }

    /// Whether the process listens at its address already: once it does, as long as it runs.
    ///
    /// The agent says which node it is; where it does not tell everybody, the system says whose a listening socket is, by tables that
    /// take it milliseconds on a machine with many sockets.
    fn is_ours(&self) -> Result<bool, ToolError> {
        if self.listens.load(Ordering::Relaxed) {
            return Ok(true);
        }
        match self.ask("/v1/agent/self") {
            Outcome::Unreachable(_) => return Ok(false),
            Outcome::Reply(reply) if String::from_utf8_lossy(&reply.body).contains(&self.id) => {}
            _ if listens_at(self.pid(), self.address.socket) => {}
            _ => return Err(self.taken()),
        }
        self.listens.store(true, Ordering::Relaxed);
        Ok(true)
    }

    fn pid(&self) -> u32 {
        let child = self.child.lock();
        child.unwrap_or_else(PoisonError::into_inner).id()
    }

    fn ask(&self, path: &str) -> Outcome {
        wire::exchange(&self.address, &Request::get(path))
    }

    fn has_leader(&self) -> bool {
        match self.ask("/v1/status/leader") {
            Outcome::Reply(reply) => reply.body.starts_with(b"\"1"),
            _ => false,
        }
    }

    /// The agent has entered its own node into the catalog as it wants it: no index moves by itself soon.
    fn is_synced(&self) -> bool {
        match self.ask("/v1/catalog/nodes") {
            // Where it must not be looked at, or not so often, nobody can tell.
            Outcome::Reply(reply) if reply.status != 200 => true,
            Outcome::Reply(reply) => String::from_utf8_lossy(&reply.body).contains("\"lan\""),
            _ => false,
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
    use crate::wire::fake::{Fake, genuine_like};

    #[cfg(unix)]
    #[test]
    fn an_agent_whose_port_was_taken_is_started_anew() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = own_directory().expect("a directory");
        let binary = directory.join("consul");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = agent ] && echo >>\"$0.starts\"\necho 'bind: {TAKEN}'\nexit 1\n"
        );
        fs::write(&binary, script).expect("a file");
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("our file");
        let error = Process::start(&binary, &Agent::default()).expect_err("it never serves");
        assert!(error.0.contains("ended early"), "{error}");
        let starts = fs::read_to_string(directory.join("consul.starts")).expect("it was started");
        assert_eq!(starts.len(), TRIES);
        fs::remove_dir_all(directory).expect("our folder");
    }

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
            listens: AtomicBool::new(false),
            directory: std::env::temp_dir().join(random_id()),
        };
        let error = process
            .wait_until_it_serves(false)
            .expect_err("it is not ours");
        assert!(error.0.contains(TAKEN), "{error}");
    }

    #[test]
    fn a_server_that_came_upon_the_port_is_told_apart_whatever_it_answers() {
        // As of an agent that lets nobody look: no answer says which node it is.
        let fake =
            Fake::answering(|_| Some(b"HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n".to_vec()));
        let process = Process {
            child: Mutex::new(Command::new("sleep").arg("60").spawn().expect("sleep runs")),
            address: fake.address(),
            id: random_id(),
            listens: AtomicBool::new(false),
            directory: std::env::temp_dir().join(random_id()),
        };
        let error = process.check().expect_err("it is not ours");
        assert!(error.0.contains(TAKEN), "{error}");
        drop(process.child.lock().expect("nobody panicked").kill());
        let deadline = Deadline::after(BOOT);
        while process.check_is_running().is_ok() && deadline.left().is_some() {
            pause(POLL);
        }
        let error = process.check().expect_err("it has ended");
        assert!(error.0.contains("ended early"), "{error}");
    }
}
