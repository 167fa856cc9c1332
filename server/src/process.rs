//! Running a server as the whole of a process, as the binary `proconsul` does.

use proconsul_config::Config;

use crate::https::Tls;
use crate::run::StartError;

pub use crate::control::{Address, Addresses, AgentAddresses, DatacenterAddresses, reachable};
pub use crate::https::DevCertificates;
#[cfg(feature = "https")]
pub use crate::https::Signed;
pub use crate::run::host::serve_on_this_thread;
pub use crate::run::{Reread, StartData, run};
pub use proconsul_core::Reload;

/// Checks what a configuration defines, and its settings of HTTPS with the files that they name.
///
/// # Errors
/// Consul's sentence about the first that is wrong.
pub fn check(config: &Config) -> Result<(), StartError> {
    let checked = config.check_definitions();
    checked.map_err(StartError::Definition)?;
    Tls::new(config).map(drop).map_err(StartError::Https)
}
