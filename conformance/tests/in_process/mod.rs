//! The emulator in this process as a place for trials: one server per case, whose clock the case can move.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use proconsul::Version;
use proconsul::config::{Config, LogLevel};
use proconsul::control::Rate;
use proconsul_conformance::ToolError;
use proconsul_conformance::target::site::Site;
use proconsul_conformance::time::Clock;
use proconsul_conformance::wire::{self, Address, Outcome, Request};

/// How fast a server's clock runs by itself: short waits end soon, and a machine that is busy for a second costs no
/// session its life.
const RATE: f64 = 0.25;

/// The clock of a server in this process: waiting costs nothing.
#[derive(Debug)]
struct ServerClock(Arc<proconsul::Server>);

impl Clock for ServerClock {
    fn pass(&self, duration: Duration) -> Result<(), String> {
        // The server takes requests in the order in which they came, on one thread: when this one is answered,
        // every read that was sent before it waits.
        let address = Address::parse(&self.0.addr().to_string())?;
        match wire::exchange(&address, &Request::get("/v1/status/leader")) {
            Outcome::Reply(_) => {
                self.0.advance(duration);
                Ok(())
            }
            other => Err(format!("the emulator does not answer: {other:?}")),
        }
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

/// A server of this version and mode as `proconsul agent` would set it up, with the settings that a case has for its
/// `-config-file`; on a free port.
pub(crate) fn config(settings: &str, version: Version, dev: bool) -> Result<Config, ToolError> {
    let usual = Config::default();
    let version = format!("-as-version={version}");
    let node = format!("-node={}", usual.node_name);
    let mode = if dev { "-dev" } else { "-server" };
    // Before 1.14 only -dev has Connect by itself, and cases about it run in every mode.
    let connect = "connect { enabled = true }";
    let arguments = [
        &version,
        &node,
        mode,
        "-data-dir=unused",
        "-dns-port=-1",
        "-hcl",
        connect,
        "-hcl",
        settings,
    ];
    let agent = Config::from_arguments(&arguments);
    let agent = agent.map_err(|error| ToolError(error.to_string()))?;
    Ok(Config {
        listeners: usual.listeners,
        log_level: LogLevel::Error,
        ..agent
    })
}

/// Starts a server for one case. Its socket is held as long as the site: a server that ended early leaves its port to no other.
pub(crate) fn open(config: Config) -> Result<Site, ToolError> {
    let cannot = |error: std::io::Error| ToolError(format!("cannot listen: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").map_err(cannot)?;
    let held = listener.try_clone().map_err(cannot)?;
    let builder = proconsul::Server::builder().config(config);
    let server = builder.listener(listener).start();
    let server = Arc::new(server.map_err(|error| ToolError(error.to_string()))?);
    server.set_rate(Rate::new(RATE).map_err(|error| ToolError(error.to_string()))?);
    let address = Address::parse(&server.addr().to_string()).map_err(ToolError)?;
    let clock = ServerClock(Arc::clone(&server));
    Ok(Site::new(address).with_clock(clock).keeping((server, held)))
}
