//! What the documents say is so.

use std::collections::BTreeSet;

use crate::{assert_none, files, root};

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path} can be read: {error}"))
}

/// The text without its code, in which brackets are no links.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// The targets of links in Markdown, as `](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut complaints = Vec::new();
    for file in files().iter().filter(|file| file.path.ends_with(".md")) {
        let folder = root().join(&file.path);
        let folder = folder.parent().expect("a file lies in a folder");
        for link in links(&without_code(&file.text)) {
            let target = link.split('#').next().unwrap_or_default();
            if !link.contains("://") && !target.is_empty() && !folder.join(target).exists() {
                complaints.push(format!("{}: {link}", file.path));
            }
        }
    }
    assert_none("dead links", &complaints);
}

/// The paths of the server's routes, as the tables of the pages list them.
fn routes() -> Vec<String> {
    let pages = files()
        .into_iter()
        .filter(|file| file.path.starts_with("server/src/http/api/"));
    let mut routes = Vec::new();
    for page in pages {
        let Some((_, table)) = page.text.split_once("\nroutes! {") else {
            continue;
        };
        let table = table.split("\n}").next().unwrap_or_default();
        let literals = table.split('"').skip(1).step_by(2);
        let paths = literals.filter(|literal| literal.starts_with("/v1/"));
        // The README has one row for all of ACLs.
        let paths = paths.map(|path| match path.starts_with("/v1/acl/") {
            true => "/v1/acl/",
            false => path,
        });
        routes.extend(paths.map(str::to_owned));
    }
    assert!(routes.len() > 10, "the route tables are found");
    routes
}

#[test]
fn the_readme_lists_every_route_and_no_other() {
    let readme = read("README.md");
    let listed: Vec<&str> = readme
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.starts_with("/v1/"))
        .map(|code| code.split(['<', ' ', '?']).next().unwrap_or_default())
        .collect();
    let routes = routes();
    let missing = routes
        .iter()
        .filter(|route| !listed.contains(&route.as_str()));
    let mut complaints: Vec<String> = missing
        .map(|route| format!("not in the README: {route}"))
        .collect();
    let unknown = listed
        .iter()
        .filter(|listed| !routes.iter().any(|route| route == *listed));
    complaints.extend(unknown.map(|listed| format!("in the README and nowhere else: {listed}")));
    assert_none("the README's endpoints", &complaints);
}

/// The two commands of the README do all the set-up; CI calls the second as it stands there.
#[test]
fn ci_calls_the_test_command_of_the_readme() {
    let command = "cargo test --workspace";
    assert!(read("README.md").lines().any(|line| line.trim() == command));
    assert!(read(".ci/run").lines().any(|line| line.contains(command)));
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
