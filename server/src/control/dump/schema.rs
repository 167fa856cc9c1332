//! How the description of the control plane shows the rows of a state: as objects, since what they hold belongs to the
//! state's format and is not written by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::agent::AgentState;
use super::catalog::{Check, Node, Service};
use super::rows::{Event, Key, LockDelay, PreparedQuery, Reap, Session, TableIndexes, Tombstone};
use super::value::Moment;

macro_rules! shown_as {
    ($kind:literal: $($row:ident)*) => {
        $(impl JsonSchema for $row {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($row).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $kind })
            }
        })*
    };
}

shown_as!("object": AgentState Check Event Key LockDelay Node PreparedQuery Reap Service Session TableIndexes Tombstone);
shown_as!("string": Moment);
