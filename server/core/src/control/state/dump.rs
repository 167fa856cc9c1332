//! The whole state of a server as JSON, and back: what a client can see of it, and what will happen by itself.
//!
//! The same state gives the same bytes. All times are durations in Go's form that are counted from the moment of the
//! dump: a lock-delay with `3s` left has them left on the server that the state is loaded into.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::control::Controls;
use proconsul_config::Config;
#[cfg(feature = "snapshots")]
use proconsul_engine::Engine;
use proconsul_store::form::{Event, KeyForm, LockDelay, Reap, SessionForm, Tombstone};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{
    AclImage, AgentImage, AutopilotRow, CheckRow, ConfigImage, CoordinateImage, Flaw, Image, Index,
    NodeRow, PreparedQueryRow, ServiceRow, TableIndexes,
};
use proconsul_version::Version;

/// The version of the format. It changes whenever an older state can no longer be loaded.
const FORMAT: u64 = 1;

/// How the description of the control plane shows a row: as an object, whose fields it leaves to the format.
#[cfg(feature = "control-http")]
type Row = serde_json::Map<String, serde_json::Value>;

/// A whole state, as `GET /state` gives it and `PUT /state` takes it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "control-http",
    derive(schemars::JsonSchema),
    schemars(rename = "State")
)]
pub(in crate::control) struct StateDump {
    /// Which form of state this is. Other forms than the server's own are refused.
    format: u64,
    /// The emulated release, which must be the server's own: others keep other indexes.
    version: String,
    /// The name of the agent's node, which must be the server's own.
    node: String,
    /// The name of the datacenter, which must be the server's own.
    datacenter: String,
    /// The index of the last change.
    #[cfg_attr(feature = "control-http", schemars(with = "u64"))]
    index: Index,
    /// The index of the last change of each table, and of each node and service.
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    table_indexes: TableIndexes,
    /// The keys with their values, in byte order.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    keys: Vec<KeyForm>,
    /// Which keys nobody can acquire, and for how long.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    lock_delays: Vec<LockDelay>,
    /// The keys and prefixes that were deleted, as far as they are remembered.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    tombstones: Vec<Tombstone>,
    /// When tombstones are forgotten, and which.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    reaps: Vec<Reap>,
    /// The moment after which reaps come at multiples of half a minute: a duration in Go's form from the moment of the
    /// dump, negative for what was before it.
    #[cfg_attr(feature = "control-http", schemars(with = "String"))]
    reaps_counted_from: Timestamp,
    /// The sessions, and what is left of their TTLs.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    sessions: Vec<SessionForm>,
    /// The nodes of the catalog.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    nodes: Vec<Arc<NodeRow>>,
    /// The services of the catalog.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    services: Vec<Arc<ServiceRow>>,
    /// The checks of the catalog.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    checks: Vec<Arc<CheckRow>>,
    /// The prepared queries.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    prepared_queries: Vec<Arc<PreparedQueryRow>>,
    /// The events that the agent remembers.
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    events: Vec<Event>,
    /// How many events have been fired.
    events_fired: u64,
    /// The agent's own services and checks, and when it does what.
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    agent: AgentImage,
    /// Those of the other agents, in the order of their numbers, of which the server must have as many. Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "control-http", schemars(with = "Vec<Row>"))]
    other_agents: Vec<AgentImage>,
    /// The policies, roles, tokens, auth methods and binding rules. Left out where ACLs are off.
    #[serde(default, skip_serializing_if = "AclImage::is_empty")]
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    acl: AclImage,
    /// The coordinates of nodes. Left out where there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    coordinates: CoordinateImage,
    /// The settings of autopilot. Left out until they are changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    autopilot: Option<AutopilotRow>,
    /// The configuration entries. Left out where there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "control-http", schemars(with = "Row"))]
    config: ConfigImage,
}

/// The part that is read first: nothing else is known about another format.
#[derive(Deserialize)]
struct Head {
    format: u64,
}

/// Why a state was not loaded. The server is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The text is not a state; says what is wrong with it.
    Malformed(String),
    /// Unknown format: not the one that this release of proconsul writes.
    Format(u64),
    /// The state is of a server that is set up differently.
    OtherServer {
        /// What differs: `version`, `node`, `datacenter`, or how many `agents`.
        what: &'static str,
        /// The value in the state.
        of_state: String,
        /// The value of this server.
        of_server: String,
    },
    /// The state contradicts itself; says where.
    Impossible(Flaw),
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(formatter, "not a state: {reason}"),
            Self::Format(format) => write!(
                formatter,
                "the state has format {format}, expected {FORMAT}"
            ),
            Self::OtherServer {
                what,
                of_state,
                of_server,
            } => write!(
                formatter,
                "the state is of a server with {what} {of_state}, expected {of_server} as this one has"
            ),
            Self::Impossible(flaw) => write!(formatter, "no server can be in this state: {flaw}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// # State as JSON
impl Controls {
    /// The whole state as JSON: keys, sessions, catalog, prepared queries, events, all indexes, and what is left of
    /// every TTL and lock-delay. History, checkpoints, faults and the random generator are left out. The same state
    /// gives the same bytes.
    ///
    /// ```
    /// let server = proconsul::Server::start();
    /// server.kv().put("greeting", "hello");
    /// let state = server.dump();
    /// let other = proconsul::Server::start();
    /// other.load(&state)?;
    /// assert_eq!(other.kv().get("greeting"), server.kv().get("greeting"));
    /// # Ok::<(), proconsul::control::LoadError>(())
    /// ```
    #[must_use]
    pub fn dump(&self) -> String {
        let state = StateDump::of(self.engine.image(), &self.origin());
        let mut text = serde_json::to_string_pretty(&state).expect("a state is made of texts");
        text.push('\n');
        text
    }

    /// Goes over to a state that [`Controls::dump`] gave, of this server or of another one with the same version, node
    /// and datacenter: every read is answered as it was there, and what was to happen will happen, as long after this
    /// as it would have after the dump. Blocked requests are answered with the new state.
    ///
    /// A server with ACLs is never locked: the configured management token stays, and a state without ACLs leaves all
    /// tokens, policies and roles as they are.
    ///
    /// # Errors
    /// The text is invalid, or is the state of a different server. Nothing has been loaded.
    pub fn load(&self, state: &str) -> Result<(), LoadError> {
        let image = self.origin().read(state.as_bytes())?;
        let loaded = self.engine.load(image, &self.management);
        loaded.map_err(LoadError::Impossible)
    }

    fn origin(&self) -> Origin<'_> {
        Origin {
            version: self.version,
            node: &self.node_name,
            datacenter: &self.datacenter,
            agents: self.names.len(),
        }
    }
}

/// Reads a state that [`Controls::dump`] gave, for a new server with this configuration.
///
/// # Errors
/// The text is invalid, or is the state of a different server.
pub fn read_dump(config: &Config, state: &[u8]) -> Result<Image, LoadError> {
    let image = Origin::of(config).read(state)?;
    image.check().map_err(LoadError::Impossible)?;
    Ok(image)
}

/// Reads the state in an archive of `/v1/snapshot`, for a new server with this configuration.
///
/// # Errors
/// A text: it is no archive, or holds no state or that of another release.
#[cfg(feature = "snapshots")]
pub fn read_archive(config: &Config, bytes: &[u8]) -> Result<Image, String> {
    let archive = proconsul_archive::unpack(bytes, proconsul_archive::MOST_BYTES)?;
    archive.check()?;
    let image = Origin::of(config).read_snapshot(&archive.state);
    let image = image.map_err(|error| error.to_string())?;
    let checked = image.check().map_err(LoadError::Impossible);
    checked.map_err(|error| error.to_string())?;
    Ok(image)
}

/// A server's state for a snapshot, and the index of its last change.
#[cfg(feature = "snapshots")]
pub(crate) fn save(engine: &Engine, config: &Config) -> (Index, Vec<u8>) {
    let image = engine.image();
    let index = image.applied;
    let text = serde_json::to_vec(&StateDump::of(image, &Origin::of(config)));
    (index, text.expect("a state is made of texts"))
}

/// Restores the state of a snapshot. It may be that of another node and datacenter, whose agent stays behind.
///
/// # Errors
/// The text is no state, or that of another release. Nothing has been restored.
#[cfg(feature = "snapshots")]
pub(crate) fn restore(engine: &Engine, config: &Config, state: &[u8]) -> Result<(), LoadError> {
    let image = Origin::of(config).read_snapshot(state)?;
    let management = &config.acl.tokens.initial_management;
    let restored = engine.restore(image, management);
    restored.map_err(LoadError::Impossible)
}

/// Refuses a state of a server that is set up differently.
fn same(what: &'static str, of_state: &str, of_server: &str) -> Result<(), LoadError> {
    if of_state == of_server {
        return Ok(());
    }
    Err(LoadError::OtherServer {
        what,
        of_state: of_state.to_owned(),
        of_server: of_server.to_owned(),
    })
}

/// Whether a value is the one that is left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn all<R, T: From<R>>(rows: Vec<R>) -> Vec<T> {
    rows.into_iter().map(T::from).collect()
}

/// Whose state a dump is.
struct Origin<'a> {
    version: Version,
    node: &'a str,
    datacenter: &'a str,
    agents: usize,
}

impl<'a> Origin<'a> {
    fn of(config: &'a Config) -> Self {
        Self {
            version: config.version,
            node: &config.node_name,
            datacenter: &config.datacenter,
            agents: config.agents.total(),
        }
    }

    /// Reads a dump of such a server.
    fn read(&self, text: &[u8]) -> Result<Image, LoadError> {
        let state = StateDump::parse(text)?;
        same("version", &state.version, &self.version.to_string())?;
        same("node", &state.node, self.node)?;
        same("datacenter", &state.datacenter, self.datacenter)?;
        if !state.other_agents.is_empty() {
            let agents = state.other_agents.len() + 1;
            same("agents", &agents.to_string(), &self.agents.to_string())?;
        }
        Ok(state.into_image())
    }

    /// Reads the state of a snapshot, which may be that of another node and datacenter.
    #[cfg(feature = "snapshots")]
    fn read_snapshot(&self, text: &[u8]) -> Result<Image, LoadError> {
        let state = StateDump::parse(text)?;
        same("version", &state.version, &self.version.to_string())?;
        Ok(state.into_image())
    }
}

impl StateDump {
    fn of(image: Image, of: &Origin<'_>) -> Self {
        Self {
            format: FORMAT,
            version: of.version.to_string(),
            node: of.node.to_owned(),
            datacenter: of.datacenter.to_owned(),
            index: image.applied,
            table_indexes: image.indexes,
            keys: all(image.keys),
            lock_delays: all(image.lock_delays),
            tombstones: all(image.tombstones),
            reaps: all(image.reaps),
            reaps_counted_from: image.reaps_counted_from,
            sessions: all(image.sessions),
            nodes: image.nodes,
            services: image.services,
            checks: image.checks,
            prepared_queries: image.prepared_queries,
            events: all(image.events),
            events_fired: image.events_fired,
            agent: image.agent,
            other_agents: image.other_agents,
            acl: image.acl,
            coordinates: image.coordinates,
            autopilot: image.autopilot,
            config: image.config,
        }
    }

    fn parse(text: &[u8]) -> Result<Self, LoadError> {
        let malformed = |error: serde_json::Error| LoadError::Malformed(error.to_string());
        let Head { format } = serde_json::from_slice(text).map_err(malformed)?;
        if format != FORMAT {
            return Err(LoadError::Format(format));
        }
        serde_json::from_slice(text).map_err(malformed)
    }

    fn into_image(self) -> Image {
        Image {
            applied: self.index,
            indexes: self.table_indexes,
            keys: all(self.keys),
            tombstones: all(self.tombstones),
            reaps: all(self.reaps),
            reaps_counted_from: self.reaps_counted_from,
            lock_delays: all(self.lock_delays),
            sessions: all(self.sessions),
            nodes: self.nodes,
            services: self.services,
            checks: self.checks,
            prepared_queries: self.prepared_queries,
            events: all(self.events),
            events_fired: self.events_fired,
            agent: self.agent,
            other_agents: self.other_agents,
            acl: self.acl,
            coordinates: self.coordinates,
            autopilot: self.autopilot,
            config: self.config,
        }
    }
}
