//! The Rust types into which JSON values are decoded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;

use super::context::{DecodeContext, DecodeError};
use super::decode::Decode;
use super::value::{Value, ValueKind};
use crate::base64;

impl Decode for String {
    type Place = Self;

    fn decode(place: &mut Self, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => {}
            ValueKind::String(text) => *place = text.into_owned(),
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "string".into()
    }
}

impl Decode for bool {
    type Place = Self;

    fn decode(place: &mut Self, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => {}
            ValueKind::Bool(flag) => *place = flag,
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "bool".into()
    }
}

/// Go's `int`, which has 64 bits on Consul's platforms.
pub struct Int;

/// Decodes numbers. Integers may have neither a decimal point nor an exponent, not even `1.0`.
macro_rules! decode_number {
    ($($type:ty, $place:ty => $go:literal, $parse:expr;)*) => {$(
        impl Decode for $type {
            type Place = $place;

            fn decode(place: &mut $place, value: Value<'_>, context: &mut DecodeContext) {
                let parse: fn(&str) -> Option<$place> = $parse;
                match value.kind() {
                    ValueKind::Null => {}
                    ValueKind::Number(number) => match parse(number) {
                        Some(parsed) => *place = parsed,
                        None => context.bad_number(value, number, Self::go_type()),
                    },
                    other => context.mismatch(value, &other, Self::go_type()),
                }
            }

            fn go_type() -> Cow<'static, str> {
                $go.into()
            }
        }
    )*};
}

decode_number! {
    u8, u8 => "uint8", |number| number.parse().ok();
    u64, u64 => "uint64", |number| number.parse().ok();
    i64, i64 => "int64", |number| number.parse().ok();
    Int, i64 => "int", |number| number.parse().ok();
    f64, f64 => "float64", parse_float;
}

/// Returns a JSON number as a float, unless it is too large.
fn parse_float(number: &str) -> Option<f64> {
    number
        .parse()
        .ok()
        .filter(|parsed: &f64| parsed.is_finite())
}

/// A pointer, whose `null` is `None`. Type errors name its target; a list of pointers needs a name of its own
/// (`is "[]*T"` in a table).
impl<T: Decode<Place: Default>> Decode for Option<T> {
    type Place = Option<T::Place>;

    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext) {
        if value.is_null() {
            *place = None;
        } else {
            T::decode(place.get_or_insert_default(), value, context);
        }
    }

    fn go_type() -> Cow<'static, str> {
        T::go_type()
    }
}

/// A box, for recursive types.
impl<T: Decode> Decode for Box<T> {
    type Place = Box<T::Place>;

    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext) {
        T::decode(place, value, context);
    }

    fn go_type() -> Cow<'static, str> {
        T::go_type()
    }
}

/// A slice. As in Go, existing elements are decoded into: `null` keeps the one of an earlier list.
impl<T: Decode<Place: Default>> Decode for Vec<T> {
    type Place = Vec<T::Place>;

    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => place.clear(),
            ValueKind::Array => {
                let mut count = 0;
                for element in value.elements() {
                    if count == place.len() {
                        place.push(T::Place::default());
                    }
                    T::decode(&mut place[count], element, context);
                    count += 1;
                }
                place.truncate(count);
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        format!("[]{}", T::go_type()).into()
    }
}

/// A map. A repeated object is merged; each member starts empty.
impl<T: Decode<Place: Default>> Decode for BTreeMap<String, T> {
    type Place = BTreeMap<String, T::Place>;

    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => place.clear(),
            ValueKind::Object => {
                for (name, member) in value.members() {
                    let mut decoded = T::Place::default();
                    T::decode(&mut decoded, member, context);
                    place.insert(name.into_owned(), decoded);
                }
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        format!("map[string]{}", T::go_type()).into()
    }
}

/// A byte string: base64, or an array of numbers.
impl Decode for Bytes {
    type Place = Self;

    fn decode(place: &mut Self, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Null => place.clear(),
            ValueKind::String(text) => match base64::decode(text.as_bytes()) {
                Ok(bytes) => *place = bytes.into(),
                Err(position) => context.fail(DecodeError::Base64(position)),
            },
            ValueKind::Array => {
                let mut bytes = Vec::new();
                Vec::<u8>::decode(&mut bytes, value, context);
                *place = bytes.into();
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "[]uint8".into()
    }
}

/// A field whose JSON is kept as it is, `json.RawMessage`: an empty text without a value.
pub struct RawJson;

impl Decode for RawJson {
    type Place = String;

    fn decode(place: &mut String, value: Value<'_>, _: &mut DecodeContext) {
        *place = match value.kind() {
            ValueKind::Null => String::new(),
            _ => String::from_utf8_lossy(value.text()).into_owned(),
        };
    }

    fn go_type() -> Cow<'static, str> {
        "json.RawMessage".into()
    }
}

/// A field of Go's type `interface{}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Any {
    /// `null`, or a missing field.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, which Go makes a float.
    Number(f64),
    /// A string.
    String(String),
    /// An array or object. Consul never looks at its contents.
    Container,
}

impl Decode for Any {
    type Place = Self;

    fn decode(place: &mut Self, value: Value<'_>, context: &mut DecodeContext) {
        *place = match value.kind() {
            ValueKind::Null => Any::Null,
            ValueKind::Bool(flag) => Any::Bool(flag),
            ValueKind::Number(number) => match parse_float(number) {
                Some(parsed) => Any::Number(parsed),
                None => return context.bad_number(value, number, "float64".into()),
            },
            ValueKind::String(text) => Any::String(text.into_owned()),
            ValueKind::Array | ValueKind::Object => Any::Container,
        };
    }

    fn go_type() -> Cow<'static, str> {
        "interface {}".into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;

    use super::{Any, Int};
    use crate::json::context::{DecodeOptions, Release, UnknownFields};
    use crate::json::decode::{Decode, decode};

    const RULES: DecodeOptions = DecodeOptions {
        unknown_fields: UnknownFields::Refused,
        release: Release::NEWEST,
        go_type: None,
    };

    /// Decodes the bodies one after the other into the same place.
    fn taken<T: Decode<Place: Default>>(bodies: &[&str]) -> T::Place {
        let mut place = T::Place::default();
        for body in bodies {
            decode::<T>(body.as_bytes(), &mut place, RULES).expect("the body is accepted");
        }
        place
    }

    fn refused<T: Decode<Place: Default>>(body: &str) -> String {
        let message = decode::<T>(body.as_bytes(), &mut T::Place::default(), RULES)
            .expect_err("the body is refused")
            .to_string();
        message
            .replace("json: cannot unmarshal ", "")
            .replace(" into Go value of type ", " -> ")
    }

    #[test]
    fn scalars() {
        assert_eq!(taken::<String>(&["\"a\"", "null"]), "a");
        assert!(taken::<bool>(&["true", "null"]));
        assert_eq!(taken::<u64>(&["18446744073709551615", "null"]), u64::MAX);
        assert_eq!(taken::<i64>(&["-9223372036854775808", "null"]), i64::MIN);
        assert_eq!(taken::<Int>(&["-0"]), 0);
        assert_eq!(taken::<f64>(&["-1.5e2", "null"]), -150.0);
    }

    #[test]
    fn scalars_of_the_wrong_kind() {
        assert_eq!(refused::<String>("5"), "number -> string");
        assert_eq!(refused::<bool>("1"), "number -> bool");
        assert_eq!(refused::<bool>("\"true\""), "string -> bool");
        assert_eq!(refused::<u64>("true"), "bool -> uint64");
        assert_eq!(refused::<i64>("{}"), "object -> int64");
        assert_eq!(refused::<Int>("[]"), "array -> int");
        assert_eq!(refused::<f64>("\"x\""), "string -> float64");
    }

    #[test]
    fn numbers_out_of_form_or_range() {
        for number in ["-1", "-0", "1.0", "1e2", "18446744073709551616"] {
            assert_eq!(refused::<u64>(number), format!("number {number} -> uint64"));
        }
        assert_eq!(
            refused::<i64>("9223372036854775808"),
            "number 9223372036854775808 -> int64"
        );
        assert_eq!(refused::<Int>("1.5"), "number 1.5 -> int");
        assert_eq!(refused::<f64>("1e999"), "number 1e999 -> float64");
        assert_eq!(refused::<Any>("-1e999"), "number -1e999 -> float64");
    }

    #[test]
    fn slices() {
        type Strings = Vec<String>;
        assert_eq!(taken::<Strings>(&["[\"a\",\"b\"]"]), ["a", "b"]);
        assert_eq!(taken::<Strings>(&["[null,\"a\"]"]), ["", "a"]);
        assert_eq!(taken::<Strings>(&["[\"a\",\"b\"]", "[null]"]), ["a"]);
        assert_eq!(taken::<Strings>(&["[\"a\"]", "null"]), [""; 0]);
        assert_eq!(taken::<Strings>(&["[\"a\"]", "[]"]), [""; 0]);
        assert_eq!(refused::<Strings>("\"a\""), "string -> []string");
        assert_eq!(refused::<Strings>("[5]"), "number -> string");
        assert_eq!(refused::<Vec<Vec<u64>>>("[{}]"), "object -> []uint64");
    }

    #[test]
    fn nothing_and_empty_are_told_apart_where_go_does() {
        assert_eq!(taken::<Option<Vec<String>>>(&["[]"]), Some(Vec::new()));
        assert_eq!(taken::<Option<Vec<String>>>(&["[]", "null"]), None);
        assert_eq!(refused::<Option<Vec<String>>>("5"), "number -> []string");
    }

    #[test]
    fn maps() {
        type Strings = BTreeMap<String, String>;
        let pairs = |pairs: &[(&str, &str)]| -> Strings {
            pairs
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        assert_eq!(
            taken::<Strings>(&["{\"a\":\"1\",\"b\":null}"]),
            pairs(&[("a", "1"), ("b", "")])
        );
        assert_eq!(
            taken::<Strings>(&["{\"a\":\"1\"}", "{\"b\":\"2\"}"]),
            pairs(&[("a", "1"), ("b", "2")])
        );
        assert_eq!(
            taken::<Strings>(&["{\"a\":\"1\",\"a\":null}"]),
            pairs(&[("a", "")])
        );
        assert_eq!(taken::<Strings>(&["{\"a\":\"1\"}", "null"]), pairs(&[]));
        assert_eq!(refused::<Strings>("[]"), "array -> map[string]string");
        assert_eq!(refused::<Strings>("{\"a\":5}"), "number -> string");
    }

    #[test]
    fn byte_strings() {
        assert_eq!(taken::<Bytes>(&["\"YQ==\""]), "a");
        assert_eq!(taken::<Bytes>(&["\"\\u0059Q=\\n=\""]), "a");
        assert_eq!(taken::<Bytes>(&["\"YQ==\"", "null"]), "");
        assert_eq!(taken::<Bytes>(&["[1,255]"]), &b"\x01\xff"[..]);
        assert_eq!(
            refused::<Bytes>("\"YQ\""),
            "illegal base64 data at input byte 0"
        );
        assert_eq!(refused::<Bytes>("5"), "number -> []uint8");
        assert_eq!(refused::<Bytes>("{}"), "object -> []uint8");
        assert_eq!(refused::<Bytes>("[256]"), "number 256 -> uint8");
        assert_eq!(refused::<Bytes>("[\"a\"]"), "string -> uint8");
    }

    #[test]
    fn anything() {
        assert_eq!(taken::<Any>(&["\"15s\""]), Any::String("15s".into()));
        assert_eq!(taken::<Any>(&["15"]), Any::Number(15.0));
        assert_eq!(taken::<Any>(&["true"]), Any::Bool(true));
        assert_eq!(taken::<Any>(&["{}"]), Any::Container);
        assert_eq!(taken::<Any>(&["[1]", "null"]), Any::Null);
    }
}
