//! A serializer of Go's JSON: HTML characters in strings are escaped, the indentation is four spaces, bytes
//! are base64.
//!
//! It is written for speed, because printing entries is most of a server's work. `serde_json` with a formatter
//! of our own took three times as long.

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    Serializer,
};

use super::layout::{
    ControlEscapes, Style, break_line, break_line_after_comma, is_plain, push_string, push_unquoted,
};
use super::reprint;
use crate::base64;

/// Why a value cannot be printed: no answer has its kind.
pub(super) type SerializeError = serde::de::value::Error;

/// The name of the newtype whose bytes are text.
pub(super) const TEXT: &str = "go::json::Text";
/// The name of the newtype whose bytes are JSON.
pub(super) const JSON: &str = "go::json::Json";

/// The meaning of a value's bytes.
#[derive(Clone, Copy, Debug)]
enum Bytes {
    /// Data, outside of these newtypes.
    Data,
    Text,
    Json,
}

/// Prints a value.
#[derive(Debug)]
pub(super) struct GoSerializer<'w> {
    out: &'w mut Vec<u8>,
    style: Style,
    depth: usize,
    bytes: Bytes,
}

/// Prints the elements or members of a container.
#[derive(Debug)]
pub(super) struct Container<'w> {
    out: &'w mut Vec<u8>,
    style: Style,
    /// The depth of its contents.
    depth: usize,
    is_empty: bool,
    /// The closing bracket.
    close: u8,
}

impl<'w> GoSerializer<'w> {
    /// Creates a serializer that appends a value at this depth of a document.
    pub(super) fn new(out: &'w mut Vec<u8>, style: Style, depth: usize) -> Self {
        Self {
            out,
            style,
            depth,
            bytes: Bytes::Data,
        }
    }

    fn begin(self, [open, close]: [u8; 2]) -> Container<'w> {
        self.out.push(open);
        Container {
            out: self.out,
            style: self.style,
            depth: self.depth + 1,
            is_empty: true,
            close,
        }
    }

    fn raw(self, text: &[u8]) -> Result<(), SerializeError> {
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn integer(self, value: impl itoa::Integer) -> Result<(), SerializeError> {
        self.raw(itoa::Buffer::new().format(value).as_bytes())
    }
}

impl Container<'_> {
    /// Starts the next element.
    #[inline]
    fn next(&mut self) {
        if self.style.pretty {
            self.next_line();
        } else if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }

    fn next_line(&mut self) {
        if self.is_empty {
            break_line(self.out, self.depth);
        } else {
            break_line_after_comma(self.out, self.depth);
        }
    }

    fn colon(&mut self) {
        self.out.push(b':');
        if self.style.pretty {
            self.out.push(b' ');
        }
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        value.serialize(GoSerializer::new(self.out, self.style, self.depth))
    }

    fn finish(self) {
        if self.style.pretty && !self.is_empty {
            break_line(self.out, self.depth - 1);
        }
        self.out.push(self.close);
    }
}

/// Prints text that need not be UTF-8.
fn push_text(out: &mut Vec<u8>, text: &[u8], escapes: ControlEscapes) {
    if is_plain(text) {
        out.push(b'"');
        out.extend_from_slice(text);
        return out.push(b'"');
    }
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        push_unquoted(out, chunk.valid(), escapes);
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}

/// Prints data between quotes, in padded base64.
fn push_base64(out: &mut Vec<u8>, data: &[u8]) {
    out.push(b'"');
    base64::encode(data, out);
    out.push(b'"');
}

impl<'w> Serializer for GoSerializer<'w> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Container<'w>;
    type SerializeTuple = Container<'w>;
    type SerializeMap = Container<'w>;
    type SerializeStruct = Container<'w>;
    type SerializeTupleStruct = Impossible<(), SerializeError>;
    type SerializeTupleVariant = Impossible<(), SerializeError>;
    type SerializeStructVariant = Impossible<(), SerializeError>;

    fn serialize_bool(self, value: bool) -> Result<(), SerializeError> {
        self.raw(if value { b"true" } else { b"false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), SerializeError> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), SerializeError> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), SerializeError> {
        let magnitude = value.abs();
        if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
            return self.raw(value.to_string().as_bytes());
        }
        let exponential = format!("{value:e}");
        // Go prints the sign of every exponent.
        let signed = if magnitude < 1.0 {
            exponential
        } else {
            exponential.replace('e', "e+")
        };
        self.raw(signed.as_bytes())
    }

    fn serialize_char(self, value: char) -> Result<(), SerializeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), SerializeError> {
        push_string(self.out, value, self.style.control_escapes);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), SerializeError> {
        match self.bytes {
            Bytes::Data => push_base64(self.out, value),
            Bytes::Text => push_text(self.out, value, self.style.control_escapes),
            Bytes::Json => reprint::push(self.out, value, self.style, self.depth),
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), SerializeError> {
        self.raw(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), SerializeError> {
        self.raw(b"null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), SerializeError> {
        self.raw(b"null")
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _number: u32,
        variant: &'static str,
    ) -> Result<(), SerializeError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        let bytes = match name {
            TEXT => Bytes::Text,
            JSON => Bytes::Json,
            _ => Bytes::Data,
        };
        value.serialize(Self { bytes, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _number: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        let mut object = self.begin(*b"{}");
        SerializeStruct::serialize_field(&mut object, variant, value)?;
        object.finish();
        Ok(())
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Container<'w>, SerializeError> {
        Ok(self.begin(*b"[]"))
    }

    fn serialize_tuple(self, _length: usize) -> Result<Container<'w>, SerializeError> {
        Ok(self.begin(*b"[]"))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Container<'w>, SerializeError> {
        Ok(self.begin(*b"{}"))
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Container<'w>, SerializeError> {
        Ok(self.begin(*b"{}"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleStruct, SerializeError> {
        Err(SerializeError::custom(name))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _number: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleVariant, SerializeError> {
        Err(SerializeError::custom(name))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _number: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStructVariant, SerializeError> {
        Err(SerializeError::custom(name))
    }
}

impl SerializeSeq for Container<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), SerializeError> {
        self.next();
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish();
        Ok(())
    }
}

impl SerializeTuple for Container<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), SerializeError> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<(), SerializeError> {
        SerializeSeq::end(self)
    }
}

impl SerializeMap for Container<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), SerializeError> {
        self.next();
        self.value(name)?;
        self.colon();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        SerializeSeq::end(self)
    }
}

impl SerializeStruct for Container<'_> {
    type Ok = ();
    type Error = SerializeError;

    // Inlined, the name is copied as a constant.
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        self.out.reserve(name.len() + 4);
        self.next();
        // The names of members are letters.
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'"');
        self.colon();
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        SerializeSeq::end(self)
    }
}
