//! Clients in other languages, on the emulator and on a real Consul: `interop/README.md` says which.
//!
//! They are installed by their packagers, from the network, which only `PROCONSUL_INTEROP=1` allows. Whatever cannot be installed is
//! left out, and fails nothing.

mod hosts;
#[path = "../lab/tests/shadow/shadowed.rs"]
mod shadowed;

use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{MANAGEMENT, hosts, hosts_with_acls};
use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent, HttpsFiles};
use shadowed::{lines, shadowed};

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

/// Runs a packager, which `name` calls as people do; where it fails, what it was to install for is left out.
fn install(part: &str, name: &str, packager: &mut Command) -> bool {
    let why = match packager.output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => reason(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => error.to_string(),
    };
    left_out::part(part, &format!("`{name}` to succeed, which said: {why}"));
    false
}

/// The line of a packager's complaint that says most.
fn reason(complaint: &str) -> String {
    let mut lines = complaint.lines().filter(|line| !line.trim().is_empty());
    let is_error = |line: &&str| line.to_lowercase().contains("error");
    let error = lines.clone().find(is_error).or_else(|| lines.next_back());
    error
        .unwrap_or("nothing")
        .trim()
        .chars()
        .take(200)
        .collect()
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

/// How often each client's tests run through shadow with a good emulator. A false difference may come in few runs only.
fn runs() -> usize {
    let given = std::env::var("PROCONSUL_SHADOW_RUNS").ok();
    given.and_then(|runs| runs.parse().ok()).unwrap_or(1)
}

/// Runs a language's tests through shadow, between a real Consul and the emulator, which answers each of their requests alike; one that
/// is altered does not.
fn through_shadow(what: &str, command: &impl Fn() -> Command) {
    // What is left out without a real Consul has been said by the hosts.
    let Some(binary) = consul::find() else {
        return;
    };
    let good = std::iter::repeat_n(None, runs());
    for altered in good.chain([Some("header/last-contact-missing")]) {
        let found = || {
            let real = consul::start(&binary, &Agent::default());
            let real = real.unwrap_or_else(|error| panic!("{error}"));
            let address = real.shared_address().expect("one agent for all");
            let shadowed = shadowed(address, altered);
            let mut command = command();
            command.env("CONSUL_HTTP_ADDR", &shadowed.address().host);
            run(&mut command, &format!("{what} through shadow"));
            shadowed.finish()
        };
        let (mut findings, mut first) = (found(), String::new());
        if altered.is_none() && findings.count_of_differences() > 0 {
            // On a busy machine the emulator may be behind its time, as its page says: what is a difference is there again.
            first = lines(&findings);
            findings = found();
        }
        let (same, different) = (findings.count_of_same(), findings.count_of_differences());
        match altered {
            None => assert_eq!(
                (different, findings.exit_status()),
                (0, 0),
                "{what}: {}\n{:?}\nThe first time: {first}",
                lines(&findings),
                findings.left_out()
            ),
            Some(name) => assert!(different > 0, "{what}: {name} is not found out"),
        }
        let unjudged = findings.count_of_unjudged();
        assert!(
            same > 10 && unjudged * 20 < same,
            "{what}: {unjudged} answers are not judged, {same} alike"
        );
    }
}

#[test]
fn the_go_client_and_programs_built_on_it_work() {
    if !left_out::may_install() || !left_out::has("go", "version") {
        return;
    }
    let mut packager = Command::new("go");
    packager.args(["mod", "download"]).current_dir(folder("go"));
    if !install("consul/api", "go mod download", &mut packager) {
        return;
    }
    let command = || {
        let mut go = Command::new("go");
        // Never from the cache of results: the server is another one each time.
        go.args([
            "test",
            "-count=1",
            ".",
            "./contender",
            "./election",
            "./worker",
        ])
        .current_dir(folder("go"));
        go
    };
    on_all_hosts("go", command);
    through_shadow("go", &command);
    // Not through shadow: archives and logs differ by nature.
    on_all_hosts("go's calls for operators", || {
        let mut go = Command::new("go");
        go.args(["test", "-count=1", "./operator"])
            .current_dir(folder("go"));
        go
    });
    over_https("go", || {
        let mut go = Command::new("go");
        go.args(["test", "-count=1", "-run=Keys|Cas|Blocking|Sessions", "."])
            .current_dir(folder("go"));
        go
    });
    for host in hosts_with_acls() {
        let mut go = Command::new("go");
        go.args(["test", "-count=1", "./acl"])
            .current_dir(folder("go"))
            .env("CONSUL_HTTP_ADDR", &host.address)
            .env("MANAGEMENT", MANAGEMENT);
        run(&mut go, &format!("go with ACLs on {}", host.name));
    }
}

/// Runs a language's tests over TLS on every server. Each has an authority of its own; a real Consul has certificates that
/// the emulator made.
fn over_https(what: &str, command: impl Fn() -> Command) {
    let start = |version| {
        let config = Config {
            version,
            ..Config::dev()
        };
        let server = proconsul::Server::builder().config(config).https().start();
        server.expect("the emulator starts")
    };
    let write = |name: &str, text: &str| {
        let file = installed("authorities").join(format!("{what}-{name}.pem"));
        std::fs::write(&file, text).expect("the target folder can be written");
        file
    };
    let of_consul = start(Version::V1_8_7);
    let emulators = [Version::V1_22_0, Version::V1_8_7].map(start);
    let other = write("other", start(Version::V1_8_7).ca_pem());
    let emulators = emulators
        .iter()
        .map(|server| (server.https_url(), server.ca_pem()));
    let mut servers: Vec<_> = emulators.collect();
    let binary = left_out::consul();
    let _consul = binary.map(|binary| {
        let files = HttpsFiles {
            own: &write("consul-server", &of_consul.server_pem()),
            authority: &write("consul", of_consul.ca_pem()),
            verifies_clients: false,
        };
        let (agent, address) = Agent::over_https(files).expect("a port is free");
        servers.push((format!("https://{address}"), of_consul.ca_pem()));
        consul::start_unasked(&binary, &agent).unwrap_or_else(|error| panic!("{error}"))
    });
    for (url, authority) in servers {
        let mut command = command();
        command
            .env("CONSUL_HTTP_ADDR", &url)
            .env("CONSUL_CACERT", write("own", authority))
            .env("OTHER_CACERT", &other);
        run(&mut command, &format!("{what} over HTTPS at {url}"));
    }
}

/// What `consulrs` cannot do without, as `cargo` features; left out where the system's OpenSSL is missing.
fn features() -> &'static [&'static str] {
    let mut search = Command::new("pkg-config");
    if cfg!(target_os = "linux") && !left_out::succeeds(search.args(["--exists", "openssl"])) {
        left_out::part("consulrs", "pkg-config and the headers of OpenSSL");
        return &[];
    }
    &["--features=consulrs"]
}

#[test]
fn the_rust_clients_work() {
    if !left_out::may_install() {
        return;
    }
    let manifest = folder("rust").join("Cargo.toml");
    let cargo = |command: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([command, "--locked", "--quiet", "--manifest-path"]);
        cargo.arg(&manifest);
        cargo
    };
    if !install("rs-consul and consulrs", "cargo fetch", &mut cargo("fetch")) {
        return;
    }
    let (features, place) = (features(), installed("rust"));
    let command = |kinds: &[&str]| {
        let mut tests = cargo("test");
        tests.arg("--offline").args(kinds).args(features);
        tests.arg("--target-dir").arg(&place);
        tests
    };
    // With the benchmark, which does not measure here, but runs. Its overlapping writes are nothing that shadow can judge.
    on_all_hosts("rust", || command(&["--lib", "--tests", "--benches"]));
    through_shadow("rust", &|| command(&["--lib", "--tests"]));
}

/// A Python environment with the packages of a list; `None` when it cannot be made here.
fn environment(client: &str) -> Option<PathBuf> {
    let place = installed(client);
    let python = place.join("bin/python");
    let requirements = folder("python").join(format!("{client}.txt"));
    let mut make = Command::new("python3");
    let mut pip = Command::new(&python);
    // Without a network it gives up soon.
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--retries=1",
        "--timeout=15",
    ]);
    let made = install(
        client,
        "python3 -m venv",
        make.args(["-m", "venv"]).arg(&place),
    ) && install(
        client,
        "pip install",
        pip.arg("--requirement").arg(requirements),
    );
    made.then_some(python)
}

#[test]
fn the_python_clients_work() {
    if !left_out::may_install() || !left_out::has("python3", "--version") {
        return;
    }
    if !left_out::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        return left_out::test("the module venv of python3 (Debian: python3-venv)");
    }
    for (client, tests) in [
        ("py-consul", "test_clients.py"),
        ("python-consul2", "test_clients.py"),
        ("patroni", "test_patroni.py"),
    ] {
        let Some(python) = environment(client) else {
            continue;
        };
        let script = |tests: &str| {
            let mut command = Command::new(&python);
            command.arg(folder("python").join(tests));
            command
        };
        on_all_hosts(client, || script(tests));
        through_shadow(client, &|| script(tests));
        if client == "py-consul" {
            // Not through shadow, as in Go.
            on_all_hosts("py-consul's calls for operators", || {
                script("test_operator.py")
            });
            over_https(client, || script("test_https.py"));
        }
    }
}

#[test]
fn the_node_client_works() {
    let has = |program| left_out::has(program, "--version");
    if !left_out::may_install() || !has("node") || !has("npm") {
        return;
    }
    let place = installed("node");
    for file in [
        "package.json",
        "package-lock.json",
        "clients.test.mjs",
        "https.test.mjs",
    ] {
        let copied = std::fs::copy(folder("node").join(file), place.join(file));
        copied.expect("the target folder can be written");
    }
    let mut packager = Command::new("npm");
    packager.args(["ci", "--no-audit", "--no-fund", "--fetch-retries=1"]);
    if !install("consul", "npm ci", packager.current_dir(&place)) {
        return;
    }
    let command = |tests: &str| {
        let mut node = Command::new("node");
        node.args(["--test", tests]).current_dir(&place);
        node
    };
    on_all_hosts("node", || command("clients.test.mjs"));
    through_shadow("node", &|| command("clients.test.mjs"));
    over_https("node", || command("https.test.mjs"));
}
