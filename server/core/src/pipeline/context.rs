//! The state that all requests of one server share.

pub(crate) mod datacenters;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;

use crate::auth::state::Acls;
use crate::connections::OpenConnections;
use crate::control::{Controls, Listeners};
use crate::extensions::control_plane::ControlPlane;
use crate::reply::list::LastLists;
use crate::request::cache::Cache;
use datacenters::Joined;
use proconsul_config::Config;
use proconsul_engine::faults::Shown;
use proconsul_engine::sync::Signal;
use proconsul_engine::{Engine, clock};
use proconsul_gocompat::mux::Mux;
use proconsul_gocompat::url::query::Semicolons;
use proconsul_h1::{Calendar, Sleep};
use proconsul_version::Behaviour;

/// The state that all requests of one server share.
#[derive(Debug)]
pub struct Context {
    /// The state, and everything that happens to it.
    pub engine: Arc<Engine>,
    /// The controls; `None` if tests may not control the server.
    pub control: Option<Controls>,
    /// The control plane; `None` if it is not served beside Consul's API.
    pub(crate) control_plane: Option<ControlPlane>,
    /// The configuration, with the node's id.
    pub config: Arc<Config>,
    /// The number of this agent in its datacenter: 0 for a lone one.
    pub agent: usize,
    /// The configurations of all agents, this one's among them.
    pub(crate) configs: Arc<[Arc<Config>]>,
    /// What each server answers stale reads from; none for a lone one.
    views: Arc<[Arc<Context>]>,
    /// The datacenters that this one knows.
    pub(crate) joined: Joined,
    /// The configured headers of all answers, sorted by name.
    pub(crate) response_headers: Vec<(HeaderName, HeaderValue)>,
    /// The ACLs; `None` if they are off.
    pub(crate) acls: Option<Arc<Acls>>,
    /// The value of `X-Consul-Default-Acl-Policy`.
    pub(crate) acl_policy: HeaderValue,
    /// The agent's cache.
    pub(crate) cache: Cache,
    /// The lists of keys that were rendered last.
    pub(crate) last_lists: LastLists,
    /// The number of connections of each client.
    pub connections: Arc<OpenConnections>,
    /// The unknown paths that the log has named, up to a limit.
    unknown: Mutex<BTreeSet<String>>,
    /// The endpoints that are not emulated and that the log has named.
    absent: Mutex<BTreeSet<&'static str>>,
    /// Reloads the configuration.
    pub(crate) reload: Reload,
    /// Set when a client makes the agent leave.
    pub left: Signal,
}

/// Makes the agent read its configuration again.
#[derive(Clone)]
pub struct Reload(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl Reload {
    /// Returns what reads the configuration again and applies it, up to its first error, which is Consul's text.
    pub fn new(reload: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(reload))
    }

    /// Reads the configuration and applies it up to its first error.
    ///
    /// # Errors
    /// Consul's text about the invalid configuration.
    pub fn run(&self) -> Result<(), String> {
        (self.0)()
    }
}

impl std::fmt::Debug for Reload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Reload")
    }
}

impl Calendar for Context {
    fn date(&self) -> HeaderValue {
        clock::http_date(self.engine.clock().wall())
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.engine.host().sleep(duration)
    }
}

/// The most unknown paths that the log names.
const UNKNOWN_PATHS_NAMED: usize = 100;

impl Context {
    /// Returns the context of a server with this configuration. Configured headers with an invalid name or value are
    /// left out.
    pub fn new(
        engine: Arc<Engine>,
        config: Arc<Config>,
        control: Option<Controls>,
        reload: Reload,
    ) -> Self {
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        };
        let policy = HeaderValue::from_str(&config.acl.default_policy);
        let mut response_headers: Vec<_> =
            config.response_headers.iter().filter_map(header).collect();
        response_headers.sort_by(|(left, _), (right, _)| left.as_str().cmp(right.as_str()));
        Self {
            agent: 0,
            configs: Arc::new([Arc::clone(&config)]),
            views: Arc::new([]),
            joined: Joined::default(),
            engine,
            control_plane: ControlPlane::new(control.as_ref(), &config),
            control,
            response_headers,
            acls: Acls::new(&config.acl).map(Arc::new),
            acl_policy: policy.unwrap_or(HeaderValue::from_static("allow")),
            config,
            cache: Cache::default(),
            last_lists: LastLists::default(),
            connections: Arc::default(),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload,
            left: Signal::default(),
        }
    }

    /// Returns the contexts of all agents of a datacenter. `config` is that of the first.
    pub fn of_agents(
        engine: &Arc<Engine>,
        config: &Arc<Config>,
        control: Option<&Controls>,
        reload: &Reload,
    ) -> Vec<Self> {
        let first =
            |config| Self::new(Arc::clone(engine), config, control.cloned(), reload.clone());
        if config.is_lone() {
            return vec![first(Arc::clone(config))];
        }
        let configs: Arc<[_]> = config.of_agents().into_iter().map(Arc::new).collect();
        let mut contexts: Vec<Self> = configs.iter().cloned().map(first).collect();
        for (agent, context) in contexts.iter_mut().enumerate() {
            context.agent = agent;
            context.configs = Arc::clone(&configs);
        }
        let servers = contexts.iter().filter(|context| context.config.server);
        let view = |server: &Self| {
            server
                .of_another_server(engine.as_seen_by(server.agent))
                .into()
        };
        let views: Arc<[_]> = servers.map(view).collect();
        for context in &mut contexts {
            context.views = Arc::clone(&views);
        }
        contexts
    }

    /// Whether this agent is alone, in its datacenter and without others.
    pub(crate) fn is_lone(&self) -> bool {
        self.config.is_lone()
    }

    /// Returns what says whether this agent takes connections; `None` if that never changes.
    pub fn listeners(&self) -> Option<&Listeners> {
        let control = self.control.as_ref()?;
        Some(control.listeners(self.agent))
    }

    /// Returns what answers a stale read at this agent; `None` if that is nothing special. A client agent asks the first
    /// server that follows and that it reaches.
    pub(crate) fn view(&self) -> Option<&Arc<Context>> {
        if self.config.server {
            return self.views.get(self.agent);
        }
        let cluster = self.engine.cluster();
        let reaches = |view: &&Arc<Context>| cluster.is_connected(view.agent);
        let follows = |view: &&Arc<Context>| cluster.leader() != Some(view.agent);
        let reached = || self.views.iter().filter(reaches);
        reached().find(follows).or(reached().next())
    }

    /// Returns what a response says of the leader: the truth, unless this is a server's view for stale reads.
    pub(crate) fn shown(&self) -> Shown {
        let is_view = !self.is_lone() && self.views.is_empty();
        let shown = is_view.then(|| self.engine.shown_by_agent(self.agent));
        shown.unwrap_or_default()
    }

    /// Returns the configuration of the leader, or of the last one.
    pub(crate) fn leader(&self) -> &Config {
        let leader = self.engine.cluster().last_leader();
        self.configs.get(leader).unwrap_or(&self.config)
    }

    /// Returns the numbers and configurations of the servers that have not left.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (usize, &Config)> {
        let cluster = self.engine.cluster();
        self.all_servers().filter(move |(agent, _)| {
            let member = cluster.members().get(*agent);
            member.is_none_or(|member| !member.has_left)
        })
    }

    /// Returns the numbers and configurations of the servers, those that have left among them.
    pub(crate) fn all_servers(&self) -> impl Iterator<Item = (usize, &Config)> {
        let agents = self.configs.iter().map(|config| &**config).enumerate();
        agents.filter(|(_, config)| config.server || self.is_lone())
    }

    /// Returns a context over another state, without controls.
    pub(crate) fn of_another_server(&self, engine: Engine) -> Self {
        Self {
            agent: self.agent,
            configs: Arc::clone(&self.configs),
            views: Arc::new([]),
            joined: self.joined.clone(),
            engine: Arc::new(engine),
            control: None,
            control_plane: None,
            config: Arc::clone(&self.config),
            response_headers: self.response_headers.clone(),
            acls: self.acls.clone(),
            acl_policy: self.acl_policy.clone(),
            cache: Cache::default(),
            last_lists: LastLists::default(),
            connections: Arc::clone(&self.connections),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload: self.reload.clone(),
            left: Signal::default(),
        }
    }

    /// Returns the context of sockets that serve only Consul's API, because the control plane has its own port.
    pub fn without_control_plane(mut self) -> Self {
        self.control_plane = None;
        self
    }

    /// Logs a request for an unknown path, once per path and up to [`UNKNOWN_PATHS_NAMED`] paths.
    pub(crate) fn note_unknown(&self, path: &[u8]) {
        let path = String::from_utf8_lossy(path).into_owned();
        let mut unknown = self.unknown.lock();
        if unknown.len() < UNKNOWN_PATHS_NAMED && unknown.insert(path.clone()) {
            tracing::warn!(target: "agent.http", %path, "Request for a path that is not emulated");
        }
    }

    /// Logs a request for an endpoint that is not emulated, once per endpoint.
    pub(crate) fn note_absent(&self, endpoint: &'static str) {
        if self.absent.lock().insert(endpoint) {
            tracing::warn!(
                target: "agent.http",
                endpoint,
                status = 501,
                "Request for an endpoint of Consul's that is not emulated"
            );
        }
    }

    /// Returns the id of the agent's node. Loading a state changes it.
    pub(crate) fn node_id(&self) -> String {
        self.engine.snapshot().agent(self.agent).node_id()
    }

    /// Whether the emulated version has `behaviour`.
    pub(crate) fn has(&self, behaviour: Behaviour) -> bool {
        self.config.version.has(behaviour)
    }

    /// Returns how queries with semicolons are parsed.
    pub(crate) fn semicolons(&self) -> Semicolons {
        if self.has(Behaviour::HttpSemicolonRefused) {
            Semicolons::Refused
        } else {
            Semicolons::Separate
        }
    }

    /// Returns how paths are matched.
    pub(crate) fn mux(&self) -> Mux {
        if self.has(Behaviour::HttpMuxEscaped) {
            Mux::Escaped
        } else {
            Mux::Decoded
        }
    }
}
