//! `/v1/config`: configuration entries, which are kept and shown. No proxies run that would follow them.

use http::{HeaderName, HeaderValue, Method};
use serde_json::json;

use crate::failure::{Failure, failures, quoted};
use crate::reply::Reply;
use crate::request::selection::filter_by;
use crate::request::{ReadOptions, Request};
use proconsul_acl::{Question, Resource};
use proconsul_config::entry::{self, EntryFlaw, ShownEntry};
use proconsul_engine::blocking;
use proconsul_gocompat::json::context::{DecodeContext, UnknownFields};
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::value::Value;
use proconsul_gocompat::number;
use proconsul_store::{ConfigDelete, ConfigEntry, ConfigGet, ConfigList, ConfigWrite, Index};
use proconsul_version::{Behaviour, Version};

failures! {
    /// A read names an unknown kind.
    unknown_kind(kind: &str) => 500, entry::unknown_kind(kind);
    /// A deletion names an unknown kind.
    unknown_kind_to_delete(kind: &str) => 400, entry::unknown_kind(kind);
    /// A deletion lacks a name.
    missing_name() => 404, "Must provide both a kind and name to delete";
    /// The configuration entry does not exist.
    entry_not_found(kind: &str, name: &str, version: Version) => 404, format!(
        "Config entry not found for {} / {}", quoted(kind, version), quoted(name, version)
    );
    /// The entry, or the change of a chain or gateway that it would make, is refused.
    refused(words: &str) => 500, words;
    /// `?cas` is not a number; `words` is Go's text.
    invalid_cas(words: &str) => 500 Local, words;
    /// Only a controller may write such an entry.
    forbidden(words: &str) => 403, words;
}

/// Names the kind of an accepted entry that Consul might have refused: it is not known all that it checks.
const UNCHECKED: HeaderName = HeaderName::from_static("x-proconsul-unchecked");

/// An entry in a body, or what is wrong with it, read for a release.
struct EntryBody;

/// The release, and what was read.
struct Reading(Version, Result<ConfigEntry, String>);

impl Decode for EntryBody {
    type Place = Reading;

    fn decode(place: &mut Reading, value: Value<'_>, _: &mut DecodeContext) {
        place.1 = entry::decode(value, place.0);
    }

    fn go_type() -> std::borrow::Cow<'static, str> {
        "map[string]interface {}".into()
    }
}

/// Writes an entry.
pub(super) async fn apply(mut request: Request) -> Result<Reply, Failure> {
    let version = request.version();
    let undecodable =
        |words: &str| Failure::bad_request(&format!("Request decoding failed: {words}"), version);
    let sent = request.read_whole().await;
    let mut body = Reading(version, Err(String::new()));
    let rules = request.decoding(UnknownFields::Accepted);
    let decoded = request.decode::<EntryBody>(sent, &mut body, rules);
    decoded.map_err(|words| undecodable(&words))?;
    let mut entry = body.1.map_err(|words| undecodable(&words))?;
    request.check_tenancy()?;
    let cas = cas(&request)?;
    let unstorable = match entry::check(&mut entry, version) {
        Ok(()) => None,
        Err(EntryFlaw::Unstorable(text)) => Some(text),
        Err(EntryFlaw::Forbidden(text)) => return Err(forbidden(&text)),
        Err(EntryFlaw::Invalid(text)) => return Err(refused(&text)),
    };
    let question = write_of(&entry.kind, &entry.name, version);
    request.rights()?.check(question)?;
    if let Some(text) = unstorable {
        let is_new = cas.is_none_or(|cas| cas == Index::ZERO);
        return match is_new {
            true => Err(refused(&text)),
            false => Ok(Reply::boolean(&request, false)),
        };
    }
    let unchecked = entry::is_unchecked(&entry, version).then(|| entry.kind.clone());
    let written = request.context.engine.apply(ConfigWrite {
        entry,
        cas,
        skips_identical: version.has(Behaviour::ConfigLate),
    });
    let written = written.map_err(|flaw| refused(&flaw.to_string()))?;
    let mut reply = Reply::boolean(&request, written);
    let kind = unchecked.filter(|_| written);
    let kind = kind.and_then(|kind| HeaderValue::try_from(kind).ok());
    reply.headers.extend(kind.map(|kind| (UNCHECKED, kind)));
    Ok(reply)
}

/// Returns the index that a change asks for.
fn cas(request: &Request) -> Result<Option<Index>, Failure> {
    let text = request.query.get("cas");
    if text.is_empty() {
        return Ok(None);
    }
    let cas = number::parse_uint(text);
    let cas = cas.map_err(|error| invalid_cas(&error.message(request.version().go().unicode)))?;
    Ok(Some(Index(cas)))
}

/// Reads the entries of a kind, or reads or deletes the one with a kind and name.
pub(super) async fn entries(request: &Request) -> Result<Reply, Failure> {
    let path = request.rest_text();
    let (kind, name) = match path.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (path.as_str(), None),
    };
    if request.method == Method::DELETE {
        return delete(request, kind, name.ok_or_else(missing_name)?);
    }
    let options = request.read_options()?;
    request.check_tenancy()?;
    request.check_datacenter()?;
    let rights = request.rights()?;
    if !entry::is_known(kind, request.version()) && !kind.is_empty() {
        return Err(unknown_kind(kind));
    }
    let Some(name) = name else {
        return list(request, kind, options).await;
    };
    if let Some(question) = read_of(kind, name) {
        rights.check(question)?;
    }
    get(request, kind, name, options).await
}

async fn get(
    request: &Request,
    kind: &str,
    name: &str,
    options: ReadOptions,
) -> Result<Reply, Failure> {
    let version = request.version();
    let read = ConfigGet {
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    let engine = &request.context.engine;
    // A read that waits and finds the entry deleted shows it as it was (operator.md 4.1.r4b).
    let earlier = match options.wait {
        Some(_) if !request.has(Behaviour::ConfigLate) => {
            let Ok(answer) = engine.read(&read);
            answer.rows
        }
        _ => None,
    };
    let Ok(answer) = blocking::answer(engine, &read, options.wait).await;
    let reply = match &answer.rows.or(earlier) {
        Some(row) => Reply::json(request, &ShownEntry { row, version }),
        None => Reply::failure(&entry_not_found(kind, name, version), version),
    };
    Ok(reply.with_index(request, answer.index))
}

async fn list(request: &Request, kind: &str, options: ReadOptions) -> Result<Reply, Failure> {
    let version = request.version();
    let read = ConfigList(kind.to_owned());
    let filter = match version.has(Behaviour::ConfigLate) {
        true => filter_by(request, |text| {
            entry::filter_of_entries(text, kind, version)
        })
        .map(Some)?,
        false => None,
    };
    let Ok(mut answer) = blocking::answer(&request.context.engine, &read, options.wait).await;
    let mut rights = request.rights()?;
    rights.retain(&mut answer.rows, |caller, row| {
        let question = read_of(&row.entry.kind, &row.entry.name);
        question.is_none_or(|question| caller.may(question))
    });
    let rows = answer.rows.iter();
    let rows = rows.filter(|row| filter.as_ref().is_none_or(|filter| filter.keeps(row)));
    let shown: Vec<_> = rows.map(|row| ShownEntry { row, version }).collect();
    let reply = Reply::json(request, &shown);
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}

fn delete(request: &Request, kind: &str, name: &str) -> Result<Reply, Failure> {
    let version = request.version();
    if !entry::is_known(kind, version) {
        return Err(unknown_kind_to_delete(kind));
    }
    request.check_tenancy()?;
    let has_cas = request.has(Behaviour::ConfigDeleteCas);
    let cas = if has_cas { cas(request)? } else { None };
    request.rights()?.check(write_of(kind, name, version))?;
    let deleted = request.context.engine.apply(ConfigDelete {
        kind: kind.to_owned(),
        name: name.to_owned(),
        cas,
        skips_missing: version.has(Behaviour::ConfigLate),
    });
    let deleted = deleted.map_err(|flaw| refused(&flaw.to_string()))?;
    Ok(match cas {
        Some(_) => Reply::boolean(request, deleted),
        None => Reply::json(request, &json!({})),
    })
}

/// Whether entries of a kind are about the service of their name.
fn is_of_service(kind: &str) -> bool {
    kind.starts_with("service-")
}

/// Whether entries of a kind are about the gateway of their name.
fn is_of_gateway(kind: &str) -> bool {
    kind.ends_with("-gateway")
}

/// Returns what a read of an entry asks for; `None` for nothing.
fn read_of<'a>(kind: &str, name: &'a str) -> Option<Question<'a>> {
    let is_named = is_of_service(kind) || is_of_gateway(kind);
    is_named.then(|| Question::read(Resource::Service, name))
}

/// Returns what a change of an entry asks for. Those of gateways and of all services are the operator's, later the
/// mesh's (acl.md 7.r40, 7.r41).
fn write_of<'a>(kind: &str, name: &'a str, version: Version) -> Question<'a> {
    if is_of_service(kind) {
        Question::write(Resource::Service, name)
    } else if version.has(Behaviour::AclMeshRules) {
        Question::write(Resource::Mesh, "")
    } else {
        Question::write(Resource::Operator, "")
    }
}
