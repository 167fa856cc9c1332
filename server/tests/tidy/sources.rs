//! What holds for every source file.

use std::path::Path;

use crate::{File, assert_none, files, root, rust_files};

/// A file of more lines than this is split by idea.
const FILE_LINES: usize = 600;
/// A function of more lines than this is split, too.
const FUNCTION_LINES: usize = 70;

/// Words that must not stand in code, and what to do instead. Lints catch most of them; these hold in tests, too.
const BANNED: &[(&str, &str)] = &[
    ("#[ignore", "a test runs, or is deleted"),
    ("#[should_panic]", "name the panic: expected = ..."),
    ("todo!(", "nothing is left for later in main"),
    ("unimplemented!(", "nothing is left for later in main"),
    ("dbg!(", "debugging is over"),
    ("FIXME", "fix it, or open an issue"),
    ("XXX", "fix it, or open an issue"),
    ("thread::sleep", "wait for what must happen, with a bound"),
    ("time::sleep(", "wait for what must happen, with a bound"),
];

/// The files in which time is read and slept: their names say so, and this test names the bans.
const TIME_FILES: &[&str] = &[
    "server/os/src/time.rs",
    "client/src/clock.rs",
    "server/testing/src/within.rs",
    "conformance/src/target/time.rs",
    "server/benches/figures/stopwatch.rs",
    "server/benches/page.rs",
    "conformance/interop/rust/benches/clients/stopwatch.rs",
    "server/tests/tidy/sources.rs",
];

#[test]
fn files_are_small() {
    let long = |file: &File| {
        let lines = file.text.lines().count();
        (lines > FILE_LINES).then(|| format!("{}: {lines} lines", file.path))
    };
    let complaints: Vec<_> = rust_files().iter().filter_map(long).collect();
    assert_none("files to split by idea", &complaints);
}

#[test]
fn functions_are_small() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        for (name, lines) in functions(&file.text) {
            if lines > FUNCTION_LINES {
                complaints.push(format!("{}: fn {name} has {lines} lines", file.path));
            }
        }
    }
    assert_none("functions to split", &complaints);
}

/// Every function with its number of lines. Formatted code ends a function with a brace at the column of its start.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let Some(name) = function_name(trimmed) else {
            continue;
        };
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[at..].iter().position(|line| *line == end);
        found.push((name, length.map_or(1, |length| length + 1)));
    }
    found
}

/// The name in a line that begins a function.
fn function_name(line: &str) -> Option<&str> {
    let starts = [
        "fn ",
        "pub fn ",
        "pub(",
        "async fn ",
        "pub async fn ",
        "const fn ",
        "pub const fn ",
    ];
    if !starts.iter().any(|start| line.starts_with(start))
        || line.ends_with(';')
        || line.ends_with('}')
    {
        return None;
    }
    let (before, after) = line.split_once("fn ")?;
    let qualifiers = before.split_whitespace();
    let only_qualifiers = qualifiers
        .clone()
        .all(|word| word.starts_with("pub") || matches!(word, "async" | "const"));
    let end = after.find(['(', '<'])?;
    only_qualifiers.then_some(&after[..end])
}

#[test]
fn a_function_is_measured_to_its_brace() {
    let text =
        "impl A {\n    pub(crate) async fn b() {\n        if x {\n        }\n    }\n}\nfn c();\n";
    assert_eq!(functions(text), [("b", 4)]);
}

#[test]
fn nothing_banned_stands_in_the_code() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        if TIME_FILES.contains(&file.path.as_str()) {
            continue;
        }
        for (line, text) in file.text.lines().enumerate() {
            for (word, instead) in BANNED {
                if text.contains(word) {
                    complaints.push(format!("{}:{}: {word}: {instead}", file.path, line + 1));
                }
            }
        }
    }
    assert_none("banned words", &complaints);
}

/// The crates that a server without sockets, threads or a clock is made of.
const CORE: &[&str] = &[
    "server/acl/src/",
    "server/core/src/",
    "server/engine/src/",
    "server/explore/src/",
    "server/filter/src/",
    "server/gocompat/src/",
    "server/h1/src/",
    "server/hcl/src/",
    "server/store/src/",
    "server/version/src/",
    "server/wasm/src/",
];

/// Deep patterns are compiled on a thread with a large stack; where there are no threads they are too deep.
const LARGE_STACK: &str = "server/gocompat/src/regexp/mod.rs";

/// What they are not to use: their host tells them all that they know of the machine.
const OF_THE_MACHINE: &[&str] = &[
    "tokio",
    "std::env::",
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::process",
    "std::thread",
    "Instant::now",
    "RandomState",
    "SystemTime::now",
];

#[test]
fn the_core_knows_nothing_of_the_machine() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        let is_of_core = CORE.iter().any(|folder| file.path.starts_with(folder));
        if !is_of_core || file.path.contains("/tests") || file.path == LARGE_STACK {
            continue;
        }
        let tests = file.text.find("#[cfg(test)]\n    mod tests {");
        let tests = tests.or_else(|| file.text.find("#[cfg(test)]\nmod "));
        let code = &file.text[..tests.unwrap_or(file.text.len())];
        for (line, text) in code.lines().enumerate() {
            let is_comment = text.trim_start().starts_with("//");
            for word in OF_THE_MACHINE.iter().filter(|_| !is_comment) {
                if text.contains(word) {
                    complaints.push(format!("{}:{}: {word}", file.path, line + 1));
                }
            }
        }
    }
    assert_none("uses of the machine", &complaints);
}

/// A crate that says that it has no examples in its documentation has none: nobody would run them.
#[test]
fn no_example_is_left_out() {
    let files = files();
    let says_none = |file: &&File| file.text.lines().any(|line| line == "doctest = false");
    let manifests = files.iter().filter(says_none);
    let folders: Vec<_> = manifests
        .filter_map(|file| file.path.strip_suffix("Cargo.toml"))
        .collect();
    assert!(folders.contains(&"server/store/"), "{folders:?}");
    let is_of_these = |file: &&File| folders.iter().any(|folder| file.path.starts_with(folder));
    let sources = files.iter().filter(|file| file.path.ends_with(".rs"));
    let complaints: Vec<_> = sources
        .filter(is_of_these)
        .filter(|file| has_example(&file.text))
        .map(|file| file.path.clone())
        .collect();
    assert_none("examples that nobody runs", &complaints);
}

/// Whether a comment of documentation has a block that is not called text.
fn has_example(text: &str) -> bool {
    let documentation = |line| {
        let line: &str = str::trim_start(line);
        line.strip_prefix("///").or(line.strip_prefix("//!"))
    };
    let fences = text.lines().filter_map(documentation);
    let fences = fences.filter_map(|line| line.trim_start().strip_prefix("```"));
    // Each other one ends a block.
    let mut begins = fences.step_by(2);
    begins.any(|language| language != "text")
}

#[test]
fn an_example_is_told_from_text() {
    assert!(has_example("//! One:\n//! ```\n//! f();\n//! ```"));
    assert!(has_example(
        "/// ```text\n/// a\n/// ```\n    /// ```no_run"
    ));
    assert!(!has_example(
        "/// ```text\n/// a\n/// ```\n// ```\nfn f() {}"
    ));
}

/// Every file below a `src` or `tests` folder is a crate root or a module that the module above it names.
#[test]
fn every_file_is_part_of_a_crate() {
    assert_none("files that no crate contains", &orphans(&rust_files()));
}

fn orphans(files: &[File]) -> Vec<String> {
    let declares_any = |line: &&str| line.contains("mod ") || line.contains("#[path");
    let declaring = files.iter().map(|file| {
        let lines = file.text.lines().map(str::trim_end).filter(declares_any);
        (file.path.as_str(), lines.collect::<Vec<_>>())
    });
    let declaring: Vec<_> = declaring.collect();
    let mut orphans = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let folder = file.path.rsplit('/').nth(1).unwrap_or_default();
        let is_root = matches!(name, "lib.rs" | "main.rs" | "build.rs")
            || matches!(folder, "tests" | "benches" | "examples") && is_target_folder(&file.path);
        let (above, module) = place(&file.path);
        let declaration = format!("mod {module};");
        let detour = format!("#[path = \"{name}\"]");
        let mut others = declaring.iter().filter(|(path, _)| *path != file.path);
        let is_declared = others.any(|(path, lines)| {
            let is_above = names_modules_of(path, above);
            let declares =
                |line: &&str| line.ends_with(&detour) || is_above && line.ends_with(&declaration);
            lines.iter().any(declares)
        });
        if !is_root && !is_declared {
            orphans.push(file.path.clone());
        }
    }
    orphans
}

/// The folder of the modules of which a file is one, and its name among them.
fn place(path: &str) -> (&str, &str) {
    let path = path.strip_suffix("/mod.rs").unwrap_or(path);
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    (above, name.trim_end_matches(".rs"))
}

/// Whether the modules that a file declares lie in a folder.
fn names_modules_of(path: &str, folder: &str) -> bool {
    let (beside, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_root =
        matches!(name, "lib.rs" | "main.rs" | "mod.rs" | "build.rs") || is_target_folder(path);
    is_root && beside == folder || path.strip_suffix(".rs") == Some(folder)
}

/// A module of the same name elsewhere makes nobody's file a part of a crate.
#[test]
fn a_file_that_only_a_stranger_names_is_an_orphan() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file("server/cli/tests/cli/main.rs", "mod agent;\n"),
        file("server/cli/tests/cli/agent.rs", "mod help;\n"),
        file("server/cli/tests/cli/agent/help.rs", ""),
        file("server/cli/tests/cli/lock.rs", ""),
        file("server/cli/src/commands/mod.rs", "pub(super) mod lock;\n"),
        file("server/cli/src/commands/lock.rs", ""),
        file("server/cli/src/main.rs", "mod commands;\n"),
        file(
            "server/tests/client.rs",
            "mod server;\n#[path = \"odd.rs\"]\nmod even;\n",
        ),
        file("server/tests/server/mod.rs", ""),
        file("server/tests/elsewhere/odd.rs", ""),
    ];
    assert_eq!(orphans(&files), ["server/cli/tests/cli/lock.rs"]);
}

/// Whether a file lies directly in the `tests`, `benches` or `examples` of a crate.
fn is_target_folder(path: &str) -> bool {
    let parent = Path::new(path).parent().and_then(Path::parent);
    parent.is_some_and(|parent| root().join(parent).join("Cargo.toml").exists())
}

#[test]
fn no_file_names_a_machine_or_is_large() {
    let bans = [
        concat!("/ho", "me/"),
        concat!("/wor", "k/"),
        concat!("/far", "m/"),
        concat!("deb.", "debian.org"),
    ];
    let mut complaints = Vec::new();
    for file in files() {
        for (line, text) in file.text.lines().enumerate() {
            if bans.iter().any(|ban| text.contains(ban)) {
                complaints.push(format!(
                    "{}:{}: a path or host of some machine",
                    file.path,
                    line + 1
                ));
            }
        }
        let bytes = file.text.len();
        if bytes > 512 * 1024 {
            complaints.push(format!("{}: {bytes} bytes", file.path));
        }
    }
    assert_none("what only one machine has", &complaints);
    assert!(root().join("Cargo.toml").exists());
}
