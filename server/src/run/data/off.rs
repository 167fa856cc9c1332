//! Nothing to start with: without the feature `dump` no file is loaded.

use crate::run::StartError;
use proconsul_config::Config;
use proconsul_engine::Engine;

/// The data to start with: none.
#[derive(Debug, Default)]
pub struct StartData;

impl StartData {
    /// Reads no files.
    ///
    /// # Errors
    /// The configuration names some.
    pub fn read(config: &Config) -> Result<Self, StartError> {
        if config.data.states.is_empty() && config.data.keys.is_empty() {
            return Ok(Self);
        }
        let needed = "files with a state or keys need the feature \"dump\" of proconsul";
        Err(StartError::Data(needed.to_owned()))
    }

    pub(in crate::run) fn load(self, _: &Engine, _: &Config) {}
}
