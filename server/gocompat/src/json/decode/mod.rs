//! Decodes request bodies into Rust values by the rules of Go's `json.Decoder`.
//!
//! A table lists the fields of a Go type and their places in Rust ([`go_struct!`]). This module walks the body
//! in order and fills the places. So it behaves as Go does: names match in any case, the later of two
//! duplicates wins, repeated objects are merged, `null` keeps scalars, and the first error is reported
//! although decoding goes on (session.md 0.13, kv.md 7.1).
//!
//! ```text
//! go_struct! {
//!     /// One operation.
//!     struct KvOperation as "api.KVTxnOp" {
//!         "Verb" is "api.KVOp": String => verb,
//!         "Key": String => key,
//!         "Value": Bytes => value,
//!         "Flags": u64 => flags,
//!         "Partition" since Behaviour::JsonPartition: String,
//!     }
//! }
//!
//! let mut operation = KvOperation::default();
//! decode::<KvOperation>(body, &mut operation, rules)?;
//! ```

use std::borrow::Cow;

use crate::json::context::{
    DecodeContext, DecodeError, DecodeOptions, ReleaseChange, UnknownFields,
};
use crate::json::scan::{SyntaxError, first_value};
use crate::json::value::{Value, ValueKind};

/// Decodes the first JSON value of a body into `place`, over its current contents. Bytes behind the value are
/// ignored.
///
/// # Errors
/// The first error in the body. `place` is then filled in part.
pub fn decode<T: Decode>(
    body: &[u8],
    place: &mut T::Place,
    rules: DecodeOptions,
) -> Result<(), DecodeError> {
    let document = first_value(body).map_err(|error| match error {
        SyntaxError::Empty | SyntaxError::Truncated => DecodeError::Syntax(error),
        SyntaxError::Unexpected { .. } => DecodeError::Own(error.message(rules.release.go.unicode)),
    })?;
    let mut value = document.value();
    value.go_type = rules.go_type;
    let mut context = DecodeContext::new(rules);
    T::decode(place, value, &mut context);
    context.into_result()
}

/// A type of Go that can be decoded from JSON.
pub trait Decode {
    /// The Rust type of the place. Several types of Go may share one.
    type Place;

    /// Decodes a value into its place, or reports an error to the context.
    fn decode(place: &mut Self::Place, value: Value<'_>, context: &mut DecodeContext);

    /// Go's name of the type in type errors.
    fn go_type() -> Cow<'static, str>;
}

/// A struct of Go: a JSON object with known fields. [`go_struct!`] implements it.
pub trait Object {
    /// The Rust type of the place.
    type Place: 'static;

    /// Go's name of the type with its package, e.g. `api.KVTxnOp`.
    const GO_TYPE: &'static str;

    /// The decoder of Go's type.
    const DECODER: Decoder = Decoder::Standard;

    /// The fields with their places. An exact match of a name wins over one in another case.
    const FIELDS: &'static [Fields<'static, Self::Place>];

    /// Checks and converts after an object was decoded without an error.
    ///
    /// # Errors
    /// The sentence to report.
    fn complete(_place: &mut Self::Place) -> Result<(), String> {
        Ok(())
    }
}

/// The decoder of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// `encoding/json` itself.
    Standard,
    /// The type's `UnmarshalJSON`. It has its own rule for unknown fields, and its errors end the decoding of
    /// the whole body.
    Own(UnknownFields),
}

/// Declares a struct of Go: each field with its JSON name, its type and its place.
///
/// With `struct`, the macro also declares the Rust struct, with a member for each field that names one.
/// Without it, `Name as "go.Name" for place: Type` fills any Rust type, and each field gives its place as an
/// expression. A field without a place is decoded for its errors and dropped.
///
/// * `"Name" | "name"`: a second name, which Consul reads if the first is missing.
/// * `is "types.CheckID"`: Go's name of the field's type, if it is a named one.
/// * `since Behaviour::...`: the field is unknown to earlier releases.
/// * `*Alias { ... }`: fields of an embedded struct, whose name type errors may show; `*Alias.RaftIndex { ... }` of one
///   within it.
/// * `..TABLE;` and `*Alias of TABLE;`: the fields of a table that [`fields!`] made.
/// * `own decoder: Refused` (or `Accepted`): the type has an `UnmarshalJSON`, which refuses or accepts unknown
///   fields.
/// * `then: function`: [`Object::complete`].
#[macro_export]
macro_rules! go_struct {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident as $go_type:tt
        $(, own decoder: $unknown:ident)? $(, then: $complete:path)? {
            $(
                $field:literal $(| $other:literal)? $(is $is:literal)? $(since $since:path)?:
                $kind:ty $(=> $place:ident)?,
            )*
            $(*$embedded:ident $(. $deeper:ident)? {
                $(
                    $inner:literal $(| $inner_other:literal)? $(is $inner_is:literal)?
                    $(since $inner_since:path)?: $inner_kind:ty $(=> $inner_place:ident)?,
                )*
            })*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Default)]
        $visibility struct $name {
            $($(
                #[doc = concat!("`", $field, "` of the body.")]
                $visibility $place: <$kind as $crate::json::decode::Decode>::Place,
            )?)*
            $($($(
                #[doc = concat!("`", $inner, "` of the body.")]
                $visibility $inner_place: <$inner_kind as $crate::json::decode::Decode>::Place,
            )?)*)*
        }

        $crate::json::decode::go_struct! {
            @implement $name, $go_type, body: $name, [$($unknown)?], [$($complete)?] {
                $(
                    $field $(| $other)? $(is $is)? $(since $since)?: $kind $(=> body.$place)?,
                )*
                $(*$embedded $(. $deeper)? {
                    $(
                        $inner $(| $inner_other)? $(is $inner_is)? $(since $inner_since)?:
                        $inner_kind $(=> body.$inner_place)?,
                    )*
                })*
            }
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis $name:ident as $go_type:tt for $binder:ident: $target:ty
        $(, own decoder: $unknown:ident)? $(, then: $complete:path)? { $($fields:tt)* }
    ) => {
        $(#[$attribute])*
        $visibility struct $name;

        $crate::json::decode::go_struct! {
            @implement $name, $go_type, $binder: $target, [$($unknown)?], [$($complete)?] { $($fields)* }
        }
    };
    (
        @implement $name:ident, $go_type:tt, $binder:ident: $target:ty,
        [$($unknown:ident)?], [$($complete:path)?] {
            $(
                $field:literal $(| $other:literal)? $(is $is:literal)? $(since $since:path)?:
                $kind:ty $(=> $place:expr)?,
            )*
            $(..$own:ident;)*
            $(*$embedded:ident $(. $deeper:ident)? $({ $($inner:tt)* })? $(of $table:ident;)?)*
        }
    ) => {
        impl $crate::json::decode::Object for $name {
            type Place = $target;

            const GO_TYPE: &'static str = $go_type;
            $(const DECODER: $crate::json::decode::Decoder = $crate::json::decode::Decoder::Own(
                $crate::json::context::UnknownFields::$unknown,
            );)?
            const FIELDS: &'static [$crate::json::decode::Fields<'static, $target>] = &[
                $crate::json::decode::Fields {
                    embedded_in: None,
                    fields: $crate::json::decode::fields!($binder: $target {
                        $(
                            $field $(| $other)? $(is $is)? $(since $since)?: $kind $(=> $place)?,
                        )*
                    }),
                },
                $($crate::json::decode::Fields {
                    embedded_in: None,
                    fields: $own,
                },)*
                $($crate::json::decode::Fields {
                    embedded_in: Some(concat!(stringify!($embedded) $(, ".", stringify!($deeper))?)),
                    fields: $($crate::json::decode::fields!($binder: $target { $($inner)* }))?
                        $($table)?,
                },)*
            ];

            $(fn complete(place: &mut $target) -> Result<(), String> {
                $complete(place)
            })?
        }

        impl $crate::json::decode::Decode for $name {
            type Place = $target;

            fn decode(
                place: &mut $target,
                value: $crate::json::value::Value<'_>,
                context: &mut $crate::json::context::DecodeContext,
            ) {
                $crate::json::decode::decode_struct::<Self>(place, value, context);
            }

            fn go_type() -> std::borrow::Cow<'static, str> {
                $go_type.into()
            }
        }
    };
}

/// Makes a table of fields, in the form of [`go_struct!`].
#[macro_export]
macro_rules! fields {
    ($binder:ident: $target:ty {
        $(
            $name:literal $(| $other:literal)? $(is $is:literal)? $(since $since:path)?:
            $kind:ty $(=> $place:expr)?,
        )*
    }) => {
        &$crate::json::decode::BodyFields::<$target>(&[$(
            $crate::json::decode::BodyField::<$target>::new(
                $name,
                $crate::json::decode::fields!(@take $binder, $kind $(, $place)?),
            )
            $(.or_named($other))?
            $(.of_type($is))?
            $(.since($crate::json::context::ReleaseChange($since as usize)))?,
        )*])
    };
    (@take $binder:ident, $kind:ty, $place:expr) => {
        |$binder, value, context| {
            <$kind as $crate::json::decode::Decode>::decode(&mut $place, value, context);
        }
    };
    (@take $binder:ident, $kind:ty) => {
        |_, value, context| $crate::json::decode::ignore::<$kind>(value, context)
    };
}

pub use crate::{fields, go_struct};

/// The fields of a struct or of a struct embedded in it.
pub struct Fields<'f, P> {
    /// The name of the embedded struct; `None` for the struct itself.
    pub embedded_in: Option<&'static str>,
    /// Its fields, in Go's order.
    pub fields: &'f dyn FieldSet<P>,
}

/// Fields of a struct whose places are in a `P`.
pub trait FieldSet<P>: Sync {
    /// Returns the field that a name in a body means: the first name of a field if `exactly`, or else each of its names in
    /// any case.
    fn find(&self, name: &str, exactly: bool, context: &DecodeContext) -> Option<Found>;

    /// Decodes a value into the place of a field that was found.
    fn take(&self, found: &Found, place: &mut P, value: Value<'_>, context: &mut DecodeContext);
}

/// A field that a name in a body means.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The number of the field among those of its set.
    pub number: usize,
    /// The name that matches.
    pub name: &'static str,
    /// Whether this is the second name of the field, which belongs to the outer struct.
    pub is_second: bool,
    /// Go's name of the field's type, if it is a named one.
    pub go_type: Option<&'static str>,
}

/// The fields that [`fields!`] lists.
pub struct BodyFields<P: 'static>(pub &'static [BodyField<P>]);

impl<P> FieldSet<P> for BodyFields<P> {
    fn find(&self, name: &str, exactly: bool, context: &DecodeContext) -> Option<Found> {
        self.0.iter().enumerate().find_map(|(number, field)| {
            let (name, is_second) = field.label.called(name, exactly, context)?;
            Some(Found {
                number,
                name,
                is_second,
                go_type: field.go_type,
            })
        })
    }

    fn take(&self, found: &Found, place: &mut P, value: Value<'_>, context: &mut DecodeContext) {
        (self.0[found.number].take)(place, value, context);
    }
}

/// One field of an [`Object`].
pub struct BodyField<P> {
    label: Label,
    take: fn(&mut P, Value<'_>, &mut DecodeContext),
    go_type: Option<&'static str>,
}

impl<P> BodyField<P> {
    /// Creates a field with its JSON name and its decoder.
    pub const fn new(name: &'static str, take: fn(&mut P, Value<'_>, &mut DecodeContext)) -> Self {
        Self {
            label: Label {
                name,
                other_name: None,
                since: None,
            },
            take,
            go_type: None,
        }
    }

    /// Adds a second name, which Consul reads if the first is missing.
    pub const fn or_named(mut self, name: &'static str) -> Self {
        self.label.other_name = Some(name);
        self
    }

    /// Makes the field unknown before this change.
    pub const fn since(mut self, change: ReleaseChange) -> Self {
        self.label.since = Some(change);
        self
    }

    /// Sets Go's name of the field's type, e.g. `types.CheckID`.
    pub const fn of_type(mut self, go_type: &'static str) -> Self {
        self.go_type = Some(go_type);
        self
    }
}

/// How a field is called, and since when.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// The name.
    pub name: &'static str,
    /// A second name, which Consul reads if the first is missing.
    pub other_name: Option<&'static str>,
    /// The change before which the field is unknown.
    pub since: Option<ReleaseChange>,
}

impl Label {
    /// Returns which of its names matches a name in the body, and whether it is the second: the first only if exactly, or
    /// else each in any case. The field must be known.
    pub fn called(
        &self,
        name: &str,
        exactly: bool,
        context: &DecodeContext,
    ) -> Option<(&'static str, bool)> {
        let is_first = if exactly {
            self.name == name
        } else {
            matches_folded(self.name, name)
        };
        let called = if is_first {
            (self.name, false)
        } else {
            let other = self.other_name.filter(|_| !exactly)?;
            matches_folded(other, name).then_some((other, true))?
        };
        context.has(self.since).then_some(called)
    }
}

/// Decodes a value only for its errors.
pub fn ignore<T: Decode<Place: Default>>(value: Value<'_>, context: &mut DecodeContext) {
    T::decode(&mut T::Place::default(), value, context);
}

/// Decodes a struct with its decoder.
pub fn decode_struct<T: Object>(
    place: &mut T::Place,
    value: Value<'_>,
    context: &mut DecodeContext,
) {
    in_decoder(T::DECODER, context, |context| {
        let is_object = decode_members(T::GO_TYPE, T::FIELDS, place, value, context);
        if is_object
            && context.is_fine()
            && let Err(message) = T::complete(place)
        {
            context.fail(DecodeError::Own(message));
        }
    });
}

/// Decodes within the decoder of a type.
pub fn in_decoder(
    decoder: Decoder,
    context: &mut DecodeContext,
    decode: impl FnOnce(&mut DecodeContext),
) {
    match decoder {
        Decoder::Standard => decode(context),
        Decoder::Own(unknown_fields) => {
            let outer = context.enter_own_decoder(unknown_fields);
            decode(context);
            context.leave_own_decoder(outer);
        }
    }
}

/// Decodes an object into the places of a struct's fields. Returns whether it was one.
pub fn decode_members<P>(
    go_type: &'static str,
    fields: &[Fields<'_, P>],
    place: &mut P,
    value: Value<'_>,
    context: &mut DecodeContext,
) -> bool {
    match value.kind() {
        ValueKind::Null => return false,
        ValueKind::Object => {}
        other => {
            context.mismatch(value, &other, go_type.into());
            return false;
        }
    }
    if !context.descend() {
        return false;
    }
    let outer_struct = context.enter_struct(go_type);
    for (name, mut value) in value.members() {
        let Some((found, group)) = find(fields, &name, context) else {
            context.unknown_field(&name);
            continue;
        };
        value.go_type = found.go_type;
        let embedded_in = group.embedded_in.filter(|_| !found.is_second);
        let depth = context.enter_field(found.name, embedded_in);
        group.fields.take(&found, place, value, context);
        context.leave_field(depth);
    }
    context.leave_struct(outer_struct);
    context.ascend();
    true
}

/// Returns the field for a name in the body, with its embedded struct.
fn find<'f, P>(
    fields: &'f [Fields<'f, P>],
    name: &str,
    context: &DecodeContext,
) -> Option<(Found, &'f Fields<'f, P>)> {
    [true, false].into_iter().find_map(|exactly| {
        fields.iter().find_map(|group| {
            let found = group.fields.find(name, exactly, context)?;
            Some((found, group))
        })
    })
}

/// Whether the ASCII name of a field matches in any case. Two letters match beyond ASCII: the Kelvin sign is a
/// `k`, the long s an `s`.
pub fn matches_folded(field: &str, name: &str) -> bool {
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
