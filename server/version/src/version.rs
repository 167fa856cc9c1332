//! A release of Consul, as a number.

use std::fmt;
use std::str::FromStr;

/// The build date that later releases show. It is the date of Consul's builds from source, because this is no release
/// build.
pub const BUILD_DATE: &str = "1970-01-01T00:00:01Z";

/// A Consul release that proconsul can emulate, such as `1.22.0`.
///
/// The default is the newest, [`Version::V2_1_0`]. [`Version::evidence`] tells what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// `1` in `1.22.0`.
    pub major: u16,
    /// `22` in `1.22.0`.
    pub minor: u16,
    /// `0` in `1.22.0`.
    pub patch: u16,
}

impl Version {
    /// Debian's 1.8.7, the source of the contract and the recordings. It differs from upstream's 1.8.7 only in the
    /// headers of raw reads (`Behaviour::KvRawHeaders`), which Debian backported.
    pub const V1_8_7: Version = Version::new(1, 8, 7);
    /// A profile between old and new: the refactored store with the old HTTP layer.
    pub const V1_16_4: Version = Version::new(1, 16, 4);
    /// A profile with the HTTP layer of Go 1.22, before keys were validated.
    pub const V1_20_0: Version = Version::new(1, 20, 0);
    /// A profile whose keys must match a regular expression, which 1.22.0 removed.
    pub const V1_21_5: Version = Version::new(1, 21, 5);
    /// The newest release that the contract describes in full.
    pub const V1_22_0: Version = Version::new(1, 22, 0);
    /// The newest emulated release, and the default. Of it and of 2.0 no server was asked: they answer as 1.22.0 does where
    /// public texts say nothing else (2.1.md).
    pub const V2_1_0: Version = Version::new(2, 1, 0);

    /// The releases that the contract describes in full. The others follow from the table.
    pub const PROFILES: [Version; 5] = [
        Version::V1_8_7,
        Version::V1_16_4,
        Version::V1_20_0,
        Version::V1_21_5,
        Version::V1_22_0,
    ];

    /// Returns the version with these numbers, without a check: [`Version::from_str`] refuses versions that are not
    /// emulated.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        Version {
            major,
            minor,
            patch,
        }
    }

    /// Reads a version as [`Version::from_str`] does, and takes the newest one that is emulated for one that is not known,
    /// with a warning that says so. Of a version that nobody has asked, a warning says that.
    ///
    /// # Errors
    /// Those of `from_str`; to a strict server, a version that is not known is one of them.
    pub fn or_newest(
        text: &str,
        strict: bool,
    ) -> Result<(Version, Option<String>), ParseVersionError> {
        match text.parse::<Version>() {
            Err(error @ ParseVersionError::NotKnown(_)) if !strict => {
                let newest = Version::default();
                Ok((newest, Some(format!("{error}: emulating {newest}"))))
            }
            read => read.map(|version| (version, version.unseen())),
        }
    }

    /// Returns the warning about a version of which no answer was seen.
    fn unseen(self) -> Option<String> {
        (self.major > 1).then(|| format!("Consul {self} is {}", self.evidence()))
    }

    /// Whether its release line is known, unless it is too old.
    const fn is_known(self) -> bool {
        matches!((self.major, self.minor), (1, ..=22) | (2, ..=1))
    }

    /// Whether both are patches of one release line, as 1.8.7 and 1.8.10 are.
    pub(crate) const fn same_line(self, other: Version) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

/// The emulated releases, for messages.
const KNOWN: &str = "1.8.0 to 1.22, 2.0 and 2.1";

impl Default for Version {
    /// The newest release that is emulated.
    fn default() -> Version {
        Version::V2_1_0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Why a text is not a version that proconsul emulates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseVersionError {
    /// Neither `X.Y.Z` nor `X.Y`.
    Malformed(String),
    /// A version older than 1.8.0.
    NotEmulated(Version),
    /// A version of a release line that does not exist, or did not yet: 1.23, or 2.2 and later.
    NotKnown(Version),
}

impl fmt::Display for ParseVersionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseVersionError::Malformed(text) => {
                write!(
                    formatter,
                    "not a Consul version: {text:?} (expected a form such as 1.22.0)"
                )
            }
            ParseVersionError::NotEmulated(version) => {
                write!(formatter, "Consul {version} is not emulated ({KNOWN} are)")?;
                // A number in YAML loses the zero of 1.10 and 1.20.
                match (version.major, version.minor, version.patch) {
                    (1, line @ (1 | 2), 0) => {
                        write!(formatter, "; in YAML, write \"1.{line}0\" with quotes")
                    }
                    _ => Ok(()),
                }
            }
            ParseVersionError::NotKnown(version) => {
                write!(formatter, "Consul {version} is not known ({KNOWN} are)")
            }
        }
    }
}

impl std::error::Error for ParseVersionError {}

impl FromStr for Version {
    type Err = ParseVersionError;

    /// Reads `X.Y.Z`, or `X.Y` for the profile of that release line (`1.8` is 1.8.7; a line without one starts at
    /// patch 0).
    fn from_str(text: &str) -> Result<Version, ParseVersionError> {
        let malformed = || ParseVersionError::Malformed(text.to_owned());
        let numbers: Vec<u16> = text
            .split('.')
            .map(decimal)
            .collect::<Option<_>>()
            .ok_or_else(malformed)?;
        let version = match numbers[..] {
            [major, minor, patch] => Version::new(major, minor, patch),
            [major, minor] => {
                let first = Version::new(major, minor, 0);
                Version::PROFILES
                    .into_iter()
                    .find(|profile| profile.same_line(first))
                    .unwrap_or(first)
            }
            _ => return Err(malformed()),
        };
        if version < Version::new(1, 8, 0) {
            return Err(ParseVersionError::NotEmulated(version));
        }
        if !version.is_known() {
            return Err(ParseVersionError::NotKnown(version));
        }
        Ok(version)
    }
}

/// Parses digits only. `u16::from_str` would also accept a plus sign.
fn decimal(text: &str) -> Option<u16> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Version, ParseVersionError> {
        text.parse()
    }

    #[test]
    fn a_version_is_printed_as_it_is_read() {
        for version in Version::PROFILES {
            assert_eq!(parse(&version.to_string()), Ok(version));
        }
        assert_eq!(
            parse("1.9.17").expect("1.9.17 is a version"),
            Version::new(1, 9, 17)
        );
    }

    #[test]
    fn two_numbers_name_the_profile_of_the_line_or_its_first_release() {
        assert_eq!(parse("1.8"), Ok(Version::V1_8_7));
        assert_eq!(parse("1.21"), Ok(Version::V1_21_5));
        assert_eq!(parse("1.22"), Ok(Version::V1_22_0));
        assert_eq!(parse("1.14"), Ok(Version::new(1, 14, 0)));
        assert_eq!(parse("2.1"), Ok(Version::V2_1_0));
    }

    #[test]
    fn what_is_not_a_version_is_refused_with_its_text() {
        for text in [
            "",
            "1",
            "1.",
            "1.22.",
            "v1.22.0",
            "1.22.0-rc1",
            "1.22.0.1",
            "+1.22.0",
            "1.70000.0",
        ] {
            assert_eq!(
                parse(text),
                Err(ParseVersionError::Malformed(text.to_owned())),
                "{text}"
            );
        }
        let text = parse("latest")
            .expect_err("a word is no version")
            .to_string();
        assert_eq!(
            text,
            "not a Consul version: \"latest\" (expected a form such as 1.22.0)"
        );
    }

    #[test]
    fn what_the_contract_does_not_know_is_refused() {
        let error = parse("1.7.14").expect_err("1.7.14 is not described");
        assert_eq!(
            error,
            ParseVersionError::NotEmulated(Version::new(1, 7, 14))
        );
        let text = error.to_string();
        assert_eq!(
            text,
            "Consul 1.7.14 is not emulated (1.8.0 to 1.22, 2.0 and 2.1 are)"
        );
        for version in [(1, 23, 0), (2, 2, 0), (3, 0, 0)] {
            let version = Version::new(version.0, version.1, version.2);
            let error = parse(&version.to_string()).expect_err("it is not described");
            assert_eq!(error, ParseVersionError::NotKnown(version));
            let text = format!("Consul {version} is not known (1.8.0 to 1.22, 2.0 and 2.1 are)");
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn the_newest_stands_for_what_is_newer() {
        assert_eq!(Version::or_newest("1.8", true), Ok((Version::V1_8_7, None)));
        assert_eq!(
            Version::or_newest("1.22.9", true),
            Ok((Version::new(1, 22, 9), None))
        );
        for text in ["1.23", "1.23.4", "2.2.0", "3.0"] {
            assert!(Version::or_newest(text, true).is_err(), "{text}");
            let read = Version::or_newest(text, false);
            let (version, warning) = read.expect("a version to come");
            assert_eq!(version, Version::V2_1_0);
            let warning = warning.expect("it is said");
            assert!(
                warning.ends_with("(1.8.0 to 1.22, 2.0 and 2.1 are): emulating 2.1.0"),
                "{warning}"
            );
        }
        for text in ["1.7.14", "1", "latest", "v1.23.0"] {
            assert!(Version::or_newest(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn who_takes_a_release_that_nobody_asked_is_told() {
        for (text, version) in [("2.0.3", Version::new(2, 0, 3)), ("2.1", Version::V2_1_0)] {
            let warning = format!(
                "Consul {version} is known from public texts alone: it answers as 1.22.0 does where they say nothing else"
            );
            for strict in [false, true] {
                let read = Version::or_newest(text, strict);
                assert_eq!(read, Ok((version, Some(warning.clone()))));
            }
        }
    }

    #[test]
    fn versions_are_ordered_by_number_and_not_by_text() {
        assert!(Version::new(1, 8, 10) > Version::V1_8_7);
        assert!(Version::new(1, 9, 17) < Version::new(1, 10, 0));
    }
}
