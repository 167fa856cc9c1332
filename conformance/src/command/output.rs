//! What the command line prints and writes.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::report::document::Document;
use crate::report::html::html;
use crate::report::{console, junit::junit};
use crate::runner::CaseResult;
use crate::runner::{Report, State};
use crate::target::site::ToolError;
use clap::Args;

/// Where a report goes besides the console.
#[derive(Debug, Args)]
pub struct Output {
    /// Say a line for every case, not only for those that do not pass.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    files: Files,
}

/// The files that a report is written to.
#[derive(Debug, Args)]
pub struct Files {
    /// Write JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write JSON, of which `report` makes a page.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with every transcript.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Output {
    /// Prints a line for a result as it comes.
    pub fn line(&self, result: &CaseResult) {
        if self.verbose || !matches!(result.state, State::Pass | State::Skip(_)) {
            say(&mut io::stdout().lock(), &console::line(result));
        }
    }

    /// Prints and writes the report, and gives the exit status.
    pub fn finish(&self, report: &Report) -> Result<u8, ToolError> {
        say(&mut io::stdout().lock(), &report.to_string());
        self.files.write(Document::of(report))?;
        Ok(report.exit_status())
    }
}

impl Files {
    /// Writes the report to all of them.
    pub fn write(&self, document: Document) -> Result<(), ToolError> {
        if let Some(file) = &self.junit {
            write(file, &junit(&document))?;
        }
        if let Some(file) = &self.json {
            write(file, &document.to_json())?;
        }
        if let Some(file) = &self.html {
            write_html(file, &[document])?;
        }
        Ok(())
    }
}

/// Writes the page of some runs.
pub fn write_html(file: &Path, documents: &[Document]) -> Result<(), ToolError> {
    write(file, &html(documents))
}

/// Reads a file that the user named.
pub fn read(file: &Path) -> Result<String, ToolError> {
    fs::read_to_string(file)
        .map_err(|error| ToolError(format!("cannot read {}: {error}", file.display())))
}

/// Writes a file that the user named.
pub fn write(file: &Path, text: &str) -> Result<(), ToolError> {
    fs::write(file, text)
        .map_err(|error| ToolError(format!("cannot write {}: {error}", file.display())))
}

/// Prints a line. A closed pipe (`| head`) is no reason to fail.
pub fn say(out: &mut impl Write, line: &str) {
    if writeln!(out, "{line}").is_err() {
        // Nobody listens any more; the exit status still tells.
    }
}
