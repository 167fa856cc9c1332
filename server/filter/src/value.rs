//! The operators of each kind of value.

use std::collections::BTreeMap;

use super::expression::{Match, Operator};
use proconsul_gocompat::number::{self, NumberError};
use proconsul_gocompat::quote::Quoted;
use proconsul_gocompat::regexp::{self, Regexp};

/// A test of a row or of a value in it.
pub type Predicate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// A test of a map; a missing one counts as empty.
pub type MapTest<U> = Box<dyn Fn(Option<&BTreeMap<String, U>>) -> bool + Send + Sync>;

/// What is claimed of a list or a map: that it has a member or is empty, or the opposite.
pub struct Presence {
    /// The member; `None` where emptiness is claimed.
    of: Option<Vec<u8>>,
    wanted: bool,
}

impl Presence {
    /// Whether it is so, by what is told of a member and of the whole.
    pub fn holds(&self, has: impl FnOnce(&[u8]) -> bool, is_empty: impl FnOnce() -> bool) -> bool {
        let is_so = self.of.as_deref().map_or_else(is_empty, has);
        is_so == self.wanted
    }
}

impl Match {
    /// For a missing map key every operator is true except `==` and `in`, even `matches` (seen on 1.8.7).
    pub fn holds_of_what_is_absent(&self) -> bool {
        !matches!(self.operator, Operator::Equal | Operator::In)
    }

    /// Returns the test of a text.
    pub fn of_text(&self) -> Result<Predicate<str>, String> {
        let value = self.value.clone();
        let contains = |text: &str, value: &[u8]| {
            value.is_empty()
                || text
                    .as_bytes()
                    .windows(value.len())
                    .any(|part| part == value)
        };
        Ok(match self.operator {
            Operator::Equal => Box::new(move |text| text.as_bytes() == value),
            Operator::NotEqual => Box::new(move |text| text.as_bytes() != value),
            Operator::In => Box::new(move |text| contains(text, &value)),
            Operator::NotIn => Box::new(move |text| !contains(text, &value)),
            Operator::Matches => {
                let regexp = self.regexp()?;
                Box::new(move |text| regexp.matches(text))
            }
            Operator::NotMatches => {
                let regexp = self.regexp()?;
                Box::new(move |text| !regexp.matches(text))
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
    pub fn of_number(&self) -> Result<impl Fn(i64) -> bool + use<>, String> {
        self.of_scalar(|text| number::parse_int_of_any_base(text))
    }

    /// Returns the test of a flag.
    pub fn of_flag(&self) -> Result<impl Fn(bool) -> bool + use<>, String> {
        self.of_scalar(|text| number::parse_bool(text))
    }

    /// Returns the test of a value that supports only equality.
    fn of_scalar<V: PartialEq>(
        &self,
        read: fn(&[u8]) -> Result<V, NumberError>,
    ) -> Result<impl Fn(V) -> bool + use<V>, String> {
        let wanted = match self.operator {
            Operator::Equal => true,
            Operator::NotEqual => false,
            _ => return Err(self.invalid_operator()),
        };
        let value = read(&self.value).map_err(|error| {
            let (value, selector) = (Quoted(&self.value), self.shown_selector());
            format!("Failed to coerce value {value} for selector {selector}: {error}")
        })?;
        Ok(move |found| (found == value) == wanted)
    }

    /// Returns the test of a list of texts.
    pub fn of_texts(&self) -> Result<Predicate<[String]>, String> {
        let presence = self.of_presence()?;
        Ok(Box::new(move |list| {
            let has = |value: &[u8]| list.iter().any(|text| text.as_bytes() == value);
            presence.holds(has, || list.is_empty())
        }))
    }

    /// Returns the test of a whole map: the presence of a key, or emptiness.
    pub fn of_keys<U: 'static>(&self) -> Result<MapTest<U>, String> {
        let presence = self.of_presence()?;
        Ok(Box::new(move |map| {
            let Some(map) = map else {
                return presence.holds(|_| false, || true);
            };
            // A key that is not UTF-8 is in no map.
            let has = |key: &[u8]| str::from_utf8(key).is_ok_and(|key| map.contains_key(key));
            presence.holds(has, || map.is_empty())
        }))
    }

    /// Returns the test of the value at a key of a map.
    pub fn of_member<U: 'static>(&self, key: &[u8], inner: Predicate<U>) -> MapTest<U> {
        let absent = self.holds_of_what_is_absent();
        let Ok(key) = String::from_utf8(key.to_vec()) else {
            return Box::new(move |_| absent);
        };
        Box::new(move |map| {
            let found = map.and_then(|map| map.get(&key));
            found.map_or(absent, &inner)
        })
    }

    /// Returns what is claimed of a list or a map.
    pub fn of_presence(&self) -> Result<Presence, String> {
        let (of, wanted) = match self.operator {
            Operator::In => (Some(self.value.clone()), true),
            Operator::NotIn => (Some(self.value.clone()), false),
            _ => (None, self.of_emptiness()?),
        };
        Ok(Presence { of, wanted })
    }

    /// Returns whether a list or map without other operators must be empty.
    pub fn of_emptiness(&self) -> Result<bool, String> {
        match self.operator {
            Operator::IsEmpty => Ok(true),
            Operator::IsNotEmpty => Ok(false),
            _ => Err(self.invalid_operator()),
        }
    }

    fn shown_selector(&self) -> String {
        Quoted(&self.selector.join(&b'.')).to_string()
    }

    /// Returns the error for an unknown field in a selector.
    pub fn invalid_selector(&self, names: &[Vec<u8>]) -> String {
        let known = self.selector.len() - names.len();
        let shown = self.selector[..=known].join(&b'.');
        format!("Selector {} is not valid", Quoted(&shown))
    }

    /// Returns the error for an operator that does not fit the field.
    pub fn invalid_operator(&self) -> String {
        let (operator, selector) = (self.operator.name(), self.shown_selector());
        format!("Invalid match operator \"{operator}\" for selector {selector}")
    }
}
