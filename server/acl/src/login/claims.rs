//! The claims of a token: whether they are valid now, and what a method takes from them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Settings;
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::value as json;
use proconsul_gocompat::number;

/// What a method takes from the claims of a token.
#[derive(Debug, Default)]
pub struct Claims {
    /// The values, by their names.
    pub(super) values: BTreeMap<String, String>,
    /// The lists, by their names.
    pub(super) lists: BTreeMap<String, Vec<String>>,
}

impl Claims {
    /// Returns the value with this name; empty if the login claims none.
    pub(super) fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }
}

type Object = Map<String, Value>;

const SECOND: i128 = 1_000_000_000;

/// Reads the claims of a payload; `None` if they are no object, a standard claim is not of its type, or an object has a
/// name twice.
pub(super) fn read(payload: &[u8]) -> Option<Object> {
    if has_twice(document(payload).ok()?.value()) {
        return None;
    }
    let claims: Option<Object> = serde_json::from_slice(payload).ok()?;
    let claims = claims.unwrap_or_default();
    let has = |name: &str, fits: fn(&Value) -> bool| {
        let value = claims.get(name).unwrap_or(&Value::Null);
        value.is_null() || fits(value)
    };
    let is_fine = ["iss", "sub", "jti"]
        .iter()
        .all(|name| has(name, Value::is_string))
        && ["exp", "nbf", "iat"]
            .iter()
            .all(|name| has(name, Value::is_number))
        && has("aud", |value| match value {
            Value::Array(texts) => texts.iter().all(Value::is_string),
            _ => value.is_string(),
        });
    is_fine.then_some(claims)
}

/// Whether an object in a value has a name twice, which Consul's library of tokens refuses (acl.md 8.4.r7).
fn has_twice(value: json::Value<'_>) -> bool {
    let mut names = BTreeSet::new();
    let mut members = value.members();
    members.any(|(name, member)| !names.insert(name) || has_twice(member))
        || value.elements().any(has_twice)
}

/// Returns a time in nanoseconds since 1970; `None` if it is missing or 0, which counts for nothing.
fn time(claims: &Object, name: &str) -> Option<i128> {
    let seconds = number::truncated(claims.get(name)?.as_f64()?);
    (seconds != 0).then(|| i128::from(seconds) * SECOND)
}

/// Checks the times, the issuer and the audience.
pub(super) fn check(claims: &Object, settings: &Settings, now: i128) -> Result<(), String> {
    let issued = time(claims, "iat");
    let (mut not_before, mut expires) = (time(claims, "nbf"), time(claims, "exp"));
    let Some(latest) = issued.max(not_before).or(expires) else {
        return Err("no issue time, notbefore, or expiration time encoded in token".to_owned());
    };
    expires.get_or_insert(latest + i128::from(settings.expiration_leeway));
    let before = expires.map(|at| at - i128::from(settings.not_before_leeway));
    not_before = not_before.or(issued).or(before);
    let invalid = |words: &str| Err(format!("error validating claims: {words}"));
    let failed = |words: &str| invalid(&format!("{}/jwt: validation {words}", settings.library));
    let issuer = claims
        .get("iss")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !settings.issuer.is_empty() && settings.issuer != issuer {
        return failed("failed, invalid issuer claim (iss)");
    }
    let skew = i128::from(settings.clock_skew);
    if not_before.is_some_and(|at| now + skew < at) {
        return failed("failed, token not valid yet (nbf)");
    }
    if expires.is_some_and(|at| now - skew > at) {
        return failed("failed, token is expired (exp)");
    }
    if issued.is_some_and(|at| now + skew < at) {
        return failed("field, token issued in the future (iat)");
    }
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
        audience => audience.and_then(Value::as_str).into_iter().collect(),
    };
    if settings.audiences.is_empty() && !audiences.is_empty() {
        return invalid("audience claim found in JWT but no audiences are bound");
    }
    let is_bound = |audience: &String| audiences.contains(&audience.as_str());
    if !settings.audiences.is_empty() && !settings.audiences.iter().any(is_bound) {
        return invalid("aud claim does not match any bound audience");
    }
    Ok(())
}

/// Returns what the mappings take from the claims.
pub(super) fn mapped(claims: &Object, settings: &Settings) -> Result<Claims, String> {
    let mut mapped = Claims::default();
    let whole = Value::Object(claims.clone());
    // A name that starts with a slash is a path into the claims.
    let find = |name: &str| match name.starts_with('/') {
        true => whole.pointer(name),
        false => claims.get(name),
    };
    for (claim, name) in &settings.values {
        let Some(value) = find(claim).filter(|value| !value.is_null()) else {
            continue;
        };
        let text = scalar(value).ok_or_else(|| {
            let kind = match value {
                Value::Array(_) => "[]interface {}",
                _ => "map[string]interface {}",
            };
            format!("error converting claim '{claim}' to string from unknown type {kind}")
        })?;
        mapped.values.insert(name.clone(), text);
    }
    for (claim, name) in &settings.lists {
        let elements = match find(claim) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(elements)) => elements.clone(),
            Some(Value::Object(_)) => {
                return Err(format!(
                    "\"{claim}\" list claim could not be converted to string list"
                ));
            }
            Some(value) => vec![value.clone()],
        };
        let mut list = Vec::new();
        for element in elements {
            let text = scalar(&element).ok_or_else(|| {
                let shown = shown(&element);
                format!("value {shown} in \"{claim}\" list claim could not be parsed as string")
            })?;
            if !text.is_empty() {
                list.push(text);
            }
        }
        mapped.lists.insert(name.clone(), list);
    }
    Ok(mapped)
}

/// Returns a text, a flag, or a number without its fraction.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number::truncated(number.as_f64()?).to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Returns a value as Go's `%v` prints it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(shown).collect();
            format!("[{}]", elements.join(" "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members: Vec<_> = members
                .map(|(name, value)| format!("{name}:{}", shown(value)))
                .collect();
            format!("map[{}]", members.join(" "))
        }
        Value::String(text) => text.clone(),
        scalar => scalar.to_string(),
    }
}
