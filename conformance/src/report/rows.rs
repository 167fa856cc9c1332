//! Which rows of the contract the cases show, computed from the sources of the cases and from [`UNCOVERED`].
//!
//! A row is shown by a case or a [`Claim`] whose source names it, or names its section when nothing says more about the row itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::case::Case;
use crate::case::citation::{Citation, FILES, citations};
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::clusters::{AREAS, CLAIMS, Claim};
use crate::cases::uncovered::{UNCOVERED, Uncovered};
use crate::target::site::ToolError;

/// The page about a later release, and that release: a case shows its rows when it holds there.
const LATER: (&str, Version) = ("1.22.md", Version::V1_22);

/// A line of the contract that has an anchor and is no heading, or a heading with nothing but text below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// One line may have several anchors.
    anchors: Vec<String>,
    /// The anchors of the heading above.
    section: Vec<String>,
}

/// One page of the contract in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The page's file.
    pub file: &'static str,
    /// How many rows it has.
    pub rows: usize,
    /// How many of them cases show.
    pub shown: usize,
}

/// What the cases show of the contract.
#[derive(Debug, Default)]
pub struct Coverage {
    /// In the order of the contract.
    pub pages: Vec<Page>,
    /// Rows that no case shows and no reason excuses, reasons that excuse nothing, and cases that name no row.
    pub complaints: Vec<String>,
}

impl Coverage {
    /// Computes the coverage of the contract in a folder.
    ///
    /// # Errors
    /// When a page cannot be read.
    pub fn of(contract: &Path, cases: &[&Case]) -> Result<Self, ToolError> {
        let mut pages = Vec::new();
        for file in FILES {
            let path = contract.join(file);
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|error| ToolError(format!("{}: {error}", path.display())))?;
            pages.push((file, text));
        }
        Ok(Self::computed(&pages, cases, CLAIMS, UNCOVERED))
    }

    fn computed(
        pages: &[(&'static str, String)],
        cases: &[&Case],
        claims: &[Claim],
        excuses: &[Uncovered],
    ) -> Self {
        let mut coverage = Self::default();
        let contract = Contract(
            pages
                .iter()
                .map(|(file, text)| (*file, anchors(text)))
                .collect(),
        );
        let proofs = Proofs::of(&contract, cases, claims, &mut coverage.complaints);
        let excused = excused(&contract, excuses, &proofs, &mut coverage.complaints);
        let mut used = BTreeSet::new();
        for (file, text) in pages {
            let rows = rows(text);
            let mut shown = 0;
            for row in &rows {
                let at = |anchors: &[String]| {
                    let mut places = anchors.iter().map(|anchor| (*file, anchor.clone()));
                    places.find(|place| excused.contains(place))
                };
                if proofs.of_any(file, &row.anchors) {
                    shown += 1;
                } else if let Some(place) = at(&row.anchors) {
                    used.insert(place);
                } else if proofs.of_any(file, &row.section) {
                    shown += 1;
                } else if let Some(place) = at(&row.section).or_else(|| at(&[String::new()])) {
                    used.insert(place);
                } else {
                    let row = row.anchors.join(" ");
                    coverage
                        .complaints
                        .push(format!("{file} {row}: no case and no reason why not"));
                }
            }
            coverage.pages.push(Page {
                file,
                rows: rows.len(),
                shown,
            });
        }
        for (file, anchor) in excused.difference(&used) {
            let complaint = format!("{file} {anchor}: the reason excuses no row");
            coverage.complaints.push(complaint);
        }
        coverage
    }
}

/// A page and an anchor of it; no anchor stands for the whole page.
type Place = (&'static str, String);

/// The cases and claims that name each place.
struct Proofs(BTreeMap<Place, &'static str>);

impl Proofs {
    fn of(
        contract: &Contract,
        cases: &[&Case],
        claims: &[Claim],
        complaints: &mut Vec<String>,
    ) -> Self {
        let mut proofs = BTreeMap::new();
        for case in cases {
            let places = contract.places(case.source);
            if places.is_empty() {
                complaints.push(format!("{}: the source names no row", case.id));
            }
            let shown = places.into_iter().filter(|(file, _)| shows(case, file));
            proofs.extend(shown.map(|place| (place, case.id)));
        }
        for claim in claims {
            let places = contract.places(claim.source);
            if places.is_empty() {
                complaints.push(format!("{}: the source names no row", claim.id));
            }
            // Nothing would hold it.
            if !AREAS.iter().any(|area| claim.id.starts_with(area)) {
                complaints.push(format!("{}: no area of claims", claim.id));
            }
            proofs.extend(places.into_iter().map(|place| (place, claim.id)));
        }
        Self(proofs)
    }

    fn of_any(&self, file: &'static str, anchors: &[String]) -> bool {
        let mut anchors = anchors.iter();
        anchors.any(|anchor| self.0.contains_key(&(file, anchor.clone())))
    }
}

/// Whether a case says something about Consul as a page describes it. A case that moves the clock is never run on a real Consul.
fn shows(case: &Case, file: &str) -> bool {
    !case.needs.contains(&Feature::MovableClock)
        && (file != LATER.0 || !case.is_of_another_version(LATER.1))
}

/// The anchors of each page, in its order.
struct Contract(BTreeMap<&'static str, Vec<String>>);

impl Contract {
    /// The places that a source names, with all that lies between the ends of a range: `kv.md 2.3.r1 to 2.3.r3` names three.
    fn places(&self, source: &str) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for Citation {
            file,
            places: named,
            ..
        } in citations(source)
        {
            let mut end = None;
            for place in named {
                let first = places.last().map(|(_, anchor)| anchor.as_str());
                if let (Some(first), Some(end)) = (first, end)
                    && source[end..place.at.start].trim() == "to"
                {
                    let between = self.between(file, first, &place.anchor);
                    places.extend(between.into_iter().map(|anchor| (file, anchor)));
                }
                end = Some(place.at.end);
                places.push((file, place.anchor));
            }
        }
        places
    }

    /// The anchors between two of a page, without these.
    fn between(&self, file: &str, first: &str, last: &str) -> Vec<String> {
        let anchors = &self.0[file];
        let at = |anchor: &str| anchors.iter().position(|one| one == anchor);
        let range = at(first).zip(at(last));
        let between = range.and_then(|(first, last)| anchors.get(first + 1..last));
        between.unwrap_or_default().to_vec()
    }
}

fn excused(
    contract: &Contract,
    excuses: &[Uncovered],
    proofs: &Proofs,
    complaints: &mut Vec<String>,
) -> BTreeSet<Place> {
    let mut excused = BTreeSet::new();
    for Uncovered { source, .. } in excuses {
        let mut places = contract.places(source);
        places.extend(
            FILES
                .iter()
                .find(|file| *file == source)
                .map(|file| (*file, String::new())),
        );
        if places.is_empty() {
            complaints.push(format!("{source}: the reason names no row"));
        }
        for place in places {
            let (file, anchor) = &place;
            if let Some(case) = proofs.0.get(&place) {
                complaints.push(format!("{file} {anchor}: excused, but shown by {case}"));
            }
            if !excused.insert(place.clone()) {
                complaints.push(format!("{file} {anchor}: excused twice"));
            }
        }
    }
    excused
}

/// The rows of a page.
fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut section = Vec::new();
    // A heading is a row until something below it has an anchor.
    let mut heading: Option<(usize, Row)> = None;
    for line in text.lines() {
        let ids = anchors(line);
        if ids.is_empty() {
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let above = heading.take();
        if level == 0 {
            let section = section.clone();
            rows.push(Row {
                anchors: ids,
                section,
            });
            continue;
        }
        rows.extend(
            above
                .filter(|(above, _)| level <= *above)
                .map(|(_, row)| row),
        );
        section.clone_from(&ids);
        let row = Row {
            anchors: ids,
            section: Vec::new(),
        };
        heading = Some((level, row));
    }
    rows.extend(heading.map(|(_, row)| row));
    rows
}

fn anchors(line: &str) -> Vec<String> {
    let starts = line.split("<a id=\"").skip(1);
    let ids = starts.filter_map(|rest| rest.split_once("\"></a>"));
    ids.map(|(id, _)| id.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# <a id=\"1\"></a>1. Keys\n## <a id=\"1.1\"></a>1.1 Reads\n* <a id=\"1.1.r1\"></a>one\n* <a id=\"1.1.r2\"></a>two\n\
                        ## <a id=\"1.2\"></a>1.2 Text alone\n## <a id=\"1.3\"></a><a id=\"1.4\"></a>1.3, 1.4\n* <a id=\"1.5\"></a>three\n";

    const ROW: Case = Case {
        id: "a/b/row",
        source: "kv.md 1.1.r1, 1.2",
        ..Case::MUST
    };
    const SECTION: Case = Case {
        id: "a/b/section",
        source: "kv.md 1.1, 1.4",
        ..Case::MUST
    };
    const MOVED: Case = Case {
        id: "a/b/moved",
        source: "kv.md 1.1.r2, 1.2, 1.5",
        needs: &[Feature::MovableClock],
        ..Case::MUST
    };
    const STRANGER: Case = Case {
        id: "a/b/stranger",
        source: "seen once",
        ..Case::MUST
    };

    fn excuse(source: &'static str) -> Uncovered {
        Uncovered { source, why: "" }
    }

    fn of(cases: &[&Case], excuses: &[&'static str]) -> (usize, Vec<String>) {
        let excuses: Vec<_> = excuses.iter().copied().map(excuse).collect();
        let page = [("kv.md", PAGE.to_owned())];
        let coverage = Coverage::computed(&page, cases, &[], &excuses);
        assert_eq!(coverage.pages[0].rows, 4);
        (coverage.pages[0].shown, coverage.complaints)
    }

    #[test]
    fn rows_are_shown_by_themselves_or_by_their_section() {
        assert_eq!(of(&[&ROW, &SECTION], &[]), (4, vec![]));
        assert_eq!(of(&[&ROW, &SECTION], &["kv.md 1.1.r2"]), (3, vec![]));
        assert_eq!(of(&[], &["kv.md"]), (0, vec![]));
        assert_eq!(of(&[], &["kv.md 1.1.r1 to 1.2, 1.5"]), (0, vec![]));
        assert_eq!(of(&[&ROW], &["kv.md 1.1, 1.3"]), (2, vec![]));
    }

    #[test]
    fn a_claim_shows_its_rows() {
        let claim = Claim {
            id: "cluster/one",
            source: "kv.md 1.1.r1 to 1.2",
        };
        let page = [("kv.md", PAGE.to_owned())];
        let coverage = Coverage::computed(&page, &[], &[claim], &[]);
        assert_eq!(coverage.pages[0].shown, 3);
        let nowhere = Claim {
            id: "clustre/one",
            source: "seen once",
        };
        let coverage = Coverage::computed(&page, &[], &[nowhere], &["kv.md"].map(excuse));
        let expected = [
            "clustre/one: the source names no row",
            "clustre/one: no area of claims",
        ];
        assert_eq!(coverage.complaints, expected);
    }

    #[test]
    fn what_is_missing_and_what_is_too_much_is_said() {
        let none = "no case and no reason why not";
        let expected = [
            format!("kv.md 1.1.r2: {none}"),
            format!("kv.md 1.5: {none}"),
        ];
        assert_eq!(of(&[&ROW, &MOVED], &[]), (2, expected.to_vec()));
        for (cases, excuses, complaint) in [
            (
                &[&ROW, &SECTION][..],
                &["kv.md 1.2"][..],
                "kv.md 1.2: excused, but shown by a/b/row",
            ),
            (
                &[&ROW, &SECTION],
                &["kv.md 1"],
                "kv.md 1: the reason excuses no row",
            ),
            (
                &[&ROW, &SECTION],
                &["kv.md 1.1.r2", "kv.md 1.1.r2"],
                "kv.md 1.1.r2: excused twice",
            ),
            (
                &[&ROW, &SECTION],
                &["nothing"],
                "nothing: the reason names no row",
            ),
            (
                &[&ROW, &SECTION, &STRANGER],
                &[],
                "a/b/stranger: the source names no row",
            ),
        ] {
            let complaints = of(cases, excuses).1;
            assert!(complaints.contains(&complaint.to_owned()), "{complaints:?}");
        }
    }

    #[test]
    fn a_page_about_a_later_release_is_shown_by_cases_of_it() {
        let former = Case {
            until: Some(Version::V1_9),
            ..Case::MUST
        };
        assert!(shows(&former, "kv.md"));
        assert!(!shows(&former, LATER.0));
    }
}
