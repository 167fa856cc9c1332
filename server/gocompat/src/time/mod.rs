//! Go's `time.Time` as text: RFC 3339 with up to nine decimal places, and RFC 850. A time is in nanoseconds of the Unix epoch.

mod parse;

pub use parse::{JsonTimes, parse_json, parse_rfc3339};

const SECONDS_OF_DAY: i64 = 86_400;
const NANOS: i128 = 1_000_000_000;
/// From the first day of the year 0 to that of the Unix epoch.
const DAYS_TO_EPOCH: i64 = 719_528;

/// A time of day on a day of the calendar, in UTC.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
    weekday: i64,
}

/// Returns the form of a time in RFC 3339 that Go shows in JSON; `None` outside of the years 0 to 9999.
///
/// ```
/// use proconsul_gocompat::time;
///
/// assert_eq!(time::rfc3339(1_500_000_000).as_deref(), Some("1970-01-01T00:00:01.5Z"));
/// ```
#[must_use]
pub fn rfc3339(unix_nanos: i128) -> Option<String> {
    let civil = civil(unix_nanos)?;
    let (hour, minute, second) = civil.clock();
    let Civil {
        year, month, day, ..
    } = civil;
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = unix_nanos.rem_euclid(NANOS);
    if fraction > 0 {
        let digits = format!(".{fraction:09}");
        text.push_str(digits.trim_end_matches('0'));
    }
    text.push('Z');
    Some(text)
}

/// Returns the form of a time in RFC 850; `None` outside of the years 0 to 9999.
#[must_use]
pub fn rfc850(unix_nanos: i128) -> Option<String> {
    const WEEKDAYS: [&str; 7] = [
        "Sunday",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
    ];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let civil = civil(unix_nanos)?;
    let (hour, minute, second) = civil.clock();
    let weekday = WEEKDAYS[usize::try_from(civil.weekday).ok()?];
    let month = MONTHS[usize::try_from(civil.month - 1).ok()?];
    let (day, year) = (civil.day, civil.year % 100);
    Some(format!(
        "{weekday}, {day:02}-{month}-{year:02} {hour:02}:{minute:02}:{second:02} UTC"
    ))
}

impl Civil {
    fn clock(&self) -> (i64, i64, i64) {
        let second = self.second_of_day;
        (second / 3600, second / 60 % 60, second % 60)
    }
}

fn civil(unix_nanos: i128) -> Option<Civil> {
    let seconds = i64::try_from(unix_nanos.div_euclid(NANOS)).ok()?;
    let day_of_epoch = seconds.div_euclid(SECONDS_OF_DAY);
    let second_of_day = seconds.rem_euclid(SECONDS_OF_DAY);
    if !(days(0, 1, 1)..days(10_000, 1, 1)).contains(&day_of_epoch) {
        return None;
    }
    // At least 366 days a year, so never too late, and early by a few years at most.
    let mut year = (day_of_epoch + DAYS_TO_EPOCH) / 366;
    while days(year + 1, 1, 1) <= day_of_epoch {
        year += 1;
    }
    let month = (1..=12).rfind(|month| days(year, *month, 1) <= day_of_epoch)?;
    Some(Civil {
        year,
        month,
        day: day_of_epoch - days(year, month, 1) + 1,
        second_of_day,
        // The Unix epoch began on a Thursday.
        weekday: (day_of_epoch + 4).rem_euclid(7),
    })
}

/// Returns the number of a day, counted from that of the Unix epoch.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Leap days of the years before: the year 0 is one.
    let leap_days = match year {
        0 => 0,
        _ => (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1,
    };
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    year * 365 + leap_days + months + day - 1 - DAYS_TO_EPOCH
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last seconds of years around each rule of leap years, by `date -u -d TIME +%s` of GNU's coreutils.
    #[test]
    fn known_times() {
        for (text, seconds) in [
            ("0000-01-01T00:00:00Z", -62_167_219_200_i64),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("1582-10-15T12:34:56Z", -12_219_247_504),
            ("1900-02-28T23:59:59Z", -2_203_891_201),
            ("1900-03-01T00:00:00Z", -2_203_891_200),
            ("1969-12-31T23:59:59Z", -1),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-12-31T23:59:59Z", 1_735_689_599),
            ("2026-11-22T13:00:30Z", 1_795_352_430),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            let nanos = i128::from(seconds) * NANOS;
            assert_eq!(parse_rfc3339(text), Some(nanos), "{text}");
            assert_eq!(rfc3339(nanos).as_deref(), Some(text));
        }
        let (first, end) = (-62_167_219_200 * NANOS, 253_402_300_800 * NANOS);
        assert_eq!((rfc3339(first - 1), rfc3339(end)), (None, None));
    }

    #[test]
    fn each_day_of_four_centuries_is_read_as_it_is_written() {
        let first = parse_rfc3339("1899-12-30T00:00:00Z").expect("a time");
        let mut shown = std::collections::BTreeSet::new();
        for day in 0..146_100 {
            let nanos = first + i128::from(day * SECONDS_OF_DAY + 86_399) * NANOS + 7;
            let text = rfc3339(nanos).expect("a year of four digits");
            assert_eq!(parse_rfc3339(&text), Some(nanos), "{text}");
            shown.insert(text);
        }
        assert_eq!(shown.len(), 146_100);
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2026-11-22",
            "2026-11-22 13:00:30Z",
            "2026-11-22T13:00:30",
            "2026-11-22T13:00:30z",
            "2026-11-22T13:00:30.Z",
            "2026-11-22T13:00:30Zx",
            "2026-11-22T13:00:30+0100",
            "2026-11-22T13:00:30+25:00",
            "2026-11-22T13:00:30+01:61",
            "2026-13-22T13:00:30Z",
            "2026-00-22T13:00:30Z",
            "2026-11-31T13:00:30Z",
            "2025-02-29T13:00:30Z",
            "2026-11-22T24:00:30Z",
            "2026-11-22T13:60:30Z",
            "2026-11-22T13:00:60Z",
            "+026-11-22T13:00:30Z",
            "2026-11-22T13:00:3éZ",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        let places = parse_rfc3339("1970-01-01T00:00:00.1234567899-00:01");
        assert_eq!(places, Some(60 * NANOS + 123_456_789));
    }

    #[test]
    fn the_form_of_rfc_850() {
        let text = rfc850(1_795_352_430 * NANOS);
        assert_eq!(text.as_deref(), Some("Sunday, 22-Nov-26 13:00:30 UTC"));
    }
}
