//! Matching by a grammar that is data, with the errors that Consul's generated parser gives.
//!
//! Consul's parser is generated from a parsing expression grammar, and its errors follow from the grammar:
//! they list the terminals expected at the farthest place reached, or the complaints of error rules. The same
//! errors need the same attempts in the same order.
//!
//! Results of rules are memoized by place. Consul repeats them: ten nested parentheses take it half a minute.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::Hash;
use std::rc::Rc;

/// The deepest nesting of rules; a pair of parentheses takes four. Each pair takes Consul eight times as long
/// as the last (seen on 1.8.7: seven take 0.3 s), so it never answers deeper texts.
const DEEPEST: usize = 96;
/// The error for deeper texts.
const TOO_DEEP: &str = "the expression is nested too deeply";
/// The internal and the shown name of the end of the text in lists of expected terminals.
const NOT_ANY: &str = "!.";

/// A rule of a grammar.
pub(super) trait GrammarRule: Copy + Eq + Hash + 'static {
    /// The name of the rule in errors: a display name in quotes, or its own.
    fn shown(self) -> &'static str;

    /// Whether the rule is one character of a string.
    fn is_character(self) -> bool;

    /// What the rule matches.
    fn pattern(self) -> &'static Pattern<Self>;
}

/// A part of a rule.
#[derive(Debug)]
pub(super) enum Pattern<R: 'static> {
    /// These characters.
    Literal(&'static str),
    /// One character of a class, with the way in which errors show the class.
    Class(&'static str, fn(char) -> bool),
    /// Any character.
    Any,
    /// A sequence.
    Sequence(&'static [Pattern<R>]),
    /// The first alternative that matches.
    Choice(&'static [Pattern<R>]),
    /// An optional pattern.
    Optional(&'static Pattern<R>),
    /// Zero or more.
    ZeroOrMore(&'static Pattern<R>),
    /// One or more.
    OneOrMore(&'static Pattern<R>),
    /// The first as often as possible, then the second, with backtracking over the repetitions.
    Prefixed(&'static Pattern<R>, &'static Pattern<R>),
    /// Positive lookahead.
    Ahead(&'static Pattern<R>),
    /// Negative lookahead.
    NotAhead(&'static Pattern<R>),
    /// Matches, then checks the match and complains if it is invalid.
    Checked(&'static Pattern<R>, fn(&[u8]) -> bool, &'static str),
    /// Complains, and matches nothing.
    Complaint(&'static str),
    /// Another rule.
    Rule(R),
}

/// A match of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node<R> {
    pub(super) rule: R,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) children: Vec<Rc<Node<R>>>,
}

/// Parses a whole text.
///
/// # Errors
/// Consul's errors for an invalid text, line by line.
pub(super) fn parse<R: GrammarRule>(text: &[u8], rule: R) -> Result<Rc<Node<R>>, String> {
    let mut matcher = Matcher {
        text,
        rules: Vec::new(),
        inverted: false,
        too_deep: false,
        tried: HashMap::new(),
        farthest: 0,
        expected: BTreeSet::new(),
        errors: Vec::new(),
        complaints: HashSet::new(),
        counted: Counted::START,
    };
    matcher.check_encoding(0);
    let found = matcher.rule(rule, 0);
    if matcher.too_deep {
        return Err(TOO_DEEP.to_owned());
    }
    match found {
        Some(node) if matcher.errors.is_empty() => Ok(node),
        _ => Err(matcher.message()),
    }
}

/// The memoized result of a rule at a place.
type Tried<R> = Option<Rc<Node<R>>>;

struct Matcher<'a, R> {
    text: &'a [u8],
    /// The rules in progress, innermost last.
    rules: Vec<R>,
    /// Whether an odd number of [`Pattern::NotAhead`] surrounds this place.
    inverted: bool,
    too_deep: bool,
    tried: HashMap<(R, usize, bool), Tried<R>>,
    /// The farthest place at which a terminal failed.
    farthest: usize,
    /// The terminals that failed there.
    expected: BTreeSet<String>,
    errors: Vec<String>,
    /// The complaints made so far, by place: each is made once.
    complaints: HashSet<(usize, Option<R>, &'static str)>,
    counted: Counted,
}

/// The place up to which lines and columns are counted. Counting from the start for each complaint would take
/// quadratic time.
struct Counted {
    offset: usize,
    line: usize,
    column: usize,
}

impl Counted {
    const START: Self = Self {
        offset: 0,
        line: 1,
        column: 0,
    };
}

impl<R: GrammarRule> Matcher<'_, R> {
    fn rule(&mut self, rule: R, at: usize) -> Tried<R> {
        let place = (rule, at, self.inverted);
        // A single character is matched faster than its result is looked up.
        let is_kept = !rule.is_character();
        if let Some(found) = is_kept.then(|| self.tried.get(&place)).flatten() {
            return found.clone();
        }
        if self.rules.len() == DEEPEST {
            self.too_deep = true;
        }
        if self.too_deep {
            return None;
        }
        self.rules.push(rule);
        let mut children = Vec::new();
        let end = self.pattern(rule.pattern(), at, &mut children);
        self.rules.pop();
        let found = end.map(|end| {
            Rc::new(Node {
                rule,
                start: at,
                end,
                children,
            })
        });
        if is_kept {
            self.tried.insert(place, found.clone());
        }
        found
    }

    /// Returns the end of the match at `at`, and adds its rules to `nodes`.
    fn pattern(
        &mut self,
        pattern: &Pattern<R>,
        at: usize,
        nodes: &mut Vec<Rc<Node<R>>>,
    ) -> Option<usize> {
        let before = nodes.len();
        let end = match pattern {
            Pattern::Literal(literal) => self.literal(literal, at),
            Pattern::Class(shown, contains) => self.character(shown, *contains, at),
            Pattern::Any => self.character(".", |_| true, at),
            Pattern::Sequence(parts) => parts
                .iter()
                .try_fold(at, |at, part| self.pattern(part, at, nodes)),
            Pattern::Choice(choices) => choices
                .iter()
                .find_map(|choice| self.pattern(choice, at, nodes)),
            Pattern::Optional(part) => Some(self.pattern(part, at, nodes).unwrap_or(at)),
            Pattern::ZeroOrMore(part) => Some(self.repeated(part, at, nodes)),
            Pattern::OneOrMore(part) => self
                .pattern(part, at, nodes)
                .map(|first| self.repeated(part, first, nodes)),
            Pattern::Prefixed(prefix, part) => self.prefixed(prefix, part, at, nodes),
            Pattern::Ahead(part) => self.pattern(part, at, &mut Vec::new()).map(|_| at),
            Pattern::NotAhead(part) => {
                self.inverted = !self.inverted;
                let found = self.pattern(part, at, &mut Vec::new());
                self.inverted = !self.inverted;
                found.is_none().then_some(at)
            }
            Pattern::Checked(part, is_sound, complaint) => {
                let end = self.pattern(part, at, nodes);
                if end.is_some_and(|end| !is_sound(&self.text[at..end])) {
                    self.complain(complaint, at);
                }
                end
            }
            Pattern::Complaint(complaint) => {
                self.complain(complaint, at);
                None
            }
            Pattern::Rule(rule) => self.rule(*rule, at).map(|node| {
                let end = node.end;
                nodes.push(node);
                end
            }),
        };
        if end.is_none() {
            nodes.truncate(before);
        }
        end
    }

    fn repeated(&mut self, part: &Pattern<R>, first: usize, nodes: &mut Vec<Rc<Node<R>>>) -> usize {
        let mut at = first;
        while let Some(end) = self.pattern(part, at, nodes) {
            at = end;
        }
        at
    }

    fn prefixed(
        &mut self,
        prefix: &Pattern<R>,
        part: &Pattern<R>,
        at: usize,
        nodes: &mut Vec<Rc<Node<R>>>,
    ) -> Option<usize> {
        let mut starts = vec![(at, nodes.len())];
        let mut at = at;
        while let Some(end) = self.pattern(prefix, at, nodes) {
            at = end;
            starts.push((at, nodes.len()));
        }
        starts.into_iter().rev().find_map(|(at, known)| {
            nodes.truncate(known);
            self.pattern(part, at, nodes)
        })
    }

    fn literal(&mut self, literal: &str, at: usize) -> Option<usize> {
        let mut end = at;
        for wanted in literal.chars() {
            let found = self.decode(end);
            if found.is_none_or(|(character, _)| character != wanted) {
                self.failed(false, at, &shown(literal));
                return None;
            }
            end = self.take(end);
        }
        self.failed(true, at, &shown(literal));
        Some(end)
    }

    fn character(&mut self, shown: &str, contains: fn(char) -> bool, at: usize) -> Option<usize> {
        let matches = self.decode(at).is_some_and(|(found, _)| contains(found));
        self.failed(matches, at, shown);
        matches.then(|| self.take(at))
    }

    /// Records a terminal at the farthest place: a failed one, or inside of [`Pattern::NotAhead`] a matching
    /// one.
    fn failed(&mut self, matched: bool, at: usize, shown: &str) {
        if matched != self.inverted || at < self.farthest {
            return;
        }
        if at > self.farthest {
            self.farthest = at;
            self.expected.clear();
        }
        let sign = if self.inverted { "!" } else { "" };
        self.expected.insert(format!("{sign}{shown}"));
    }

    /// Returns the character at a place and its length; an invalid byte counts as one. `None` at the end.
    fn decode(&self, at: usize) -> Option<(char, usize)> {
        let rest = self.text.get(at..).filter(|rest| !rest.is_empty())?;
        let rest = &rest[..rest.len().min(4)];
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        let character = valid.chars().next();
        Some(character.map_or((char::REPLACEMENT_CHARACTER, 1), |found| {
            (found, found.len_utf8())
        }))
    }

    /// Steps over a character, and complains of the next one if it is invalid.
    fn take(&mut self, at: usize) -> usize {
        let next = at + self.decode(at).map_or(0, |(_, length)| length);
        self.check_encoding(next);
        next
    }

    fn check_encoding(&mut self, at: usize) {
        if self.decode(at) == Some((char::REPLACEMENT_CHARACTER, 1)) {
            self.complain("invalid encoding", at);
        }
    }

    fn complain(&mut self, complaint: &'static str, at: usize) {
        let rule = self.rules.last().copied();
        if !self.complaints.insert((at, rule, complaint)) {
            return;
        }
        let rule = rule.map_or_else(String::new, |rule| format!("rule {}: ", rule.shown()));
        let position = self.position(at);
        self.errors.push(format!("{position}: {rule}{complaint}"));
    }

    /// Returns `line:column (offset)`. Columns count characters, offsets count bytes, and a line end is column
    /// 0 of the next line.
    fn position(&mut self, at: usize) -> String {
        if self.counted.offset > at {
            self.counted = Counted::START;
        }
        loop {
            let found = self.decode(self.counted.offset);
            let Counted {
                offset,
                line,
                column,
            } = self.counted;
            let (line, column) = match found {
                Some(('\n', _)) => (line + 1, 0),
                _ => (line, column + 1),
            };
            match found {
                Some((_, length)) if offset < at => {
                    self.counted = Counted {
                        offset: offset + length,
                        line,
                        column,
                    };
                }
                _ => return format!("{line}:{column} ({at})"),
            }
        }
    }

    /// Returns the complaints, or else the terminals expected at the farthest place.
    fn message(mut self) -> String {
        if !self.errors.is_empty() {
            return self.errors.join("\n");
        }
        let end = self.expected.remove(NOT_ANY);
        let mut expected: Vec<&str> = self.expected.iter().map(String::as_str).collect();
        expected.extend(end.then_some("EOF"));
        let mut list = String::new();
        for (place, terminal) in expected.iter().enumerate() {
            let separator = match expected.len() - place {
                _ if place == 0 => "",
                1 => " or ",
                _ => ", ",
            };
            write!(list, "{separator}{terminal}").expect("a text takes every text");
        }
        let position = self.position(self.farthest);
        format!("{position}: no match found, expected: {list}")
    }
}

/// Returns a literal as errors show it.
fn shown(literal: &str) -> String {
    format!("\"{}\"", literal.replace('"', "\\\""))
}
