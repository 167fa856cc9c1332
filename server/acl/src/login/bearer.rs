//! A bearer token: a JSON Web Signature in its compact form.

use super::base64url::decode;
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::value::{Value, ValueKind};

/// A bearer token whose signature is to be checked.
#[derive(Debug, Default)]
#[cfg_attr(
    not(feature = "jwt"),
    expect(dead_code, reason = "nothing checks the signature")
)]
pub(super) struct Bearer {
    /// The algorithm that its header names; empty for a token that no key verifies.
    pub(super) algorithm: String,
    /// What is signed.
    pub(super) message: String,
    /// The claims as JSON.
    pub(super) payload: Vec<u8>,
    /// The signature.
    pub(super) signature: Vec<u8>,
}

impl Bearer {
    /// Parses a token, in which white space counts for nothing. `library` is the name of Consul's for its own errors.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(token: &str, library: &str) -> Result<Self, String> {
        let token: String = token.chars().filter(|c| !c.is_whitespace()).collect();
        Self::of_parts(&token, library).map_err(|words| format!("error parsing token: {words}"))
    }

    fn of_parts(token: &str, library: &str) -> Result<Self, String> {
        if token.starts_with('{') {
            // A signature in its JSON form, whose keys no method has.
            return Ok(Self::default());
        }
        let parts: Vec<_> = token.split('.').collect();
        let &[header, payload, signature] = &parts[..] else {
            return Err(format!(
                "{library}: compact JWS format must have three parts"
            ));
        };
        let (decoded, payload_bytes) = (decode(header)?, decode(payload)?);
        let signature = decode(signature)?;
        Ok(Self {
            algorithm: match &decoded[..] {
                [] => String::new(),
                header => algorithm(header)?,
            },
            message: format!("{header}.{payload}"),
            payload: payload_bytes,
            signature,
        })
    }
}

/// Returns the algorithm that a header names, unless it asks for something that is not known here.
fn algorithm(header: &[u8]) -> Result<String, String> {
    let header = document(header)?;
    let value = header.value();
    let mut algorithm = None;
    let mut is_known = true;
    match value.kind() {
        ValueKind::Null => {}
        ValueKind::Object => {
            let mut seen = Vec::new();
            for (name, value) in value.members() {
                if seen.contains(&name) {
                    return Err(format!("json: duplicate key '{name}' in object"));
                }
                match &*name {
                    "alg" => algorithm = text(value, "algorithm")?,
                    "kid" => drop(text(value, "key ID")?),
                    "crit" | "b64" => is_known = false,
                    _ => {}
                }
                seen.push(name);
            }
        }
        kind => {
            let kind = kind_name(&kind);
            return Err(format!(
                "json: cannot unmarshal {kind} into Go value of type jose.rawHeader"
            ));
        }
    }
    Ok(algorithm.filter(|_| is_known).unwrap_or_default())
}

/// Returns a text of the header; `None` for `null`.
fn text(value: Value<'_>, what: &str) -> Result<Option<String>, String> {
    match value.kind() {
        ValueKind::String(text) => Ok(Some(text.into_owned())),
        ValueKind::Null => Ok(None),
        kind => {
            let (kind, shown) = (kind_name(&kind), String::from_utf8_lossy(value.text()));
            Err(format!(
                "failed to unmarshal {what}: json: cannot unmarshal {kind} into Go value of type string: \"{shown}\""
            ))
        }
    }
}

fn kind_name(kind: &ValueKind<'_>) -> &'static str {
    match kind {
        ValueKind::Null => "null",
        ValueKind::Bool(_) => "bool",
        ValueKind::Number(_) => "number",
        ValueKind::String(_) => "string",
        ValueKind::Array => "array",
        ValueKind::Object => "object",
    }
}
