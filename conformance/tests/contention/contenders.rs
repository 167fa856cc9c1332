//! The programs that contend, and how they die.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use proconsul_conformance::report::left_out;
use proconsul_conformance::target::built;
use proconsul_conformance::target::consul;

use super::Mode;

/// What contenders are made of.
pub(crate) struct Programs {
    rust: PathBuf,
    go: Option<PathBuf>,
    consul: Option<PathBuf>,
}

/// How a contender ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// At once, in the middle of whatever it does. Its session stays.
    Kill,
    /// It is asked to go: it gives back what it has.
    Terminate,
}

/// A contender, and how to start it again. Killed when it is dropped.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    command: Command,
    running: Child,
}

impl Programs {
    /// Finds them; `None` when there are too few, and the running test is left out.
    ///
    /// Only the Go contender is built here, because cargo does not: it is left out unless packages may be installed.
    pub(crate) fn find() -> Option<Self> {
        let rust = match built::example("contender") {
            Ok(program) => program,
            Err(command) => {
                left_out::test(&command);
                return None;
            }
        };
        let has = |program| left_out::has(program, "--version");
        (has("python3") && has("bash")).then(|| Self {
            rust,
            go: go(),
            // The hosts say what is missing.
            consul: consul::find(),
        })
    }

    /// Starts one of each.
    pub(crate) fn start(
        &self,
        mode: Mode,
        prefix: &str,
        place: &str,
        address: &str,
    ) -> Vec<Contender> {
        let arguments = [mode.word(), prefix, place];
        let mut rust = Command::new(&self.rust);
        rust.args(arguments);
        let mut python = Command::new("python3");
        python.arg(interop("python/contender.py")).args(arguments);
        let mut all = vec![("rust", rust), ("python", python)];
        if let Some(go) = &self.go {
            let mut go = Command::new(go);
            go.args(arguments);
            all.push(("go", go));
        }
        if let Some(consul) = &self.consul {
            // `exec`: `consul lock` signals the shell that it starts, and not what that shell has started.
            // Ends with the place, should this test be killed.
            let script = r#"while (exec 3<>"/dev/tcp/${4%:*}/${4##*:}") 2>/dev/null; do
                "$0" lock -name="contender $$" -n="$1" "$2" "exec $3 $4 consul-lock"
            done"#;
            let mut lock = Command::new("bash");
            lock.args(["-c", script])
                .arg(consul)
                .arg(mode.allowed().to_string());
            lock.arg(prefix).arg(interop("mark.sh")).arg(place);
            // It says that its worker was terminated.
            lock.stderr(Stdio::null()).stdout(Stdio::null());
            all.push(("consul-lock", lock));
        }
        let all = all.into_iter();
        all.map(|(name, command)| Contender::start(name, command, address))
            .collect()
    }
}

/// A contender that works without asking anybody.
pub(crate) fn lawless(place: &str) -> Contender {
    let mut command = Command::new("bash");
    command.args(["-c", r#"while "$0" "$1" lawless; do :; done"#]);
    command.arg(interop("mark.sh")).arg(place);
    Contender::start("lawless", command, "")
}

/// The Go contender; `None` when it is left out.
fn go() -> Option<PathBuf> {
    const PART: &str = "the Go contender";
    /// Built once for all tests of this process.
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    if !left_out::installs() {
        left_out::part(PART, "PROCONSUL_INTEROP=1");
        return None;
    }
    let built = BUILT.get_or_init(build_go).clone();
    if built.is_none() {
        left_out::part(PART, "go, and a network for `go mod download`");
    }
    built
}

/// `None` when its packages cannot be installed here.
fn build_go() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contender-go");
    let go = |arguments: &[&str]| {
        let mut go = Command::new("go");
        go.args(arguments).current_dir(interop("go"));
        go
    };
    if !left_out::succeeds(&mut go(&["mod", "download"])) {
        return None;
    }
    let built = go(&["build", "-o"])
        .arg(&program)
        .arg("./contender")
        .status();
    assert!(built.expect("go runs").success(), "it cannot be built");
    Some(program)
}

fn interop(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("interop")
        .join(file)
}

impl Contender {
    fn start(name: &'static str, mut command: Command, address: &str) -> Self {
        // A group of its own: what it has started is killed with it.
        command
            .env("CONSUL_HTTP_ADDR", address)
            .stdin(Stdio::null())
            .process_group(0);
        let running = command.spawn().expect("the contender was found");
        Self {
            name,
            command,
            running,
        }
    }

    /// The name that it gives to its sessions.
    pub(crate) fn session_name(&self) -> String {
        format!("contender {}", self.running.id())
    }

    /// Why it ended although nobody killed it; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.running.try_wait().expect("it was started here");
        status.map(|status| format!("the contender {} ended by itself: {status}", self.name))
    }

    /// Ends it, and everything that it has started.
    pub(crate) fn die(&mut self, death: Death) {
        let signal = match death {
            Death::Kill => "KILL",
            Death::Terminate => "TERM",
        };
        let kill = format!("kill -s {signal} -- -{}", self.running.id());
        // The shell's own: not every machine has a program of that name. It complains of a group that is gone already.
        let sent = Command::new("sh")
            .args(["-c", &kill])
            .stderr(Stdio::null())
            .status();
        sent.expect("sh is there");
        self.running.wait().expect("it was started here");
    }

    /// Starts it again after its death.
    pub(crate) fn come_back(&mut self) {
        self.running = self.command.spawn().expect("it was there before");
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        self.die(Death::Kill);
    }
}
