//! Answers: rows in Go's JSON and order.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::field::{Field, Flat, On, Source, Table};
use super::select;
use proconsul_filter::{Fields, Match, Predicate};
use proconsul_gocompat::json::encode::Json;
use proconsul_version::{Behaviour, Version};
use serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};

/// How rows are shown.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The release.
    pub version: Version,
    /// The part of the API.
    pub surface: Surface,
    /// Whether a service of a node with several ports shows the default one as its port, too (1.22.md B4.2p).
    pub shows_default_port: bool,
    /// The agent that shows its services.
    pub agent: AgentFacts<'a>,
}

/// What an agent shows of itself in its services.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentFacts<'a> {
    /// The datacenter.
    pub datacenter: &'a str,
    /// The name of the node.
    pub node: &'a str,
    /// The hash of the content of a service, if it is shown.
    pub content_hash: Option<&'a str>,
}

/// The part of the API that shows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The catalog and health: a missing list is shown as an empty one.
    Catalog,
    /// Services with their nodes in one object.
    Instances,
    /// Transactions and prepared queries: a missing list is `null` (kv.md 7.5; seen on 1.8.7).
    Txn,
    /// The agent: empty settings of proxies are left out.
    Agent,
    /// Streamed reads of health: as the catalog, but an empty map is `null`.
    Stream,
}

impl Surface {
    pub(super) fn on(self) -> On {
        match self {
            Self::Catalog | Self::Txn | Self::Stream => On::NODES,
            Self::Agent => On::AGENT,
            Self::Instances => On::INSTANCES,
        }
    }
}

impl From<Version> for Look<'_> {
    fn from(version: Version) -> Self {
        Self {
            version,
            surface: Surface::Catalog,
            shows_default_port: false,
            agent: AgentFacts::default(),
        }
    }
}

impl Look<'_> {
    /// Returns the look of a part of the API.
    pub fn of(surface: Surface, version: Version) -> Self {
        Self {
            surface,
            ..Self::from(version)
        }
    }

    /// Returns the look of transactions and prepared queries.
    pub fn of_txn(version: Version) -> Self {
        Self::of(Surface::Txn, version)
    }

    /// Returns the same look with the default port of services that have several.
    pub fn with_default_port(self) -> Self {
        Self {
            shows_default_port: true,
            ..self
        }
    }

    /// Whether the release has a behaviour.
    pub fn has(&self, behaviour: Behaviour) -> bool {
        self.version.has(behaviour)
    }

    /// Whether the agent shows the row.
    pub fn is_agent(&self) -> bool {
        self.surface == Surface::Agent
    }

    /// Whether a list of tags that were not registered is `[]`, not `null`. A list that was registered empty stays an empty
    /// list (seen on 1.8.7).
    pub fn fills_tags(&self) -> bool {
        self.surface != Surface::Txn
    }
}

/// Takes a value that is shown.
pub type Put<'p> = &'p mut dyn FnMut(Shown<'_>);
/// Takes a field that is shown.
pub type PutField<'p> = &'p mut dyn FnMut(&'static str, Shown<'_>);
/// Takes a member with a name of the user.
pub type PutNamed<'p> = &'p mut dyn FnMut(&str, Shown<'_>);

/// A value as it is shown.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// Nothing.
    Null,
    /// A text.
    Text(&'a str),
    /// A number.
    Int(i64),
    /// A number that is not negative.
    Uint(u64),
    /// A flag.
    Flag(bool),
    /// A text that is JSON.
    Json(&'a str),
    /// A structure: puts its fields.
    Object(&'a dyn Fn(PutField<'_>)),
    /// A list: puts its elements.
    List(&'a dyn Fn(Put<'_>)),
    /// An object with names of the user: puts its members.
    Named(&'a dyn Fn(PutNamed<'_>)),
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq as _;
        let mut result = Ok(());
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Uint(number) => serializer.serialize_u64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Json(text) => Json(text).serialize(serializer),
            Self::Object(fields) => {
                let mut object = serializer.serialize_struct("", 0)?;
                fields(&mut |name, value| {
                    if result.is_ok() {
                        result = object.serialize_field(name, &value);
                    }
                });
                result.and_then(|()| object.end())
            }
            Self::List(elements) => {
                let mut list = serializer.serialize_seq(None)?;
                elements(&mut |value| {
                    if result.is_ok() {
                        result = list.serialize_element(&value);
                    }
                });
                result.and_then(|()| list.end())
            }
            Self::Named(members) => {
                let mut object = serializer.serialize_map(None)?;
                members(&mut |name, value| {
                    if result.is_ok() {
                        result = object.serialize_entry(name, &value);
                    }
                });
                result.and_then(|()| object.end())
            }
        }
    }
}

/// A row in an answer.
pub struct Row<'a, T> {
    row: &'a T,
    look: Look<'a>,
}

impl<'a, T: Table> Row<'a, T> {
    /// The fields that filters may name.
    pub const FILTER: &'static dyn Fields<T> = &select::Selected::<T>(PhantomData);

    /// Shows a row.
    pub fn new(row: &'a T, look: impl Into<Look<'a>>) -> Self {
        let look = look.into();
        Self { row, look }
    }
}

impl<T: Table> Serialize for Row<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = |put: PutField<'_>| show_fields(T::FIELDS, self.row, &self.look, false, put);
        Shown::Object(&fields).serialize(serializer)
    }
}

/// Shows the fields of a row in their order; `prefixed` is whether under their long names.
pub(super) fn show_fields<T>(
    fields: &'static [Field<T>],
    row: &T,
    look: &Look<'_>,
    prefixed: bool,
    put: PutField<'_>,
) {
    let on = look.surface.on();
    for field in fields {
        if !field.is_known(on, look.version) || !(field.shows)(row, look) {
            continue;
        }
        let name = field.name_on(prefixed);
        match field.value {
            Source::Flat(flat) => flat.show(row, look, put),
            Source::Shown(show) => show(row, look, &mut |value| put(name, value)),
            Source::Place(place) => {
                if !((field.omits)(look) && place.is_empty(row, look)) {
                    let fill = (field.fills)(look);
                    place.show(row, look, fill, &mut |value| put(name, value));
                }
            }
        }
    }
}

/// A structure whose fields are shown among those of a row.
pub(super) struct Within<T, U> {
    pub(super) get: fn(&T) -> &U,
    /// Whether the fields have their long names.
    pub(super) prefixed: bool,
}

impl<T: 'static, U: Table> Flat<T> for Within<T, U> {
    fn show(&self, row: &T, look: &Look<'_>, put: PutField<'_>) {
        show_fields(U::FIELDS, (self.get)(row), look, self.prefixed, put);
    }

    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        on: On,
        version: Version,
    ) -> Option<Result<Predicate<T>, String>> {
        let inner = select::test_of(U::FIELDS, claim, names, on, self.prefixed, version)?;
        let get = self.get;
        Some(inner.map(|inner| -> Predicate<T> { Box::new(move |row| inner(get(row))) }))
    }
}

/// Shows a map with names of the user.
pub(super) fn show_named<L>(map: &BTreeMap<String, L>, put: Put<'_>, show: impl Fn(&L, Put<'_>)) {
    put(Shown::Named(&|member| {
        for (name, value) in map {
            show(value, &mut |shown| member(name, shown));
        }
    }));
}
