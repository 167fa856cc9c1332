//! The servers that a command runs on: one of ours for each release, and a real Consul.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use proconsul::config::Config;
use proconsul::{Server, Version};
use proconsul_client::Client;
use proconsul_os::time::{delay, elapsed};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::record::{self, Exchange, Recorded};
use super::seen::{self, Tests};

/// How long a real Consul may take until it has a leader.
const BOOT: Duration = Duration::from_secs(30);
/// Between two looks at one that boots.
const LOOK: Duration = Duration::from_millis(100);

/// What a command runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A server that emulates a release.
    Release(Version),
    /// A Consul at this path.
    Consul(String),
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Release(version) => version.fmt(formatter),
            Place::Consul(path) => formatter.write_str(path),
        }
    }
}

/// What became of a command on one server.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) place: Place,
    /// The release that answered.
    pub(super) version: Version,
    /// Whether the command ended with 0.
    pub(super) passed: bool,
    /// How it ended, in words: `exit status 1`.
    pub(super) ended: String,
    pub(super) tests: Tests,
    /// What it wrote to standard output and to standard error.
    pub(super) output: String,
    pub(super) took: Duration,
    pub(super) exchanges: Vec<Exchange>,
}

/// Runs a command on a fresh server, whose address it finds in `CONSUL_HTTP_ADDR`.
///
/// # Errors
/// The server or the command cannot be started.
pub(super) async fn run(place: Place, words: &[String]) -> Result<Run, String> {
    let server = Running::start(&place).await?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let recorded = Recorded::default();
    let recording = record::serve(listener, server.address, recorded.clone());
    let _recording = Stopped(tokio::spawn(recording));
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env("CONSUL_HTTP_ADDR", address.to_string())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let began = elapsed();
    let output = command.output().await;
    let output = output.map_err(|error| format!("{}: {error}", words[0]))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    Ok(Run {
        version: server.version,
        passed: output.status.success(),
        ended: crate::commands::child::failure(output.status)
            .unwrap_or_else(|| "passed".to_owned()),
        tests: seen::tests(&said),
        output: said,
        took: elapsed() - began,
        exchanges: recorded.take(),
        place,
    })
}

/// A task that ends when it is dropped.
struct Stopped(JoinHandle<()>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A server that runs until it is dropped.
struct Running {
    address: SocketAddr,
    version: Version,
    _kept: Kept,
}

enum Kept {
    #[expect(dead_code, reason = "it stops when it is dropped")]
    Own(Server),
    #[expect(dead_code, reason = "it is killed when it is dropped")]
    Real(Child),
}

impl Running {
    async fn start(place: &Place) -> Result<Self, String> {
        match place {
            Place::Release(version) => {
                let config = Config {
                    version: *version,
                    ..Config::dev()
                };
                let server = Server::builder().config(config).start();
                let server = server.map_err(|error| error.to_string())?;
                Ok(Self {
                    address: server.addr(),
                    version: *version,
                    _kept: Kept::Own(server),
                })
            }
            Place::Consul(path) => Self::real(path).await,
        }
    }

    async fn real(path: &str) -> Result<Self, String> {
        let ports = free_ports().await.map_err(|error| error.to_string())?;
        let [http, server, lan, wan] = ports;
        let child = Command::new(path)
            .args([
                "agent",
                "-dev",
                "-grpc-port=-1",
                "-dns-port=-1",
                "-log-level=err",
            ])
            .arg(format!("-http-port={http}"))
            .arg(format!("-server-port={server}"))
            .arg(format!("-serf-lan-port={lan}"))
            .arg(format!("-serf-wan-port={wan}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let child = child.map_err(|error| format!("{path}: {error}"))?;
        let address = SocketAddr::from(([127, 0, 0, 1], http));
        let client = Client::new(&format!("http://{address}"));
        let client = client.map_err(|error| error.to_string())?;
        let began = elapsed();
        let version = loop {
            let leader = client.leader().await.ok().flatten();
            let own = client.agent().config().await;
            match (leader, own) {
                (Some(_), Ok(own)) => {
                    break own["Config"]["Version"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned();
                }
                _ if elapsed() - began > BOOT => {
                    return Err(format!("{path} has no leader after {} s", BOOT.as_secs()));
                }
                _ => delay(LOOK).await,
            }
        };
        let numbers = version.split(['-', '+']).next().unwrap_or_default();
        let version: Result<Version, _> = numbers.parse();
        Ok(Self {
            address,
            version: version.map_err(|error| format!("{path}: {error}"))?,
            _kept: Kept::Real(child),
        })
    }
}

/// Returns ports that were free a moment ago.
async fn free_ports() -> std::io::Result<[u16; 4]> {
    let mut held = Vec::new();
    let mut ports = [0; 4];
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}
