//! A configuration document in either language.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_gocompat::number::truncated;
use proconsul_hcl::{MAX_DEPTH, TOO_DEEP};

/// A value of JSON or HCL. The HCL parser wraps each object in a list, as Consul's does; the decoder in `slot` unwraps
/// it.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of HCL. All numbers of JSON are [`Tree::Float`].
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// An object.
    Object(BTreeMap<String, Tree>),
}

/// How the numbers of a JSON document are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonNumbers {
    /// As floating-point numbers, like Go's JSON: in a `.json` file.
    Floats,
    /// As whole numbers if possible: for JSON inside HCL.
    Integers,
}

impl Tree {
    /// Parses a JSON document. An empty text is an empty object.
    ///
    /// # Errors
    /// Go's text about invalid JSON, or a value that is not an object.
    pub fn from_json(text: &str, numbers: JsonNumbers) -> Result<Tree, String> {
        if text.is_empty() {
            return Ok(Tree::Object(BTreeMap::new()));
        }
        let document = document(text.as_bytes())?;
        let value = document.value();
        let found = match value.kind() {
            ValueKind::Object => return Tree::of_json(value, numbers, 0),
            ValueKind::Null => return Ok(Tree::Object(BTreeMap::new())),
            ValueKind::Array => "array",
            ValueKind::String(_) => "string",
            ValueKind::Bool(_) => "bool",
            ValueKind::Number(_) => "number",
        };
        Err(format!(
            "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        ))
    }

    /// Converts a value at a depth of nesting.
    fn of_json(value: Value<'_>, numbers: JsonNumbers, depth: usize) -> Result<Tree, String> {
        let inner = |value| Tree::of_json(value, numbers, depth + 1);
        Ok(match value.kind() {
            ValueKind::Null => Tree::Null,
            ValueKind::Bool(value) => Tree::Bool(value),
            ValueKind::Number(digits) => match (numbers, digits.parse()) {
                (JsonNumbers::Integers, Ok(integer)) => Tree::Integer(integer),
                _ => Tree::Float(digits.parse().unwrap_or(f64::INFINITY)),
            },
            ValueKind::String(text) => Tree::Text(text.into_owned()),
            ValueKind::Array | ValueKind::Object if depth == MAX_DEPTH => {
                let bracket = char::from(value.text()[0]);
                return Err(format!("invalid character '{bracket}' {TOO_DEEP}"));
            }
            ValueKind::Array => Tree::List(value.elements().map(inner).collect::<Result<_, _>>()?),
            ValueKind::Object => {
                let member = |(name, value): (Cow<'_, str>, _)| {
                    Ok::<_, String>((name.into_owned(), inner(value)?))
                };
                Tree::Object(value.members().map(member).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Unwraps lists of one item, which Consul's decoder treats as the item.
    pub fn unwrapped(&self) -> &Tree {
        let mut tree = self;
        while let Tree::List(items) = tree
            && let [only] = &items[..]
        {
            tree = only;
        }
        tree
    }

    /// Returns the items of a list; any other value but `null` is its own only item.
    pub fn items(&self) -> &[Tree] {
        match self {
            Tree::List(items) => items,
            Tree::Null => &[],
            other => std::slice::from_ref(other),
        }
    }

    /// Converts the value to JSON, in which objects stand by themselves that HCL has wrapped in lists.
    pub fn to_plain_json(&self) -> serde_json::Value {
        match self {
            Tree::List(items) => match &items[..] {
                [only @ Tree::Object(_)] => only.to_plain_json(),
                items => items.iter().map(Tree::to_plain_json).collect(),
            },
            Tree::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, tree)| (name.clone(), tree.to_plain_json()));
                serde_json::Value::Object(members.collect())
            }
            scalar => scalar.to_json(),
        }
    }

    /// Converts the value to JSON. Numbers without a fraction become whole, as Go prints them.
    pub fn to_json(&self) -> serde_json::Value {
        /// Up to here a float holds every whole number.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Tree::Null => serde_json::Value::Null,
            Tree::Bool(flag) => (*flag).into(),
            Tree::Integer(number) => (*number).into(),
            Tree::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                truncated(*number).into()
            }
            Tree::Float(number) => (*number).into(),
            Tree::Text(text) => text.as_str().into(),
            Tree::List(items) => items.iter().map(Tree::to_json).collect(),
            Tree::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, tree)| (name.clone(), tree.to_json()));
                serde_json::Value::Object(members.collect())
            }
        }
    }

    /// Returns the Go type of the value, as errors name it.
    pub fn go_type(&self) -> &'static str {
        match self {
            Tree::List(_) => "[]interface {}",
            Tree::Object(_) => "map[string]interface {}",
            Tree::Null | Tree::Bool(_) | Tree::Integer(_) | Tree::Float(_) | Tree::Text(_) => {
                self.go_kind()
            }
        }
    }

    /// Returns the kind of that Go type.
    pub fn go_kind(&self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::{JsonNumbers, Tree};
    use proconsul_testing::{DEPTHS, on_small_stack};

    #[test]
    fn deep_documents_take_no_stack() {
        on_small_stack(|| {
            for depth in DEPTHS {
                for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
                    let (open, close) = (open.repeat(depth), close.repeat(depth));
                    let text = format!("{{\"a\":{open}1{close}}}");
                    let read = Tree::from_json(&text, JsonNumbers::Floats);
                    if depth < 64 {
                        assert_eq!(read.clone(), read, "{depth}");
                        assert!(read.is_ok(), "{depth}");
                    } else {
                        let error = read.expect_err("the document is too deep");
                        assert!(error.ends_with("exceeded max depth"), "{error}");
                    }
                }
            }
        });
    }
}
