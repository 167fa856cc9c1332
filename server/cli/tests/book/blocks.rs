//! The fenced blocks of the README and of the book.

use std::fmt;
use std::path::PathBuf;

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// Relative to the root of the repository.
    pub(crate) page: String,
    /// That of its first line.
    pub(crate) line: usize,
    pub(crate) language: String,
    /// What stands behind the language: `needs-docker`.
    pub(crate) attributes: Vec<String>,
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|own| own == attribute)
    }

    /// What it needs that is not here.
    pub(crate) fn needs(&self) -> Option<&str> {
        self.behind("needs-")
    }

    /// The program that it runs and that not every machine has.
    pub(crate) fn program(&self) -> Option<&str> {
        self.behind("with-")
    }

    fn behind(&self, prefix: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find_map(|attribute| attribute.strip_prefix(prefix))
    }
}

impl fmt::Display for Block {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.page, self.line)
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let server = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    server
        .ancestors()
        .nth(2)
        .expect("it lies in a workspace")
        .into()
}

/// The text of a file of the repository.
pub(crate) fn file(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files with this extension in a folder and, one deep, in the folders in it, in the order of their paths.
pub(crate) fn paths(folder: &str, extension: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("it can be read").file_name());
        names
            .map(|name| format!("{folder}/{}", name.to_string_lossy()))
            .collect()
    };
    for path in names(folder) {
        if root().join(&path).is_dir() {
            paths.extend(names(&path));
        } else {
            paths.push(path);
        }
    }
    let extension = format!(".{extension}");
    paths.retain(|path| path.ends_with(&extension));
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has files");
    paths
}

/// The lines without indentation.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim)
}

/// All blocks, page by page.
pub(crate) fn all() -> Vec<Block> {
    let mut pages = vec!["README.md".to_owned()];
    pages.extend(paths("docs/src", "md"));
    pages
        .iter()
        .flat_map(|page| of(page, &file(page)))
        .collect()
}

fn of(page: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let mut words = info.split(',').map(str::to_owned);
        let language = words.next().unwrap_or_default();
        assert!(!language.is_empty(), "{page}:{number}: say the language");
        let attributes = words.collect();
        let inside = lines.by_ref().map(|(_, line)| line);
        let text: Vec<&str> = inside.take_while(|line| *line != "```").collect();
        blocks.push(Block {
            page: page.to_owned(),
            line: number + 2,
            language,
            attributes,
            text: text.join("\n"),
        });
    }
    blocks
}

#[test]
fn blocks_have_a_language_attributes_and_a_place() {
    let blocks = of(
        "a.md",
        "a\n```sh,needs-docker\nb\nc\n```\nd\n```rust\n```\n",
    );
    let found: Vec<_> = blocks
        .iter()
        .map(|block| {
            (
                block.to_string(),
                &*block.language,
                &*block.text,
                block.needs(),
            )
        })
        .collect();
    let expected = [
        ("a.md:3".to_owned(), "sh", "b\nc", Some("docker")),
        ("a.md:8".to_owned(), "rust", "", None),
    ];
    assert_eq!(found, expected);
}
