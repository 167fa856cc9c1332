//! The configuration of `agent` with these arguments.

use crate::Config;
use crate::resolve::data::take_data;
use crate::resolve::{Resolved, resolve};
use crate::settings::environment::{ImageSettings, Variables};
use crate::settings::flags::{FlagEffect, flags};
use crate::settings::go_flags::{self, FlagError, ParsedFlags};
use crate::settings::load::{Loaded, load};

impl Config {
    /// Returns the configuration of `proconsul agent` with these arguments, so that a server inside a test can be configured like
    /// one outside. Reads the files that the arguments name, but no environment variables.
    ///
    /// ```
    /// use proconsul_config::Config;
    ///
    /// let agent = Config::from_arguments(&["-dev", "-hcl", r#"session_ttl_min = "1s""#])?;
    /// assert_eq!(agent.session_ttl_min.as_secs(), 1);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// The text of an agent that refuses to start.
    pub fn from_arguments(arguments: &[&str]) -> Result<Self, String> {
        let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
        match prepare(&arguments, &Variables::default()) {
            Ok(prepared) => Ok(prepared.resolved.config),
            Err(Stop::Help) => Err("arguments that ask for help start no agent".to_owned()),
            Err(Stop::BadFlag(text) | Stop::Refused(text)) => Err(text),
        }
    }
}

/// Why an agent does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The flags ask for help.
    Help,
    /// Go's text about a flag, which is printed with the list of flags.
    BadFlag(String),
    /// The text of any other error.
    Refused(String),
}

/// The loaded and resolved configuration.
#[derive(Debug)]
pub struct Prepared {
    /// What was read.
    pub loaded: Loaded,
    /// What it stands for.
    pub resolved: Resolved,
}

/// Reads the configuration of an agent with these arguments and variables, and the files that they name.
///
/// # Errors
/// Why it does not start.
pub fn prepare(arguments: &[String], variables: &Variables) -> Result<Prepared, Stop> {
    let image = ImageSettings::read(variables).map_err(Stop::Refused)?;
    // As in the image's start script, the user's arguments come later and win.
    let arguments = [&image.arguments[..], arguments].concat();
    let given: ParsedFlags<FlagEffect> =
        go_flags::cut(&arguments, &[flags()]).map_err(|refusal| match refusal {
            FlagError::HelpWanted => Stop::Help,
            FlagError::Bad(text) => Stop::BadFlag(text),
        })?;
    if !given.rest.is_empty() {
        return Err(Stop::Refused(format!(
            "Unexpected extra arguments: [{}]",
            given.rest.join(" ")
        )));
    }
    let loaded = load(&given, &image, variables).map_err(Stop::Refused)?;
    let mut resolved = resolve(&loaded.settings).map_err(Stop::Refused)?;
    take_data(&loaded.settings, &mut resolved.config).map_err(Stop::Refused)?;
    Ok(Prepared { loaded, resolved })
}
