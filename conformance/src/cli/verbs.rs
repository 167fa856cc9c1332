//! Verbs that run no cases.

use std::path::Path;

use proconsul_conformance::ToolError;
use proconsul_conformance::command::output::{read, write};
use proconsul_conformance::report::generated;

/// Makes the generated parts of documents anew.
pub(super) fn coverage() -> Result<u8, ToolError> {
    for (document, made) in generated::documents(Path::new("."))? {
        let path = Path::new(document);
        let made = generated::renewed(&read(path)?, &made).ok_or_else(|| {
            let from = "run this at the root of the repository";
            ToolError(format!("{document} has no place for the table: {from}"))
        })?;
        write(path, &made)?;
    }
    Ok(0)
}
