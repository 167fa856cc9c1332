//! JSON objects that are written down where they are sent.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// An object with these members, in this order.
pub(crate) struct JsonObject<M>(pub(crate) M);

/// The members of an object: none, or one and the rest.
pub(crate) trait JsonMembers {
    /// Prints them.
    fn put<S: SerializeStruct>(&self, object: &mut S) -> Result<(), S::Error>;
}

/// A member, if it is shown, and the rest.
pub(crate) struct Member<V, M> {
    pub(crate) name: &'static str,
    pub(crate) value: Option<V>,
    pub(crate) rest: M,
}

impl JsonMembers for () {
    fn put<S: SerializeStruct>(&self, _: &mut S) -> Result<(), S::Error> {
        Ok(())
    }
}

impl<V: Serialize, M: JsonMembers> JsonMembers for Member<V, M> {
    fn put<S: SerializeStruct>(&self, object: &mut S) -> Result<(), S::Error> {
        if let Some(value) = &self.value {
            object.serialize_field(self.name, value)?;
        }
        self.rest.put(object)
    }
}

impl<M: JsonMembers> Serialize for JsonObject<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Object", 0)?;
        self.0.put(&mut object)?;
        object.end()
    }
}

/// Writes an object: `"Name" => value`, or `"Name" if condition => value`; at the end `..object` adds the members of
/// another. `serde_json` has none that keeps its order.
macro_rules! object {
    ($($members:tt)*) => {
        $crate::http::reply::object::JsonObject(
            $crate::http::reply::object::object_members!($($members)*)
        )
    };
}

macro_rules! object_members {
    () => { () };
    (..$other:expr) => { $other.0 };
    ($name:literal => $value:expr, $($rest:tt)*) => {
        $crate::http::reply::object::Member {
            name: $name,
            value: Some($value),
            rest: $crate::http::reply::object::object_members!($($rest)*),
        }
    };
    ($name:literal if $condition:expr => $value:expr, $($rest:tt)*) => {
        $crate::http::reply::object::Member {
            name: $name,
            value: $condition.then(|| $value),
            rest: $crate::http::reply::object::object_members!($($rest)*),
        }
    };
}

pub(crate) use {object, object_members};
