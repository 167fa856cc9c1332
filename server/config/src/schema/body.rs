//! Bodies, decoded as Go does.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::field::{At, Field, GoType, Shape, Source};
use super::look::On;
use proconsul_gocompat::json::context::{DecodeContext, ReleaseChange};
use proconsul_gocompat::json::decode::{
    Decode, FieldSet, Fields, Found, Label, decode_members, ignore, in_decoder,
};
use proconsul_gocompat::json::kinds::Any;
use proconsul_gocompat::json::value::Value;

/// The fields of a structure in a kind of body.
pub(super) struct Listed<T: 'static> {
    pub(super) fields: &'static [Field<T>],
    pub(super) on: On,
}

impl<T: Default> FieldSet<T> for Listed<T> {
    fn find(&self, name: &str, exactly: bool, context: &DecodeContext) -> Option<Found> {
        let known = self.fields.iter().enumerate();
        let mut known = known.filter(|(_, field)| field.on.has(self.on));
        known.find_map(|(number, field)| {
            let label = Label {
                name: field.name,
                other_name: field.snake.filter(|_| self.on == On::AGENT_BODY),
                since: field.since.map(|since| ReleaseChange(since as usize)),
            };
            let (name, is_second) = label.called(name, exactly, context)?;
            let go_type = match On::CLIENT.has(self.on) {
                true => field.client_type,
                false => field.server_type,
            };
            Some(Found {
                number,
                name,
                is_second,
                go_type,
            })
        })
    }

    fn take(&self, found: &Found, row: &mut T, value: Value<'_>, context: &mut DecodeContext) {
        let field = &self.fields[found.number];
        let client = On::CLIENT.has(self.on);
        if client && field.since.is_some() && !field.is_kept {
            return ignore::<Any>(value, context);
        }
        if let Source::Place(place) = field.value {
            let mut dropped = T::default();
            let drops = client && field.is_dropped;
            let row = if drops { &mut dropped } else { row };
            place.decode(row, value, client, context);
        }
    }
}

/// Decodes a structure in a kind of body.
pub(super) fn decode<T: Default>(
    go_type: GoType,
    fields: &Listed<T>,
    row: &mut T,
    value: Value<'_>,
    context: &mut DecodeContext,
) {
    let embedded_in = None;
    let fields = [Fields {
        embedded_in,
        fields,
    }];
    in_decoder(go_type.decoder, context, |context| {
        decode_members(go_type.name, &fields, row, value, context);
    });
}

/// Returns the kind of the bodies of a structure within another one.
pub(super) const fn on(client: bool) -> On {
    if client { On::TXN_BODY } else { On::AGENT_BODY }
}

/// The fields of a structure as a part of a larger body, for
/// [`go_struct!`](proconsul_gocompat::json::decode::go_struct).
pub struct Part<T: 'static, S: Shape> {
    /// The place of the structure.
    pub at: At<T, S>,
    /// The kind of the body.
    pub on: On,
}

impl<T: 'static, S: Shape> Part<T, S> {
    fn listed(&self) -> Listed<S> {
        Listed {
            fields: S::FIELDS,
            on: self.on,
        }
    }
}

impl<T: 'static, S: Shape> FieldSet<T> for Part<T, S> {
    fn find(&self, name: &str, exactly: bool, context: &DecodeContext) -> Option<Found> {
        self.listed().find(name, exactly, context)
    }

    fn take(&self, found: &Found, row: &mut T, value: Value<'_>, context: &mut DecodeContext) {
        let place = (self.at.place)(row);
        self.listed().take(found, place, value, context);
    }
}

/// A structure in a body with types of the client or of the server.
pub struct In<S, const CLIENT: bool>(PhantomData<fn() -> S>);

impl<S: Shape, const CLIENT: bool> In<S, CLIENT> {
    const GO_TYPE: GoType = if CLIENT { S::CLIENT } else { S::SERVER };
}

impl<S: Shape, const CLIENT: bool> Decode for In<S, CLIENT> {
    type Place = S;

    fn decode(place: &mut S, value: Value<'_>, context: &mut DecodeContext) {
        match value.is_null() {
            true => place.take_null(),
            false => place.begin(),
        }
        let fields = Listed {
            fields: S::FIELDS,
            on: on(CLIENT),
        };
        decode(Self::GO_TYPE, &fields, place, value, context);
    }

    fn go_type() -> Cow<'static, str> {
        Self::GO_TYPE.name.into()
    }
}
