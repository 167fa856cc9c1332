//! The fields of rows that filters may select, and the operators of each kind of field.

use std::collections::BTreeMap;

use super::expression::{Match, Operator};
use crate::go::number;
use crate::go::quote::Quoted;
use crate::go::regexp::{self, Regexp};
use crate::version::{Behaviour, Version};

/// A test of a row.
pub(crate) type Predicate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// A field of a row, with its name in filters.
pub(crate) struct Field<T: 'static> {
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
    pub(crate) const fn since(mut self, behaviour: Behaviour) -> Self {
        self.since = Some(behaviour);
        self
    }

    /// A text.
    pub(crate) const fn text(name: &'static str, get: fn(&T) -> &str) -> Self {
        let kind = Kind::Text(get);
        Self::of(name, kind)
    }

    /// A whole number.
    pub(crate) const fn number(name: &'static str, get: fn(&T) -> i64) -> Self {
        let kind = Kind::Number(get);
        Self::of(name, kind)
    }

    /// A boolean.
    pub(crate) const fn flag(name: &'static str, get: fn(&T) -> bool) -> Self {
        let kind = Kind::Flag(get);
        Self::of(name, kind)
    }

    /// A list of texts.
    pub(crate) const fn texts(name: &'static str, get: fn(&T) -> &[String]) -> Self {
        let kind = Kind::Texts(get);
        Self::of(name, kind)
    }

    /// A map of texts; a missing one counts as empty.
    pub(crate) const fn labels(
        name: &'static str,
        get: fn(&T) -> Option<&BTreeMap<String, String>>,
    ) -> Self {
        let kind = Kind::Labels(get);
        Self::of(name, kind)
    }

    /// A map of lists of texts.
    pub(crate) const fn lists(
        name: &'static str,
        get: fn(&T) -> &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let kind = Kind::Lists(get);
        Self::of(name, kind)
    }

    /// Nested rows: a [`Within`], an [`Each`] or a [`Keyed`].
    pub(crate) const fn rows(name: &'static str, rows: &'static dyn Rows<T>) -> Self {
        let kind = Kind::Rows(rows);
        Self::of(name, kind)
    }
}

/// Nested rows.
pub(crate) trait Rows<T>: Sync {
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
pub(crate) struct Within<T: 'static, U: 'static> {
    /// Returns the row.
    pub(crate) get: fn(&T) -> &U,
    /// Its fields.
    pub(crate) fields: &'static [Field<U>],
}

/// A list of nested rows. A claim holds if it holds for any of them.
pub(crate) struct Each<T: 'static, U: 'static> {
    /// Returns the rows.
    pub(crate) get: fn(&T) -> Vec<&U>,
    /// The fields of each.
    pub(crate) fields: &'static [Field<U>],
}

/// A map of nested rows.
pub(crate) struct Keyed<T: 'static, U: 'static> {
    /// Returns the rows; a missing map counts as empty.
    pub(crate) get: fn(&T) -> Option<&BTreeMap<String, U>>,
    /// The fields of each.
    pub(crate) fields: &'static [Field<U>],
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
        let inner = of_field(claim, names, self.fields, version)?;
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
            return claim.of_emptiness(move |row| get(row).is_empty());
        }
        let inner = of_field(claim, names, self.fields, version)?;
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
            return claim.of_keys(get);
        };
        if names.is_empty() {
            return Err(claim.invalid_operator());
        }
        let inner = of_field(claim, names, self.fields, version)?;
        let found = found_by(name);
        let absent = claim.holds_of_what_is_absent();
        Ok(Box::new(move |row| found(get(row)).map_or(absent, &inner)))
    }
}

/// Returns a lookup of a key in a map.
fn found_by<U>(name: &[u8]) -> impl Fn(Option<&BTreeMap<String, U>>) -> Option<&U> + use<U> {
    // A key that is not UTF-8 is in no map.
    let name = String::from_utf8(name.to_vec()).ok();
    move |map| map?.get(name.as_ref()?)
}

/// Returns the test for a claim.
///
/// # Errors
/// The field is unknown, or operator or value do not fit it. The text follows Consul's "Failed to create
/// boolean expression evaluator".
pub(super) fn predicate<T: 'static>(
    claim: &Match,
    fields: &'static [Field<T>],
    version: Version,
) -> Result<Predicate<T>, String> {
    of_field(claim, &claim.selector, fields, version)
}

fn of_field<T: 'static>(
    claim: &Match,
    names: &[Vec<u8>],
    fields: &'static [Field<T>],
    version: Version,
) -> Result<Predicate<T>, String> {
    let unknown = |names: &[Vec<u8>]| claim.invalid_selector(names);
    let (first, rest) = names.split_first().ok_or_else(|| unknown(names))?;
    let known = |field: &&Field<T>| field.since.is_none_or(|behaviour| version.has(behaviour));
    let mut known = fields.iter().filter(known);
    let field = known.find(|field| field.name.as_bytes() == first);
    let field = field.ok_or_else(|| unknown(names))?;
    match (&field.kind, rest) {
        (Kind::Rows(rows), rest) => rows.predicate(claim, rest, version),
        (Kind::Text(get), []) => claim.of_text(*get),
        (Kind::Number(get), []) => claim.of_number(*get),
        (Kind::Flag(get), []) => claim.of_flag(*get),
        (Kind::Texts(get), []) => claim.of_texts(*get),
        (Kind::Labels(get), []) => claim.of_keys(*get),
        (Kind::Labels(get), [name]) => {
            let get = *get;
            let inner = claim.of_text(|text: &String| text.as_str())?;
            let found = found_by(name);
            let absent = claim.holds_of_what_is_absent();
            Ok(Box::new(move |row| found(get(row)).map_or(absent, &inner)))
        }
        (Kind::Lists(get), []) => {
            let get = *get;
            claim.of_keys(move |row| Some(get(row)))
        }
        (Kind::Lists(get), [name]) => {
            let get = *get;
            let inner = claim.of_texts(|list: &Vec<String>| list.as_slice())?;
            let found = found_by(name);
            let absent = claim.holds_of_what_is_absent();
            Ok(Box::new(move |row| {
                found(Some(get(row))).map_or(absent, &inner)
            }))
        }
        (Kind::Labels(_) | Kind::Lists(_), [_, behind @ ..]) => Err(unknown(behind)),
        (Kind::Text(_) | Kind::Number(_) | Kind::Flag(_) | Kind::Texts(_), _) => Err(unknown(rest)),
    }
}

impl Match {
    /// For a missing map key every operator is true except `==` and `in`, even `matches` (seen on 1.8.7).
    pub(crate) fn holds_of_what_is_absent(&self) -> bool {
        !matches!(self.operator, Operator::Equal | Operator::In)
    }

    /// Returns the test of a text.
    pub(crate) fn of_text<T: 'static>(
        &self,
        get: impl Fn(&T) -> &str + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        let value = self.value.clone();
        let contains = |text: &str, value: &[u8]| {
            value.is_empty()
                || text
                    .as_bytes()
                    .windows(value.len())
                    .any(|part| part == value)
        };
        Ok(match self.operator {
            Operator::Equal => Box::new(move |row| get(row).as_bytes() == value),
            Operator::NotEqual => Box::new(move |row| get(row).as_bytes() != value),
            Operator::In => Box::new(move |row| contains(get(row), &value)),
            Operator::NotIn => Box::new(move |row| !contains(get(row), &value)),
            Operator::Matches => {
                let regexp = self.regexp()?;
                Box::new(move |row| regexp.matches(get(row)))
            }
            Operator::NotMatches => {
                let regexp = self.regexp()?;
                Box::new(move |row| !regexp.matches(get(row)))
            }
            Operator::IsEmpty | Operator::IsNotEmpty => return Err(self.invalid_operator()),
        })
    }

    fn regexp(&self) -> Result<Regexp, String> {
        Regexp::new(&self.value).map_err(|error: regexp::Error| {
            let pattern = Quoted(&self.value);
            format!("Failed to compile regular expression {pattern}: {error}")
        })
    }

    /// Returns the test of a number.
    pub(crate) fn of_number<T: 'static>(
        &self,
        get: impl Fn(&T) -> i64 + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        self.of_scalar(get, |text| number::parse_int_of_any_base(text))
    }

    /// Returns the test of a flag.
    pub(crate) fn of_flag<T: 'static>(
        &self,
        get: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        self.of_scalar(get, |text| number::parse_bool(text))
    }

    /// Returns the test of a field that supports only equality.
    fn of_scalar<T: 'static, V: PartialEq + Send + Sync + 'static>(
        &self,
        get: impl Fn(&T) -> V + Send + Sync + 'static,
        read: fn(&[u8]) -> Result<V, number::NumberError>,
    ) -> Result<Predicate<T>, String> {
        let wanted = match self.operator {
            Operator::Equal => true,
            Operator::NotEqual => false,
            _ => return Err(self.invalid_operator()),
        };
        let value = read(&self.value).map_err(|error| {
            let (value, selector) = (Quoted(&self.value), self.shown_selector());
            format!("Failed to coerce value {value} for selector {selector}: {error}")
        })?;
        Ok(Box::new(move |row| (get(row) == value) == wanted))
    }

    fn of_texts<T: 'static>(&self, get: fn(&T) -> &[String]) -> Result<Predicate<T>, String> {
        self.of_list(
            move |row, value| get(row).iter().any(|text| text.as_bytes() == value),
            move |row| get(row).is_empty(),
        )
    }

    /// Returns the test of a list of texts: the presence of one, or emptiness.
    pub(crate) fn of_list<T: 'static>(
        &self,
        has: impl Fn(&T, &[u8]) -> bool + Send + Sync + 'static,
        is_empty: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        let value = self.value.clone();
        match self.operator {
            Operator::In => Ok(Box::new(move |row| has(row, &value))),
            Operator::NotIn => Ok(Box::new(move |row| !has(row, &value))),
            _ => self.of_emptiness(is_empty),
        }
    }

    /// Returns the test of a whole map: the presence of a key, or emptiness.
    pub(crate) fn of_keys<T: 'static, U: 'static>(
        &self,
        get: impl Fn(&T) -> Option<&BTreeMap<String, U>> + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        let found = found_by(&self.value);
        match self.operator {
            Operator::In => Ok(Box::new(move |row| found(get(row)).is_some())),
            Operator::NotIn => Ok(Box::new(move |row| found(get(row)).is_none())),
            _ => self.of_emptiness(move |row| get(row).is_none_or(BTreeMap::is_empty)),
        }
    }

    /// Returns the test of a list or map without others than emptiness.
    pub(crate) fn of_emptiness<T: 'static>(
        &self,
        is_empty: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Result<Predicate<T>, String> {
        match self.operator {
            Operator::IsEmpty => Ok(Box::new(is_empty)),
            Operator::IsNotEmpty => Ok(Box::new(move |row| !is_empty(row))),
            _ => Err(self.invalid_operator()),
        }
    }

    fn shown_selector(&self) -> String {
        Quoted(&self.selector.join(&b'.')).to_string()
    }

    /// Returns the error for an unknown field in a selector.
    pub(crate) fn invalid_selector(&self, names: &[Vec<u8>]) -> String {
        let known = self.selector.len() - names.len();
        let shown = self.selector[..=known].join(&b'.');
        format!("Selector {} is not valid", Quoted(&shown))
    }

    /// Returns the error for an operator that does not fit the field.
    pub(crate) fn invalid_operator(&self) -> String {
        let (operator, selector) = (self.operator.name(), self.shown_selector());
        format!("Invalid match operator \"{operator}\" for selector {selector}")
    }
}
