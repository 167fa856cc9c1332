//! `/v1/connect/intentions`: which services may call which (operator.md 4.5). No proxies run that would ask.

mod asked;
mod body;
mod kept;

use http::Method;

pub(super) use self::asked::{check, matching};
use self::asked::{
    check_connect, check_namespace, check_right, check_tenancy, may_read, only, service, shown,
};
use self::body::{IntentionBody, read_body};
use self::kept::{Way, flawed, in_rows, present, put, remove, table, write};
use crate::auth::permission_denied;
use crate::auth::rights::Rights;
use crate::body::time;
use crate::failure::refusal::index_error;
use crate::failure::{Failure, FailureKind, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use crate::request::selection::filter_by;
use proconsul_acl::{Question, Resource};
use proconsul_config::entry::intention;
use proconsul_config::entry::{self, ShownPart};
use proconsul_engine::blocking;
use proconsul_store::{ConfigValue, SessionId};
use proconsul_version::Behaviour;

failures! {
    /// The body of a new intention is not the expected JSON; `words` is Go's text.
    undecodable(words: &str) => 500 Local, format!("Failed to decode request body: {words}");
    /// A new intention has an id.
    has_id() => 500, "ID must be empty when creating a new intention";
    /// A read names an unknown intention.
    not_found() => 404 Compared, "Intention not found";
    /// An id of a change is not a UUID; `words` is the text of the index.
    lookup_failed(words: &str) => 500, format!("Intention lookup failed: {words}");
    /// A change names an unknown intention.
    missing(what: &str, id: &str) => 500, format!("Cannot {what} non-existent intention: '{id}'");
    /// A namespace of Consul Enterprise is named.
    of_namespace(field: &str, namespace: &str) => 400,
        format!("Invalid {field}({namespace}): Namespaces is a Consul Enterprise feature");
    /// An intention with an id is to lead to another service.
    moved() => 500,
        "Cannot modify Destination partition/namespace/name for an intention once it exists.";
    /// Metadata for an intention that has other or none.
    relabelled() => 500, "Meta must not be specified, or should be unchanged during an update.";
}

fn may_write(name: &str) -> Question<'_> {
    Question::write(Resource::Intention, name)
}

/// Lists the intentions, or makes one.
pub(super) async fn intentions(request: Request) -> Result<Reply, Failure> {
    if request.method == Method::POST {
        return create(request).await;
    }
    let options = request.read_options()?;
    check_tenancy(&request)?;
    request.check_datacenter_of_read()?;
    check_connect(&request).map_err(|failure| failure.of_read(&request.context))?;
    let filter = filter_by(&request, |text| {
        entry::filter_of_intentions(text, request.version())
    });
    let filter = filter.map_err(|failure| failure.of_read(&request.context))?;
    let mut rights = request.rights_of_read()?;
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer(engine, &table(&request), options.wait).await;
    let mut rows = in_rows(&answer.rows);
    rights.retain(&mut rows, |caller, intention| {
        let reads = |name: &str| caller.may(may_read(name));
        reads(intention.text("SourceName")) || reads(intention.text("DestinationName"))
    });
    rows.retain(|row| filter.keeps(row));
    let reply = Reply::json(&request, &shown(&rows, request.version()));
    Ok(rights.told_in(reply.with_index(&request, answer.index)))
}

fn now(request: &Request) -> String {
    let clock = request.context.engine.clock();
    time::format(clock.unix_nanos_of_epoch() + i128::from(clock.now().offset()))
}

/// Refuses the namespaces of a body. Earlier releases keep them.
fn check_namespaces(request: &Request, body: &IntentionBody) -> Result<(), Failure> {
    for (field, namespace) in body.namespaces() {
        let is_known = matches!(namespace, "" | intention::NAMESPACE);
        if !is_known && request.has(Behaviour::IntentionEntries) {
            return Err(of_namespace(field, namespace));
        }
    }
    Ok(())
}

/// Checks the right to write intentions for a service. Nobody may write those for one without a name: with entries, and where
/// there are ACLs.
fn check_destination(request: &Request, rights: &Rights, name: &str) -> Result<(), Failure> {
    let has_rights = request.has(Behaviour::IntentionEntries) || request.context.acls.is_some();
    if name.is_empty() && has_rights {
        return Err(permission_denied(""));
    }
    check_right(request, rights, may_write(name))
}

async fn create(mut request: Request) -> Result<Reply, Failure> {
    let body = read_body(&mut request, undecodable).await?;
    let is_entry = request.has(Behaviour::IntentionEntries);
    let body = match body {
        // Consul's handler panics, which closes the connection.
        None if is_entry => return Err(Failure::dropped()),
        body => body.unwrap_or_default(),
    };
    check_namespaces(&request, &body)?;
    request.check_datacenter()?;
    check_destination(&request, &request.rights()?, body.destination())?;
    if !body.id().is_empty() {
        return Err(has_id());
    }
    let intention = body.intention(&now(&request), request.version());
    let intention = intention.map_err(|words| undecodable(&words))?;
    if let Some(flaw) = intention::flaw(&intention) {
        return Err(flawed(&flaw));
    }
    let id = SessionId::from_bytes(request.context.engine.new_id()).to_string();
    write(&request, &id, intention)?;
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Reads, replaces or deletes the intention with an id.
pub(super) async fn with_id(request: Request) -> Result<Reply, Failure> {
    let id = request.rest_text();
    with_this_id(request, id).await
}

async fn with_this_id(request: Request, id: String) -> Result<Reply, Failure> {
    // Later releases then look for an intention between services without names.
    if id.is_empty() && request.has(Behaviour::IntentionEntries) {
        return Err(match request.method {
            Method::GET => not_found(),
            _ => permission_denied(""),
        });
    }
    match request.method {
        Method::PUT => replace(request, id).await,
        Method::DELETE => {
            request.check_datacenter()?;
            let rights = request.rights()?;
            let present = of_change(&request, "delete", &id)?;
            let question = may_write(present.text("DestinationName"));
            check_right(&request, &rights, question)?;
            remove(&request, &present)?;
            Ok(Reply::boolean(&request, true))
        }
        _ => read(&request, &id).await,
    }
}

async fn read(request: &Request, id: &str) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_datacenter()?;
    let version = request.version();
    let id = parse(request, id)
        .map_err(|words| Failure::bad_request(&words, version).of_kind(FailureKind::Wrapped))?;
    let engine = &request.context.engine;
    let Ok(answer) = blocking::answer(engine, &table(request), options.wait).await;
    let rows = in_rows(&answer.rows);
    let mut found = rows.iter().filter(|intention| intention.text("ID") == id);
    let found = found.next().ok_or_else(not_found)?;
    show(request, found)
}

/// Shows an intention to a caller who may read its services.
fn show(request: &Request, intention: &ConfigValue) -> Result<Reply, Failure> {
    let rights = request.rights()?;
    if !rights.may(may_read(intention.text("SourceName"))) {
        let question = may_read(intention.text("DestinationName"));
        check_right(request, &rights, question)?;
    }
    let shown = ShownPart::intention(intention.clone(), request.version());
    Ok(Reply::json(request, &shown))
}

/// Returns an id as it is looked for: in entries by its letters, else in any case.
fn parse(request: &Request, id: &str) -> Result<String, String> {
    let is_entry = request.has(Behaviour::IntentionEntries);
    let what = if is_entry {
        "config entry"
    } else {
        "intention"
    };
    let parsed = SessionId::parse(id);
    let parsed = parsed.map_err(|error| format!("failed {what} lookup: {}", index_error(error)))?;
    Ok(match parsed {
        Some(parsed) if !is_entry => parsed.to_string(),
        _ => id.to_owned(),
    })
}

/// Returns the intention that a change names.
fn of_change(request: &Request, what: &str, id: &str) -> Result<ConfigValue, Failure> {
    let parsed = parse(request, id).map_err(|words| lookup_failed(&words))?;
    let mut present = present(request).into_iter();
    let present = present.find(|intention| intention.text("ID") == parsed);
    present.ok_or_else(|| missing(what, id))
}

async fn replace(mut request: Request, id: String) -> Result<Reply, Failure> {
    let version = request.version();
    let refused =
        |words: &str| Failure::bad_request(&format!("Request decode failed: {words}"), version);
    let body = read_body(&mut request, refused).await?;
    // Consul's handler panics on a null intention, which closes the connection.
    let body = body.ok_or_else(Failure::dropped)?;
    check_namespaces(&request, &body)?;
    request.check_datacenter()?;
    let is_entry = version.has(Behaviour::IntentionEntries);
    let rights = request.rights()?;
    if !is_entry {
        check_destination(&request, &rights, body.destination())?;
    }
    let present = of_change(&request, "modify", &id)?;
    let question = may_write(present.text("DestinationName"));
    check_right(&request, &rights, question)?;
    if is_entry && present.text("DestinationName") != body.destination() {
        return Err(moved());
    }
    let intention = body.intention(&now(&request), version);
    let mut intention = intention.map_err(|words| refused(&words))?;
    let created = present.text("CreatedAt").to_owned();
    intention.set("CreatedAt", ConfigValue::Text(created));
    if let Some(flaw) = intention::flaw(&intention) {
        return Err(flawed(&flaw));
    }
    let id = present.text("ID").to_owned();
    write(&request, &id, intention)?;
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Reads, writes or deletes the intention between two services, named exactly.
pub(super) async fn exact(mut request: Request) -> Result<Reply, Failure> {
    if !request.has(Behaviour::IntentionEntries) {
        return with_this_id(request, "exact".to_owned()).await;
    }
    let version = request.version();
    request.read_options()?;
    let [from, to] = ["source", "destination"].map(|name| only(&request, name));
    let (from, to) = (from?, to?);
    let from = service("source", &from, version)?;
    let to = service("destination", &to, version)?;
    request.check_datacenter()?;
    let is_named = |intention: &ConfigValue| {
        intention.text("SourceName") == from.name && intention.text("DestinationName") == to.name
    };
    let present = present(&request).into_iter().find(is_named);
    if request.method == Method::GET {
        check_namespace("SourceNS", &from, version)?;
        check_namespace("DestinationNS", &to, version)?;
        return show(&request, &present.ok_or_else(not_found)?);
    }
    if request.method == Method::PUT {
        let body = read_body(&mut request, Failure::undecodable).await?;
        let body = body.ok_or_else(Failure::dropped)?;
        check_right(&request, &request.rights()?, may_write(to.name))?;
        let intention = body.intention("", version);
        let mut intention = intention.map_err(|words| Failure::undecodable(&words))?;
        let labels = |of: &ConfigValue| of.get("Meta").cloned();
        let has_labels = intention.members("Meta").next().is_some();
        if has_labels && present.as_ref().and_then(labels) != labels(&intention) {
            return Err(relabelled());
        }
        intention.set("SourceName", ConfigValue::Text(from.name.to_owned()));
        intention.set("DestinationName", ConfigValue::Text(to.name.to_owned()));
        put(&request, &intention, Way::ByNames, |source| {
            source.text("Name") == from.name
        })?;
    } else {
        check_right(&request, &request.rights()?, may_write(to.name))?;
        if let Some(present) = present {
            remove(&request, &present)?;
        }
    }
    Ok(Reply::boolean(&request, true))
}
