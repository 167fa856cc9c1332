//! Versions of Consul: what a target says it is, and when a claim began or ceased to hold.

use std::fmt;
use std::str::FromStr;

/// A released version of Consul; pre-release and build parts are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number.
    pub patch: u16,
}

impl Version {
    /// The oldest version the contracts speak of; a case without a window starts here.
    pub const V1_8: Self = Self::new(1, 8, 0);
    /// Default ACL policy header, gzip threshold, HTTP 429 for too many connections.
    pub const V1_9: Self = Self::new(1, 9, 0);
    /// Streaming backend, `raft apply failed: ` prefix.
    pub const V1_10: Self = Self::new(1, 10, 0);
    /// `X-Consul-Results-Filtered-By-Acls`, `;` no longer separates parameters.
    pub const V1_11: Self = Self::new(1, 11, 0);
    /// `X-Consul-Query-Backend` everywhere, detailed ACL denials.
    pub const V1_12: Self = Self::new(1, 12, 0);
    /// Namespace errors without their prefix.
    pub const V1_13: Self = Self::new(1, 13, 0);
    /// 128 operations in a transaction, `get-or-empty`.
    pub const V1_14: Self = Self::new(1, 14, 0);
    /// Missing ACL objects are 404.
    pub const V1_15: Self = Self::new(1, 15, 0);
    /// `datacenter=` is an alias of `dc=`.
    pub const V1_16: Self = Self::new(1, 16, 0);
    /// No trailing newline in a dev agent's JSON.
    pub const V1_17: Self = Self::new(1, 17, 0);
    /// Explicit content types.
    pub const V1_20: Self = Self::new(1, 20, 0);
    /// Key names are checked.
    pub const V1_21_5: Self = Self::new(1, 21, 5);
    /// The newest version that was asked.
    pub const V1_22: Self = Self::new(1, 22, 0);
    /// The mux redirects with 307. Nobody has asked a server of it.
    pub const V2: Self = Self::new(2, 0, 0);

    /// Why a server of this version is held to claims that nobody has made of it; `None` for a version that is known.
    #[must_use]
    pub fn is_newer_than_known(self) -> Option<String> {
        let next = Self::new(Self::V1_22.major, Self::V1_22.minor + 1, 0);
        (self >= next).then(|| {
            let newest = format!("{}.{}", Self::V1_22.major, Self::V1_22.minor);
            format!("the target is {self}, newer than what the cases know: it is held to what {newest} does")
        })
    }

    /// The version `major.minor.patch`.
    #[must_use]
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = String;

    /// Reads `1.8.7`, `v1.8.7`, `1.8.7+dfsg1` and `1.23.0-dev`.
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}` is not a version such as 1.8.7");
        let core = text.trim().trim_start_matches('v');
        let core = core.split(['-', '+']).next().unwrap_or(core);
        let mut numbers = core.split('.').map(str::parse::<u16>);
        let mut next = || numbers.next()?.ok();
        match (next(), next(), next()) {
            (Some(major), Some(minor), Some(patch)) if core.split('.').count() == 3 => {
                Ok(Self::new(major, minor, patch))
            }
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_agents_say() {
        assert_eq!("1.8.7".parse(), Ok(Version::new(1, 8, 7)));
        assert_eq!("v1.8.7+dfsg1".parse(), Ok(Version::new(1, 8, 7)));
        assert_eq!("1.23.0-dev".parse(), Ok(Version::new(1, 23, 0)));
        assert!("1.8".parse::<Version>().is_err());
        assert!("1.8.7.1".parse::<Version>().is_err());
        assert!("latest".parse::<Version>().is_err());
    }

    #[test]
    fn the_next_release_line_is_not_known() {
        assert_eq!(Version::new(1, 22, 9).is_newer_than_known(), None);
        let why = Version::new(1, 23, 0).is_newer_than_known();
        let why = why.expect("nobody knows it");
        assert!(
            why.contains("1.23.0, newer") && why.ends_with("what 1.22 does"),
            "{why}"
        );
    }

    #[test]
    fn orders_by_number_not_by_text() {
        assert!(Version::new(1, 10, 0) > Version::new(1, 9, 17));
    }
}
