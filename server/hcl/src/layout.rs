//! Documents laid out anew, as HCL 1's printer does: two spaces, a blank line between items, comments kept.
//!
//! All of it was observed on 1.8.7, whose `acl/rules/translate` shows it (acl.md 8.5.r4).

use super::error::HclError;
use super::json;
use super::parser::{Arguments, is_json, parse};
use super::syntax::{Item, LiteralKind, Node};
use super::token::{Comment, Scanner, Token, TokenKind};
use proconsul_gocompat::quote::Quoted;

/// Returns a document in HCL, laid out anew. Its items have other names where `rename` says so.
///
/// # Errors
/// The error in the words of Consul's parsers.
pub fn laid_out(
    text: &str,
    rename: impl Fn(&str) -> Option<&'static str>,
) -> Result<String, HclError> {
    let mut body = if is_json(text) {
        Body::of_json(&json::parse(text)?, false, &rename)
    } else {
        // The reader says what is wrong; what follows takes a text that it has read.
        parse(text, Arguments::Repeated)?;
        Reader::new(text).body()
    };
    for entry in &mut body.entries {
        if let Some(name) = rename(entry.names[0].trim_matches('"')) {
            name.clone_into(&mut entry.names[0]);
        }
    }
    let mut out = String::new();
    body.print_document(&mut out);
    Ok(out)
}

/// The items of a document or of an object.
#[derive(Default)]
struct Body {
    entries: Vec<Entry>,
    /// The comments behind the last item.
    comments: Vec<String>,
}

struct Entry {
    /// The comments before it that are not of it.
    apart: Vec<String>,
    /// The comment that ends on the line before it.
    lead: Option<String>,
    /// The comment behind it on its line.
    trail: Option<String>,
    names: Vec<String>,
    is_argument: bool,
    value: Value,
    /// The lines of its first and its last token; both 0 in JSON.
    lines: (usize, usize),
}

enum Value {
    /// Anything without parts, as it is written.
    Written(String),
    /// A list, and whether it takes lines of its own.
    List(Vec<Entry>, bool),
    Object(Body),
}

struct Reader {
    scanner: Scanner,
    token: Token,
    /// The end of the token before.
    last_end: usize,
    /// The number of comments that belong to what was read.
    used: usize,
}

impl Reader {
    fn new(text: &str) -> Self {
        let mut scanner = Scanner::new(text);
        let token = scanner.scan();
        Self {
            scanner,
            token,
            last_end: 0,
            used: 0,
        }
    }

    fn advance(&mut self) {
        self.last_end = self.scanner.index();
        self.token = self.scanner.scan();
    }

    fn line(&self) -> usize {
        self.scanner.position(self.token.start).line
    }

    fn last_line(&self) -> usize {
        self.scanner.position(self.last_end.saturating_sub(1)).line
    }

    /// Takes the comments before the next token: those apart, and the one that ends on the line before it.
    fn comments(&mut self) -> (Vec<String>, Option<String>) {
        let comments = self.scanner.comments();
        let line_of = |index| self.scanner.position(index).line;
        let mut groups: Vec<(String, usize)> = Vec::new();
        let before = |comment: &&Comment| comment.start < self.token.start;
        for comment in comments.iter().skip(self.used).take_while(before) {
            self.used += 1;
            let (first, last) = (
                line_of(comment.start),
                line_of(comment.end.saturating_sub(1)),
            );
            match groups.last_mut() {
                Some((text, end)) if *end + 1 == first => {
                    *text = format!("{text}\n{}", comment.text);
                    *end = last;
                }
                _ => groups.push((comment.text.clone(), last)),
            }
        }
        let line = self.line();
        let lead = groups.pop_if(|(_, end)| *end + 1 == line && self.token.kind != TokenKind::End);
        let apart = groups.into_iter().map(|(text, _)| text).collect();
        (apart, lead.map(|(text, _)| text))
    }

    /// Takes the comment behind the last token, if it is on its line.
    fn trail(&mut self) -> Option<String> {
        let line = self.last_line();
        let comment = self.scanner.comments().get(self.used)?;
        let is_behind = comment.start >= self.last_end
            && comment.start < self.token.start
            && self.scanner.position(comment.start).line == line
            && comment.is_of_line;
        let text = comment.text.clone();
        self.used += usize::from(is_behind);
        is_behind.then_some(text)
    }

    fn body(&mut self) -> Body {
        let mut body = Body::default();
        loop {
            let (apart, lead) = self.comments();
            if matches!(self.token.kind, TokenKind::End | TokenKind::CloseBrace) {
                body.comments = apart.into_iter().chain(lead).collect();
                return body;
            }
            let first = self.line();
            let mut names = Vec::new();
            while matches!(self.token.kind, TokenKind::Identifier | TokenKind::Text) {
                names.push(
                    self.scanner
                        .text_between(self.token.start, self.scanner.index()),
                );
                self.advance();
            }
            let is_argument = self.token.kind == TokenKind::Assign;
            if is_argument {
                self.advance();
            }
            let value = self.value();
            let lines = (first, self.last_line());
            if self.token.kind == TokenKind::Comma {
                self.advance();
            }
            // An argument without a value, at the end, is not printed. Nothing else is without names or a value.
            let Some(value) = value.filter(|_| !names.is_empty()) else {
                if matches!(self.token.kind, TokenKind::End | TokenKind::CloseBrace) {
                    continue;
                }
                self.advance();
                continue;
            };
            body.entries.push(Entry {
                apart,
                lead,
                trail: self.trail(),
                names,
                is_argument,
                value,
                lines,
            });
        }
    }

    fn value(&mut self) -> Option<Value> {
        match self.token.kind {
            TokenKind::End | TokenKind::CloseBrace => None,
            TokenKind::OpenBrace => {
                self.advance();
                let body = self.body();
                self.advance();
                Some(Value::Object(body))
            }
            TokenKind::OpenBracket => Some(self.list()),
            _ => {
                let written = self
                    .scanner
                    .text_between(self.token.start, self.scanner.index());
                self.advance();
                Some(Value::Written(written))
            }
        }
    }

    fn list(&mut self) -> Value {
        let line = self.line();
        self.advance();
        let mut entries = Vec::new();
        loop {
            let (apart, lead) = self.comments();
            let first = self.line();
            match self.token.kind {
                TokenKind::CloseBracket | TokenKind::End => break,
                TokenKind::Comma => {
                    self.advance();
                    continue;
                }
                _ => {}
            }
            let Some(value) = self.value() else { break };
            let lines = (first, self.last_line());
            if self.token.kind == TokenKind::Comma {
                self.advance();
            }
            entries.push(Entry {
                apart,
                lead,
                trail: self.trail(),
                names: Vec::new(),
                is_argument: false,
                value,
                lines,
            });
        }
        self.advance();
        let is_long = entries
            .iter()
            .any(|entry| entry.lines != (line, line) || matches!(entry.value, Value::Object(_)));
        Value::List(entries, is_long)
    }
}

impl Body {
    /// Returns what a JSON document says. Its names keep their quotes, but for what its rules are about.
    fn of_json(
        items: &[Item],
        is_rule: bool,
        rename: &impl Fn(&str) -> Option<&'static str>,
    ) -> Body {
        let entries = items.iter().map(|item| {
            let mut names: Vec<String> = item.names.iter().map(|name| quoted(&name.text)).collect();
            if is_rule && item.names[0].text == "policy" {
                "policy".clone_into(&mut names[0]);
            }
            let renamed = rename(&item.names[0].text).is_some();
            let is_block = names.len() > 1 && matches!(item.value, Node::Object(_));
            Entry::of_json(
                names,
                !is_block,
                Value::of_json(&item.value, renamed, rename),
            )
        });
        Body {
            entries: entries.collect(),
            comments: Vec::new(),
        }
    }

    /// Prints a document: an empty line between all items but blocks without members on neighbouring lines.
    fn print_document(&self, out: &mut String) {
        let mut before: Option<&Entry> = None;
        for entry in &self.entries {
            let is_bare = |entry: &Entry| {
                !entry.is_argument
                    && entry.is_empty()
                    && entry.lead.is_none()
                    && entry.apart.is_empty()
            };
            if let Some(before) = before {
                let joins = is_bare(before) && is_bare(entry) && entry.follows(before);
                out.push_str(if joins { "\n" } else { "\n\n" });
            }
            entry.print_apart(0, out);
            entry.print(0, entry.names.join(" ").len(), entry.is_argument, out);
            before = Some(entry);
        }
        for (place, comment) in self.comments.iter().enumerate() {
            if place > 0 || before.is_some() {
                out.push_str("\n\n");
            }
            out.push_str(comment);
        }
        if !self.comments.is_empty() {
            out.push('\n');
        }
    }

    /// Prints the members of an object. Items of one line on neighbouring lines are a group, whose `=` are aligned.
    fn print_members(&self, depth: usize, out: &mut String) {
        let mut left = &self.entries[..];
        let mut is_first = true;
        while let Some(first) = left.first() {
            let pairs = left.windows(2);
            let joined = pairs.take_while(|pair| {
                let bare = pair[1].lead.is_none() && pair[1].apart.is_empty();
                bare && pair[0].is_short() && pair[1].is_short() && pair[1].follows(&pair[0])
            });
            let (group, rest) = left.split_at(1 + joined.count());
            if !is_first {
                out.push('\n');
            }
            is_first = false;
            first.print_apart(depth, out);
            let longest = group.iter().map(|entry| entry.names.join(" ").len()).max();
            for entry in group {
                let has_sign = entry.is_argument || group.len() > 1;
                indent(depth, out);
                entry.print(depth, longest.unwrap_or(0), has_sign, out);
                out.push('\n');
            }
            left = rest;
        }
        for comment in &self.comments {
            if !is_first {
                out.push('\n');
            }
            is_first = false;
            indent(depth, out);
            out.push_str(&indented(comment, depth));
            out.push('\n');
        }
    }
}

impl Value {
    fn of_json(
        node: &Node,
        is_rule: bool,
        rename: &impl Fn(&str) -> Option<&'static str>,
    ) -> Value {
        match node {
            Node::Literal(literal) if literal.kind == LiteralKind::Text => {
                Value::Written(quoted(&literal.text))
            }
            Node::Literal(literal) => Value::Written(literal.text.clone()),
            Node::Object(object) => Value::Object(Body::of_json(&object.items, is_rule, rename)),
            Node::List(list) => {
                let values = list.nodes.iter();
                let values = values.map(|node| Value::of_json(node, is_rule, rename));
                let is_object = |node: &Node| matches!(node, Node::Object(_));
                let entries = values.map(|value| Entry::of_json(Vec::new(), false, value));
                Value::List(entries.collect(), list.nodes.iter().any(is_object))
            }
        }
    }

    fn print(&self, depth: usize, out: &mut String) {
        match self {
            Value::Written(text) => out.push_str(text),
            Value::Object(body) if body.entries.is_empty() && body.comments.is_empty() => {
                out.push_str("{}");
            }
            Value::Object(body) => {
                out.push_str("{\n");
                body.print_members(depth + 1, out);
                indent(depth, out);
                out.push('}');
            }
            Value::List(entries, false) => {
                out.push('[');
                for (place, entry) in entries.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    entry.value.print(depth, out);
                }
                out.push(']');
            }
            Value::List(entries, true) => {
                out.push_str("[\n");
                for (place, entry) in entries.iter().enumerate() {
                    if place > 0 && entry.lead.is_some() {
                        out.push('\n');
                    }
                    entry.print_apart(depth + 1, out);
                    indent(depth + 1, out);
                    entry.print_lead(depth + 1, out);
                    entry.value.print(depth + 1, out);
                    out.push(',');
                    entry.print_trail(out);
                    out.push('\n');
                }
                indent(depth, out);
                out.push(']');
            }
        }
    }
}

impl Entry {
    fn of_json(names: Vec<String>, is_argument: bool, value: Value) -> Entry {
        Entry {
            apart: Vec::new(),
            lead: None,
            trail: None,
            names,
            is_argument,
            value,
            lines: (0, 0),
        }
    }

    /// Whether it is an object without members.
    fn is_empty(&self) -> bool {
        matches!(&self.value, Value::Object(body) if body.entries.is_empty() && body.comments.is_empty())
    }

    /// Whether it takes one line, and may be in a group.
    fn is_short(&self) -> bool {
        self.is_empty()
            || matches!(&self.value, Value::Written(text) if !text.contains('\n'))
            || matches!(self.value, Value::List(_, false))
    }

    /// Whether it begins on the line after another one.
    fn follows(&self, before: &Entry) -> bool {
        self.lines.0 == before.lines.1 + 1
    }

    /// Prints it, its names padded to a length.
    fn print(&self, depth: usize, longest: usize, has_sign: bool, out: &mut String) {
        self.print_lead(depth, out);
        let names = self.names.join(" ");
        out.push_str(&names);
        if has_sign {
            out.push_str(&" ".repeat(longest.saturating_sub(names.len())));
            out.push_str(" =");
        }
        out.push(' ');
        self.value.print(depth, out);
        self.print_trail(out);
    }

    fn print_apart(&self, depth: usize, out: &mut String) {
        for comment in &self.apart {
            indent(depth, out);
            out.push_str(&indented(comment, depth));
            out.push_str("\n\n");
        }
    }

    fn print_lead(&self, depth: usize, out: &mut String) {
        if let Some(lead) = &self.lead {
            out.push_str(&indented(lead, depth));
            out.push('\n');
            indent(depth, out);
        }
    }

    fn print_trail(&self, out: &mut String) {
        if let Some(trail) = &self.trail {
            out.push(' ');
            out.push_str(trail);
        }
    }
}

fn indent(depth: usize, out: &mut String) {
    out.push_str(&"  ".repeat(depth));
}

/// Returns a comment whose further lines are indented.
fn indented(comment: &str, depth: usize) -> String {
    comment.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

fn quoted(text: &str) -> String {
    Quoted(text.as_bytes()).to_string()
}
