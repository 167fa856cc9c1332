//! `/v1/agent/services`, `service/<id>` and `checks`: the agent's services and checks (session.md 4.4).

use http::{HeaderName, HeaderValue};

use crate::api::agent::wire::{AgentService, as_row, look};
use crate::api::agent::{content_hash, failure};
use crate::body::wire::Check;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::request::selection::{filter, filtered_late};
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking::{self, Wait};
use proconsul_gocompat::json::encode::{self, ControlEscapes, Style};
use proconsul_gocompat::json::maps;
use proconsul_store::{AgentServiceInfo, Answer, Index, NewService, Read};

const CONTENT_HASH: HeaderName = HeaderName::from_static("x-consul-contenthash");

/// Lists all services by id.
pub(crate) fn services(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let mut rights = request.rights()?;
    let filter = filter(request, AgentService::FILTER)?;
    let store = request.context.engine.snapshot();
    let services = store.agent(request.context.agent).services();
    let services = services
        .filter(|local| rights.sees(Question::read(Resource::Service, &local.service.name)))
        .filter(|local| filter.keeps(&local.service))
        .map(|local| (&local.service.id, wire(request, &local.service)));
    let services = maps::collect(services);
    Ok(rights.told_in(Reply::json(request, &services)))
}

/// Lists all checks by id.
pub(crate) fn checks(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let mut rights = request.rights()?;
    let store = request.context.engine.snapshot();
    let config = &request.context.config;
    let rows = store
        .agent(request.context.agent)
        .checks()
        .filter(|local| {
            let service = store
                .agent(request.context.agent)
                .service(&local.check.service_id);
            rights.sees(match service {
                Some(local) => Question::read(Resource::Service, &local.service.name),
                None => Question::read(Resource::Node, &config.node_name),
            })
        })
        .map(|local| as_row(local, &config.node_name))
        .collect();
    let rows = filtered_late(request, Check::FILTER, rows)?;
    let checks = rows
        .iter()
        .map(|row| (&row.check.check_id, Check::new(row, config.version)));
    let checks = maps::collect(checks);
    Ok(rights.told_in(Reply::json(request, &checks)))
}

/// Shows a service with a hash of its content. A client that sends the hash waits until the content changes.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let read = AgentServiceInfo {
        agent: request.context.agent,
        id: request.rest_text(),
    };
    let (known, wait) = hash_wait(request)?;
    let rights = request.rights()?;
    let asked =
        |service: &NewService| rights.check(Question::read(Resource::Service, &service.name));
    let mut hash = None;
    let is_over = |answer: &Answer<<AgentServiceInfo as Read>::Rows>| {
        let local = answer.rows.as_ref();
        hash = local.map(|local| content_hash(request, &local.service));
        hash != known || local.is_some_and(|local| asked(&local.service).is_err())
    };
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer_when(engine, &read, wait, is_over).await;
    let Some(local) = answer.rows else {
        return Err(failure::unknown_service(&read.id));
    };
    asked(&local.service)?;
    let hash = hash.unwrap_or_else(|| content_hash(request, &local.service));
    Ok(shown(request, &local.service, &hash))
}

/// Returns the hash that the client knows, and the wait for another one. `index` has no effect, but must be valid.
fn hash_wait(request: &Request) -> Result<(Option<String>, Option<Wait>), Failure> {
    request.wait_options()?;
    let limit = request.wait()?;
    let hash = request.query.get("hash");
    let hash = (!hash.is_empty()).then(|| String::from_utf8_lossy(hash).into_owned());
    let wait = hash.is_some().then_some(Wait {
        min_index: Index::ZERO,
        limit,
        is_exact: false,
        is_streamed: false,
    });
    Ok((hash, wait))
}

fn wire<'a>(request: &'a Request, service: &'a NewService) -> AgentService<'a> {
    AgentService::new(service, look(request))
}

fn shown(request: &Request, service: &NewService, hash: &str) -> Reply {
    let mut look = look(request);
    look.agent.content_hash = Some(hash);
    let mut reply = Reply::json(request, &AgentService::new(service, look));
    let value = HeaderValue::from_str(hash).expect("hexadecimal digits are a header value");
    reply.headers.push((CONTENT_HASH, value));
    reply
}

/// Hashes the content of a service into 64 bits.
fn content_hash(request: &Request, service: &NewService) -> String {
    let style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Long,
    };
    let text = || encode::to_vec(&wire(request, service), style);
    let hash = content_hash::of_plain(service, request.version());
    let hash = hash.unwrap_or_else(|| content_hash::of_text(&text()));
    format!("{hash:x}")
}
