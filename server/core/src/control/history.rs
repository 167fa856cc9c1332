//! What happened, and whether it was safe.

use std::fmt::Write;

use super::Controls;
use proconsul_engine::Explanation;
use proconsul_engine::history::{self, Filter, Happened, Interval, Record, Unsafe};
use proconsul_store::Key;

/// # History
impl Controls {
    /// Returns the records that match `filter`, oldest first.
    #[must_use]
    pub fn history(&self, filter: &Filter) -> Vec<Record> {
        self.engine.history(filter)
    }

    /// How many records have gone because there were more than the history keeps
    /// (`Builder::history_capacity`): the oldest, so that the beginning is missing.
    #[must_use]
    pub fn lost_records(&self) -> u64 {
        self.engine.lost_records()
    }

    /// Returns the first line of a text made of the history: says how many records are missing, or is empty.
    pub(super) fn lost_in_words(&self) -> String {
        match self.lost_records() {
            0 => String::new(),
            lost => format!(
                "the beginning is missing: {lost} older records are gone, the history keeps {}\n",
                self.history_capacity
            ),
        }
    }

    /// The whole history as text, a line for each record. A first line says so when the beginning is missing.
    #[must_use]
    pub fn history_text(&self) -> String {
        let mut text = self.lost_in_words();
        for record in self.history(&Filter::all()) {
            writeln!(text, "{record}").expect("memory takes every line");
        }
        text
    }

    /// Forgets the history so far. Numbers go on.
    pub fn clear_history(&self) {
        self.engine.clear_history();
    }

    /// The number of the last record, for [`Filter::after`].
    #[must_use]
    pub fn last_record(&self) -> u64 {
        self.engine.last_record()
    }

    /// Returns the life of one key as text: writes, holders, and why an acquire failed or a lock was lost. A first
    /// line says so if the beginning is missing.
    #[must_use]
    pub fn timeline(&self, key: impl AsRef<[u8]>) -> String {
        let mut text = self.lost_in_words();
        text += &history::timeline(&self.history(&Filter::all()), &Key::new(key));
        text
    }

    /// Explains the lock of a key: its holder and since when, its lock-delay, and the requests that wait for it.
    #[must_use]
    pub fn explain(&self, key: impl AsRef<[u8]>) -> Explanation {
        self.engine.explain(&Key::new(key))
    }

    /// Records that a program believes from now on that it holds a lock, with this fencing token if it has one, or that it
    /// does not.
    pub fn note_belief(&self, program: &str, holds: bool, token: Option<&str>) {
        self.engine.record(Happened::Belief {
            program: program.to_owned(),
            holds,
            token: token.map(str::to_owned),
        });
    }

    /// Checks that the lock `key` was safe: in the history of the server, and in what programs believed.
    ///
    /// # Errors
    /// Every violation.
    pub fn check_lock_safety(
        &self,
        key: impl AsRef<[u8]>,
        beliefs: &[Interval],
    ) -> Result<(), Vec<Unsafe>> {
        let found = self.engine.lock_violations(&Key::new(key), beliefs);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Asserts what [`Controls::check_lock_safety`] checks.
    ///
    /// # Panics
    /// When the lock was not safe: with every violation, and the timeline of the key.
    #[track_caller]
    pub fn assert_lock_safety(&self, key: impl AsRef<[u8]>, beliefs: &[Interval]) {
        if let Err(found) = self.check_lock_safety(&key, beliefs) {
            let key_name = Key::new(&key);
            let lines: Vec<String> = found.iter().map(|found| format!("- {found}")).collect();
            let timeline = self.timeline(&key);
            panic!(
                "the lock {key_name:?} was not safe:\n{}\n{timeline}",
                lines.join("\n")
            );
        }
    }
}
