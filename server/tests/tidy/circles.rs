//! Design section 3: files do not import in circles, but for a file and those below it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{File, assert_none, rust_files};

/// The crates of the repository, by the file that each starts from.
const ROOTS: &[&str] = &[
    "server/src/lib.rs",
    "server/acl/src/lib.rs",
    "server/archive/src/lib.rs",
    "server/config/src/lib.rs",
    "server/engine/src/lib.rs",
    "server/explore/src/lib.rs",
    "server/filter/src/lib.rs",
    "server/gocompat/src/lib.rs",
    "server/h1/src/lib.rs",
    "server/hcl/src/lib.rs",
    "server/os/src/lib.rs",
    "server/store/src/lib.rs",
    "server/version/src/lib.rs",
    "client/src/lib.rs",
    "conformance/src/lib.rs",
    "conformance/lab/src/lib.rs",
];

/// A path in the code, such as `crate::store::Index`.
type Path = Vec<String>;

/// A file of a crate, and what it names.
#[derive(Default)]
struct Room {
    path: String,
    /// The paths that it names, as seen from the modules in which they stand.
    named: Vec<(Path, Path)>,
    /// The names that its `use` lines bring in, and what they stand for.
    brought: Vec<(String, Path, Path)>,
}

/// The files of a crate, by the modules that they hold; modules within a file lead to that file.
struct House {
    rooms: BTreeMap<Path, Room>,
}

impl House {
    fn of(root: &str, files: Vec<File>) -> Self {
        let folder = root.strip_suffix("lib.rs").expect("a crate's root");
        let mut rooms = BTreeMap::new();
        for file in files {
            let Some(inner) = file.path.strip_prefix(folder) else {
                continue;
            };
            let module = inner.trim_end_matches(".rs").trim_end_matches("/mod");
            let module: Path = match module {
                "lib" => Vec::new(),
                _ => module.split('/').map(str::to_owned).collect(),
            };
            let is_test = module.iter().any(|part| part.ends_with("tests"));
            if is_test || file.path.ends_with("/main.rs") {
                continue;
            }
            let tokens: TokenStream = file.text.parse().expect("the compiler takes the file");
            let mut room = Room {
                path: file.path,
                ..Room::default()
            };
            room.read(&module, tokens);
            rooms.insert(module, room);
        }
        Self { rooms }
    }

    /// The file that a path leads to, past the files that only pass a name on.
    fn leads_to(&self, path: &[String], from: &Path, steps: usize) -> Option<&Path> {
        let mut path = absolute(path, from)?;
        let depth = (0..=path.len())
            .rev()
            .find(|depth| self.rooms.contains_key(&path[..*depth]))?;
        let rest = path.split_off(depth);
        let (module, room) = self.rooms.get_key_value(&path)?;
        let Some(name) = rest.first() else {
            return Some(module);
        };
        let brought = room.brought.iter();
        let mut named = brought.filter(|(own, ..)| own == name);
        if steps == 0 {
            return Some(module);
        }
        let further = named.find_map(|(_, from, target)| {
            let target: Path = target.iter().chain(&rest[1..]).cloned().collect();
            self.leads_to(&target, from, steps - 1)
        });
        Some(further.unwrap_or(module))
    }

    /// Who names whom, but for files and those below them.
    fn arrows(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut arrows: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (module, room) in &self.rooms {
            let targets = room.named.iter();
            let targets = targets.filter_map(|(from, path)| self.leads_to(path, from, 5));
            let is_kin = |other: &Path| module.starts_with(other) || other.starts_with(module);
            arrows.insert(module, targets.filter(|other| !is_kin(other)).collect());
        }
        arrows
    }

    /// The files of cases that name another file of cases, unless it lies in `support`.
    fn borrowing_topics(&self) -> Vec<String> {
        let is_topic = |path: &Path| path.len() > 1 && path[0] == "cases" && path[1] != "whole";
        let mut complaints = Vec::new();
        for (module, room) in self.rooms.iter().filter(|(module, _)| is_topic(module)) {
            let targets = room.named.iter();
            let targets = targets.filter_map(|(from, path)| self.leads_to(path, from, 5));
            let others = targets.filter(|other| *other != module && is_topic(other));
            let others = others.filter(|other| other[1] != "support");
            complaints
                .extend(others.map(|other| format!("{} -> {}", room.path, self.rooms[other].path)));
        }
        complaints
    }

    /// The arrows that lie in a circle: from each of them a way leads back.
    fn circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let mut reach = BTreeMap::new();
        for start in arrows.keys() {
            let mut seen = BTreeSet::new();
            let mut ahead = vec![*start];
            while let Some(next) = ahead.pop() {
                let new = arrows[next].iter().filter(|other| seen.insert(**other));
                ahead.extend(new);
            }
            reach.insert(*start, seen);
        }
        let all = arrows
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (*from, *to)));
        all.filter(|(from, to)| reach[to].contains(from))
            .map(|(from, to)| format!("{} -> {}", self.rooms[from].path, self.rooms[to].path))
            .collect()
    }
}

/// A path from the crate's root; `None` for one that leads out of the crate.
fn absolute(path: &[String], from: &Path) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    let mut found = from.clone();
    match first.as_str() {
        "crate" => found.clear(),
        "self" => {}
        "super" => {
            found.pop();
        }
        _ => return None,
    }
    for part in rest {
        if part == "super" {
            found.pop();
        } else {
            found.push(part.clone());
        }
    }
    Some(found)
}

impl Room {
    /// Reads the code of a module.
    fn read(&mut self, module: &Path, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let word = |at: usize| match tokens.get(at) {
                Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
                _ => None,
            };
            at += match (&tokens[at], word(at).as_deref(), tokens.get(at + 1)) {
                // What is compiled for tests may use anything: it is passed over with what it stands before.
                (TokenTree::Punct(hash), _, Some(TokenTree::Group(attribute)))
                    if hash.as_char() == '#'
                        && attribute.to_string().replace(' ', "") == "[cfg(test)]" =>
                {
                    let item = tokens[at..].iter().position(|token| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(end) => end.as_char() == ';',
                        _ => false,
                    });
                    item.map_or(tokens.len(), |length| length + 1)
                }
                (_, Some("mod"), Some(TokenTree::Ident(name))) => match tokens.get(at + 2) {
                    Some(TokenTree::Group(body)) => {
                        let mut inner = module.clone();
                        inner.push(name.to_string());
                        self.read(&inner, body.stream());
                        3
                    }
                    _ => 2,
                },
                (_, Some("use"), Some(TokenTree::Ident(_))) => {
                    let length = tokens[at..]
                        .iter()
                        .position(
                            |token| matches!(token, TokenTree::Punct(end) if end.as_char() == ';'),
                        )
                        .unwrap_or(1);
                    self.bring(module, &Vec::new(), &tokens[at + 1..at + length]);
                    length
                }
                // `pub(in crate::http)` says who sees a thing, and names nothing.
                (_, Some("pub"), Some(TokenTree::Group(_))) => 2,
                (_, Some("crate" | "super" | "self"), _) => {
                    let (path, length) = path_at(&tokens[at..]);
                    self.named.push((module.clone(), path));
                    length
                }
                (TokenTree::Group(group), ..) => {
                    self.read(module, group.stream());
                    1
                }
                _ => 1,
            };
        }
    }

    /// Reads what a `use` line brings in below `before`.
    fn bring(&mut self, module: &Path, before: &Path, tokens: &[TokenTree]) {
        for tokens in
            tokens.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','))
        {
            let (own, length) = path_at(tokens);
            let mut path: Path = before.iter().chain(&own).cloned().collect();
            match &tokens[length..] {
                [.., TokenTree::Group(group)] => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.bring(module, &path, &inner);
                }
                rest if !path.is_empty() => {
                    // `use child::Name` is `use self::child::Name`, or leads out of the crate.
                    if !matches!(path[0].as_str(), "crate" | "self" | "super") {
                        path.insert(0, "self".to_owned());
                    }
                    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    let name = match rest {
                        [.., TokenTree::Ident(alias)] => alias.to_string(),
                        _ => path.last().expect("a path has a part").clone(),
                    };
                    self.named.push((module.clone(), path.clone()));
                    self.brought.push((name, module.clone(), path));
                }
                _ => {}
            }
        }
    }
}

/// The path at the beginning of some tokens, and how many of them it takes.
fn path_at(tokens: &[TokenTree]) -> (Path, usize) {
    let mut path = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(part)) = tokens.get(at) {
        path.push(part.to_string());
        at += 1;
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    (path, at)
}

#[test]
fn no_files_import_in_circles() {
    let mut complaints = Vec::new();
    for root in ROOTS {
        let house = House::of(root, rust_files());
        assert!(house.rooms.len() > 2, "{root}: its files are found");
        complaints.extend(house.circles());
    }
    assert_none("imports that a way leads back from", &complaints);
}

#[test]
fn a_circle_is_found_past_a_name_that_is_passed_on() {
    let circles_with = |third: &str| {
        let file = |path: &str, text: &str| File {
            path: format!("x/src/{path}"),
            text: text.to_owned(),
        };
        let files = vec![
            file(
                "lib.rs",
                "mod a; mod b; mod c; pub use b::{Passed as Other};",
            ),
            file("a.rs", "use crate::Other; pub struct A;"),
            file("b/mod.rs", "mod below; pub use below::Passed;"),
            file(
                "b/below.rs",
                "use super::super::c::Third; pub struct Passed;",
            ),
            file("c.rs", third),
        ];
        House::of("x/src/lib.rs", files).circles()
    };
    let all = [
        "x/src/a.rs -> x/src/b/below.rs",
        "x/src/b/below.rs -> x/src/c.rs",
        "x/src/c.rs -> x/src/a.rs",
    ];
    assert_eq!(circles_with("pub struct Third(crate::a::A);"), all);
    // Tests may use anything, and who sees a thing is no import.
    for third in [
        "pub struct Third; #[cfg(test)] mod tests { use crate::a::A; }",
        "pub(in crate::a) struct Third;",
    ] {
        assert_eq!(circles_with(third), [""; 0], "{third}");
    }
}

#[test]
fn topics_of_the_suite_share_only_what_lies_in_support() {
    let suite = House::of("conformance/src/lib.rs", rust_files());
    let support = ["cases".to_owned(), "support".to_owned()];
    assert!(
        suite.rooms.contains_key(&support[..]),
        "the cases are found"
    );
    assert_none("cases that import another topic", &suite.borrowing_topics());
}

#[test]
fn a_topic_that_borrows_is_found() {
    let file = |path: &str, text: &str| File {
        path: format!("x/src/{path}"),
        text: text.to_owned(),
    };
    let files = vec![
        file("lib.rs", "mod cases;"),
        file("cases/mod.rs", "mod kv; mod support;"),
        file(
            "cases/kv/mod.rs",
            "mod get; mod put; const TOPICS: &[u8] = &[get::CASE, put::CASE];",
        ),
        file(
            "cases/kv/get.rs",
            "use super::put::CASE as OTHER; use crate::cases::support::HELP;",
        ),
        file(
            "cases/kv/put.rs",
            "pub const CASE: u8 = crate::cases::support::HELP;",
        ),
        file("cases/support/mod.rs", "pub const HELP: u8 = 1;"),
    ];
    let found = House::of("x/src/lib.rs", files).borrowing_topics();
    assert_eq!(found, ["x/src/cases/kv/get.rs -> x/src/cases/kv/put.rs"]);
}
