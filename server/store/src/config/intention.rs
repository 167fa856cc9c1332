//! Intentions as earlier releases keep them: in a table of their own, by ids (operator.md 4.5). Here they are rows among
//! the entries, of a kind that no client can name.

use std::sync::Arc;

use super::{ConfigEntry, ConfigRow, ConfigValue};
use crate::Change;
use crate::acl::hash::{self, AclHash};
use crate::command::Command;

/// The kind of the rows. Their names are the ids.
pub const INTENTION: &str = "intention";

/// Writes an intention. It must not lead from and to the same services as another, which is returned otherwise.
#[derive(Clone, Debug)]
pub struct IntentionWrite {
    /// The id.
    pub id: String,
    /// The fields.
    pub body: ConfigValue,
}

impl Command for IntentionWrite {
    type Reply = ();
    type Refused = Arc<ConfigRow>;

    fn run(self, change: &mut Change<'_>) -> Result<(), Arc<ConfigRow>> {
        change.take_indexes(1);
        let table = &change.store.config;
        let ends = ends(&self.body);
        let is_same = |row: &&Arc<ConfigRow>| {
            row.entry.name != self.id && self::ends(&row.entry.body) == ends
        };
        let other = table.of_kind(INTENTION).find(is_same).map(Arc::clone);
        if let Some(other) = other {
            return Err(other);
        }
        let entry = ConfigEntry {
            kind: INTENTION.to_owned(),
            name: self.id,
            body: self.body,
        };
        // No chain and no gateway depends on intentions.
        change.put_config(entry).ok();
        Ok(())
    }
}

/// Returns what an intention leads from and to. Case does not count.
fn ends(body: &ConfigValue) -> [String; 4] {
    ["SourceNS", "SourceName", "DestinationNS", "DestinationName"]
        .map(|name| body.text(name).to_lowercase())
}

/// Returns the hash that an intention shows.
#[must_use]
pub fn intention_hash(id: &str, body: &ConfigValue) -> AclHash {
    let fields = [
        "Description",
        "SourceNS",
        "SourceName",
        "DestinationNS",
        "DestinationName",
        "SourceType",
        "Action",
        "DefaultAddr",
    ];
    let fields = fields.iter().map(|name| body.text(name));
    let meta = body.members("Meta").flat_map(|(name, value)| {
        let value = match value {
            ConfigValue::Text(value) => value,
            _ => "",
        };
        [name, value]
    });
    hash::of_texts([id].into_iter().chain(fields).chain(meta))
}
