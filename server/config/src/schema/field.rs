//! The rows of the tables.

use super::look::{Look, On};
use super::names::Names;
use super::value::{Put, PutField};
use crate::document::tree::Tree;
use proconsul_filter::{Match, Predicate};
use proconsul_gocompat::json::context::{DecodeContext, UnknownFields};
use proconsul_gocompat::json::decode::Decoder;
use proconsul_gocompat::json::value::Value as JsonValue;
use proconsul_version::{Behaviour, Version};

/// A type whose fields a table lists.
pub trait Table: Sized + 'static {
    /// The fields, in Go's order.
    const FIELDS: &'static [Field<Self>];
    /// The answers whose filters select such rows.
    const FILTERED: On = On::NODES;
}

/// A structure of Consul that is decoded and read, too.
pub trait Shape: Table + Default + PartialEq {
    /// Go's type in bodies of the agent and the catalog.
    const SERVER: GoType;
    /// Go's type in bodies of transactions, which are those of Consul's client.
    const CLIENT: GoType;
    /// Prepares the place of an object that is decoded or read.
    fn begin(&mut self) {}

    /// Takes `null` in a body.
    fn take_null(&mut self) {}
}

/// A type of Go.
#[derive(Clone, Copy, Debug)]
pub struct GoType {
    /// Its name in errors.
    pub name: &'static str,
    /// Its decoder.
    pub decoder: Decoder,
}

impl GoType {
    /// A type that `encoding/json` decodes.
    pub const fn plain(name: &'static str) -> Self {
        let decoder = Decoder::Standard;
        Self { name, decoder }
    }

    /// A type whose own decoder refuses unknown fields.
    pub const fn strict(name: &'static str) -> Self {
        let decoder = Decoder::Own(UnknownFields::Refused);
        Self { name, decoder }
    }
}

/// One field of a structure.
pub struct Field<T: 'static> {
    pub(super) name: &'static str,
    /// The name on [`On::INSTANCES`].
    pub(super) long_name: &'static str,
    pub(super) snake: Option<&'static str>,
    pub(super) server_type: Option<&'static str>,
    pub(super) client_type: Option<&'static str>,
    pub(super) since: Option<Behaviour>,
    pub(super) on: On,
    pub(super) is_dropped: bool,
    pub(super) is_kept: bool,
    pub(super) is_unsent: bool,
    pub(super) is_selected: bool,
    pub(super) omits: fn(&Look<'_>) -> bool,
    pub(super) fills: fn(&Look<'_>) -> bool,
    pub(super) shows: fn(&T, &Look<'_>) -> bool,
    pub(super) value: Source<T>,
}

/// Where the value of a field comes from.
pub(super) enum Source<T: 'static> {
    /// A place in the row.
    Place(&'static dyn Place<T>),
    /// A value that is only shown.
    Shown(fn(&T, &Look<'_>, Put<'_>)),
    /// The fields of another structure.
    Flat(&'static dyn Flat<T>),
}

impl<T> Field<T> {
    const fn of(name: &'static str, value: Source<T>) -> Self {
        Self {
            name,
            long_name: name,
            snake: None,
            server_type: None,
            client_type: None,
            since: None,
            on: On::ALL,
            is_dropped: false,
            is_kept: false,
            is_unsent: false,
            is_selected: true,
            omits: |_| false,
            fills: |_| false,
            shows: |_, _| true,
            value,
        }
    }

    /// A field with a place. `long_name` is its name in [`On::INSTANCES`].
    pub const fn new(
        name: &'static str,
        long_name: &'static str,
        place: &'static dyn Place<T>,
    ) -> Self {
        let mut field = Self::of(name, Source::Place(place));
        field.long_name = long_name;
        field
    }

    /// A field that is only shown.
    pub const fn shown(name: &'static str, show: fn(&T, &Look<'_>, Put<'_>)) -> Self {
        let mut field = Self::of(name, Source::Shown(show));
        field.on = On::ANSWERS;
        field.is_selected = false;
        field
    }

    /// The fields of another structure, as if they were the row's own.
    pub const fn flat(fields: &'static dyn Flat<T>) -> Self {
        Self::of("", Source::Flat(fields))
    }

    /// Sets the surfaces that have the field.
    pub const fn on(mut self, on: On) -> Self {
        self.on = on;
        self
    }

    /// Sets the surfaces of answers that have the field; bodies and files have it.
    pub const fn shown_on(self, on: On) -> Self {
        self.on(On::BODIES.and(On::FILES).and(on))
    }

    /// Makes the field unknown to releases without a behaviour. Transactions drop such a field, whatever its value.
    pub const fn since(mut self, behaviour: Behaviour) -> Self {
        self.since = Some(behaviour);
        self
    }

    /// Adds the name that the agent's types have beside the first.
    pub const fn or_snake(mut self, name: &'static str) -> Self {
        self.snake = Some(name);
        self
    }

    /// Sets Go's names of the field's type, where it is a named one: the server's, and the client's.
    pub const fn of_type(
        mut self,
        server: Option<&'static str>,
        client: Option<&'static str>,
    ) -> Self {
        (self.server_type, self.client_type) = (server, client);
        self
    }

    /// Makes transactions drop the field; they only check its kind.
    pub const fn dropped_by_txn(mut self) -> Self {
        self.is_dropped = true;
        self
    }

    /// Makes transactions keep the field, although it came later.
    pub const fn kept_by_txn(mut self) -> Self {
        self.is_kept = true;
        self
    }

    /// Keeps the field of a file from being sent by `services register`.
    pub const fn unsent(mut self) -> Self {
        self.is_unsent = true;
        self
    }

    /// Leaves the field out of answers if it is empty, as Go's `omitempty` does.
    pub const fn omitempty(self) -> Self {
        self.omitempty_if(|_| true)
    }

    /// Leaves the field out of some answers if it is empty.
    pub const fn omitempty_if(mut self, omits: fn(&Look<'_>) -> bool) -> Self {
        self.omits = omits;
        self
    }

    /// Shows an empty list or object in place of `null` in some answers.
    pub const fn filled_if(mut self, fills: fn(&Look<'_>) -> bool) -> Self {
        self.fills = fills;
        self
    }

    /// Shows the field of some rows only.
    pub const fn shown_if(mut self, shows: fn(&T, &Look<'_>) -> bool) -> Self {
        self.shows = shows;
        self
    }

    /// Hides the field from filters.
    pub const fn unselected(mut self) -> Self {
        self.is_selected = false;
        self
    }

    /// Whether a surface of a release has the field.
    pub(super) fn is_known(&self, on: On, version: Version) -> bool {
        self.on.has(on) && self.since.is_none_or(|behaviour| version.has(behaviour))
    }

    /// Returns the name on a surface.
    pub(super) fn name_on(&self, prefixed: bool) -> &'static str {
        if prefixed { self.long_name } else { self.name }
    }
}

/// The place of a field in a row.
pub trait Place<T>: Sync {
    /// Decodes a value of a body; `client` is whether it has the types of Consul's client.
    fn decode(&self, row: &mut T, value: JsonValue<'_>, client: bool, context: &mut DecodeContext);

    /// Reads a value of a configuration file.
    fn read(&self, row: &mut T, tree: &Tree);

    /// Returns the names in such a value of a configuration file.
    fn names(&self) -> Names {
        Names::Value
    }

    /// Whether Go's `omitempty` leaves the value out.
    fn is_empty(&self, row: &T, look: &Look<'_>) -> bool;

    /// Shows the value; `fill` is whether a missing list is an empty one.
    fn show(&self, row: &T, look: &Look<'_>, fill: bool, put: Put<'_>);

    /// Returns the test of a claim about the value, or about what these names lead to in it.
    ///
    /// # Errors
    /// Consul's text about a claim that does not fit.
    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String>;
}

/// A structure whose fields are shown among those of a row.
pub trait Flat<T>: Sync {
    /// Shows the fields.
    fn show(&self, row: &T, look: &Look<'_>, put: PutField<'_>);

    /// Returns the test of a claim about one of the fields; `None` for an unknown one.
    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        on: On,
        version: Version,
    ) -> Option<Result<Predicate<T>, String>>;
}

/// A member of a row.
pub struct At<T, L> {
    /// Returns it.
    pub get: fn(&T) -> &L,
    /// Returns it for a change.
    pub place: fn(&mut T) -> &mut L,
}

/// Makes the row of a field: its structure, its name, and its member in the store's type.
macro_rules! field {
    ($row:ty, $name:literal, $member:ident $(. $deeper:tt)*) => {
        $crate::schema::Field::<$row>::new(
            $name,
            concat!("Service", $name),
            &$crate::schema::At::<$row, _> {
                get: |row| &row.$member$(.$deeper)*,
                place: |row| &mut row.$member$(.$deeper)*,
            },
        )
    };
}

pub(super) use field;
