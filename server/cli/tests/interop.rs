//! The control plane from other languages, with nothing but their standard libraries.

use std::path::Path;
use std::process::Command;

use proconsul_conformance::report::left_out;

/// Runs a script of `conformance/interop` on the binary, if the language is there.
fn run(interpreter: &str, script: &str) {
    if !left_out::has(interpreter, "--version") {
        return;
    }
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/interop");
    let output = Command::new(interpreter)
        .arg(scripts.join(script))
        .arg(env!("CARGO_BIN_EXE_proconsul"))
        .output()
        .expect("the interpreter runs");
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.ends_with(": ok\n"), "{said}{complained}");
}

#[test]
fn from_python() {
    run("python3", "python/test_control.py");
}

#[test]
fn from_node() {
    run("node", "node/test_control.mjs");
}
