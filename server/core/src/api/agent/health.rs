//! `/v1/agent/health/service/`: the health of the agent's services as status codes (session.md 4.4).

use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::agent::failure;
use crate::api::agent::wire::{AgentService, HealthCheck, ServiceHealth, look};
use crate::failure::Failure;
use crate::reply::{Reply, ReplyContent};
use crate::request::Request;
use proconsul_acl::{Question, Resource};
use proconsul_store::{Agent, NewService};

const REASON: HeaderName = HeaderName::from_static("x-consul-reason");

/// The health of a service, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Health {
    Passing,
    Warning,
    Critical,
    Maintenance,
}

impl Health {
    fn text(self) -> &'static str {
        match self {
            Health::Passing => "passing",
            Health::Warning => "warning",
            Health::Critical => "critical",
            Health::Maintenance => "maintenance",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Health::Passing => StatusCode::OK,
            Health::Warning => StatusCode::TOO_MANY_REQUESTS,
            Health::Critical | Health::Maintenance => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the worst status of the checks of a service and its node.
    fn of(agent: &Agent, service: &NewService) -> Self {
        let maintenance = format!("_service_maintenance:{}", service.id);
        let of_check = |id: &str, status: &str| {
            if id == "_node_maintenance" || id == maintenance {
                return Health::Maintenance;
            }
            match status {
                "passing" => Health::Passing,
                "warning" => Health::Warning,
                _ => Health::Critical,
            }
        };
        agent
            .checks_on(&service.id)
            .map(|local| of_check(&local.check.check_id, &local.check.status))
            .max()
            .unwrap_or(Health::Passing)
    }
}

/// The health of the service with an id.
pub(crate) fn by_id(request: &Request) -> Result<Reply, Failure> {
    let id = request.rest_text();
    if id.is_empty() {
        return Err(failure::unnamed_service("serviceID", request.version()));
    }
    request.check_tenancy()?;
    let rights = request.rights()?;
    let store = request.context.engine.snapshot();
    let Some(local) = store.agent(request.context.agent).service(&id) else {
        let reason = format!("ServiceId {id} not found");
        let reply = if wants_text(request) {
            // Consul prints this text as JSON.
            Reply::json(request, &reason)
        } else {
            let nothing = ServiceHealth {
                aggregated_status: Health::Critical.text(),
                service: None,
                checks: None,
            };
            Reply::json(request, &nothing)
        };
        return Ok(with_status(reply, StatusCode::NOT_FOUND, &reason));
    };
    rights.check(Question::read(Resource::Service, &local.service.name))?;
    let health = Health::of(store.agent(request.context.agent), &local.service);
    let entry = entry(request, store.agent(request.context.agent), &local.service);
    Ok(reply(request, &entry, health))
}

/// The health of the services with a name.
pub(crate) fn by_name(request: &Request) -> Result<Reply, Failure> {
    let name = request.rest_text();
    if name.is_empty() {
        return Err(failure::unnamed_service("service Name", request.version()));
    }
    request.check_tenancy()?;
    request
        .rights()?
        .check(Question::read(Resource::Service, &name))?;
    let store = request.context.engine.snapshot();
    let services = store.agent(request.context.agent).services();
    let services: Vec<&NewService> = services
        .map(|local| &local.service)
        .filter(|service| service.name == name)
        .collect();
    let entries: Vec<_> = services
        .iter()
        .map(|service| entry(request, store.agent(request.context.agent), service))
        .collect();
    let health = services
        .iter()
        .map(|service| Health::of(store.agent(request.context.agent), service))
        .max();
    let Some(health) = health else {
        let reason = format!("ServiceName {name} Not Found");
        let reply = if wants_text(request) {
            text(reason.clone())
        } else {
            Reply::json(request, &entries)
        };
        return Ok(with_status(reply, StatusCode::NOT_FOUND, &reason));
    };
    Ok(reply(request, &entries, health))
}

fn wants_text(request: &Request) -> bool {
    request.query.get("format") == b"text"
}

fn entry<'a>(request: &'a Request, agent: &'a Agent, service: &'a NewService) -> ServiceHealth<'a> {
    let look = look(request);
    let checks = agent.checks_on(&service.id);
    ServiceHealth {
        aggregated_status: Health::of(agent, service).text(),
        service: Some(AgentService::new(service, look)),
        checks: Some(checks.map(|local| HealthCheck::new(local, look)).collect()),
    }
}

fn reply(request: &Request, value: &impl Serialize, health: Health) -> Reply {
    let reply = if wants_text(request) {
        text(health.text().to_owned())
    } else {
        Reply::json(request, value)
    };
    with_status(reply, health.status(), health.text())
}

fn text(text: String) -> Reply {
    Reply {
        content_type: Some(HeaderValue::from_static("text/plain")),
        content: ReplyContent::Whole(text.into()),
        ..Reply::empty(StatusCode::OK)
    }
}

fn with_status(mut reply: Reply, status: StatusCode, reason: &str) -> Reply {
    reply.status = status;
    // The header is left out for a name that a header cannot contain.
    reply
        .headers
        .extend(HeaderValue::from_str(reason).map(|reason| (REASON, reason)));
    reply
}
