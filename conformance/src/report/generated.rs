//! Parts of documents that are made from the cases and never written by hand.

use std::path::Path;

use crate::cases;
use crate::command::output::read;
use crate::report::coverage::{by_release, contract, summary, table};
use crate::report::rows::Coverage;
use crate::report::score::{Score, scoreboard};
use crate::runner::asked::Asked;
use crate::runner::deviation::Deviations;
use crate::target::site::ToolError;

/// The line before and after the generated part of a document.
const BEGIN: &str =
    "<!-- made by `cargo run -p proconsul-conformance -- coverage`; do not edit -->";
/// See [`BEGIN`].
const END: &str = "<!-- end of the suite's figures -->";

/// The documents that have a generated part, and what it is, for the repository in this folder.
///
/// # Errors
/// A file that cannot be read.
pub fn documents(root: &Path) -> Result<[(&'static str, String); 2], ToolError> {
    let cases = cases::all();
    let deviations = Deviations::of_the_emulator(&cases)?;
    let module = read(&root.join("server/wasm/deviations.toml"))?;
    let module = Deviations::parse(&module, &cases)?;
    let asked = Asked::read_all(&root.join("fixtures"))?;
    let pages = Coverage::of(&root.join("conformance/contract"), &cases)?.pages;
    let scores = Score::read_all(&root.join("conformance/scores"))?;
    let of_book = [
        table(&cases, [&deviations, &module], &asked),
        by_release(&cases, &asked),
        contract(&pages),
        scoreboard(&scores),
    ];
    Ok([
        ("README.md", summary(&cases, &deviations, &asked)),
        ("docs/src/compatibility.md", of_book.concat()),
    ])
}

/// A document with its generated part made anew; `None` when it has no place for it.
#[must_use]
pub fn renewed(document: &str, made: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{made}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_generated_part_is_renewed() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let renewed = renewed(&document, "new\n").expect("there is a place");
        assert_eq!(renewed, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(super::renewed("nothing", "new\n"), None);
    }
}
