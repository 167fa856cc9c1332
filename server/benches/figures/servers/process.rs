//! The servers under comparison, each in a process of its own, and what the operating system says about them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::load::wire::Caller;
use crate::servers::bare::{self, Canned};
use crate::stopwatch::{Stopwatch, pause};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which server a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The server of this repository.
    Proconsul,
    /// Hyper with nothing behind it.
    Bare,
    /// A real Consul.
    Consul,
}

/// A running server. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// The argument under which this program is the bare server.
pub(crate) const SERVE_BARE: &str = "serve-bare";

impl Process {
    /// Starts a server, and waits until it answers.
    pub(crate) fn start(kind: Kind) -> Self {
        let process = Self::spawn(kind, &[]);
        process.first_put();
        process
    }

    /// Starts a server with ACLs, on which requests without a token may do everything until that is taken away.
    pub(crate) fn start_with_acls(kind: Kind) -> Self {
        let acls = r#"acl { enabled = true default_policy = "deny" tokens { master = "root" default = "root" } }"#;
        let process = Self::spawn_with(kind, &[], &["-hcl", acls]);
        process.first_put();
        process
    }

    /// Starts a bare server that sends `canned`.
    pub(crate) fn start_bare(canned: &[Canned]) -> Self {
        let process = Self::spawn(Kind::Bare, canned);
        process.first_put();
        process
    }

    /// Starts a server, and waits for nothing.
    ///
    /// # Panics
    /// When there is no such program.
    pub(crate) fn spawn(kind: Kind, canned: &[Canned]) -> Self {
        Self::spawn_with(kind, canned, &[])
    }

    fn spawn_with(kind: Kind, canned: &[Canned], arguments: &[&str]) -> Self {
        let [port, more @ ..] = free_ports();
        let mut command = match kind {
            Kind::Proconsul => agent(env!("CARGO_BIN_EXE_proconsul"), port, more),
            Kind::Bare => bare_server(port),
            Kind::Consul => {
                let program = consul_program();
                let program = program.expect("the caller has asked whether there is a Consul");
                agent(program, port, more)
            }
        };
        command.args(arguments);
        let input = if canned.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        let spawned = command.stdin(input).stdout(Stdio::null()).spawn();
        let mut child = spawned.expect("the program can be started");
        if let Some(mut input) = child.stdin.take() {
            bare::write(canned, &mut input).expect("the bare server reads its answers");
        }
        Self {
            child,
            address: (Ipv4Addr::LOCALHOST, port).into(),
        }
    }

    /// Tries until a PUT succeeds.
    pub(crate) fn first_put(&self) {
        let started = Stopwatch::start();
        loop {
            assert!(started.elapsed() < PATIENCE, "the server does not start");
            let Ok(mut caller) = Caller::connect(self.address) else {
                std::thread::yield_now();
                continue;
            };
            let answer = caller.call("PUT", "/v1/kv/first", b"put");
            if answer
                .is_ok_and(|answer| answer.status() == "200" && answer.body.starts_with(b"true"))
            {
                return;
            }
            pause(Duration::from_millis(1));
        }
    }

    /// The CPU time that all threads of the process have taken.
    pub(crate) fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let nanoseconds = tasks.expect("the process runs").map(|task| {
            let path = task.map(|task| task.path().join("schedstat"));
            // A thread can end between the listing and the look.
            let text = path.and_then(fs::read_to_string).unwrap_or_default();
            let first = text.split_whitespace().next();
            first.map_or(0, |text| text.parse().expect("schedstat holds numbers"))
        });
        Duration::from_nanos(nanoseconds.sum())
    }

    /// The memory of the process that is in RAM, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kibibytes = kibibytes.and_then(|text| text.parse::<u64>().ok());
        1024 * kibibytes.expect("the kernel prints the resident memory in kB")
    }

    /// Asks the process to end, and waits until it has.
    pub(crate) fn stop(mut self) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, Signal::TERM).expect("the process runs");
        self.child.wait().expect("the process ends");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bare_server(port: u16) -> Command {
    let program = std::env::current_exe().expect("the system knows this program's path");
    let mut command = Command::new(program);
    command.arg(SERVE_BARE).arg(port.to_string());
    command
}

/// An agent, with the same arguments for both programs that can be one.
fn agent(program: impl AsRef<OsStr>, http: u16, [server, lan, wan]: [u16; 3]) -> Command {
    let mut command = Command::new(program);
    command.args(["agent", "-dev", "-grpc-port=-1", "-dns-port=-1"]);
    command.args(["-log-level=err", "-disable-host-node-id"]);
    command.args(["-hcl", "limits { http_max_conns_per_client = 0 }"]);
    command.arg(format!("-http-port={http}"));
    command.arg(format!("-server-port={server}"));
    command.arg(format!("-serf-lan-port={lan}"));
    command.arg(format!("-serf-wan-port={wan}"));
    command.stderr(Stdio::null());
    command
}

/// A real Consul 1.8.7: what `CONSUL_BIN` names, or what the repository's script has fetched. An empty
/// `CONSUL_BIN` leaves Consul out.
pub(crate) fn consul_program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CONSUL_BIN") {
        return (!named.is_empty()).then(|| named.into());
    }
    let fetched = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../target/consul-1.8.7/usr/bin/consul"
    );
    let fetched = PathBuf::from(fetched);
    fetched.is_file().then_some(fetched)
}

/// Ports that were free a moment ago.
fn free_ports() -> [u16; 4] {
    let bound = [(); 4].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let port =
        |listener: io::Result<TcpListener>| Ok::<_, io::Error>(listener?.local_addr()?.port());
    bound.map(|listener| port(listener).expect("the machine has a free port"))
}

/// Allows this process and those that it starts as many open files as the system lets it.
pub(crate) fn raise_open_file_limit() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    rustix::process::setrlimit(Resource::Nofile, raised).expect("up to the maximum is allowed");
}
