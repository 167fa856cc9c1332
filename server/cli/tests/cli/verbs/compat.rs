//! `compat`: a program that a release breaks, found and explained.

use std::path::PathBuf;
use std::process::Command;

use proconsul_conformance::report::left_out;

use super::folder;

/// Names its tests as TAP does. `$CLI` is this program.
const PROGRAM: &str = r#"
sets() {
  if "$CLI" kv put "$2" v >/dev/null 2>&1; then echo "ok $1 - sets $2"; else echo "not ok $1 - sets $2"; failed=1; fi
}
failed=0
sets 1 plain
sets 2 'with space'
exit $failed
"#;

struct Ran {
    code: Option<i32>,
    text: String,
    errors: String,
    folder: PathBuf,
}

impl Ran {
    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).expect("the file is written")
    }
}

fn compat(name: &str, flags: &[&str], program: &str) -> Ran {
    let name = format!("compat-{name}");
    // What an earlier run has left.
    let _ = std::fs::remove_dir_all(folder(&name, &[]));
    let folder = folder(&name, &[("program", program)]);
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
        .current_dir(&folder)
        .env("CLI", env!("CARGO_BIN_EXE_proconsul"))
        .arg("compat")
        .args(flags)
        .args(["--", "sh", "program"])
        .output()
        .expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: output.status.code(),
        text: text(&output.stdout),
        errors: text(&output.stderr),
        folder,
    }
}

#[test]
fn a_key_with_a_space_breaks_at_1_21_5_and_the_report_says_why() {
    let flags = [
        "-versions=1.21.5,1.21.4",
        "-junit=report.xml",
        "-markdown=report.md",
    ];
    let ran = compat("space", &flags, PROGRAM);
    assert_eq!(ran.code, Some(1), "{}", ran.text);
    for expected in [
        "1.21.4             passed, 2 of 2 tests passed, 2 requests\n",
        "1.21.5     BREAKS  exit status 1, 1 of 2 tests passed, 2 requests\n",
        "1.21.5 breaks, which 1.21.4 does not:\n  sets with space\n",
        "PUT /v1/kv/with%20space\n  body: v\n  1.21.4: 200 true\n  1.21.5: 500 invalid key name,",
        "may be explained by kv.key_regex: A key has to match a regular expression",
        "  | not ok 2 - sets with space\n",
    ] {
        assert!(ran.text.contains(expected), "{expected}\n{}", ran.text);
    }
    let markdown = ran.file("report.md");
    let row = "| 1.21.5 | exit status 1, 1 of 2 tests passed, 2 requests | sets with space |\n";
    assert!(markdown.contains(row), "{markdown}");
    let report = quick_junit::Report::deserialize_from_str(&ran.file("report.xml"));
    let report = report.expect("it is JUnit's XML");
    let suites = report.test_suites.iter();
    let failed: Vec<_> = suites
        .map(|suite| (suite.name.as_str(), suite.tests, suite.failures))
        .collect();
    assert_eq!(failed, [("1.21.4", 2, 0), ("1.21.5", 2, 1)]);
}

/// Since 1.22.0 a null check is found before the wrong datacenter, and ends the connection.
#[test]
fn a_connection_that_closes_is_closed_for_the_command_too_and_told() {
    if !left_out::has("curl", "--version") {
        return;
    }
    let program = r#"curl -s -X PUT -d '{"Datacenter": "nope", "Checks": [null]}' "$CONSUL_HTTP_ADDR/v1/catalog/register""#;
    let ran = compat("closes", &["-versions=1.21.5,1.22.0"], program);
    assert_eq!(ran.code, Some(1), "{}", ran.text);
    for expected in [
        "1.22.0     BREAKS  exit status 52, 1 request\n",
        "  1.21.5: 500 No path to datacenter\n  1.22.0: closed without an answer\n  may be explained by cat",
    ] {
        assert!(ran.text.contains(expected), "{expected}: {}", ran.text);
    }
}

#[test]
fn a_command_without_named_tests_is_one_itself() {
    let program = r#""$CLI" kv put 'with space' v"#;
    let ran = compat("unnamed", &["-versions=1.21.4,1.21.5"], program);
    assert_eq!(ran.code, Some(1));
    let expected = "1.21.5 breaks, which 1.21.4 does not:\n  the command\n";
    assert!(ran.text.contains(expected), "{}", ran.text);
}

#[test]
fn servers_are_fresh_and_run_at_once() {
    // Each waits for the other, which it would not see if it came later.
    let program = r#"
        "$CLI" kv put -cas -modify-index=0 first v >/dev/null || exit 1
        touch "begun-$$"
        for i in $(seq 200); do
          [ "$(ls begun-* | wc -l)" = 2 ] && exit 0
          "$CLI" kv get first >/dev/null
        done
        exit 1
    "#;
    let ran = compat("fresh", &["-versions=1.18,1.22", "-jobs=2"], program);
    assert_eq!(ran.code, Some(0), "{}{}", ran.text, ran.errors);
    assert!(
        ran.text.starts_with("1.18.0             passed, "),
        "{}",
        ran.text
    );
}

#[test]
fn what_fails_everywhere_is_broken_by_no_release() {
    let ran = compat("nowhere", &["-versions=1.18,1.22"], "echo said; exit 3");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.text.contains("It passes on none. 1.22.0:\n  | said\n"),
        "{}",
        ran.text
    );
    assert!(!ran.text.contains("breaks, which"), "{}", ran.text);
}

#[test]
fn what_is_not_understood_is_told_with_exit_code_2() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_proconsul"))
            .arg("compat")
            .args(arguments)
            .output();
        let output = output.expect("the binary runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, text) = run(&[]);
    assert_eq!(
        (code, text.trim_end()),
        (Some(2), "expected a command behind the flags")
    );
    let (code, text) = run(&["-versions=1.8.7,zork", "--", "true"]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("-versions: "), "{text}");
    let (code, text) = run(&["-versions=1.22", "--", "./no-such-program"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("./no-such-program: "), "{text}");
}

#[test]
fn a_real_consul_is_one_more_release() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let against = format!("-against={}", binary.display());
    let ran = compat("real", &["-versions=1.21.5", &against], PROGRAM);
    assert_eq!(ran.code, Some(1), "{}{}", ran.text, ran.errors);
    let expected = format!("1.21.5 breaks, which {} does not:\n", binary.display());
    assert!(ran.text.contains(&expected), "{}", ran.text);
}
