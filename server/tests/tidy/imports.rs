//! Design section 3: who may import whom. Each part of the server names all that it may use.

use std::collections::BTreeSet;

use crate::{File, assert_none, root, rust_files};

/// A part of `server/src` and what it may use: other parts, and the crates `go`, `store` and what that has of its own
/// (`timestamp`, `watch`). A part that is not listed here fails the test.
const PARTS: &[(&str, &[&str])] = &[
    ("clock", &["timestamp"]),
    ("archive", &["go"]),
    ("acl", &["go", "version"]),
    ("caller", &["acl", "store", "version"]),
    ("named", &[]),
    ("os", &[]),
    ("listeners", &[]),
    ("metrics", &["store", "timestamp"]),
    ("entropy", &[]),
    ("filter", &["go", "version"]),
    ("login", &["filter", "go", "store", "version"]),
    ("version", &["go"]),
    (
        "config",
        &["clock", "definition", "history", "store", "version"],
    ),
    ("https", &["clock", "config", "go", "version"]),
    ("definition", &["go", "store", "version"]),
    ("entry", &["filter", "go", "store", "version"]),
    ("probe", &["engine", "go", "os", "store", "version"]),
    ("history", &["named", "store", "timestamp"]),
    (
        "faults",
        &["entropy", "named", "store", "timestamp", "version"],
    ),
    (
        "engine",
        &[
            "store",
            "watch",
            "clock",
            "entropy",
            "history",
            "metrics",
            "timestamp",
        ],
    ),
    ("blocking", &["engine", "history", "store"]),
    (
        "control",
        &[
            "acl",
            "caller",
            "clock",
            "config",
            "engine",
            "entropy",
            "faults",
            "go",
            "history",
            "https",
            "named",
            "store",
            "timestamp",
            "version",
        ],
    ),
    (
        "http",
        &[
            "acl",
            "archive",
            "blocking",
            "caller",
            "clock",
            "config",
            "control",
            "definition",
            "engine",
            "entry",
            "faults",
            "filter",
            "go",
            "history",
            "https",
            "listeners",
            "login",
            "metrics",
            "os",
            "store",
            "timestamp",
            "ui",
            "version",
        ],
    ),
    ("ui", &[]),
    ("test", &["control", "server"]),
    ("target", &["clock", "control", "test"]),
    (
        "server",
        // Of the command line, how settings are read: a server on demand is given them as a file would.
        &[
            "archive",
            "cli",
            "clock",
            "config",
            "control",
            "definition",
            "engine",
            "entropy",
            "go",
            "history",
            "http",
            "https",
            "metrics",
            "os",
            "store",
            "version",
        ],
    ),
    (
        "cli",
        &[
            "acl",
            "archive",
            "clock",
            "config",
            "control",
            "definition",
            "entropy",
            "entry",
            "go",
            "https",
            "listeners",
            "os",
            "server",
            "version",
        ],
    ),
];

/// Parts within others that have rows of their own, under the names by which `lib.rs` shows them.
const INNER: &[&str] = &[
    "acl/caller",
    "acl/login",
    "config/definition",
    "config/entry",
    "engine/blocking",
    "engine/clock",
    "engine/entropy",
    "engine/os",
    "format/archive",
    "format/filter",
    "format/named",
    "http/ours/ui",
    "records/history",
    "records/listeners",
    "records/metrics",
    "server/https",
    "server/probe",
    "server/target",
    "server/test",
];

/// Folders of parts, with nothing else in them but the names of those.
const FOLDERS: &[&str] = &["format", "records"];

/// Crates that a part must not use, wherever the import table would allow it.
const BANNED_CRATES: &[(&str, &[&str])] = &[
    ("engine", &["hyper", "http", "serde", "serde_json"]),
    ("blocking", &["hyper", "http", "serde", "serde_json"]),
    (
        "history",
        &["tokio", "hyper", "http", "serde", "serde_json"],
    ),
];

/// The crates inside the server, and all that each may depend on: none of them can see the server.
const CRATES: &[(&str, &[&str])] = &[
    // Its image is written with the feature `serde`.
    (
        "store",
        &[
            "base64",
            "bytes",
            "cryptoxide",
            "proconsul-gocompat",
            "serde",
            "uuid",
        ],
    ),
    (
        "gocompat",
        &[
            "base64",
            "base64-simd",
            "bytes",
            "flate2",
            "itoa",
            "regex",
            "regex-syntax",
            "serde",
        ],
    ),
    ("hcl", &["proconsul-gocompat"]),
    (
        "h1",
        &[
            "bytes",
            "http",
            "itoa",
            "memchr",
            "proconsul-gocompat",
            "tokio",
        ],
    ),
];

/// The part that a file of the server belongs to; `None` for `lib.rs`, `main.rs`, tests and files elsewhere.
fn part(file: &File) -> Option<&str> {
    let path = file.path.strip_prefix("server/src/")?;
    if path.ends_with("/main.rs") || path.contains("/tests/") {
        return None;
    }
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let within = |inner: &&&str| {
        let rest = module.strip_prefix(**inner);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if let Some(inner) = INNER.iter().find(within) {
        return inner.rsplit('/').next();
    }
    let part = module.split('/').next()?;
    (part != "lib" && !FOLDERS.contains(&module)).then_some(part)
}

/// The code before the tests, which may use anything.
fn product_code(file: &File) -> &str {
    let is_test_file = file.path.contains("/tests/") || file.path.ends_with("tests.rs");
    if is_test_file {
        return "";
    }
    file.text.split("#[cfg(test)]").next().unwrap_or_default()
}

/// The names that follow `crate::` anywhere in a code.
fn own_parts(code: &str) -> BTreeSet<&str> {
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in lines {
        for rest in line.split("crate::").skip(1) {
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            found.insert(&rest[..end.unwrap_or(rest.len())]);
        }
    }
    found
}

#[test]
fn every_part_uses_only_what_it_may() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        let Some(part) = part(&file) else { continue };
        let Some((_, allowed)) = PARTS.iter().find(|(name, _)| *name == part) else {
            complaints.push(format!(
                "{}: the part {part} is not in the import table",
                file.path
            ));
            continue;
        };
        for used in own_parts(product_code(&file)) {
            if used != part && !allowed.contains(&used) {
                complaints.push(format!("{}: {part} must not use {used}", file.path));
            }
        }
    }
    assert_none("imports that the design rules out", &complaints);
}

#[test]
fn every_row_of_the_import_table_is_needed() {
    let files = rust_files();
    let mut complaints = Vec::new();
    for (name, allowed) in PARTS {
        let own: Vec<&File> = files
            .iter()
            .filter(|file| part(file) == Some(name))
            .collect();
        let used: BTreeSet<&str> = own
            .iter()
            .flat_map(|file| own_parts(product_code(file)))
            .collect();
        for unused in allowed.iter().filter(|part| !used.contains(*part)) {
            complaints.push(format!("{name} may use {unused}, and does not"));
        }
    }
    assert_none("permissions that nobody uses", &complaints);
}

#[test]
fn the_inner_parts_know_no_wire_and_no_runtime() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        let Some(part) = part(&file) else { continue };
        let banned = BANNED_CRATES.iter().filter(|(name, _)| *name == part);
        for name in banned.flat_map(|(_, crates)| *crates) {
            let used = product_code(&file).lines().any(|line| {
                line.starts_with(&format!("use {name}::")) || line.contains(&format!(" {name}::"))
            });
            if used {
                complaints.push(format!(
                    "{}: {part} must not use the crate {name}",
                    file.path
                ));
            }
        }
    }
    assert_none("crates in the wrong room", &complaints);
}

#[test]
fn the_inner_crates_depend_on_nothing_else() {
    let mut complaints = Vec::new();
    for (name, allowed) in CRATES {
        let manifest = root().join("server").join(name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("a crate has a manifest");
        let (_, dependencies) = manifest
            .split_once("\n[dependencies]\n")
            .expect("a crate has dependencies");
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let used: BTreeSet<&str> = dependencies
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| Some(line.split_once(['.', ' ', '='])?.0))
            .collect();
        let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
        let wrong = used.symmetric_difference(&allowed);
        complaints.extend(wrong.map(|wrong| format!("server/{name}: {wrong}")));
    }
    assert_none(
        "dependencies that a crate has or lacks against its row",
        &complaints,
    );
}

/// Design section 3, last row: two sides that share an encoder agree with themselves and with nobody else.
#[test]
fn client_and_suite_share_no_code_with_the_server() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        let outside = ["client/src/", "conformance/src/", "conformance/lab/src/"]
            .iter()
            .any(|folder| file.path.starts_with(folder));
        if outside
            && file
                .text
                .lines()
                .any(|line| line.starts_with("use proconsul::"))
        {
            complaints.push(format!("{}: uses the server", file.path));
        }
    }
    assert_none("the server's code in its counterparts", &complaints);
}
