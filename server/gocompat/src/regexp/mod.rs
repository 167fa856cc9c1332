//! Go's `regexp`: its syntax and its errors, on the machine of the crate `regex`, which is a sibling.
//!
//! Go's syntax is read here, refused in Go's words, and written anew in the crate's. What they both have and mean
//! differently is written out: `\d`, `\w`, `\s` and `\b` are ASCII in Go, `[` and `&&` mean nothing in a class.

mod class;
mod group;
mod repeat;

use std::fmt;

use repeat::Item;

/// A regular expression.
#[derive(Debug)]
pub struct Regexp(regex::bytes::Regex);

/// What is wrong with a pattern. Prints Go's sentence, e.g. "error parsing regexp: missing closing ]: `[a`".
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
/// What Go's parser says of patterns that are too large. Here they need not be as large as there.
const TOO_LARGE: &str = "expression too large";
/// How long a pattern may be: the crate takes a kilobyte of memory for some of the bytes.
const MAX_BYTES: usize = 64 * 1024;
/// What newer Go says of patterns that are nested too deeply; Go 1.15 takes any depth.
const TOO_DEEP: &str = "expression nests too deeply";

/// How deep a pattern may be nested, as in newer Go: groups, alternatives, sequences and repetitions each count.
const MAX_DEPTH: u32 = 1000;
/// How many groups within each other are compiled where the caller is. The crate goes down the stack for each, and takes
/// up to 25 kB of it in a build that is not optimized.
const FEW_GROUPS: usize = 3;
/// The stack on which the others are compiled, three times as large as they need. Only what is used of it takes memory.
const LARGE_STACK: usize = 32 * 1024 * 1024;

impl Regexp {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What Go finds wrong first.
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

    /// What the pattern and its groups hold where it is found first; nothing where it is not found.
    pub fn groups(&self, text: &str) -> Vec<String> {
        let found = self.0.captures(text.as_bytes());
        let held = found.iter().flat_map(|found| found.iter());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        held.map(|group| group.map_or_else(String::new, |group| text(group.as_bytes())))
            .collect()
    }

    /// Whether the pattern is found anywhere in a text.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        self.0.is_match(text.as_ref())
    }
}

fn compile(translated: &str) -> Result<regex::bytes::Regex, &'static str> {
    let compiled = regex::bytes::RegexBuilder::new(translated)
        .nest_limit(MAX_DEPTH)
        .build();
    compiled.map_err(|error| match error {
        // What is translated is sound, so that its depth is all that its syntax can be refused for.
        regex::Error::Syntax(_) => TOO_DEEP,
        _ => TOO_LARGE,
    })
}

fn compile_on_large_stack(translated: String) -> Result<regex::bytes::Regex, &'static str> {
    let thread = std::thread::Builder::new()
        .stack_size(LARGE_STACK)
        .spawn(move || compile(&translated));
    // A machine that has no such stack cannot compile the pattern.
    let compiled = thread.map_err(|_| TOO_DEEP)?.join();
    compiled.expect("compiling does not panic")
}

/// A pattern as the crate takes it.
struct Translated {
    pattern: String,
    /// How many groups there are within each other at most.
    groups: usize,
}

/// A pattern under translation.
struct Translation<'a> {
    whole: &'a str,
    /// What is not translated yet.
    rest: &'a str,
    out: String,
    /// The groups that are open, the innermost last: what they hold so far.
    open: Vec<Level>,
    /// How many of them there were at most.
    groups: usize,
    level: Level,
    /// The text from the repetition that was translated last, if nothing came since.
    repetition: Option<&'a str>,
}

/// A group's contents so far.
#[derive(Default)]
struct Level {
    /// What a repetition would be of.
    last: Option<Item>,
    /// The largest number of repetitions of anything in it.
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

    /// Something that can be repeated.
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

    /// An escape of two characters that the crate writes like this.
    fn written_as(&mut self, translated: &str) {
        self.advance(2);
        self.item(translated);
    }

    /// `\Q...\E`, or to the end.
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
