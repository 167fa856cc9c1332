//! JSON that is kept as it is: Go's `map[string]interface{}`.

use std::borrow::Cow;

use super::context::Context;
use super::decode::Decode;
use super::encode::{self, ControlEscapes, Style};
use super::kinds::Any;
use super::value::{Kind, Value};

/// A field for an object with any contents. Names come out in order, and numbers as floats, as Go's maps print them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AnyObject(Option<serde_json::Map<String, serde_json::Value>>);

impl AnyObject {
    /// The object as JSON; none for `null`.
    pub(crate) fn into_text(self) -> Option<String> {
        let style = Style {
            pretty: false,
            newline: false,
            control_escapes: ControlEscapes::Long,
        };
        let text = encode::to_vec(&self.0?, style);
        Some(String::from_utf8(text).expect("JSON is text"))
    }
}

impl Decode for AnyObject {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        match value.kind() {
            Kind::Null => self.0 = None,
            Kind::Object => {
                let members = self.0.get_or_insert_default();
                for (name, member) in value.members() {
                    let member = any(member, context);
                    members.insert(name.into_owned(), member);
                }
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "map[string]interface {}".into()
    }
}

/// A value of any kind.
fn any(value: Value<'_>, context: &mut Context) -> serde_json::Value {
    match value.kind() {
        Kind::Array => value
            .elements()
            .map(|element| any(element, context))
            .collect(),
        Kind::Object => {
            let members = value.members();
            let members = members.map(|(name, member)| (name.into_owned(), any(member, context)));
            serde_json::Value::Object(members.collect())
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {
            let mut scalar = Any::default();
            scalar.decode(value, context);
            match scalar {
                Any::Null | Any::Container => serde_json::Value::Null,
                Any::Bool(flag) => flag.into(),
                Any::Number(number) => number.into(),
                Any::String(text) => text.into(),
            }
        }
    }
}
