//! Repetitions: `*`, `+`, `?` and counts.

use super::{Error, Translation};

/// The operand of a repetition.
pub(super) struct Item {
    /// The largest product of nested repetitions in it.
    pub(super) repeats: u64,
}

/// The largest product of repetitions.
const MOST_REPEATS: u64 = 1000;

const NESTED_REPETITION: &str = "invalid nested repetition operator";
const INVALID_COUNT: &str = "invalid repeat count";
const NOTHING_TO_REPEAT: &str = "missing argument to repetition operator";

/// The counts of `{2,5}`; the second is `None` for `{2,}`.
struct Count {
    minimum: u64,
    maximum: Option<u64>,
}

impl<'a> Translation<'a> {
    pub(super) fn operator(&mut self, repetition: Option<&'a str>) -> Result<(), Error> {
        let before = self.rest;
        let operator = self.advance(1);
        self.out_lazily(before, operator, repetition)?;
        Ok(())
    }

    /// Translates a repetition with counts, or a literal brace.
    pub(super) fn counted(&mut self, repetition: Option<&'a str>) -> Result<(), Error> {
        let before = self.rest;
        let Some((count, length)) = count(self.rest) else {
            self.advance(1);
            self.literal('{');
            return Ok(());
        };
        let operator = self.advance(length);
        let Count { minimum, maximum } = count;
        let is_sound = minimum <= MOST_REPEATS
            && maximum.is_none_or(|maximum| (minimum..=MOST_REPEATS).contains(&maximum));
        if !is_sound {
            return Err(Error::new(INVALID_COUNT, operator));
        }
        let item = self.out_lazily(before, operator, repetition)?;
        let repeats = item * maximum.unwrap_or(minimum);
        if repeats > MOST_REPEATS && (minimum >= 2 || maximum.is_some_and(|most| most >= 2)) {
            return Err(Error::new(INVALID_COUNT, operator));
        }
        self.level.last = Some(Item { repeats });
        self.level.repeats = self.level.repeats.max(repeats);
        Ok(())
    }

    /// Writes an operator with an optional question mark. Returns the repetitions of its operand.
    fn out_lazily(
        &mut self,
        before: &'a str,
        operator: &str,
        repetition: Option<&'a str>,
    ) -> Result<u64, Error> {
        let lazy = if self.rest.starts_with('?') {
            self.advance(1)
        } else {
            ""
        };
        let until_here = |start: &str| start[..start.len() - self.rest.len()].to_owned();
        if let Some(first) = repetition {
            return Err(Error::new(NESTED_REPETITION, &until_here(first)));
        }
        let Some(item) = &self.level.last else {
            return Err(Error::new(NOTHING_TO_REPEAT, &until_here(before)));
        };
        self.out.push_str(operator);
        self.out.push_str(lazy);
        self.repetition = Some(before);
        Ok(item.repeats)
    }
}

/// Parses counts in braces. Returns them with their length; `None` for a literal brace.
fn count(text: &str) -> Option<(Count, usize)> {
    let inner = &text[1..text.find('}')?];
    let (first, second) = match inner.split_once(',') {
        None => (inner, Some(inner)),
        Some((first, "")) => (first, None),
        Some((first, second)) => (first, Some(second)),
    };
    let minimum = number(first)?;
    let maximum = match second {
        None => None,
        Some(second) => Some(number(second)?),
    };
    Some((Count { minimum, maximum }, inner.len() + 2))
}

/// Parses digits without leading zeros.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}
