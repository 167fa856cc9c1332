//! What changed between releases of Go, where more than one package shows it.

use crate::duration::DurationQuotes;
use crate::quote::printable::Unicode;

/// A generation of Go, as far as it shows in more than one of these packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Go {
    /// The characters that it can print.
    pub unicode: Unicode,
    /// The wording of JSON's type errors.
    pub embedded_names: EmbeddedNames,
    /// How it quotes what is no duration.
    pub duration_quotes: DurationQuotes,
}

/// Whether type errors name the embedded struct that a field belongs to.
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
    };
}
