//! Finding and reading configuration files, in Consul's order.

use std::fs;
use std::path::Path;

use crate::document::hcl;
use crate::document::tree::{JsonNumbers, Tree};
use proconsul_gocompat::syscall::error_text;

/// A piece of configuration that has been read, but not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSource {
    /// The name in errors.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// Its text.
    pub text: String,
}

/// The language of a piece of configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON.
    Json,
    /// HCL 1.
    Hcl,
}

impl Language {
    /// Reads the value of `-config-format`.
    ///
    /// # Errors
    /// Consul's text about any other format.
    pub fn of_format(format: &str) -> Result<Language, String> {
        match format {
            "json" => Ok(Language::Json),
            "hcl" => Ok(Language::Hcl),
            _ => Err("config: -config-format must be either 'hcl' or 'json'".to_owned()),
        }
    }

    fn of_name(name: &Path) -> Option<Language> {
        match name.extension()?.to_str()? {
            "json" => Some(Language::Json),
            "hcl" => Some(Language::Hcl),
            _ => None,
        }
    }
}

/// The text of `CONSUL_LOCAL_CONFIG`, which counts as a file `local.json` in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalConfig {
    /// The directory; if `None`, the text is read first of all.
    pub directory: Option<String>,
    /// The text.
    pub text: String,
}

impl LocalConfig {
    /// The name of the file that the image's start script would write.
    const NAME: &'static str = "local.json";

    fn source(&self) -> ConfigSource {
        ConfigSource {
            language: Language::Json,
            text: self.text.clone(),
            // The name that the user knows, not the file that the image's start script would write.
            name: "CONSUL_LOCAL_CONFIG".to_owned(),
        }
    }
}

/// The files at some paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSources {
    /// The files, in the order in which they are read.
    pub sources: Vec<ConfigSource>,
    /// The files in an unknown language.
    pub skipped: Vec<String>,
}

/// Reads files, and the files of directories by name, without subdirectories.
///
/// # Errors
/// Consul's text about a path that cannot be opened.
pub fn find(
    paths: &[String],
    format: Option<Language>,
    local: Option<&LocalConfig>,
) -> Result<FoundSources, String> {
    let mut found = FoundSources::default();
    if let Some(
        local @ LocalConfig {
            directory: None, ..
        },
    ) = local
    {
        found.sources.push(local.source());
    }
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| open_failed(path, &error))?;
        if metadata.is_dir() {
            let local = local.filter(|local| local.directory.as_ref() == Some(path));
            find_in_directory(path, format, local, &mut found)?;
        } else {
            read_file(path, format, &mut found)?;
        }
    }
    Ok(found)
}

fn find_in_directory(
    directory: &str,
    format: Option<Language>,
    local: Option<&LocalConfig>,
    found: &mut FoundSources,
) -> Result<(), String> {
    let entries = fs::read_dir(directory).map_err(|error| open_failed(directory, &error))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| open_failed(directory, &error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    if local.is_some() && !names.iter().any(|name| name == LocalConfig::NAME) {
        names.push(LocalConfig::NAME.to_owned());
    }
    names.sort();
    for name in names {
        let path = Path::new(directory)
            .join(&name)
            .to_string_lossy()
            .into_owned();
        match local {
            Some(local) if name == LocalConfig::NAME => found.sources.push(local.source()),
            _ if fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) => {}
            _ => read_file(&path, format, found)?,
        }
    }
    Ok(())
}

fn read_file(path: &str, format: Option<Language>, found: &mut FoundSources) -> Result<(), String> {
    let Some(language) = format.or_else(|| Language::of_name(Path::new(path))) else {
        found.skipped.push(path.to_owned());
        return Ok(());
    };
    let bytes = fs::read(path).map_err(|error| open_failed(path, &error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    found.sources.push(ConfigSource {
        name: path.to_owned(),
        language,
        text,
    });
    Ok(())
}

fn open_failed(path: &str, error: &std::io::Error) -> String {
    format!(
        "config: Open failed on {path}. open {path}: {}",
        error_text(error)
    )
}

impl ConfigSource {
    /// Parses the text.
    ///
    /// # Errors
    /// Consul's text, which names the source.
    pub fn parse(&self) -> Result<Tree, String> {
        let tree = match self.language {
            Language::Json => Tree::from_json(&self.text, JsonNumbers::Floats),
            Language::Hcl => hcl::parse(&self.text),
        };
        tree.map_err(|error| self.failed(&error))
    }

    /// Returns Consul's text about a source that is refused for this reason.
    pub fn failed(&self, reason: &str) -> String {
        format!("failed to parse {}: {reason}", self.name)
    }
}
