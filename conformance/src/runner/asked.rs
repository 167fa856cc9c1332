//! What real servers were asked and when: figures of documents are counted from this, not reckoned from the list of cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::feature::{Facts, Feature};
use crate::case::version::Version;
use crate::compare::fixtures::{read_about, recorded_cases};
use crate::runner::{Report, State};
use crate::target::site::ToolError;
use crate::time::today;

const FILE: &str = "asked.json";

/// The results of the runs on one release of Consul, as they stand beside its recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The release.
    pub version: String,
    /// The same with revision and Go version.
    pub build: String,
    /// The mode of a run (`-dev`, `-server`) and the day of the last one.
    pub runs: BTreeMap<String, String>,
    /// The ids of the cases that held.
    pub pass: BTreeSet<String>,
    /// The ids of those that did not.
    pub fail: BTreeSet<String>,
    /// No results were kept: these are the cases that have a recording, which is made only of a case that holds.
    #[serde(skip)]
    pub from_recordings: bool,
}

impl Asked {
    /// The results that are kept in a folder of recordings; `None` where none are.
    ///
    /// # Errors
    /// A file that is something else.
    pub fn read(folder: &Path) -> Result<Option<Self>, ToolError> {
        let file = folder.join(FILE);
        let cannot = |why: &dyn std::fmt::Display| ToolError(format!("{}: {why}", file.display()));
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| cannot(&error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot(&error)),
        }
    }

    /// What the recordings in a folder say of it.
    ///
    /// # Errors
    /// A folder that has none.
    fn of_recordings(folder: &Path) -> Result<Self, ToolError> {
        let recorded = read_about(folder)?;
        let held = recorded_cases(folder).into_iter();
        Ok(Self {
            version: recorded.version,
            build: recorded.build,
            runs: BTreeMap::from([(mode(recorded.dev), recorded.date)]),
            pass: held.map(|case| case.id.to_owned()).collect(),
            fail: BTreeSet::new(),
            from_recordings: true,
        })
    }

    /// The results of all releases, from the folders below one, oldest release first. Of a release without results, the recordings count.
    ///
    /// # Errors
    /// A folder that cannot be read, or a file in it that is something else.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, ToolError> {
        let entries = fs::read_dir(folder)
            .map_err(|error| ToolError(format!("{}: {error}", folder.display())))?;
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|path| path.is_dir());
        let one = |folder: &PathBuf| match Self::read(folder)? {
            Some(kept) => Ok(kept),
            None => Self::of_recordings(folder),
        };
        let mut all: Vec<Self> = folders.iter().map(one).collect::<Result<_, ToolError>>()?;
        all.sort_by_key(|asked| asked.version.parse::<Version>().ok());
        Ok(all)
    }

    /// Adds a run to the results of its release below a folder: what held and what did not replaces what was known of the same cases.
    ///
    /// # Errors
    /// A target that is not a real Consul, or a file that cannot be read or written.
    pub fn add(folder: &Path, facts: &Facts, report: &Report) -> Result<(), ToolError> {
        if !facts.genuine {
            let text = format!("{} is not counted: it is not a real Consul", report.target);
            return Err(ToolError(text));
        }
        let folder = folder.join(facts.version.to_string());
        let mut asked = Self::read(&folder)?.unwrap_or_default();
        asked.take(facts, report);
        let text = serde_json::to_string_pretty(&asked).expect("plain data is JSON");
        let written = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join(FILE), format!("{text}\n")));
        written.map_err(|error| ToolError(format!("{}: {error}", folder.join(FILE).display())))
    }

    fn take(&mut self, facts: &Facts, report: &Report) {
        self.version = facts.version.to_string();
        facts.build.clone_into(&mut self.build);
        let mode = mode(facts.has(Feature::DevMode));
        self.runs.insert(mode, today());
        for result in &report.results {
            let id = result.case.id;
            if matches!(result.state, State::Skip(_)) {
                continue;
            }
            self.pass.remove(id);
            self.fail.remove(id);
            match result.state {
                State::Pass => self.pass.insert(id.to_owned()),
                _ => self.fail.insert(id.to_owned()),
            };
        }
    }
}

/// What a run on such an agent is called.
fn mode(dev: bool) -> String {
    (if dev { "-dev" } else { "-server" }).to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::case::Case;
    use crate::case::version::Version;
    use crate::runner::CaseResult;
    use crate::runner::verdict::Failure;
    use crate::wire::transcript::Transcript;

    static ONE: Case = Case {
        id: "t/one",
        ..Case::MUST
    };
    static TWO: Case = Case {
        id: "t/two",
        ..Case::MUST
    };

    fn facts(genuine: bool) -> Facts {
        Facts {
            version: Version::new(1, 8, 7),
            build: "1.8.7 go1.15".to_owned(),
            node: String::new(),
            datacenter: String::new(),
            shortest_ttl: Duration::ZERO,
            features: vec![Feature::DevMode],
            genuine,
        }
    }

    fn report(states: [State; 2]) -> Report {
        let results = [&ONE, &TWO].into_iter().zip(states);
        let results = results.map(|(case, state)| CaseResult {
            case,
            state,
            took: Duration::ZERO,
            transcript: Transcript::default(),
        });
        Report {
            target: "consul".to_owned(),
            build: String::new(),
            results: results.collect(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn runs_are_added_up_case_by_case() {
        let mut asked = Asked::default();
        let skipped = || State::Skip("needs more".to_owned());
        let failed = || {
            State::Fail(Failure {
                message: String::new(),
                place: String::new(),
            })
        };
        asked.take(&facts(true), &report([failed(), skipped()]));
        assert_eq!((asked.pass.len(), asked.fail.len()), (0, 1));
        asked.take(&facts(true), &report([State::Pass, skipped()]));
        assert!(asked.pass.contains("t/one") && asked.fail.is_empty());
        asked.take(&facts(true), &report([skipped(), State::Pass]));
        assert_eq!(asked.pass.len(), 2);
        assert_eq!(asked.runs.keys().collect::<Vec<_>>(), ["-dev"]);
    }

    #[test]
    fn recordings_count_where_no_results_were_kept() {
        let name = format!("proconsul-asked-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let case = "kv/get/missing-is-404-with-index";
        for (version, file) in [("1.22.0", case), ("1.8.7", "kv/get/no-such-case")] {
            let of = folder.join(version);
            fs::create_dir_all(of.join("kv/get")).expect("a folder can be made");
            let about = format!(
                r#"{{"version": "{version}", "build": "b", "date": "2025-11-20", "dev": true, "shortest_ttl_ms": 1}}"#
            );
            fs::write(of.join("recorded.json"), about).expect("a file can be written");
            fs::write(of.join(format!("{file}.txt")), "> GET /").expect("a file can be written");
        }
        let all = Asked::read_all(&folder);
        fs::remove_dir_all(&folder).expect("it can be deleted");
        let all = all.expect("two folders of recordings");
        let [early, late] = &all[..] else {
            panic!("two: {all:?}")
        };
        assert_eq!([&early.version, &late.version], ["1.8.7", "1.22.0"]);
        assert!(early.pass.is_empty() && late.from_recordings);
        assert_eq!(late.pass, BTreeSet::from([case.to_owned()]));
        assert_eq!(late.runs["-dev"], "2025-11-20");
    }

    #[test]
    fn a_double_is_not_counted() {
        let report = report([State::Pass, State::Pass]);
        let error = Asked::add(Path::new("/no/such/folder"), &facts(false), &report);
        let error = error.expect_err("a double proves nothing");
        assert_eq!(error.0, "consul is not counted: it is not a real Consul");
    }
}
