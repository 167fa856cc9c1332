//! How a document becomes rules: HCL's decoder, as far as rules show it. All of it was observed on 1.8.7 (acl.md 9).
//!
//! The decoder knows objects as lists of items. For each field it takes the items of that name, in any case: first those
//! with labels, then those without.

use std::fmt;

use crate::kind::{GivenRule, Kind};
use proconsul_gocompat::json::decode::matches_folded;
use proconsul_hcl::Position;
use proconsul_hcl::syntax::{Item, Literal, LiteralKind, Name, Node};

/// A value of another kind than its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodeError {
    /// `None` in JSON; also for an empty object, at which 1.8.7 drops the connection.
    position: Option<Position>,
    message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError { position, message } = self;
        match position {
            Some(position) => write!(formatter, "At {position}: {message}"),
            None => write!(formatter, "At -: {message}"),
        }
    }
}

/// An item, of whose names the first have been dealt with.
#[derive(Clone, Copy)]
struct View<'a> {
    names: &'a [Name],
    value: &'a Node,
}

impl<'a> View<'a> {
    fn of(item: &'a Item) -> View<'a> {
        View {
            names: &item.names,
            value: &item.value,
        }
    }
}

/// The items of one name: what is behind their labels, and what has none.
struct Selected<'a> {
    labelled: Vec<View<'a>>,
    plain: Vec<&'a Node>,
}

fn select<'a>(items: impl Iterator<Item = View<'a>>, name: &str) -> Selected<'a> {
    let mut selected = Selected {
        labelled: Vec::new(),
        plain: Vec::new(),
    };
    for View { names, value } in items {
        match names {
            [first, rest @ ..] if matches_folded(name, &first.text) => match rest {
                [] => selected.plain.push(value),
                names => selected.labelled.push(View { names, value }),
            },
            _ => {}
        }
    }
    selected
}

/// Reads a text field, if it is there. Of several the last counts.
fn text<'a>(
    items: impl Iterator<Item = View<'a>>,
    name: &str,
    path: impl Fn() -> String,
    into: &mut String,
) -> Result<(), DecodeError> {
    let unknown = |position, kind: &str| {
        let message = format!("{}: unknown type for string *ast.{kind}", path());
        Err(DecodeError { position, message })
    };
    let selected = select(items, name);
    if let Some(view) = selected.labelled.first() {
        return unknown(view.names[0].position, "ObjectList");
    }
    for node in selected.plain {
        match node {
            Node::Literal(Literal {
                kind: LiteralKind::Text | LiteralKind::Number,
                text,
                ..
            }) => into.clone_from(text),
            Node::Literal(literal) => return unknown(literal.position, "LiteralType"),
            Node::List(list) => return unknown(list.position, "ListType"),
            Node::Object(object) => return unknown(start(&object.items), "ObjectList"),
        }
    }
    Ok(())
}

/// Returns the position of the first item.
fn start(items: &[Item]) -> Option<Position> {
    items.first().and_then(|item| item.names.first()?.position)
}

/// Reads a rule without a name.
pub(crate) fn scalar(items: &[Item], rule: &str, into: &mut String) -> Result<(), DecodeError> {
    let items = items.iter().map(View::of);
    text(items, rule, || format!("root.{rule}"), into)
}

/// Reads all rules of one kind.
pub(crate) fn named(
    items: &[Item],
    kind: Kind,
    is_prefix: bool,
    into: &mut Vec<GivenRule>,
) -> Result<(), DecodeError> {
    let rule = kind.rule(is_prefix);
    let selected = select(items.iter().map(View::of), rule);
    let mut add = |index: usize, view: View<'_>| {
        let path = format!("root.{rule}[{index}]");
        into.push(one(view, kind, is_prefix, &path)?);
        Ok(())
    };
    for (index, view) in selected.labelled.into_iter().enumerate() {
        add(index, view)?;
    }
    for node in selected.plain {
        match node {
            Node::Object(object) => {
                for (index, item) in object.items.iter().enumerate() {
                    add(index, View::of(item))?;
                }
            }
            // Nothing in a list has a name, so the first thing in it is an error.
            Node::List(list) => {
                if let Some(node) = list.nodes.first() {
                    return Err(nameless(node, kind, &format!("root.{rule}[0]")));
                }
            }
            Node::Literal(literal) => {
                return Err(DecodeError {
                    position: literal.position,
                    message: "unknown slice type: *ast.LiteralType".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Returns the error about a rule that has no name.
fn nameless(node: &Node, kind: Kind, path: &str) -> DecodeError {
    let no_object = |position, kind: &str| DecodeError {
        position,
        message: format!("{path}: not an object type for struct (*ast.{kind})"),
    };
    match node {
        Node::Literal(literal) => no_object(literal.position, "LiteralType"),
        Node::List(list) => no_object(list.position, "ListType"),
        Node::Object(object) => DecodeError {
            position: start(&object.items),
            message: format!("{path}: {} asked for 'key', impossible", kind.go_names().1),
        },
    }
}

/// Reads one rule. Its first name is what it is about.
fn one(view: View<'_>, kind: Kind, is_prefix: bool, path: &str) -> Result<GivenRule, DecodeError> {
    let mut rule = GivenRule {
        kind,
        is_prefix,
        name: view.names[0].text.clone(),
        policy: String::new(),
        intentions: String::new(),
    };
    let fields: Vec<View<'_>> = match (view.names, view.value) {
        // Of two names the second one is a field.
        ([_, second], value) => vec![View {
            names: std::slice::from_ref(second),
            value,
        }],
        (_, Node::Object(object)) => object.items.iter().map(View::of).collect(),
        // `key { policy = "write" }` is a rule for the key `policy`, and its own field.
        (_, Node::Literal(_)) => vec![view],
        (_, list @ Node::List(_)) => return Err(nameless(list, kind, path)),
    };
    let fields = || fields.iter().copied();
    let named = |field: &str| format!("{path}.{field}");
    text(fields(), "policy", || named("Policy"), &mut rule.policy)?;
    if kind == Kind::Service {
        let into = &mut rule.intentions;
        text(fields(), "intentions", || named("Intentions"), into)?;
    }
    Ok(rule)
}
