//! Go's `unicode.IsPrint`: the characters that Consul accepts in paths, and that `%q` does not escape.
//!
//! The tables come from the crate `regex-syntax`, which has the edition of Unicode of every character.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// The edition of Unicode of a Go release. Newer characters are not printable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unicode {
    /// That of Go 1.14 and 1.15, used for all up to 1.20.
    V12,
    /// Go 1.21 to 1.26.
    V15,
}

/// Whether the character is a letter, mark, number, punctuation, symbol or the ASCII space. Other spaces, control and format
/// characters, private use and unassigned code points are not printable.
pub(crate) fn is_printable(character: char, unicode: Unicode) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    let class: &ClassUnicode = match unicode {
        Unicode::V12 => &V12,
        Unicode::V15 => &V15,
    };
    let ranges = class.ranges();
    let above = ranges.partition_point(|range| range.start() <= character);
    above > 0 && character <= ranges[above - 1].end()
}

static V12: LazyLock<ClassUnicode> = LazyLock::new(|| class("12.0"));
static V15: LazyLock<ClassUnicode> = LazyLock::new(|| class("15.0"));

/// Returns the printable characters of an edition of Unicode.
fn class(edition: &str) -> ClassUnicode {
    let pattern = format!(r"[[\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}]&&\p{{Age={edition}}}]");
    let class = match regex_syntax::parse(&pattern).map(|parsed| parsed.into_kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => Some(class),
        _ => None,
    };
    class.expect("the pattern is a class of characters")
}

#[cfg(test)]
mod tests {
    use super::{Unicode, is_printable};

    #[test]
    fn one_of_each_kind() {
        for character in [
            ' ',
            '!',
            '~',
            '\u{a1}',
            '\u{e9}',
            '\u{300}',
            '\u{4e00}',
            '\u{fffd}',
            '\u{1f600}',
            '\u{e0100}',
        ] {
            assert!(is_printable(character, Unicode::V12), "{character:?}");
        }
        for character in [
            '\0',
            '\t',
            '\n',
            '\u{1f}',
            '\u{7f}',
            '\u{85}',
            '\u{a0}',
            '\u{ad}',
            '\u{378}',
            '\u{200b}',
            '\u{2028}',
            '\u{3000}',
            '\u{e000}',
            '\u{feff}',
            '\u{e0001}',
            '\u{10ffff}',
        ] {
            assert!(!is_printable(character, Unicode::V15), "{character:?}");
        }
    }

    #[test]
    fn newer_characters_need_a_newer_go() {
        let anatomical_heart = '\u{1fac0}'; // Unicode 13
        let melting_face = '\u{1fae0}'; // Unicode 14
        let shaking_face = '\u{1fae8}'; // Unicode 15
        let printable = |unicode| {
            [anatomical_heart, melting_face, shaking_face].map(|c| is_printable(c, unicode))
        };
        assert_eq!(printable(Unicode::V12), [false, false, false]);
        assert_eq!(printable(Unicode::V15), [true, true, true]);
    }

    #[test]
    fn as_many_as_go_counts() {
        let count = |unicode| {
            (char::MIN..=char::MAX)
                .filter(|&c| is_printable(c, unicode))
                .count()
        };
        assert_eq!(count(Unicode::V15), 148_998);
        assert_eq!(count(Unicode::V12), 137_749);
    }
}
