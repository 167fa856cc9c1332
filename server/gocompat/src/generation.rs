//! The differences between releases of Go that concern several packages.

use crate::duration::DurationQuotes;
use crate::quote::printable::Unicode;
use crate::time::JsonTimes;

/// A generation of Go releases, for several packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Go {
    /// Its edition of Unicode.
    pub unicode: Unicode,
    /// The form of JSON type errors.
    pub embedded_names: EmbeddedNames,
    /// The quoting of invalid durations.
    pub duration_quotes: DurationQuotes,
    /// The form of times in JSON.
    pub json_times: JsonTimes,
}

/// Whether type errors name the embedded struct of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedNames {
    /// `Go struct field .Name`: Go 1.15.
    Hidden,
    /// `Go struct field .Alias.Name`: Go 1.25 (1.22.md B0 0.14).
    Shown,
}

impl Go {
    /// The newest one.
    pub const NEWEST: Self = Self {
        unicode: Unicode::V15,
        embedded_names: EmbeddedNames::Shown,
        duration_quotes: DurationQuotes::Escaped,
        json_times: JsonTimes::Unquoted,
    };
}
