//! The files with data to start with: `--load`, `--kv-file` and `--services`.

use std::path::PathBuf;

use crate::document::sources;
use crate::settings::Settings;
use crate::settings::flags::called;
use crate::settings::keys::{self, Remarks};
use crate::{Config, DataFiles};

/// Sets the files with data, and reads those with definitions.
///
/// # Errors
/// A name is missing, or see [`take_service_files`].
pub fn take_data(settings: &Settings, config: &mut Config) -> Result<(), String> {
    config.data = files(settings)?;
    take_service_files(config)
}

/// Returns the files with data. One argument may list several.
fn files(settings: &Settings) -> Result<DataFiles, String> {
    let paths = |name, given: &[String]| {
        let paths = given.iter().flat_map(|paths| paths.split(','));
        let path = |path: &str| {
            if path.is_empty() {
                let called = called(name, settings);
                return Err(format!("{called}: the name of a file is empty"));
            }
            Ok(PathBuf::from(path))
        };
        paths.map(path).collect::<Result<Vec<_>, _>>()
    };
    Ok(DataFiles {
        states: paths("load", &settings.state_files)?,
        keys: paths("kv-file", &settings.kv_files)?,
        definitions: paths("services", &settings.service_files)?,
    })
}

/// Adds the services and checks of `config.data.definitions` to those of the configuration, and leaves that list empty.
///
/// # Errors
/// Our text about a file without definitions, else Consul's; each names the file.
pub fn take_service_files(config: &mut Config) -> Result<(), String> {
    let paths = std::mem::take(&mut config.data.definitions);
    if !paths.is_empty() {
        // What is wrong from here on is wrong in one of these files.
        config.check_definitions()?;
    }
    for path in paths {
        let path = path.to_string_lossy().into_owned();
        let found = sources::find(std::slice::from_ref(&path), None, None)?;
        if found.sources.is_empty() {
            return Err(format!(
                "{path}: expected a file whose name ends with .hcl or .json, or a folder that has one"
            ));
        }
        for source in &found.sources {
            let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
            let tree = source.parse()?;
            keys::take_document(&tree, config.version, &mut settings, &mut remarks)
                .map_err(|errors| source.failed(&errors))?;
            if settings.services.is_empty() && settings.checks.is_empty() {
                let name = &source.name;
                return Err(format!("{name}: defines neither a service nor a check"));
            }
            super::take_definitions(&settings, config).map_err(|errors| source.failed(&errors))?;
            let checked = config.check_definitions();
            checked.map_err(|text| format!("{}: {text}", source.name))?;
        }
    }
    Ok(())
}
