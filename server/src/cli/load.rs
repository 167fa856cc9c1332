//! All sources of configuration, laid over each other in Consul's order.

use super::environment::Image;
use super::flags::{self, Effect, FLAGS, Flag};
use super::go_flags::Given;

use super::keys::{self, Remarks};
use super::settings::Settings;
use super::sources::{self, Language, Source};

/// What was said, and what about it is worth a remark.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) settings: Settings,
    pub(super) remarks: Remarks,
    /// Flags that have no effect.
    pub(super) ignored_flags: Vec<String>,
    /// Files that were not read, because nothing says in which language they are.
    pub(super) skipped: Vec<String>,
}

/// Reads our own variables, then files, then flags, then the pieces of `-hcl`: the later wins.
///
/// # Errors
/// Consul's text about the first source that cannot be opened or understood.
pub(super) fn load(
    given: &Given<Flag>,
    image: &Image,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Loaded, String> {
    let mut loaded = Loaded::default();
    flags::take_variables(FLAGS, variable, &mut loaded.settings)?;
    let mut by_flags = Settings::default();
    take_flags(given, &mut by_flags)?;

    let format = by_flags
        .config_format
        .as_deref()
        .filter(|format| !format.is_empty())
        .map(Language::of_format)
        .transpose()?;
    let found = sources::find(&by_flags.config_paths, format, image.local_config.as_ref())?;
    for source in &found.sources {
        take_source(source, &mut loaded)?;
    }
    take_flags(given, &mut loaded.settings)?;
    for (index, text) in by_flags.hcl.into_iter().enumerate() {
        let source = Source {
            name: format!("flags-{index}.hcl"),
            language: Language::Hcl,
            text,
        };
        take_source(&source, &mut loaded)?;
    }

    loaded.skipped = found.skipped;
    let ignored = given
        .flags
        .iter()
        .filter(|(flag, _)| matches!(flag.effect, Effect::Ignored(_)));
    loaded.ignored_flags = ignored.map(|(flag, _)| format!("-{}", flag.name)).collect();
    for names in [
        &mut loaded.ignored_flags,
        &mut loaded.remarks.ignored,
        &mut loaded.remarks.unknown,
    ] {
        names.sort();
        names.dedup();
    }
    Ok(loaded)
}

fn take_flags(given: &Given<Flag>, settings: &mut Settings) -> Result<(), String> {
    given
        .flags
        .iter()
        .try_for_each(|(flag, argument)| flag.take(argument, settings))
}

fn take_source(source: &Source, loaded: &mut Loaded) -> Result<(), String> {
    let tree = source.parse()?;
    keys::take_document(&tree, &mut loaded.settings, &mut loaded.remarks)
        .map_err(|errors| source.failed(&errors))
}
