//! A configuration document, whichever language it was written in.

use std::collections::BTreeMap;

use crate::go::json::document::document;
use crate::go::json::value::{Kind, Value};

/// What JSON and HCL both read into. HCL wraps each of its objects in a list, as Consul's reader does: the decoder in
/// `slot` takes such wraps off again.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    /// A whole number of HCL; those of JSON are all [`Tree::Float`].
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

/// How the numbers of a JSON document are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonNumbers {
    /// A `.json` file: Go's JSON knows floating-point numbers only.
    Floats,
    /// JSON inside HCL, which knows whole numbers.
    Integers,
}

impl Tree {
    /// Reads a JSON document. An empty one is an empty object.
    ///
    /// # Errors
    /// Go's sentence about what is not JSON, or is no object.
    pub(super) fn from_json(text: &str, numbers: JsonNumbers) -> Result<Tree, String> {
        if text.is_empty() {
            return Ok(Tree::Object(BTreeMap::new()));
        }
        let value = document(text.as_bytes())?;
        let found = match value.kind() {
            Kind::Object => return Ok(Tree::of_json(value, numbers)),
            Kind::Null => return Ok(Tree::Object(BTreeMap::new())),
            Kind::Array => "array",
            Kind::String(_) => "string",
            Kind::Bool(_) => "bool",
            Kind::Number(_) => "number",
        };
        Err(format!(
            "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        ))
    }

    fn of_json(value: Value<'_>, numbers: JsonNumbers) -> Tree {
        match value.kind() {
            Kind::Null => Tree::Null,
            Kind::Bool(value) => Tree::Bool(value),
            Kind::Number(digits) => match (numbers, digits.parse()) {
                (JsonNumbers::Integers, Ok(integer)) => Tree::Integer(integer),
                _ => Tree::Float(digits.parse().unwrap_or(f64::INFINITY)),
            },
            Kind::String(text) => Tree::Text(text.into_owned()),
            Kind::Array => Tree::List(
                value
                    .elements()
                    .map(|item| Tree::of_json(item, numbers))
                    .collect(),
            ),
            Kind::Object => {
                let members = value.members();
                Tree::Object(
                    members
                        .map(|(name, member)| (name.into_owned(), Tree::of_json(member, numbers)))
                        .collect(),
                )
            }
        }
    }

    /// What is in this list of one (of one, ...): Consul's reader takes that for the thing itself.
    pub(super) fn unwrapped(&self) -> &Tree {
        let mut tree = self;
        while let Tree::List(items) = tree
            && let [only] = &items[..]
        {
            tree = only;
        }
        tree
    }

    /// The Go type of the value, as a refusal names it.
    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Tree::List(_) => "[]interface {}",
            Tree::Object(_) => "map[string]interface {}",
            Tree::Null | Tree::Bool(_) | Tree::Integer(_) | Tree::Float(_) | Tree::Text(_) => {
                self.go_kind()
            }
        }
    }

    /// The kind of that Go type.
    pub(super) fn go_kind(&self) -> &'static str {
        match self {
            Tree::Null => "nil",
            Tree::Bool(_) => "bool",
            Tree::Integer(_) => "int",
            Tree::Float(_) => "float64",
            Tree::Text(_) => "string",
            Tree::List(_) => "slice",
            Tree::Object(_) => "map",
        }
    }
}
