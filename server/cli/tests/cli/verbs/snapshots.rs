//! `snapshot save`, `inspect` and `restore` print and exit as those of a real Consul 1.8.7, on a server of ours.

use proconsul::config::Config;

use crate::verbs::commands::{Line, compare_on, line};

#[test]
fn snapshots() {
    let folder = std::env::temp_dir().join(format!("proconsul-snapshots-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::create_dir_all(path("folder")).expect("a writable folder");
    std::fs::write(path("short"), "garbage").expect("a writable folder");
    std::fs::write(path("long"), "garbage garbage").expect("a writable folder");
    let of = |verb: &str, arguments: &[String]| {
        let words = ["snapshot", verb].map(str::to_owned).into_iter();
        Line {
            arguments: words.chain(arguments.iter().cloned()).collect(),
            ..line("")
        }
    };
    let [saved, stale] = [path("saved"), path("stale")];
    let mut lines = vec![
        line("kv put a 1"),
        of("save", std::slice::from_ref(&saved)),
        of("save", &["-stale".to_owned(), stale.clone()]),
        line("kv put a 2"),
        of("restore", std::slice::from_ref(&saved)),
        line("kv get a"),
        of("save", &["-datacenter=nope".to_owned(), saved.clone()]),
        of("restore", &["-datacenter=nope".to_owned(), saved.clone()]),
        of("restore", &[path("short")]),
        of("restore", &[path("long")]),
    ];
    for file in [saved, stale, path("short"), path("long"), path("missing")] {
        lines.push(of("inspect", &[file]));
    }
    lines.push(of("inspect", &[path("")]));
    lines.push(of("restore", &[path("missing")]));
    lines.push(of("save", &[path("folder")]));
    for verb in ["save", "inspect", "restore"] {
        lines.push(of(verb, &[]));
        lines.push(of(verb, &[path("a"), path("b")]));
    }
    compare_on(&lines, &Config::default());
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
