//! Consul's limits of metadata: of nodes, of services, and of the searches of prepared queries.

use std::collections::BTreeMap;

/// The most pairs.
const PAIRS: usize = 64;
/// The longest key, in bytes.
const KEY_LENGTH: usize = 128;
/// The longest value, in bytes.
const VALUE_LENGTH: usize = 512;
/// The prefix of Consul's own keys.
const RESERVED: &str = "consul-";

/// Returns Consul's text about invalid metadata; `None` if it is valid.
pub fn flaw(meta: &BTreeMap<String, String>) -> Option<String> {
    flaw_but(meta, &[RESERVED])
}

/// Returns Consul's text about invalid metadata of a search, which may use Consul's own keys.
pub fn flaw_of_wanted(meta: &BTreeMap<String, String>) -> Option<String> {
    flaw_but(meta, &[])
}

fn flaw_but(meta: &BTreeMap<String, String>, reserved: &[&str]) -> Option<String> {
    if meta.len() > PAIRS {
        return Some("Node metadata cannot contain more than 64 key/value pairs".to_owned());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    meta.iter().find_map(|(key, value)| {
        let problem = if key.is_empty() {
            "Key cannot be blank"
        } else if !key.bytes().all(allowed) {
            "Key contains invalid characters"
        } else if key.len() > KEY_LENGTH {
            "Key is too long (limit: 128 characters)"
        } else if reserved.iter().any(|prefix| key.starts_with(prefix)) {
            "Key prefix 'consul-' is reserved for internal use"
        } else if value.len() > VALUE_LENGTH {
            "Value is too long (limit: 512 characters)"
        } else {
            return None;
        };
        Some(format!(
            "Couldn't load metadata pair ('{key}', '{value}'): {problem}"
        ))
    })
}
