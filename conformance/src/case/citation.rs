//! Citations of the contract: `kv.md 2.4, trap 2; 1.22.md A6.7` names three places of `conformance/contract/`.
//!
//! The grammar stands in `contract/README.md`. A place is an anchor of its file: section 2.4 of `kv.md` is `kv.md#2.4`, its second trap
//! `kv.md#trap-2`.

use std::ops::Range;

/// The files of the contract.
pub const FILES: [&str; 7] = [
    "kv.md",
    "session.md",
    "1.22.md",
    "2.1.md",
    "acl.md",
    "operator.md",
    "cluster.md",
];

/// A file of the contract that a text names, with the places of it that follow the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The file's name, one of [`FILES`].
    pub file: &'static str,
    /// The places in the order of the text. Empty when the text names the file alone.
    pub places: Vec<Place>,
    /// Where the file's name stands in the text, in bytes.
    pub at: Range<usize>,
}

/// A place of a file of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The anchor without `#`, such as `2.4` or `trap-2`. That the file has it is for `tests/citations.rs` to say.
    pub anchor: String,
    /// Where the reference stands in the text, in bytes.
    pub at: Range<usize>,
}

/// Returns all citations in a text, in its order.
#[must_use]
pub fn citations(text: &str) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for file in FILES {
        for (start, _) in text.match_indices(file) {
            let before = text[..start].chars().next_back();
            // `mykv.md` and `9.acl.md` are other files; `contract/kv.md` is ours.
            if before.is_some_and(|before| before.is_alphanumeric() || "._-".contains(before)) {
                continue;
            }
            let at = start..start + file.len();
            let places = Reader { text, at: at.end }.places();
            found.push(Citation { file, places, at });
        }
    }
    found.sort_by_key(|citation| citation.at.start);
    found
}

/// Returns the file and the anchor that a text names, when the text is a citation of one place and nothing else.
#[must_use]
pub fn place(text: &str) -> Option<(&'static str, String)> {
    let citations = citations(text);
    let [citation] = citations.as_slice() else {
        return None;
    };
    let [place] = citation.places.as_slice() else {
        return None;
    };
    let is_all = citation.at.start == 0 && place.at.end == text.len();
    is_all.then(|| (citation.file, place.anchor.clone()))
}

/// What the numbers of a citation count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Section,
    Step,
    Trap,
}

/// Reads the places behind the name of a file.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Passes over a text, if it comes next.
    fn takes(&mut self, expected: &str) -> bool {
        let comes = self.rest().starts_with(expected);
        if comes {
            self.at += expected.len();
        }
        comes
    }

    /// Passes over white space. Returns whether there was any.
    fn takes_space(&mut self) -> bool {
        let start = self.at;
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.at > start
    }

    /// Passes over a word with white space behind it, if both come next.
    fn takes_word(&mut self, word: &str) -> bool {
        let start = self.at;
        let comes = self.takes(word) && self.takes_space();
        if !comes {
            self.at = start;
        }
        comes
    }

    fn places(mut self) -> Vec<Place> {
        if self.takes("#") {
            return self.exact().into_iter().collect();
        }
        let mut places: Vec<Place> = Vec::new();
        let (mut section, mut kind) = (String::new(), Kind::Section);
        let mut comes = self.takes_space();
        while comes {
            let Some(place) = self.place(&mut section, &mut kind) else {
                break;
            };
            places.push(place);
            comes = self.separator(&section);
        }
        places
    }

    /// Reads the anchor behind `#`, as links write it.
    fn exact(&mut self) -> Option<Place> {
        let rest = self.rest();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c));
        let anchor = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let anchor = anchor.trim_end_matches('.');
        let at = self.at..self.at + anchor.len();
        let anchor = anchor.to_owned();
        (!anchor.is_empty()).then_some(Place { anchor, at })
    }

    /// Passes over remarks and what joins two places. Returns whether another place may follow.
    fn separator(&mut self, section: &str) -> bool {
        self.remarks();
        let start = self.at;
        if self.takes(",") || self.takes(";") {
            return self.takes_space();
        }
        if self.takes("-") {
            return true;
        }
        let in_table = section == "F" && (self.takes(":") || self.rest().starts_with(' '));
        let is_spaced = self.takes_space();
        let joined = ["and", "to", "or"]
            .into_iter()
            .any(|word| self.takes_word(word));
        let counted = ["step", "trap"]
            .into_iter()
            .any(|word| self.rest().starts_with(word));
        if is_spaced && (joined || counted || in_table || section == "a") {
            return true;
        }
        self.at = start;
        false
    }

    /// Passes over marks, as in `2.4 [S] [D]`, and remarks, as in `2.4 (since 1.9.0 [H])`.
    fn remarks(&mut self) {
        loop {
            let rest = self.rest();
            let spaceless = rest.trim_start();
            let is_letter = spaceless.starts_with("(a)") || spaceless.starts_with("(b)");
            let end = match spaceless.chars().next() {
                Some('[') if spaceless.len() < rest.len() => closing(spaceless, '[', ']'),
                Some('(') if spaceless.len() < rest.len() && !is_letter => {
                    closing(spaceless, '(', ')')
                }
                _ => None,
            };
            let Some(end) = end else {
                return;
            };
            self.at += rest.len() - spaceless.len() + end;
        }
    }

    /// Reads one place. `section` becomes the last section named, `kind` what later numbers count.
    fn place(&mut self, section: &mut String, kind: &mut Kind) -> Option<Place> {
        let start = self.at;
        let place = self.words(section, kind);
        if place.is_none() {
            self.at = start;
        }
        let anchor = place?;
        let at = start..self.at;
        Some(Place { anchor, at })
    }

    fn words(&mut self, section: &mut String, kind: &mut Kind) -> Option<String> {
        for (singular, plural, counts) in
            [("trap", "traps", Kind::Trap), ("step", "steps", Kind::Step)]
        {
            // After `traps 4` a bare `5` is a trap too; after `trap 4` it is section 5.
            let after = if self.takes_word(plural) {
                counts
            } else if self.takes_word(singular) {
                Kind::Section
            } else {
                continue;
            };
            *kind = after;
            return self.number().map(|number| counted(counts, section, number));
        }
        if *kind != Kind::Section {
            let start = self.at;
            match self.number() {
                Some(number) => return Some(counted(*kind, section, number)),
                None => self.at = start,
            }
        }
        *kind = Kind::Section;
        let is_part = self.takes_word("part");
        if !is_part && !self.takes_word("section") {
            self.takes_word("sections");
        }
        let anchor = self.section(section)?;
        let is_letter = anchor.len() == 1 && anchor.starts_with(|c: char| c.is_ascii_uppercase());
        if is_letter && !is_part && anchor != "F" {
            // `A` may begin a sentence.
            return None;
        }
        // Rows of the table `(a)` and of part F are named after it; the next one is again.
        if !(anchor.starts_with("F.") || anchor.starts_with("a.")) {
            section.clone_from(&anchor);
        }
        Some(anchor)
    }

    /// Reads digits with nothing but a border behind them.
    fn number(&mut self) -> Option<&'t str> {
        let word = self.word();
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(word)
    }

    /// Reads letters, digits, dots and underscores; a dot at the end belongs to the sentence.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_');
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let word = word.trim_end_matches('.');
        self.at += word.len();
        word
    }

    /// Reads a section, a row of one, `(a)`, `8(b)`, or a row of the table that `section` is.
    fn section(&mut self, section: &str) -> Option<String> {
        if self.takes("(a)") {
            return Some("a".to_owned());
        }
        if self.takes("(b)") {
            return Some("b".to_owned());
        }
        let word = self.word();
        if section == "a" && word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() {
            return Some(format!("a.{word}"));
        }
        if section == "F" && is_row_of_f(word) {
            return Some(format!("F.{word}"));
        }
        if !is_section(word) {
            return None;
        }
        let letter = ["(a)", "(b)"].into_iter().find(|one| self.takes(one));
        let letter = letter.map_or("", |letter| &letter[1..2]);
        Some(format!("{word}{letter}"))
    }
}

/// The anchor of a step, which is a row of the last section, or of a trap.
fn counted(kind: Kind, section: &str, number: &str) -> String {
    match kind {
        Kind::Step => format!("{section}.{number}"),
        Kind::Trap | Kind::Section => format!("trap-{number}"),
    }
}

/// The length of a text up to and with the bracket that closes its first one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + close.len_utf8());
            }
        }
    }
    None
}

/// Whether a word is a row of part F, such as `kv.path_clean`.
fn is_row_of_f(word: &str) -> bool {
    word.split_once('.').is_some_and(|(area, row)| {
        area.bytes().all(|byte| byte.is_ascii_lowercase()) && !area.is_empty() && !row.is_empty()
    })
}

/// Whether a word is a section or a row of one: `2`, `2.4`, `4.5b`, `A6`, `A1.6b`, `F`, `2.4.r3`, `9.text`.
fn is_section(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let [first, rest @ ..] = parts.as_slice() else {
        return false;
    };
    let digits = first.trim_start_matches(|c: char| ('A'..='H').contains(&c));
    let letters = first.len() - digits.len();
    let first_is_good = letters <= 1 && (letters == 1 && digits.is_empty() || is_numbered(digits));
    let is_row = |part: &str| part.strip_prefix('r').is_some_and(is_numbered);
    let is_named = |part: &str| part.len() > 2 && part.bytes().all(|b| b.is_ascii_lowercase());
    first_is_good
        && match rest {
            [] => true,
            [second] => is_numbered(second) || is_row(second) || is_named(second),
            [second, row] => is_row(row) && (is_numbered(second) || is_named(second)),
            _ => false,
        }
}

/// Whether a text is digits, with a lower-case letter behind them or not.
fn is_numbered(text: &str) -> bool {
    let digits = text.strip_suffix(|c: char| c.is_ascii_lowercase());
    let digits = digits.unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "citation_tests.rs"]
mod tests;
