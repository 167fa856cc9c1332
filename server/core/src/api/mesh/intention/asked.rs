//! Questions about intentions: which are about a service, and whether a service may call another.

use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;

use super::kept::{in_rows, present, table};
use crate::api::mesh::connect::check_is_on;
use crate::auth::permission_denied;
use crate::auth::rights::Rights;
use crate::failure::{Failure, failures, quoted};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::cached::Cached;
use crate::request::{ReadOptions, Request};
use proconsul_acl::{Question, Resource};
use proconsul_config::entry::ShownPart;
use proconsul_config::entry::intention::{self, End, ServiceOf};
use proconsul_engine::blocking;
use proconsul_gocompat::json::maps;
use proconsul_store::{ConfigRow, ConfigValue, IntentionsTo, Read};
use proconsul_version::{Behaviour, Version};

failures! {
    /// A query parameter is missing, or there are several.
    parameter(name: &str) => 500 Local, format!("required query parameter '{name}' not set");
    /// `?by` is unknown.
    unknown_end() => 500 Local, "'by' parameter must be one of 'source' or 'destination'";
    /// The name of a service has too many parts.
    invalid_name(what: &str, text: &str, most: usize, version: Version) => 500 Local, format!(
        "{what} {} is invalid: input can contain at most {} '/'",
        quoted(text, version),
        if most == 1 { "one" } else { "two" }
    );
    /// A service is in a namespace of Consul Enterprise.
    of_namespace(what: &str, namespace: &str, version: Version) => 500 Local, format!(
        "Invalid {what} {}: Namespaces is a Consul Enterprise feature", quoted(namespace, version)
    );
    /// `?source-type` is unknown.
    unknown_type(text: &str, version: Version) => 500,
        format!("unsupported SourceType: {}", quoted(text, version));
}

/// Returns intentions as they are shown.
pub(super) fn shown<'a>(
    intentions: impl IntoIterator<Item = &'a ConfigValue>,
    version: Version,
) -> Vec<impl Serialize> {
    let shown = |intention: &ConfigValue| ShownPart::intention(intention.clone(), version);
    intentions.into_iter().map(shown).collect()
}

/// Returns what a read of the intentions of a service asks for.
pub(super) fn may_read(name: &str) -> Question<'_> {
    Question::read(Resource::Intention, name)
}

/// Checks a right. Later releases do not say which one is missing, but for matches and checks.
pub(super) fn check_right(
    request: &Request,
    rights: &Rights,
    question: Question<'_>,
) -> Result<(), Failure> {
    if !request.has(Behaviour::IntentionEntries) {
        return rights.check(question);
    }
    match rights.grant(question) {
        true => Ok(()),
        false => Err(permission_denied("")),
    }
}

/// Returns the only value of a query parameter.
pub(super) fn only(request: &Request, name: &str) -> Result<String, Failure> {
    let mut values = request.query.all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(String::from_utf8_lossy(value).into_owned()),
        _ => Err(parameter(name)),
    }
}

/// Returns the service of a text: a name, perhaps behind a namespace, and that in later releases behind a partition.
pub(super) fn service<'a>(
    what: &str,
    text: &'a str,
    version: Version,
) -> Result<ServiceOf<'a>, Failure> {
    let most = if version.has(Behaviour::IntentionLate) {
        2
    } else {
        1
    };
    if text.matches('/').count() > most {
        return Err(invalid_name(what, text, most, version));
    }
    let (before, name) = text
        .rsplit_once('/')
        .unwrap_or((intention::NAMESPACE, text));
    let (_, namespace) = before.rsplit_once('/').unwrap_or(("", before));
    Ok(ServiceOf { namespace, name })
}

/// Refuses namespaces of Consul Enterprise. Earlier releases look for intentions in them.
pub(super) fn check_namespace(
    what: &str,
    service: &ServiceOf<'_>,
    version: Version,
) -> Result<(), Failure> {
    let is_known = matches!(service.namespace, "" | intention::NAMESPACE);
    if is_known || !version.has(Behaviour::IntentionLate) {
        return Ok(());
    }
    Err(of_namespace(what, service.namespace, version))
}

/// Refuses namespaces and partitions, which earlier releases ignore.
pub(super) fn check_tenancy(request: &Request) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionLate) {
        request.check_tenancy()?;
    }
    Ok(())
}

/// Checks that Connect is on. Earlier releases answer without it, too.
pub(super) fn check_connect(request: &Request) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionLate) {
        check_is_on(request)?;
    }
    Ok(())
}

/// Lists the intentions that are about services.
pub(in crate::api::mesh) async fn matching(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    check_tenancy(request)?;
    let version = request.version();
    let by = only(request, "by")?;
    let end = match by.as_str() {
        "source" => End::Source,
        "destination" => End::Destination,
        _ => return Err(unknown_end()),
    };
    let names = request.query.all("name");
    let names: Vec<_> = names.map(|name| String::from_utf8_lossy(name)).collect();
    if names.is_empty() {
        return Err(parameter("name"));
    }
    let services = names.iter().map(|name| service("name", name, version));
    let services = services.collect::<Result<Vec<_>, _>>()?;
    request.check_datacenter()?;
    let of_read = |failure: Failure| failure.of_read(&request.context);
    check_connect(request).map_err(of_read)?;
    for service in &services {
        check_namespace("match entry namespace", service, version).map_err(of_read)?;
    }
    let rights = request.rights()?;
    for service in &services {
        let checked = rights.check(may_read(service.name));
        checked.map_err(|failure| match request.has(Behaviour::IntentionEntries) {
            true => of_read(failure),
            false => failure,
        })?;
    }
    let parts = (by, &names);
    let matched = |rows: &[Arc<ConfigRow>]| {
        let rows = in_rows(rows);
        let lists = names.iter().zip(&services).map(|(name, service)| {
            let found = rows
                .iter()
                .filter(|row| end.is_about(row, service, version));
            let found = shown(found, version);
            (name.as_ref(), (!found.is_empty()).then_some(found))
        });
        Reply::json(request, &maps::collect(lists))
    };
    // Who asks by destinations waits for their entries alone.
    if end == End::Destination && request.has(Behaviour::IntentionEntries) {
        let names = services.iter().map(|service| service.name.to_owned());
        let read = IntentionsTo(names.collect());
        return Ok(answered(request, options, &parts, &read, matched).await);
    }
    Ok(answered(request, options, &parts, &table(request), matched).await)
}

/// Answers a match with what a read finds.
async fn answered<R>(
    request: &Request,
    options: ReadOptions,
    parts: &impl Debug,
    read: &R,
    matched: impl Fn(&[Arc<ConfigRow>]) -> Reply,
) -> Reply
where
    R: Read<Rows = Vec<Arc<ConfigRow>>, Refused = Infallible>,
{
    let (options, cached) = match request.has(Behaviour::IntentionMatchCached) {
        true => request.cached_by(parts, read, options),
        false => (options, Cached::off()),
    };
    let Ok(answer) = blocking::answer(&request.context.engine, read, options.wait).await;
    let reply = matched(&answer.rows);
    if !request.has(Behaviour::IntentionEntries) {
        return reply;
    }
    let reply = reply.with_index(request, answer.index);
    cached.told_in(request, reply.with_consistency(options.consistency))
}

/// Tells whether a service may call another: as the most exact intention says.
pub(in crate::api::mesh) fn check(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    check_tenancy(request)?;
    let version = request.version();
    let [from, to] = ["source", "destination"].map(|name| only(request, name));
    let (from, to) = (from?, to?);
    let kind = request.query.get("source-type");
    // The name of a source of another type is not parsed.
    let is_known = kind == b"consul" || !request.query.has("source-type");
    let from = is_known.then(|| service("source", &from, version));
    let from = from.transpose()?;
    let to = service("destination", &to, version)?;
    request.check_datacenter()?;
    let Some(from) = from else {
        return Err(unknown_type(&String::from_utf8_lossy(kind), version));
    };
    check_connect(request)?;
    check_namespace("source namespace", &from, version)?;
    check_namespace("destination namespace", &to, version)?;
    let rights = request.rights()?;
    rights.check(match request.has(Behaviour::IntentionLate) {
        true => Question::read(Resource::Service, to.name),
        false => may_read(to.name),
    })?;
    let rows = present(request);
    let decides = |row: &&ConfigValue| {
        End::Source.is_about(row, &from, version) && End::Destination.is_about(row, &to, version)
    };
    let by_default = || {
        let acls = request.context.acls.as_ref();
        acls.is_none_or(|acls| acls.allows_by_default())
    };
    let deciding = rows.iter().find(decides);
    let allowed = deciding.map_or_else(by_default, |row| row.text("Action") == "allow");
    Ok(Reply::json(request, &object! { "Allowed" => allowed, }))
}
