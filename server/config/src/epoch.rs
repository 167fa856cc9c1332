//! The wall clock at the start of a server's clock.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proconsul_gocompat::time::parse_rfc3339;

/// The wall clock at the start of a server's clock: a time from 1970 up to the year 9000.
///
/// ```
/// let epoch: proconsul::config::Epoch = "2026-01-01T00:00:00Z".parse()?;
/// let server = proconsul::Server::builder().frozen().epoch(epoch).start()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(Duration);

/// The year 9000, in seconds since the Unix epoch. Headers have years of four digits, and a clock runs for 292 years.
const END: Duration = Duration::from_secs(221_845_392_000);

impl Epoch {
    /// Returns the time since the Unix epoch.
    pub fn since_unix(self) -> Duration {
        self.0
    }
}

impl TryFrom<SystemTime> for Epoch {
    type Error = String;

    fn try_from(time: SystemTime) -> Result<Self, String> {
        let since = time.duration_since(UNIX_EPOCH).ok();
        let since = since.filter(|since| *since < END);
        let invalid = || "the epoch of a clock is a time from 1970 up to the year 9000".to_owned();
        since.map(Self).ok_or_else(invalid)
    }
}

impl FromStr for Epoch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let since = |nanos: i128| {
            let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
            let nanos = u32::try_from(nanos % 1_000_000_000).ok()?;
            Some(Duration::new(seconds, nanos))
        };
        let since = parse_rfc3339(text).and_then(since);
        let time = since.and_then(|since| UNIX_EPOCH.checked_add(since));
        let epoch = time.and_then(|time| Self::try_from(time).ok());
        epoch.ok_or_else(|| {
            format!(
                "expected a time from 1970 up to the year 9000 such as 2026-01-01T00:00:00Z, not {text:?}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_a_time_in_the_form_of_rfc_3339() {
        let of = |text: &str| text.parse::<Epoch>().map(|epoch| epoch.0.as_secs());
        assert_eq!(of("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(of("2026-01-01T01:00:00+01:00"), Ok(1_767_225_600));
        assert_eq!(of("8999-12-31T23:59:59Z"), Ok(END.as_secs() - 1));
        for text in [
            "",
            "2026-01-01",
            "1969-12-31T23:59:59Z",
            "9000-01-01T00:00:00Z",
        ] {
            let expected =
                "expected a time from 1970 up to the year 9000 such as 2026-01-01T00:00:00Z";
            assert_eq!(of(text), Err(format!("{expected}, not {text:?}")));
        }
        assert!(Epoch::try_from(UNIX_EPOCH + END).is_err());
    }
}
