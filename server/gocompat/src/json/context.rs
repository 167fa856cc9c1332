//! What holds while a body is decoded: the rules, the way to the current field, and the problem to report.

use std::borrow::Cow;
use std::fmt;

use super::scan::SyntaxError;
use super::value::{Value, ValueKind};
use crate::generation::{EmbeddedNames, Go};
use crate::quote::QuotedBy;

/// What an endpoint does with fields that its Go type does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFields {
    /// They are skipped.
    Accepted,
    /// They are an error.
    Refused,
}

/// A release of the program whose bodies these are: which fields its types have, and which Go it was built with.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// Its number, such as 1.22.0.
    pub number: [u16; 3],
    /// Whether the release of this number has what came with a change.
    pub has: fn([u16; 3], ReleaseChange) -> bool,
    /// The Go that it was built with.
    pub go: Go,
}

/// What a release changed: a number of the caller's.
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

/// How one body is decoded.
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptions {
    /// For the body and all that it contains, until a type with a decoder of its own (`Decoder::Own`).
    pub unknown_fields: UnknownFields,
    /// Whose types these are: a field that came later is not one of them.
    pub release: Release,
    /// Go's name for the type of the whole body where it is a named one, e.g. `api.TxnOps`.
    pub go_type: Option<&'static str>,
}

/// Why a body cannot be decoded. Prints Go's sentence, which handlers put behind one of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The body does not begin with a JSON value.
    Syntax(SyntaxError),
    /// A value is of another kind than its field.
    Type {
        /// What the body has: `number`, `number -1`, `object`, ...
        found: String,
        /// `Struct.Path.To.Field`, or empty if no field is concerned.
        field: String,
        /// Go's name for the type of the place.
        go_type: Cow<'static, str>,
    },
    /// A field that the type does not have: its name, in quotes.
    UnknownField(String),
    /// The text of a byte string is not base64 from this position on.
    Base64(usize),
    /// A type's own rule, in the type's own words.
    Own(String),
}

impl DecodeError {
    /// Whether the body ended before its first value did.
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

/// How deep structs may be nested that are looked into. Deeper ones stay empty, and what is wrong in them goes
/// unnoticed: decoding takes some kilobytes of stack for each level. No type of Consul's needs a quarter of it but the
/// sidecar of a sidecar of a sidecar and so on, which Consul refuses in an agent's service whatever is in it, and does
/// not read in a transaction.
const MAX_STRUCTS: usize = 32;

/// Where the decoding stands, and the problem to report.
#[derive(Debug)]
pub struct DecodeContext {
    unknown_fields: UnknownFields,
    release: Release,
    /// The struct around the current field, without its package; empty for an unnamed one.
    go_struct: &'static str,
    /// How many structs are around the current field.
    structs: usize,
    /// The names of the fields that lead to the current one.
    path: Vec<&'static str>,
    /// Inside of a type with a decoder of its own that is itself a field: errors keep naming the struct around it.
    in_own_decoder: bool,
    error: Option<DecodeError>,
    /// The problem came from a type's own decoder: nothing behind it counts.
    ended: bool,
}

/// What a type's own decoder puts aside.
pub(super) struct Outer {
    unknown_fields: UnknownFields,
    in_own_decoder: bool,
    error: Option<DecodeError>,
    ended: bool,
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

    /// Whether nothing was reported so far.
    pub(super) fn is_fine(&self) -> bool {
        self.error.is_none()
    }

    /// The problem that was reported, if any.
    pub(super) fn into_result(self) -> Result<(), DecodeError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Whether the types of this release have what came with `since`.
    pub(super) fn has(&self, since: Option<ReleaseChange>) -> bool {
        since.is_none_or(|change| (self.release.has)(self.release.number, change))
    }

    /// The Go that decodes.
    pub fn go(&self) -> Go {
        self.release.go
    }

    /// Reports a problem with which a type's own decoder ends: it goes before those of the kinds of values.
    pub fn end(&mut self, error: DecodeError) {
        if !self.ended {
            self.error = Some(error);
            self.ended = true;
        }
    }

    /// Reports a problem, unless there is one already.
    pub fn fail(&mut self, error: DecodeError) {
        self.error.get_or_insert(error);
    }

    /// Reports that the value is not of the kind that its place has.
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

    /// Reports that a number has the wrong form or size for its place.
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
            false => format!("{}.{}", self.go_struct, self.path.join(".")),
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

    /// Goes into a struct. Returns whether it may be looked into: see [`MAX_STRUCTS`].
    #[must_use]
    pub(super) fn descend(&mut self) -> bool {
        let may = self.structs < MAX_STRUCTS;
        self.structs += usize::from(may);
        may
    }

    /// Comes out of a struct that was looked into.
    pub(super) fn ascend(&mut self) {
        self.structs -= 1;
    }

    pub(super) fn enter_struct(&mut self, go_type: &'static str) -> &'static str {
        let outer = self.go_struct;
        if !self.in_own_decoder {
            self.go_struct = match go_type.rsplit_once('.') {
                _ if go_type.starts_with("struct {") => "",
                Some((_, name)) => name,
                None => go_type,
            };
        }
        outer
    }

    pub(super) fn leave_struct(&mut self, outer: &'static str) {
        self.go_struct = outer;
    }

    /// Returns how deep the path was before.
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
