//! Values in answers.

use proconsul_gocompat::json::encode::Json;
use serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};

/// Takes a value that is shown.
pub type Put<'p> = &'p mut dyn FnMut(Shown<'_>);
/// Takes a field that is shown.
pub type PutField<'p> = &'p mut dyn FnMut(&'static str, Shown<'_>);
/// Takes a member with a name of the user.
pub type PutNamed<'p> = &'p mut dyn FnMut(&str, Shown<'_>);

/// A value as it is shown.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// Nothing.
    Null,
    /// A text.
    Text(&'a str),
    /// A number.
    Int(i64),
    /// A number that is not negative.
    Uint(u64),
    /// A flag.
    Flag(bool),
    /// A text that is JSON.
    Json(&'a str),
    /// A structure: puts its fields.
    Object(&'a dyn Fn(PutField<'_>)),
    /// A list: puts its elements.
    List(&'a dyn Fn(Put<'_>)),
    /// An object with names of the user: puts its members.
    Named(&'a dyn Fn(PutNamed<'_>)),
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq as _;
        let mut result = Ok(());
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Uint(number) => serializer.serialize_u64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Json(text) => Json(text).serialize(serializer),
            Self::Object(fields) => {
                let mut object = serializer.serialize_struct("", 0)?;
                fields(&mut |name, value| {
                    if result.is_ok() {
                        result = object.serialize_field(name, &value);
                    }
                });
                result.and_then(|()| object.end())
            }
            Self::List(elements) => {
                let mut list = serializer.serialize_seq(None)?;
                elements(&mut |value| {
                    if result.is_ok() {
                        result = list.serialize_element(&value);
                    }
                });
                result.and_then(|()| list.end())
            }
            Self::Named(members) => {
                let mut object = serializer.serialize_map(None)?;
                members(&mut |name, value| {
                    if result.is_ok() {
                        result = object.serialize_entry(name, &value);
                    }
                });
                result.and_then(|()| object.end())
            }
        }
    }
}
