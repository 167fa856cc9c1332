//! Every citation of the contract names an anchor that is there: in the sources, the lists of rows, the documents and in the contract
//! itself. `contract/README.md` says how to cite.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proconsul_conformance::case::citation::{Citation, FILES, citations};

/// Folders whose files cite nothing: what is built, what is fetched, what servers said.
const LEFT_OUT: [&str; 4] = [".git", "fixtures", "node_modules", "target"];
/// Files whose citations are examples, good and bad.
const EXAMPLES: [&str; 2] = ["citation_tests.rs", "citations.rs"];
/// The endings of the files that may cite.
const READ: [&str; 4] = ["md", "rs", "toml", "txt"];
/// What stands behind the name of a file that is named as a whole: in backquotes, in quotes, in brackets or as the target of a link.
const WHOLE: [char; 3] = ['`', '"', ')'];

type Anchors = BTreeMap<&'static str, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    text.unwrap_or_else(|error| panic!("{} can be read: {error}", path.display()))
}

/// The text of a file of the contract.
fn contract(file: &str) -> String {
    read(&root().join("conformance/contract").join(file))
}

/// The anchors of a text, in its order.
fn ids(text: &str) -> Vec<String> {
    let starts = text.split("<a id=\"").skip(1);
    let ids = starts.filter_map(|rest| rest.split_once("\"></a>"));
    ids.map(|(id, _)| id.to_owned()).collect()
}

fn anchors() -> Anchors {
    let of = |file: &'static str| (file, ids(&contract(file)).into_iter().collect());
    FILES.into_iter().map(of).collect()
}

/// Finds the files of the repository that may cite, all but the contract, which has a test of its own.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !LEFT_OUT.contains(&name.as_ref()) {
            files(&path, found);
        } else if path.is_file()
            && READ.contains(&ending.as_ref())
            && !EXAMPLES.contains(&name.as_ref())
            && !FILES.contains(&name.as_ref())
        {
            found.push(path);
        }
    }
}

/// The text with a space for every character that leads a line of a comment, so that citations go on over lines. Nothing moves.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t', '/', '!', '#', '*']);
        // A heading of Markdown and an attribute of Rust are led by no comment, but a citation ends before them anyway.
        joined.extend(std::iter::repeat_n(' ', line.len() - content.len()));
        joined.push_str(content.trim_end_matches(['\n', '\\']));
        let end = content.len() - content.trim_end_matches(['\n', '\\']).len();
        joined.extend(std::iter::repeat_n(' ', end));
    }
    joined
}

/// What is wrong with a citation in a text.
fn faults(text: &str, citation: &Citation, anchors: &Anchors) -> Vec<String> {
    let file = citation.file;
    if citation.places.is_empty() {
        let next = text[citation.at.end..].chars().next();
        let is_whole = next.is_none_or(|next| WHOLE.contains(&next));
        let said: String = text[citation.at.start..].chars().take(40).collect();
        let fault = format!("`{}` names no place", said.trim_end());
        return if is_whole { Vec::new() } else { vec![fault] };
    }
    let missing = citation
        .places
        .iter()
        .filter(|place| !anchors[file].contains(&place.anchor));
    missing
        .map(|place| {
            format!(
                "`{file} {}`: there is no {file}#{}",
                &text[place.at.clone()],
                place.anchor
            )
        })
        .collect()
}

/// What is wrong with the citations of a text, with their lines.
fn complaints(text: &str, anchors: &Anchors) -> Vec<String> {
    let joined = joined(text);
    let mut complaints = Vec::new();
    for citation in citations(&joined) {
        let line = text[..citation.at.start].matches('\n').count() + 1;
        let faults = faults(&joined, &citation, anchors);
        complaints.extend(faults.into_iter().map(|fault| format!("{line}: {fault}")));
    }
    complaints
}

#[test]
fn every_citation_is_an_anchor_that_exists() {
    let anchors = anchors();
    let (mut paths, mut told, mut counted) = (Vec::new(), Vec::new(), 0);
    files(&root(), &mut paths);
    for path in paths {
        let text = read(&path);
        counted += citations(&text).len();
        let complaints = complaints(&text, &anchors);
        told.extend(
            complaints
                .into_iter()
                .map(|why| format!("{}:{why}", path.display())),
        );
    }
    assert!(counted > 1000, "{counted} citations in all");
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn bad_citations_are_told_with_their_line() {
    let anchors = anchors();
    let of = |citation: &str| complaints(&format!("// one\n// ({citation}).\n"), &anchors);
    for good in [
        "kv.md 2.4",
        "`kv.md`",
        "kv.md",
        "kv.md 2.4;\n/// 2.5",
        "kv.md#2.4",
    ] {
        assert_eq!(of(good), [""; 0], "{good}");
    }
    for (bad, why) in [
        ("kv.md 2.9", "2: `kv.md 2.9`: there is no kv.md#2.9"),
        (
            "kv.md 2.4,\n// trap 31",
            "2: `kv.md trap 31`: there is no kv.md#trap-31",
        ),
        (
            "kv.md 2.4, 77 of them",
            "2: `kv.md 77`: there is no kv.md#77",
        ),
        ("kv.md#2.9", "2: `kv.md 2.9`: there is no kv.md#2.9"),
        ("acl.md 9.10, B0", "2: `acl.md B0`: there is no acl.md#B0"),
        ("kv.md says so", "2: `kv.md says so).` names no place"),
        ("kv.md, which", "2: `kv.md, which).` names no place"),
    ] {
        assert_eq!(of(bad), [why], "{bad}");
    }
}

#[test]
fn anchors_are_unique_and_every_row_has_one() {
    for file in FILES {
        let text = contract(file);
        let ids = ids(&text);
        let different: BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{file} has an anchor twice");
        let (mut in_code, mut above) = (false, "");
        for (number, line) in (1..).zip(text.lines()) {
            in_code ^= line.starts_with("```");
            let item = line
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            let is_item = ["- ", "* ", ". "].iter().any(|mark| item.starts_with(mark));
            let is_title = number == 1;
            let is_row = line.starts_with('|') && !line.starts_with("|-") && above.starts_with('|');
            let needs = is_item || is_row || line.starts_with('#') && !is_title;
            let has = line.contains("<a id=\"");
            assert!(
                in_code || !needs || has,
                "{file}:{number} has no anchor: {line}"
            );
            above = line;
        }
    }
}

/// The text without code, in which references are meant for a reader of another page.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The references of a line of the contract within its own file: `§1.3`, `(4.5b)`, `section 9`, `see 2.5`.
fn own_references(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["§", "section ", "see "] {
        found.extend(
            line.split(start)
                .skip(1)
                .map(|rest| format!("kv.md {rest}")),
        );
    }
    for rest in line.split('(').skip(1) {
        let inside = rest.split([')', ';']).next().unwrap_or_default();
        let is_number = |part: &str| part.trim().chars().all(|c| c.is_ascii_digit() || c == '.');
        let one = inside.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if one.contains('.') && one.matches('.').count() == 1 && is_number(one) {
            found.push(format!("kv.md {inside}"));
        }
    }
    let anchors = found
        .iter()
        .filter_map(|text| Some(citations(text).pop()?.places.first()?.anchor.clone()));
    anchors.collect()
}

/// The references of a line to sections of `1.22.md`: `A6.7`, `B0`.
fn lettered(line: &str) -> Vec<String> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
    let words = line.split(is_end).map(|word| word.trim_end_matches('.'));
    let is_reference = |word: &&str| {
        word.starts_with(['A', 'B']) && word[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    words.filter(is_reference).map(str::to_owned).collect()
}

#[test]
fn the_contract_cites_itself_rightly() {
    let anchors = anchors();
    let (mut told, mut counted) = (Vec::new(), 0);
    for file in FILES {
        let text = contract(file);
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_code(line);
            let others = citations(&line);
            let mut named: Vec<(&str, String)> = Vec::new();
            for citation in &others {
                named.extend(
                    citation
                        .places
                        .iter()
                        .map(|place| (citation.file, place.anchor.clone())),
                );
            }
            named.extend(
                own_references(&line)
                    .into_iter()
                    .map(|anchor| (file, anchor)),
            );
            named.extend(
                lettered(&line)
                    .into_iter()
                    .map(|anchor| ("1.22.md", anchor)),
            );
            counted += named.len();
            let missing = named
                .iter()
                .filter(|(file, anchor)| !anchors[file].contains(anchor));
            told.extend(
                missing.map(|(cited, anchor)| {
                    format!("{file}:{number}: there is no {cited}#{anchor}")
                }),
            );
        }
    }
    assert!(counted > 100, "{counted} references in all");
    assert!(told.is_empty(), "{}", told.join("\n"));
}
