//! The data of files: the states and keys of its configuration's files.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use crate::run::StartError;
use proconsul_config::Config;
use proconsul_core::control::{read_dump, writes_of};
use proconsul_engine::Engine;
use proconsul_gocompat::syscall::error_text;
use proconsul_store::{Image, KvWrite};

/// The first bytes of a gzip'd file, an archive of a snapshot. What else can be loaded is JSON.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The data to start with, read and sound.
#[derive(Debug, Default)]
pub struct StartData {
    states: Vec<StartState>,
    writes: Vec<KvWrite>,
}

/// A state to start with.
#[derive(Debug)]
enum StartState {
    /// From a dump.
    Dumped(Box<Image>),
    /// From the archive of a snapshot.
    #[cfg(feature = "snapshots")]
    Archived(Box<Image>),
}

impl StartData {
    /// Reads the files of a configuration.
    ///
    /// # Errors
    /// The first file that cannot be loaded, with the place in it.
    pub fn read(config: &Config) -> Result<Self, StartError> {
        let mut data = Self::default();
        for path in &config.data.states {
            from_file(path, |bytes| data.add(config, bytes))?;
        }
        for path in &config.data.keys {
            from_file(path, |bytes| data.add_keys(bytes))?;
        }
        Ok(data)
    }

    /// Adds a state or keys, as the content says.
    fn add(&mut self, config: &Config, bytes: &[u8]) -> Result<(), String> {
        if bytes.starts_with(&GZIP) {
            self.states.push(archived(config, bytes)?);
        } else if bytes.trim_ascii_start().starts_with(b"[") {
            self.add_keys(bytes)?;
        } else {
            let image = read_dump(config, bytes).map_err(text_of)?;
            self.states.push(StartState::Dumped(Box::new(image)));
        }
        Ok(())
    }

    fn add_keys(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.writes.extend(writes_of(bytes).map_err(text_of)?);
        Ok(())
    }

    /// Loads the states, then the keys.
    pub(in crate::run) fn load(self, engine: &Engine, config: &Config) {
        const SOUND: &str = "the state was checked when it was read";
        let management = &config.acl.tokens.initial_management;
        for state in self.states {
            match state {
                StartState::Dumped(image) => engine.load(*image, management).expect(SOUND),
                #[cfg(feature = "snapshots")]
                StartState::Archived(image) => engine.restore(*image, management).expect(SOUND),
            }
        }
        for write in self.writes {
            let written = engine.apply(write);
            written.expect("an unconditional write is not refused");
        }
    }
}

fn from_file<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, StartError> {
    let read = fs::read(path)
        .map_err(|error| error_text(&error))
        .and_then(|bytes| read(&bytes));
    read.map_err(|why| StartError::Data(format!("cannot load {}: {why}", path.display())))
}

#[cfg(feature = "snapshots")]
fn archived(config: &Config, bytes: &[u8]) -> Result<StartState, String> {
    let image = proconsul_core::control::read_archive(config, bytes)?;
    Ok(StartState::Archived(Box::new(image)))
}

#[cfg(not(feature = "snapshots"))]
fn archived(_: &Config, _: &[u8]) -> Result<StartState, String> {
    Err("this build of proconsul reads no archives: its feature `snapshots` is off".to_owned())
}

fn text_of(error: impl Display) -> String {
    error.to_string()
}
