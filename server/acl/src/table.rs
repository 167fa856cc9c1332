//! The rules about one kind of names, and how one is found.

use super::level::{Allows, Level};

/// One rule: a name or the beginning of names, and what is allowed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    text: Box<str>,
    allows: Allows,
    /// The place of the longest other rule whose text this one's begins with; for prefixes only.
    shorter: Option<usize>,
}

/// The rules about one kind of names, each list sorted by text. A look-up is one search in each and allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    names: Vec<Entry>,
    prefixes: Vec<Entry>,
}

/// A rule that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) text: &'a str,
    pub(super) is_prefix: bool,
    pub(super) allows: Allows,
}

impl Entry {
    fn found(&self, is_prefix: bool) -> Found<'_> {
        Found {
            text: &self.text,
            is_prefix,
            allows: self.allows,
        }
    }
}

/// A rule before it has its place in a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewEntry<'a> {
    pub(super) text: &'a str,
    pub(super) is_prefix: bool,
    pub(super) allows: Allows,
}

impl Table {
    /// Makes a table of rules with different texts.
    pub(super) fn new<'a>(entries: impl Iterator<Item = NewEntry<'a>>) -> Table {
        let mut table = Table::default();
        for entry in entries {
            let list = if entry.is_prefix {
                &mut table.prefixes
            } else {
                &mut table.names
            };
            list.push(Entry {
                text: entry.text.into(),
                allows: entry.allows,
                shorter: None,
            });
        }
        for list in [&mut table.names, &mut table.prefixes] {
            list.sort_unstable_by(|one, other| one.text.cmp(&other.text));
        }
        for place in 1..table.prefixes.len() {
            let text = &table.prefixes[place].text;
            let shorter = longest_prefix(&table.prefixes[..place], Some(place - 1), text);
            table.prefixes[place].shorter = shorter;
        }
        table
    }

    /// Returns the rule about a name: the one for that very name, else the longest prefix (acl.md 9.6).
    pub(super) fn find(&self, name: &str) -> Option<Found<'_>> {
        match self.names.binary_search_by(|entry| (*entry.text).cmp(name)) {
            Ok(place) => Some(self.names[place].found(false)),
            Err(_) => self.find_prefix(name),
        }
    }

    /// Returns the longest prefix rule that a name starts with.
    pub(super) fn find_prefix(&self, name: &str) -> Option<Found<'_>> {
        let after = self.prefixes.partition_point(|entry| &*entry.text <= name);
        longest_prefix(&self.prefixes, after.checked_sub(1), name)
            .map(|place| self.prefixes[place].found(true))
    }

    /// Returns the rules at and below a path, whatever they say: names and prefixes that start with it.
    pub(super) fn below(&self, path: &str) -> impl Iterator<Item = Found<'_>> {
        [(&self.names, false), (&self.prefixes, true)]
            .into_iter()
            .flat_map(move |(list, is_prefix)| {
                let first = list.partition_point(|entry| &*entry.text < path);
                list[first..]
                    .iter()
                    .take_while(move |entry| entry.text.starts_with(path))
                    .map(move |entry| entry.found(is_prefix))
            })
    }

    /// Returns all the rules.
    pub(super) fn all(&self) -> impl Iterator<Item = Found<'_>> {
        self.below("")
    }
}

/// Finds the longest text that a name starts with, given the place of the last text that does not come after the name.
/// Whatever lies between such a text and the name starts with that text, too: so it is found from there, from each
/// text to the longest shorter one.
fn longest_prefix(entries: &[Entry], last: Option<usize>, name: &str) -> Option<usize> {
    let mut place = last;
    while let Some(candidate) = place
        && !name.starts_with(&*entries[candidate].text)
    {
        place = entries[candidate].shorter;
    }
    place
}

/// Levels of one name or prefix that several policies give: those of the rule, and of a service's intentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) policy: Level,
    pub(super) intentions: Option<Level>,
}

impl Levels {
    /// Returns what counts where another policy gives `other` (acl.md 9.8).
    pub(super) fn merged(self, other: Levels) -> Levels {
        Levels {
            policy: self.policy.merged(other.policy),
            intentions: Level::merged_optional(self.intentions, other.intentions),
        }
    }
}
