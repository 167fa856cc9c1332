//! The verb `agent`: runs a server until a signal ends it.

mod banner;
mod certificates;
mod log;
mod own_file;

use std::cell::RefCell;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use serde::{Serialize, Serializer};
use tokio::runtime::{Builder, Runtime};
use tracing::{error, info, warn};

use self::certificates::Written;
use self::log::Log;
use self::own_file::OwnFile;
use super::output;
use proconsul::process::{self, DevCertificates, Reload, StartData};
use proconsul::process::{Address, Addresses, AgentAddresses};
use proconsul_config::Config;
use proconsul_config::ConfigError;
use proconsul_config::arguments::{Prepared, prepare};
use proconsul_config::resolve::Resolved;
use proconsul_config::resolve::acl::policy_flaw;
use proconsul_config::resolve::listen::open_control;
use proconsul_config::settings::environment::Variables;
use proconsul_config::settings::flags::flags;
use proconsul_config::settings::go_flags;
use proconsul_gocompat::syscall::error_text;
use proconsul_os::CORES;
use proconsul_os::process::{Caught, Signals};
use proconsul_os::time::machine_seed;
use proconsul_version::Behaviour;

/// The help before the list of flags.
const SYNOPSIS: &str = "agent [options]\n\n  Starts a stand-in for a Consul agent, and runs until it is interrupted. \
                        It takes the flags\n  and the configuration files of Consul; what has no effect is named in \
                        its log.\n";

/// Runs the verb.
pub(super) fn run(program: &str, arguments: &[String], variables: Variables) -> ExitCode {
    let prepared = prepare(arguments, &variables).and_then(|prepared| {
        let config = &prepared.resolved.config;
        let data = process::check(config).and_then(|()| StartData::read(config));
        let data = data.map_err(|error| error.to_string());
        let data = data.and_then(|data| make_data_dir(config).map(|()| data));
        data.map(|data| (prepared, data))
            .map_err(ConfigError::Invalid)
    });
    let (mut prepared, data) = match prepared {
        Ok(prepared) => prepared,
        Err(ConfigError::Help) => {
            output::out(&format!(
                "Usage: {program} {SYNOPSIS}\n{}",
                go_flags::long_usage(&[flags()])
            ));
            return ExitCode::SUCCESS;
        }
        Err(ConfigError::BadFlag(text)) => {
            let usage = go_flags::short_usage(&[flags()]);
            output::err(&format!("{text}\n{usage}==> error parsing flags: {text}\n"));
            return ExitCode::FAILURE;
        }
        Err(ConfigError::Invalid(text)) => {
            output::err(&format!("==> {text}\n"));
            return ExitCode::FAILURE;
        }
    };
    // The seed is chosen here, because the banner shows the node id, which is derived from it.
    let config = &mut prepared.resolved.config;
    *config = config.with_seed(config.seed.unwrap_or_else(machine_seed));
    if let Some(line) = prepared.loaded.without_effect() {
        output::err(&line);
    }
    if let Some(warning) = open_control(&prepared.resolved.config) {
        output::err(&format!("==> {warning}\n"));
    }
    output::out(&banner::text(&prepared.resolved));
    let log = Log::new(&prepared.resolved.config);
    output::write_in_background(log.line_about_dropped());
    log.install();
    remark(&prepared);
    let arguments = arguments.to_vec();
    let reread = move || {
        let prepared = prepare(&arguments, &variables).map_err(|error| error.to_string())?;
        Ok(prepared.resolved.config)
    };
    let code = match serve(&prepared.resolved, data, Box::new(reread)) {
        Ok(code) => code,
        Err(text) => {
            error!(target: "agent", error = text, "Error starting agent");
            1
        }
    };
    info!(target: "agent", code, "Exit code");
    output::finish();
    ExitCode::from(code)
}

/// Checks configuration files as `validate` does, and returns the warnings about them.
///
/// # Errors
/// The text of an agent that refuses to start with them.
pub(super) fn validate(arguments: &[String]) -> Result<Vec<String>, String> {
    match prepare(arguments, &Variables::default()) {
        // Here alone the folder counts: nothing is kept there.
        Ok(prepared) if prepared.resolved.config.acl.data_dir.is_none() => {
            Err("data_dir cannot be empty".to_owned())
        }
        Ok(prepared) => {
            let mut warnings = prepared.resolved.warnings;
            // What proconsul does otherwise is no flaw of the files.
            warnings.retain(|warning| !warning.contains("proconsul"));
            Ok(warnings)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Logs Consul's warnings about the configuration.
fn remark(prepared: &Prepared) {
    for file in &prepared.loaded.skipped {
        warn!(
            target: "agent",
            "skipping file {file}, extension must be .hcl or .json, or config format must be set"
        );
    }
    let open = open_control(&prepared.resolved.config);
    for warning in prepared.resolved.warnings.iter().chain(&open) {
        warn!(target: "agent", "{warning}");
    }
}

/// Makes the data directory with the folders above it. Nothing is kept there, but other files may be named below it.
///
/// # Errors
/// Consul's text about a folder that cannot be made.
fn make_data_dir(config: &Config) -> Result<(), String> {
    let Some(folder) = &config.acl.data_dir else {
        return Ok(());
    };
    let above = folder.ancestors();
    let missing = above.take_while(|path| !path.as_os_str().is_empty() && !path.exists());
    for path in missing.collect::<Vec<_>>().into_iter().rev() {
        fs::create_dir(path).map_err(|error| {
            let error = error_text(&error);
            format!("failed to setup node ID: mkdir {}: {error}", path.display())
        })?;
    }
    Ok(())
}

/// Returns the runtime of an agent: threads for half of the machine's cores, since the tests beside it need the others. On
/// two cores a second thread makes the slowest answers slower by far (`server/benches/README.md`).
fn runtime() -> io::Result<Runtime> {
    let mut builder = match *CORES / 2 {
        0 | 1 => {
            process::serve_on_this_thread();
            Builder::new_current_thread()
        }
        threads => {
            let mut builder = Builder::new_multi_thread();
            builder
                .worker_threads(threads)
                .on_thread_start(process::serve_on_this_thread);
            builder
        }
    };
    builder.enable_all().build()
}

/// Serves until a signal arrives, and returns the exit code.
///
/// # Errors
/// Consul's text about a file that cannot be written or an address that cannot be listened on.
fn serve(resolved: &Resolved, data: StartData, reread: process::Reread) -> Result<u8, String> {
    let config = &resolved.config;
    if let Some(flaw) = policy_flaw(&config.acl) {
        return Err(format!("Failed to start Consul server: {flaw}"));
    }
    let runtime = runtime().map_err(|error| error_text(&error))?;
    check_files(resolved)?;
    // Filled by `ready`, when the server can be reached.
    let own_files = RefCell::new(None);
    let served_at = RefCell::new(Vec::new());
    let unwritten = RefCell::new(None);
    let caught = RefCell::new(None);
    let reload = RefCell::new(None);
    let served = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(|error| error_text(&error))?;
        let ready = |bound: &Addresses, made: Option<&DevCertificates>, reloads: Reload| {
            *reload.borrow_mut() = Some(reloads);
            *served_at.borrow_mut() = served(bound);
            let announced = certificates::write(resolved, made)
                .and_then(|made| Ok((announce_port(resolved, bound, made.as_ref())?, made)));
            match announced {
                Ok(files) => {
                    *own_files.borrow_mut() = Some(files);
                    introduce(config, bound);
                    announce(config, &served_at.borrow());
                }
                Err(text) => *unwritten.borrow_mut() = Some(text),
            }
        };
        let stop = async {
            if unwritten.borrow().is_none() {
                let reload = reload.borrow().clone();
                *caught.borrow_mut() = Some(wait(&mut signals, config, reload.as_ref()).await);
            }
        };
        process::run(config.clone(), data, reread, ready, stop)
            .await
            .map_err(|error| error.to_string())
    });
    // Waiting calls of the control plane are abandoned: nobody needs their answers.
    runtime.shutdown_background();
    served?;
    if let Some(text) = unwritten.into_inner() {
        return Err(text);
    }
    let leaves = match caught.into_inner() {
        Some(Caught::Interrupt) => resolved.leave_on_interrupt,
        Some(Caught::Terminate) => resolved.leave_on_terminate,
        Some(Caught::Hangup) | None => false,
    };
    say_goodbye(config, &served_at.into_inner(), leaves);
    Ok(u8::from(!leaves))
}

/// Waits for a signal that ends the agent. SIGHUP reloads services and checks; other settings need a restart.
async fn wait(signals: &mut Signals, config: &Config, reload: Option<&Reload>) -> Caught {
    loop {
        let caught = signals.next().await;
        if config.log_json {
            info!(target: "agent", signal = caught.number(), "Caught");
        } else {
            info!(target: "agent", signal = caught.name(), "Caught");
        }
        match caught {
            Caught::Interrupt | Caught::Terminate => return caught,
            Caught::Hangup => {
                if let Some(Err(error)) = reload.map(Reload::run) {
                    error!(target: "agent", error, "Reload config failed");
                }
            }
        }
    }
}

/// A place where the server listens, as the log names it.
struct Served {
    address: String,
    network: &'static str,
    protocol: &'static str,
}

/// Returns where the server listens. What DNS says of itself is the same in all releases that were seen.
fn served(addresses: &Addresses) -> Vec<Served> {
    let of = |protocol| {
        move |address: &Address| {
            let (address, network) = match address {
                Address::Tcp(address) => (address.to_string(), "tcp"),
                Address::Unix(path) => (path.display().to_string(), "unix"),
            };
            Served {
                address,
                network,
                protocol,
            }
        }
    };
    let others = addresses.others.iter().flat_map(|there| &there.of_agents);
    let agents = || addresses.of_agents.iter().chain(others.clone());
    let dns = agents().flat_map(|agent| &agent.dns);
    let dns = dns.flat_map(|address| {
        ["udp", "tcp"].map(|network| Served {
            address: address.to_string(),
            network,
            protocol: "dns",
        })
    });
    let http = agents().flat_map(|agent| &agent.api);
    let http = http.map(of("http"));
    let https = addresses.https.iter().map(of("https"));
    dns.chain(http).chain(https).collect()
}

/// Logs one line about this server, with all that a tester needs.
fn introduce(config: &Config, addresses: &Addresses) {
    let control = addresses.control;
    let http = addresses.api.iter().find_map(|address| match address {
        Address::Tcp(address) => Some(process::reachable(*address)),
        Address::Unix(_) => None,
    });
    let url = |is_on: bool, address: Option<SocketAddr>, path: &str| match address {
        Some(address) if is_on => format!("http://{address}{path}"),
        _ => "off".to_owned(),
    };
    let version = env!("CARGO_PKG_VERSION");
    let emulates = config.version.to_string();
    let seed = config.seed;
    let page = url(config.ui, http, "/ui/");
    let control = url(
        config.control,
        control.map(process::reachable).or(http),
        "/proconsul/v1/",
    );
    info!(target: "agent", version, emulates, seed, page, control, "This is proconsul, a stand-in for Consul in tests");
}

/// Logs the lines that test harnesses wait for.
fn announce(config: &Config, served: &[Served]) {
    for Served {
        address,
        network,
        protocol,
    } in served
    {
        if config.version.has(Behaviour::LogStartingServer) && *protocol != "dns" {
            info!(target: "agent", address, network, protocol, "Starting server");
        } else {
            let protocol = protocol.to_uppercase();
            info!(target: "agent", address, network, "Started {protocol} server");
        }
    }
    info!(target: "agent", "started state syncer");
    if config.version.has(Behaviour::LogRunningLine) {
        info!(target: "agent", "Consul agent running!");
    } else {
        output::out("==> Consul agent running!\n");
    }
    if config.server {
        info!(target: "agent.server", "cluster leadership acquired");
        info!(target: "agent.server", payload = config.node_name, "New leader elected");
        info!(target: "agent.server", member = config.node_name, "member joined, marking health alive");
    }
    info!(target: "agent", "Synced node info");
}

/// Logs Consul's lines at its exit.
fn say_goodbye(config: &Config, served: &[Served], leaves: bool) {
    if leaves {
        info!(target: "agent", "Gracefully shutting down agent...");
        info!(target: "agent", "Graceful exit completed");
    } else {
        info!(target: "agent", "Graceful shutdown disabled. Exiting");
    }
    info!(target: "agent", "Requesting shutdown");
    if config.server {
        info!(target: "agent.server", "shutting down server");
        info!(target: "agent", "consul server down");
    } else {
        info!(target: "agent.client", "shutting down client");
        info!(target: "agent", "consul client down");
    }
    info!(target: "agent", "shutdown complete");
    for Served {
        address,
        network,
        protocol,
    } in served
    {
        if config.version.has(Behaviour::LogStartingServer) && *protocol != "dns" {
            info!(target: "agent", address, network, protocol, "Stopping server");
        } else {
            let protocol = protocol.to_uppercase();
            info!(target: "agent", protocol, address, network, "Stopping server");
        }
    }
    info!(target: "agent", "Waiting for endpoints to shut down");
    info!(target: "agent", "Endpoints down");
}

/// Refuses files that cannot be written, before the server starts.
fn check_files(resolved: &Resolved) -> Result<(), String> {
    if let Some(path) = &resolved.config.pid_file {
        own_file::check(path).map_err(|error| no_pid_file(path, &error))?;
    }
    if let Some((path, name)) = &resolved.port_file {
        own_file::check(path).map_err(|error| no_port_file(path, name, &error))?;
    }
    Ok(())
}

/// Returns Consul's text about a pid file that cannot be written.
fn no_pid_file(path: &Path, error: &io::Error) -> String {
    let (path, error) = (path.display(), error_text(error));
    format!("Could not open pid file: open {path}: {error}")
}

fn no_port_file(path: &Path, name: &str, error: &io::Error) -> String {
    format!("{name}: {}: {}", path.display(), error_text(error))
}

/// The first address of each kind, as it is written into the port file: one line of JSON, such as
/// `{"http":"127.0.0.1:43211","dns":"127.0.0.1:43212"}`. Programs look for its beginning, so new members come last.
#[derive(Serialize)]
struct Ports {
    /// That of the control plane, if it has a port of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<SocketAddr>,
    /// `null` if HTTP is not served.
    http: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    https: Option<String>,
    /// The file with the authority that was made for HTTPS.
    #[serde(skip_serializing_if = "Option::is_none")]
    https_ca_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dns: Option<SocketAddr>,
    /// The addresses of HTTP of each agent, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    /// The same for the other datacenters, by their names, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_object")]
    datacenters: Vec<(String, Vec<String>)>,
}

fn as_object<S: Serializer>(
    fields: &[(String, Vec<String>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
}

/// Writes the pid file, and writes or prints the addresses if configured. Returns the files.
fn announce_port(
    resolved: &Resolved,
    addresses: &Addresses,
    made: Option<&Written>,
) -> Result<Vec<OwnFile>, String> {
    let mut files = Vec::new();
    if let Some(path) = &resolved.config.pid_file {
        let file = OwnFile::write(path, &std::process::id().to_string());
        files.push(file.map_err(|error| no_pid_file(path, &error))?);
    }
    let first = |addresses: &[Address]| addresses.first().map(ToString::to_string);
    let of_agents = |agents: &[AgentAddresses]| -> Vec<String> {
        agents
            .iter()
            .filter_map(|agent| first(&agent.api))
            .collect()
    };
    let others = addresses.others.iter();
    let ports = Ports {
        control: addresses.control,
        http: first(&addresses.api),
        https: first(&addresses.https),
        https_ca_file: made.map(Written::authority),
        dns: addresses.dns.first().copied(),
        agents: match addresses.of_agents.len() {
            1 => Vec::new(),
            _ => of_agents(&addresses.of_agents),
        },
        datacenters: others
            .map(|there| (there.name.clone(), of_agents(&there.of_agents)))
            .collect(),
    };
    let line = serde_json::to_string(&ports).expect("all fields are texts") + "\n";
    if let Some((path, name)) = &resolved.port_file {
        let file = OwnFile::write(path, &line);
        files.push(file.map_err(|error| no_port_file(path, name, &error))?);
    }
    if resolved.print_port {
        output::out(&line);
    }
    Ok(files)
}
