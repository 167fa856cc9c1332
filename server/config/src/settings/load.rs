//! Loads all sources of configuration in Consul's order.

use crate::settings::environment::{ImageSettings, Variables};
use crate::settings::flags::{self, FlagEffect};
use crate::settings::go_flags::{Flag, ParsedFlags};

use crate::document::sources::{self, ConfigSource, Language};
use crate::resolve;
use crate::settings::Settings;
use crate::settings::keys::{self, Remarks};
use proconsul_version::Version;

/// The settings of all sources, with remarks about them.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// What is to be said about them.
    pub remarks: Remarks,
    /// Files that were skipped because their language is unknown.
    pub skipped: Vec<String>,
}

impl Loaded {
    /// Refuses settings that are not emulated if `--strict` is set.
    fn check_strict(&self) -> Result<(), String> {
        let ignored = &self.remarks.ignored;
        if self.settings.strict != Some(true) || ignored.is_empty() {
            return Ok(());
        }
        let strict = flags::called("strict", &self.settings);
        Err(format!(
            "{strict}: proconsul does not emulate what {} ask{} for: leave {} out, or start without {strict}",
            ignored.join(", "),
            if ignored.len() == 1 { "s" } else { "" },
            if ignored.len() == 1 { "it" } else { "them" },
        ))
    }

    /// Returns one line about the settings without effect; `None` if there are none.
    pub fn without_effect(&self) -> Option<String> {
        let Remarks { ignored, moot } = &self.remarks;
        let mut names = [&ignored[..], &moot[..]].concat();
        names.sort();
        if names.is_empty() {
            return None;
        }
        let refused = if ignored.is_empty() {
            String::new()
        } else {
            format!(
                "; not emulated, and refused by --strict: {}",
                ignored.join(" ")
            )
        };
        Some(format!(
            "proconsul: without effect here: {}{refused}\n",
            names.join(" ")
        ))
    }
}

/// Returns the configured ports that are not served.
pub fn unserved_ports(settings: &Settings) -> impl Iterator<Item = String> {
    let asked = [
        ("grpc", settings.ports_grpc),
        ("grpc_tls", settings.ports_grpc_tls),
    ];
    let asked = asked
        .into_iter()
        .filter(|(_, port)| port.is_some_and(|port| port > 0));
    asked.map(|(name, _)| format!("ports.{name}"))
}

/// Reads our own variables, files, flags and `-hcl`, in this order. Later values win.
///
/// # Errors
/// Consul's text about the first source that cannot be read or parsed.
pub fn load(
    given: &ParsedFlags<FlagEffect>,
    image: &ImageSettings,
    variables: &Variables,
) -> Result<Loaded, String> {
    let mut loaded = Loaded::default();
    let known: Vec<String> = flags::flags().iter().filter_map(Flag::variable).collect();
    variables.check_own(&known)?;
    flags::take_variables(flags::flags(), variables, &mut loaded.settings)?;
    let mut by_flags = loaded.settings.clone();
    take_flags(given, &mut by_flags)?;
    let (version, _) = resolve::version(&by_flags)?;

    let format = by_flags
        .config_format
        .as_deref()
        .filter(|format| !format.is_empty())
        .map(Language::of_format)
        .transpose()?;
    let found = sources::find(&by_flags.config_paths, format, image.local_config.as_ref())?;
    for source in &found.sources {
        take_source(source, version, &mut loaded)?;
    }
    take_flags(given, &mut loaded.settings)?;
    for (index, text) in by_flags.hcl.into_iter().enumerate() {
        let source = ConfigSource {
            name: format!("flags-{index}.hcl"),
            language: Language::Hcl,
            text,
        };
        take_source(&source, version, &mut loaded)?;
    }

    loaded.skipped = found.skipped;
    let Remarks { ignored, moot } = &mut loaded.remarks;
    for (flag, _) in &given.flags {
        match flag.kind {
            FlagEffect::Ignored { .. } => ignored.push(format!("-{}", flag.name)),
            FlagEffect::Moot { .. } => moot.push(format!("-{}", flag.name)),
            FlagEffect::Sets(_) | FlagEffect::Own(_) => {}
        }
    }
    ignored.extend(unserved_ports(&loaded.settings));
    for names in [ignored, moot] {
        names.sort();
        names.dedup();
    }
    loaded.check_strict()?;
    Ok(loaded)
}

fn take_flags(given: &ParsedFlags<FlagEffect>, settings: &mut Settings) -> Result<(), String> {
    given
        .flags
        .iter()
        .try_for_each(|(flag, argument)| flag.take(argument, settings))
}

fn take_source(source: &ConfigSource, version: Version, loaded: &mut Loaded) -> Result<(), String> {
    let tree = source.parse()?;
    keys::take_document(&tree, version, &mut loaded.settings, &mut loaded.remarks)
        .map_err(|errors| source.failed(&errors))
}
