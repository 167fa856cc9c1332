//! JSON objects as literals of the code that sends them.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A JSON object that keeps the order of its members.
pub(crate) struct JsonObject<M>(pub(crate) M);

/// The members of an object: `()`, or a [`Member`] and the rest.
pub(crate) trait JsonMembers {
    /// Writes the members.
    fn put<S: SerializeStruct>(&self, object: &mut S) -> Result<(), S::Error>;
}

/// A member, whose value is `None` if it is left out, and the rest.
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

/// Makes a JSON object: `"Name" => value`, or `"Name" if condition => value`; `..object` at the end adds the members of
/// another. Unlike `serde_json::json!`, it keeps the order of members.
macro_rules! object {
    ($($members:tt)*) => {
        $crate::reply::object::JsonObject(
            $crate::reply::object::object_members!($($members)*)
        )
    };
}

macro_rules! object_members {
    () => { () };
    (..$other:expr) => { $other.0 };
    ($name:literal => $value:expr, $($rest:tt)*) => {
        $crate::reply::object::Member {
            name: $name,
            value: Some($value),
            rest: $crate::reply::object::object_members!($($rest)*),
        }
    };
    ($name:literal if $condition:expr => $value:expr, $($rest:tt)*) => {
        $crate::reply::object::Member {
            name: $name,
            value: $condition.then(|| $value),
            rest: $crate::reply::object::object_members!($($rest)*),
        }
    };
}

pub(crate) use {object, object_members};
