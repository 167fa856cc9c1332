//! What is done with prepared queries.

use std::sync::Arc;

use http::{Method, StatusCode};
use serde_json::json;

use crate::api::query::body::{QueryBody, QueryFields, checked};
use crate::api::query::execution;
use crate::api::query::failure::{self, refused};
use crate::api::query::rights::{self, Visible};
use crate::api::query::template;
use crate::api::query::wire::{Dns, PreparedQuery, Searched};
use crate::auth::rights::told;
use crate::body::query_meta as meta;
use crate::body::wire::HealthEntry;
use crate::failure::Failure;
use crate::reply::object::{JsonMembers, JsonObject, object};
use crate::reply::table::Look;
use crate::reply::{self, Reply};
use crate::request::cached::Cached;
use crate::request::datacenter::reached;
use crate::request::{Consistency, ReadOptions, Request};
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::number;
use proconsul_store::{
    Answer, Instance, PreparedQueryDelete, PreparedQueryFor, PreparedQueryInfo, PreparedQueryList,
    PreparedQueryRefusal, PreparedQueryRow, PreparedQueryTarget, PreparedQueryWrite, Read,
    ServiceSearch,
};
use proconsul_version::Behaviour;

/// Lists all queries, or creates one.
pub(crate) async fn queries(request: Request) -> Result<Reply, Failure> {
    if request.method == Method::POST {
        return create(request).await;
    }
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    request.rights_of_read()?;
    let answer = read(&request, &PreparedQueryList, options).await?;
    let rights = rights::visible(&request, answer)?;
    Ok(shown(&request, rights, options))
}

async fn create(mut request: Request) -> Result<Reply, Failure> {
    let body = request.read_whole().await;
    let mut query = None;
    let decoded = request.decode::<Option<QueryFields>>(
        body,
        &mut query,
        request.decoding(UnknownFields::Refused),
    );
    decoded.map_err(|words| Failure::undecodable(&words))?;
    // Consul's handler panics on a null query, which closes the connection.
    let query = query.ok_or_else(Failure::dropped)?;
    request.check_datacenter()?;
    if query.has_id() {
        return Err(failure::has_id());
    }
    let id = request.context.engine.new_prepared_query_id();
    put(&request, PreparedQueryTarget::New(id), query)?;
    let id = id.to_string();
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Reads, replaces, deletes, executes or explains a query.
pub(crate) async fn query(request: Request) -> Result<Reply, Failure> {
    let path = request.rest_text();
    // A last segment with one of these names is a verb, even if no query precedes it.
    if let Some((name, verb @ ("execute" | "explain"))) = format!("/{path}").rsplit_once('/') {
        let name = name.strip_prefix('/').unwrap_or(name).to_owned();
        return match allowed(&request, "GET")? {
            Some(reply) => Ok(reply),
            None if verb == "execute" => execute(&request, name).await,
            None => explain(&request, name).await,
        };
    }
    if let Some(reply) = allowed(&request, "GET,PUT,DELETE")? {
        return Ok(reply);
    }
    match request.method {
        Method::PUT => replace(request, path).await,
        Method::DELETE => {
            request.check_datacenter()?;
            rights::check_deletion(&request, &path)?;
            let deleted = request.context.engine.apply(PreparedQueryDelete(path));
            deleted.map_err(|refusal| refused(&request, &refusal))?;
            Ok(Reply::done(&request))
        }
        _ => {
            let options = request.read_options()?;
            info(&request, &PreparedQueryInfo(path), options).await
        }
    }
}

/// Checks the method. Below `/v1/query/` Consul's endpoint does this itself: it answers `OPTIONS` with an empty object,
/// and its 405 lists the methods without `OPTIONS` (seen on 1.8.7).
fn allowed(request: &Request, methods: &str) -> Result<Option<Reply>, Failure> {
    if request.method == Method::OPTIONS {
        let mut reply = Reply::json(request, &json!({}));
        let all = format!("OPTIONS,{methods}");
        reply.headers.push(reply::allow(&all));
        return Ok(Some(reply));
    }
    if methods.split(',').any(|method| request.method == method) {
        return Ok(None);
    }
    let allow = reply::allow(methods);
    Err(Failure::method_not_allowed(&request.method, allow))
}

async fn replace(mut request: Request, id: String) -> Result<Reply, Failure> {
    let mut query = QueryBody::default();
    // As with a new session, Consul ignores a chunked body.
    if request.content_length().is_some_and(|length| length > 0) {
        let body = request.read_whole().await;
        let decoded = request.decode::<QueryFields>(
            body,
            &mut query,
            request.decoding(UnknownFields::Refused),
        );
        decoded.map_err(|words| Failure::undecodable(&words))?;
    }
    request.check_datacenter()?;
    put(&request, PreparedQueryTarget::Existing(id), query)?;
    Ok(Reply::done(&request))
}

fn put(request: &Request, target: PreparedQueryTarget, body: QueryBody) -> Result<(), Failure> {
    rights::check_write(request, &target, body.query())?;
    let query = checked(body, request.version())?;
    let flaw = template::flaw(&query, request.version());
    let write = PreparedQueryWrite {
        target,
        query,
        flaw,
    };
    let written = request.context.engine.apply(write);
    written.map_err(|refusal| refused(request, &refusal))?;
    Ok(())
}

/// Shows one query. Who asks is looked up once there is one, and again when a wait is over (acl.md 10.5).
async fn info(
    request: &Request,
    query: &PreparedQueryInfo,
    options: ReadOptions,
) -> Result<Reply, Failure> {
    if request.context.acls.is_some() && options.wait.is_some() {
        let at_once = ReadOptions {
            wait: None,
            ..options
        };
        rights::of_info(request, read(request, query, at_once).await?)?;
    }
    let answer = read(request, query, options).await?;
    let answer = rights::of_info(request, answer)?;
    Ok(shown(request, answer, options))
}

/// Answers with the queries that the caller sees.
fn shown(request: &Request, visible: Visible, options: ReadOptions) -> Reply {
    let (rights, answer) = visible;
    let version = request.context.config.version;
    let rows = answer.rows.iter();
    let queries: Vec<PreparedQuery<'_>> = rows
        .map(|row| {
            let search = &row.query.service;
            PreparedQuery::new(row, Searched::new(search, &rights, version))
        })
        .collect();
    let reply = Reply::json(request, &queries)
        .with_index(request, answer.index)
        .with_consistency(options.consistency);
    rights.told_in(reply)
}

/// Runs a read of prepared queries.
async fn read<R: Read<Refused: Into<PreparedQueryRefusal>>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Result<Answer<R::Rows>, Failure> {
    request.check_datacenter_of_read()?;
    let context = &request.context;
    let answer = blocking::answer(&context.engine, read, options.wait).await;
    answer.map_err(|refusal| {
        let failure = refused(request, &refusal.into());
        let is_missing = failure.status == StatusCode::NOT_FOUND;
        if is_missing && !request.has(Behaviour::QueryNotFoundHeaders) {
            failure
        } else {
            failure.of_read(context)
        }
    })
}

/// Finds the query that serves a name, and renders its search for that name.
async fn resolve(
    request: &Request,
    name: String,
    options: ReadOptions,
) -> Result<(Arc<PreparedQueryRow>, ServiceSearch), Failure> {
    // Neither `execute` nor `explain` waits.
    let options = ReadOptions {
        wait: None,
        ..options
    };
    let read_for = PreparedQueryFor(name);
    let row = read(request, &read_for, options).await?.rows;
    let search = template::rendered(&row.query, &read_for.0, request.version());
    // Fails only for a query of a loaded state: others were rendered before they were stored.
    let search =
        search.map_err(|flaw| refused(request, &PreparedQueryRefusal::TemplateFlaw(flaw)))?;
    Ok((row, search))
}

async fn explain(request: &Request, name: String) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    // It limits nothing here, but must be a number.
    limit(request)?;
    let (row, search) = resolve(request, name, options).await?;
    let version = request.version();
    let rights = rights::of_explained(request, &row)?;
    let explained = object! {
        "Query" => PreparedQuery::new(&row, Searched::new(&search, &rights, version)),
        ..query_meta(request, options.consistency, false)
    };
    Ok(found(request, &explained, options))
}

/// What the execution of a query has found.
struct Executed {
    service: String,
    instances: Vec<Instance>,
    /// The datacenter that has answered last.
    datacenter: String,
    /// How many other datacenters were asked.
    failovers: usize,
    dns_ttl: String,
    consistency: Consistency,
    is_filtered: bool,
}

async fn execute(request: &Request, name: String) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    let limit = limit(request)?;
    let connect = connect(request)?;
    if !request.wants_cache() {
        let run = run(request, name, options, limit, connect).await?;
        return Ok(executed(request, &run, options));
    }
    request.check_datacenter_of_read()?;
    let key = request.cache_key(&("execute", &name, limit, connect));
    let (run, cached) = match request.kept(&key) {
        Some(kept) => kept,
        None => {
            let run = run(request, name, options, limit, connect).await;
            let run = Arc::new(run.map_err(|failure| failed_in_cache(request, failure))?);
            (Arc::clone(&run), Cached::missed(key, run))
        }
    };
    Ok(cached.told_in(request, executed(request, &run, options)))
}

/// Returns the failure of a cached execution, for which a missing query is an error as any other (session.md 4.5c.r5).
fn failed_in_cache(request: &Request, failure: Failure) -> Failure {
    if failure.status != StatusCode::NOT_FOUND {
        return failure;
    }
    let mut failure = failure.without_headers();
    failure.status = StatusCode::INTERNAL_SERVER_ERROR;
    failure.of_read(&request.context)
}

/// Finds the instances that an execution shows, and their order.
async fn run(
    request: &Request,
    name: String,
    options: ReadOptions,
    limit: i64,
    connect: bool,
) -> Result<Executed, Failure> {
    let (row, search) = resolve(request, name, options).await?;
    let mut rights = rights::of_execution(request, &row.query)?;
    let near = match request.query.get("near") {
        b"" => search.near.as_bytes(),
        near => near,
    };
    let search = ServiceSearch {
        connect: connect || search.connect,
        ..search.clone()
    };
    let mut see = |rows: &mut Vec<Instance>| {
        rights.retain(rows, |caller, row| {
            let service = &row.service;
            caller.may(Question::read(Resource::Node, &service.node))
                && caller.may(Question::read(Resource::Service, &service.service.name))
        });
        rights.note_removal();
    };
    let context = &request.context;
    let mut instances = execution::found(context, &search, near, &mut see);
    let mut datacenter = context.config.datacenter.clone();
    let mut failovers = 0;
    for there in execution::fallbacks(context, &search) {
        if !instances.is_empty() {
            break;
        }
        failovers += 1;
        if let Ok(server) = reached(context, &there).await {
            there.name().clone_into(&mut datacenter);
            instances = execution::found(&server, &search, b"", &mut see);
        }
    }
    if let Ok(limit @ 1..) = usize::try_from(limit) {
        instances.truncate(limit);
    }
    Ok(Executed {
        service: search.service,
        instances,
        datacenter,
        failovers,
        dns_ttl: row.query.dns_ttl.clone(),
        consistency: options.consistency,
        is_filtered: rights.tell_removal(),
    })
}

fn executed(request: &Request, run: &Executed, options: ReadOptions) -> Reply {
    let version = request.version();
    let nodes = run.instances.iter();
    let nodes = nodes.map(|row| HealthEntry::new(row, Look::of_txn(version)));
    let executed = object! {
        "Service" => &run.service,
        "Nodes" => nodes.collect::<Vec<_>>(),
        "DNS" => Dns::new(&run.dns_ttl, version),
        "Datacenter" => &run.datacenter,
        "PeerName" if version.has(Behaviour::JsonQueryPeer) => "",
        "Failovers" => run.failovers,
        ..query_meta(request, run.consistency, run.is_filtered)
    };
    told(found(request, &executed, options), run.is_filtered, version)
}

/// Returns the metadata of Consul's servers, which is part of these answers.
fn query_meta(
    request: &Request,
    consistency: Consistency,
    is_filtered: bool,
) -> JsonObject<impl JsonMembers> {
    let index = u64::from(request.has(Behaviour::JsonQueryIndexOne));
    meta::query_meta(request, index, true, consistency.name(), is_filtered)
}

/// Answers with a query's result, whose index is always 1.
fn found(request: &Request, value: &impl serde::Serialize, options: ReadOptions) -> Reply {
    Reply::json(request, value)
        .with_index(request, proconsul_store::Index(1))
        .with_consistency(options.consistency)
}

/// Returns how many instances are asked for; 0 and less for all.
fn limit(request: &Request) -> Result<i64, Failure> {
    let text = request.query.get("limit");
    if text.is_empty() {
        return Ok(0);
    }
    let limit = number::parse_int(text);
    limit.map_err(|error| failure::invalid_limit(&error.message(request.version().go().unicode)))
}

fn connect(request: &Request) -> Result<bool, Failure> {
    let text = request.query.get("connect");
    if text.is_empty() {
        return Ok(false);
    }
    let connect = number::parse_bool(text);
    connect
        .map_err(|error| failure::invalid_connect(&error.message(request.version().go().unicode)))
}
