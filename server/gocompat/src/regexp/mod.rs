//! Go's `regexp`: its syntax and errors, executed by the crate `regex`, which descends from the same design.
//!
//! Patterns are parsed here, refused with Go's errors, and translated to the crate's syntax. The translation
//! spells out the differences: `\d`, `\w`, `\s` and `\b` are ASCII in Go, and `[` and `&&` are ordinary in a
//! class.

mod class;
mod group;
mod repeat;

use std::fmt;

use repeat::Item;

/// A regular expression.
#[derive(Debug)]
pub struct Regexp(regex::bytes::Regex);

/// Why a pattern is invalid. `Display` prints Go's sentence, e.g. "error parsing regexp: missing closing ]:
/// `[a`".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    problem: &'static str,
    place: String,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, place } = self;
        write!(formatter, "error parsing regexp: {problem}: `{place}`")
    }
}

impl std::error::Error for Error {}

impl Error {
    fn new(problem: &'static str, place: &str) -> Self {
        let place = place.to_owned();
        Self { problem, place }
    }
}

const MISSING_PARENTHESIS: &str = "missing closing )";
const UNEXPECTED_PARENTHESIS: &str = "unexpected )";
const TRAILING_BACKSLASH: &str = "trailing backslash at end of expression";
const INVALID_ESCAPE: &str = "invalid escape sequence";
const INVALID_UTF_8: &str = "invalid UTF-8";
/// Go's error for too large patterns. The limit here is lower.
const TOO_LARGE: &str = "expression too large";
/// The longest pattern. A byte can take the crate a kilobyte of memory.
const MAX_BYTES: usize = 64 * 1024;
/// Newer Go's error for too deep patterns. Go 1.15 accepts any depth.
const TOO_DEEP: &str = "expression nests too deeply";

/// The deepest nesting, as in newer Go: groups, alternatives, sequences and repetitions count.
const MAX_DEPTH: u32 = 1000;
/// The deepest nesting of groups that is compiled on the caller's stack. The crate recurses, with up to 25 kB
/// for each level in a debug build.
const FEW_GROUPS: usize = 3;
/// The stack for deeper patterns, three times the need. Unused stack takes no memory.
const LARGE_STACK: usize = 32 * 1024 * 1024;

impl Regexp {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Go's first error in the pattern.
    pub fn new(pattern: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(pattern).map_err(|error| {
            let rest = String::from_utf8_lossy(&pattern[error.valid_up_to()..]);
            Error::new(INVALID_UTF_8, &rest)
        })?;
        if text.len() > MAX_BYTES {
            return Err(Error::new(TOO_LARGE, text));
        }
        let translated = Translation::new(text).run()?;
        let compiled = if translated.groups > FEW_GROUPS {
            compile_on_large_stack(translated.pattern)
        } else {
            compile(&translated.pattern)
        };
        compiled
            .map(Self)
            .map_err(|problem| Error::new(problem, text))
    }

    /// Returns the first match with its groups; `None` without a match.
    pub fn groups(&self, text: &str) -> Vec<String> {
        let found = self.0.captures(text.as_bytes());
        let held = found.iter().flat_map(|found| found.iter());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        held.map(|group| group.map_or_else(String::new, |group| text(group.as_bytes())))
            .collect()
    }

    /// Whether the pattern matches anywhere in a text.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        self.0.is_match(text.as_ref())
    }
}

fn compile(translated: &str) -> Result<regex::bytes::Regex, &'static str> {
    let compiled = regex::bytes::RegexBuilder::new(translated)
        .nest_limit(MAX_DEPTH)
        .build();
    compiled.map_err(|error| match error {
        // A translated pattern is valid, so only its depth can be refused.
        regex::Error::Syntax(_) => TOO_DEEP,
        _ => TOO_LARGE,
    })
}

fn compile_on_large_stack(translated: String) -> Result<regex::bytes::Regex, &'static str> {
    let thread = std::thread::Builder::new()
        .stack_size(LARGE_STACK)
        .spawn(move || compile(&translated));
    // Without memory for the stack the pattern cannot be compiled.
    let compiled = thread.map_err(|_| TOO_DEEP)?.join();
    compiled.expect("compiling does not panic")
}

/// A pattern in the crate's syntax.
struct Translated {
    pattern: String,
    /// The deepest nesting of groups.
    groups: usize,
}

/// A pattern under translation.
struct Translation<'a> {
    whole: &'a str,
    /// The rest of the pattern.
    rest: &'a str,
    out: String,
    /// The open groups, innermost last.
    open: Vec<Level>,
    /// The most groups open at once.
    groups: usize,
    level: Level,
    /// The text from the last repetition on, if it comes directly before.
    repetition: Option<&'a str>,
}

/// The contents of an open group.
#[derive(Default)]
struct Level {
    /// The operand of a following repetition.
    last: Option<Item>,
    /// The largest product of nested repetitions in it.
    repeats: u64,
}

impl<'a> Translation<'a> {
    fn new(whole: &'a str) -> Self {
        Self {
            whole,
            rest: whole,
            out: String::new(),
            open: Vec::new(),
            groups: 0,
            level: Level::default(),
            repetition: None,
        }
    }

    fn run(mut self) -> Result<Translated, Error> {
        while let Some(first) = self.rest.chars().next() {
            let repetition = self.repetition.take();
            match first {
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '|' => {
                    self.advance(1);
                    self.out.push('|');
                    self.level.last = None;
                }
                '[' => self.class()?,
                '^' | '$' | '.' => {
                    let same = self.advance(1);
                    self.item(same);
                }
                '*' | '+' | '?' => self.operator(repetition)?,
                '{' => self.counted(repetition)?,
                '\\' => self.escape()?,
                other => {
                    self.advance(other.len_utf8());
                    self.literal(other);
                }
            }
        }
        if self.open.is_empty() {
            Ok(Translated {
                pattern: self.out,
                groups: self.groups,
            })
        } else {
            Err(Error::new(MISSING_PARENTHESIS, self.whole))
        }
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Adds an operand of repetitions.
    fn item(&mut self, translated: &str) {
        self.out.push_str(translated);
        self.level.last = Some(Item { repeats: 1 });
        self.level.repeats = self.level.repeats.max(1);
    }

    fn literal(&mut self, character: char) {
        let mut buffer = [0; 4];
        let escaped = regex::escape(character.encode_utf8(&mut buffer));
        self.item(&escaped);
    }

    fn close_group(&mut self) -> Result<(), Error> {
        let outer = self.open.pop();
        let outer = outer.ok_or_else(|| Error::new(UNEXPECTED_PARENTHESIS, self.whole))?;
        self.advance(1);
        self.out.push(')');
        let inner = std::mem::replace(&mut self.level, outer);
        let repeats = inner.repeats.max(1);
        self.level.last = Some(Item { repeats });
        self.level.repeats = self.level.repeats.max(repeats);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Error> {
        let letter = self.rest[1..].chars().next();
        match letter {
            Some('A') => self.written_as(r"\A"),
            Some('z') => self.written_as(r"\z"),
            Some('b') => self.written_as(r"(?-u:\b)"),
            Some('B') => self.written_as(r"(?-u:\B)"),
            Some('Q') => self.quoted(),
            _ => {
                if let Some(class) = class::unicode(&mut self.rest)? {
                    self.item(&class);
                } else if let Some(class) = class::perl(&mut self.rest) {
                    self.item(&format!("[{class}]"));
                } else {
                    let character = class::escaped(&mut self.rest)?;
                    self.literal(character);
                }
            }
        }
        Ok(())
    }

    /// Adds the translation of an escape of two characters.
    fn written_as(&mut self, translated: &str) {
        self.advance(2);
        self.item(translated);
    }

    /// Translates `\Q...\E`, or `\Q` up to the end.
    fn quoted(&mut self) {
        self.advance(2);
        let end = self.rest.find(r"\E");
        for character in self.advance(end.unwrap_or(self.rest.len())).chars() {
            self.literal(character);
        }
        if end.is_some() {
            self.advance(2);
        }
    }
}

#[cfg(test)]
mod tests;
