//! Answers: rows in Go's JSON and order.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::field::{Field, Flat, Source, Table};
use super::look::{Look, On};
use super::select;
use super::value::{Put, PutField, Shown};
use proconsul_filter::{Fields, Match, Predicate};
use proconsul_version::Version;
use serde::ser::{Serialize, Serializer};

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
