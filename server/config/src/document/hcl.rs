//! Configuration in HCL: the values that a document gives.

use std::collections::BTreeMap;

use crate::document::tree::{JsonNumbers, Tree};
use proconsul_hcl::syntax::{Item, Literal, LiteralKind, Node};
use proconsul_hcl::{self as hcl, Arguments};

/// Parses a document.
///
/// # Errors
/// The error in the words of Consul's parser.
pub fn parse(text: &str) -> Result<Tree, String> {
    if hcl::is_json(text) {
        return Tree::from_json(text, JsonNumbers::Integers);
    }
    let items = hcl::parse(text, Arguments::Repeated).map_err(|error| error.to_string())?;
    members(items)
}

/// Joins items to an object.
fn members(items: Vec<Item>) -> Result<Tree, String> {
    let mut body = BTreeMap::new();
    for item in items {
        let value = match item.value {
            // Blocks of the same name are added to a list.
            Node::Object(object) => Tree::List(vec![members(object.items)?]),
            value => tree(value)?,
        };
        let names: Vec<String> = item.names.into_iter().map(|name| name.text).collect();
        insert(&mut body, &names, value);
    }
    Ok(Tree::Object(body))
}

fn tree(node: Node) -> Result<Tree, String> {
    match node {
        Node::Literal(literal) => value(literal),
        Node::List(list) => {
            let items = list.nodes.into_iter().map(tree);
            Ok(Tree::List(items.collect::<Result<_, _>>()?))
        }
        Node::Object(object) => members(object.items),
    }
}

/// Returns the value of a literal.
fn value(literal: Literal) -> Result<Tree, String> {
    let text = literal.text;
    Ok(match literal.kind {
        LiteralKind::Bool => Tree::Bool(text == "true"),
        LiteralKind::Text => Tree::Text(text),
        LiteralKind::Number => Tree::Integer(integer(&text)?),
        LiteralKind::Float => {
            let error =
                |problem: &str| format!("strconv.ParseFloat: parsing \"{text}\": {problem}");
            match text.parse::<f64>() {
                Err(_) => return Err(error("invalid syntax")),
                Ok(number) if number.is_infinite() => return Err(error("value out of range")),
                Ok(number) => Tree::Float(number),
            }
        }
    })
}

/// Parses a whole number: hexadecimal after `0x`, octal after another `0`, else decimal.
fn integer(text: &str) -> Result<i64, String> {
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
        format!("strconv.ParseInt: parsing \"{text}\": {problem}")
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
