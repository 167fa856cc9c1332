//! The commands and programs of the README and of the book are run as they are shown.
//!
//! * `sh` and `console` blocks run in a shell, each in an empty folder, with `proconsul` on the `PATH`. A block that starts no
//!   agent has one with `--control`. Ports are replaced. Of a `console` block, the output has to have the lines that are shown,
//!   in their order; `…` stands for anything. With `exact` there are no other lines, and with `shows-errors` a response may be an
//!   error. A block that cannot run here says what it needs: ```` ```sh,needs-docker ````, and one that runs where a
//!   program is ```` ```sh,with-dig ````.
//! * `rust` blocks are parts of the tests in `programs/`, of the examples in `server/examples/`, or of the tests of the package
//!   `proconsul` in `server/tests/in_runtime/` and `server/tests/explore/`, which need a paused clock.
//! * Blocks in other languages are parts of a package's page, which `server/packaging/test` runs.

mod blocks;
mod programs;
#[cfg(unix)]
mod shell;

use blocks::{Block, file, lines, paths};

/// The trimmed lines of all files of a folder.
fn lines_below(folder: &str, extension: &str) -> Vec<Vec<String>> {
    let paths = paths(folder, extension);
    let files = paths.iter().map(|path| file(path));
    let files = files.map(|text| lines(&text).map(str::to_owned).collect());
    files.collect()
}

/// Whether a block stands line by line in one of the files; what is indented otherwise is the same.
fn is_part(block: &Block, files: &[Vec<String>]) -> bool {
    let shown: Vec<&str> = lines(&block.text).collect();
    files
        .iter()
        .any(|file| file.windows(shown.len()).any(|part| part == shown))
}

#[test]
fn rust_blocks_are_parts_of_tests() {
    let mut files = lines_below("server/cli/tests/book/programs", "rs");
    files.extend(lines_below("server/examples", "rs"));
    for folder in ["server/tests/in_runtime", "server/tests/explore"] {
        files.extend(lines_below(folder, "rs"));
    }
    let blocks = blocks::all();
    let blocks = blocks.iter().filter(|block| block.language == "rust");
    let (own, foreign): (Vec<&Block>, Vec<&Block>) =
        blocks.partition(|block| is_part(block, &files));
    assert!(own.len() > 5, "the blocks are found");
    let foreign: Vec<String> = foreign.iter().map(ToString::to_string).collect();
    assert!(
        foreign.is_empty(),
        "in no test below server/cli/tests/book/programs or server/tests/in_runtime: {foreign:#?}"
    );
}

#[test]
fn blocks_in_other_languages_are_parts_of_packages_pages() {
    const DATA: &[&str] = &["diff", "hcl", "json", "text", "toml"];
    let mut files = lines_below("server/packaging", "md");
    files.extend(lines_below("server/packaging/go/test", "go"));
    let blocks = blocks::all();
    let foreign = blocks.iter().filter(|block| {
        let language = block.language.as_str();
        !DATA.contains(&language) && !["console", "rust", "sh"].contains(&language)
    });
    let foreign = foreign.filter(|block| !is_part(block, &files));
    let foreign: Vec<String> = foreign.map(ToString::to_string).collect();
    assert!(
        foreign.is_empty(),
        "on no page below server/packaging, and in no test of Go there: {foreign:#?}"
    );
}
