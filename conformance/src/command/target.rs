//! Which server the command line means, and how it is started if it is a binary.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::compare::diff::SERVERS;
use crate::target::Target;
use crate::target::consul::{self, Agent};
use crate::target::site::ToolError;
use crate::target::starter;
use clap::Args;

use crate::command::output::say;

/// One target.
#[derive(Debug, Args)]
pub struct TargetChoice {
    /// A server that runs already: host:port or http://host:port.
    #[arg(long, env = "CONSUL_HTTP_ADDR", value_name = "ADDRESS")]
    address: Option<String>,
    /// For how many seconds to wait for the server at the address, which may be starting.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
    /// A binary to start instead of an address. Without either: CONSUL_BIN, consul on the PATH, or what fetch-consul has fetched, which
    /// must be a real Consul.
    #[arg(long, value_name = "BINARY")]
    consul: Option<PathBuf>,
    /// A program that starts a server for each case and moves its clock, line by line of JSON, as the documentation of
    /// `target::starter` says.
    #[arg(long, value_name = "COMMAND", conflicts_with = "consul")]
    starter: Option<String>,
    /// Refuse a server that is newer than what the cases know; otherwise it is held to what the newest known release does.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    start: Start,
}

/// How binaries are started.
#[derive(Debug, Args)]
pub struct Start {
    /// Start the binary as a plain server instead of with -dev.
    #[arg(long)]
    plain: bool,
    /// Configuration for the binary: a file or a folder. May be repeated.
    #[arg(long, value_name = "PATH")]
    agent_config: Vec<PathBuf>,
    /// A further argument for the binary, as in --agent-arg=-node=n1. May be repeated.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    agent_arg: Vec<String>,
    /// How many servers to start where cases must not see each other (diff, record, replay).
    #[arg(long, default_value_t = SERVERS)]
    servers: NonZero<usize>,
}

impl TargetChoice {
    /// One server for all cases.
    pub fn open_one(&self) -> Result<Target, ToolError> {
        if let Some(command) = &self.starter {
            return self.known(starter::target(command)?);
        }
        self.known(match (&self.consul, &self.address) {
            (Some(binary), _) => consul::start(binary, &self.start.agent()),
            (None, Some(address)) => self.at(address),
            (None, None) => consul::start(&found()?, &self.start.agent()),
        }?)
    }

    /// A server of its own for every case that runs at the same time; an address is one server.
    pub fn open_pool(&self) -> Result<Target, ToolError> {
        if let Some(command) = &self.starter {
            return self.known(starter::target(command)?);
        }
        self.known(match (&self.consul, &self.address) {
            (Some(binary), _) => self.start.pool(binary),
            (None, Some(address)) => self.at(address),
            (None, None) => self.start.pool(&found()?),
        }?)
    }

    /// The same target, after a word to standard error where its release is not known.
    fn known(&self, target: Target) -> Result<Target, ToolError> {
        match target.facts().version.is_newer_than_known() {
            Some(why) if self.strict => Err(ToolError(why)),
            Some(why) => {
                say(&mut io::stderr().lock(), &format!("warning: {why}"));
                Ok(target)
            }
            None => Ok(target),
        }
    }

    fn at(&self, address: &str) -> Result<Target, ToolError> {
        Target::address_within(address, Duration::from_secs(self.wait))
    }
}

impl Start {
    fn agent(&self) -> Agent {
        Agent {
            plain: self.plain,
            config: self.agent_config.clone(),
            settings: String::new(),
            arguments: self.agent_arg.clone(),
        }
    }

    fn pool(&self, binary: &Path) -> Result<Target, ToolError> {
        consul::start_pool(binary, &self.agent(), self.servers.get())
    }

    /// The target that some words mean: `consul` or the path of a binary, each with arguments of its own, or an address. Of a binary as
    /// many servers are started as `--servers` says.
    pub fn open(&self, words: &str) -> Result<Target, ToolError> {
        match self.meant(words)? {
            Meant::Address(address) => Target::address(address),
            Meant::Binary(binary, agent) => consul::start_pool(&binary, &agent, self.servers.get()),
        }
    }

    /// The same, as one server; a binary gets these settings.
    pub fn open_single(&self, words: &str, settings: &str) -> Result<Target, ToolError> {
        match self.meant(words)? {
            Meant::Address(address) => Target::address(address),
            Meant::Binary(binary, agent) => {
                let settings = settings.to_owned();
                consul::start(&binary, &Agent { settings, ..agent })
            }
        }
    }

    fn meant<'w>(&self, words: &'w str) -> Result<Meant<'w>, ToolError> {
        let mut words = words.split_whitespace();
        let binary = match words.next().unwrap_or_default() {
            "consul" => found()?,
            path if Path::new(path).is_file() => PathBuf::from(path),
            address => return Ok(Meant::Address(address)),
        };
        let mut agent = self.agent();
        agent.arguments.extend(words.map(str::to_owned));
        Ok(Meant::Binary(binary, agent))
    }
}

/// What words on the command line mean.
enum Meant<'w> {
    Address(&'w str),
    Binary(PathBuf, Agent),
}

fn found() -> Result<PathBuf, ToolError> {
    consul::locate()?.ok_or_else(|| {
        ToolError(
            "no target: give --address, set CONSUL_HTTP_ADDR or CONSUL_BIN, put consul on the PATH, or run conformance/fetch-consul"
                .to_owned(),
        )
    })
}
