//! The contents of configuration entries.

use std::collections::BTreeMap;

/// The members of a value, by the names of their fields.
pub type ConfigMembers = BTreeMap<String, ConfigValue>;

/// A value of a configuration entry. Fields that have their zero value are left out, lists that are empty are not.
///
/// Durations are in nanoseconds and weights in hundredths. Objects of any contents are JSON texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(untagged)]
pub enum ConfigValue {
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<ConfigValue>),
    /// A structure or a map.
    Members(ConfigMembers),
}

impl ConfigValue {
    /// Returns a member; `None` if it is missing or this has no members.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Members(members) => members.get(name),
            Self::Flag(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Returns a text, empty if it is missing.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Self::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns a number, 0 if it is missing.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Self::Number(number)) => *number,
            _ => 0,
        }
    }

    /// Returns a flag, `false` if it is missing.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Self::Flag(true)))
    }

    /// Returns the elements of a list, none if it is missing.
    #[must_use]
    pub fn list(&self, name: &str) -> &[Self] {
        match self.get(name) {
            Some(Self::List(list)) => list,
            _ => &[],
        }
    }

    /// Returns the texts of a list.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.list(name).iter().filter_map(|element| match element {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the members of a member, in the order of their names.
    pub fn members(&self, name: &str) -> impl Iterator<Item = (&str, &Self)> {
        let members = match self.get(name) {
            Some(Self::Members(members)) => Some(members),
            _ => None,
        };
        let members = members.into_iter().flatten();
        members.map(|(name, member)| (name.as_str(), member))
    }

    /// Sets a member. This must have members.
    pub fn set(&mut self, name: &str, value: Self) {
        if let Self::Members(members) = self {
            members.insert(name.to_owned(), value);
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) {
        if let Self::Members(members) = self {
            members.remove(name);
        }
    }

    /// Returns a member to change; `None` if it is missing or this has no members.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Members(members) => members.get_mut(name),
            _ => None,
        }
    }

    /// Returns the elements of a list to change.
    pub fn list_mut(&mut self, name: &str) -> &mut [Self] {
        match self.get_mut(name) {
            Some(Self::List(list)) => list,
            _ => &mut [],
        }
    }
}
