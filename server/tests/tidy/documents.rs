//! What the documents say is so.

use std::collections::BTreeSet;

use crate::{assert_none, files, root};

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path} can be read: {error}"))
}

/// Everything else is in the book.
#[test]
fn the_readme_is_a_front_page() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines, of at most 150");
}

#[test]
fn the_changelog_speaks_of_this_version() {
    let manifest = read("Cargo.toml");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \""))
        .and_then(|rest| rest.split('"').next())
        .expect("the workspace has a version");
    assert!(read("CHANGELOG.md").contains(&format!("## {version}")));
}

/// Dependencies are chosen: each stands below a comment that says what for.
#[test]
fn every_dependency_has_its_reason() {
    let mut complaints = Vec::new();
    let members = files();
    let members = members
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && !file.path.contains("interop"));
    for member in members {
        let mut in_dependencies = false;
        let mut has_reason = false;
        for line in member.text.lines() {
            if line.starts_with('[') {
                in_dependencies = line.ends_with("dependencies]");
                has_reason = false;
            } else if line.starts_with('#') {
                has_reason = true;
            } else if in_dependencies && !line.trim().is_empty() && !has_reason {
                complaints.push(format!("{}: {line}", member.path));
            }
        }
    }
    assert_none("dependencies without a reason", &complaints);
}

/// A variable of ours that the agent does not know ends its start, so it knows those of all programs here.
#[test]
fn the_agent_knows_every_variable_of_ours() {
    let known = read("server/config/src/settings/environment.rs")
        + &read("server/config/src/settings/flags.rs");
    let mut unknown = BTreeSet::new();
    for file in files() {
        for (start, prefix) in file.text.match_indices("PROCONSUL_") {
            let rest = &file.text[start + prefix.len()..];
            let is_letter = |letter: char| letter.is_ascii_uppercase() || letter == '_';
            let length = rest.find(|letter| !is_letter(letter));
            let name = &rest[..length.unwrap_or(rest.len())];
            let name = format!("\"{prefix}{}\"", name.trim_end_matches('_'));
            if name.len() > prefix.len() + 2 && !known.contains(&name) {
                unknown.insert(format!("{}: {name}", file.path));
            }
        }
    }
    let unknown: Vec<String> = unknown.into_iter().collect();
    assert_none(
        "variables to add to config/src/settings/environment.rs",
        &unknown,
    );
}
