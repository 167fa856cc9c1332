//! A server to try a recipe on: frozen and in this process, or a real Consul in real time.

use std::time::Duration;

use proconsul::Server;
use proconsul_client::recipes::Keeper;
use proconsul_client::{Client, Error, NewSession};
use proconsul_conformance::time::{Clock, RealClock};

/// One trial's view of a server.
pub(crate) struct Host {
    client: Client,
    /// What stands before every key of the trial.
    prefix: String,
    server: Option<Server>,
}

impl Host {
    /// A server whose time stands still.
    pub(crate) fn frozen() -> Self {
        let server = Server::builder().frozen().start().expect("a free port");
        Self {
            client: Client::new(&server.url()).expect("an address"),
            prefix: String::new(),
            server: Some(server),
        }
    }

    /// A real Consul, shared with other trials.
    pub(crate) fn real(address: &str, trial: &str) -> Self {
        Self {
            client: Client::new(address).expect("an address"),
            prefix: format!("recipes/{}/{trial}/", std::process::id()),
            server: None,
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// What Consul takes by default, or the least that the suite's Consul is told to take.
    pub(crate) fn ttl(&self) -> Duration {
        Duration::from_secs(if self.server.is_some() { 10 } else { 1 })
    }

    pub(crate) fn lock_delay(&self) -> Duration {
        Duration::from_secs(if self.server.is_some() { 15 } else { 1 })
    }

    /// A session that the server forgets when it is not renewed.
    pub(crate) fn session(&self) -> NewSession {
        NewSession::new()
            .ttl(self.ttl())
            .lock_delay(self.lock_delay())
    }

    pub(crate) async fn keeper(&self) -> Result<Keeper, Error> {
        Keeper::start(&self.client, self.session()).await
    }

    /// Lets time pass for the server, and none for the program if it can be helped: the program is paused.
    pub(crate) fn pass(&self, duration: Duration) {
        match &self.server {
            Some(server) => {
                server.advance(duration);
            }
            None => RealClock.pass(duration).expect("real time always passes"),
        }
    }
}
