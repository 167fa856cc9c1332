//! Verbs that run no cases.

use std::path::Path;

use proconsul_conformance::command::output::read;
use proconsul_conformance::report::coverage;
use proconsul_conformance::report::rows::Coverage;
use proconsul_conformance::runner::asked::Asked;
use proconsul_conformance::runner::deviation::Deviations;
use proconsul_conformance::{ToolError, cases};

/// Makes the generated parts of documents anew.
pub(super) fn coverage() -> Result<u8, ToolError> {
    let cases = cases::all();
    let deviations = Deviations::of_the_emulator(&cases)?;
    let module = read(Path::new("server/wasm/deviations.toml"))?;
    let module = Deviations::parse(&module, &cases)?;
    let asked = Asked::read_all(Path::new("fixtures"))?;
    let contract = Coverage::of(Path::new("conformance/contract"), &cases)?;
    let parts = [
        ("README.md", coverage::summary(&cases, &deviations, &asked)),
        (
            "docs/src/compatibility.md",
            coverage::table(&cases, [&deviations, &module], &asked)
                + &coverage::contract(&contract.pages),
        ),
    ];
    for (document, made) in parts {
        let path = Path::new(document);
        let made = coverage::renewed(&read(path)?, &made).ok_or_else(|| {
            let from = "run this at the root of the repository";
            ToolError(format!("{document} has no place for the table: {from}"))
        })?;
        write(path, &made)?;
    }
    Ok(0)
}

fn write(path: &Path, text: &str) -> Result<(), ToolError> {
    std::fs::write(path, text).map_err(|error| ToolError(format!("{}: {error}", path.display())))
}
