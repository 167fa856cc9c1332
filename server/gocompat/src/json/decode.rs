//! Request bodies: JSON into Rust values by the rules of Go's `json.Decoder`.
//!
//! A type says which fields it has ([`Object`]); this module walks the body in the order in which it is written and fills
//! them in place. From that follows what Go does with oddities: names match without regard to case, of duplicates the later
//! wins, objects that come twice are merged, `null` leaves scalars as they are, and the first problem in the body is the one
//! that is reported, although decoding goes on behind it (session.md 0.13, kv.md 7.1).
//!
//! ```text
//! #[derive(Default)]
//! struct KvOperation { verb: String, key: String, value: Bytes, flags: u64 }
//!
//! impl Object for KvOperation {
//!     const GO_TYPE: &'static str = "api.KVTxnOp";
//!     fn fields(&mut self) -> Vec<Field<'_>> {
//!         vec![
//!             field("Verb", &mut self.verb).of_type("api.KVOp"),
//!             field("Key", &mut self.key),
//!             field("Value", &mut self.value),
//!             field("Flags", &mut self.flags),
//!         ]
//!     }
//! }
//!
//! let mut operation = KvOperation::default();
//! decode(body, &mut operation, rules)?;
//! ```

use std::borrow::Cow;

use super::context::{Change, Context, DecodeError, Rules, UnknownFields};
use super::scan::first_value;
use super::value::{Kind, Value};

/// Decodes the first JSON value of a body into `target`, on top of what it holds; what follows that value is ignored.
///
/// # Errors
/// The first problem of the body. `target` is then filled in part.
pub fn decode(body: &[u8], target: &mut dyn Decode, rules: Rules) -> Result<(), DecodeError> {
    let document = first_value(body).map_err(DecodeError::Syntax)?;
    let mut value = document.value();
    value.go_type = rules.go_type;
    let mut context = Context::new(rules);
    target.decode(value, &mut context);
    context.into_result()
}

/// A place that a JSON value can be decoded into.
pub trait Decode {
    /// Takes the value, or says to the context why it cannot.
    fn decode(&mut self, value: Value<'_>, context: &mut Context);

    /// Go's name for the type, as in type errors.
    fn go_type() -> Cow<'static, str>
    where
        Self: Sized;
}

/// A struct of Go: a JSON object with known fields.
pub trait Object {
    /// Go's name for the type with its package, e.g. `api.KVTxnOp`.
    const GO_TYPE: &'static str;

    /// Whether Go's type decodes itself.
    const DECODER: Decoder = Decoder::Standard;

    /// The fields, each with its place. An exact match of a name goes before one that differs in case.
    fn fields(&mut self) -> Vec<Field<'_>>;

    /// Called when an object was taken without a problem: what is left to check or to convert.
    ///
    /// # Errors
    /// The text to report.
    fn complete(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Who decodes a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// `encoding/json` itself.
    Standard,
    /// The type has an `UnmarshalJSON`, which has rules for unknown fields of its own and whose problems end the decoding of
    /// the whole body.
    Own(UnknownFields),
}

/// One field of an [`Object`].
pub struct Field<'a> {
    name: &'static str,
    place: &'a mut dyn Decode,
    embedded_in: Option<&'static str>,
    go_type: Option<&'static str>,
    other_name: Option<&'static str>,
    since: Option<Change>,
}

/// A field with the name that it has in JSON, and the place for its value.
pub fn field<'a>(name: &'static str, place: &'a mut dyn Decode) -> Field<'a> {
    Field {
        name,
        place,
        embedded_in: None,
        go_type: None,
        other_name: None,
        since: None,
    }
}

impl Field<'_> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.other_name].into_iter().flatten()
    }

    /// The name of the field that a name in the body matches, and the embedded struct that it belongs to: second names
    /// belong to the struct around.
    fn called(&self, name: &str) -> (&'static str, Option<&'static str>) {
        match self.other_name {
            Some(other) if !matches_folded(self.name, name) => (other, None),
            Some(_) | None => (self.name, self.embedded_in),
        }
    }

    /// The field belongs to an embedded struct, whose name type errors may show.
    pub fn embedded_in(mut self, name: &'static str) -> Self {
        self.embedded_in = Some(name);
        self
    }

    /// A second name of the field, which Consul takes where the first one is missing.
    pub fn or_named(mut self, name: &'static str) -> Self {
        self.other_name = Some(name);
        self
    }

    /// The field came with this change: to earlier releases it is unknown.
    pub fn since(mut self, change: impl Into<Change>) -> Self {
        self.since = Some(change.into());
        self
    }

    /// Go's name for the type of the field, where it is a named one, e.g. `types.CheckID`.
    pub fn of_type(mut self, go_type: &'static str) -> Self {
        self.go_type = Some(go_type);
        self
    }
}

/// What is boxed because it holds one of its own kind.
impl<T: Object> Object for Box<T> {
    const GO_TYPE: &'static str = T::GO_TYPE;
    const DECODER: Decoder = T::DECODER;

    fn fields(&mut self) -> Vec<Field<'_>> {
        (**self).fields()
    }

    fn complete(&mut self) -> Result<(), String> {
        (**self).complete()
    }
}

impl<T: Object> Decode for T {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        match T::DECODER {
            Decoder::Standard => decode_object(self, value, context),
            Decoder::Own(unknown_fields) => {
                let outer = context.enter_own_decoder(unknown_fields);
                decode_object(self, value, context);
                context.leave_own_decoder(outer);
            }
        }
    }

    fn go_type() -> Cow<'static, str> {
        Cow::Borrowed(T::GO_TYPE)
    }
}

fn decode_object<T: Object>(object: &mut T, value: Value<'_>, context: &mut Context) {
    match value.kind() {
        Kind::Null => return,
        Kind::Object => {}
        other => return context.mismatch(value, &other, T::go_type()),
    }
    if !context.descend() {
        return;
    }
    let outer_struct = context.enter_struct(T::GO_TYPE);
    let mut fields = object.fields();
    fields.retain(|field| context.has(field.since));
    for (name, mut value) in value.members() {
        let Some(field) = find(&mut fields, &name) else {
            context.unknown_field(&name);
            continue;
        };
        value.go_type = field.go_type;
        let (own_name, embedded_in) = field.called(&name);
        let depth = context.enter_field(own_name, embedded_in);
        field.place.decode(value, context);
        context.leave_field(depth);
    }
    drop(fields);
    context.leave_struct(outer_struct);
    context.ascend();
    if context.is_fine()
        && let Err(message) = object.complete()
    {
        context.fail(DecodeError::Own(message));
    }
}

fn find<'f, 'a>(fields: &'f mut [Field<'a>], name: &str) -> Option<&'f mut Field<'a>> {
    let exact = fields.iter().position(|field| field.name == name);
    let at = exact.or_else(|| {
        fields
            .iter()
            .position(|field| field.names().any(|own| matches_folded(own, name)))
    })?;
    Some(&mut fields[at])
}

/// Whether the ASCII name of a field matches without regard to case. Two letters have a third form beyond ASCII: the Kelvin
/// sign is a `k`, the long s an `s`.
fn matches_folded(field: &str, name: &str) -> bool {
    let folded = name.chars().map(|character| match character {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        _ => character.to_ascii_lowercase(),
    });
    field
        .chars()
        .map(|character| character.to_ascii_lowercase())
        .eq(folded)
}

#[cfg(test)]
mod tests;
