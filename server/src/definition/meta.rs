//! The limits that Consul sets to meta data: of nodes, of services, and of what a prepared query searches.

use crate::store::Labels;

/// The most pairs.
const PAIRS: usize = 64;
/// The longest key, in bytes.
const KEY_LENGTH: usize = 128;
/// The longest value, in bytes.
const VALUE_LENGTH: usize = 512;
/// Keys that begin so are Consul's own.
const RESERVED: &str = "consul-";

/// What is wrong with meta data that is to be kept, in Consul's words.
pub(crate) fn flaw(meta: &Labels) -> Option<String> {
    flaw_but(meta, &[RESERVED])
}

/// What is wrong with meta data that is looked for: it may be Consul's own.
pub(crate) fn flaw_of_wanted(meta: &Labels) -> Option<String> {
    flaw_but(meta, &[])
}

fn flaw_but(meta: &Labels, reserved: &[&str]) -> Option<String> {
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
