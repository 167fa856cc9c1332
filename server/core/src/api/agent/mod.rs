//! `/v1/agent/`: the agent itself (session.md 4.1, 4.5; 1.22.md B4.4).

mod agent_self;
mod body;
pub(crate) mod change;
pub(crate) mod cluster;
pub(crate) mod content_hash;
pub(crate) mod debug;
pub(crate) mod failure;
pub(crate) mod health;
pub(crate) mod join;
pub(crate) mod local;
mod rights;
pub(crate) mod wire;

use crate::route::routes;
use proconsul_version::Behaviour;

routes! {
    "/v1/agent/self" [GET] asks agent on agent => at_once(agent_self::this_agent);
    "/v1/agent/members" [GET] => at_once(agent_self::members);
    "/v1/agent/reload" [PUT] asks agent on agent => at_once(change::reload);
    "/v1/agent/maintenance" [PUT] asks node on agent => at_once(change::node_maintenance);
    "/v1/agent/monitor" [GET] asks agent on agent => at_once(debug::monitor::monitor);
    "/v1/agent/host" [GET] asks operator => at_once(cluster::host);
    "/v1/agent/version" [GET] => at_once(|request| Ok(cluster::version(request))), since Behaviour::AgentVersion;
    "/v1/agent/join/" [PUT] asks agent on agent => at_once(join::join);
    "/v1/agent/leave" [PUT] asks agent on agent => at_once(cluster::leave);
    "/v1/agent/force-leave/" [PUT] asks operator => at_once(cluster::force_leave);
    "/v1/agent/token/" [PUT] asks agent on agent => waits(cluster::token);
    "/v1/agent/checks" [GET] => at_once(local::checks);
    "/v1/agent/check/register" [PUT] => waits(change::register_check);
    "/v1/agent/check/deregister/" [PUT] => at_once(change::deregister_check);
    "/v1/agent/check/pass/" [PUT] => at_once(|request| change::report(request, "passing"));
    "/v1/agent/check/warn/" [PUT] => at_once(|request| change::report(request, "warning"));
    "/v1/agent/check/fail/" [PUT] => at_once(|request| change::report(request, "critical"));
    "/v1/agent/check/update/" [PUT] => waits(change::update);
    "/v1/agent/services" [GET] => at_once(local::services);
    "/v1/agent/health/service/id/" [GET] => at_once(health::by_id);
    "/v1/agent/health/service/name/" [GET] => at_once(health::by_name);
    "/v1/agent/service/register" [PUT] => waits(change::register_service);
    "/v1/agent/service/deregister/" [PUT] => at_once(change::deregister_service);
    "/v1/agent/service/maintenance/" [PUT] => at_once(change::service_maintenance);
    "/v1/agent/service/" [GET] => waits(&local::service);
}
