//! What an auth method of type `jwt` asks of a token: its `Config`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::signature;
use proconsul_gocompat::json::maps;
use proconsul_gocompat::{duration, number};
use proconsul_version::{Behaviour, Version};

/// The settings that Consul knows. Their names count in any case.
const NAMES: [&str; 13] = [
    "JWTValidationPubKeys",
    "JWTSupportedAlgs",
    "JWKSURL",
    "JWKSCACert",
    "OIDCDiscoveryURL",
    "OIDCDiscoveryCACert",
    "BoundAudiences",
    "BoundIssuer",
    "ClaimMappings",
    "ListClaimMappings",
    "ExpirationLeeway",
    "NotBeforeLeeway",
    "ClockSkewLeeway",
];

/// The algorithms that a method may name. The list is only checked: static keys verify whatever fits them (acl.md 8.4.r9).
const ALGORITHMS: [&str; 9] = [
    "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512",
];

const SECOND: i64 = 1_000_000_000;

/// The settings of a method of type `jwt`.
#[derive(Debug, Default)]
pub struct Settings {
    /// The static keys, in PEM.
    pub(super) keys: Vec<String>,
    /// The audiences of which a token must have one; empty for tokens without audiences.
    pub(super) audiences: Vec<String>,
    /// The issuer; empty for any.
    pub(super) issuer: String,
    /// The names of values, by their claims.
    pub(super) values: BTreeMap<String, String>,
    /// The names of lists, by their claims.
    pub(super) lists: BTreeMap<String, String>,
    /// The nanoseconds that a token without `exp` is valid.
    pub(super) expiration_leeway: i64,
    /// The nanoseconds before `exp` from which a token without `nbf` and `iat` is valid.
    pub(super) not_before_leeway: i64,
    /// The nanoseconds by which clocks may differ.
    pub(super) clock_skew: i64,
    /// The name of the library of tokens that Consul has, which stands in its errors.
    pub(super) library: &'static str,
}

/// A JSON object whose names count in any case, and whose values are taken for what is wanted if they can be.
struct Loose<'a> {
    members: Map<String, Value>,
    takes_durations: bool,
    flaws: &'a mut Vec<String>,
}

impl Loose<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let mut members = self.members.iter();
        let named = members.find(|(known, _)| known.eq_ignore_ascii_case(name));
        named
            .map(|(_, value)| value)
            .filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(text).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        match self.get(name) {
            None | Some(Value::Object(_)) => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(text).collect(),
            Some(value) => vec![text(value)],
        }
    }

    fn labels(&self, name: &str) -> BTreeMap<String, String> {
        let object = self.get(name).and_then(Value::as_object);
        let members = object.into_iter().flatten();
        maps::collect(members.map(|(name, value)| (name.clone(), text(value))))
    }

    /// Returns a leeway: the default for 0, and 0 for a negative one.
    fn leeway(&mut self, name: &str, default: i64) -> i64 {
        let parsed = match self.get(name) {
            Some(Value::Number(number)) => Ok(number.as_f64().map_or(0, number::truncated)),
            Some(Value::Bool(flag)) => Ok(i64::from(*flag)),
            Some(Value::String(text)) => match duration::parse(text) {
                Ok(nanoseconds) if self.takes_durations => Ok(nanoseconds),
                _ => number::parse_int_of_any_base(text).map_err(|error| error.to_string()),
            },
            _ => Ok(0),
        };
        match parsed {
            Ok(0) => default,
            Ok(nanoseconds) => nanoseconds.max(0),
            Err(error) => {
                self.flaws
                    .push(format!("cannot parse '{name}' as int: {error}"));
                default
            }
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        _ => String::new(),
    }
}

impl Settings {
    /// Reads the settings of a method.
    ///
    /// # Errors
    /// What is wrong with them, in Consul's words.
    pub fn read(config: &str, version: Version) -> Result<Self, String> {
        let mut flaws = Vec::new();
        let members: Map<String, Value> = serde_json::from_str(config).unwrap_or_default();
        let is_known = |name: &&String| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        let unknown: Vec<_> = members
            .keys()
            .filter(|name| !is_known(name))
            .cloned()
            .collect();
        if !unknown.is_empty() {
            flaws.push(format!("'' has invalid keys: {}", unknown.join(", ")));
        }
        let mut config = Loose {
            members,
            takes_durations: version.has(Behaviour::AclLateTexts),
            flaws: &mut flaws,
        };
        let settings = Self {
            keys: config.texts("JWTValidationPubKeys"),
            audiences: config.texts("BoundAudiences"),
            issuer: config.text("BoundIssuer"),
            values: config.labels("ClaimMappings"),
            lists: config.labels("ListClaimMappings"),
            expiration_leeway: config.leeway("ExpirationLeeway", 150 * SECOND),
            not_before_leeway: config.leeway("NotBeforeLeeway", 150 * SECOND),
            clock_skew: config.leeway("ClockSkewLeeway", 60 * SECOND),
            library: match version.has(Behaviour::AclLateTexts) {
                true => "go-jose/go-jose",
                false => "square/go-jose",
            },
        };
        let flaw = settings.flaw(&config);
        if !flaws.is_empty() {
            let mut words = format!(
                "error decoding config: {} error(s) decoding:\n",
                flaws.len()
            );
            for flaw in flaws {
                words.push_str("\n* ");
                words.push_str(&flaw);
            }
            return Err(words);
        }
        flaw.map_or(Ok(settings), Err)
    }

    /// Returns what is wrong with settings of the right types.
    fn flaw(&self, config: &Loose<'_>) -> Option<String> {
        let (jwks, oidc) = (config.text("JWKSURL"), config.text("OIDCDiscoveryURL"));
        let sources = [!self.keys.is_empty(), !jwks.is_empty(), !oidc.is_empty()];
        if sources.into_iter().filter(|is_set| *is_set).count() != 1 {
            return Some(
                "exactly one of 'JWTValidationPubKeys', 'JWKSURL', or 'OIDCDiscoveryURL' must be set for type \"jwt\""
                    .to_owned(),
            );
        }
        for (name, url, of) in [
            ("JWKSCACert", &jwks, "JWKSURL"),
            ("OIDCDiscoveryCACert", &oidc, "OIDCDiscoveryURL"),
        ] {
            if !config.text(name).is_empty() && url.is_empty() {
                return Some(format!("'{name}' should not be set unless '{of}' is set"));
            }
        }
        if let Some(at) = self.keys.iter().position(|key| !signature::is_key(key)) {
            return Some(format!(
                "error parsing public key JWTValidationPubKeys[{at}]: data does not contain any valid RSA, ECDSA, or ED25519 public keys"
            ));
        }
        let algorithms = config.texts("JWTSupportedAlgs");
        if let Some(name) = algorithms
            .iter()
            .find(|name| !ALGORITHMS.contains(&name.as_str()))
        {
            return Some(format!("Invalid supported algorithm: {name}"));
        }
        for (setting, mappings) in [
            ("ClaimMappings", &self.values),
            ("ListClaimMappings", &self.lists),
        ] {
            let mut seen = Vec::new();
            for name in mappings.values() {
                if seen.contains(&name) {
                    return Some(format!(
                        "{setting} contains multiple mappings for key \"{name}\""
                    ));
                }
                seen.push(name);
            }
        }
        None
    }
}
