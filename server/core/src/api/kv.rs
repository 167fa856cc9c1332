//! `/v1/kv/`: keys (kv.md 1 to 3).

use std::borrow::Cow;
use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Method, StatusCode};

use crate::auth::rights::Rights;
use crate::body::kv::KvEntry;
use crate::failure::{Failure, failures};
use crate::reply::list::JsonList;
use crate::reply::{self, Reply, ReplyContent, header};
use crate::request::{BodyError, ReadOptions, Request};
use crate::route::routes;
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking;
use proconsul_engine::history::RefusedBecause;
use proconsul_gocompat::json::encode::Text;
use proconsul_gocompat::number;
use proconsul_gocompat::number::NumberError;
use proconsul_gocompat::url::path;
use proconsul_gocompat::url::path_unescape;
use proconsul_store::{
    AcquireRefused, Answer, Content, Entry, Index, Key, KvGet, KvList, KvNames, KvRefused, KvVerb,
    KvWrite, KvWriteInFlight, Read, Refusal,
};
use proconsul_version::{Behaviour, Version};

routes! {
    "/v1/kv/" [GET PUT DELETE] => waits(kv);
}

/// Sent only by servers that tests may control.
const REFUSED: HeaderName = HeaderName::from_static("x-proconsul-refused");
const KV_WARNING: HeaderName = HeaderName::from_static("x-consul-kv-warning");

failures! {
    /// The path names no key.
    missing_key_name() => 400, "Missing key name";
    /// A write has more than one of `cas`, `acquire` and `release`, or a delete both `recurse` and `cas`.
    conflicting_flags(query: &str, version: Version) => 400 Direct, {
        let newline = if version.has(Behaviour::KvConflictNewline) { "\n" } else { "" };
        format!("Conflicting flags: {query}{newline}")
    };
    /// A parameter is not a number.
    invalid_number(error: &NumberError, version: Version) => 500 Local, error.message(version.go().unicode);
    /// The key does not match the pattern of 1.21.5 (1.22.md A1.6b).
    key_outside_pattern() => 500 Local,
        r#"invalid key name, keys should respect the "^[a-zA-Z0-9,_./\\-?&=]+$" format"#;
    /// The key begins or ends with a space (since 1.22.0).
    key_with_outer_spaces() => 500 Local, "invalid key name, leading/trailing spaces are not allowed";
    /// The key has a segment `..` (since 1.22.0).
    key_with_traversal() => 500 Local, "invalid key name, path traversal is not allowed";
    /// A chunked value is longer than the limit (since 1.22.0).
    chunked_value_too_large(limit: u64) => 413,
        format!("Request body too large. Max allowed is {limit} bytes.");
}

/// The error for a KV call that the store refused.
fn refused(refusal: &Refusal, version: Version) -> Failure {
    let named = version.has(Behaviour::KvApplyErrorPrefix);
    Failure::refused(refusal, version).at_step("raft apply", named)
}

/// Answers a request for a key or a tree of keys.
pub(crate) async fn kv(mut request: Request) -> Result<Reply, Failure> {
    // Consul checks them for writes too (kv.md 0, step 10).
    let options = request.read_options()?;
    let key = clean_key(&request);
    let warning = validate_key(&request, &key)?;
    let key = Key::new(&key);
    let mut answer = match request.method {
        Method::PUT => put(&mut request, key).await,
        Method::DELETE => delete(&request, key),
        _ => get(&request, key, options).await,
    };
    let headers = match &mut answer {
        Ok(reply) => &mut reply.headers,
        Err(failure) => &mut failure.headers,
    };
    headers.extend(warning.map(|warning| (KV_WARNING, warning)));
    answer
}

/// Returns the key that a path names. Since 1.21.5 it is cleaned like a path (1.22.md A1.6).
fn clean_key(request: &Request) -> Cow<'_, [u8]> {
    let key = request.rest.as_slice();
    let decoded = request
        .has(Behaviour::KvPathDecodedTwice)
        .then(|| path_unescape(key).ok())
        .flatten();
    let key = decoded.unwrap_or(Cow::Borrowed(key));
    if key.is_empty() || !request.has(Behaviour::KvPathClean) {
        return key;
    }
    match key {
        Cow::Borrowed(key) => path::clean_up_to_slash(key),
        Cow::Owned(key) => Cow::Owned(path::clean_up_to_slash(&key).into_owned()),
    }
}

/// Checks a key's name (1.22.md A1.6b). Returns a warning for an invalid name if the check is disabled.
fn validate_key(request: &Request, key: &[u8]) -> Result<Option<HeaderValue>, Failure> {
    let Some(failure) = broken_rule(request, key) else {
        return Ok(None);
    };
    let config = &request.context.config;
    if request.has(Behaviour::KvKeyPattern) {
        if config.disable_http_unprintable_char_filter {
            return Ok(None);
        }
        return Err(failure);
    }
    if !config.disable_kv_key_validation {
        return Err(failure);
    }
    let warning = format!(
        "KV key validation bypassed: {}. Consider enabling key validation for security.",
        failure.text(config.version)
    );
    Ok(HeaderValue::from_str(&warning).ok())
}

fn broken_rule(request: &Request, key: &[u8]) -> Option<Failure> {
    if key.is_empty() {
        return None;
    }
    if request.has(Behaviour::KvKeyPattern) {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b",_./-?&=".contains(byte);
        let dots = key.windows(2).any(|pair| pair == b"..");
        return (dots || !key.iter().all(allowed)).then(key_outside_pattern);
    }
    if !request.has(Behaviour::KvKeyRules) {
        return None;
    }
    if key.starts_with(b" ") || key.ends_with(b" ") {
        return Some(key_with_outer_spaces());
    }
    if key
        .split(|byte| *byte == b'/')
        .any(|segment| segment == b"..")
    {
        return Some(key_with_traversal());
    }
    // A key that is still percent-encoded is also checked in its decoded form.
    let decoded = path_unescape(key)
        .ok()
        .filter(|decoded| **decoded != *key)?;
    if decoded.windows(2).any(|pair| pair == b"..") {
        return Some(key_with_traversal());
    }
    decoded.contains(&b' ').then(key_with_outer_spaces)
}

async fn get(request: &Request, key: Key, options: ReadOptions) -> Result<Reply, Failure> {
    if request.query.has("keys") {
        return list_keys(request, key, options).await;
    }
    let recurse = request.query.has("recurse");
    if key.is_empty() && !recurse {
        return Err(missing_key_name());
    }
    if recurse {
        let mut rights = rights_to_list(request, &key)?;
        let answer = read_all(request, key, options, &mut rights).await;
        let reply = if answer.rows.is_empty() {
            Reply::empty(StatusCode::NOT_FOUND)
        } else {
            let host = request.context.engine.host();
            Reply::json_list(JsonList::new(host, answer.rows, reply::style(request)))
        };
        return Ok(rights.told_in(reply.with_index(request, answer.index)));
    }
    check_own(request)?;
    request
        .rights()?
        .check(Question::read(Resource::Key, &key.text()))?;
    let answer = read(request, &KvGet(key), options).await;
    let reply = match answer.rows {
        None => Reply::empty(StatusCode::NOT_FOUND),
        Some((_, row)) if request.query.has("raw") => raw(request, row.value.clone()),
        Some((key, row)) => Reply::json(request, &[KvEntry::new(&key, &row, true)]),
    };
    Ok(reply.with_index(request, answer.index))
}

/// Checks that the request is about this server.
fn check_own(request: &Request) -> Result<(), Failure> {
    request.check_tenancy()?;
    request.check_datacenter()
}

async fn read<R: Read<Refused = Infallible>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Answer<R::Rows> {
    let Ok(answer) = blocking::answer(&request.context.engine, read, options.wait).await;
    answer
}

/// Checks that a list of keys is about this server and that the caller may list them, and returns the caller's rights.
fn rights_to_list(request: &Request, prefix: &Key) -> Result<Rights, Failure> {
    check_own(request)?;
    let rights = request.rights()?;
    if request.context.config.acl.enable_key_list_policy {
        rights.check(Question::list_keys(&prefix.text()))?;
    }
    Ok(rights)
}

/// Reads all keys with a prefix that the caller may read by the rights which it had before it waited (acl.md 6.2, 10.4).
async fn read_all(
    request: &Request,
    prefix: Key,
    options: ReadOptions,
    rights: &mut Rights,
) -> Answer<Vec<Entry>> {
    let mut answer = read(request, &KvList(prefix), options).await;
    rights.retain(&mut answer.rows, |caller, (key, _)| {
        caller.may(Question::read(Resource::Key, &key.text()))
    });
    answer
}

/// Answers with the bare value (kv.md 1.5).
fn raw(request: &Request, value: Bytes) -> Reply {
    let mut reply = Reply::empty(StatusCode::OK);
    let gzip_empty = value.is_empty()
        && request.has(Behaviour::HttpGzipMinimum)
        && reply::accepts_gzip(&request.headers);
    if request.has(Behaviour::KvRawHeaders) {
        let sandbox = HeaderValue::from_static("sandbox");
        reply.headers.push((CONTENT_SECURITY_POLICY, sandbox));
        reply
            .headers
            .push((X_CONTENT_TYPE_OPTIONS, header::NO_SNIFF));
        reply.content_type = Some(if request.has(Behaviour::KvRawCharset) {
            header::TEXT
        } else {
            HeaderValue::from_static("text/plain")
        });
        // The compressing writer of Go loses the type of an empty value (1.22.md A1.3).
        if gzip_empty && request.has(Behaviour::HttpEmptyContentTypeJson) {
            reply.content_type = reply::empty_content_type(request);
        }
    } else if !value.is_empty() {
        reply.content_type = Some(header::guessed_type(&value));
    }
    reply.content = ReplyContent::Exact(value);
    reply
}

async fn list_keys(request: &Request, prefix: Key, options: ReadOptions) -> Result<Reply, Failure> {
    let everything = prefix.is_empty();
    let separator = separator(request);
    let mut rights = rights_to_list(request, &prefix)?;
    let (index, names) = if rights.are_limited() {
        let length = prefix.as_bytes().len();
        let answer = read_all(request, prefix, options, &mut rights).await;
        (answer.index, names_of(&answer.rows, separator, length))
    } else {
        let separator = separator.into();
        let answer = read(request, &KvNames { prefix, separator }, options).await;
        (answer.index, answer.rows)
    };
    // Only the whole store may be an empty list (kv.md trap 8).
    let reply = if names.is_empty() && !everything {
        Reply::empty(StatusCode::NOT_FOUND)
    } else {
        let names: Vec<_> = names.iter().map(|name| Text(name.as_bytes())).collect();
        Reply::json(request, &names)
    };
    Ok(rights.told_in(reply.with_index(request, index)))
}

/// Returns the separator. Its historic misspelling counts if the correct name is missing (kv.md 1.4).
fn separator(request: &Request) -> &[u8] {
    let query = &request.query;
    let separator = query.first("separator").or(query.first("seperator"));
    separator.unwrap_or_default()
}

/// Returns the names of keys that the caller may see, as [`KvNames`] has them of all keys. `from` is the length of the prefix.
fn names_of(entries: &[Entry], separator: &[u8], from: usize) -> Vec<Key> {
    let names = entries.iter().map(|(key, _)| {
        let name = key.up_to(separator, from);
        name.map_or_else(|| key.clone(), Key::new)
    });
    let mut names: Vec<Key> = names.collect();
    // Keys are sorted, so equal names are adjacent.
    names.dedup();
    names
}

async fn put(request: &mut Request, key: Key) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    if key.is_empty() {
        return Err(missing_key_name());
    }
    check_conflicts(request, &["cas", "acquire", "release"])?;
    let flags = number_parameter(request, "flags")?.unwrap_or(0);
    let cas = number_parameter(request, "cas")?;
    let value = read_value(request).await?;
    request.check_datacenter()?;
    let content = Content { value, flags };
    let session = |name| {
        let text = request.query.first(name)?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    let verb = if let Some(index) = cas {
        KvVerb::Cas(content, Index(index))
    } else if let Some(session) = session("acquire") {
        KvVerb::Acquire(content, session)
    } else if let Some(session) = session("release") {
        KvVerb::Release(content, session)
    } else {
        KvVerb::Set(content)
    };
    write(request, key, verb)
}

fn delete(request: &Request, key: Key) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    check_conflicts(request, &["recurse", "cas"])?;
    let recurse = request.query.has("recurse");
    if key.is_empty() && !recurse {
        return Err(missing_key_name());
    }
    let cas = number_parameter(request, "cas")?;
    request.check_datacenter()?;
    let verb = match cas {
        _ if recurse => KvVerb::DeleteTree,
        Some(index) => KvVerb::DeleteCas(Index(index)),
        None => KvVerb::Delete,
    };
    write(request, key, verb)
}

fn write(request: &Request, key: Key, verb: KvVerb) -> Result<Reply, Failure> {
    let name = key.text();
    let question = match verb {
        KvVerb::DeleteTree => Question::delete_tree(&name),
        _ => Question::write(Resource::Key, &name),
    };
    request.rights()?.check(question)?;
    let write = KvWrite { key, verb };
    let engine = &request.context.engine;
    let applied = if request.is_in_flight {
        engine.apply(KvWriteInFlight(write))
    } else {
        engine.apply(write)
    };
    if let Some(refusal) = applied.as_ref().err().and_then(KvRefused::error) {
        return Err(refused(refusal, request.version()));
    }
    let mut reply = Reply::boolean(request, applied.is_ok());
    if let (Err(KvRefused::Acquire(reason)), Some(_)) = (&applied, &request.context.control) {
        reply.headers.push((REFUSED, refused_header(reason)));
    }
    Ok(reply)
}

/// Returns the reason of a refused acquire, for tests: `held by <session>` or `lock-delay, <n> ms left`.
fn refused_header(reason: &AcquireRefused) -> HeaderValue {
    let text = RefusedBecause::from(reason).to_string();
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("held"))
}

/// Checks that at most one of these parameters is present.
fn check_conflicts(request: &Request, names: &[&str]) -> Result<(), Failure> {
    let present = names.iter().filter(|name| request.query.has(name));
    if present.count() > 1 {
        return Err(conflicting_flags(
            &request.query.encode(),
            request.version(),
        ));
    }
    Ok(())
}

/// Returns a numeric parameter. An invalid number is a 500 (kv.md trap 6), and so is a parameter without a value.
fn number_parameter(request: &Request, name: &str) -> Result<Option<u64>, Failure> {
    let text = request.query.first(name);
    let number = text.map(number::parse_uint).transpose();
    number.map_err(|error| invalid_number(&error, request.version()))
}

/// Reads the value of a PUT, within the limits of the release (kv.md 2.2, 1.22.md A2).
async fn read_value(request: &mut Request) -> Result<Bytes, Failure> {
    let limit = request.context.config.kv_max_value_size;
    if let Some(length) = request.content_length().filter(|length| *length > limit) {
        let version = request.version();
        return Err(Failure::body_too_large(
            Some(length),
            limit,
            "kv_max_value_size",
            version,
        ));
    }
    // Consul allows one byte more than its error says.
    let read_limit = request
        .has(Behaviour::KvChunkedLimit)
        .then_some(limit.saturating_add(1));
    let body = request.read_body(read_limit).await;
    body.map_err(|error| match error {
        BodyError::TooLarge => chunked_value_too_large(limit),
        BodyError::Unreadable(failure) => Failure::unreadable_body(&failure),
    })
}
