//! Cases that are compared and have no recording, each with the reason: some are newer than a server that is no longer there to be asked,
//! of some two runs differ. Kept beside the folders of recordings, in `not-recorded.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use super::beside;
use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::target::site::ToolError;

const FILE: &str = "not-recorded.toml";

/// The cases of one release that have no recording: id -> why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotRecorded {
    known: BTreeMap<String, String>,
}

impl NotRecorded {
    /// Reads the list for a folder of recordings from the file beside it. Without a file the list is empty.
    ///
    /// # Errors
    /// An entry that does not say why, or whose case is no more, is not claimed of the release, can be asked of no real server, or has a recording.
    pub fn beside(folder: &Path, version: Version, cases: &[&Case]) -> Result<Self, ToolError> {
        let list = Self::checked(beside::entries(folder, FILE, version)?, version, cases)?;
        let recorded = |id: &&String| folder.join(format!("{id}.txt")).exists();
        match list.known.keys().find(recorded) {
            None => Ok(list),
            Some(id) => Err(wrong(version, id, "has a recording: take it off the list")),
        }
    }

    /// Takes the entries of a release.
    ///
    /// # Errors
    /// An id that no case has, a case that is not claimed of the release or that no real server can be asked, and an entry that does not
    /// say why.
    fn checked(
        known: BTreeMap<String, String>,
        version: Version,
        cases: &[&Case],
    ) -> Result<Self, ToolError> {
        for (id, why) in &known {
            let Some(case) = cases.iter().find(|case| case.id == id) else {
                return Err(wrong(version, id, "is no case"));
            };
            if case.is_of_another_version(version) {
                return Err(wrong(version, id, "is not claimed of that release"));
            }
            if case.needs.contains(&Feature::MovableClock) {
                return Err(wrong(version, id, "can be asked of no real server"));
            }
            if why.trim().is_empty() {
                return Err(wrong(version, id, "does not say why"));
            }
        }
        Ok(Self { known })
    }

    /// Why a case has no recording, if that is known.
    #[must_use]
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.known.get(id).map(String::as_str)
    }
}

fn wrong(version: Version, id: &str, what: &str) -> ToolError {
    ToolError(format!("{FILE}, {version}: `{id}` {what}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const CASE: Case = Case {
        id: "a/b",
        ..Case::MUST
    };
    const LATER: Case = Case {
        id: "a/later",
        since: Version::V1_22,
        ..Case::MUST
    };
    const MOVING: Case = Case {
        id: "a/moving",
        needs: &[Feature::MovableClock],
        ..Case::MUST
    };
    const RELEASE: Version = Version::new(1, 8, 7);

    fn parse(text: &str) -> Result<NotRecorded, ToolError> {
        let entries = beside::of_release(text, RELEASE);
        let entries = entries.map_err(|error| ToolError(error.message().to_owned()))?;
        NotRecorded::checked(entries, RELEASE, &[&CASE, &LATER, &MOVING])
    }

    #[test]
    fn reads_the_lines_of_its_release_and_nothing_else() {
        let list = parse("[\"1.8.7\"]\n\"a/b\" = \"new\"\n[\"1.22.0\"]\n\"a/c\" = \"x\"");
        let list = list.expect("a good file");
        assert_eq!(list.reason("a/b"), Some("new"));
        assert_eq!(list.reason("a/c"), None);
        for (line, why) in [
            ("\"a/c\" = \"new\"", "`a/c` is no case"),
            ("\"a/later\" = \"new\"", "not claimed of that release"),
            ("\"a/moving\" = \"new\"", "asked of no real server"),
            ("\"a/b\" = \" \"", "does not say why"),
            ("\"a/b\" = 1", "invalid type"),
        ] {
            let error = parse(&format!("[\"1.8.7\"]\n{line}")).expect_err(line).0;
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn a_recording_takes_its_case_off_the_list() {
        let name = format!("proconsul-not-recorded-{}", std::process::id());
        let folder = std::env::temp_dir().join(name).join("1.8.7");
        fs::create_dir_all(folder.join("a")).expect("a folder can be made");
        let file = folder.parent().expect("it lies in one").join(FILE);
        fs::write(&file, "[\"1.8.7\"]\n\"a/b\" = \"new\"").expect("a file can be written");
        let list = || NotRecorded::beside(&folder, RELEASE, &[&CASE]);
        let before = list();
        fs::write(folder.join("a/b.txt"), "recorded").expect("a file can be written");
        let after = list();
        fs::remove_dir_all(file.parent().expect("it lies in one")).expect("it can be deleted");
        assert_eq!(before.expect("a good list").reason("a/b"), Some("new"));
        let error = after.expect_err("it has a recording").0;
        assert!(error.contains("`a/b` has a recording"), "{error}");
    }
}
