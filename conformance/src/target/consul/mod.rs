//! A `consul` binary that the suite finds, starts and stops itself.

mod binary;
mod owner;
mod process;
mod release;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::binary::{find, locate};
use self::process::{Process, TAKEN};
use crate::target::Target;
use crate::target::site::{Site, ToolError};

/// A port may be taken between asking for it and using it.
const ATTEMPTS: usize = 3;

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

/// The files with which an agent serves HTTPS.
#[derive(Clone, Copy, Debug)]
pub struct HttpsFiles<'a> {
    /// The certificate of the agent and its key.
    pub own: &'a Path,
    /// The authority whose clients it trusts.
    pub authority: &'a Path,
    /// Whether clients have to show a certificate.
    pub verifies_clients: bool,
}

impl Agent {
    /// Returns an agent that serves HTTPS, too, and the address at which it does.
    ///
    /// # Errors
    /// No port is free.
    pub fn over_https(files: HttpsFiles<'_>) -> std::io::Result<(Self, SocketAddr)> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let settings = serde_json::json!({
            "ports": {"https": address.port()},
            "cert_file": files.own,
            "key_file": files.own,
            "ca_file": files.authority,
            "verify_incoming_https": files.verifies_clients,
        });
        let agent = Self {
            settings: settings.to_string(),
            ..Self::default()
        };
        Ok((agent, address))
    }

    /// What reports call such an agent: the binary's name and its mode.
    fn name(&self, binary: &Path) -> String {
        let file = binary.file_name().unwrap_or(binary.as_os_str());
        let mode = if self.plain { "server" } else { "-dev" };
        format!("{} {mode}", file.to_string_lossy())
    }
}

/// Starts an agent and waits until it serves; dropping the last user of the target stops it.
///
/// # Errors
/// When the binary does not start, ends early or does not come up in time; with the end of its log.
pub fn start(binary: &Path, agent: &Agent) -> Result<Target, ToolError> {
    let target = Target::shared(&agent.name(binary), start_site(binary, agent)?)?;
    Ok(with_own(target, binary, agent))
}

/// Starts an agent without asking it what it is, which one with ACLs refuses to say.
///
/// # Errors
/// As [`start`].
pub fn start_unasked(binary: &Path, agent: &Agent) -> Result<Site, ToolError> {
    start_site(binary, agent)
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
            Ok(process) => {
                let process = Arc::new(process);
                let site = Site::new(process.address.clone());
                let its = Arc::clone(&process);
                return Ok(site.keeping(process).checked(move || its.check()));
            }
            Err(error) if error.0.contains(TAKEN) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.expect("the loop only ends after an error"))
}
