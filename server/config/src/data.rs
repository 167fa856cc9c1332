//! What a server starts with.

use std::path::PathBuf;

/// Files with data that a server starts with. They are read when it starts, and loaded before its first answer: first
/// the states, then the keys, then the definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFiles {
    /// States (`--load`): what `Server::dump` gives, or an archive of `/v1/snapshot`. Each is
    /// loaded as `Server::load` does, or restored as a client would, over the former.
    pub states: Vec<PathBuf>,
    /// Keys in the form of `consul kv export` (`--kv-file`), which are written one after the other.
    pub keys: Vec<PathBuf>,
    /// Configuration files, or folders of them, with `service`, `services`, `check` and `checks` (`--services`). The
    /// agent registers what they define as it does with its own [`Config::services`](super::Config::services). Other
    /// keys are checked and without effect.
    pub definitions: Vec<PathBuf>,
}
