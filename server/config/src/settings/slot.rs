//! Writes a value into [`Settings`](crate::settings::Settings): from a flag's text or from a document.
//!
//! Invalid values are refused with the texts of Go's flag package and of Consul's decoder.

use std::collections::BTreeMap;

use crate::document::tree::Tree;
use proconsul_gocompat::number;

/// The field of a setting, whose variant is the type of the values.
pub enum Slot<'a> {
    /// A text.
    Text(&'a mut Option<String>),
    /// A truth value.
    Bool(&'a mut Option<bool>),
    /// A whole number.
    Integer(&'a mut Option<i64>),
    /// A whole number, not below 0.
    Unsigned(&'a mut Option<u64>),
    /// Each value adds an item.
    List(&'a mut Vec<String>),
    /// Each value adds a member.
    Map(&'a mut BTreeMap<String, String>),
    /// Each value adds a definition. Flags cannot set it.
    Tree(&'a mut Vec<Tree>),
    /// Each value adds a list of definitions. Flags cannot set it.
    Trees(&'a mut Vec<Tree>),
}

impl Slot<'_> {
    /// Whether the flag of this field takes no argument (`-dev`), or one only behind `=` (`-dev=false`).
    pub fn is_switch(&self) -> bool {
        matches!(self, Slot::Bool(_))
    }

    /// Describes the expected text, for errors about variables.
    pub fn expected(&self) -> &'static str {
        match self {
            Slot::Bool(_) => "true or false",
            Slot::Integer(_) => "a whole number",
            Slot::Unsigned(_) => "a whole number from 0 to 18446744073709551615",
            Slot::Text(_) | Slot::List(_) | Slot::Map(_) => "a text",
            Slot::Tree(_) | Slot::Trees(_) => "a definition",
        }
    }

    /// Sets the field from the argument of the flag `name`.
    ///
    /// # Errors
    /// Go's text about an invalid argument.
    pub fn take_text(self, name: &str, text: &str) -> Result<(), String> {
        let misfit = |error| format!("invalid value {text:?} for flag -{name}: {error}");
        match self {
            Slot::Text(field) => *field = Some(text.to_owned()),
            Slot::Bool(field) => match number::parse_bool(text) {
                Ok(value) => *field = Some(value),
                Err(error) => {
                    return Err(format!(
                        "invalid boolean value {text:?} for -{name}: {error}"
                    ));
                }
            },
            Slot::Integer(field) => *field = Some(number::parse_int(text).map_err(misfit)?),
            Slot::Unsigned(field) => *field = Some(number::parse_uint(text).map_err(misfit)?),
            Slot::List(items) => items.push(text.to_owned()),
            Slot::Tree(_) | Slot::Trees(_) => {
                return Err(format!(
                    "invalid value {text:?} for flag -{name}: not a definition"
                ));
            }
            Slot::Map(members) => {
                let (key, value) = text.split_once(':').unwrap_or((text, ""));
                members.insert(key.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    /// Sets the field from the value of the key at `path` of a document. `null` changes nothing.
    ///
    /// `errors` gets Consul's text about each invalid value.
    pub fn take_tree(self, path: &str, tree: &Tree, errors: &mut Vec<String>) {
        let value = tree.unwrapped();
        if *value == Tree::Null {
            return;
        }
        match (self, value) {
            (Slot::Text(field), Tree::Text(text)) => *field = Some(text.clone()),
            (Slot::Bool(field), Tree::Bool(value)) => *field = Some(*value),
            (Slot::Integer(field), Tree::Integer(number)) => *field = Some(*number),
            (Slot::Integer(field), Tree::Float(number)) => *field = Some(whole(*number)),
            (Slot::Unsigned(field), Tree::Integer(number)) => match u64::try_from(*number) {
                Ok(number) => *field = Some(number),
                Err(_) => errors.push(format!("cannot parse '{path}', {number} overflows uint")),
            },
            (Slot::Unsigned(field), Tree::Float(number)) => {
                if *number < 0.0 {
                    errors.push(format!("cannot parse '{path}', {number:.6} overflows uint"));
                } else {
                    *field = Some(whole(*number).unsigned_abs());
                }
            }
            (Slot::List(items), _) => take_list(items, path, tree, errors),
            (Slot::Map(members), Tree::Object(object)) => {
                for (key, value) in object {
                    let path = format!("{path}[{key}]");
                    if let Some(text) = text_of(&path, value, errors) {
                        members.insert(key.clone(), text);
                    }
                }
            }
            (Slot::Tree(items), value @ Tree::Object(_)) => items.push(value.clone()),
            (Slot::Trees(items), _) => match tree {
                Tree::List(list) => items.extend(list.iter().cloned()),
                other => errors.push(format!(
                    "'{path}': source data must be an array or slice, got {}",
                    other.go_kind()
                )),
            },
            (Slot::Map(_) | Slot::Tree(_), other) => {
                errors.push(format!(
                    "'{path}' expected a map, got '{}'",
                    other.go_kind()
                ));
            }
            (Slot::Text(_), other) => errors.push(unconvertible(path, "string", other)),
            (Slot::Bool(_), other) => errors.push(unconvertible(path, "bool", other)),
            (Slot::Integer(_), other) => errors.push(unconvertible(path, "int", other)),
            (Slot::Unsigned(_), other) => errors.push(unconvertible(path, "uint64", other)),
        }
    }
}

fn take_list(items: &mut Vec<String>, path: &str, tree: &Tree, errors: &mut Vec<String>) {
    let Tree::List(values) = tree else {
        let kind = tree.go_kind();
        errors.push(format!(
            "'{path}': source data must be an array or slice, got {kind}"
        ));
        return;
    };
    for (index, value) in values.iter().enumerate() {
        items.extend(text_of(&format!("{path}[{index}]"), value, errors));
    }
}

/// Returns the text of an item or a member; empty for `null`.
fn text_of(path: &str, tree: &Tree, errors: &mut Vec<String>) -> Option<String> {
    match tree.unwrapped() {
        Tree::Text(text) => Some(text.clone()),
        Tree::Null => Some(String::new()),
        other => {
            errors.push(unconvertible(path, "string", other));
            None
        }
    }
}

fn unconvertible(path: &str, expected: &str, found: &Tree) -> String {
    let found = found.go_type();
    format!("'{path}' expected type '{expected}', got unconvertible type '{found}'")
}

/// Returns the whole part of a number, as Consul's decoder does.
pub fn whole(number: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fraction is dropped, and `as` saturates"
    )]
    let whole = number as i64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the field of each kind of slot after `tree`, in its `Debug` form, or the error.
    fn taken(kind: &str, tree: &Tree) -> String {
        let mut errors = Vec::new();
        let (mut text, mut flag, mut integer, mut unsigned) = (None, None, None, None);
        let (mut list, mut map) = (Vec::new(), BTreeMap::new());
        let slot = match kind {
            "text" => Slot::Text(&mut text),
            "bool" => Slot::Bool(&mut flag),
            "integer" => Slot::Integer(&mut integer),
            "unsigned" => Slot::Unsigned(&mut unsigned),
            "list" => Slot::List(&mut list),
            _ => Slot::Map(&mut map),
        };
        slot.take_tree("a.b", tree, &mut errors);
        if !errors.is_empty() {
            return errors.join("; ");
        }
        match kind {
            "text" => format!("{text:?}"),
            "bool" => format!("{flag:?}"),
            "integer" => format!("{integer:?}"),
            "unsigned" => format!("{unsigned:?}"),
            "list" => format!("{list:?}"),
            _ => format!("{map:?}"),
        }
    }

    fn text(text: &str) -> Tree {
        Tree::Text(text.to_owned())
    }

    fn object(key: &str, value: Tree) -> Tree {
        Tree::Object(BTreeMap::from([(key.to_owned(), value)]))
    }

    #[test]
    fn values_of_the_right_type_are_taken_out_of_lists_of_one() {
        let rows = [
            ("text", text("x"), r#"Some("x")"#),
            ("text", Tree::List(vec![text("x")]), r#"Some("x")"#),
            ("text", Tree::Null, "None"),
            ("bool", Tree::List(vec![Tree::Bool(true)]), "Some(true)"),
            ("integer", Tree::Integer(-3), "Some(-3)"),
            ("integer", Tree::Float(1.9), "Some(1)"),
            ("unsigned", Tree::Integer(7), "Some(7)"),
            ("unsigned", Tree::Float(1.5e3), "Some(1500)"),
            (
                "list",
                Tree::List(vec![text("x"), Tree::Null]),
                r#"["x", ""]"#,
            ),
            (
                "list",
                Tree::List(vec![Tree::List(vec![text("x")])]),
                r#"["x"]"#,
            ),
            ("map", object("k", text("v")), r#"{"k": "v"}"#),
            (
                "map",
                Tree::List(vec![object("k", Tree::Null)]),
                r#"{"k": ""}"#,
            ),
        ];
        for (kind, tree, expected) in rows {
            assert_eq!(taken(kind, &tree), expected, "{kind} {tree:?}");
        }
    }

    #[test]
    fn values_of_another_type_are_refused_with_consuls_text() {
        let two = || Tree::List(vec![text("x"), text("y")]);
        let rows = [
            (
                "text",
                Tree::Integer(5),
                "'a.b' expected type 'string', got unconvertible type 'int'",
            ),
            (
                "text",
                Tree::Float(5.0),
                "'a.b' expected type 'string', got unconvertible type 'float64'",
            ),
            (
                "text",
                two(),
                "'a.b' expected type 'string', got unconvertible type '[]interface {}'",
            ),
            (
                "text",
                object("k", Tree::Null),
                "'a.b' expected type 'string', got unconvertible type 'map[string]interface {}'",
            ),
            (
                "bool",
                text("true"),
                "'a.b' expected type 'bool', got unconvertible type 'string'",
            ),
            (
                "integer",
                text("1"),
                "'a.b' expected type 'int', got unconvertible type 'string'",
            ),
            (
                "unsigned",
                text("1"),
                "'a.b' expected type 'uint64', got unconvertible type 'string'",
            ),
            (
                "unsigned",
                Tree::Integer(-1),
                "cannot parse 'a.b', -1 overflows uint",
            ),
            (
                "unsigned",
                Tree::Float(-1.0),
                "cannot parse 'a.b', -1.000000 overflows uint",
            ),
            (
                "list",
                text("x"),
                "'a.b': source data must be an array or slice, got string",
            ),
            (
                "list",
                Tree::List(vec![Tree::Integer(1)]),
                "'a.b[0]' expected type 'string', got unconvertible type 'int'",
            ),
            ("map", two(), "'a.b' expected a map, got 'slice'"),
            (
                "map",
                object("k", Tree::Integer(1)),
                "'a.b[k]' expected type 'string', got unconvertible type 'int'",
            ),
        ];
        for (kind, tree, expected) in rows {
            assert_eq!(taken(kind, &tree), expected, "{kind} {tree:?}");
        }
    }

    #[test]
    fn texts_of_flags_are_read_as_go_reads_them() {
        let (mut flag, mut integer) = (None, None);
        let refused = Slot::Bool(&mut flag).take_text("dev", "foo");
        let expected = "invalid boolean value \"foo\" for -dev: strconv.ParseBool: parsing \"foo\": invalid syntax";
        assert_eq!(refused, Err(expected.to_owned()));
        assert_eq!(Slot::Bool(&mut flag).take_text("dev", "F"), Ok(()));
        assert_eq!(flag, Some(false));

        let refused = Slot::Integer(&mut integer).take_text("http-port", "abc");
        let expected = "invalid value \"abc\" for flag -http-port: strconv.Atoi: parsing \"abc\": invalid syntax";
        assert_eq!(refused, Err(expected.to_owned()));
        assert_eq!(
            Slot::Integer(&mut integer).take_text("http-port", "-1"),
            Ok(())
        );
        assert_eq!(integer, Some(-1));

        let mut map = BTreeMap::new();
        assert_eq!(Slot::Map(&mut map).take_text("node-meta", "a:b:c"), Ok(()));
        assert_eq!(Slot::Map(&mut map).take_text("node-meta", "d"), Ok(()));
        assert_eq!(format!("{map:?}"), r#"{"a": "b:c", "d": ""}"#);
    }
}
