//! JSON objects of any contents: Go's `map[string]interface{}`.

use std::borrow::Cow;
use std::collections::{BTreeMap, btree_map};

use super::context::{DecodeContext, DecodeOptions, Release, UnknownFields};
use super::decode::Decode;
use super::document::document;
use super::encode::{self, ControlEscapes, Style};
use super::kinds::Any;
use super::value::{Elements, Members, Value, ValueKind};

/// An object of any contents, kept as JSON; `None` is `null`. Names are sorted and numbers are floats, as Go's
/// maps print them.
pub struct AnyObject;

/// Converts the JSON text of an object to the form of [`AnyObject`].
///
/// # Errors
/// Go's sentence: the text is not a JSON object.
pub fn object_text(text: &str) -> Result<String, String> {
    let document = document(text.as_bytes())?;
    let mut context = DecodeContext::new(DecodeOptions {
        unknown_fields: UnknownFields::Accepted,
        release: Release::NEWEST,
        go_type: None,
    });
    let mut object = None;
    AnyObject::decode(&mut object, document.value(), &mut context);
    context.into_result().map_err(|error| error.to_string())?;
    object.ok_or_else(|| "null is not an object".to_owned())
}

impl Decode for AnyObject {
    type Place = Option<String>;

    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => *place = None,
            ValueKind::Object => {
                // A repeated object is merged into the first.
                let earlier = place.take().unwrap_or_else(|| "{}".to_owned());
                let earlier = document(earlier.as_bytes()).expect("it was printed as JSON");
                let members = earlier.value().members().chain(value.members());
                let members: BTreeMap<String, String> = members
                    .map(|(name, member)| (name.into_owned(), Nodes::read(member, context).print()))
                    .collect();
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, member)| format!("{}:{member}", scalar_text(name)))
                    .collect();
                *place = Some(format!("{{{}}}", members.join(",")));
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "map[string]interface {}".into()
    }
}

/// A value of any depth. Its parts stand in one list, so that parsing, printing and dropping it need no
/// recursion.
struct Nodes(Vec<Node>);

enum Node {
    /// A scalar, as printed.
    Scalar(String),
    /// The places of the elements.
    Array(Vec<usize>),
    /// The places of the members.
    Object(BTreeMap<String, usize>),
}

/// A container under parsing: its place and its rest.
enum Reading<'a> {
    Array(usize, Elements<'a>),
    Object(usize, Members<'a>),
}

/// The rest of a container under printing.
enum Printing<'a> {
    Array(std::slice::Iter<'a, usize>),
    Object(btree_map::Iter<'a, String, usize>),
}

impl Nodes {
    fn read(value: Value<'_>, context: &mut DecodeContext) -> Self {
        let mut nodes = Self(Vec::new());
        let mut open = Vec::new();
        open.extend(nodes.add(value, context));
        while let Some(innermost) = open.last_mut() {
            let place = nodes.0.len();
            let next = match innermost {
                Reading::Array(parent, elements) => elements.next().inspect(|_| {
                    if let Node::Array(places) = &mut nodes.0[*parent] {
                        places.push(place);
                    }
                }),
                Reading::Object(parent, members) => members.next().map(|(name, member)| {
                    if let Node::Object(places) = &mut nodes.0[*parent] {
                        places.insert(name.into_owned(), place);
                    }
                    member
                }),
            };
            match next {
                Some(value) => open.extend(nodes.add(value, context)),
                None => drop(open.pop()),
            }
        }
        nodes
    }

    /// Adds a value, without its contents.
    fn add<'a>(&mut self, value: Value<'a>, context: &mut DecodeContext) -> Option<Reading<'a>> {
        let place = self.0.len();
        let (node, reading) = match value.kind() {
            ValueKind::Array => (
                Node::Array(Vec::new()),
                Some(Reading::Array(place, value.elements())),
            ),
            ValueKind::Object => (
                Node::Object(BTreeMap::new()),
                Some(Reading::Object(place, value.members())),
            ),
            ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_) => {
                (Node::Scalar(scalar(value, context)), None)
            }
        };
        self.0.push(node);
        reading
    }

    fn print(&self) -> String {
        let mut out = String::new();
        let mut open = Vec::new();
        open.extend(self.begin(0, &mut out));
        while let Some(innermost) = open.last_mut() {
            let is_first = out.ends_with(['[', '{']);
            let (next, close) = match innermost {
                Printing::Array(places) => (places.next().map(|place| (None, *place)), ']'),
                Printing::Object(members) => {
                    let next = members.next();
                    (next.map(|(name, place)| (Some(name), *place)), '}')
                }
            };
            let Some((name, place)) = next else {
                out.push(close);
                open.pop();
                continue;
            };
            if !is_first {
                out.push(',');
            }
            if let Some(name) = name {
                out += &scalar_text(name);
                out.push(':');
            }
            open.extend(self.begin(place, &mut out));
        }
        out
    }

    /// Prints a scalar, or opens a container.
    fn begin(&self, place: usize, out: &mut String) -> Option<Printing<'_>> {
        match &self.0[place] {
            Node::Scalar(text) => {
                out.push_str(text);
                None
            }
            Node::Array(places) => {
                out.push('[');
                Some(Printing::Array(places.iter()))
            }
            Node::Object(members) => {
                out.push('{');
                Some(Printing::Object(members.iter()))
            }
        }
    }
}

/// Returns a scalar as Go prints it.
fn scalar(value: Value<'_>, context: &mut DecodeContext) -> String {
    let mut scalar = Any::default();
    Any::decode(&mut scalar, value, context);
    match scalar {
        Any::Null | Any::Container => "null".to_owned(),
        Any::Bool(flag) => flag.to_string(),
        Any::Number(number) => scalar_text(&number),
        Any::String(text) => scalar_text(&text),
    }
}

fn scalar_text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    let style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Long,
    };
    String::from_utf8(encode::to_vec(value, style)).expect("JSON is text")
}

#[cfg(test)]
mod tests {
    use super::object_text;
    use proconsul_testing::{DEPTHS, on_small_stack};

    #[test]
    fn names_come_in_order_and_the_last_of_one_name_counts() {
        let text = r#" {"b":[1.0, {"y":null,"x":[]}], "a":1e21, "b":{"z":[{}],"z":"\u003c\b"}} "#;
        let expected = r#"{"a":1e+21,"b":{"z":"\u003c\u0008"}}"#;
        assert_eq!(object_text(text).as_deref(), Ok(expected));
        let text = r#"{"b":[1.0, {"y":null,"x":[]}, true]}"#;
        let expected = r#"{"b":[1,{"x":[],"y":null},true]}"#;
        assert_eq!(object_text(text).as_deref(), Ok(expected));
        assert!(object_text("[]").is_err_and(|error| error.contains("array")));
        assert!(object_text("null").is_err());
        assert!(object_text("{").is_err());
    }

    #[test]
    fn deep_objects_take_no_stack() {
        on_small_stack(|| {
            for depth in DEPTHS {
                for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
                    let depth = depth - 1;
                    let text = format!("{{\"a\":{}1{}}}", open.repeat(depth), close.repeat(depth));
                    let read = object_text(&text);
                    if depth < 10_000 {
                        assert_eq!(read, Ok(text));
                    } else {
                        let error = read.expect_err("Go reads no more than 10,000 levels");
                        assert!(error.ends_with("exceeded max depth"), "{error}");
                    }
                }
            }
        });
    }
}
