//! What texts of reports have in common.

use super::timeline::session_names;
use crate::run::Run;

/// Returns a text about a run with the names of its sessions in place of their ids.
pub(super) fn named(run: &Run, text: &str) -> String {
    let names = session_names(run);
    let names = names.iter().filter(|(id, _)| !id.is_empty());
    names.fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
}

/// Returns whether a letter shows as itself, and changes neither the line nor the direction of what follows.
pub(super) fn is_plain(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !letter.is_control() && !turns && !matches!(letter, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn sessions_have_names_in_place_of_ids() {
        let text = format!("held by {}", samples::SESSION_A);
        assert_eq!(
            named(&samples::two_believers(), &text),
            "held by a's session 1"
        );
    }

    #[test]
    fn letters_that_turn_or_end_a_line_are_not_plain() {
        assert!("äß日 \u{1f512}<\"".chars().all(is_plain));
        assert!(!"\n\r\u{0}\u{202e}\u{2028}".chars().any(is_plain));
    }
}
