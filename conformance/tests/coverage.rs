//! What documents say of the suite's coverage is what the suite says.
//!
//! When this fails: `cargo run -p proconsul-conformance -- coverage`, from the root of the repository.

use std::path::{Path, PathBuf};

use proconsul_conformance::cases;
use proconsul_conformance::coverage::{page, renewed, table};
use proconsul_conformance::deviation::Deviations;

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the crate lies in a workspace").into()
}

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_readme_has_the_table_of_today() {
    let cases = cases::all();
    let deviations = Deviations::of_the_emulator(&cases).expect("deviations.toml is in order");
    let readme = read("README.md");
    let made = renewed(&readme, &table(&cases, &deviations));
    let made = made.expect("the README has a place for the table");
    assert!(
        made == readme,
        "the README is stale: see the top of this file"
    );
}

#[test]
fn the_page_of_what_is_not_covered_is_that_of_today() {
    let stale = "conformance/UNCOVERED.md is stale: see the top of this file";
    assert!(read("conformance/UNCOVERED.md") == page(), "{stale}");
}
