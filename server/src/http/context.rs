//! What every request of one server shares.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use tokio::sync::Notify;

use super::connections::OpenConnections;
use super::control_plane::ControlPlane;
use crate::config::Config;
use crate::control::Control;
use crate::engine::Engine;
use crate::go::mux::Mux;
use crate::go::url::query::Semicolons;
use crate::lock::Mutex;
use crate::version::Behaviour;

/// What every request of one server shares.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) engine: Arc<Engine>,
    /// What a test may do to the server, if it may do anything.
    pub(crate) control: Option<Control>,
    /// The control plane, where it is served beside Consul's API.
    pub(super) control_plane: Option<ControlPlane>,
    pub(crate) config: Arc<Config>,
    /// The configured headers of all answers, sorted.
    pub(super) response_headers: Vec<(HeaderName, HeaderValue)>,
    /// The value of `X-Consul-Default-Acl-Policy`.
    pub(super) acl_policy: HeaderValue,
    /// How many connections each client holds.
    pub(super) connections: Arc<OpenConnections>,
    /// The unknown paths that the log has named, up to a bound.
    unknown: Mutex<BTreeSet<String>>,
    /// The endpoints that are not emulated and that the log has named.
    absent: Mutex<BTreeSet<&'static str>>,
    /// What a reload does.
    pub(crate) reload: Reload,
    /// Told when a client makes the agent leave.
    pub(crate) left: Notify,
}

/// Lets the agent read its configuration again.
#[derive(Clone)]
pub(crate) struct Reload(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl Reload {
    pub(crate) fn new(reload: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(reload))
    }

    /// # Errors
    /// Consul's sentence about what is wrong with the configuration. What comes before it has been taken.
    pub(crate) fn run(&self) -> Result<(), String> {
        (self.0)()
    }
}

impl std::fmt::Debug for Reload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Reload")
    }
}

/// How many unknown paths are named in the log.
const UNKNOWN_PATHS_NAMED: usize = 100;

impl Context {
    /// What the requests of a server with this configuration share. Configured headers with an invalid name or value are left out.
    pub(crate) fn new(
        engine: Arc<Engine>,
        config: Config,
        control: Option<Control>,
        reload: Reload,
    ) -> Self {
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        };
        let policy = HeaderValue::from_str(&config.acl_default_policy);
        let mut response_headers: Vec<_> =
            config.response_headers.iter().filter_map(header).collect();
        response_headers.sort_by(|(left, _), (right, _)| left.as_str().cmp(right.as_str()));
        Self {
            engine,
            control_plane: ControlPlane::new(control.as_ref(), &config),
            control,
            response_headers,
            acl_policy: policy.unwrap_or(HeaderValue::from_static("allow")),
            config: Arc::new(config),
            connections: Arc::default(),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload,
            left: Notify::new(),
        }
    }

    /// The same over another state, out of the reach of tests.
    pub(super) fn of_another_server(&self, engine: Engine) -> Self {
        Self {
            engine: Arc::new(engine),
            control: None,
            control_plane: None,
            config: Arc::clone(&self.config),
            response_headers: self.response_headers.clone(),
            acl_policy: self.acl_policy.clone(),
            connections: Arc::clone(&self.connections),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload: self.reload.clone(),
            left: Notify::new(),
        }
    }

    /// The same for sockets that serve Consul's API alone, since the control plane has a port of its own.
    pub(crate) fn without_control_plane(mut self) -> Self {
        self.control_plane = None;
        self
    }

    /// Says in the log, once for each path and for not too many, that an unknown path was asked for.
    pub(super) fn note_unknown(&self, path: &[u8]) {
        let path = String::from_utf8_lossy(path).into_owned();
        let mut unknown = self.unknown.lock();
        if unknown.len() < UNKNOWN_PATHS_NAMED && unknown.insert(path.clone()) {
            tracing::warn!(target: "agent.http", %path, "Request for a path that is not emulated");
        }
    }

    /// Says in the log, once for each endpoint, that it is not emulated.
    pub(super) fn note_absent(&self, endpoint: &'static str) {
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
        self.engine.snapshot().agent().node_id()
    }

    /// Whether the emulated version behaves in this way.
    pub(super) fn has(&self, behaviour: Behaviour) -> bool {
        self.config.version.has(behaviour)
    }

    /// How semicolons in queries are read.
    pub(super) fn semicolons(&self) -> Semicolons {
        if self.has(Behaviour::HttpSemicolonRefused) {
            Semicolons::Refused
        } else {
            Semicolons::Separate
        }
    }

    /// How paths are matched.
    pub(super) fn mux(&self) -> Mux {
        if self.has(Behaviour::HttpMuxEscaped) {
            Mux::Escaped
        } else {
            Mux::Decoded
        }
    }
}
