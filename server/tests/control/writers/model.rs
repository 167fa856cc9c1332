//! What a server holds, as far as these tests look: read from it, or made from its history.

use std::collections::{BTreeMap, BTreeSet};

use proconsul::Server;
use proconsul::history::{Happened, Record};

use super::work::Written;

/// What a server holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    keys: BTreeMap<String, Row>,
    sessions: BTreeSet<String>,
    nodes: BTreeSet<String>,
    /// The status of the check of each node that a writer registers.
    checks: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    modify_index: u64,
    holder: Option<String>,
    /// None where several write the key.
    value: Option<String>,
}

fn has_one_writer(key: &str) -> bool {
    key.starts_with('w') && !key.ends_with("/end")
}

impl Model {
    /// What a server holds now.
    pub(super) fn of(server: &Server) -> Self {
        let keys = server.kv().list("").into_iter().map(|(key, row)| {
            let key = key.to_string();
            let value = String::from_utf8_lossy(&row.value).into_owned();
            let row = Row {
                modify_index: row.modify_index.0,
                holder: row.session().map(str::to_owned),
                value: has_one_writer(&key).then_some(value),
            };
            (key, row)
        });
        let sessions = server.sessions().list().into_iter();
        let nodes = server.catalog().nodes().into_iter();
        let checks = server.catalog().checks().into_iter();
        let checks = checks.filter(|row| row.check.check_id == "alive");
        Self {
            keys: keys.collect(),
            sessions: sessions.map(|row| row.session.id.to_string()).collect(),
            nodes: nodes.map(|row| row.node.node.clone()).collect(),
            checks: checks
                .map(|row| (row.node.clone(), row.check.status.clone()))
                .collect(),
        }
    }

    /// That a server holds this and nothing else.
    pub(super) fn assert_is(&self, held: &Self) {
        for key in self.keys.keys().chain(held.keys.keys()) {
            let (said, is) = (self.keys.get(key), held.keys.get(key));
            assert_eq!(is, said, "{key}: what is there is not what was done to it");
        }
        assert_eq!(held.sessions, self.sessions, "sessions");
        assert_eq!(held.nodes, self.nodes, "nodes");
        assert_eq!(held.checks, self.checks, "checks");
    }

    fn lower(&mut self, by: u64) {
        for row in self.keys.values_mut() {
            row.modify_index = row.modify_index.saturating_sub(by).max(1);
        }
    }
}

/// A history under way.
struct Replay<'a> {
    first: Model,
    now: Model,
    checkpoints: BTreeMap<String, Model>,
    loads: std::slice::Iter<'a, Model>,
    written: &'a BTreeMap<String, Written>,
    /// How many writes of each key the history has had, and how many refusals.
    writes: BTreeMap<String, usize>,
    refusals: BTreeMap<String, usize>,
    /// A session has just ended, at this index: the keys that follow at the same one are those that it held.
    ending: Option<u64>,
    /// The node whose check a test has just set.
    check_set: Option<String>,
}

/// What a history comes to that began at `first`.
pub(super) fn replay(
    records: &[Record],
    first: Model,
    loads: &[Model],
    written: &BTreeMap<String, Written>,
) -> Model {
    let mut replay = Replay {
        now: first.clone(),
        first,
        checkpoints: BTreeMap::new(),
        loads: loads.iter(),
        written,
        writes: BTreeMap::new(),
        refusals: BTreeMap::new(),
        ending: None,
        check_set: None,
    };
    let mut before: Option<&Record> = None;
    for record in records {
        if let Some(before) = before {
            assert!(record.at >= before.at, "{before}\nand then {record}");
            let goes_back = record.index < before.index;
            assert!(
                !goes_back || lowers_indexes(&before.what),
                "{before}\nand then {record}"
            );
        }
        replay.step(record);
        before = Some(record);
    }
    replay.all_is_there();
    assert!(replay.loads.next().is_none(), "the history has every load");
    replay.now
}

fn lowers_indexes(what: &Happened) -> bool {
    let Happened::Control { action } = what else {
        return false;
    };
    let lowering = ["reset", "restart", "rollback", "state loaded", "indexes"];
    lowering.iter().any(|word| action.starts_with(word))
}

impl Replay<'_> {
    fn step(&mut self, record: &Record) {
        let index = record.index.0;
        let ending = self.ending.take().filter(|ending| *ending == index);
        match &record.what {
            Happened::KeyWritten { key } => {
                self.ending = ending;
                self.write(&key.to_string(), index, ending.is_some());
            }
            Happened::KeyDeleted { key } => {
                self.ending = ending;
                self.now.keys.remove(&key.to_string());
            }
            Happened::KeyTreeDeleted { prefix, .. } => {
                let prefix = prefix.to_string();
                self.now.keys.retain(|key, _| !key.starts_with(&prefix));
            }
            Happened::WriteRefused { key } => {
                *self.refusals.entry(key.to_string()).or_default() += 1;
            }
            Happened::Acquired { key, session, .. } => {
                self.hold(&key.to_string(), Some(session));
            }
            Happened::Released { key, .. } => {
                self.ending = ending;
                self.hold(&key.to_string(), None);
            }
            Happened::SessionCreated { session, .. } => {
                self.now.sessions.insert(session.clone());
            }
            Happened::SessionEnded { session, .. } => {
                self.ending = Some(index);
                self.now.sessions.remove(session);
            }
            Happened::CatalogChanged { change } => self.catalog(change),
            Happened::Control { action } => self.control(action),
            // Requests, and what changes nothing that is looked at.
            _ => {}
        }
    }

    fn write(&mut self, key: &str, index: u64, by_the_end_of_a_session: bool) {
        let row = self.now.keys.entry(key.to_owned()).or_default();
        row.modify_index = index;
        if by_the_end_of_a_session || !has_one_writer(key) {
            return;
        }
        let place = self.writes.entry(key.to_owned()).or_default();
        let value = self
            .written
            .get(key)
            .and_then(|written| written.values.get(*place));
        let value = value.unwrap_or_else(|| panic!("{key}: nobody wrote it so often"));
        row.value = Some(value.clone());
        *place += 1;
    }

    fn hold(&mut self, key: &str, holder: Option<&str>) {
        if let Some(row) = self.now.keys.get_mut(key) {
            row.holder = holder.map(str::to_owned);
        }
    }

    fn catalog(&mut self, change: &str) {
        let node = change
            .split('"')
            .nth(1)
            .expect("a node is named")
            .to_owned();
        let set = self.check_set.take();
        if change.starts_with("deregistered") {
            self.now.nodes.remove(&node);
            self.now.checks.remove(&node);
            return;
        }
        if node.starts_with('n') && set.is_none_or(|set| set != node) {
            self.now.checks.insert(node.clone(), "passing".to_owned());
        }
        self.now.nodes.insert(node);
    }

    fn control(&mut self, action: &str) {
        let words: Vec<&str> = action.split('"').collect();
        match *words.as_slice() {
            ["checkpoint ", name, ""] => {
                self.checkpoints.insert(name.to_owned(), self.now.clone());
            }
            ["delete checkpoint ", name, ""] => {
                self.checkpoints.remove(name);
            }
            ["rollback to ", name, ""] => {
                let checkpoint = self.checkpoints.get(name);
                self.now = checkpoint.expect("it was kept before").clone();
            }
            ["reset"] => {
                self.now = self.first.clone();
                self.checkpoints.clear();
            }
            ["restart, nothing kept"] => self.now = self.first.clone(),
            ["state loaded"] => {
                let loaded = self.loads.next();
                self.now = loaded.expect("it was loaded").clone();
            }
            ["check ", "alive", " of node ", node, status] => {
                let status = status.trim_start_matches(" is ").to_owned();
                self.now.checks.insert(node.to_owned(), status);
                self.check_set = Some(node.to_owned());
            }
            [lowered] if lowered.starts_with("indexes lowered by ") => {
                let by = lowered.rsplit(' ').next().map(str::parse);
                self.now.lower(by.expect("words").expect("a number"));
            }
            _ => {}
        }
    }

    /// That the history has every write that was acknowledged, and every one that was refused.
    fn all_is_there(&self) {
        for (key, written) in self.written {
            let writes = self.writes.get(key).copied().unwrap_or_default();
            let possible = written.sure..=written.values.len();
            assert!(
                possible.contains(&writes),
                "{key}: {writes} writes in the history, {} acknowledged",
                written.sure
            );
            let refusals = self.refusals.get(key).copied().unwrap_or_default();
            let unsure = written.values.len() - written.sure;
            let possible = written.refused..=written.refused + unsure;
            assert!(
                possible.contains(&refusals),
                "{key}: {refusals} refusals in the history, {} told",
                written.refused
            );
        }
    }
}
