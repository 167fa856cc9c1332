//! The fields that `?filter=` may name.

use std::marker::PhantomData;

use super::field::{Field, Source, Table};
use super::look::On;
use proconsul_filter::{Fields, Match, Predicate};
use proconsul_version::Version;

/// The fields of a table that filters may name.
pub(super) struct Selected<T>(pub(super) PhantomData<fn() -> T>);

impl<T: Table> Fields<T> for Selected<T> {
    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        test_of(T::FIELDS, claim, names, T::FILTERED, false, version)
            .unwrap_or_else(|| Err(claim.invalid_selector(names)))
    }
}

/// Returns the test of a claim about one of these fields; `None` for an unknown one.
pub(super) fn test_of<T>(
    fields: &'static [Field<T>],
    claim: &Match,
    names: &[Vec<u8>],
    on: On,
    prefixed: bool,
    version: Version,
) -> Option<Result<Predicate<T>, String>> {
    let (first, rest) = names.split_first()?;
    let known = fields.iter().filter(|field| field.is_known(on, version));
    known
        .filter(|field| field.is_selected)
        .find_map(|field| match field.value {
            Source::Flat(flat) => flat.test(claim, names, on, version),
            Source::Place(place) if field.name_on(prefixed).as_bytes() == first => {
                Some(place.test(claim, rest, version))
            }
            Source::Place(_) | Source::Shown(_) => None,
        })
}
