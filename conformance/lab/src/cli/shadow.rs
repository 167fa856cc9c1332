//! `proconsul-lab shadow`: a user's own traffic on a real Consul and on proconsul.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use proconsul_conformance::case::feature::go_duration;
use proconsul_conformance::command::output::{Files, say, write};
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::time::wait_until;
use proconsul_conformance::wire::Address;
use proconsul_conformance::{Target, ToolError};
use proconsul_lab::shadow::{Difference, Place};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

/// What proconsul's own binary is called.
const EMULATOR: &str = "proconsul";

/// Where to stand, and between whom.
#[derive(Debug, Args)]
pub(super) struct Shadow {
    /// Where your programs connect: set their CONSUL_HTTP_ADDR to it. One address for each of --real, with commas between them.
    #[arg(
        long,
        value_name = "ADDRESSES",
        default_value = "127.0.0.1:8501",
        value_delimiter = ','
    )]
    listen: Vec<String>,
    /// Your real Consul, whose answers your programs get: one agent, or all agents of a datacenter.
    #[arg(
        long,
        value_name = "ADDRESSES",
        default_value = "127.0.0.1:8500",
        value_delimiter = ','
    )]
    real: Vec<String>,
    /// The proconsul beside it: the addresses of one that has no state yet, whose agents are called as the real ones, or a binary to
    /// start as the version of the real one. Without it, the proconsul beside this program or on the PATH is started.
    #[arg(long, value_name = "ADDRESSES|BINARY")]
    emulator: Option<String>,
    /// End after so long, as in 90s or 1h; else on SIGINT or SIGTERM.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    time: Option<Duration>,
    /// How long one server may take longer than the other to wake a read, or until both say the same; 1s unless told.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    grace: Option<Duration>,
    /// Write what led to each of the first differences into this folder, as cases to be finished by hand.
    #[arg(long, value_name = "FOLDER")]
    save_case: Option<PathBuf>,
    /// A management token of a real Consul that has ACLs; also CONSUL_HTTP_TOKEN.
    #[arg(long, value_name = "SECRET")]
    token: Option<String>,
    #[command(flatten)]
    files: Files,
}

impl Shadow {
    /// Passes on and compares until it is told to end: 0 all that was compared is alike, 1 something differs, 2 not all was compared.
    pub(super) fn run(&self) -> Result<u8, ToolError> {
        let (listen, real) = (self.listen.len(), self.real.len());
        if listen != real {
            return Err(ToolError(format!(
                "--listen has {listen} addresses and --real has {real}: each agent needs one of its own"
            )));
        }
        let (listen, real) = (self.listen.iter(), self.real.iter());
        let agents = listen.map(String::as_str).zip(real.map(String::as_str));
        let mut place = Place::new(&agents.collect::<Vec<_>>(), &self.token())?;
        place.grace = self.grace.unwrap_or(place.grace);
        // Dropping it stops a server that was started here.
        let (emulator, _started) = self.emulator(&place)?;
        let folder = self.save_case.clone();
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| ToolError(format!("cannot make {}: {error}", folder.display())))?;
        }
        let is_told = until_told()?;
        let version = place.real[0].version.clone();
        let observer = move |difference: &Difference| {
            say(&mut io::stdout().lock(), &difference.line());
            let Some((folder, case)) = folder.as_ref().zip(difference.case()) else {
                return;
            };
            let file = folder.join(format!("difference-{}.rs", difference.number));
            if let Err(ToolError(why)) = write(&file, &case) {
                say(&mut io::stderr().lock(), &why);
            }
        };
        let shadow = place.start(&emulator, Box::new(observer))?;
        for (listen, real) in shadow.addresses().iter().zip(&self.real) {
            let ready =
                format!("listening on {listen}: programs get the answers of {real} ({version})");
            say(&mut io::stdout().lock(), &ready);
        }
        for sentence in shadow.not_copied() {
            say(&mut io::stdout().lock(), &format!("left out: {sentence}"));
        }
        wait_until(|| is_told.load(Ordering::Relaxed), self.time);
        let (findings, target, build) = shadow.finish();
        self.files.write(findings.document(&target, &build))?;
        for sentence in findings.left_out() {
            say(&mut io::stdout().lock(), &format!("left out: {sentence}"));
        }
        let summary = format!("{target} ({build}): {}", findings.summary());
        say(&mut io::stdout().lock(), &summary);
        Ok(findings.exit_status())
    }

    fn token(&self) -> String {
        let token = self.token.clone();
        let token = token.or_else(|| std::env::var("CONSUL_HTTP_TOKEN").ok());
        token.unwrap_or_default()
    }

    /// The addresses of the emulator's agents, and the server if it was started here.
    fn emulator(&self, place: &Place) -> Result<(Vec<Address>, Option<Target>), ToolError> {
        let binary = match &self.emulator {
            Some(words) if !PathBuf::from(words).is_file() => {
                let addresses = words.split(',').map(Address::parse);
                let addresses = addresses.collect::<Result<_, _>>();
                return Ok((addresses.map_err(ToolError)?, None));
            }
            Some(path) => PathBuf::from(path),
            None => found()?,
        };
        let agent = Agent {
            plain: !place.real[0].is_pretty(),
            settings: place.real[0].settings(),
            arguments: place.arguments(),
            ..Agent::default()
        };
        let target = consul::start(&binary, &agent)?;
        let address = target.shared_address().expect("it was started as one");
        Ok((place.agents_of(address)?, Some(target)))
    }
}

/// The emulator's binary: cargo puts it beside this one, packagers put both on the `PATH`.
fn found() -> Result<PathBuf, ToolError> {
    let own = std::env::current_exe().unwrap_or_default();
    let name = format!("{EMULATOR}{}", std::env::consts::EXE_SUFFIX);
    let beside = own.parent().map(|folder| folder.join(&name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let on_path = on_path.iter().map(|folder| folder.join(&name));
    let mut places = beside.into_iter().chain(on_path);
    places.find(|file| file.is_file()).ok_or_else(|| {
        ToolError(format!(
            "no {EMULATOR} beside this program or on the PATH: build it (cargo build -p proconsul) or give --emulator"
        ))
    })
}

/// Returns what the first signal to end sets; a second one ends the process at once.
fn until_told() -> Result<Arc<AtomicBool>, ToolError> {
    let cannot = |error: io::Error| ToolError(format!("cannot listen for signals: {error}"));
    let is_told = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order, so that the first signal does not find what it sets.
        register_conditional_default(signal, Arc::clone(&is_told)).map_err(cannot)?;
        register(signal, Arc::clone(&is_told)).map_err(cannot)?;
    }
    Ok(is_told)
}

fn duration(text: &str) -> Result<Duration, String> {
    go_duration(text).ok_or_else(|| format!("`{text}` is no duration such as 90s or 1h"))
}
