//! `/v1/health/`: checks (session.md 4.5).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::api::catalog::{
    NOTHING, has_early_rights, instances, names_peer, read, read_options, reply, sees_node,
    sees_service, unread, wanted_tags,
};
use crate::auth::permission_denied;
use crate::body::wire::{Check, HealthEntry};
use crate::failure::{Failure, failures};
use crate::reply::Reply;
use crate::reply::table::{Look, Surface};
use crate::request::selection::{node_meta, sort_nearest};
use crate::request::{ReadOptions, Request};
use crate::route::routes;
use proconsul_engine::blocking::{self, Wait};
use proconsul_filter::Filter;
use proconsul_gocompat::number;
use proconsul_store::{
    CheckRow, ChecksInState, ConnectInstances, Elsewhere, Index, IngressInstances, Instance,
    NodeChecks, Read, ServiceChecks, ServiceInstances, ServiceView, TaggedInstances, WithToken,
};
use proconsul_version::Behaviour;

routes! {
    "/v1/health/node/" [GET] => waits(&node);
    "/v1/health/checks/" [GET] => waits(&service_checks);
    "/v1/health/service/" [GET] => waits(&service);
    "/v1/health/connect/" [GET] asks service on path => waits(&connect);
    "/v1/health/ingress/" [GET] asks service on path => waits(&ingress);
    "/v1/health/state/" [GET] => waits(&state);
}

/// How long a streamed read looks for servers of its datacenter.
const RESOLVED_WITHIN: Duration = Duration::from_secs(22);

failures! {
    /// `?passing` is not a boolean.
    invalid_passing() => 400, "Invalid value for ?passing";
    /// `?sg` names a sameness group.
    no_sameness_groups() => 500, "sameness groups are not supported in consul CE";
    /// A streamed read of an unknown datacenter has found no server.
    no_addresses() => 503, "resolver error: resolver produced no addresses";
}

/// Lists the checks of a node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    checks(request, "node name", NodeChecks).await
}

/// Lists the checks with a status; `any` means all.
pub(crate) async fn state(request: &Request) -> Result<Reply, Failure> {
    let of = |state| ChecksInState(state, node_meta(request));
    checks(request, "check state", of).await
}

/// Lists the checks of a service's instances.
pub(crate) async fn service_checks(request: &Request) -> Result<Reply, Failure> {
    let of = |service| ServiceChecks(service, node_meta(request));
    checks(request, "service name", of).await
}

/// Lists the instances of a service, each with its node and the checks of both.
pub(crate) async fn service(request: &Request) -> Result<Reply, Failure> {
    let of = |view, name| TaggedInstances(ServiceInstances(view, name), wanted_tags(request));
    shown_instances(request, of).await
}

/// Lists the proxies of a service, and its instances with native Connect.
pub(crate) async fn connect(request: &Request) -> Result<Reply, Failure> {
    shown_instances(request, ConnectInstances).await
}

async fn shown_instances<R: Read<Rows = Vec<Instance>, Refused = Infallible>>(
    request: &Request,
    of: impl FnOnce(ServiceView, String) -> R,
) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let is_streamed = is_streamed(request, options);
    let view = match is_streamed {
        true => ServiceView::StreamedHealth,
        false => ServiceView::Health,
    };
    let instances_of = of(view, request.named("service name")?);
    let is_late = request.has(Behaviour::HealthStreaming);
    if is_late {
        // Later releases tell this before anything else.
        only_passing(request)?;
    }
    check_sameness_group(request)?;
    if is_streamed && request.check_datacenter().is_err() {
        return unresolved(request, options).await;
    }
    // Streams and other reads have caches of their own.
    let kind = match is_late {
        true => Some((is_streamed, only_passing(request)?)),
        false => None,
    };
    let (options, cached) = request.cached_as(&kind, &instances_of, options);
    let shown = shown(request, options, &instances_of).await;
    let reply = shown.map_err(|failure| without_late_headers(request, failure))?;
    let reply = cached.told_in(request, reply);
    Ok(if is_streamed { reply.streamed() } else { reply })
}

/// Returns a failure of a read of instances, which later releases answer without the headers of reads.
fn without_late_headers(request: &Request, failure: Failure) -> Failure {
    match request.has(Behaviour::HealthStreaming) {
        true => failure.without_headers(),
        false => failure,
    }
}

async fn shown<R: Read<Rows = Vec<Instance>, Refused = Infallible>>(
    request: &Request,
    options: ReadOptions,
    of_service: &R,
) -> Result<Reply, Failure> {
    let is_allowed = has_early_rights(request)?;
    if !is_allowed {
        only_passing(request)?;
        return refused(request, options);
    }
    let fields = HealthEntry::FILTER;
    let is_streamed = is_streamed(request, options);
    if is_streamed {
        let text = request.query.get("filter");
        Filter::new(text, fields, request.version()).map_err(|words| Failure::new(500, words))?;
    }
    let is_stream = options.wait.is_some() && is_streamed;
    // A stream of nothing ends with the index at which it began.
    let began = is_stream.then(|| {
        let Ok(before) = request.context.engine.read(of_service);
        before.rows.is_empty().then_some(before.index)
    });
    let (answer, filter, mut rights) = if names_peer(request) {
        read(request, &Elsewhere, options, fields).await
    } else if is_stream {
        // A stream ends with its token; other changes of rights show when the time is up (acl.md 10.6).
        let token = request.rights_of_read()?.token();
        let mut options = options;
        options.wait = options.wait.map(|wait| Wait {
            is_streamed: true,
            ..wait
        });
        let (answer, filter, _) =
            read(request, &WithToken(of_service, token), options, fields).await?;
        Ok((answer, filter, request.rights_of_read()?))
    } else {
        read(request, of_service, options, fields).await
    }?;
    let began = began.flatten().filter(|_| answer.rows.is_empty());
    let index = began.map_or(answer.index, |began| began.min(answer.index));
    let look = Look {
        surface: if is_streamed {
            Surface::Stream
        } else {
            Surface::Catalog
        },
        ..Look::from(request.version())
    };
    let mut rows = instances(request, &answer.rows, &filter, &mut rights);
    if only_passing(request)? {
        keep_passing(&mut rows);
    }
    let entries: Vec<_> = rows
        .into_iter()
        .map(|row| HealthEntry::new(row, look))
        .collect();
    Ok(rights.told_in(reply(request, &entries, index, options)))
}

/// Answers a read of proxies or gateways that the caller may not do (acl.md 7.r12).
fn refused(request: &Request, options: ReadOptions) -> Result<Reply, Failure> {
    if request.has(Behaviour::AclHealthConnectRefused) {
        return Err(permission_denied("").of_read(&request.context));
    }
    Ok(unread(request, options))
}

/// Answers a streamed read of an unknown datacenter, in which no server is found until the time is up.
async fn unresolved(request: &Request, options: ReadOptions) -> Result<Reply, Failure> {
    let asked = options.wait.map_or(Duration::MAX, |wait| wait.limit);
    let limit = asked.min(RESOLVED_WITHIN);
    let wait = options.wait.unwrap_or(Wait {
        min_index: Index(1),
        limit,
        is_exact: true,
        is_streamed: true,
    });
    let elsewhere = Some(Wait { limit, ..wait });
    let Ok(answer) = blocking::answer(&request.context.engine, &Elsewhere, elsewhere).await;
    if asked > limit {
        return Err(no_addresses());
    }
    Ok(reply(request, &NOTHING, answer.index, options).streamed())
}

/// Refuses sameness groups, which are a feature of Consul Enterprise (1.22.md B4.5).
fn check_sameness_group(request: &Request) -> Result<(), Failure> {
    if request.query.get("sg").is_empty() || !request.has(Behaviour::HttpSamenessGroupRefused) {
        return Ok(());
    }
    Err(no_sameness_groups())
}

/// Whether Consul answers a read from its streaming backend (1.22.md B4.5).
fn is_streamed(request: &Request, options: ReadOptions) -> bool {
    let config = &request.context.config;
    request.has(Behaviour::HealthStreaming)
        && config.use_streaming_backend
        && (options.wait.is_some() || request.wants_cache())
        && request.query.get("near").is_empty()
        && !request.query.has("merge-central-config")
}

/// Lists the instances of the ingress gateways before a service.
async fn ingress(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let service = request.named("service name")?;
    check_sameness_group(request)?;
    let read = IngressInstances(ServiceView::Health, service);
    let (options, cached) = request.cached(&read, options);
    let shown = shown(request, options, &read).await;
    let reply = shown.map_err(|failure| without_late_headers(request, failure))?;
    Ok(cached.told_in(request, reply))
}

/// Removes the instances that do not pass. The last instance takes the place of each one, as Consul has it
/// (session.md 4.5).
fn keep_passing(rows: &mut Vec<&Instance>) {
    let mut place = 0;
    while let Some(row) = rows.get(place) {
        if is_passing(row) {
            place += 1;
        } else {
            rows.swap_remove(place);
        }
    }
}

/// Whether every check of an instance and its node passes.
fn is_passing(instance: &Instance) -> bool {
    let mut checks = instance.checks.iter();
    checks.all(|row| row.check.status == "passing")
}

/// Returns `?passing`: true without a value, else a boolean of Go.
fn only_passing(request: &Request) -> Result<bool, Failure> {
    match request.query.first("passing") {
        None => Ok(false),
        Some(b"") => Ok(true),
        Some(text) => number::parse_bool(text).map_err(|_| invalid_passing()),
    }
}

async fn checks<R: Read<Rows = Vec<Arc<CheckRow>>, Refused = Infallible>>(
    request: &Request,
    what: &'static str,
    of: impl Fn(String) -> R,
) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let name = request.named(what)?;
    let (answer, filter, mut rights) = read(request, &of(name), options, Check::FILTER).await?;
    let version = request.context.config.version;
    let mut rows: Vec<&Arc<CheckRow>> = answer.rows.iter().collect();
    rights.retain(&mut rows, |caller, row| {
        let of_node = row.service_name.is_empty();
        sees_node(caller, &row.node) && (of_node || sees_service(caller, &row.service_name))
    });
    rows.retain(|row| filter.keeps(row));
    sort_nearest(request, &mut rows, |row| &row.node);
    let checks: Vec<Check<'_>> = rows.iter().map(|row| Check::new(row, version)).collect();
    Ok(rights.told_in(reply(request, &checks, answer.index, options)))
}
