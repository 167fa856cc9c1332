//! The network coordinates of nodes (operator.md 2).
//!
//! Consul collects updates for a while, 0.1 s in `-dev`, and writes them as a batch. Here each update is a batch.

use std::convert::Infallible;
use std::sync::Arc;

use crate::catalog::trees::coordinate_entry;
use crate::command::Command;
use crate::command::entry::LogEntry;
use crate::ordered::OrderedMap;
use crate::read::{Answer, Read, ReadResult, Subject, Tree};
use crate::{Change, Index, Store};

/// A finite number, equal to those with the same bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finite(pub f64);

impl PartialEq for Finite {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Finite {}

/// A place in the space of network distances, as Consul's Vivaldi has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinate {
    /// The place itself.
    pub vec: Vec<Finite>,
    /// How far it may be wrong.
    pub error: Finite,
    /// What is added to every distance.
    pub adjustment: Finite,
    /// The distance to the rest of the network.
    pub height: Finite,
}

/// The coordinate of a node in a segment of the network.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateRow {
    /// The node, as the update spelled it.
    pub node: String,
    /// The segment; empty in the community edition.
    pub segment: String,
    /// The coordinate.
    pub coordinate: Coordinate,
}

/// Sets the coordinate of a node. That of an unknown node is ignored.
#[derive(Clone, Debug)]
pub struct CoordinateUpdate(pub CoordinateRow);

/// Reads all coordinates, in the order of nodes and segments.
#[derive(Clone, Copy, Debug)]
pub struct CoordinateList;

/// Reads the coordinates of a node, in the order of segments.
#[derive(Clone, Debug)]
pub struct NodeCoordinates(pub String);

/// The coordinates, by node in lower case and by segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoordinateTable {
    pub(crate) rows: OrderedMap<(String, String), Arc<CoordinateRow>>,
    /// The index of the last change of any.
    newest: Index,
}

impl CoordinateTable {
    /// Returns the table with these rows.
    pub(crate) fn of(image: CoordinateImage) -> Self {
        let rows = image.rows.into_iter();
        Self {
            rows: rows.map(|row| (row.place(), row)).collect(),
            newest: image.newest,
        }
    }

    /// Returns the table as plain data.
    pub(crate) fn image(&self) -> CoordinateImage {
        CoordinateImage {
            newest: self.newest,
            rows: self.rows.values().cloned().collect(),
        }
    }

    /// Lowers its index.
    pub(crate) fn lower(&mut self, low: impl Fn(Index) -> Index) {
        self.newest = low(self.newest);
    }

    /// Returns the rows of a node; its name in lower case.
    fn of_node(&self, node: &str) -> Vec<Arc<CoordinateRow>> {
        let rows = self.rows.range((node.to_owned(), String::new())..);
        let rows = rows.take_while(|((of, _), _)| of == node);
        rows.map(|(_, row)| Arc::clone(row)).collect()
    }
}

impl CoordinateRow {
    /// Returns its place in the table.
    fn place(&self) -> (String, String) {
        (self.node.to_lowercase(), self.segment.clone())
    }
}

impl Command for CoordinateUpdate {
    type Reply = ();
    type Refused = Infallible;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new("", "coordinate.batch-update", ""))
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        change.take_indexes(1);
        let place = self.0.place();
        if change.store.catalog.nodes.contains_key(&place.0) {
            let entry = coordinate_entry(&place);
            let table = &mut change.store.catalog.coordinates;
            table.rows.insert(place, Arc::new(self.0));
            table.newest = change.index;
            change.replace_entries(&[], vec![entry]);
        }
        Ok(())
    }
}

impl Change<'_> {
    /// Forgets the coordinates of a node; its name in lower case.
    pub(crate) fn remove_coordinates(&mut self, node: &str) {
        for row in self.store.catalog.coordinates.of_node(node) {
            let place = row.place();
            let table = &mut self.store.catalog.coordinates;
            table.rows.remove(&place);
            table.newest = self.index;
            self.replace_entries(&[coordinate_entry(&place)], Vec::new());
        }
    }
}

impl Store {
    /// Answers with rows that a search of the tree has found.
    fn coordinate_answer<T>(&self, rows: T, path: &[&str]) -> Answer<T> {
        let catalog = &self.catalog;
        let reads = vec![catalog.trees.search(Tree::Coordinates, path)];
        Answer::new(catalog.coordinates.newest, rows, reads)
    }
}

impl Read for CoordinateList {
    type Rows = Vec<Arc<CoordinateRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("the coordinates of all nodes")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store.catalog.coordinates.rows.values().cloned();
        Ok(store.coordinate_answer(rows.collect(), &[]))
    }
}

impl Read for NodeCoordinates {
    type Rows = Vec<Arc<CoordinateRow>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("the coordinates of node {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let node = self.0.to_lowercase();
        let rows = store.catalog.coordinates.of_node(&node);
        Ok(store.coordinate_answer(rows, &[&node]))
    }
}

/// Writes a number as a text, which every reader reads back to the bit.
#[cfg(feature = "dump")]
impl serde::Serialize for Finite {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(feature = "dump")]
impl<'de> serde::Deserialize<'de> for Finite {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| serde::de::Error::custom("not a finite number"))?;
        Ok(Self(number))
    }
}

/// The index of the last change of any coordinate, and all of them, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateImage {
    /// The index of the last change.
    pub newest: Index,
    /// The rows, in the order of nodes and segments.
    pub rows: Vec<Arc<CoordinateRow>>,
}
