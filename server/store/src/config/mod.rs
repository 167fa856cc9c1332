//! Configuration entries: what services, gateways and the mesh are told to do (operator.md 4). No proxies run here, so
//! they are kept, checked against each other, and shown.

pub(super) mod autopilot;
pub(crate) mod chain;
pub(crate) mod gateway;
pub(crate) mod intention;
pub(crate) mod value;

use std::convert::Infallible;
use std::sync::Arc;

use crate::catalog::service::gateway::{GatewayService, GatewayTable};
use crate::catalog::service::virtual_address::{self, VirtualRow, VirtualTable};
use crate::catalog::trees::{Entry, config_entry};
use crate::command::Command;
use crate::command::effects::Touched;
use crate::command::entry::{self, LogEntry};
use crate::ordered::OrderedMap;
use crate::read::{Answer, News, Read, ReadResult, Subject, Tree, Watch};
use crate::{Change, Index, Store};

use chain::ChainError;
use intention::INTENTION;
use value::ConfigValue;

/// Where an entry stands: its kind, and its name in lower case.
pub(crate) type ConfigPlace = (String, String);

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigRow {
    /// The entry.
    #[serde(flatten)]
    pub entry: ConfigEntry,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// An entry as a client sends it, checked and with its defaults.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct ConfigEntry {
    /// The kind, such as `service-defaults`.
    pub kind: String,
    /// The name, as sent.
    pub name: String,
    /// All other fields.
    pub body: ConfigValue,
}

impl ConfigEntry {
    /// Returns the place of the entry.
    pub(crate) fn place(&self) -> ConfigPlace {
        place(&self.kind, &self.name)
    }
}

pub(crate) fn place(kind: &str, name: &str) -> ConfigPlace {
    (kind.to_owned(), name.to_lowercase())
}

/// Returns the entry of a row in the tree of Consul's table; none for an intention, which has a table of its own.
fn tree_entry((kind, name): &ConfigPlace) -> Option<Entry> {
    (kind != INTENTION).then(|| config_entry(kind, name))
}

/// All entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigTable {
    pub(crate) rows: OrderedMap<ConfigPlace, Arc<ConfigRow>>,
    /// The index of the last change of any but intentions.
    pub(crate) newest: Index,
    /// The index of the last change of the services behind gateways.
    pub(crate) gateways_newest: Index,
    /// The index of the last change of an intention with an id.
    pub(crate) intentions_newest: Index,
    /// The virtual addresses, which entries hold as instances do.
    pub(crate) virtual_addresses: VirtualTable,
}

/// The index of the last change of any entry, and all of them, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigImage {
    /// The index of the last change.
    pub newest: Index,
    /// The index of the last change of the services behind gateways.
    pub gateways_newest: Index,
    /// The services behind gateways; `None` for what the entries and the catalog make of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_services: Option<Vec<Arc<GatewayService>>>,
    /// The index of the last change of an intention with an id.
    #[serde(default)]
    pub intentions_newest: Index,
    /// The virtual addresses of services, in the order of their names; `None` for what the catalog shows of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_addresses: Option<Vec<Arc<VirtualRow>>>,
    /// The rows, in the order of kinds and names.
    pub rows: Vec<Arc<ConfigRow>>,
}

impl ConfigTable {
    /// Returns the table of a new server, which was written to at this index.
    pub(crate) fn begun_at(newest: Index) -> Self {
        Self {
            newest,
            ..Self::default()
        }
    }

    /// Returns the table with these rows.
    pub(crate) fn of(image: ConfigImage) -> Self {
        let rows = image.rows.into_iter();
        Self {
            rows: rows.map(|row| (row.entry.place(), row)).collect(),
            newest: image.newest,
            gateways_newest: image.gateways_newest,
            intentions_newest: image.intentions_newest,
            virtual_addresses: virtual_address::of(image.virtual_addresses.unwrap_or_default()),
        }
    }

    /// Returns the table as plain data.
    pub(crate) fn image(&self, gateways: &GatewayTable) -> ConfigImage {
        ConfigImage {
            gateway_services: (!gateways.0.is_empty())
                .then(|| gateways.0.values().cloned().collect()),
            newest: self.newest,
            gateways_newest: self.gateways_newest,
            intentions_newest: self.intentions_newest,
            virtual_addresses: (!self.virtual_addresses.is_empty())
                .then(|| self.virtual_addresses.values().cloned().collect()),
            rows: self.rows.values().cloned().collect(),
        }
    }

    /// Lowers all indexes.
    pub(crate) fn lower(&mut self, low: impl Fn(Index) -> Index) {
        self.newest = low(self.newest);
        self.gateways_newest = low(self.gateways_newest);
        self.intentions_newest = low(self.intentions_newest);
        self.rows = crate::each_changed(&self.rows, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
    }

    /// Returns the index of the last change that concerns a kind.
    fn newest_of(&self, kind: &str) -> Index {
        if kind == INTENTION {
            self.intentions_newest
        } else {
            self.newest
        }
    }

    /// Returns the contents of an entry.
    pub(crate) fn body(&self, kind: &str, name: &str) -> Option<&ConfigValue> {
        Some(&self.row(kind, name)?.entry.body)
    }

    /// Returns the entries of the rows in the tree of Consul's table.
    pub(crate) fn tree_entries(&self) -> impl Iterator<Item = Entry> {
        self.rows.keys().filter_map(tree_entry)
    }

    fn row(&self, kind: &str, name: &str) -> Option<&Arc<ConfigRow>> {
        self.rows.get(&place(kind, name))
    }

    /// Returns the entries of a kind, in the order of their names; all of them, by kind, for an empty one.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Arc<ConfigRow>> {
        let rows = self.rows.range((kind.to_owned(), String::new())..);
        let rows = rows.take_while(move |((of, _), _)| kind.is_empty() || of == kind);
        let rows = rows.filter(move |((of, _), _)| kind == INTENTION || of != INTENTION);
        rows.map(|(_, row)| row)
    }
}

/// Writes an entry. The reply says whether it did.
#[derive(Clone, Debug)]
pub struct ConfigWrite {
    /// The entry.
    pub entry: ConfigEntry,
    /// The index that the present one must have, 0 for a missing one; `None` for any.
    pub cas: Option<Index>,
    /// Whether an entry that says nothing new is not written, whatever index is asked for.
    pub skips_identical: bool,
}

/// Deletes an entry. The reply says whether it is gone.
#[derive(Clone, Debug)]
pub struct ConfigDelete {
    /// The kind.
    pub kind: String,
    /// The name, in any case.
    pub name: String,
    /// The index that it must have; `None` for any.
    pub cas: Option<Index>,
    /// Whether the deletion of a missing entry takes no raft index.
    pub skips_missing: bool,
}

/// Reads an entry, by its name in any case.
#[derive(Clone, Debug)]
pub struct ConfigGet {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// Reads the entries of a kind, in the order of their names.
#[derive(Clone, Debug)]
pub struct ConfigList(pub String);

impl Command for ConfigWrite {
    type Reply = bool;
    type Refused = ChainError;

    fn run(self, change: &mut Change<'_>) -> Result<bool, ChainError> {
        let table = &change.store.config;
        let place = self.entry.place();
        let current = table.rows.get(&place).map(Arc::clone);
        if let (true, Some(current)) = (self.skips_identical, &current)
            && current.entry == self.entry
        {
            return Ok(true);
        }
        change.take_indexes(1);
        let found = current.as_ref().map(|row| row.modify_index);
        if self.cas.is_some_and(|cas| cas != found.unwrap_or_default()) {
            return Ok(false);
        }
        change.put_config(self.entry)?;
        Ok(true)
    }

    fn entry(&self) -> Option<LogEntry> {
        entry::of_config(&self.entry.kind, "config_entry.apply", "upsert")
    }
}

impl Command for ConfigDelete {
    type Reply = bool;
    type Refused = ChainError;

    fn run(self, change: &mut Change<'_>) -> Result<bool, ChainError> {
        let place = place(&self.kind, &self.name);
        let current = change.store.config.rows.get(&place);
        let found = current.map(|row| row.modify_index);
        if found.is_none() && self.skips_missing {
            return Ok(true);
        }
        change.take_indexes(1);
        match (found, self.cas) {
            (None, _) => Ok(true),
            (Some(found), Some(cas)) if cas != found => Ok(false),
            (Some(_), _) => change.replace_config(place, None).map(|()| true),
        }
    }

    fn entry(&self) -> Option<LogEntry> {
        entry::of_config(&self.kind, "config_entry.delete", "delete")
    }
}

impl Change<'_> {
    /// Writes an entry, unless that would leave a chain or a gateway that contradicts itself.
    fn put_config(&mut self, entry: ConfigEntry) -> Result<(), ChainError> {
        let place = entry.place();
        let current = self.store.config.rows.get(&place);
        let row = ConfigRow {
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
            entry,
        };
        self.replace_config(place, Some(row))
    }

    /// Replaces an entry, unless that would leave a chain or a gateway that contradicts itself.
    fn replace_config(
        &mut self,
        place: ConfigPlace,
        row: Option<ConfigRow>,
    ) -> Result<(), ChainError> {
        let rules = self.store.rules;
        let mut table = self.store.config.clone();
        let row = row.map(Arc::new);
        let before = match &row {
            Some(row) => table.rows.insert(place.clone(), Arc::clone(row)),
            None => table.rows.remove(&place),
        };
        chain::check(&table, &place, rules.config_late)?;
        check_mutual_tls(&table, &place)?;
        gateway::check(&table, &place)?;
        intention::check(&table, &place)?;
        if place.0 == INTENTION {
            table.intentions_newest = self.index;
        } else {
            table.newest = self.index;
        }
        self.store.config = table;
        let name = row.as_ref().map_or(&*place.1, |row| &row.entry.name);
        self.entry_holds_virtual_address(&place.0, name, row.is_some());
        let entry: Vec<_> = tree_entry(&place).into_iter().collect();
        let now = row.is_some().then(|| entry.clone());
        self.replace_entries(&entry, now.unwrap_or_default());
        if gateway::KINDS.contains(&place.0.as_str()) {
            self.gateway_changed(before.as_deref(), row.as_deref());
        }
        let (kind, name) = place;
        self.effects
            .touched
            .push(Touched::ConfigEntry { kind, name });
        Ok(())
    }
}

/// Refuses permissive mutual TLS unless the entry of the mesh allows it. What is kept already stays when that changes.
fn check_mutual_tls(table: &ConfigTable, place: &ConfigPlace) -> Result<(), ChainError> {
    let row = table.rows.get(place);
    let mode = row.map_or("", |row| row.entry.body.text("MutualTLSMode"));
    let mesh = table.body("mesh", "mesh");
    if mode != "permissive" || mesh.is_some_and(|it| it.flag("AllowEnablingPermissiveMutualTLS")) {
        return Ok(());
    }
    let text = "cannot set MutualTLSMode=permissive because AllowEnablingPermissiveMutualTLS=false in the mesh config entry";
    Err(ChainError(text.to_owned()))
}

impl Store {
    /// Returns what the entry with this name, or those of the kind, depend on. What is missing in earlier releases depends
    /// on the branch of Consul's tree where it would be (operator.md 4.1.r16); intentions have no place there.
    pub(crate) fn config_watch(&self, kind: &str, name: Option<&str>) -> Watch {
        let is_there = name.is_some_and(|name| self.config.row(kind, name).is_some());
        match name {
            _ if kind.is_empty()
                || !is_there && !self.rules.missing_keeps_blocking && kind != INTENTION =>
            {
                let parts: Vec<_> = [kind].into_iter().chain(name).collect();
                self.catalog.trees.search(Tree::ConfigEntries, &parts)
            }
            Some(name) => Watch::ConfigEntry {
                kind: kind.to_owned(),
                name: name.to_owned(),
            },
            None => Watch::ConfigKind(kind.to_owned()),
        }
    }

    /// Returns the answer of a read that finds nothing.
    fn no_config<T>(&self, kind: &str, rows: T, watch: Watch) -> Answer<T> {
        let newest = self.config.newest_of(kind);
        let mut answer = Answer::new(newest, rows, vec![watch]);
        if self.rules.missing_keeps_blocking {
            answer.news = News::Existence;
        } else if kind == INTENTION {
            answer.reads = vec![Watch::ConfigKind(kind.to_owned())];
        }
        answer
    }
}

impl Read for ConfigGet {
    type Rows = Option<Arc<ConfigRow>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("configuration entry {} {:?}", self.kind, self.name))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let (kind, name) = place(&self.kind, &self.name);
        let row = store.config.row(&self.kind, &self.name).map(Arc::clone);
        let watch = store.config_watch(&kind, Some(&name));
        Ok(match row {
            Some(row) => Answer::new(store.config.newest, Some(row), vec![watch]),
            None => store.no_config(&self.kind, None, watch),
        })
    }
}

impl Read for ConfigList {
    type Rows = Vec<Arc<ConfigRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("configuration entries of kind {}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows: Vec<_> = store.config.of_kind(&self.0).map(Arc::clone).collect();
        let watch = store.config_watch(&self.0, None);
        Ok(if rows.is_empty() {
            store.no_config(&self.0, rows, watch)
        } else {
            Answer::new(store.config.newest_of(&self.0), rows, vec![watch])
        })
    }
}
