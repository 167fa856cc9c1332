//! The mesh as a whole, what peers see of it, and who issues JSON Web Tokens.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{Checked, check_tls, together};
use proconsul_store::ConfigValue;

/// What is done with escaped slashes in paths.
const SLASHES: [&str; 5] = [
    "IMPLEMENTATION_SPECIFIC_DEFAULT",
    "KEEP_UNCHANGED",
    "REJECT_REQUEST",
    "UNESCAPE_AND_REDIRECT",
    "UNESCAPE_AND_FORWARD",
];
/// How long a token counts beyond its end, unless the provider says otherwise.
const CLOCK_SKEW_SECONDS: i64 = 30;

pub(super) fn check(body: &ConfigValue) -> Checked {
    for (side, word) in [("Incoming", "incoming"), ("Outgoing", "outgoing")] {
        if let Some(tls) = body.get("TLS").and_then(|tls| tls.get(side)) {
            check_side(tls).map_err(|flaw| format!("error in {word} TLS configuration: {flaw}"))?;
        }
    }
    let incoming = body.get("HTTP").and_then(|http| http.get("Incoming"));
    let normalization = incoming.and_then(|incoming| incoming.get("RequestNormalization"));
    let action = normalization.map_or("", |http| http.text("PathWithEscapedSlashesAction"));
    if action.is_empty() || SLASHES.contains(&action) {
        return Ok(());
    }
    let known = SLASHES.join(", ");
    Err(format!(
        "error in HTTP incoming request normalization configuration: no matching PathWithEscapedSlashesAction value found for {action}, please specify one of [{known}]"
    ))
}

fn check_side(tls: &ConfigValue) -> Checked {
    check_tls(tls.text("TLSMinVersion"), tls.text("TLSMaxVersion"))?;
    let mut suites = tls.texts("CipherSuites");
    match suites.find(|suite| !suite.starts_with("TLS_")) {
        Some(suite) => Err(format!(
            "no matching Envoy TLS cipher suite found for {suite}"
        )),
        None => Ok(()),
    }
}

pub(super) fn check_exported(body: &ConfigValue) -> Checked {
    for (at, service) in body.list("Services").iter().enumerate() {
        let wrong = |what: &str| Err(format!("Services[{at}]: {what}"));
        let consumers = service.list("Consumers");
        if service.text("Name").is_empty() {
            return wrong("service name cannot be empty");
        }
        if consumers.is_empty() {
            return wrong("must have at least one consumer");
        }
        for (at_consumer, consumer) in consumers.iter().enumerate() {
            check_consumer(consumer)
                .map_err(|flaw| format!("Services[{at}].Consumers[{at_consumer}]: {flaw}"))?;
        }
    }
    Ok(())
}

fn check_consumer(consumer: &ConfigValue) -> Checked {
    let is_set = |field: &str| !consumer.text(field).is_empty();
    let given = ["Peer", "Partition", "SamenessGroup"].map(is_set);
    let text = if given.iter().filter(|given| **given).count() > 1 {
        "must define at most one of Peer, Partition, or SamenessGroup"
    } else if is_set("SamenessGroup") {
        "sameness-groups are an enterprise-only feature"
    } else if consumer.text("Peer") == "*" {
        "exporting to all peers (wildcard) is not supported"
    } else {
        return Ok(());
    };
    Err(text.to_owned())
}

/// Checks a provider, and gives it a tolerance of clocks.
pub(super) fn check_jwt_provider(body: &mut ConfigValue) -> Checked {
    let Some(keys) = body.get("JSONWebKeySet") else {
        return Err("JSONWebKeySet is required".to_owned());
    };
    check_keys(keys)?;
    for location in body.list("Locations") {
        let ways = ["Header", "QueryParam", "Cookie"].iter();
        if ways.filter(|way| location.get(way).is_some()).count() != 1 {
            let text = "must set exactly one of: JWT location header, query param or cookie";
            return Err(together(&[text.to_owned()]));
        }
    }
    let forwarding = body.get("Forwarding");
    if forwarding.is_some_and(|to| to.text("HeaderName").is_empty()) {
        return Err("Header name required for forwarding config".to_owned());
    }
    if body.number("ClockSkewSeconds") == 0 {
        let skew = ConfigValue::Number(CLOCK_SKEW_SECONDS);
        body.set("ClockSkewSeconds", skew);
    }
    Ok(())
}

fn check_keys(keys: &ConfigValue) -> Checked {
    let text = match (keys.get("Local"), keys.get("Remote")) {
        (None, None) | (Some(_), Some(_)) => {
            "must specify exactly one of Local or Remote JSON Web key set"
        }
        (None, Some(remote)) if remote.text("URI").is_empty() => "Remote JWKS URI is required",
        (Some(local), None)
            if local.text("JWKS").is_empty() == local.text("Filename").is_empty() =>
        {
            "must specify exactly one of String or filename for local keyset"
        }
        (Some(local), None) if BASE64_STANDARD.decode(local.text("JWKS")).is_err() => {
            "JWKS must be valid base64 encoded string"
        }
        _ => return Ok(()),
    };
    Err(text.to_owned())
}
