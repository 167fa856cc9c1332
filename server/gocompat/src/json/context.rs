//! The state of decoding: the options, the path of the current field, and the error to report.

use std::borrow::Cow;
use std::fmt;

use super::scan::SyntaxError;
use super::value::{Value, ValueKind};
use crate::generation::{EmbeddedNames, Go};
use crate::quote::QuotedBy;

/// How an endpoint treats unknown fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFields {
    /// They are ignored.
    Accepted,
    /// They are an error.
    Refused,
}

/// A release of the server: the fields of its types, and its release of Go.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// Its version, such as 1.22.0.
    pub number: [u16; 3],
    /// Whether this version has a change.
    pub has: fn([u16; 3], ReleaseChange) -> bool,
    /// Its release of Go.
    pub go: Go,
}

/// A change between releases, by the caller's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseChange(pub usize);

impl Release {
    /// A release after all changes.
    pub const NEWEST: Self = Self {
        number: [u16::MAX; 3],
        has: |_, _| true,
        go: Go::NEWEST,
    };
}

/// How a body is decoded.
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptions {
    /// How to treat unknown fields, outside of types with their own decoder (`Decoder::Own`).
    pub unknown_fields: UnknownFields,
    /// The release whose types are decoded. Fields of later releases are unknown.
    pub release: Release,
    /// Go's name of the type of the whole body, if it is a named one, e.g. `api.TxnOps`.
    pub go_type: Option<&'static str>,
}

/// Why a body cannot be decoded. `Display` prints Go's sentence; handlers add a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The body does not start with a JSON value.
    Syntax(SyntaxError),
    /// The kind of a value does not fit its field.
    Type {
        /// The value in the body: `number`, `number -1`, `object`, ...
        found: String,
        /// `Struct.Path.To.Field`; empty outside of fields.
        field: String,
        /// Go's name of the destination type.
        go_type: Cow<'static, str>,
    },
    /// A field is unknown: its name, in quotes.
    UnknownField(String),
    /// A byte string is invalid base64 at this position.
    Base64(usize),
    /// An error of a type's own decoder.
    Own(String),
}

impl DecodeError {
    /// Whether the body ended inside of its first value.
    pub fn is_truncation(&self) -> bool {
        matches!(
            self,
            Self::Syntax(SyntaxError::Empty | SyntaxError::Truncated)
        )
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Syntax(error) => error.fmt(formatter),
            DecodeError::Type {
                found,
                field,
                go_type,
            } if field.is_empty() => {
                write!(
                    formatter,
                    "json: cannot unmarshal {found} into Go value of type {go_type}"
                )
            }
            DecodeError::Type {
                found,
                field,
                go_type,
            } => {
                write!(
                    formatter,
                    "json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"
                )
            }
            DecodeError::UnknownField(name) => {
                write!(formatter, "json: unknown field {name}")
            }
            DecodeError::Base64(position) => {
                write!(formatter, "illegal base64 data at input byte {position}")
            }
            DecodeError::Own(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The deepest nesting of decoded structs. Deeper ones stay empty, and their errors go unnoticed: each level
/// takes kilobytes of stack. Only sidecars of sidecars nest deeper than a quarter of this. Consul refuses them
/// in an agent's service whatever their contents, and ignores them in a transaction.
const MAX_STRUCTS: usize = 32;

/// The state of decoding, with the error to report.
#[derive(Debug)]
pub struct DecodeContext {
    unknown_fields: UnknownFields,
    release: Release,
    /// The type of the struct of the current field.
    go_struct: &'static str,
    /// The number of structs around the current field.
    structs: usize,
    /// The names of the fields that lead to the current one.
    path: Vec<&'static str>,
    /// Whether a type with its own decoder surrounds the current field and is itself a field. Errors then name
    /// the outer struct.
    in_own_decoder: bool,
    error: Option<DecodeError>,
    /// Whether the error came from a type's own decoder, so that later ones are ignored.
    ended: bool,
}

/// The state that a type's own decoder saves and restores.
pub(super) struct Outer {
    unknown_fields: UnknownFields,
    in_own_decoder: bool,
    error: Option<DecodeError>,
    ended: bool,
}

/// Returns the name of a struct without its package; empty for an unnamed one.
fn struct_name(go_type: &'static str) -> &'static str {
    match go_type.rsplit_once('.') {
        _ if go_type.starts_with("struct {") => "",
        Some((_, name)) => name,
        None => go_type,
    }
}

impl DecodeContext {
    pub(super) fn new(rules: DecodeOptions) -> DecodeContext {
        DecodeContext {
            unknown_fields: rules.unknown_fields,
            release: rules.release,
            go_struct: "",
            structs: 0,
            path: Vec::new(),
            in_own_decoder: false,
            error: None,
            ended: false,
        }
    }

    /// Whether no error was reported.
    pub(super) fn is_fine(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the reported error.
    pub(super) fn into_result(self) -> Result<(), DecodeError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Whether the release has the change `since`.
    pub(super) fn has(&self, since: Option<ReleaseChange>) -> bool {
        since.is_none_or(|change| (self.release.has)(self.release.number, change))
    }

    /// Returns the release of Go.
    pub fn go(&self) -> Go {
        self.release.go
    }

    /// Reports the error of a type's own decoder, which replaces type errors.
    pub fn end(&mut self, error: DecodeError) {
        if !self.ended {
            self.error = Some(error);
            self.ended = true;
        }
    }

    /// Reports an error, if it is the first.
    pub fn fail(&mut self, error: DecodeError) {
        self.error.get_or_insert(error);
    }

    /// Reports that the kind of a value does not fit its place.
    pub fn mismatch(
        &mut self,
        value: Value<'_>,
        found: &ValueKind<'_>,
        go_type: Cow<'static, str>,
    ) {
        let found = match found {
            ValueKind::Null => "null",
            ValueKind::Bool(_) => "bool",
            ValueKind::Number(_) => "number",
            ValueKind::String(_) => "string",
            ValueKind::Array => "array",
            ValueKind::Object => "object",
        };
        self.type_error(value, found.to_owned(), go_type);
    }

    /// Reports that a number does not fit its place.
    pub(crate) fn bad_number(
        &mut self,
        value: Value<'_>,
        number: &str,
        go_type: Cow<'static, str>,
    ) {
        self.type_error(value, format!("number {number}"), go_type);
    }

    fn type_error(&mut self, value: Value<'_>, found: String, go_type: Cow<'static, str>) {
        let field = match self.path.is_empty() {
            true => String::new(),
            false => format!("{}.{}", struct_name(self.go_struct), self.path.join(".")),
        };
        let go_type = value.go_type.map_or(go_type, Cow::Borrowed);
        self.fail(DecodeError::Type {
            found,
            field,
            go_type,
        });
    }

    pub(super) fn unknown_field(&mut self, name: &str) {
        match self.unknown_fields {
            UnknownFields::Accepted => {}
            UnknownFields::Refused => {
                let name = QuotedBy(self.release.go.unicode, name.as_bytes());
                self.fail(DecodeError::UnknownField(name.to_string()));
            }
        }
    }

    /// Enters a struct. Returns whether to decode it: see [`MAX_STRUCTS`].
    #[must_use]
    pub(super) fn descend(&mut self) -> bool {
        let may = self.structs < MAX_STRUCTS;
        self.structs += usize::from(may);
        may
    }

    /// Leaves a decoded struct.
    pub(super) fn ascend(&mut self) {
        self.structs -= 1;
    }

    pub(super) fn enter_struct(&mut self, go_type: &'static str) -> &'static str {
        let outer = self.go_struct;
        if !self.in_own_decoder {
            self.go_struct = go_type;
        }
        outer
    }

    pub(super) fn leave_struct(&mut self, outer: &'static str) {
        self.go_struct = outer;
    }

    /// Enters a field. Returns the length of the path before.
    pub(super) fn enter_field(
        &mut self,
        name: &'static str,
        embedded_in: Option<&'static str>,
    ) -> usize {
        let depth = self.path.len();
        match self.release.go.embedded_names {
            EmbeddedNames::Hidden if self.in_own_decoder => {}
            EmbeddedNames::Hidden => self.path.push(name),
            EmbeddedNames::Shown => {
                self.path.extend(embedded_in);
                self.path.push(name);
            }
        }
        depth
    }

    pub(super) fn leave_field(&mut self, depth: usize) {
        self.path.truncate(depth);
    }

    pub(super) fn enter_own_decoder(&mut self, unknown_fields: UnknownFields) -> Outer {
        let is_field = !self.path.is_empty();
        Outer {
            unknown_fields: std::mem::replace(&mut self.unknown_fields, unknown_fields),
            in_own_decoder: std::mem::replace(&mut self.in_own_decoder, is_field),
            error: self.error.take(),
            ended: std::mem::take(&mut self.ended),
        }
    }

    pub(super) fn leave_own_decoder(&mut self, outer: Outer) {
        self.unknown_fields = outer.unknown_fields;
        self.in_own_decoder = outer.in_own_decoder;
        if self.error.is_some() && !outer.ended {
            self.ended = true;
        } else {
            self.error = outer.error;
            self.ended = outer.ended;
        }
    }
}
