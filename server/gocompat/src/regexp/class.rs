//! Character classes, and escapes of single characters.

use regex_syntax::ast::ClassAsciiKind;

use super::{Error, INVALID_ESCAPE, TRAILING_BACKSLASH, Translation};

const MISSING_BRACKET: &str = "missing closing ]";
const INVALID_RANGE: &str = "invalid character class range";

impl Translation<'_> {
    /// Translates a class in brackets.
    pub(super) fn class(&mut self) -> Result<(), Error> {
        let whole = self.rest;
        let mut rest = &whole[1..];
        let mut class = String::from("[");
        if let Some(behind) = rest.strip_prefix('^') {
            rest = behind;
            class.push('^');
        }
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            let part = match posix(&mut rest)? {
                Some(part) => Some(part),
                None => unicode(&mut rest)?.or_else(|| perl(&mut rest).map(str::to_owned)),
            };
            class += &match part {
                Some(part) => part,
                None => range(&mut rest, whole)?,
            };
        }
        self.rest = &rest[1..];
        class.push(']');
        self.item(&class);
        Ok(())
    }
}

/// `[:name:]` inside of a class.
fn posix(rest: &mut &str) -> Result<Option<String>, Error> {
    let Some(length) = rest.strip_prefix("[:").and_then(|text| text.find(":]")) else {
        return Ok(None);
    };
    let (written, behind) = rest.split_at(length + 4);
    let name = &written[2..written.len() - 2];
    if ClassAsciiKind::from_name(name.strip_prefix('^').unwrap_or(name)).is_none() {
        return Err(Error::new(INVALID_RANGE, written));
    }
    *rest = behind;
    Ok(Some(written.to_owned()))
}

/// Translates `\pL` and `\p{Greek}`, and their negations with `\P` or a circumflex.
pub(super) fn unicode(rest: &mut &str) -> Result<Option<String>, Error> {
    let Some(text) = rest
        .strip_prefix(r"\p")
        .or_else(|| rest.strip_prefix(r"\P"))
    else {
        return Ok(None);
    };
    let (written, name) = if let Some(inner) = text.strip_prefix('{') {
        let end = inner
            .find('}')
            .ok_or_else(|| Error::new(INVALID_RANGE, rest))?;
        (&rest[..end + 4], &inner[..end])
    } else {
        let length = text.chars().next().map_or(0, char::len_utf8);
        (&rest[..length + 2], &text[..length])
    };
    let negative = rest.starts_with(r"\P") != name.starts_with('^');
    let name = name.strip_prefix('^').unwrap_or(name);
    if !is_class(name) {
        return Err(Error::new(INVALID_RANGE, written));
    }
    *rest = &rest[written.len()..];
    let sign = if negative { 'P' } else { 'p' };
    Ok(Some(format!("\\{sign}{{{name}}}")))
}

/// Whether Go has a class of this name: a short general category or a script. The crate has the same, and
/// accepts more spellings.
fn is_class(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next();
        first.is_some_and(|first| first.is_ascii_uppercase())
            && letters.all(|letter| letter.is_ascii_lowercase())
    };
    let has = |property| regex_syntax::parse(&format!(r"\p{{{property}={name}}}")).is_ok();
    let is_category = || name == "Any" || name.len() <= 2 && name != "Cn" && has("gc");
    name.split('_').all(is_word) && (is_category() || has("sc"))
}

/// `\d`, `\s`, `\w` and their opposites, as they are written inside of a class.
pub(super) fn perl(rest: &mut &str) -> Option<&'static str> {
    let class = match rest.strip_prefix('\\')?.chars().next()? {
        'd' => "0-9",
        'D' => "[^0-9]",
        's' => r"\t\n\x0C\r ",
        'S' => r"[^\t\n\x0C\r ]",
        'w' => "0-9A-Za-z_",
        'W' => "[^0-9A-Za-z_]",
        _ => return None,
    };
    *rest = &rest[2..];
    Some(class)
}

/// Translates a character or a range in a class. `whole` is the pattern from the class on.
fn range(rest: &mut &str, whole: &str) -> Result<String, Error> {
    let start = *rest;
    let low = class_character(rest, whole)?;
    let is_range = rest.len() >= 2 && rest.starts_with('-') && !rest.starts_with("-]");
    if !is_range {
        return Ok(in_class(low));
    }
    *rest = &rest[1..];
    let high = class_character(rest, whole)?;
    if high < low {
        let written = &start[..start.len() - rest.len()];
        return Err(Error::new(INVALID_RANGE, written));
    }
    Ok(format!("{}-{}", in_class(low), in_class(high)))
}

fn class_character(rest: &mut &str, whole: &str) -> Result<char, Error> {
    match rest.chars().next() {
        None => Err(Error::new(MISSING_BRACKET, whole)),
        Some('\\') => escaped(rest),
        Some(character) => {
            *rest = &rest[character.len_utf8()..];
            Ok(character)
        }
    }
}

/// Returns a character escaped for a class of the crate.
fn in_class(character: char) -> String {
    format!("\\x{{{:X}}}", u32::from(character))
}

/// Parses the escape of a character.
///
/// # Errors
/// The escape is invalid.
pub(super) fn escaped(rest: &mut &str) -> Result<char, Error> {
    let text = *rest;
    let mut letters = Letters(&text[1..]);
    let Some(letter) = letters.next() else {
        return Err(Error::new(TRAILING_BACKSLASH, ""));
    };
    let character = match letter {
        '1'..='7' if !letters.0.starts_with(|next| ('0'..='7').contains(&next)) => None,
        '0'..='7' => octal(letter, &mut letters),
        'x' => hexadecimal(&mut letters),
        'a' => Some('\u{7}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        other => (other.is_ascii() && !other.is_ascii_alphanumeric()).then_some(other),
    };
    *rest = letters.0;
    let written = &text[..text.len() - letters.0.len()];
    character.ok_or_else(|| Error::new(INVALID_ESCAPE, written))
}

/// A text under parsing.
struct Letters<'a>(&'a str);

impl Letters<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.0.chars().next()?;
        self.0 = &self.0[letter.len_utf8()..];
        Some(letter)
    }
}

fn octal(first: char, letters: &mut Letters<'_>) -> Option<char> {
    let mut value = first.to_digit(8)?;
    for _ in 0..2 {
        let next = letters.0.chars().next();
        let Some(digit) = next.and_then(|next| next.to_digit(8)) else {
            break;
        };
        letters.next();
        value = value * 8 + digit;
    }
    char::from_u32(value)
}

fn hexadecimal(letters: &mut Letters<'_>) -> Option<char> {
    let first = letters.next()?;
    if first != '{' {
        // Go reads both before it checks either.
        let second = letters.next()?;
        return char::from_u32(first.to_digit(16)? * 16 + second.to_digit(16)?);
    }
    let mut value = None;
    loop {
        match letters.next()? {
            '}' => return char::from_u32(value?),
            digit => {
                let next = value.unwrap_or(0) * 16 + digit.to_digit(16)?;
                if next > u32::from(char::MAX) {
                    return None;
                }
                value = Some(next);
            }
        }
    }
}
