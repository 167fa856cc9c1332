//! A datacenter that has started, and is about to serve.

use std::sync::Arc;

use super::new_handle;
use super::sockets::Sockets;
use crate::control::{Controls, DatacenterAddresses, Server};
use crate::https::DevCertificates;
use proconsul_config::Config;
use proconsul_core::{Context, Reload, engine_beside, reload_of};
use proconsul_engine::Engine;

/// A datacenter that has started, and is about to serve.
pub(super) struct Datacenter {
    pub(super) config: Arc<Config>,
    pub(super) server: Server,
    pub(super) sockets: Vec<Sockets>,
    pub(super) reload: Reload,
}

impl Datacenter {
    /// Starts the datacenters of a configuration with these sockets. The engine, the certificates and the reload are those of
    /// the first.
    pub(super) fn start_all(
        engine: &Arc<Engine>,
        config: &Arc<Config>,
        mut sockets: Vec<Vec<Sockets>>,
        certificates: Option<DevCertificates>,
        reload: Reload,
    ) -> Vec<Self> {
        let own = sockets.remove(0);
        let configs = config.of_datacenters().into_iter().skip(1);
        let others = configs.zip(sockets).map(|(config, sockets)| {
            let engine = engine_beside(engine, &config, config.seed.unwrap_or_default());
            let config = Arc::new(config);
            let reload = reload_of(&engine, &config, None);
            Self::new(&engine, config, sockets, Vec::new(), None, reload)
        });
        let others: Vec<_> = others.collect();
        let addresses = others.iter().map(|there| DatacenterAddresses {
            name: there.config.datacenter.clone(),
            of_agents: there.sockets.iter().map(Sockets::of_agent).collect(),
        });
        let (config, addresses) = (Arc::clone(config), addresses.collect());
        let first = Self::new(engine, config, own, addresses, certificates, reload);
        [first].into_iter().chain(others).collect()
    }

    fn new(
        engine: &Arc<Engine>,
        config: Arc<Config>,
        sockets: Vec<Sockets>,
        others: Vec<DatacenterAddresses>,
        certificates: Option<DevCertificates>,
        reload: Reload,
    ) -> Self {
        let server = new_handle(engine, &config, &sockets, others, certificates);
        for (agent, sockets) in sockets.iter().enumerate() {
            sockets.follow(agent, &server);
        }
        Self {
            config,
            server,
            sockets,
            reload,
        }
    }

    /// Returns its controls; `None` if tests may not control it.
    #[cfg(feature = "control-http")]
    pub(super) fn control(&self) -> Option<Controls> {
        self.config.control.then(|| Controls::clone(&self.server))
    }

    /// Returns the contexts of its agents.
    pub(super) fn contexts(&self) -> Vec<Context> {
        let engine = self.server.shared_engine();
        // One of several agents closes its sockets when it leaves, whether tests may control it or not.
        let has_control = self.config.control || !self.config.is_lone();
        let control = has_control.then(|| Controls::clone(&self.server));
        let contexts = Context::of_agents(&engine, &self.config, control.as_ref(), &self.reload);
        match self.config.control {
            true => contexts,
            false => contexts
                .into_iter()
                .map(Context::without_control_plane)
                .collect(),
        }
    }
}
