//! The fields of rows that filters may select. What is generic is compiled for each type of row, so it only gets the values
//! that tests of [`value`](super::value) are about.

use std::collections::BTreeMap;

use super::expression::Match;
use super::value::{MapTest, Predicate};
use proconsul_version::{Behaviour, Version};

/// A field of a row, with its name in filters.
pub struct Field<T: 'static> {
    name: &'static str,
    kind: Kind<T>,
    /// The behaviour of the releases that know the field; `None` for all.
    since: Option<Behaviour>,
}

/// The kind of a field, with its getter.
enum Kind<T: 'static> {
    Text(fn(&T) -> &str),
    Number(fn(&T) -> i64),
    Flag(fn(&T) -> bool),
    Texts(fn(&T) -> &[String]),
    Labels(fn(&T) -> Option<&BTreeMap<String, String>>),
    Lists(fn(&T) -> &BTreeMap<String, Vec<String>>),
    Rows(&'static dyn Rows<T>),
}

impl<T: 'static> Field<T> {
    const fn of(name: &'static str, kind: Kind<T>) -> Self {
        let since = None;
        Self { name, kind, since }
    }

    /// The same field, unknown to releases without a behaviour.
    pub const fn since(mut self, behaviour: Behaviour) -> Self {
        self.since = Some(behaviour);
        self
    }

    /// A text.
    pub const fn text(name: &'static str, get: fn(&T) -> &str) -> Self {
        let kind = Kind::Text(get);
        Self::of(name, kind)
    }

    /// A whole number.
    pub const fn number(name: &'static str, get: fn(&T) -> i64) -> Self {
        let kind = Kind::Number(get);
        Self::of(name, kind)
    }

    /// A boolean.
    pub const fn flag(name: &'static str, get: fn(&T) -> bool) -> Self {
        let kind = Kind::Flag(get);
        Self::of(name, kind)
    }

    /// A list of texts.
    pub const fn texts(name: &'static str, get: fn(&T) -> &[String]) -> Self {
        let kind = Kind::Texts(get);
        Self::of(name, kind)
    }

    /// A map of texts; a missing one counts as empty.
    pub const fn labels(
        name: &'static str,
        get: fn(&T) -> Option<&BTreeMap<String, String>>,
    ) -> Self {
        let kind = Kind::Labels(get);
        Self::of(name, kind)
    }

    /// A map of lists of texts.
    pub const fn lists(name: &'static str, get: fn(&T) -> &BTreeMap<String, Vec<String>>) -> Self {
        let kind = Kind::Lists(get);
        Self::of(name, kind)
    }

    /// Nested rows: a [`Within`], an [`Each`] or a [`Keyed`].
    pub const fn rows(name: &'static str, rows: &'static dyn Rows<T>) -> Self {
        let kind = Kind::Rows(rows);
        Self::of(name, kind)
    }
}

/// The fields of rows.
pub trait Fields<T>: Sync {
    /// Returns the test of a claim about the field that these names lead to.
    ///
    /// # Errors
    /// The field is unknown, or operator or value do not fit it. The text follows Consul's "Failed to create
    /// boolean expression evaluator".
    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String>;
}

/// A list of fields.
pub struct Listed<T: 'static>(pub &'static [Field<T>]);

/// Nested rows.
pub trait Rows<T>: Sync {
    /// Returns a test of one of the nested rows' fields, or of the rows themselves if the selector ends here.
    ///
    /// # Errors
    /// The field is unknown, or does not support the operator.
    fn predicate(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String>;
}

/// A single nested row.
pub struct Within<T: 'static, U: 'static> {
    /// Returns the row.
    pub get: fn(&T) -> &U,
    /// Its fields.
    pub fields: &'static dyn Fields<U>,
}

/// A list of nested rows. A claim holds if it holds for any of them.
pub struct Each<T: 'static, U: 'static> {
    /// Returns the rows.
    pub get: fn(&T) -> Vec<&U>,
    /// The fields of each.
    pub fields: &'static dyn Fields<U>,
}

/// A map of nested rows.
pub struct Keyed<T: 'static, U: 'static> {
    /// Returns the rows; a missing map counts as empty.
    pub get: fn(&T) -> Option<&BTreeMap<String, U>>,
    /// The fields of each.
    pub fields: &'static dyn Fields<U>,
}

impl<T, U> Rows<T> for Within<T, U> {
    fn predicate(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        if names.is_empty() {
            return Err(claim.invalid_operator());
        }
        let inner = self.fields.test(claim, names, version)?;
        let get = self.get;
        Ok(Box::new(move |row| inner(get(row))))
    }
}

impl<T, U> Rows<T> for Each<T, U> {
    fn predicate(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        let get = self.get;
        if names.is_empty() {
            let wanted = claim.of_emptiness()?;
            return Ok(Box::new(move |row| get(row).is_empty() == wanted));
        }
        let inner = self.fields.test(claim, names, version)?;
        Ok(Box::new(move |row| get(row).into_iter().any(&inner)))
    }
}

impl<T, U> Rows<T> for Keyed<T, U> {
    fn predicate(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        let get = self.get;
        let Some((name, names)) = names.split_first() else {
            let holds = claim.of_keys()?;
            return Ok(Box::new(move |row| holds(get(row))));
        };
        if names.is_empty() {
            return Err(claim.invalid_operator());
        }
        let inner = self.fields.test(claim, names, version)?;
        let holds = claim.of_member(name, inner);
        Ok(Box::new(move |row| holds(get(row))))
    }
}

impl<T> Fields<T> for Listed<T> {
    fn test(
        &self,
        claim: &Match,
        names: &[Vec<u8>],
        version: Version,
    ) -> Result<Predicate<T>, String> {
        of_field(claim, names, self.0, version)
    }
}

fn of_field<T: 'static>(
    claim: &Match,
    names: &[Vec<u8>],
    fields: &'static [Field<T>],
    version: Version,
) -> Result<Predicate<T>, String> {
    let unknown = |names: &[Vec<u8>]| claim.invalid_selector(names);
    let (first, rest) = names.split_first().ok_or_else(|| unknown(names))?;
    let mut known = fields.iter();
    let field = known.find(|field| {
        field.name.as_bytes() == first && field.since.is_none_or(|behaviour| version.has(behaviour))
    });
    let field = field.ok_or_else(|| unknown(names))?;
    Ok(match (&field.kind, rest) {
        (Kind::Rows(rows), rest) => rows.predicate(claim, rest, version)?,
        (Kind::Text(get), []) => by(*get, claim.of_text()?),
        (Kind::Texts(get), []) => by(*get, claim.of_texts()?),
        (Kind::Number(get), []) => {
            let (get, holds) = (*get, claim.of_number()?);
            Box::new(move |row| holds(get(row)))
        }
        (Kind::Flag(get), []) => {
            let (get, holds) = (*get, claim.of_flag()?);
            Box::new(move |row| holds(get(row)))
        }
        (Kind::Labels(get), [] | [_]) => {
            let (get, holds) = (*get, of_labels(claim, rest)?);
            Box::new(move |row| holds(get(row)))
        }
        (Kind::Lists(get), [] | [_]) => {
            let (get, holds) = (*get, of_lists(claim, rest)?);
            Box::new(move |row| holds(Some(get(row))))
        }
        (Kind::Labels(_) | Kind::Lists(_), [_, behind @ ..]) => return Err(unknown(behind)),
        (Kind::Text(_) | Kind::Number(_) | Kind::Flag(_) | Kind::Texts(_), _) => {
            return Err(unknown(rest));
        }
    })
}

fn by<T: 'static, V: ?Sized + 'static>(get: fn(&T) -> &V, holds: Predicate<V>) -> Predicate<T> {
    Box::new(move |row| holds(get(row)))
}

/// The test of a map of texts, or of the one that is named.
fn of_labels(claim: &Match, name: &[Vec<u8>]) -> Result<MapTest<String>, String> {
    let Some(name) = name.first() else {
        return claim.of_keys();
    };
    let inner = claim.of_text()?;
    Ok(claim.of_member(name, Box::new(move |text: &String| inner(text))))
}

/// The test of a map of lists, or of the one that is named.
fn of_lists(claim: &Match, name: &[Vec<u8>]) -> Result<MapTest<Vec<String>>, String> {
    let Some(name) = name.first() else {
        return claim.of_keys();
    };
    let inner = claim.of_texts()?;
    Ok(claim.of_member(name, Box::new(move |list: &Vec<String>| inner(list))))
}
