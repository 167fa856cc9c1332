//! Runs HTTP, TCP, UDP, gRPC, H2PING and script checks when the engine asks for them.
//!
//! Outputs have the words of Go's libraries, as Consul's have (seen on 1.8.7).

mod answer;
#[cfg(feature = "http2-checks")]
mod grpc;
#[cfg(feature = "http2-checks")]
mod h2ping;
mod http;
#[cfg(feature = "http2-checks")]
mod http2;
#[cfg(feature = "script-checks")]
mod script;
mod tcp;
#[cfg(feature = "https-checks")]
mod tls;
mod udp;
mod url;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use tokio::task::{AbortHandle, JoinSet};

use proconsul_engine::{Engine, RunOrder};
use proconsul_gocompat::quote::printable::Unicode;
use proconsul_gocompat::syscall::error_text;
use proconsul_store::{AgentCommand, ProbeRun, ProbeTarget};
use proconsul_version::{Behaviour, Version};

/// Whose words outputs have.
#[derive(Clone, Copy)]
struct Words {
    /// Whether they are those of later Go libraries.
    #[cfg_attr(
        not(any(feature = "http2-checks", feature = "https-checks")),
        expect(dead_code, reason = "only these checks differ")
    )]
    late: bool,
    /// The Unicode of quotes.
    unicode: Unicode,
}

impl Words {
    fn of(version: Version) -> Self {
        Self {
            late: version.has(Behaviour::AgentCheckLateWords),
            unicode: version.go().unicode,
        }
    }
}

/// The result of a run.
struct Outcome {
    /// `passing`, `warning` or `critical`.
    status: &'static str,
    /// The output.
    output: String,
}

impl Outcome {
    fn passing(output: String) -> Self {
        Self {
            status: "passing",
            output,
        }
    }

    fn critical(output: impl Into<String>) -> Self {
        Self {
            status: "critical",
            output: output.into(),
        }
    }
}

#[cfg(not(feature = "http2-checks"))]
const NO_HTTP2: &str =
    "this build of proconsul speaks no HTTP/2: its feature `http2-checks` is off";

#[cfg(not(feature = "script-checks"))]
const NO_SCRIPTS: &str =
    "this build of proconsul runs no scripts: its feature `script-checks` is off";

/// Runs due checks until `end` is ready, and then ends the runs in progress.
pub(crate) async fn run_checks(
    engine: Arc<Engine>,
    version: Version,
    end: impl Future<Output = ()>,
) {
    let words = Words::of(version);
    let mut end = pin!(end);
    let mut running = JoinSet::new();
    let mut by_registration: HashMap<u64, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            order = engine.next_run() => match order {
                RunOrder::Start(run) => {
                    let registration = run.registration;
                    let handle = running.spawn(run_check(OpenRun(Arc::clone(&engine)), words, run));
                    by_registration.insert(registration, handle);
                }
                RunOrder::Stop(registration) => {
                    if let Some(handle) = by_registration.remove(&registration) {
                        handle.abort();
                    }
                }
            },
            Some(ended) = running.join_next() => {
                // The next run of the same registration may have started.
                if let Ok(registration) = ended
                    && by_registration.get(&registration).is_some_and(AbortHandle::is_finished)
                {
                    by_registration.remove(&registration);
                }
            }
            () = &mut end => return running.shutdown().await,
        }
    }
}

/// A run in progress. Dropping it marks its end.
struct OpenRun(Arc<Engine>);

impl Drop for OpenRun {
    fn drop(&mut self) {
        self.0.run_ended();
    }
}

/// Runs a check. Returns its registration.
async fn run_check(open: OpenRun, words: Words, run: ProbeRun) -> u64 {
    let outcome = ask(&open.0, words, &run).await;
    let ran = AgentCommand::Ran {
        id: run.check_id,
        registration: run.registration,
        result: outcome.map(|Outcome { status, output }| (status, output)),
    };
    let applied = open.0.apply(ran);
    applied.expect("the result of a run is taken or forgotten");
    run.registration
}

/// Asks the target; `None` if the run says nothing of its status.
async fn ask(engine: &Engine, words: Words, run: &ProbeRun) -> Option<Outcome> {
    let timeout = run.probe.timeout;
    let late = engine
        .clock()
        .sleep_until(engine.clock().now().plus(timeout));
    let outcome = match &run.probe.target {
        ProbeTarget::Tcp { address, tls } => tcp::connect(address, tls.as_ref(), words, late).await,
        ProbeTarget::Udp(address) => return udp::send(address, late).await,
        #[cfg(feature = "http2-checks")]
        ProbeTarget::H2Ping { address, tls } => {
            h2ping::ping(address, tls.as_ref(), words, late).await
        }
        #[cfg(feature = "http2-checks")]
        ProbeTarget::Grpc { target, tls } => {
            let call = grpc::Call {
                target,
                tls: tls.as_ref(),
                timeout,
                words,
            };
            grpc::ask(&call, late).await
        }
        #[cfg(not(feature = "http2-checks"))]
        ProbeTarget::H2Ping { .. } | ProbeTarget::Grpc { .. } => Outcome::critical(NO_HTTP2),
        #[cfg(feature = "script-checks")]
        ProbeTarget::Script(words) => {
            let script = script::Script {
                words,
                timeout,
                output_limit: run.probe.output_limit,
            };
            script::run(&script, late).await
        }
        #[cfg(not(feature = "script-checks"))]
        ProbeTarget::Script(_) => Outcome::critical(NO_SCRIPTS),
        ProbeTarget::Http {
            url,
            method,
            header,
            body,
            tls_skip_verify,
            tls_server_name,
        } => {
            let request = http::ProbeRequest {
                url,
                method: if method.is_empty() { "GET" } else { method },
                header,
                body,
                tls_skip_verify: *tls_skip_verify,
                tls_server_name,
                output_limit: run.probe.output_limit,
                words,
            };
            http::ask(&request, late).await
        }
    };
    Some(outcome)
}

/// Returns the addresses of a host, or Go's sentence for an unknown host.
async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let found = tokio::net::lookup_host((host, port)).await;
    match found.map(Iterator::collect::<Vec<_>>) {
        Ok(addresses) if !addresses.is_empty() => Ok(addresses),
        Ok(_) | Err(_) => {
            // Go names the server that it has asked.
            let asked = name_server().map(|server| format!(" on {server}"));
            let asked = asked.unwrap_or_default();
            Err(format!("lookup {host}{asked}: no such host"))
        }
    }
}

/// Returns the address of the first name server of this machine. Go asks it itself on Linux alone.
fn name_server() -> Option<SocketAddr> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let settings = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    let mut servers = settings
        .lines()
        .filter_map(|line| line.strip_prefix("nameserver "));
    let server = servers.next()?.trim().parse().ok()?;
    Some(SocketAddr::new(server, 53))
}

/// Returns Go's sentence for a failed connection.
fn dial_error(address: SocketAddr, error: &io::Error) -> String {
    format!("dial tcp {address}: connect: {}", error_text(error))
}

/// Returns Go's sentence for a timeout of a connection.
fn dial_timeout(address: &str) -> String {
    format!("dial tcp {address}: i/o timeout")
}

/// Connects to the first address that accepts; reports the last failure.
async fn dial(host: &str, port: u16) -> Result<tokio::net::TcpStream, String> {
    let addresses = resolve(host, port)
        .await
        .map_err(|error| format!("dial tcp: {error}"))?;
    let mut failure = String::new();
    for address in addresses {
        match tokio::net::TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = dial_error(address, &error),
        }
    }
    Err(failure)
}
