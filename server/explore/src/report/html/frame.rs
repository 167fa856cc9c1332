//! Where things are in a picture: times from left to right, and texts that do not overlap.

use std::fmt::Write;
use std::time::Duration;

use super::super::text::is_plain;
use super::scene::{At, Span};

pub(super) const WIDTH: f64 = 1200.0;
/// Where the time begins: to its left are names.
pub(super) const LEFT: f64 = 168.0;
pub(super) const RIGHT: f64 = 1192.0;
/// How wide a letter is, at most on average.
pub(super) const LETTER: f64 = 6.7;
/// The least width between two labels of the axis.
const LEAST_STEP: f64 = 92.0;

/// Appends a formatted text.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {
        std::fmt::Write::write_fmt($out, format_args!($($argument)*)).expect("a String takes all")
    };
}
pub(super) use put;

/// The part of the time that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) shown: Span,
}

impl Frame {
    /// Returns where a moment is; moments out of sight are at the edges.
    pub(super) fn x(self, at: At) -> f64 {
        let Span { from, to } = self.shown;
        let at = at.clamp(from, to);
        LEFT + (RIGHT - LEFT) * share(at - from, to - from)
    }

    /// Returns where something begins and how wide it is; `None` if it is out of sight.
    pub(super) fn part(self, span: Span) -> Option<(f64, f64)> {
        let is_seen = span.to >= self.shown.from && span.from <= self.shown.to;
        let from = self.x(span.from);
        is_seen.then(|| (from, self.x(span.to) - from))
    }

    /// Returns what of many things in order is drawn: of those that would be at the same place, the first.
    pub(super) fn seen<T>(self, all: &[T], span: impl Fn(&T) -> Span) -> Vec<(&T, f64, f64)> {
        let placed = all.iter().filter_map(|one| {
            let (x, width) = self.part(span(one))?;
            Some((one, x, width))
        });
        let mut seen: Vec<(&T, f64, f64)> = placed.collect();
        seen.dedup_by(|(_, x, width), (_, last, wide)| {
            (x.round(), (*x + *width).round()) == (last.round(), (*last + *wide).round())
        });
        seen
    }

    pub(super) fn shows(self, at: At) -> bool {
        (self.shown.from..=self.shown.to).contains(&at)
    }

    /// Returns the moments that the axis names, with their names.
    pub(super) fn ticks(self) -> Vec<(At, String)> {
        let length = self.shown.to - self.shown.from;
        let mut step = 1_000_000;
        let mut factors = [2, 5, 10].into_iter().cycle();
        let mut unit = step;
        while (RIGHT - LEFT) * share(step, length) < LEAST_STEP {
            let factor = factors.next().unwrap_or(10);
            step = unit * factor;
            if factor == 10 {
                unit = step;
            }
        }
        let first = self.shown.from.div_ceil(step);
        let last = self.shown.to / step;
        let ticks = (first..=last).map(|number| number * step);
        ticks.map(|at| (at, seconds(at))).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is a place in a picture")]
fn share(part: u64, of: u64) -> f64 {
    part as f64 / (of.max(1)) as f64
}

/// Returns a moment as a reader writes it: `35 s`, `0.25 s`.
pub(super) fn seconds(at: At) -> String {
    let seconds = Duration::from_nanos(at).as_secs_f64();
    let text = format!("{seconds:.3}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{short} s")
}

/// Puts labels into rows, from the left to the right, so that they do not overlap.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where the last label of each row ends.
    ends: Vec<f64>,
}

impl Rows {
    /// Returns the row for what lies between two places; `None` if that would be more rows than there may be.
    pub(super) fn place(&mut self, from: f64, to: f64, most: usize) -> Option<usize> {
        let free = self.ends.iter().position(|end| *end <= from);
        if free.is_none() && self.ends.len() == most {
            return None;
        }
        let row = free.unwrap_or_else(|| {
            self.ends.push(0.0);
            self.ends.len() - 1
        });
        self.ends[row] = to;
        Some(row)
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }
}

/// Returns a text for HTML and SVG, between tags and in attributes. What does not show as itself is written as in Rust.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\n' => escaped.push('\n'),
            letter if is_plain(letter) => escaped.push(letter),
            letter => write!(escaped, "{}", letter.escape_unicode()).expect("a String takes all"),
        }
    }
    escaped
}

/// Returns the same for a program, which keeps its tabs: it is to be copied.
pub(super) fn escaped_code(code: &str) -> String {
    let parts: Vec<String> = code.split('\t').map(escaped).collect();
    parts.join("\t")
}

/// Returns the first letters of a text, and a mark where there are more.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let mut letters = text.chars();
    let first: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        let mut shorter: String = first.chars().take(most.saturating_sub(1)).collect();
        shorter.push('…');
        shorter
    } else {
        first
    }
}

/// Returns a count with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: At = 1_000_000_000;

    #[test]
    fn labels_of_the_axis_do_not_touch_and_are_round() {
        for to in [SECOND / 2, 7 * SECOND, 40 * SECOND, 600 * SECOND] {
            let frame = Frame {
                shown: Span { from: 0, to },
            };
            let ticks = frame.ticks();
            assert!((3..=12).contains(&ticks.len()), "{ticks:?}");
            let apart = ticks
                .windows(2)
                .map(|two| frame.x(two[1].0) - frame.x(two[0].0));
            assert!(apart.into_iter().all(|apart| apart >= LEAST_STEP));
        }
        assert_eq!(seconds(35 * SECOND), "35 s");
        assert_eq!(seconds(SECOND / 4), "0.25 s");
    }

    #[test]
    fn what_would_be_at_the_same_place_is_drawn_once() {
        let shown = Span {
            from: 0,
            to: 1000 * SECOND,
        };
        let span = |at: &At| Span {
            from: *at,
            to: *at + 1,
        };
        let many: Vec<At> = (0..100_000).map(|number| number * 10_000_000).collect();
        let seen = Frame { shown }.seen(&many, span);
        assert!((1000..1100).contains(&seen.len()), "{}", seen.len());
    }

    #[test]
    fn what_overlaps_is_in_different_rows() {
        let mut rows = Rows::default();
        assert_eq!(rows.place(0.0, 100.0, 2), Some(0));
        assert_eq!(rows.place(50.0, 150.0, 2), Some(1));
        assert_eq!(rows.place(60.0, 120.0, 2), None);
        assert_eq!(rows.place(100.0, 120.0, 2), Some(0));
        assert_eq!(rows.count(), 2);
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("</script>\"'&\u{202e}\u{0}"),
            "&lt;/script&gt;&quot;&#39;&amp;\\u{202e}\\u{0}"
        );
        assert_eq!(clipped("äöüß", 3), "äö…");
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
    }
}
