//! `/v1/agent/services`, `service/<id>` and `checks`: what the agent knows of its own (session.md 4.4).

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use crate::blocking::JITTER_DIVISOR;
use crate::engine::Wakened;
use crate::go::json::encode::{self, ControlEscapes, Style};
use crate::http::api::agent::failure;
use crate::http::api::agent::wire::{AgentLook, AgentService, as_row};
use crate::http::body::wire::Check;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::request::selection::filter;
use crate::store::{Index, NewService, Query, Rows};

const CONTENT_HASH: HeaderName = HeaderName::from_static("x-consul-contenthash");

/// All services, by their ids.
pub(crate) fn services(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let filter = filter(request, AgentService::FILTER)?;
    let store = request.context.engine.snapshot();
    let services = store.agent().services();
    let services: BTreeMap<&str, AgentService<'_>> = services
        .filter(|local| filter.keeps(&local.service))
        .map(|local| (local.service.id.as_str(), wire(request, &local.service)))
        .collect();
    Ok(Reply::json(request, &services))
}

/// All checks, by their ids.
pub(crate) fn checks(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let filter = filter(request, Check::FILTER)?;
    let store = request.context.engine.snapshot();
    let config = &request.context.config;
    let rows: Vec<_> = store
        .agent()
        .checks()
        .map(|local| as_row(local, &config.node_name))
        .collect();
    let checks: BTreeMap<&str, Check<'_>> = rows
        .iter()
        .filter(|row| filter.keeps(row))
        .map(|row| (row.check.check_id.as_str(), Check::new(row, config.version)))
        .collect();
    Ok(Reply::json(request, &checks))
}

/// One service, with a hash of what is shown; a client that knows the hash waits for another one.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let id = request.rest_text();
    let (wait, known) = hash_wait(request)?;
    let engine = &request.context.engine;
    let query = Query::AgentService(id.clone());
    let limit = wait + engine.jitter(wait / JITTER_DIVISOR);
    let deadline = engine.clock().now().plus(limit);
    let since = engine.era();
    let mut waiter = engine.waiter(request.call, &query, Index::ZERO, deadline, since);
    let mut last = known.is_none();
    loop {
        let answer = engine.query(&query);
        let answer = answer.expect("only reads of sessions are refused");
        let Rows::AgentService(Some(local)) = answer.rows else {
            return Err(failure::unknown_service(&id));
        };
        let hash = content_hash(request, &local.service);
        if last || known.as_deref() != Some(hash.as_str()) {
            return Ok(shown(request, &local.service, &hash));
        }
        // Registered, and looked at again since: nothing can fall between the look and the wait.
        if waiter.waits_for(&answer.reads) {
            last = match waiter.wait().await {
                Wakened::LookAgain => false,
                Wakened::AnswerNow | Wakened::TimedOut => true,
            };
        }
    }
}

/// How long a client is ready to wait, and the hash that it knows. An index must be one, though it means nothing here.
fn hash_wait(request: &Request) -> Result<(Duration, Option<String>), Failure> {
    request.wait_options()?;
    let hash = request.query.get("hash");
    let hash = (!hash.is_empty()).then(|| String::from_utf8_lossy(hash).into_owned());
    Ok((request.wait()?, hash))
}

fn wire<'a>(request: &'a Request, service: &'a NewService) -> AgentService<'a> {
    AgentService::new(service, AgentLook::new(request))
}

fn shown(request: &Request, service: &NewService, hash: &str) -> Reply {
    let mut look = AgentLook::new(request);
    look.content_hash = Some(hash);
    let mut reply = Reply::json(request, &AgentService::new(service, look));
    let value = HeaderValue::from_str(hash).expect("hexadecimal digits are a header value");
    reply.headers.push((CONTENT_HASH, value));
    reply
}

/// 64 bits that follow from what is shown, as Consul prints them; its own function is another one.
fn content_hash(request: &Request, service: &NewService) -> String {
    let style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Long,
    };
    let text = encode::to_vec(&wire(request, service), style);
    // FNV-1a.
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:x}")
}
