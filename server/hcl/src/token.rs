//! The tokens of HCL 1.

use super::error::{HclError, Position};

/// A token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The index of its first character.
    pub(super) start: usize,
    /// The text as written; for strings, their value.
    pub(super) text: String,
}

/// A comment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comment {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The text as written.
    pub(super) text: String,
    /// Whether it ends with its line.
    pub(super) is_of_line: bool,
}

/// The kind of a token. Errors print the names of Consul's parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    Illegal,
    Identifier,
    Number,
    Float,
    Bool,
    Text,
    Heredoc,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Assign,
    Period,
    Plus,
    Minus,
}

impl TokenKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            TokenKind::End => "EOF",
            TokenKind::Illegal => "ILLEGAL",
            TokenKind::Identifier => "IDENT",
            TokenKind::Number => "NUMBER",
            TokenKind::Float => "FLOAT",
            TokenKind::Bool => "BOOL",
            TokenKind::Text => "STRING",
            TokenKind::Heredoc => "HEREDOC",
            TokenKind::OpenBrace => "LBRACE",
            TokenKind::CloseBrace => "RBRACE",
            TokenKind::OpenBracket => "LBRACK",
            TokenKind::CloseBracket => "RBRACK",
            TokenKind::Comma => "COMMA",
            TokenKind::Assign => "ASSIGN",
            TokenKind::Period => "PERIOD",
            TokenKind::Plus => "ADD",
            TokenKind::Minus => "SUB",
        }
    }
}

/// Splits a text into tokens.
pub(super) struct Scanner {
    text: Vec<char>,
    /// The indexes at which lines start.
    lines: Vec<usize>,
    next: usize,
    /// How often the end has been read. Each time moves Consul's scanner on by a column, which errors at the end show.
    past_end: usize,
    /// What the scanner complained of last. It goes on all the same, as Consul's does, and the parser looks here first.
    complaint: Option<HclError>,
    /// The comments so far.
    comments: Vec<Comment>,
}

impl Scanner {
    pub(super) fn new(text: &str) -> Scanner {
        let text: Vec<char> = text.chars().collect();
        let ends = text
            .iter()
            .enumerate()
            .filter(|(_, letter)| **letter == '\n');
        let starts = ends.map(|(end, _)| end + 1);
        Scanner {
            lines: std::iter::once(0).chain(starts).collect(),
            text,
            next: 0,
            past_end: 0,
            complaint: None,
            comments: Vec::new(),
        }
    }

    /// Returns the index of the last character that was read.
    pub(super) fn last(&self) -> usize {
        self.next.saturating_sub(1)
    }

    /// Returns an error at the character with this index.
    pub(super) fn error_at(&self, index: usize, message: impl Into<String>) -> HclError {
        HclError::At {
            position: self.position(index),
            message: message.into(),
        }
    }

    /// Returns the position of a character. The index may be beyond the end.
    pub(super) fn position(&self, index: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= index);
        Position {
            line,
            column: index - self.lines[line - 1] + 1,
        }
    }

    /// Notes an error at the character with this index.
    pub(super) fn complain(&mut self, index: usize, message: impl Into<String>) {
        self.complaint = Some(self.error_at(index, message));
    }

    /// Returns the last error that was noted.
    pub(super) fn complaint(self) -> Option<HclError> {
        self.complaint
    }

    /// Returns the text from a character to the last one that was read.
    pub(super) fn written(&self, start: usize) -> String {
        self.text[start..self.next].iter().collect()
    }

    /// Returns the comments that were read.
    pub(super) fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// Returns the text between two characters.
    pub(super) fn text_between(&self, start: usize, end: usize) -> String {
        self.text[start..end].iter().collect()
    }

    fn note_comment(&mut self, start: usize, is_of_line: bool) {
        self.comments.push(Comment {
            start,
            end: self.next,
            text: self.written(start).trim_end_matches('\r').to_owned(),
            is_of_line,
        });
    }

    pub(super) fn scan(&mut self) -> Token {
        self.skip_blanks_and_comments();
        let start = self.next;
        let Some(first) = self.peek() else {
            self.past_end += 1;
            return Token {
                kind: TokenKind::End,
                start: start + self.past_end - 1,
                text: String::new(),
            };
        };
        let kind = match first {
            '"' => return self.string(),
            '<' if self.text.get(start + 1) == Some(&'<') => return self.heredoc(),
            '{' => TokenKind::OpenBrace,
            '}' => TokenKind::CloseBrace,
            '[' => TokenKind::OpenBracket,
            ']' => TokenKind::CloseBracket,
            ',' => TokenKind::Comma,
            '=' => TokenKind::Assign,
            '+' => TokenKind::Plus,
            '-' if self
                .text
                .get(start + 1)
                .is_none_or(|next| !next.is_ascii_digit()) =>
            {
                TokenKind::Minus
            }
            '-' | '.' | '0'..='9' => return self.number(),
            _ if first.is_alphabetic() || first == '_' => return self.identifier(),
            '\0' => {
                self.complain(start, "unexpected null character (0x00)");
                TokenKind::Illegal
            }
            _ => {
                self.complain(start, "illegal char");
                TokenKind::Illegal
            }
        };
        self.next += 1;
        self.token(kind, start)
    }

    /// Returns the index of the next character.
    pub(super) fn index(&self) -> usize {
        self.next
    }

    /// Passes a character.
    pub(super) fn advance(&mut self) {
        self.next = self.text.len().min(self.next + 1);
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.next).copied()
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&belongs) {
            self.next += 1;
        }
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token {
            kind,
            start,
            text: self.written(start),
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_while(|character| matches!(character, ' ' | '\t' | '\n' | '\r'));
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.skip_blanks();
            let start = self.next;
            match (self.peek(), self.text.get(self.next + 1)) {
                (Some('#'), _) | (Some('/'), Some('/')) => {
                    self.take_while(|character| character != '\n');
                    self.note_comment(start, true);
                    self.ran_to_end(1);
                }
                (Some('/'), Some('*')) => {
                    self.next += 2;
                    while !self.text[self.next..].starts_with(&['*', '/']) {
                        if self.next == self.text.len() {
                            return self.complain(self.next, "comment not terminated");
                        }
                        self.next += 1;
                    }
                    self.next += 2;
                    self.note_comment(start, false);
                }
                (Some('/'), _) => {
                    self.complain(self.next, "expected '/' for comment");
                    self.next += 1;
                }
                _ => return,
            }
        }
    }

    fn identifier(&mut self) -> Token {
        let start = self.next;
        let text = self.word(|character| matches!(character, '_' | '-' | '.'));
        self.ran_to_end(1);
        let kind = match &text[..] {
            "true" | "false" => TokenKind::Bool,
            _ => TokenKind::Identifier,
        };
        Token { kind, start, text }
    }

    /// Notes how often the end is read by a token that ends there.
    fn ran_to_end(&mut self, times: usize) {
        if self.next == self.text.len() {
            self.past_end += times;
        }
    }

    /// Scans letters, digits and what else belongs.
    pub(super) fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.next;
        self.take_while(|character| character.is_alphanumeric() || belongs(character));
        self.written(start)
    }

    pub(super) fn digits(&mut self) {
        self.take_while(|character| character.is_ascii_digit());
    }

    /// Scans what follows the whole part of a number.
    pub(super) fn fraction(&mut self) {
        if self.peek() == Some('.') {
            self.next += 1;
            self.digits();
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.next += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.next += 1;
            }
            self.digits();
        }
    }

    fn number(&mut self) -> Token {
        let start = self.next;
        if self.peek() == Some('-') {
            self.next += 1;
        }
        if self.text[self.next..].starts_with(&['0', 'x']) {
            self.next += 2;
            let digits = self.next;
            self.take_while(|character| character.is_ascii_hexdigit());
            if self.next == digits {
                self.complain(digits, "illegal hexadecimal number");
            }
            self.ran_to_end(1);
            return self.token(TokenKind::Number, start);
        }
        self.digits();
        let whole = self.next;
        self.fraction();
        if self.text[start..self.next] == ['.'] {
            return self.token(TokenKind::Period, start);
        }
        let kind = if self.next == whole {
            TokenKind::Number
        } else {
            TokenKind::Float
        };
        let token = self.token(kind, start);
        self.ran_to_end(match token.text.trim_start_matches('-') {
            text if text.ends_with('.') => 0,
            text if kind == TokenKind::Number && !text.starts_with('0') => 2,
            _ => 1,
        });
        token
    }

    /// Scans a string in double quotes. The text between `${` and its `}` is literal, quotes included.
    fn string(&mut self) -> Token {
        let start = self.next;
        self.next += 1;
        let mut text = String::new();
        let mut braces = 0_usize;
        loop {
            let inside = |next: &char| braces > 0 || !matches!(next, '"' | '\n');
            let Some(character) = self.peek().filter(inside) else {
                if self.peek() != Some('"') {
                    self.complain(self.next, "literal not terminated");
                }
                self.advance();
                return Token {
                    kind: TokenKind::Text,
                    start,
                    text,
                };
            };
            if character == '\\' && braces == 0 {
                match self.escape() {
                    Ok(escaped) => text.push(escaped),
                    Err(index) => self.complain(index, "illegal char escape"),
                }
                continue;
            }
            self.next += 1;
            text.push(character);
            match character {
                '$' if braces == 0 && self.peek() == Some('{') => {
                    self.next += 1;
                    text.push('{');
                    braces = 1;
                }
                '{' if braces > 0 => braces += 1,
                '}' if braces > 0 => braces -= 1,
                _ => {}
            }
        }
    }

    /// Scans an escape of Go's strings, from its backslash on.
    ///
    /// # Errors
    /// The index of what does not belong there.
    pub(super) fn escape(&mut self) -> Result<char, usize> {
        self.next += 1;
        let letter = self.peek();
        let index = self.next;
        self.advance();
        let (radix, digits) = match letter {
            Some('a') => return Ok('\u{7}'),
            Some('b') => return Ok('\u{8}'),
            Some('f') => return Ok('\u{c}'),
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some('v') => return Ok('\u{b}'),
            Some(quoted @ ('\\' | '"')) => return Ok(quoted),
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('U') => (16, 8),
            Some('0'..='7') => {
                self.next -= 1;
                (8, 3)
            }
            _ => return Err(index),
        };
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.peek().and_then(|character| character.to_digit(radix));
            let Some(digit) = digit else {
                return Err(self.next);
            };
            code = code.wrapping_mul(radix) | digit;
            self.next += 1;
        }
        match code {
            // Half of a pair is no character: Go puts the replacement.
            0xd800..0xe000 => Ok(char::REPLACEMENT_CHARACTER),
            _ => char::from_u32(code).ok_or(self.next - 1),
        }
    }

    /// Scans `<<WORD`, lines, `WORD`. With `<<-WORD` the lines lose their common indentation.
    fn heredoc(&mut self) -> Token {
        let start = self.next;
        self.next += 2;
        let indented = self.peek() == Some('-');
        if indented {
            self.next += 1;
        }
        let lines = self.heredoc_lines();
        let mut lines = lines.unwrap_or_else(|message| {
            self.complain(self.next, message);
            // What is wrong does not begin the next token.
            self.advance();
            Vec::new()
        });
        if indented {
            let margin = lines
                .iter()
                .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
                .min()
                .unwrap_or(0);
            lines
                .iter_mut()
                .for_each(|line| *line = line.split_off(margin));
        }
        let text = lines.into_iter().map(|line| line + "\n").collect();
        Token {
            kind: TokenKind::Heredoc,
            start,
            text,
        }
    }

    /// Scans the word and the lines up to it.
    ///
    /// # Errors
    /// What is wrong with the next character.
    fn heredoc_lines(&mut self) -> Result<Vec<String>, &'static str> {
        let start = self.next;
        self.take_while(|character| character.is_alphanumeric() || character == '_');
        let anchor = self.written(start);
        if self.peek() == Some('\r') {
            self.next += 1;
        }
        match self.peek() {
            Some('\n') if anchor.is_empty() => return Err("zero-length heredoc anchor"),
            Some('\n') => self.next += 1,
            None => return Err("heredoc not terminated"),
            Some(_) => return Err("invalid characters in heredoc anchor"),
        }
        let mut lines: Vec<String> = Vec::new();
        loop {
            let start = self.next;
            self.take_while(|character| character != '\n');
            let line = self.written(start);
            if self.peek().is_none() {
                return Err("heredoc not terminated");
            }
            if line.trim() == anchor {
                return Ok(lines);
            }
            self.next += 1;
            lines.push(line);
        }
    }
}
