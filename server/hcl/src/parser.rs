//! HCL's own form.

use std::collections::HashSet;

use super::error::{HclError, MAX_DEPTH, TOO_DEEP};
use super::syntax::{Item, List, Literal, LiteralKind, Name, Node, Object};
use super::token::{Scanner, Token, TokenKind};

/// How often one object may give an argument, `name = value`. Blocks may always be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Once, as spelled.
    Once,
    /// Again and again.
    Repeated,
}

/// Whether a text is read as JSON, because it begins like it.
pub fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Parses a document in HCL's own form.
///
/// # Errors
/// The error and its position, in the words of Consul's parser.
pub fn parse(text: &str, arguments: Arguments) -> Result<Vec<Item>, HclError> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        held_back: None,
        last: TokenKind::End,
        arguments,
        depth: 0,
    };
    let mut items = Vec::new();
    let read = parser.body(Until::End, &mut items);
    match parser.scanner.complaint() {
        Some(complaint) => Err(complaint),
        None => read.map(|()| items),
    }
}

/// The end of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    CloseBrace,
}

struct Parser {
    scanner: Scanner,
    /// A token that was read ahead.
    held_back: Option<Token>,
    /// The kind of the token that was read last.
    last: TokenKind,
    arguments: Arguments,
    /// The number of objects and lists around the next token.
    depth: usize,
}

impl Parser {
    fn next(&mut self) -> Token {
        let held_back = self.held_back.take();
        let token = held_back.unwrap_or_else(|| self.scanner.scan());
        self.last = token.kind;
        token
    }

    /// Parses items up to the end. Commas between them are allowed.
    fn body(&mut self, until: Until, body: &mut Vec<Item>) -> Result<(), HclError> {
        let mut given = HashSet::new();
        loop {
            let token = self.next();
            match (token.kind, until) {
                (TokenKind::End, Until::End) | (TokenKind::CloseBrace, Until::CloseBrace) => {
                    return Ok(());
                }
                (TokenKind::End, Until::CloseBrace) => {
                    // Consul's parser reads the end a second time.
                    let end = self.next();
                    return Err(self.unclosed(&end));
                }
                _ => self.held_back = Some(token),
            }
            let (names, is_argument) = self.names()?;
            // Every name but the first adds an object in a list.
            let levels = 2 * names.len().saturating_sub(1);
            self.descend(levels)?;
            let value = self.value()?;
            self.depth -= levels;
            if let [name, ..] = &names[..]
                && is_argument
                && self.arguments == Arguments::Once
                && !given.insert(name.written.clone())
            {
                return Err(HclError::Repeated {
                    argument: name.written.clone(),
                    position: name.position.expect("HCL has positions"),
                });
            }
            body.extend(value.map(|value| Item { names, value }));
            let token = self.next();
            if token.kind != TokenKind::Comma {
                self.held_back = Some(token);
            }
        }
    }

    /// Parses the names of an item, and whether a `=` follows. Consumes the `=`, but not a `{`.
    fn names(&mut self) -> Result<(Vec<Name>, bool), HclError> {
        let mut names: Vec<Name> = Vec::new();
        loop {
            let token = self.next();
            let is_argument = token.kind == TokenKind::Assign;
            match token.kind {
                TokenKind::Identifier | TokenKind::Text => {
                    names.push(Name {
                        written: self.scanner.written(token.start),
                        position: Some(self.scanner.position(token.start)),
                        text: token.text,
                    });
                    continue;
                }
                TokenKind::Assign if names.is_empty() => {
                    return Err(self.error(&token, "no object keys found!"));
                }
                TokenKind::OpenBrace if names.is_empty() => {
                    return Err(self.error(&token, "expected: IDENT | STRING got: LBRACE"));
                }
                TokenKind::Assign if names.len() > 1 => {
                    return Err(self.error(&token, "nested object expected: LBRACE got: ASSIGN"));
                }
                TokenKind::Assign => {}
                TokenKind::OpenBrace => self.held_back = Some(token),
                TokenKind::End | TokenKind::CloseBrace if !names.is_empty() => {
                    self.last = TokenKind::End;
                    let keys: Vec<&str> = names.iter().map(|name| &*name.written).collect();
                    let message = format!(
                        "key '{}' expected start of object ('{{') or assignment ('=')",
                        keys.join(" ")
                    );
                    return Err(self.error(&token, message));
                }
                other => {
                    let message = format!(
                        "expected: IDENT | STRING | ASSIGN | LBRACE got: {}",
                        other.name()
                    );
                    return Err(self.error(&token, message));
                }
            }
            return Ok((names, is_argument));
        }
    }

    /// Parses a value; `None` if the document ends instead, which Consul's parser accepts.
    fn value(&mut self) -> Result<Option<Node>, HclError> {
        let token = self.next();
        match token.kind {
            TokenKind::End => {
                self.held_back = Some(token);
                Ok(None)
            }
            TokenKind::OpenBrace => self.object().map(Some),
            TokenKind::OpenBracket => self.list(&token).map(Some),
            _ => match self.literal(&token) {
                Some(literal) => Ok(Some(literal)),
                None => {
                    let position = self.scanner.position(token.start);
                    let name = token.kind.name();
                    let message = format!("Unknown token: {position} {name} {}", token.text);
                    Err(self.error(&token, message))
                }
            },
        }
    }

    /// Enters objects or lists.
    fn descend(&mut self, levels: usize) -> Result<(), HclError> {
        self.depth += levels;
        if self.depth > MAX_DEPTH {
            return Err(self.scanner.error_at(self.scanner.last(), TOO_DEEP));
        }
        Ok(())
    }

    /// Parses the members of an object, after its brace.
    fn members(&mut self) -> Result<Node, HclError> {
        self.descend(1)?;
        let depth = self.depth;
        let mut items = Vec::new();
        match self.body(Until::CloseBrace, &mut items) {
            // A brace where a value belongs is no error if another one follows.
            Err(HclError::At { .. }) if self.last == TokenKind::CloseBrace => {
                let token = self.next();
                if token.kind != TokenKind::CloseBrace {
                    return Err(self.unclosed(&token));
                }
            }
            read => read?,
        }
        self.depth = depth - 1;
        Ok(Node::Object(Object { items }))
    }

    fn unclosed(&self, token: &Token) -> HclError {
        let name = token.kind.name();
        self.error(token, format!("object expected closing RBRACE got: {name}"))
    }

    /// Parses an object outside of lists, after its brace. It counts as a list of one, to which others are added.
    fn object(&mut self) -> Result<Node, HclError> {
        self.descend(1)?;
        let object = self.members()?;
        self.depth -= 1;
        Ok(object)
    }

    /// Parses a list, after its bracket.
    fn list(&mut self, bracket: &Token) -> Result<Node, HclError> {
        self.descend(1)?;
        let nodes = self.items()?;
        self.depth -= 1;
        Ok(Node::List(List {
            nodes,
            position: Some(self.scanner.position(bracket.start)),
        }))
    }

    fn items(&mut self) -> Result<Vec<Node>, HclError> {
        let mut items = Vec::new();
        let mut comma_needed = false;
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::CloseBracket => return Ok(items),
                TokenKind::Comma => {
                    comma_needed = false;
                    continue;
                }
                kind if comma_needed => {
                    let name = kind.name();
                    let message =
                        format!("error parsing list, expected comma or list end, got: {name}");
                    return Err(self.error(&token, message));
                }
                TokenKind::OpenBrace => {
                    let object = self.members();
                    items.push(object.map_err(|error| self.within(&token, "object", &error))?);
                }
                TokenKind::OpenBracket => {
                    let list = self.list(&token);
                    items.push(list.map_err(|error| self.within(&token, "list", &error))?);
                }
                kind => match self.literal(&token) {
                    Some(literal) => items.push(literal),
                    None => {
                        let message =
                            format!("unexpected token while parsing list: {}", kind.name());
                        return Err(self.error(&token, message));
                    }
                },
            }
            comma_needed = true;
        }
    }

    /// Returns the value of a token; `None` if it is not a literal.
    fn literal(&self, token: &Token) -> Option<Node> {
        let kind = match token.kind {
            TokenKind::Bool => LiteralKind::Bool,
            TokenKind::Number => LiteralKind::Number,
            TokenKind::Float => LiteralKind::Float,
            TokenKind::Text | TokenKind::Heredoc => LiteralKind::Text,
            _ => return None,
        };
        Some(Node::Literal(Literal {
            kind,
            text: token.text.clone(),
            position: Some(self.scanner.position(token.start)),
        }))
    }

    /// Returns the error about something in a list.
    fn within(&self, token: &Token, what: &str, error: &HclError) -> HclError {
        let message = format!("error while trying to parse {what} within list: {error}");
        self.error(token, message)
    }

    fn error(&self, token: &Token, message: impl Into<String>) -> HclError {
        self.scanner.error_at(token.start, message)
    }
}
