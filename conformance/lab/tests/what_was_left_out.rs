//! The last test target of the workspace: it prints what this run of `cargo test` has left out, and how many things these are.
//!
//! Cargo runs the test targets of a package in the order of their names, and the packages in the order of theirs; after that
//! come the examples in the documentation.

use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use proconsul_conformance::report::left_out;

fn main() -> ExitCode {
    // Tools that look for tests find none here.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if let Some(later) = targets_after_this_one() {
        return failure(&format!(
            "the test target {later} runs after {OWN}, which must be the last one: rename one of them"
        ));
    }
    match left_out::take() {
        Ok(lines) => {
            tell(&left_out::summary(&lines));
            ExitCode::SUCCESS
        }
        Err(error) => failure(&format!("what was left out cannot be read: {error}")),
    }
}

const OWN: &str = env!("CARGO_CRATE_NAME");

fn tell(text: &str) {
    writeln!(stdout(), "\n{text}\n").expect("standard output is open");
}

fn failure(why: &str) -> ExitCode {
    tell(why);
    ExitCode::FAILURE
}

/// A test target or a package that cargo runs after this one.
fn targets_after_this_one() -> Option<String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect::<Vec<_>>()
    };
    let targets = names(&package.join("tests"));
    let targets = targets.iter().map(|name| name.trim_end_matches(".rs"));
    let root = package.ancestors().nth(2).unwrap_or(package);
    let packages = names(root);
    let packages = packages.iter().filter_map(|folder| {
        let manifest = std::fs::read_to_string(root.join(folder).join("Cargo.toml")).ok()?;
        let name = manifest
            .lines()
            .find_map(|line| line.strip_prefix("name = "))?;
        Some(name.trim_matches('"').to_owned())
    });
    let mut later = targets.filter(|name| *name > OWN).map(str::to_owned);
    later.next().or_else(|| {
        let mut later = packages.filter(|name| name.as_str() > env!("CARGO_PKG_NAME"));
        later.next()
    })
}
