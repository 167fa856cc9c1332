//! The words of a command, and the values in them.

use bytes::Bytes;
use std::time::Duration;

use proconsul_store::{Key, SessionId};

/// The rest of a command's words. Errors are sentences.
pub(super) struct Words<'a> {
    words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            words: text.split_whitespace().collect(),
        }
    }

    /// Returns the next word; empty at the end.
    pub(super) fn peek(&self) -> &'a str {
        self.words.first().copied().unwrap_or_default()
    }

    /// Takes the next word.
    pub(super) fn take(&mut self) -> Result<&'a str, String> {
        if self.words.is_empty() {
            return Err("a word is missing at the end".to_owned());
        }
        Ok(self.words.remove(0))
    }

    /// Takes the next word if it is this one.
    pub(super) fn take_if(&mut self, word: &str) -> bool {
        let is = self.peek() == word;
        if is {
            self.words.remove(0);
        }
        is
    }

    /// Takes the value of an option `name=value` at any place.
    pub(super) fn option(&mut self, name: &str) -> Option<&'a str> {
        let value = |word: &'a str| word.strip_prefix(name)?.strip_prefix('=');
        let place = self.words.iter().position(|word| value(word).is_some())?;
        value(self.words.remove(place))
    }

    /// Takes all words from an option of this name up to the next one of the same name.
    pub(super) fn group(&mut self, name: &str) -> Option<Self> {
        let starts = |word: &str| {
            word.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('='))
        };
        let first = self.words.iter().position(|word| starts(word))?;
        let more = self.words[first + 1..].iter().position(|word| starts(word));
        let end = more.map_or(self.words.len(), |more| first + 1 + more);
        let words = self.words.drain(first..end).collect();
        Some(Self { words })
    }

    /// Takes the value of a numeric option; 0 if unset.
    pub(super) fn number(&mut self, name: &str) -> Result<u64, String> {
        let text = self.option(name).unwrap_or("0");
        text.parse().map_err(|_| format!("{name} is no number"))
    }

    /// Requires that no word is left.
    pub(super) fn end(&self) -> Result<(), String> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => match word.split_once('=') {
                Some((name, _)) => Err(format!("no option {name:?} here")),
                None => Err(format!("no word {word:?} here")),
            },
        }
    }
}

/// Parses a list of names separated by commas.
pub(super) fn list(text: &str) -> Vec<String> {
    let names = text.split(',').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Parses a key: `""` is empty, `\xff` a byte.
pub(super) fn key(text: &str) -> Key {
    let text = text.trim_matches('"');
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (byte, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(byte, 16).expect("two hexadecimal digits after \\x"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    Key::new(bytes)
}

/// Prints a key.
pub(super) fn key_name(key: &Key) -> String {
    match key.as_bytes() {
        [] => "\"\"".to_owned(),
        bytes => bytes.escape_ascii().to_string(),
    }
}

/// Parses a value: `x*9` is nine times `x`.
pub(super) fn value(text: &str) -> Bytes {
    let repeated = text.split_once('*');
    let text = match repeated.and_then(|(part, times)| Some((part, times.parse().ok()?))) {
        Some((part, times)) => part.repeat(times),
        None => text.to_owned(),
    };
    text.into()
}

/// Prints a value.
pub(super) fn value_name(value: &[u8]) -> String {
    match value {
        [] => "null".to_owned(),
        [first, ..] if value.len() > 99 && value.iter().all(|byte| byte == first) => {
            format!("{}*{}", [*first].escape_ascii(), value.len())
        }
        _ => value.escape_ascii().to_string(),
    }
}

/// Parses the number of a session `s1` or `S1`.
fn session_number(name: &str) -> Option<u8> {
    name.strip_prefix(['s', 'S'])?.parse().ok()
}

/// Returns the id of a session `s1`.
pub(super) fn session_id(name: &str) -> Option<SessionId> {
    let number = session_number(name)?;
    let mut bytes = [0xab; 16];
    bytes[15] = number;
    Some(SessionId::from_bytes(bytes))
}

/// Returns the text that a client sends for a session: an id, in upper case for `S1`, or the literal word.
pub(super) fn session_text(name: &str) -> String {
    match session_id(name) {
        Some(id) if name.starts_with('S') => id.to_string().to_uppercase(),
        Some(id) => id.to_string(),
        None => name.to_owned(),
    }
}

/// Prints a session's id.
pub(super) fn session_name(text: &str) -> String {
    let names = (0..=u8::MAX).flat_map(|number| [format!("s{number}"), format!("S{number}")]);
    let mut names = names.filter(|name| session_text(name) == text);
    names.next().unwrap_or_else(|| text.to_owned())
}

const UNITS: [(&str, i64); 5] = [
    ("ns", 1),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a duration such as `15s` or `-1s`, in nanoseconds.
pub(super) fn nanoseconds(text: &str) -> Result<i64, String> {
    let split = text.find(|character: char| character.is_ascii_alphabetic());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let number = number.parse::<i64>().ok();
    let product = number
        .zip(unit)
        .and_then(|(number, (_, unit))| number.checked_mul(*unit));
    product.ok_or_else(|| format!("{text:?} is no length of time"))
}

/// Parses a duration that is not negative.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let nanoseconds = u64::try_from(nanoseconds(text)?);
    let nanoseconds = nanoseconds.map_err(|_| format!("{text:?} lies in the past"))?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Prints a duration in the largest unit without a fraction.
pub(super) fn duration_name(nanoseconds: i128) -> String {
    let units = UNITS.iter().rev();
    let mut whole = units.filter(|(_, unit)| nanoseconds % i128::from(*unit) == 0);
    match whole.next() {
        Some((name, unit)) if nanoseconds != 0 => {
            format!("{}{name}", nanoseconds / i128::from(*unit))
        }
        _ => "0s".to_owned(),
    }
}
