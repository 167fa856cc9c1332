//! Intentions as earlier releases keep them: in a table of their own, by ids (operator.md 4.5). Here they are rows among
//! the entries, of a kind that no client can name.

use std::sync::Arc;

use super::chain::{ChainError, has_requests, protocol_of};
use super::{ConfigEntry, ConfigPlace, ConfigRow, ConfigTable, ConfigValue};
use crate::Change;
use crate::acl::hash::{self, AclHash};
use crate::command::Command;

/// The kind of the rows. Their names are the ids.
pub const INTENTION: &str = "intention";

/// The kind of the entries in which later releases keep intentions.
const ENTRIES: &str = "service-intentions";

/// Checks the intentions at this place: permissions look at requests, so that the service's protocol must have some
/// (operator.md 4.2.r17).
pub(super) fn check(table: &ConfigTable, place: &ConfigPlace) -> Result<(), ChainError> {
    let Some(row) = table.rows.get(place).filter(|_| place.0 == ENTRIES) else {
        return Ok(());
    };
    let service = &row.entry.name;
    let protocol = protocol_of(table, service);
    let mut sources = row.entry.body.list("Sources").iter();
    let permits = sources.any(|source| !source.list("Permissions").is_empty());
    if !permits || service == "*" || has_requests(&protocol) {
        return Ok(());
    }
    Err(ChainError(format!(
        "service \"{service}\" has protocol \"{protocol}\", which is incompatible with L7 intentions permissions"
    )))
}

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
