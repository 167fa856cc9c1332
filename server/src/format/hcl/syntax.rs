//! What a document of HCL 1 or of its JSON says: items in their order, with positions.

use super::Position;

/// `name "label" { … }` or `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// The name and the labels behind it. Never empty.
    pub(crate) names: Vec<Name>,
    pub(crate) value: Node,
}

/// A name of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// As it is written: with quotes if it has them.
    pub(crate) written: String,
    /// `None` in JSON, whose reader keeps no positions.
    pub(crate) position: Option<Position>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Literal(Literal),
    List(List),
    Object(Object),
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    pub(crate) kind: LiteralKind,
    /// The value of a text; anything else as it is written.
    pub(crate) text: String,
    /// `None` in JSON.
    pub(crate) position: Option<Position>,
}

/// The kind of a literal. JSON's `null` is an empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralKind {
    Bool,
    /// A whole number.
    Number,
    Float,
    Text,
}

/// `[ … ]`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    pub(crate) nodes: Vec<Node>,
    /// `None` in JSON.
    pub(crate) position: Option<Position>,
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) items: Vec<Item>,
}
