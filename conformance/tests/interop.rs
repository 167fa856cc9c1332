//! Clients in other languages, on the emulator and on a real Consul: `interop/README.md` says which.

mod hosts;

use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{has, has_with, hosts, say};
use proconsul::config::Config;

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("interop")
        .join(language)
}

/// A place for what the packagers of other languages install, kept from run to run.
fn installed(what: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("interop")
        .join(what);
    std::fs::create_dir_all(&path).expect("the target folder can be written");
    path
}

fn run(command: &mut Command, what: &str) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}:\n{said}\n{errors}");
}

/// Runs a language's tests on every server.
fn on_all_hosts(what: &str, command: impl Fn() -> Command) {
    for host in hosts(&Config::dev()) {
        let mut command = command();
        run(
            command.env("CONSUL_HTTP_ADDR", &host.address),
            &format!("{what} on {}", host.name),
        );
    }
}

#[test]
fn the_go_client_and_programs_built_on_it_work() {
    if !has_with("go", "version") {
        return;
    }
    on_all_hosts("go", || {
        let mut go = Command::new("go");
        // Never from the cache of results: the server is another one each time.
        go.args(["test", "-count=1", "./..."])
            .current_dir(folder("go"));
        go
    });
}

/// Whether what `consulrs` cannot do without is there.
fn has_openssl() -> bool {
    let mut search = Command::new("pkg-config");
    let found = !cfg!(target_os = "linux")
        || search
            .args(["--exists", "openssl"])
            .status()
            .is_ok_and(|status| status.success());
    if !found {
        say("skipped: no OpenSSL for consulrs");
    }
    found
}

#[test]
fn the_rust_clients_work() {
    let manifest = folder("rust").join("Cargo.toml");
    let cargo = |command: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([command, "--quiet", "--manifest-path"]);
        cargo.arg(&manifest);
        cargo
    };
    // Of a machine without a network nothing is asked but what is on it.
    if !cargo("fetch")
        .output()
        .is_ok_and(|got| got.status.success())
    {
        say("skipped: no network, for the crates of interop/rust");
        return;
    }
    let features: &[&str] = if has_openssl() {
        &["--features=consulrs"]
    } else {
        &[]
    };
    let place = installed("rust");
    on_all_hosts("rust", || {
        let mut tests = cargo("test");
        // With the benchmark, which does not measure here, but runs.
        tests.args(["--lib", "--tests", "--benches"]);
        tests.args(features).arg("--target-dir").arg(&place);
        tests
    });
}

#[test]
fn the_python_clients_work() {
    if !has("python3") {
        return;
    }
    for (client, tests) in [
        ("py-consul", "test_clients.py"),
        ("python-consul2", "test_clients.py"),
        ("patroni", "test_patroni.py"),
    ] {
        let environment = installed(client);
        let python = environment.join("bin/python");
        let requirements = folder("python").join(format!("{client}.txt"));
        run(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&environment),
            "python3 -m venv",
        );
        run(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--requirement"])
                .arg(&requirements),
            &format!("pip install {client}"),
        );
        on_all_hosts(client, || {
            let mut command = Command::new(&python);
            command.arg(folder("python").join(tests));
            command
        });
    }
}

#[test]
fn the_node_client_works() {
    if !has("node") || !has("npm") {
        return;
    }
    let place = installed("node");
    for file in ["package.json", "package-lock.json", "clients.test.mjs"] {
        let copied = std::fs::copy(folder("node").join(file), place.join(file));
        copied.expect("the target folder can be written");
    }
    let npm = ["ci", "--no-audit", "--no-fund", "--silent"];
    run(Command::new("npm").args(npm).current_dir(&place), "npm ci");
    on_all_hosts("node", || {
        let mut tests = Command::new("node");
        tests
            .args(["--test", "clients.test.mjs"])
            .current_dir(&place);
        tests
    });
}
