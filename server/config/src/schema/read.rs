//! Configuration files. Values of a wrong kind are read leniently, and unknown members are not looked at.

use std::collections::BTreeMap;

use super::field::{Field, Shape, Source};
use super::look::On;
use super::names::{Known, Names, simple};
use crate::document::tree::Tree;
use crate::settings::slot::whole;
use proconsul_gocompat::json::encode::to_text;

/// The members of an object, by names in lower case without underscores, because Consul accepts both spellings.
pub struct Members<'a>(BTreeMap<String, &'a Tree>);

impl<'a> Members<'a> {
    /// Returns the members of an object; none for any other value.
    pub fn of(tree: &'a Tree) -> Self {
        let object = match tree.unwrapped() {
            Tree::Object(object) => Some(object),
            _ => None,
        };
        let members = object.into_iter().flatten();
        Self(members.map(|(name, tree)| (simple(name), tree)).collect())
    }

    /// Returns the value of a member.
    pub fn get(&self, name: &str) -> Option<&'a Tree> {
        self.0.get(&simple(name)).copied()
    }
}

/// Reads a structure.
pub fn structure<S: Shape>(tree: &Tree) -> S {
    let mut row = S::default();
    row.take_null();
    row.begin();
    members(S::FIELDS, &mut row, tree);
    row
}

/// Reads the members of a structure into a row.
pub(super) fn members<T>(fields: &'static [Field<T>], row: &mut T, tree: &Tree) {
    let members = Members::of(tree);
    for field in fields.iter().filter(|field| field.on.has(On::FILES)) {
        if let (Source::Place(place), Some(tree)) = (&field.value, members.get(field.name)) {
            place.read(row, tree);
        }
    }
}

/// Reads a text; other values are printed.
pub fn text(tree: &Tree) -> String {
    match tree.unwrapped() {
        Tree::Text(text) => text.clone(),
        Tree::Integer(number) => number.to_string(),
        Tree::Float(number) => number.to_string(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Null | Tree::List(_) | Tree::Object(_) => String::new(),
    }
}

/// Reads a whole number; other values are 0.
pub fn number(tree: &Tree) -> i64 {
    match tree.unwrapped() {
        Tree::Integer(number) => *number,
        Tree::Float(number) => whole(*number),
        _ => 0,
    }
}

/// Whether a value is true.
pub fn flag(tree: &Tree) -> bool {
    matches!(tree.unwrapped(), Tree::Bool(true))
}

/// Reads an object as JSON.
pub(super) fn json(tree: &Tree) -> Option<String> {
    let object = tree.unwrapped();
    matches!(object, Tree::Object(_)).then(|| to_text(&object.to_json()))
}

/// Returns the names of the fields in files.
pub(super) fn known<T>(fields: &'static [Field<T>]) -> Vec<Known> {
    let fields = fields.iter().filter(|field| field.on.has(On::FILES));
    let known = fields.filter_map(|field| match &field.value {
        Source::Place(_) if field.is_unsent => {
            Some(Known::new(snake(field.name), Names::Value).sent_as(None))
        }
        Source::Place(place) => Some(Known::new(snake(field.name), place.names())),
        Source::Shown(_) | Source::Flat(_) => None,
    });
    known.collect()
}

/// Returns the names of the fields of a structure in files.
pub fn known_of<S: Shape>() -> Vec<Known> {
    known(S::FIELDS)
}

/// Returns Go's name of a field with underscores between words.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut ends_word = false;
    for letter in name.chars() {
        if ends_word && letter.is_ascii_uppercase() {
            snake.push('_');
        }
        ends_word = letter.is_ascii_lowercase();
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
