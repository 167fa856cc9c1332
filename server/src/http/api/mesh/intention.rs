//! `/v1/connect/intentions`: which services may call which (operator.md 4.5). No proxies run that would ask.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use serde::Serialize;

use crate::acl::{Question, Resource};
use crate::blocking;
use crate::entry::intention::{self, End, ServiceOf};
use crate::entry::{self, ShownPart};
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::go_struct;
use crate::go::json::kinds::{Int, RawJson};
use crate::go::json::maps;
use crate::http::body::time;
use crate::http::failure::{Failure, failures, index_error, quoted};
use crate::http::reply::Reply;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::http::request::cached::Cached;
use crate::http::request::selection::filter_by;
use crate::http::route::routes;
use crate::store::{
    ConfigDelete, ConfigEntry, ConfigGet, ConfigList, ConfigMembers, ConfigRow, ConfigValue,
    ConfigWrite, INTENTION, IntentionWrite, Labels, SessionId,
};
use crate::version::{Behaviour, Version};

routes! {
    "/v1/connect/intentions" [GET POST] => waits(intentions);
    "/v1/connect/intentions/" [GET PUT DELETE] => waits(with_id);
    "/v1/connect/intentions/check" [GET] => at_once(check);
    "/v1/connect/intentions/exact" [GET PUT DELETE] => waits(exact);
    "/v1/connect/intentions/match" [GET] => waits(&matching);
}

failures! {
    /// The body of a new intention is not the expected JSON; `words` is Go's text.
    undecodable(words: &str) => 500, format!("Failed to decode request body: {words}");
    /// A new intention has an id.
    has_id() => 500, "ID must be empty when creating a new intention";
    /// The fields contradict each other or Consul.
    flawed(words: &str) => 500, words;
    /// There is an intention between the same services.
    duplicate(other: &ConfigValue) => 500,
        format!("duplicate intention found: {}", intention::describe(other));
    /// A read names an unknown intention.
    not_found() => 404, "Intention not found";
    /// An id of a change is not a UUID; `words` is the text of the index.
    lookup_failed(words: &str) => 500, format!("Intention lookup failed: {words}");
    /// A change names an unknown intention.
    missing(what: &str, id: &str) => 500, format!("Cannot {what} non-existent intention: '{id}'");
    /// A query parameter is missing, or there are several.
    parameter(name: &str) => 500, format!("required query parameter '{name}' not set");
    /// `?by` is unknown.
    unknown_end() => 500, "'by' parameter must be one of 'source' or 'destination'";
    /// The name of a service has too many parts.
    invalid_name(what: &str, text: &str, version: Version) => 500, format!(
        "{what} {} is invalid: input can contain at most one '/'", quoted(text, version)
    );
    /// `?source-type` is unknown.
    unknown_type(text: &str, version: Version) => 500,
        format!("unsupported SourceType: {}", quoted(text, version));
}

go_struct! {
    /// The body of an intention.
    struct IntentionBody as "struct { Hash string; CreatedAt string; UpdatedAt string; *structs.Alias }",
    own decoder: Refused {
        "Hash": String,
        "CreatedAt": String,
        "UpdatedAt": String,
        *Alias {
            "ID": String => id,
            "Description": String => description,
            "SourceNS": String => source_namespace,
            "SourceName": String => source,
            "DestinationNS": String => destination_namespace,
            "DestinationName": String => destination,
            "SourceType": String => source_type,
            "Action": String => action,
            "Permissions" since Behaviour::IntentionEntries: RawJson => permissions,
            "DefaultAddr": String => default_address,
            "DefaultPort": Int => default_port,
            "Meta": Option<Labels> => meta,
            "Precedence": Int,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

impl IntentionBody {
    /// Returns the intention with its defaults, at this time.
    ///
    /// # Errors
    /// The text about values of wrong types in its permissions.
    fn intention(self, now: &str, version: Version) -> Result<ConfigValue, String> {
        let meta = self.meta.unwrap_or_default().into_iter();
        let meta = meta.map(|(name, value)| (name, ConfigValue::Text(value)));
        let mut intention = ConfigValue::Members(ConfigMembers::new());
        for (name, text) in [
            ("Description", self.description),
            ("SourceNS", self.source_namespace),
            ("SourceName", self.source),
            ("DestinationNS", self.destination_namespace),
            ("DestinationName", self.destination),
            ("SourceType", self.source_type),
            ("Action", self.action),
            ("DefaultAddr", self.default_address),
            ("CreatedAt", now.to_owned()),
            ("UpdatedAt", now.to_owned()),
        ] {
            intention.set(name, ConfigValue::Text(text));
        }
        intention.set("DefaultPort", ConfigValue::Number(self.default_port));
        intention.set("Meta", ConfigValue::Members(maps::collect(meta)));
        if let Some(permissions) = intention::permissions(&self.permissions, version)? {
            intention.set("Permissions", permissions);
        }
        intention::complete(&mut intention);
        Ok(intention)
    }
}

/// Returns the read of all intentions of a release.
fn table(request: &Request) -> ConfigList {
    let is_entry = request.has(Behaviour::IntentionEntries);
    let kind = if is_entry {
        intention::ENTRIES
    } else {
        INTENTION
    };
    ConfigList(kind.to_owned())
}

fn in_rows(rows: &[Arc<ConfigRow>]) -> Vec<ConfigValue> {
    let rows = rows.iter().map(|row| &**row);
    intention::all(rows, |hash| BASE64_STANDARD.encode(hash))
}

/// Returns all intentions, as they are now.
fn present(request: &Request) -> Vec<ConfigValue> {
    let Ok(answer) = request.context.engine.read(&table(request));
    in_rows(&answer.rows)
}

fn shown<'a>(
    intentions: impl IntoIterator<Item = &'a ConfigValue>,
    version: Version,
) -> Vec<impl Serialize> {
    let shown = |intention: &ConfigValue| ShownPart::intention(intention.clone(), version);
    intentions.into_iter().map(shown).collect()
}

fn may_read(name: &str) -> Question<'_> {
    Question::read(Resource::Intention, name)
}

fn may_write(name: &str) -> Question<'_> {
    Question::write(Resource::Intention, name)
}

/// Lists the intentions, or makes one.
async fn intentions(request: Request) -> Result<Reply, Failure> {
    if request.method == Method::POST {
        return create(request).await;
    }
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    let mut rights = request.rights_of_read()?;
    let filter = filter_by(&request, |text| {
        entry::filter_of_intentions(text, request.version())
    });
    let filter = filter.map_err(|failure| failure.of_read(&request.context))?;
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

async fn read_body(
    request: &mut Request,
    undecodable: impl Fn(&str) -> Failure,
) -> Result<Option<IntentionBody>, Failure> {
    let sent = request.read_whole().await;
    let mut body = None;
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<Option<IntentionBody>>(sent, &mut body, rules);
    decoded.map_err(|words| undecodable(&words))?;
    Ok(body)
}

fn now(request: &Request) -> String {
    let clock = request.context.engine.clock();
    time::format(clock.unix_nanos_of_epoch() + i128::from(clock.now().offset()))
}

async fn create(mut request: Request) -> Result<Reply, Failure> {
    let body = read_body(&mut request, undecodable).await?;
    let body = body.unwrap_or_default();
    request.check_datacenter()?;
    if !body.id.is_empty() {
        return Err(has_id());
    }
    request.rights()?.check(may_write(&body.destination))?;
    let intention = body.intention(&now(&request), request.version());
    let intention = intention.map_err(|words| undecodable(&words))?;
    if let Some(flaw) = intention::flaw(&intention) {
        return Err(flawed(&flaw));
    }
    let id = SessionId::from_bytes(request.context.engine.new_id()).to_string();
    write(&request, &id, intention)?;
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Writes an intention under its id.
fn write(request: &Request, id: &str, mut body: ConfigValue) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionEntries) {
        body.set("ID", ConfigValue::Text(id.to_owned()));
        return put(request, &body, |source| source.text("LegacyID") == id);
    }
    let id = id.to_owned();
    let written = request.context.engine.apply(IntentionWrite { id, body });
    written.map_err(|other| duplicate(&in_rows(&[other])[0]))
}

/// Puts an intention into the entry of its destination, in place of the source that `is_own` finds. Another source of
/// its name is in its way.
fn put(
    request: &Request,
    body: &ConfigValue,
    is_own: impl Fn(&ConfigValue) -> bool,
) -> Result<(), Failure> {
    let source = intention::source_of(body);
    change(request, body.text("DestinationName"), |row| {
        let mut sources = sources_of(row);
        sources.retain(|present| !is_own(present));
        let is_same = |present: &ConfigValue| present.text("Name") == source.text("Name");
        if let Some(row) = row.filter(|_| sources.iter().any(is_same)) {
            let rows = in_rows(&[Arc::clone(row)]);
            let mut rows = rows.iter();
            let is_same =
                |present: &&ConfigValue| present.text("SourceName") == source.text("Name");
            if let Some(other) = rows.find(is_same) {
                return Err(duplicate(other));
            }
        }
        sources.push(source.clone());
        Ok(sources)
    })
}

fn sources_of(row: Option<&Arc<ConfigRow>>) -> Vec<ConfigValue> {
    row.map_or_else(Vec::new, |row| row.entry.body.list("Sources").to_vec())
}

/// Changes the sources of an entry; one without any is deleted.
fn change(
    request: &Request,
    destination: &str,
    sources: impl Fn(Option<&Arc<ConfigRow>>) -> Result<Vec<ConfigValue>, Failure>,
) -> Result<(), Failure> {
    let engine = &request.context.engine;
    let read = ConfigGet {
        kind: intention::ENTRIES.to_owned(),
        name: destination.to_owned(),
    };
    // Until nobody else has changed the entry in between.
    loop {
        let Ok(answer) = engine.read(&read);
        let row = answer.rows.as_ref();
        let cas = Some(row.map_or_else(Default::default, |row| row.modify_index));
        let sources = sources(row)?;
        let done = if sources.is_empty() {
            engine.apply(ConfigDelete {
                kind: read.kind.clone(),
                name: read.name.clone(),
                cas,
                skips_missing: true,
            })
        } else {
            let mut body = row.map_or_else(
                || ConfigValue::Members(ConfigMembers::new()),
                |row| row.entry.body.clone(),
            );
            body.set("Sources", ConfigValue::List(sources));
            let mut entry = ConfigEntry {
                kind: read.kind.clone(),
                name: row.map_or(destination, |row| &row.entry.name).to_owned(),
                body,
            };
            let checked = entry::check(&mut entry, request.version());
            checked.map_err(|flaw| flawed(&flaw.text))?;
            engine.apply(ConfigWrite {
                entry,
                cas,
                skips_identical: true,
            })
        };
        if done.map_err(|flaw| flawed(&flaw.to_string()))? {
            return Ok(());
        }
    }
}

/// Reads, replaces or deletes the intention with an id.
async fn with_id(request: Request) -> Result<Reply, Failure> {
    let id = request.rest_text();
    with_this_id(request, id).await
}

async fn with_this_id(request: Request, id: String) -> Result<Reply, Failure> {
    match request.method {
        Method::PUT => replace(request, id).await,
        Method::DELETE => {
            request.check_datacenter()?;
            let present = of_change(&request, "delete", &id)?;
            let rights = request.rights()?;
            rights.check(may_write(present.text("DestinationName")))?;
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
    let id = parse(id).map_err(|words| Failure::bad_request(&words, version))?;
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
        rights.check(may_read(intention.text("DestinationName")))?;
    }
    let shown = ShownPart::intention(intention.clone(), request.version());
    Ok(Reply::json(request, &shown))
}

/// Returns an id as it is kept.
fn parse(id: &str) -> Result<String, String> {
    let parsed = SessionId::parse(id);
    let parsed =
        parsed.map_err(|error| format!("failed intention lookup: {}", index_error(error)))?;
    Ok(parsed.map_or_else(|| id.to_owned(), |id| id.to_string()))
}

/// Returns the intention that a change names.
fn of_change(request: &Request, what: &str, id: &str) -> Result<ConfigValue, Failure> {
    let parsed = parse(id).map_err(|words| lookup_failed(&words))?;
    let mut present = present(request).into_iter();
    let present = present.find(|intention| intention.text("ID") == parsed);
    present.ok_or_else(|| missing(what, id))
}

fn remove(request: &Request, present: &ConfigValue) -> Result<(), Failure> {
    if request.has(Behaviour::IntentionEntries) {
        return change(request, present.text("DestinationName"), |row| {
            let mut sources = sources_of(row);
            sources.retain(|source| source.text("Name") != present.text("SourceName"));
            Ok(sources)
        });
    }
    let deleted = request.context.engine.apply(ConfigDelete {
        kind: INTENTION.to_owned(),
        name: present.text("ID").to_owned(),
        cas: None,
        skips_missing: false,
    });
    deleted.map_err(|flaw| flawed(&flaw.to_string()))?;
    Ok(())
}

async fn replace(mut request: Request, id: String) -> Result<Reply, Failure> {
    let version = request.version();
    let refused =
        |words: &str| Failure::bad_request(&format!("Request decode failed: {words}"), version);
    let body = read_body(&mut request, refused).await?;
    // Consul's handler panics on a null intention, which closes the connection.
    let body = body.ok_or_else(Failure::dropped)?;
    request.check_datacenter()?;
    let rights = request.rights()?;
    rights.check(may_write(&body.destination))?;
    let present = of_change(&request, "modify", &id)?;
    rights.check(may_write(present.text("DestinationName")))?;
    let intention = body.intention(&now(&request), version);
    let mut intention = intention.map_err(|words| refused(&words))?;
    let created = present.text("CreatedAt").to_owned();
    intention.set("CreatedAt", ConfigValue::Text(created));
    if let Some(flaw) = intention::flaw(&intention) {
        return Err(flawed(&flaw));
    }
    let moves = present.text("DestinationName") != intention.text("DestinationName");
    let id = present.text("ID").to_owned();
    write(&request, &id, intention)?;
    if moves && version.has(Behaviour::IntentionEntries) {
        remove(&request, &present)?;
    }
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Returns the only value of a query parameter.
fn only(request: &Request, name: &str) -> Result<String, Failure> {
    let mut values = request.query.all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(String::from_utf8_lossy(value).into_owned()),
        _ => Err(parameter(name)),
    }
}

/// Returns the service of a text: a name, perhaps behind a namespace.
fn service<'a>(what: &str, text: &'a str, version: Version) -> Result<ServiceOf<'a>, Failure> {
    let (namespace, name) = text.split_once('/').unwrap_or((intention::NAMESPACE, text));
    if name.contains('/') {
        return Err(invalid_name(what, text, version));
    }
    Ok(ServiceOf { namespace, name })
}

/// Lists the intentions that are about services.
async fn matching(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
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
    let rights = request.rights()?;
    for service in &services {
        rights.check(may_read(service.name))?;
    }
    let engine = &request.context.engine;
    let table = table(request);
    let (options, cached) = match request.has(Behaviour::IntentionMatchCached) {
        true => request.cached_by(&(by, &names), &table, options),
        false => (options, Cached::off()),
    };
    let Ok(answer) = blocking::answer(engine, &table, options.wait).await;
    let rows = in_rows(&answer.rows);
    let lists = names.iter().zip(&services).map(|(name, service)| {
        let found = rows.iter().filter(|row| end.is_about(row, service));
        let found = shown(found, version);
        (name.as_ref(), (!found.is_empty()).then_some(found))
    });
    let lists = maps::collect(lists);
    let reply = Reply::json(request, &lists);
    if !request.has(Behaviour::IntentionEntries) {
        return Ok(reply);
    }
    let reply = reply.with_index(request, answer.index);
    Ok(cached.told_in(request, reply.with_consistency(options.consistency)))
}

/// Tells whether a service may call another: as the most exact intention says.
fn check(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    let version = request.version();
    let [from, to] = ["source", "destination"].map(|name| only(request, name));
    let (from, to) = (from?, to?);
    let from = service("source", &from, version)?;
    let to = service("destination", &to, version)?;
    let kind = request.query.get("source-type");
    if request.query.has("source-type") && kind != b"consul" {
        return Err(unknown_type(&String::from_utf8_lossy(kind), version));
    }
    request.check_datacenter()?;
    let rights = request.rights()?;
    rights.check(may_read(to.name))?;
    let rows = present(request);
    let decides = |row: &&ConfigValue| {
        End::Source.is_about(row, &from) && End::Destination.is_about(row, &to)
    };
    let by_default = || {
        let acls = request.context.acls.as_ref();
        acls.is_none_or(|acls| acls.allows_by_default())
    };
    let deciding = rows.iter().find(decides);
    let allowed = deciding.map_or_else(by_default, |row| row.text("Action") == "allow");
    Ok(Reply::json(request, &object! { "Allowed" => allowed, }))
}

/// Reads, writes or deletes the intention between two services, named exactly.
async fn exact(mut request: Request) -> Result<Reply, Failure> {
    if !request.has(Behaviour::IntentionEntries) {
        return with_this_id(request, "exact".to_owned()).await;
    }
    let version = request.version();
    request.read_options()?;
    let [from, to] = ["source", "destination"].map(|name| only(&request, name));
    let (from, to) = (from?, to?);
    let from = service("source", &from, version)?.name.to_owned();
    let to = service("destination", &to, version)?.name.to_owned();
    request.check_datacenter()?;
    let is_named = |intention: &ConfigValue| {
        intention.text("SourceName") == from && intention.text("DestinationName") == to
    };
    if request.method == Method::GET {
        let present = present(&request);
        let mut found = present.iter().filter(|intention| is_named(intention));
        return show(&request, found.next().ok_or_else(not_found)?);
    }
    if request.method == Method::PUT {
        let body = read_body(&mut request, Failure::undecodable).await?;
        request.rights()?.check(may_write(&to))?;
        let intention = body.unwrap_or_default().intention("", request.version());
        let mut intention = intention.map_err(|words| Failure::undecodable(&words))?;
        intention.set("SourceName", ConfigValue::Text(from.clone()));
        intention.set("DestinationName", ConfigValue::Text(to));
        intention::complete(&mut intention);
        if let Some(flaw) = intention::flaw(&intention) {
            return Err(flawed(&flaw));
        }
        put(&request, &intention, |source| source.text("Name") == from)?;
    } else {
        request.rights()?.check(may_write(&to))?;
        let present = present(&request).into_iter().find(is_named);
        if let Some(present) = present {
            remove(&request, &present)?;
        }
    }
    Ok(Reply::boolean(&request, true))
}
