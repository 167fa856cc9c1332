//! Which case proves which row of the contract: `conformance/rows/*.txt`, where every row stands that was seen on a real Consul 1.8.7
//! (those of `1.22.md` are the contract's word for 1.22, and those of `acl.md` that begin with `now:` are about late 2025).
//!
//! A line is `<place> | <the row in a few words> | <case id>, <case id>, ...`, or has `not a case: <why>` in place of the ids.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proconsul_conformance::case::citation;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::{Case, Feature, Version, cases};

/// The version on which the rows were seen.
const SEEN: Version = Version::new(1, 8, 7);
/// The document about a later version, and that version, in whose source its rows were read.
const LATER: (&str, Version) = ("1.22.md", Version::V1_22);
/// What the words of a row begin with that was seen on late 2025 alone, which stands for 1.22.
const NOW: &str = "now:";
/// What stands before the reason of a row that no case can prove.
const UNPROVED: &str = "not a case:";
/// A reason that is shorter says nothing.
const SHORTEST_REASON: usize = 15;

/// One line of a list.
#[derive(Debug, PartialEq, Eq)]
struct Row<'l> {
    /// Where the contract says it, as `contract/README.md` has it: `session.md 3.1`, `session.md trap 27`.
    place: &'l str,
    /// The release of which it says so.
    version: Version,
    proof: Proof<'l>,
}

#[derive(Debug, PartialEq, Eq)]
enum Proof<'l> {
    /// All of these cases together.
    Cases(Vec<&'l str>),
    /// None can be written.
    Impossible,
}

/// Reads a line that is neither empty nor a comment.
fn row(line: &str) -> Result<Row<'_>, String> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [place, statement, proof] = parts[..] else {
        return Err(format!("{} bars instead of two", parts.len() - 1));
    };
    if citation::place(place).is_none() {
        return Err(format!("`{place}` is no place of the contract"));
    }
    if statement.is_empty() {
        return Err("the row says nothing".to_owned());
    }
    let proof = match proof.strip_prefix(UNPROVED) {
        Some(why) if why.trim().len() < SHORTEST_REASON => {
            return Err("there is no reason why".to_owned());
        }
        Some(_) => Proof::Impossible,
        None => Proof::Cases(ids(proof)?),
    };
    let is_late = place.starts_with(LATER.0) || statement.starts_with(NOW);
    let version = if is_late { LATER.1 } else { SEEN };
    Ok(Row {
        place,
        version,
        proof,
    })
}

/// Reads `<case id>, <case id>, ...`.
fn ids(text: &str) -> Result<Vec<&str>, String> {
    let ids: Vec<&str> = text.split(',').map(str::trim).collect();
    if ids.contains(&"") {
        return Err("an id is missing".to_owned());
    }
    let different: BTreeSet<_> = ids.iter().collect();
    if different.len() < ids.len() {
        return Err("an id stands twice".to_owned());
    }
    Ok(ids)
}

/// What is wrong with the proof of a row.
fn faults(row: &Row<'_>, cases: &[&Case], deviations: &Deviations) -> Vec<String> {
    let Proof::Cases(ids) = &row.proof else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    let mut is_asked = false;
    for id in ids {
        let Some(case) = cases.iter().find(|case| case.id == *id) else {
            faults.push(format!("no case is called `{id}`"));
            continue;
        };
        if !case.rests_on(row.place) {
            faults.push(format!("the source of `{id}` lacks {}", row.place));
        }
        if case.is_of_another_version(row.version) {
            faults.push(format!("`{id}` claims nothing of {}", row.version));
        }
        if deviations.reason(id).is_some() {
            faults.push(format!("the emulator does not meet `{id}`"));
        }
        is_asked |= !case.needs.contains(&Feature::MovableClock);
    }
    if faults.is_empty() && !is_asked {
        faults.push("no case runs on a real Consul, whose clock nobody moves".to_owned());
    }
    faults
}

/// What is wrong with a list, line by line.
fn complaints(text: &str, cases: &[&Case], deviations: &Deviations) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut rows = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        rows += 1;
        let faults = match row(line) {
            Ok(row) => faults(&row, cases, deviations),
            Err(why) => vec![why],
        };
        complaints.extend(faults.iter().map(|why| format!("line {number}: {why}")));
    }
    if rows == 0 {
        complaints.push("there is no row".to_owned());
    }
    complaints
}

fn lists() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rows");
    let entries = folder.read_dir().expect("the folder rows");
    entries
        .map(|entry| entry.expect("a readable folder").path())
        .collect()
}

#[test]
fn every_row_has_its_cases_or_a_reason_why_not() {
    let cases = cases::all();
    let deviations = Deviations::of_the_emulator(&cases).expect("deviations.toml is in order");
    let lists = lists();
    assert!(!lists.is_empty(), "there are no lists");
    let mut told = Vec::new();
    for list in lists {
        let text = std::fs::read_to_string(&list).expect("a list is text");
        let name = list.file_name().unwrap_or_default().to_string_lossy();
        let complaints = complaints(&text, &cases, &deviations);
        told.extend(complaints.into_iter().map(|why| format!("{name}: {why}")));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

const EARLY: Case = Case {
    id: "a/b/c",
    source: "session.md 3.1, trap 2",
    ..Case::MUST
};
const LATE: Case = Case {
    id: "a/b/later",
    source: "session.md 3.1; 1.22.md B3",
    since: Version::V1_9,
    ..Case::MUST
};
const FORMER: Case = Case {
    id: "a/b/former",
    source: "session.md 3.1; 1.22.md B3",
    until: Some(Version::V1_9),
    ..Case::MUST
};
const MOVED: Case = Case {
    id: "a/b/moved",
    source: "session.md 3.1",
    needs: &[Feature::MovableClock],
    ..Case::MUST
};
const UNMET: Case = Case {
    id: "a/b/unmet",
    source: "session.md 3.1",
    ..Case::MUST
};

/// What is wrong with a list of this text, of the cases above.
fn of(text: &str) -> String {
    let cases = [&EARLY, &LATE, &FORMER, &MOVED, &UNMET];
    let deviations = Deviations::parse(
        r#""a/b/unmet" = { why = "not yet", fails = "came 200" }"#,
        &cases,
    );
    let deviations = deviations.expect("the line names a case");
    complaints(text, &cases, &deviations).join("\n")
}

#[test]
fn good_rows_are_taken() {
    let text = "# a comment\n\nsession.md 3.1 | it is so | a/b/c, a/b/moved\nsession.md trap 2 | so it is | a/b/c\n\
                1.22.md B3 | it is so now | a/b/later\nsession.md 3.1 | now: it is so | a/b/later\nsession.md 3.1 | it was | a/b/former\n\
                session.md 7 | nobody sees it | not a case: it does not show on the wire\n";
    assert_eq!(of(text), "");
}

#[test]
fn bad_rows_are_told_with_their_line() {
    for (line, why) in [
        ("session.md 3.1 | it is so", "1 bars"),
        ("session.md 3.1 | it | is so | a/b/c", "3 bars"),
        ("3.1 | it is so | a/b/c", "is no place"),
        ("session.md 1, 2 | it is so | a/b/c", "is no place"),
        ("session.md 3.1 | | a/b/c", "says nothing"),
        ("session.md 3.1 | it is so | not a case: no", "no reason"),
        ("session.md 3.1 | it is so | ", "id is missing"),
        ("session.md 3.1 | it is so | a/b/c,", "id is missing"),
        ("session.md 3.1 | it is so | a/b/c, a/b/c", "stands twice"),
        ("session.md 3.1 | it is so | a/b/d", "no case is called"),
        ("session.md 3.2 | it is so | a/b/c", "lacks session.md 3.2"),
        ("kv.md 2.3 | it is so | a/b/c", "lacks kv.md 2.3"),
        ("session.md 3.1 | it is so | a/b/later", "nothing of 1.8.7"),
        ("1.22.md B3 | it is so | a/b/former", "nothing of 1.22.0"),
        ("session.md 3.1 | now: so | a/b/former", "nothing of 1.22.0"),
        ("session.md 3.1 | it is so | a/b/unmet", "does not meet"),
        ("session.md 3.1 | it is so | a/b/moved", "nobody moves"),
    ] {
        let told = of(&format!("# one\n{line}\n"));
        assert!(
            told.starts_with("line 2: ") && told.contains(why),
            "{line}: {told}"
        );
    }
    assert_eq!(of("# nothing\n"), "there is no row");
}
