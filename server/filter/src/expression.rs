//! A parsed filter expression.

use std::fmt;
use std::rc::Rc;

use super::grammar::Production;
use super::peg;
use proconsul_gocompat::quote::Quoted;
use proconsul_gocompat::quote::unquote::unquote;

type Node = peg::Node<Production>;

/// An expression. `Display` prints an equivalent filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A conjunction of at least two expressions.
    All(Vec<Expression>),
    /// A disjunction of at least two expressions.
    Any(Vec<Expression>),
    /// A negation.
    Not(Box<Expression>),
    /// A claim about one field.
    Match(Match),
}

/// A claim about one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The selector: the names that lead to the field.
    pub selector: Vec<Vec<u8>>,
    /// The operator.
    pub(super) operator: Operator,
    /// The value; empty for operators without one.
    pub(super) value: Vec<u8>,
}

/// An operator. `contains` is `in` with its sides swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    In,
    NotIn,
    IsEmpty,
    IsNotEmpty,
    Matches,
    NotMatches,
}

impl Operator {
    /// Returns the name in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operator::Equal => "Equal",
            Operator::NotEqual => "Not Equal",
            Operator::In => "In",
            Operator::NotIn => "Not In",
            Operator::IsEmpty => "Is Empty",
            Operator::IsNotEmpty => "Is Not Empty",
            Operator::Matches => "Matches",
            Operator::NotMatches => "Not Matches",
        }
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// Consul's error for an invalid text.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let input = peg::parse(text, Production::Input)?;
        Ok(expression(text, only_child(&input)))
    }
}

fn only_child(node: &Node) -> &Node {
    let child = node.children.iter().find(|child| !is_filling(child));
    child.expect("the grammar gives the rule a part")
}

/// Whether a part of a rule is only space.
fn is_filling(node: &Node) -> bool {
    matches!(node.rule, Production::Space | Production::End)
}

/// Returns the parts of a rule that are not space.
fn parts(node: &Node) -> impl Iterator<Item = &Node> {
    let children = node.children.iter().map(Rc::as_ref);
    children.filter(|child| !is_filling(child))
}

fn expression(text: &[u8], node: &Node) -> Expression {
    match node.rule {
        Production::Or => several(text, node, Expression::Any),
        Production::And => several(text, node, Expression::All),
        Production::Not if is_negated(node) => {
            Expression::Not(Box::new(expression(text, only_child(node))))
        }
        Production::Not | Production::Grouping => expression(text, only_child(node)),
        _ => Expression::Match(claim(text, node)),
    }
}

/// Whether a negation has an odd number of `not`s. A space follows each.
fn is_negated(node: &Node) -> bool {
    let spaces = node.children.iter();
    spaces
        .filter(|child| child.rule == Production::Space)
        .count()
        % 2
        == 1
}

fn several(text: &[u8], node: &Node, join: fn(Vec<Expression>) -> Expression) -> Expression {
    let mut all: Vec<Expression> = parts(node).map(|part| expression(text, part)).collect();
    match all.pop() {
        Some(only) if all.is_empty() => only,
        last => {
            all.extend(last);
            join(all)
        }
    }
}

fn claim(text: &[u8], node: &Node) -> Match {
    let mut claim = Match {
        selector: Vec::new(),
        operator: Operator::Equal,
        value: Vec::new(),
    };
    for part in parts(node) {
        match part.rule {
            Production::Selector => claim.selector = selector(text, part),
            Production::Value => claim.value = value(text, only_child(part)),
            rule => claim.operator = operator(rule),
        }
    }
    claim
}

fn operator(rule: Production) -> Operator {
    match rule {
        Production::NotEqual => Operator::NotEqual,
        Production::In | Production::Contains => Operator::In,
        Production::NotIn | Production::NotContains => Operator::NotIn,
        Production::IsEmpty => Operator::IsEmpty,
        Production::IsNotEmpty => Operator::IsNotEmpty,
        Production::Matches => Operator::Matches,
        Production::NotMatches => Operator::NotMatches,
        _ => Operator::Equal,
    }
}

fn selector(text: &[u8], node: &Node) -> Vec<Vec<u8>> {
    let name = |part: &Node| -> Vec<u8> {
        let part = match part.rule {
            Production::SelectorOrIndex => only_child(part),
            _ => part,
        };
        match part.rule {
            Production::Index => string(text, only_child(part)),
            _ => text[part.start..part.end].to_vec(),
        }
    };
    parts(node).map(name).collect()
}

/// Returns a value as text; a selector is the text of its names.
fn value(text: &[u8], node: &Node) -> Vec<u8> {
    match node.rule {
        Production::Selector => selector(text, node).join(&b'.'),
        Production::String => string(text, node),
        _ => text[node.start..node.end].to_vec(),
    }
}

fn string(text: &[u8], node: &Node) -> Vec<u8> {
    let meaning = unquote(&text[node.start..node.end]);
    meaning.expect("the grammar has unquoted the string")
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, all) = match self {
            Expression::Match(claim) => return claim.fmt(formatter),
            Expression::Not(negated) => return write!(formatter, "not ({negated})"),
            Expression::All(all) => ("and", all),
            Expression::Any(all) => ("or", all),
        };
        for (place, part) in all.iter().enumerate() {
            if place > 0 {
                write!(formatter, " {word} ")?;
            }
            write!(formatter, "({part})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Match {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut selector = String::new();
        for (place, name) in self.selector.iter().enumerate() {
            if place == 0 {
                selector += &String::from_utf8_lossy(name);
            } else {
                selector += &format!("[{}]", quoted(name));
            }
        }
        let value = quoted(&self.value);
        match self.operator {
            Operator::Equal => write!(formatter, "{selector} == {value}"),
            Operator::NotEqual => write!(formatter, "{selector} != {value}"),
            Operator::In => write!(formatter, "{value} in {selector}"),
            Operator::NotIn => write!(formatter, "{value} not in {selector}"),
            Operator::IsEmpty => write!(formatter, "{selector} is empty"),
            Operator::IsNotEmpty => write!(formatter, "{selector} is not empty"),
            Operator::Matches => write!(formatter, "{selector} matches {value}"),
            Operator::NotMatches => write!(formatter, "{selector} not matches {value}"),
        }
    }
}

/// Quotes a text for the grammar, where even an escaped quote ends a string.
fn quoted(text: &[u8]) -> String {
    let part = |part: &[u8]| {
        let quoted = Quoted(part).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let parts: Vec<String> = text.split(|byte| *byte == b'"').map(part).collect();
    format!("\"{}\"", parts.join("\\x22"))
}
