//! `explore`: what it says of a finding that does not show again.

use std::fs;
use std::process::Command;

use proconsul_conformance::report::left_out;

use super::folder;

/// Acquires a lock; in the first run one of them leaves sessions behind, and in no other.
const ONCE: &str = r#"
api=http://$CONSUL_HTTP_ADDR/v1
new_session() { curl -s -X PUT -d '{"TTL": "1s"}' "$api/session/create" | grep -o '[0-9a-f-]\{36\}'; }
if mkdir "$1" 2>/dev/null; then for _ in {1..30}; do new_session; done; fi
curl -s -X PUT -d x "$api/kv/lock?acquire=$(new_session)"
sleep 60
"#;

#[test]
fn what_does_not_show_again_is_named_and_kept_but_does_not_count() {
    if !left_out::has("bash", "--version") || !left_out::has("curl", "--version") {
        return;
    }
    let folder = folder("explore-once", &[("program", ONCE)]);
    // The folder is that of an earlier test run, too.
    let _ = fs::remove_dir(folder.join("happened"));
    let out = folder.join("out");
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
        .args([
            "explore",
            "-runs=4",
            "-parallel=1",
            "-property=sessions-pile-up",
            "-out",
        ])
        .arg(&out)
        .args(["--", "bash"])
        .args([folder.join("program"), folder.join("happened")])
        .output()
        .expect("it is built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (report, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{report}");
    let lines = [
        "found in run 1: sessions-pile-up: ",
        "making it small",
        "it did not show again: the search goes on",
    ];
    let mut said = said.lines();
    for line in lines {
        assert!(said.any(|one| one.starts_with(line)), "{line}: {output:?}");
    }
    assert!(
        report.contains("\nfound in run 1 and in 0 of 3 replays, so not counted"),
        "{report}"
    );
    let kept = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    assert!(kept("unconfirmed-1.txt").starts_with("contenders 2\n"));
    assert!(kept("unconfirmed-1.jsonl").contains("session"));
}
