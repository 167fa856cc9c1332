//! JSON as the reader of HCL 1 takes it: much that is no JSON passes, texts that end early among it.
//!
//! Rules of ACLs are read so. Configuration in JSON is read as Go reads it. Observed on 1.8.7 (acl.md 9.4, 9.5).

use super::error::{HclError, MAX_DEPTH, TOO_DEEP};
use super::syntax::{Item, List, Literal, LiteralKind, Name, Node, Object};
use super::token::Scanner;

/// Parses a document. What follows its object is not looked at.
///
/// # Errors
/// The error in the words of HCL's reader.
pub fn parse(text: &str) -> Result<Vec<Item>, HclError> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        token: Token {
            kind: Kind::End,
            start: 0,
            text: String::new(),
        },
        depth: 0,
    };
    parser.scan();
    let object = parser.object();
    // The scanner's last complaint comes before what the parser says.
    match (parser.scanner.complaint(), object) {
        (Some(HclError::At { position, message }), _) => {
            Err(HclError::Scanned { position, message })
        }
        (Some(complaint), _) => Err(complaint),
        (None, Err(Stop::Error(message))) => Err(HclError::Plain(message)),
        (None, Err(Stop::End)) => Ok(Vec::new()),
        (None, Ok(mut items)) => {
            flatten(&mut items);
            Ok(items)
        }
    }
}

struct Token {
    kind: Kind,
    start: usize,
    /// The text as written; for strings, their value.
    text: String,
}

/// The kind of a token. Errors print the names of HCL's reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    End,
    Illegal,
    Text,
    Number,
    Float,
    Bool,
    Null,
    Comma,
    Colon,
    Period,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::End => "EOF",
            Kind::Illegal => "ILLEGAL",
            Kind::Text => "STRING",
            Kind::Number => "NUMBER",
            Kind::Float => "FLOAT",
            Kind::Bool => "BOOL",
            Kind::Null => "NULL",
            Kind::Comma => "COMMA",
            Kind::Colon => "COLON",
            Kind::Period => "PERIOD",
            Kind::OpenBrace => "LBRACE",
            Kind::CloseBrace => "RBRACE",
            Kind::OpenBracket => "LBRACK",
            Kind::CloseBracket => "RBRACK",
        }
    }
}

/// Why an item was not read.
enum Stop {
    /// The text ended, which is no error.
    End,
    Error(String),
}

struct Parser {
    scanner: Scanner,
    /// The last token that was read.
    token: Token,
    /// The number of objects around the next token.
    depth: usize,
}

impl Parser {
    /// Reads the next token.
    fn scan(&mut self) -> Kind {
        self.scanner.skip_blanks();
        let start = self.scanner.index();
        let mut value = None;
        let kind = match self.scanner.peek() {
            None => Kind::End,
            Some(first) if first.is_alphabetic() || first == '_' => self.word(),
            Some('"') => {
                value = Some(self.string());
                Kind::Text
            }
            Some('-' | '.' | '0'..='9') => self.number(),
            Some(first) => {
                self.scanner.advance();
                match first {
                    '{' => Kind::OpenBrace,
                    '}' => Kind::CloseBrace,
                    '[' => Kind::OpenBracket,
                    ']' => Kind::CloseBracket,
                    ',' => Kind::Comma,
                    ':' => Kind::Colon,
                    other => {
                        self.scanner
                            .complain(start, format!("illegal char: {other}"));
                        Kind::Illegal
                    }
                }
            }
        };
        let text = value.unwrap_or_else(|| self.scanner.written(start));
        self.token = Token { kind, start, text };
        kind
    }

    /// Scans `true`, `false`, `null`, or what is nothing.
    fn word(&mut self) -> Kind {
        let word = self
            .scanner
            .word(|character| matches!(character, '_' | '-'));
        match &word[..] {
            "true" | "false" => Kind::Bool,
            "null" => Kind::Null,
            _ => {
                // At its last letter, or at the end of the text.
                let at_end = self.scanner.peek().is_none();
                let index = self.scanner.index();
                self.scanner
                    .complain(if at_end { index } else { index - 1 }, "illegal char");
                Kind::Illegal
            }
        }
    }

    /// Scans a number. Digits may be missing nearly everywhere.
    fn number(&mut self) -> Kind {
        let start = self.scanner.index();
        if self.scanner.peek() == Some('-') {
            self.scanner.advance();
            if !self
                .scanner
                .peek()
                .is_some_and(|next| next.is_ascii_digit())
            {
                self.scanner.complain(start, "illegal char");
                return Kind::Illegal;
            }
        }
        let whole = self.scanner.index();
        self.scanner.digits();
        let after = self.scanner.index();
        self.scanner.fraction();
        if self.scanner.index() == after && self.scanner.written(whole).starts_with('0') {
            // The complaint names the last digit; at the end of the text, where a lone zero is one too many, the place
            // after the next.
            if self.scanner.peek().is_none() {
                self.too_many_zeros(after + 1);
            } else if after - whole > 1 {
                self.too_many_zeros(after - 1);
            }
        }
        match &self.scanner.written(start)[..] {
            "." => Kind::Period,
            _ if self.scanner.index() > after => Kind::Float,
            _ => Kind::Number,
        }
    }

    fn too_many_zeros(&mut self, index: usize) {
        self.scanner.complain(index, "numbers cannot start with 0");
    }

    /// Scans a string and returns its value.
    fn string(&mut self) -> String {
        self.scanner.advance();
        let mut text = String::new();
        loop {
            match self.scanner.peek() {
                None | Some('\n') => {
                    let end = self.scanner.index();
                    self.scanner.complain(end, "literal not terminated");
                    self.scanner.advance();
                    return text;
                }
                Some('\\') => match self.scanner.escape() {
                    Ok(character) => text.push(character),
                    Err(index) => self.scanner.complain(index, "illegal char escape"),
                },
                Some(character) => {
                    self.scanner.advance();
                    if character == '"' {
                        return text;
                    }
                    text.push(character);
                }
            }
        }
    }

    /// Parses an object, after its brace. A `}` that comes too early ends it, and the item before it is left out.
    fn object(&mut self) -> Result<Vec<Item>, Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Stop::Error(TOO_DEEP.to_owned()));
        }
        let mut items = Vec::new();
        loop {
            match self.item() {
                Ok(item) => items.push(item),
                Err(Stop::End) => break,
                Err(Stop::Error(_)) if self.token.kind == Kind::CloseBrace => break,
                Err(error) => return Err(error),
            }
            if self.scan() != Kind::Comma {
                break;
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn item(&mut self) -> Result<Item, Stop> {
        let mut names = Vec::new();
        loop {
            match self.scan() {
                Kind::End => return Err(Stop::End),
                Kind::Text => names.push(Name {
                    text: std::mem::take(&mut self.token.text),
                    written: String::new(),
                    position: None,
                }),
                Kind::Colon if !names.is_empty() => break,
                other => {
                    let message = format!("expected: STRING got: {}", other.name());
                    return Err(Stop::Error(message));
                }
            }
        }
        let value = self.value()?;
        Ok(Item { names, value })
    }

    fn value(&mut self) -> Result<Node, Stop> {
        let kind = self.scan();
        match kind {
            Kind::End => Err(Stop::End),
            Kind::OpenBrace => Ok(Node::Object(Object {
                items: self.object()?,
            })),
            Kind::OpenBracket => self.list(),
            _ => self.literal().ok_or_else(|| {
                let position = self.scanner.position(self.token.start);
                let Token { text, .. } = &self.token;
                let name = kind.name();
                Stop::Error(format!(
                    "Expected object value, got unknown token: {position} {name} {text}"
                ))
            }),
        }
    }

    fn literal(&mut self) -> Option<Node> {
        let kind = match self.token.kind {
            Kind::Text => LiteralKind::Text,
            Kind::Number => LiteralKind::Number,
            Kind::Float => LiteralKind::Float,
            Kind::Bool => LiteralKind::Bool,
            Kind::Null => {
                self.token.text.clear();
                LiteralKind::Text
            }
            _ => return None,
        };
        Some(Node::Literal(Literal {
            kind,
            text: std::mem::take(&mut self.token.text),
            position: None,
        }))
    }

    /// Parses a list, after its bracket. Commas, `true`, `false` and further opening brackets count for nothing.
    fn list(&mut self) -> Result<Node, Stop> {
        let mut nodes = Vec::new();
        loop {
            match self.scan() {
                Kind::Comma | Kind::Bool | Kind::OpenBracket => {}
                Kind::CloseBracket => break,
                Kind::OpenBrace => nodes.push(Node::Object(Object {
                    items: self.object()?,
                })),
                Kind::Text | Kind::Number | Kind::Float => nodes.extend(self.literal()),
                other => {
                    let name = other.name();
                    let message = format!("unexpected token while parsing list: {name}");
                    return Err(Stop::Error(message));
                }
            }
        }
        Ok(Node::List(List {
            nodes,
            position: None,
        }))
    }
}

/// Turns objects of objects and lists of objects into what blocks with labels are in HCL: `{"a": {"b": {"c": 1}}}` into
/// `a "b" { c = 1 }`. An object or list with any other member stays, and the same is done inside.
fn flatten(items: &mut Vec<Item>) {
    let mut flat = Vec::with_capacity(items.len());
    // The items that are yet to be looked at, the next one last.
    let mut left: Vec<Item> = std::mem::take(items).into_iter().rev().collect();
    while let Some(item) = left.pop() {
        match item.value {
            Node::Object(object) if are_objects(object.items.iter().map(|item| &item.value)) => {
                let inner = object.items.into_iter().rev();
                left.extend(inner.map(|inner| Item {
                    names: item.names.iter().cloned().chain(inner.names).collect(),
                    value: inner.value,
                }));
            }
            Node::List(list) if are_objects(list.nodes.iter()) => {
                let nodes = list.nodes.into_iter().rev();
                left.extend(nodes.map(|value| Item {
                    names: item.names.clone(),
                    value,
                }));
            }
            _ => flat.push(item),
        }
    }
    for item in &mut flat {
        match &mut item.value {
            Node::Object(object) => flatten(&mut object.items),
            Node::List(list) => list.nodes.iter_mut().for_each(|node| {
                if let Node::Object(object) = node {
                    flatten(&mut object.items);
                }
            }),
            Node::Literal(_) => {}
        }
    }
    *items = flat;
}

/// Whether all of some values, at least one, are objects.
fn are_objects<'a>(mut nodes: impl ExactSizeIterator<Item = &'a Node>) -> bool {
    nodes.len() > 0 && nodes.all(|node| matches!(node, Node::Object(_)))
}
