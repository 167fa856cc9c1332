//! Intentions as earlier releases keep them: in a table of their own, by ids (operator.md 4.5). Here they are rows among
//! the entries, of a kind that no client can name.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::iter;
use std::sync::Arc;

use super::chain::{ChainError, has_requests, protocol_of};
use super::{ConfigEntry, ConfigPlace, ConfigRow, ConfigTable, ConfigValue};
use crate::acl::hash::{self, AclHash};
use crate::command::Command;
use crate::read::{Answer, News, Read, ReadResult, Subject, Watch};
use crate::{Change, Store};

/// The kind of the rows. Their names are the ids.
pub const INTENTION: &str = "intention";

/// The kind of the entries in which later releases keep intentions.
const ENTRIES: &str = "service-intentions";

/// The kind of the entries that say who makes JSON Web Tokens.
const TOKENS: &str = "jwt-provider";

/// Checks the intentions that the entry at this place concerns: permissions look at requests, so that the service's
/// protocol must have some (operator.md 4.2.r17), and what they say of tokens names who makes these.
pub(super) fn check(table: &ConfigTable, (kind, name): &ConfigPlace) -> Result<(), ChainError> {
    let concerned = table.of_kind(ENTRIES).filter(|row| match kind.as_str() {
        ENTRIES | "service-defaults" => row.entry.name.to_lowercase() == *name,
        "proxy-defaults" => true,
        _ => false,
    });
    for row in concerned {
        check_protocol(table, row)?;
        if kind == ENTRIES {
            check_providers(table, row)?;
        }
    }
    Ok(())
}

fn check_protocol(table: &ConfigTable, row: &ConfigRow) -> Result<(), ChainError> {
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

/// Checks that all who are to make tokens are there.
fn check_providers(table: &ConfigTable, row: &ConfigRow) -> Result<(), ChainError> {
    let body = &row.entry.body;
    let sources = body.list("Sources").iter();
    let permissions = sources.flat_map(|source| source.list("Permissions"));
    let tokens = iter::once(body).chain(permissions);
    let tokens = tokens.filter_map(|part| part.get("JWT"));
    let named = tokens.flat_map(|tokens| tokens.list("Providers"));
    let missing: Vec<_> = named
        .map(|provider| provider.text("Name"))
        .filter(|name| table.body(TOKENS, name).is_none())
        .map(|name| format!("\n\t* Referenced JWT Provider does not exist. Provider Name: {name}"))
        .collect();
    let plural = match missing.len() {
        0 => return Ok(()),
        1 => "",
        _ => "s",
    };
    let (count, missing) = (missing.len(), missing.concat());
    Err(ChainError(format!(
        "{count} error{plural} occurred:{missing}\n\n"
    )))
}

/// Reads the `service-intentions` entries of services and that of all services. Earlier releases have none.
#[derive(Clone, Debug)]
pub struct IntentionsTo(pub Vec<String>);

impl Read for IntentionsTo {
    type Rows = Vec<Arc<ConfigRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("the intentions to {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let table = &store.config;
        let names = self.0.iter().map(String::as_str).chain(["*"]);
        let names: BTreeSet<_> = names.map(str::to_lowercase).collect();
        let rows: Vec<_> = names
            .iter()
            .filter_map(|name| table.row(ENTRIES, name).map(Arc::clone))
            .collect();
        let watched = |name| Watch::ConfigEntry {
            kind: ENTRIES.to_owned(),
            name,
        };
        let reads = names.into_iter().map(watched).collect();
        let answer = Answer::new(table.newest, rows, reads);
        Ok(match answer.rows.is_empty() {
            true => Answer {
                news: News::Existence,
                ..answer
            },
            false => answer,
        })
    }
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

/// Returns the hash that an intention shows. That of a source of an entry has its precedence in it.
#[must_use]
pub fn intention_hash(id: &str, body: &ConfigValue, precedence: Option<i64>) -> AclHash {
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
    let texts = [id].into_iter().chain(fields).map(str::as_bytes);
    let precedence = precedence.map(i64::to_le_bytes);
    let precedence = precedence.iter().map(|bytes| &bytes[..]);
    let meta = body.members("Meta").flat_map(|(name, value)| {
        let value = match value {
            ConfigValue::Text(value) => value,
            _ => "",
        };
        [name.as_bytes(), value.as_bytes()]
    });
    hash::of_parts(texts.chain(precedence).chain(meta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value::ConfigMembers;

    /// A hash that a server of late 2025 showed.
    #[test]
    fn the_hash_of_a_source_has_its_precedence_before_its_metadata() {
        let text = |text: &str| ConfigValue::Text(text.to_owned());
        let meta = [("a".to_owned(), text("b"))];
        let mut body = ConfigValue::Members(ConfigMembers::new());
        for (name, value) in [
            ("Description", "d"),
            ("SourceNS", "default"),
            ("SourceName", "*"),
            ("DestinationNS", "default"),
            ("DestinationName", "db"),
            ("SourceType", "consul"),
            ("Action", "allow"),
        ] {
            body.set(name, text(value));
        }
        body.set("Meta", ConfigValue::Members(meta.into_iter().collect()));
        let id = "f85d58ce-7028-d249-f91c-2abd11e5d1de";
        let hash = intention_hash(id, &body, Some(8));
        // `nualrG4PkXgJ/CJbAoFaY4hXTk3lSZ6FTASEEUyy2gc=` in base64.
        let shown = hash.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(
            shown,
            "9ee6a5ac6e0f917809fc225b02815a6388574e4de5499e854c0484114cb2da07"
        );
    }
}
