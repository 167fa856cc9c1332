//! Lists of checks in bodies.

use std::borrow::Cow;

use crate::go::json::context::Context;
use crate::go::json::decode::Decode;
use crate::go::json::value::{Kind, Value};

/// An element of a list of checks: Go's type for it has a name of its own, which type errors show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckId(pub(crate) String);

impl Decode for CheckId {
    fn decode(&mut self, value: Value<'_>, context: &mut Context) {
        match value.kind() {
            Kind::Null => {}
            Kind::String(text) => self.0 = text.into_owned(),
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> Cow<'static, str> {
        "types.CheckID".into()
    }
}
