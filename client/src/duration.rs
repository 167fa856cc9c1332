//! Durations as Consul writes them: Go's form (`1h30m`, `15s`, `1.5ms`).

use std::time::Duration;

/// The shortest whole form: seconds where they are whole, else milliseconds, else nanoseconds.
pub(crate) fn format(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos.is_multiple_of(1_000_000_000) {
        format!("{}s", duration.as_secs())
    } else if nanos.is_multiple_of(1_000_000) {
        format!("{}ms", duration.as_millis())
    } else {
        format!("{nanos}ns")
    }
}

/// `None` for what is no duration, or a negative one.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .len();
        let (value, after) = rest.split_at(number);
        let unit = after.len()
            - after
                .trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.')
                .len();
        let (unit, after) = after.split_at(unit);
        let scale = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += value.parse::<f64>().ok()? * scale;
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for (duration, text) in [
            (Duration::from_secs(15), "15s"),
            (Duration::from_millis(1500), "1500ms"),
            (Duration::from_nanos(1), "1ns"),
            (Duration::ZERO, "0s"),
        ] {
            assert_eq!(format(duration), text);
            assert_eq!(parse(text), Some(duration));
        }
        assert_eq!(parse("1h1m1.5s"), Some(Duration::from_millis(3_661_500)));
        for wrong in ["", "15", "s", "-1s", "1x", "1..2s"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
