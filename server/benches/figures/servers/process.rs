//! The servers under comparison, each in a process of its own, and what the operating system says about them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit};

use crate::load::wire::Caller;
use crate::servers::bare::{self, Canned};
use crate::stopwatch::{Stopwatch, pause};

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// The argument under which this program is the bare server.
pub(crate) const SERVE_BARE: &str = "serve-bare";

impl Process {
    /// Starts an agent, with the same arguments for all programs that can be one.
    pub(super) fn spawn_agent(program: &OsStr, arguments: &[&str]) -> Self {
        let [http, server, lan, wan] = free_ports();
        let mut command = Command::new(program);
        command.args(["agent", "-dev", "-grpc-port=-1", "-dns-port=-1"]);
        command.args(["-log-level=err", "-disable-host-node-id"]);
        command.args(["-hcl", "limits { http_max_conns_per_client = 0 }"]);
        command.arg(format!("-http-port={http}"));
        command.arg(format!("-server-port={server}"));
        command.arg(format!("-serf-lan-port={lan}"));
        command.arg(format!("-serf-wan-port={wan}"));
        command.args(arguments);
        Self::spawn(command.stdin(Stdio::null()).stderr(Stdio::null()), http)
    }

    /// Starts this program as the bare server.
    pub(super) fn spawn_bare(program: &OsStr, threads: usize, input: Stdio) -> Self {
        let [port, ..] = free_ports();
        let mut command = Command::new(program);
        command.args([SERVE_BARE, &port.to_string(), &threads.to_string()]);
        command.stdin(input);
        Self::spawn(&mut command, port)
    }

    fn spawn(command: &mut Command, port: u16) -> Self {
        let spawned = command.stdout(Stdio::null()).spawn();
        Self {
            child: spawned.expect("the program can be started"),
            address: (Ipv4Addr::LOCALHOST, port).into(),
        }
    }

    /// Tells a bare server what it sends.
    pub(super) fn feed(&mut self, canned: &[Canned]) {
        let mut input = self.child.stdin.take().expect("the input is a pipe");
        bare::write(canned, &mut input).expect("the bare server reads its answers");
    }

    /// Opens a connection for single requests.
    pub(crate) fn caller(&self) -> Caller {
        Caller::connect(self.address).expect("the server accepts connections")
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

    /// The CPU time that `work` makes the process take, in microseconds, and what `work` gives.
    pub(crate) fn cpu_during<T>(&self, work: impl FnOnce() -> T) -> (f64, T) {
        let before = self.cpu();
        let done = work();
        ((self.cpu() - before).as_secs_f64() * 1e6, done)
    }

    /// The memory of the process that is in RAM, in MiB.
    pub(crate) fn resident(&self) -> f64 {
        memory(&format!("/proc/{}/status", self.child.id()), "VmRSS:")
    }

    /// The memory of the process that is no file's, in MiB. A program that was just written counts as `Private_Dirty`.
    pub(crate) fn private(&self) -> f64 {
        let path = format!("/proc/{}/smaps_rollup", self.child.id());
        memory(&path, "Anonymous:")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what the kernel says of a process' memory, in MiB.
pub(crate) fn memory(path: &str, name: &str) -> f64 {
    let text = fs::read_to_string(path).expect("the process runs");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: Option<f64> = kibibytes.and_then(|text| text.parse().ok());
    kibibytes.expect("the kernel prints memory in kB") / 1024.0
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

/// How many files this process may have open.
pub(crate) fn open_files() -> usize {
    let limit = rustix::process::getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}
