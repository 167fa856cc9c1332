//! What a document of HCL 1 or of its JSON says: items in their order, with positions.

use super::error::Position;

/// `name "label" { … }` or `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The name and the labels behind it. Never empty.
    pub names: Vec<Name>,
    /// What is behind the names.
    pub value: Node,
}

/// A name of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// Without quotes.
    pub text: String,
    /// As it is written: with quotes if it has them.
    pub written: String,
    /// `None` in JSON, whose reader keeps no positions.
    pub position: Option<Position>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A value without parts.
    Literal(Literal),
    /// `[ … ]`
    List(List),
    /// `{ … }`
    Object(Object),
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// What it is.
    pub kind: LiteralKind,
    /// The value of a text; anything else as it is written.
    pub text: String,
    /// `None` in JSON.
    pub position: Option<Position>,
}

/// The kind of a literal. JSON's `null` is an empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Number,
    /// A number with a fraction or an exponent.
    Float,
    /// A text in quotes, a heredoc, or JSON's `null`.
    Text,
}

/// `[ … ]`
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Its values, in order.
    pub nodes: Vec<Node>,
    /// `None` in JSON.
    pub position: Option<Position>,
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its items, in order.
    pub items: Vec<Item>,
}
