//! The Go that a release was built with, as far as clients see it, and the fields of its bodies.

use super::{Behaviour, Version};
use proconsul_gocompat::duration::DurationQuotes;
use proconsul_gocompat::json::context::{Release, ReleaseChange};
use proconsul_gocompat::quote::printable::Unicode;
use proconsul_gocompat::time::JsonTimes;
use proconsul_gocompat::{EmbeddedNames, Go};

impl Version {
    /// Returns the commit that this version was built from; empty for a build that does not say.
    pub fn revision(self) -> &'static str {
        if self.has(Behaviour::JsonRevision) {
            "720b1ad2"
        } else {
            ""
        }
    }

    /// Returns the Go that this version was built with, as far as clients see it.
    pub fn go(self) -> Go {
        let is_new = self.has(Behaviour::HttpMuxEscaped);
        Go {
            // The tables of 1.8 and 1.9, up to the releases with Go 1.22.
            unicode: if is_new { Unicode::V15 } else { Unicode::V12 },
            // The newest releases name the embedded type in an error (1.22.md B0, 0.14).
            embedded_names: if is_new {
                EmbeddedNames::Shown
            } else {
                EmbeddedNames::Hidden
            },
            // The same Go that refuses semicolons.
            duration_quotes: if self.has(Behaviour::HttpSemicolonRefused) {
                DurationQuotes::Escaped
            } else {
                DurationQuotes::Bare
            },
            // Seen on 1.8.7; for Go 1.25 inferred from what Go 1.26 says.
            json_times: if is_new {
                JsonTimes::Unquoted
            } else {
                JsonTimes::Quoted
            },
        }
    }

    /// Returns this version for decoders of its bodies.
    pub fn release(self) -> Release {
        Release {
            number: [self.major, self.minor, self.patch],
            has: |[major, minor, patch], ReleaseChange(row)| {
                Version::new(major, minor, patch).has(Behaviour::TABLE[row].behaviour)
            },
            go: self.go(),
        }
    }
}

impl From<Behaviour> for ReleaseChange {
    fn from(behaviour: Behaviour) -> Self {
        Self(behaviour as usize)
    }
}
