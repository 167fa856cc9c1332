//! HCL 1, the language of Consul's configuration files.
//!
//! The `hcl` crates read HCL 2, another language: it refuses `acl { enabled = true default_policy = "deny" }` on one
//! line and quoted names, both of which Consul's users write. Grammar and error texts were observed on 1.8.7.

mod token;

use std::collections::BTreeMap;
use std::fmt;

use self::token::{Scanner, Token, TokenKind};
use crate::cli::document::tree::{JsonNumbers, MAX_DEPTH, TOO_DEEP, Tree};

/// Why a text is not valid HCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HclError {
    /// An error at a position; both numbers count from 1.
    At {
        line: usize,
        column: usize,
        message: String,
    },
    /// A number that is invalid or too large.
    Number(String),
    /// The text begins like JSON, but is invalid.
    Json(String),
}

impl fmt::Display for HclError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HclError::At {
                line,
                column,
                message,
            } => write!(formatter, "At {line}:{column}: {message}"),
            HclError::Number(message) | HclError::Json(message) => formatter.write_str(message),
        }
    }
}

/// Parses a document.
///
/// # Errors
/// The error and its position, in the words of Consul's parser.
pub(crate) fn parse(text: &str) -> Result<Tree, HclError> {
    if text.trim_start().starts_with('{') {
        return Tree::from_json(text, JsonNumbers::Integers).map_err(HclError::Json);
    }
    let mut parser = Parser {
        scanner: Scanner::new(text),
        held_back: None,
        depth: 0,
    };
    let body = parser.body(Until::End)?;
    Ok(Tree::Object(body))
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
    /// The number of objects and lists around the next token.
    depth: usize,
}

impl Parser {
    fn next(&mut self) -> Result<Token, HclError> {
        match self.held_back.take() {
            Some(token) => Ok(token),
            None => self.scanner.scan(),
        }
    }

    /// Parses items up to the end. Commas between them are allowed.
    fn body(&mut self, until: Until) -> Result<BTreeMap<String, Tree>, HclError> {
        let mut body = BTreeMap::new();
        loop {
            let token = self.next()?;
            match (token.kind, until) {
                (TokenKind::End, Until::End) | (TokenKind::CloseBrace, Until::CloseBrace) => {
                    return Ok(body);
                }
                (TokenKind::End, Until::CloseBrace) => {
                    // Consul's parser reports the position after the end.
                    let message = "object expected closing RBRACE got: EOF";
                    return Err(self.scanner.error_at(token.start + 1, message));
                }
                _ => self.held_back = Some(token),
            }
            let names = self.names()?;
            // Every name but the first adds an object in a list.
            let levels = 2 * names.len().saturating_sub(1);
            self.descend(levels)?;
            let value = self.value()?;
            self.depth -= levels;
            if let Some(value) = value {
                insert(&mut body, &names, value);
            }
            let token = self.next()?;
            if token.kind != TokenKind::Comma {
                self.held_back = Some(token);
            }
        }
    }

    /// Parses the names of an item. Consumes the `=` behind them, but not a `{`.
    fn names(&mut self) -> Result<Vec<String>, HclError> {
        let mut names: Vec<Token> = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                TokenKind::Identifier | TokenKind::Text => {
                    names.push(token);
                    continue;
                }
                TokenKind::Assign | TokenKind::OpenBrace if names.is_empty() => {
                    return Err(self.error(&token, "no object keys found!"));
                }
                TokenKind::Assign if names.len() > 1 => {
                    return Err(self.error(&token, "nested object expected: LBRACE got: ASSIGN"));
                }
                TokenKind::Assign => {}
                TokenKind::OpenBrace => self.held_back = Some(token),
                TokenKind::End | TokenKind::CloseBrace if !names.is_empty() => {
                    let keys: Vec<String> = names.iter().map(as_written).collect();
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
            return Ok(names.into_iter().map(|name| name.text).collect());
        }
    }

    /// Parses a value; `None` if the document ends instead, which Consul's parser accepts.
    fn value(&mut self) -> Result<Option<Tree>, HclError> {
        let token = self.next()?;
        match token.kind {
            TokenKind::End => {
                self.held_back = Some(token);
                Ok(None)
            }
            TokenKind::OpenBrace => self.object().map(Some),
            TokenKind::OpenBracket => self.list().map(Some),
            _ => match literal(&token)? {
                Some(literal) => Ok(Some(literal)),
                None => {
                    let (line, column) = self.scanner.position(token.start);
                    let name = token.kind.name();
                    let message = format!("Unknown token: {line}:{column} {name} {}", token.text);
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
    fn members(&mut self) -> Result<Tree, HclError> {
        self.descend(1)?;
        let members = self.body(Until::CloseBrace)?;
        self.depth -= 1;
        Ok(Tree::Object(members))
    }

    /// Parses an object, after its brace, into a list of one, to which blocks of the same name are appended.
    fn object(&mut self) -> Result<Tree, HclError> {
        self.descend(1)?;
        let object = Tree::List(vec![self.members()?]);
        self.depth -= 1;
        Ok(object)
    }

    /// Parses a list, after its bracket.
    fn list(&mut self) -> Result<Tree, HclError> {
        self.descend(1)?;
        let items = self.items()?;
        self.depth -= 1;
        Ok(Tree::List(items))
    }

    fn items(&mut self) -> Result<Vec<Tree>, HclError> {
        let mut items = Vec::new();
        let mut comma_needed = false;
        loop {
            let token = self.next()?;
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
                TokenKind::OpenBrace => items.push(self.members()?),
                TokenKind::OpenBracket => items.push(self.list()?),
                kind => match literal(&token)? {
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

    fn error(&self, token: &Token, message: impl Into<String>) -> HclError {
        self.scanner.error_at(token.start, message)
    }
}

/// Returns a name as written: with quotes if it had them.
fn as_written(name: &Token) -> String {
    match name.kind {
        TokenKind::Text => format!("\"{}\"", name.text),
        _ => name.text.clone(),
    }
}

/// Returns the value of a token; `None` if it is not a literal.
fn literal(token: &Token) -> Result<Option<Tree>, HclError> {
    Ok(Some(match token.kind {
        TokenKind::Bool => Tree::Bool(token.text == "true"),
        TokenKind::Text | TokenKind::Heredoc => Tree::Text(token.text.clone()),
        TokenKind::Number => Tree::Integer(integer(&token.text)?),
        TokenKind::Float => {
            let number: Option<f64> = token.text.parse().ok();
            let error = |problem: &str| {
                HclError::Number(format!(
                    "strconv.ParseFloat: parsing \"{}\": {problem}",
                    token.text
                ))
            };
            match number {
                None => return Err(error("invalid syntax")),
                Some(number) if number.is_infinite() => return Err(error("value out of range")),
                Some(number) => Tree::Float(number),
            }
        }
        _ => return Ok(None),
    }))
}

/// Parses a whole number: hexadecimal after `0x`, octal after another `0`, else decimal.
fn integer(text: &str) -> Result<i64, HclError> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).map_err(|error| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let problem = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        HclError::Number(format!("strconv.ParseInt: parsing \"{text}\": {problem}"))
    })
}

/// Inserts an item into a body. Objects and lists of the same name are joined; any other value replaces the former.
fn insert(body: &mut BTreeMap<String, Tree>, names: &[String], value: Tree) {
    let Some((first, labels)) = names.split_first() else {
        return;
    };
    let value = labels.iter().rev().fold(value, |inner, label| {
        Tree::List(vec![Tree::Object(BTreeMap::from([(label.clone(), inner)]))])
    });
    match (body.get_mut(first), value) {
        (Some(Tree::List(former)), Tree::List(items)) => former.extend(items),
        (_, value) => {
            body.insert(first.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests;
