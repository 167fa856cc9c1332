//! The configuration of `agent` with these arguments.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

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
    /// # Ok::<(), proconsul_config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The agent would not start with these arguments.
    pub fn from_arguments(arguments: &[&str]) -> Result<Self, ConfigError> {
        let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
        Ok(prepare(&arguments, &Variables::default())?.resolved.config)
    }
}

/// Why an agent does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The flags ask for help.
    Help,
    /// Go's message about a flag. The agent prints it with the list of flags.
    BadFlag(String),
    /// The message about a setting, a variable or a file.
    Invalid(String),
}

impl Display for ConfigError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Help => "arguments that ask for help start no agent",
            Self::BadFlag(message) | Self::Invalid(message) => message,
        })
    }
}

impl Error for ConfigError {}

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
pub fn prepare(arguments: &[String], variables: &Variables) -> Result<Prepared, ConfigError> {
    let image = ImageSettings::read(variables).map_err(ConfigError::Invalid)?;
    // As in the image's start script, the user's arguments come later and win.
    let arguments = [&image.arguments[..], arguments].concat();
    let given: ParsedFlags<FlagEffect> =
        go_flags::cut(&arguments, &[flags()]).map_err(|refusal| match refusal {
            FlagError::HelpWanted => ConfigError::Help,
            FlagError::Bad(text) => ConfigError::BadFlag(text),
        })?;
    if !given.rest.is_empty() {
        return Err(ConfigError::Invalid(format!(
            "Unexpected extra arguments: [{}]",
            given.rest.join(" ")
        )));
    }
    let loaded = load(&given, &image, variables).map_err(ConfigError::Invalid)?;
    let mut resolved = resolve(&loaded.settings).map_err(ConfigError::Invalid)?;
    take_data(&loaded.settings, &mut resolved.config).map_err(ConfigError::Invalid)?;
    Ok(Prepared { loaded, resolved })
}
