//! Finds what varies in texts: numbers behind marks, ids, addresses and hashes.

use std::collections::BTreeSet;

/// How long an id is.
pub const UUID_LENGTH: usize = 36;
/// What is not quoted is a hash if it has so many hexadecimal digits: a leading 0 is not printed.
const HASH_LENGTH: usize = 12;

/// Place and value of every number behind one of the marks, in order of place.
pub fn marked_numbers<'m>(
    text: &str,
    marks: impl IntoIterator<Item = &'m &'m str>,
) -> BTreeSet<(usize, u64)> {
    let mut found = BTreeSet::new();
    for mark in marks {
        for (at, _) in text.match_indices(*mark) {
            let place = at + mark.len();
            let rest = &text[place..];
            let space = rest.len() - rest.trim_start_matches([' ', '"']).len();
            let digits = rest[space..]
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len() - space);
            let (number, tail) = rest[space..].split_at(digits);
            let ends = !tail.starts_with(|c: char| c.is_alphanumeric() || "._".contains(c));
            // Leading zeros and `1.5` must stay as they were sent.
            if let Ok(value) = number.parse::<u64>()
                && ends
            {
                let zeros = number.len() - value.to_string().len();
                found.insert((place + space + zeros, value));
            }
        }
    }
    found
}

/// The id at the very start of a text.
#[must_use]
pub fn uuid_at(text: &str) -> Option<&str> {
    let id = text.get(..UUID_LENGTH)?;
    let right = id.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    right.then_some(id)
}

fn uuid_in(text: &str) -> Option<&str> {
    text.char_indices().find_map(|(at, _)| uuid_at(&text[at..]))
}

/// The id in what a list sorts its items by: the item itself, its `Key` or its `ID`.
pub(in crate::compare) fn uuid_at_start_of_name(item: &str) -> Option<&str> {
    let item = item.trim();
    let name = if item.starts_with('"') {
        item
    } else {
        let after = ["\"Key\":", "\"ID\":"]
            .into_iter()
            .find_map(|mark| item.split_once(mark))?
            .1;
        after.trim_start().strip_prefix('"')?.split('"').next()?
    };
    uuid_in(name)
}

/// `127.0.0.1:8300` at the very start of a text.
pub(in crate::compare) fn address_at(text: &str) -> Option<&str> {
    const LOCAL: &str = "127.0.0.1:";
    let port = text.strip_prefix(LOCAL)?;
    let digits = port
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(port.len());
    (digits > 0).then(|| &text[..LOCAL.len() + digits])
}

/// The hexadecimal digits at the beginning, if they are those of a hash, and what follows them.
pub(in crate::compare) fn hash_at(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_hexdigit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    (digits.len() >= HASH_LENGTH).then_some((digits, rest))
}

/// The number (from 1) of a text in a list, to which it is added when new.
pub(in crate::compare) fn position_or_push(list: &mut Vec<String>, text: &str) -> usize {
    match list.iter().position(|other| other == text) {
        Some(at) => at + 1,
        None => {
            list.push(text.to_owned());
            list.len()
        }
    }
}
