//! The route table, in the order of Consul's API documentation, and Go's rules of matching.

pub(crate) mod acl;
pub(crate) mod dispatch;

use http::Method;

use crate::http::route::acl::ACL;
use crate::version::{Behaviour, Version};

/// What a route answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/v1/agent/self`
    AgentSelf,
    /// `/v1/agent/members`
    AgentMembers,
    /// `/v1/agent/reload`
    AgentReload,
    /// `/v1/agent/maintenance`
    AgentNodeMaintenance,
    /// `/v1/agent/metrics`
    AgentMetrics,
    /// `/v1/agent/host`
    AgentHost,
    /// `/v1/agent/version`
    AgentVersion,
    /// `/v1/agent/join/<address>`
    AgentJoin,
    /// `/v1/agent/leave`
    AgentLeave,
    /// `/v1/agent/force-leave/<node>`
    AgentForceLeave,
    /// `/v1/agent/token/<name>`
    AgentToken,
    /// `/v1/agent/checks`
    AgentChecks,
    /// `/v1/agent/check/register`
    AgentCheckRegister,
    /// `/v1/agent/check/deregister/<id>`
    AgentCheckDeregister,
    /// `/v1/agent/check/pass/<id>`
    AgentCheckPass,
    /// `/v1/agent/check/warn/<id>`
    AgentCheckWarn,
    /// `/v1/agent/check/fail/<id>`
    AgentCheckFail,
    /// `/v1/agent/check/update/<id>`
    AgentCheckUpdate,
    /// `/v1/agent/services`
    AgentServices,
    /// `/v1/agent/health/service/id/<id>`
    AgentHealthById,
    /// `/v1/agent/health/service/name/<service>`
    AgentHealthByName,
    /// `/v1/agent/service/register`
    AgentServiceRegister,
    /// `/v1/agent/service/deregister/<id>`
    AgentServiceDeregister,
    /// `/v1/agent/service/maintenance/<id>`
    AgentServiceMaintenance,
    /// `/v1/agent/service/<id>`
    AgentService,
    /// `/v1/catalog/register`
    CatalogRegister,
    /// `/v1/catalog/deregister`
    CatalogDeregister,
    /// `/v1/catalog/datacenters`
    CatalogDatacenters,
    /// `/v1/catalog/nodes`
    CatalogNodes,
    /// `/v1/catalog/services`
    CatalogServices,
    /// `/v1/catalog/service/<service>`
    CatalogService,
    /// `/v1/catalog/node/<node>`
    CatalogNode,
    /// `/v1/catalog/node-services/<node>`
    CatalogNodeServices,
    /// `/v1/catalog/connect/<service>`
    CatalogConnect,
    /// `/v1/catalog/gateway-services/<gateway>`
    CatalogGatewayServices,
    /// `/v1/health/node/<node>`
    HealthNode,
    /// `/v1/health/checks/<service>`
    HealthChecks,
    /// `/v1/health/service/<service>`
    HealthService,
    /// `/v1/health/connect/<service>`
    HealthConnect,
    /// `/v1/health/ingress/<service>`
    HealthIngress,
    /// `/v1/health/state/<state>`
    HealthState,
    /// `/v1/kv/<key>`
    Kv,
    /// `/v1/event/fire/<name>`
    EventFire,
    /// `/v1/event/list`
    EventList,
    /// `/v1/query`
    PreparedQueries,
    /// `/v1/query/<id>`, `/v1/query/<id>/execute`, `/v1/query/<id>/explain`
    PreparedQuery,
    /// `/v1/coordinate/nodes`
    CoordinateNodes,
    /// `/v1/coordinate/datacenters`
    CoordinateDatacenters,
    /// `/v1/coordinate/node/`
    CoordinateNode,
    /// `/v1/connect/ca/roots`
    ConnectCaRoots,
    /// `/v1/connect/ca/configuration`
    ConnectCaConfiguration,
    /// `/v1/connect/intentions`
    ConnectIntentions,
    /// `/v1/config`
    Config,
    /// `/v1/config/`
    ConfigEntries,
    /// `/v1/operator/raft/configuration`
    OperatorRaftConfiguration,
    /// Everything below `/v1/acl/`.
    Acl,
    /// What is not emulated, and says so.
    NotEmulated,
    /// `/v1/session/create`
    SessionCreate,
    /// `/v1/session/destroy/<id>`
    SessionDestroy,
    /// `/v1/session/info/<id>`
    SessionInfo,
    /// `/v1/session/node/<node>`
    SessionNode,
    /// `/v1/session/list`
    SessionList,
    /// `/v1/session/renew/<id>`
    SessionRenew,
    /// `/v1/status/leader`
    StatusLeader,
    /// `/v1/status/peers`
    StatusPeers,
    /// `/v1/txn`
    Txn,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The path; one that ends in a slash stands for all paths below it, as in Go's mux.
    pub(crate) path: &'static str,
    /// The methods, in the order of the `Allow` header; none where the endpoint looks at them itself.
    pub(crate) methods: &'static [Method],
    /// What answers.
    pub(crate) endpoint: Endpoint,
    span: Span,
}

/// Which releases have a route.
#[derive(Clone, Copy, Debug)]
enum Span {
    Always,
    Since(Behaviour),
    Until(Behaviour),
}

const GET: &[Method] = &[Method::GET];
/// The endpoint looks at the method itself.
const ANY: &[Method] = &[];
const PUT: &[Method] = &[Method::PUT];

/// Every path that is answered. All others are answered as an unknown path is.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/agent/self", GET, Endpoint::AgentSelf),
    route("/v1/agent/members", GET, Endpoint::AgentMembers),
    route("/v1/agent/reload", PUT, Endpoint::AgentReload),
    route("/v1/agent/maintenance", PUT, Endpoint::AgentNodeMaintenance),
    route("/v1/agent/metrics", GET, Endpoint::AgentMetrics),
    route("/v1/agent/host", GET, Endpoint::AgentHost),
    route("/v1/agent/version", GET, Endpoint::AgentVersion).since(Behaviour::AgentVersion),
    route("/v1/agent/join/", PUT, Endpoint::AgentJoin),
    route("/v1/agent/leave", PUT, Endpoint::AgentLeave),
    route("/v1/agent/force-leave/", PUT, Endpoint::AgentForceLeave),
    route("/v1/agent/token/", PUT, Endpoint::AgentToken),
    route("/v1/agent/checks", GET, Endpoint::AgentChecks),
    route(
        "/v1/agent/check/register",
        PUT,
        Endpoint::AgentCheckRegister,
    ),
    route(
        "/v1/agent/check/deregister/",
        PUT,
        Endpoint::AgentCheckDeregister,
    ),
    route("/v1/agent/check/pass/", PUT, Endpoint::AgentCheckPass),
    route("/v1/agent/check/warn/", PUT, Endpoint::AgentCheckWarn),
    route("/v1/agent/check/fail/", PUT, Endpoint::AgentCheckFail),
    route("/v1/agent/check/update/", PUT, Endpoint::AgentCheckUpdate),
    route("/v1/agent/services", GET, Endpoint::AgentServices),
    route(
        "/v1/agent/health/service/id/",
        GET,
        Endpoint::AgentHealthById,
    ),
    route(
        "/v1/agent/health/service/name/",
        GET,
        Endpoint::AgentHealthByName,
    ),
    route(
        "/v1/agent/service/register",
        PUT,
        Endpoint::AgentServiceRegister,
    ),
    route(
        "/v1/agent/service/deregister/",
        PUT,
        Endpoint::AgentServiceDeregister,
    ),
    route(
        "/v1/agent/service/maintenance/",
        PUT,
        Endpoint::AgentServiceMaintenance,
    ),
    route("/v1/agent/service/", GET, Endpoint::AgentService),
    route("/v1/catalog/register", PUT, Endpoint::CatalogRegister),
    route("/v1/catalog/deregister", PUT, Endpoint::CatalogDeregister),
    route("/v1/catalog/datacenters", GET, Endpoint::CatalogDatacenters),
    route("/v1/catalog/nodes", GET, Endpoint::CatalogNodes),
    route("/v1/catalog/services", GET, Endpoint::CatalogServices),
    route("/v1/catalog/service/", GET, Endpoint::CatalogService),
    route("/v1/catalog/node/", GET, Endpoint::CatalogNode),
    route(
        "/v1/catalog/node-services/",
        GET,
        Endpoint::CatalogNodeServices,
    ),
    route("/v1/catalog/connect/", GET, Endpoint::CatalogConnect),
    route(
        "/v1/catalog/gateway-services/",
        GET,
        Endpoint::CatalogGatewayServices,
    ),
    route("/v1/health/node/", GET, Endpoint::HealthNode),
    route("/v1/health/checks/", GET, Endpoint::HealthChecks),
    route("/v1/health/service/", GET, Endpoint::HealthService),
    route("/v1/health/connect/", GET, Endpoint::HealthConnect),
    route("/v1/health/ingress/", GET, Endpoint::HealthIngress),
    route("/v1/health/state/", GET, Endpoint::HealthState),
    route(
        "/v1/kv/",
        &[Method::GET, Method::PUT, Method::DELETE],
        Endpoint::Kv,
    ),
    route("/v1/event/fire/", PUT, Endpoint::EventFire),
    route("/v1/event/list", GET, Endpoint::EventList),
    route(
        "/v1/query",
        &[Method::GET, Method::POST],
        Endpoint::PreparedQueries,
    ),
    route("/v1/query/", ANY, Endpoint::PreparedQuery),
    route("/v1/coordinate/nodes", GET, Endpoint::CoordinateNodes),
    route(
        "/v1/coordinate/datacenters",
        GET,
        Endpoint::CoordinateDatacenters,
    ),
    route("/v1/coordinate/node/", GET, Endpoint::CoordinateNode),
    route("/v1/connect/ca/roots", GET, Endpoint::ConnectCaRoots),
    route("/v1/agent/connect/ca/roots", GET, Endpoint::ConnectCaRoots),
    route(
        "/v1/connect/ca/configuration",
        &[Method::GET, Method::PUT],
        Endpoint::ConnectCaConfiguration,
    ),
    route(
        "/v1/connect/intentions",
        &[Method::GET, Method::POST],
        Endpoint::ConnectIntentions,
    ),
    route("/v1/config", PUT, Endpoint::Config),
    route(
        "/v1/config/",
        &[Method::GET, Method::DELETE],
        Endpoint::ConfigEntries,
    ),
    route(
        "/v1/operator/raft/configuration",
        GET,
        Endpoint::OperatorRaftConfiguration,
    ),
    route("/v1/agent/connect/", ANY, Endpoint::NotEmulated),
    route("/v1/connect/intentions/", ANY, Endpoint::NotEmulated),
    route("/v1/coordinate/update", ANY, Endpoint::NotEmulated),
    route("/v1/discovery-chain/", ANY, Endpoint::NotEmulated),
    route("/v1/agent/monitor", ANY, Endpoint::NotEmulated),
    route("/v1/internal/", ANY, Endpoint::NotEmulated),
    route("/v1/operator/", ANY, Endpoint::NotEmulated),
    route("/v1/snapshot", ANY, Endpoint::NotEmulated),
    route("/v1/session/create", PUT, Endpoint::SessionCreate),
    route("/v1/session/destroy/", PUT, Endpoint::SessionDestroy),
    route("/v1/session/info/", GET, Endpoint::SessionInfo),
    route("/v1/session/node/", GET, Endpoint::SessionNode),
    route("/v1/session/list", GET, Endpoint::SessionList),
    route("/v1/session/renew/", PUT, Endpoint::SessionRenew),
    route("/v1/status/leader", GET, Endpoint::StatusLeader),
    route("/v1/status/peers", GET, Endpoint::StatusPeers),
    route("/v1/txn", PUT, Endpoint::Txn),
];

const fn route(path: &'static str, methods: &'static [Method], endpoint: Endpoint) -> Route {
    Route::new(path, methods, endpoint)
}

impl Route {
    pub(crate) const fn new(
        path: &'static str,
        methods: &'static [Method],
        endpoint: Endpoint,
    ) -> Self {
        Self {
            path,
            methods,
            endpoint,
            span: Span::Always,
        }
    }

    pub(crate) const fn since(mut self, behaviour: Behaviour) -> Self {
        self.span = Span::Since(behaviour);
        self
    }

    pub(crate) const fn until(mut self, behaviour: Behaviour) -> Self {
        self.span = Span::Until(behaviour);
        self
    }

    /// Whether this release has the route.
    pub(crate) fn exists_in(&self, version: Version) -> bool {
        match self.span {
            Span::Always => true,
            Span::Since(behaviour) => version.has(behaviour),
            Span::Until(behaviour) => !version.has(behaviour),
        }
    }
}

/// The routes that begin like this have a table of their own.
const ACL_ROUTES: &str = "/v1/acl/";

/// Where a cleaned path leads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// To a route; the rest of the path starts at this byte.
    Route(&'static Route, usize),
    /// To the route below it: the path is redirected to itself with a slash.
    Slash,
    /// Nowhere.
    Unknown,
}

/// Finds the route of a cleaned path, as Go's mux does: a path itself, then a subtree without its slash, then the
/// subtree that a path lies in.
pub(crate) fn find(path: &[u8]) -> Found {
    let found = |route: &'static Route| Found::Route(route, route.path.len());
    let table = if path.starts_with(ACL_ROUTES.as_bytes()) {
        ACL
    } else {
        ROUTES
    };
    if let Some(route) = table.iter().find(|route| route.path.as_bytes() == path) {
        return found(route);
    }
    let below = |route: &Route| route.path.as_bytes().strip_suffix(b"/") == Some(path);
    if table.iter().any(below) {
        return Found::Slash;
    }
    let around =
        |route: &&Route| route.path.ends_with('/') && path.starts_with(route.path.as_bytes());
    let longest = table
        .iter()
        .filter(around)
        .max_by_key(|route| route.path.len());
    longest.map_or(Found::Unknown, found)
}

/// The value of the `Allow` header: no spaces, `OPTIONS` first (kv.md 6.6).
pub(crate) fn allow(methods: &[Method]) -> String {
    let methods = methods.iter().map(Method::as_str);
    let all: Vec<&str> = std::iter::once("OPTIONS").chain(methods).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(path: &str) -> Option<Endpoint> {
        match find(path.as_bytes()) {
            Found::Route(route, _) => Some(route.endpoint),
            Found::Slash | Found::Unknown => None,
        }
    }

    #[test]
    fn subtrees_match_below_and_exact_paths_only_themselves() {
        assert_eq!(endpoint("/v1/kv/a/b"), Some(Endpoint::Kv));
        assert_eq!(endpoint("/v1/kv/"), Some(Endpoint::Kv));
        assert_eq!(endpoint("/v1/session/list"), Some(Endpoint::SessionList));
        assert_eq!(endpoint("/v1/session/list/"), None);
        assert_eq!(endpoint("/V1/kv/a"), None);
        assert_eq!(endpoint("/v2"), None);
        let of_service = |path| endpoint(&format!("/v1/agent/service/{path}"));
        assert_eq!(of_service("register"), Some(Endpoint::AgentServiceRegister));
        assert_eq!(of_service("registered"), Some(Endpoint::AgentService));
    }

    #[test]
    fn a_subtree_without_its_slash_is_redirected() {
        assert!(matches!(find(b"/v1/kv"), Found::Slash));
        assert!(matches!(find(b"/v1/session/destroy"), Found::Slash));
        assert!(matches!(find(b"/v1/session/list"), Found::Route(..)));
        assert!(matches!(find(b"/v1"), Found::Unknown));
        assert!(matches!(
            find(b"/v1/agent/service/maintenance"),
            Found::Slash
        ));
    }

    #[test]
    fn the_allow_header_starts_with_options() {
        assert_eq!(allow(GET), "OPTIONS,GET");
    }
}
