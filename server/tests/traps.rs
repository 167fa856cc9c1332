//! Every trap of the contract's two lists (kv.md (b) and session.md 8(b)) has exactly one test, or a case of the conformance suite.
//!
//! A test is marked by a comment above it: `// trap:`, the list, the number.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each of the two lists has this many.
const TRAPS: u32 = 30;

/// The traps that show in the store: marked under `engine/src/engine/tests/store`. Where such a trap also speaks of statuses or
/// texts, the tests of the HTTP layer show those unmarked.
const IN_THE_STORE: [(&str, &[u32]); 2] = [
    (
        "kv",
        &[
            2, 3, 4, 5, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 27, 28,
        ],
    ),
    (
        "session",
        &[1, 2, 4, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28],
    ),
];

/// The traps that only show on the wire and that no case of the conformance suite shows as closely: marked under `tests`.
const ON_THE_WIRE: [(&str, &[u32]); 2] = [("kv", &[15]), ("session", &[27])];

/// The other traps that only show on the wire: the conformance suite, which runs on the emulator as well, has a case that cites each.
const IN_THE_SUITE: [(&str, &[u32]); 2] = [
    ("kv", &[1, 6, 7, 8, 9, 23, 24, 25, 26, 29, 30]),
    (
        "session",
        &[3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 26, 29, 30],
    ),
];

/// A trap: its list and its number.
type Trap = (String, u32);

#[test]
fn each_trap_has_one_place() {
    let mut all = [flat(&IN_THE_STORE), flat(&ON_THE_WIRE), flat(&IN_THE_SUITE)].concat();
    all.sort();
    let numbered = |list: &str| {
        (1..=TRAPS)
            .map(|number| (list.to_owned(), number))
            .collect()
    };
    let expected: Vec<Vec<Trap>> = vec![numbered("kv"), numbered("session")];
    assert_eq!(all, expected.concat());
}

#[test]
fn each_trap_of_the_store_has_exactly_one_test() {
    check("engine/src", &IN_THE_STORE);
}

#[test]
fn each_trap_of_the_wire_has_exactly_one_test() {
    check("tests", &ON_THE_WIRE);
}

#[test]
fn each_trap_of_the_suite_is_cited_by_a_case() {
    let mut cited = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/src/cases");
    for path in sources(&folder) {
        let text = fs::read_to_string(&path).expect("a source is readable");
        let lines = text.lines().map(str::trim);
        for citation in lines.filter_map(|line| line.strip_prefix("source: \"")) {
            cited.extend(traps_of(citation));
        }
    }
    for trap in flat(&IN_THE_SUITE) {
        assert!(cited.contains(&trap), "no case cites {trap:?}");
    }
}

/// The traps that a citation names: `kv.md 2.5; traps 4 and 5; session.md trap 29` names three.
fn traps_of(citation: &str) -> Vec<Trap> {
    let (mut traps, mut list, mut is_trap) = (Vec::new(), "", false);
    for word in citation.split_whitespace() {
        let number = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        match (word.split_once(".md"), number.parse()) {
            (Some((document, _)), _) => (list, is_trap) = (document, false),
            (_, Ok(number)) if is_trap => traps.push((list.to_owned(), number)),
            _ if number != "and" => is_trap = matches!(number, "trap" | "traps"),
            _ => {}
        }
    }
    traps
}

/// That these traps, and no others, are marked in this folder, once each.
fn check(folder: &str, traps: &[(&str, &[u32])]) {
    let marks = marks(folder);
    for trap in flat(traps) {
        let tests = marks.get(&trap).map_or(&[][..], Vec::as_slice);
        assert_eq!(tests.len(), 1, "{trap:?} is marked at {tests:?}");
    }
    let others: Vec<_> = marks
        .keys()
        .filter(|trap| !flat(traps).contains(trap))
        .collect();
    assert!(others.is_empty(), "{others:?} are marked in {folder}");
}

fn flat(lists: &[(&str, &[u32])]) -> Vec<Trap> {
    let traps = lists.iter().flat_map(|(list, numbers)| {
        let numbers = numbers.iter();
        numbers.map(move |number| ((*list).to_owned(), *number))
    });
    traps.collect()
}

/// The marks in the sources under a folder of this crate, and where they stand.
fn marks(folder: &str) -> BTreeMap<Trap, Vec<String>> {
    let mut marks = BTreeMap::<Trap, Vec<String>>::new();
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
        let text = fs::read_to_string(&path).expect("a source is readable");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            let Some(mark) = line.strip_prefix("// trap: ") else {
                continue;
            };
            let place = format!("{}:{}", path.display(), number + 1);
            let trap = trap(mark).unwrap_or_else(|| panic!("{place}: no list and number"));
            let below = lines[number..].iter().find(|line| !line.starts_with("//"));
            assert!(
                below.is_some_and(|line| is_test(line)),
                "{place}: a mark stands above a test"
            );
            marks.entry(trap).or_default().push(place);
        }
    }
    marks
}

fn trap(mark: &str) -> Option<Trap> {
    let (list, number) = mark.split_once(' ')?;
    Some((list.to_owned(), number.parse().ok()?))
}

fn is_test(line: &str) -> bool {
    line.starts_with("#[test]") || line.starts_with("#[tokio::test")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
