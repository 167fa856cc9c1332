//! The kinds of values: what the type of a place says about Go's type, its JSON, filters and files.

use std::collections::BTreeMap;

use super::body::{self, In, Listed};
use super::field::{At, Field, GoType, Place, Shape, Source};
use super::look::{Look, On, Surface};
use super::names::Names;
use super::read;
use super::select::test_of;
use super::show::{show_fields, show_named};
use super::value::{Put, PutField, Shown};
use crate::document::tree::Tree;
use proconsul_filter::{Match, Predicate};
use proconsul_gocompat::json::context::DecodeContext;
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::kinds::Int;
use proconsul_gocompat::json::object::AnyObject;
use proconsul_gocompat::json::value::Value;
use proconsul_version::Version;

/// The type of a place.
pub(super) trait Kind: Default + 'static {
    /// Its decoder in bodies of the agent and the catalog.
    type Server: Decode<Place = Self>;
    /// Its decoder in bodies of transactions.
    type Client: Decode<Place = Self>;
    /// Whether Go keeps a missing value as a pointer, which `omitempty` leaves out only if there is nothing.
    const IS_STRUCTURE: bool = false;

    /// Whether Go's `omitempty` leaves the value out.
    fn is_empty(&self) -> bool;

    fn show(&self, look: &Look<'_>, fill: bool, put: Put<'_>);

    /// Returns the test of a claim about the value, or about what the names lead to in it.
    fn test(claim: &Match, names: &[Vec<u8>], version: Version) -> Result<Predicate<Self>, String>;

    /// Returns the test of a claim about a list of such values.
    fn test_list(claim: &Match) -> Result<Predicate<[Self]>, String> {
        let wanted = claim.of_emptiness()?;
        Ok(Box::new(move |list| list.is_empty() == wanted))
    }

    /// Returns the names in such a value of a file.
    fn names() -> Names {
        Names::Value
    }

    /// Returns the value in a file; `None` for one that is not of this kind.
    fn read(tree: &Tree) -> Option<Self>;
}

impl<T: 'static, K: Kind> Place<T> for At<T, K> {
    fn decode(&self, row: &mut T, value: Value<'_>, client: bool, context: &mut DecodeContext) {
        let place = (self.place)(row);
        match client {
            true => K::Client::decode(place, value, context),
            false => K::Server::decode(place, value, context),
        }
    }

    fn read(&self, row: &mut T, tree: &Tree) {
        if let Some(value) = K::read(tree) {
            *(self.place)(row) = value;
        }
    }

    fn names(&self) -> Names {
        K::names()
    }

    fn is_empty(&self, row: &T, _: &Look<'_>) -> bool {
        (self.get)(row).is_empty()
    }

    fn show(&self, row: &T, look: &Look<'_>, fill: bool, put: Put<'_>) {
        (self.get)(row).show(look, fill, put);
    }

    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        let (get, test) = (self.get, K::test(claim, names, version)?);
        Ok(Box::new(move |row| test(get(row))))
    }
}

/// Returns nothing if a selector ends here.
fn end(claim: &Match, names: &[Vec<u8>]) -> Result<(), String> {
    match names {
        [] => Ok(()),
        _ => Err(claim.invalid_selector(names)),
    }
}

/// A text.
impl Kind for String {
    type Server = Self;
    type Client = Self;

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn show(&self, _: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Text(self));
    }

    fn test(claim: &Match, names: &[Vec<u8>], _: Version) -> Result<Predicate<Self>, String> {
        end(claim, names)?;
        let test = claim.of_text()?;
        Ok(Box::new(move |text| test(text)))
    }

    fn test_list(claim: &Match) -> Result<Predicate<[Self]>, String> {
        claim.of_texts()
    }

    fn read(tree: &Tree) -> Option<Self> {
        Some(read::text(tree))
    }
}

/// Go's `int`.
impl Kind for i64 {
    type Server = Int;
    type Client = Int;

    fn is_empty(&self) -> bool {
        *self == 0
    }

    fn show(&self, _: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Int(*self));
    }

    fn test(claim: &Match, names: &[Vec<u8>], _: Version) -> Result<Predicate<Self>, String> {
        end(claim, names)?;
        let test = claim.of_number()?;
        Ok(Box::new(move |number| test(*number)))
    }

    fn read(tree: &Tree) -> Option<Self> {
        Some(read::number(tree))
    }
}

/// A number that is not negative. Filters do not know any.
impl Kind for u64 {
    type Server = Self;
    type Client = Self;

    fn is_empty(&self) -> bool {
        *self == 0
    }

    fn show(&self, _: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Uint(*self));
    }

    fn test(claim: &Match, names: &[Vec<u8>], _: Version) -> Result<Predicate<Self>, String> {
        Err(claim.invalid_selector(names))
    }

    fn read(tree: &Tree) -> Option<Self> {
        u64::try_from(read::number(tree)).ok()
    }
}

/// A flag.
impl Kind for bool {
    type Server = Self;
    type Client = Self;

    fn is_empty(&self) -> bool {
        !self
    }

    fn show(&self, _: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Flag(*self));
    }

    fn test(claim: &Match, names: &[Vec<u8>], _: Version) -> Result<Predicate<Self>, String> {
        end(claim, names)?;
        let test = claim.of_flag()?;
        Ok(Box::new(move |flag| test(*flag)))
    }

    fn read(tree: &Tree) -> Option<Self> {
        Some(read::flag(tree))
    }
}

/// A structure.
impl<S: Shape> Kind for S {
    type Server = In<S, false>;
    type Client = In<S, true>;
    const IS_STRUCTURE: bool = true;

    fn is_empty(&self) -> bool {
        *self == S::default()
    }

    fn show(&self, look: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Object(&|put: PutField<'_>| {
            show_fields(S::FIELDS, self, look, false, put);
        }));
    }

    fn test(claim: &Match, names: &[Vec<u8>], version: Version) -> Result<Predicate<Self>, String> {
        test_member(S::FIELDS, claim, names, version)
    }

    fn read(tree: &Tree) -> Option<Self> {
        Some(read::structure(tree))
    }

    fn names() -> Names {
        Names::Object(Box::new(read::known_of::<S>))
    }
}

/// Returns the test of a claim about a field of a structure.
fn test_member<T>(
    fields: &'static [Field<T>],
    claim: &Match,
    names: &[Vec<u8>],
    version: Version,
) -> Result<Predicate<T>, String> {
    if names.is_empty() {
        return Err(claim.invalid_operator());
    }
    let on = On::ANSWERS;
    test_of(fields, claim, names, on, false, version)
        .unwrap_or_else(|| Err(claim.invalid_selector(names)))
}

/// A list.
impl<K: Kind> Kind for Vec<K> {
    type Server = Vec<K::Server>;
    type Client = Vec<K::Client>;

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn show(&self, look: &Look<'_>, fill: bool, put: Put<'_>) {
        put(Shown::List(&|put: Put<'_>| {
            for element in self {
                element.show(look, fill, put);
            }
        }));
    }

    fn test(claim: &Match, names: &[Vec<u8>], version: Version) -> Result<Predicate<Self>, String> {
        if names.is_empty() {
            let test = K::test_list(claim)?;
            return Ok(Box::new(move |list| test(list)));
        }
        let test = K::test(claim, names, version)?;
        Ok(Box::new(move |list| list.iter().any(&test)))
    }

    fn read(tree: &Tree) -> Option<Self> {
        tree.items().iter().map(K::read).collect()
    }

    fn names() -> Names {
        match K::names() {
            Names::Object(known) => Names::Objects(known),
            _ => Names::List,
        }
    }
}

/// An object with names of the user.
impl<K: Kind> Kind for BTreeMap<String, K> {
    type Server = BTreeMap<String, K::Server>;
    type Client = BTreeMap<String, K::Client>;

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn show(&self, look: &Look<'_>, fill: bool, put: Put<'_>) {
        if look.surface == Surface::Stream && self.is_empty() {
            return put(Shown::Null);
        }
        show_named(self, put, |value, put| value.show(look, fill, put));
    }

    fn test(claim: &Match, names: &[Vec<u8>], version: Version) -> Result<Predicate<Self>, String> {
        let test = match names.split_first() {
            None => claim.of_keys()?,
            Some((name, names)) => claim.of_member(name, K::test(claim, names, version)?),
        };
        Ok(Box::new(move |map| test(Some(map))))
    }

    fn read(tree: &Tree) -> Option<Self> {
        let Tree::Object(object) = tree.unwrapped() else {
            return None;
        };
        let members = object.iter();
        let members = members.map(|(name, tree)| Some((name.clone(), K::read(tree)?)));
        members.collect()
    }

    fn names() -> Names {
        match K::names() {
            Names::Object(known) => Names::Named(known),
            _ => Names::Value,
        }
    }
}

/// A list or an object that may be missing, or a pointer.
impl<K: Kind> Kind for Option<K> {
    type Server = Option<K::Server>;
    type Client = Option<K::Client>;

    fn is_empty(&self) -> bool {
        self.as_ref()
            .is_none_or(|value| !K::IS_STRUCTURE && value.is_empty())
    }

    fn show(&self, look: &Look<'_>, fill: bool, put: Put<'_>) {
        match self {
            Some(value) => value.show(look, fill, put),
            None if fill => K::default().show(look, fill, put),
            None => put(Shown::Null),
        }
    }

    fn test(claim: &Match, names: &[Vec<u8>], version: Version) -> Result<Predicate<Self>, String> {
        let test = K::test(claim, names, version)?;
        Ok(Box::new(move |value| match value {
            Some(value) => test(value),
            None => test(&K::default()),
        }))
    }

    fn read(tree: &Tree) -> Option<Self> {
        K::read(tree).map(Some)
    }

    fn names() -> Names {
        K::names()
    }
}

/// Opaque settings: an object of any contents, kept as JSON. Filters do not know it.
pub(super) struct Opaque<T>(pub(super) At<T, Option<String>>);

impl<T: 'static> Place<T> for Opaque<T> {
    fn decode(&self, row: &mut T, value: Value<'_>, _: bool, context: &mut DecodeContext) {
        AnyObject::decode((self.0.place)(row), value, context);
    }

    fn read(&self, row: &mut T, tree: &Tree) {
        *(self.0.place)(row) = read::json(tree);
    }

    fn is_empty(&self, row: &T, _: &Look<'_>) -> bool {
        (self.0.get)(row).as_ref().is_none_or(|text| text == "{}")
    }

    fn show(&self, row: &T, _: &Look<'_>, _: bool, put: Put<'_>) {
        let text = (self.0.get)(row).as_deref();
        put(text.map_or(Shown::Null, Shown::Json));
    }

    fn test(&self, claim: &Match, names: &[Vec<u8>], _: Version) -> Result<Predicate<T>, String> {
        Err(claim.invalid_selector(names))
    }
}

/// A structure of Go whose fields are members of the row itself.
pub(super) struct Group<T: 'static> {
    /// Go's type in bodies of the agent and the catalog.
    pub(super) server: GoType,
    /// Go's type in bodies of transactions.
    pub(super) client: GoType,
    pub(super) fields: &'static [Field<T>],
}

impl<T: Default> Place<T> for Group<T> {
    fn decode(&self, row: &mut T, value: Value<'_>, client: bool, context: &mut DecodeContext) {
        let go_type = if client { self.client } else { self.server };
        let fields = Listed {
            fields: self.fields,
            on: body::on(client),
        };
        body::decode(go_type, &fields, row, value, context);
    }

    fn read(&self, row: &mut T, tree: &Tree) {
        read::members(self.fields, row, tree);
    }

    fn names(&self) -> Names {
        let fields = self.fields;
        Names::Object(Box::new(move || read::known(fields)))
    }

    fn is_empty(&self, row: &T, look: &Look<'_>) -> bool {
        self.fields.iter().all(|field| match field.value {
            Source::Place(place) => place.is_empty(row, look),
            Source::Shown(_) | Source::Flat(_) => true,
        })
    }

    fn show(&self, row: &T, look: &Look<'_>, _: bool, put: Put<'_>) {
        put(Shown::Object(&|put: PutField<'_>| {
            show_fields(self.fields, row, look, false, put);
        }));
    }

    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        test_member(self.fields, claim, names, version)
    }
}

/// A value that is shown and selected, but has its place elsewhere.
pub(super) struct Seen<T, K> {
    /// Returns the value for filters.
    pub(super) get: fn(&T) -> &K,
    /// Returns the value for answers.
    pub(super) shown: fn(&T) -> &K,
}

impl<T: 'static, K: Kind> Place<T> for Seen<T, K> {
    fn decode(&self, _: &mut T, _: Value<'_>, _: bool, _: &mut DecodeContext) {}

    fn read(&self, _: &mut T, _: &Tree) {}

    fn is_empty(&self, row: &T, _: &Look<'_>) -> bool {
        (self.shown)(row).is_empty()
    }

    fn show(&self, row: &T, look: &Look<'_>, fill: bool, put: Put<'_>) {
        (self.shown)(row).show(look, fill, put);
    }

    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        let (get, test) = (self.get, K::test(claim, names, version)?);
        Ok(Box::new(move |row| test(get(row))))
    }
}

/// Makes the row of a value that is seen. Answers may show another one than filters see.
macro_rules! seen {
    ($row:ty, $name:literal, $get:expr) => {
        $crate::schema::kind::seen!($row, $name, $get, $get)
    };
    ($row:ty, $name:literal, $get:expr, $shown:expr) => {
        $crate::schema::Field::<$row>::new(
            $name,
            $name,
            &$crate::schema::kind::Seen::<$row, _> {
                get: $get,
                shown: $shown,
            },
        )
        .on($crate::schema::On::ANSWERS)
    };
}

pub(super) use seen;
