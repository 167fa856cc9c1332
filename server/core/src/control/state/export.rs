//! Keys as `consul kv export` prints them, and back.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::control::state::Keys;
use proconsul_store::{Content, Key, KvVerb, KvWrite};

/// A key as `consul kv export` prints it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "control-http", derive(schemars::JsonSchema))]
pub(in crate::control) struct Exported {
    /// The key, which is not empty.
    key: String,
    /// The flags that clients keep with the key.
    flags: u64,
    /// The value as base64.
    value: String,
    /// Written by Consul Enterprise and by newer releases, and not used: there is one namespace.
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "accepted and not used")]
    namespace: Option<String>,
    /// Written by Consul Enterprise and by newer releases, and not used: there is one partition.
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "accepted and not used")]
    partition: Option<String>,
}

/// Why a text is not an export of keys. Nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(String);

impl fmt::Display for ImportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

impl Keys<'_> {
    /// Returns the keys with this prefix in the format of `consul kv export`, which `consul kv import` reads.
    #[must_use]
    pub fn export(self, prefix: impl AsRef<[u8]>) -> String {
        let entries = self.list(prefix);
        let exported: Vec<Exported> = entries
            .iter()
            .map(|(key, row)| Exported {
                key: key.to_string(),
                flags: row.flags(),
                value: BASE64_STANDARD.encode(&row.value),
                namespace: None,
                partition: None,
            })
            .collect();
        let mut bytes = Vec::new();
        let tabs = serde_json::ser::PrettyFormatter::with_indent(b"\t");
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, tabs);
        let written = exported.serialize(&mut serializer);
        written.expect("memory takes every key");
        String::from_utf8(bytes).expect("JSON is text")
    }

    /// Writes the keys of an export, and returns how many they are.
    ///
    /// # Errors
    /// The text is not an export; says why. Nothing was written.
    pub fn import(self, export: &str) -> Result<usize, ImportError> {
        let writes = writes_of(export.as_bytes())?;
        let count = writes.len();
        for write in writes {
            let written = self.apply(write);
            written.expect("an unconditional write is not refused");
        }
        Ok(count)
    }
}

/// Returns the writes of the keys of an export, in its order.
///
/// # Errors
/// The text is not an export; says why.
pub fn writes_of(export: &[u8]) -> Result<Vec<KvWrite>, ImportError> {
    let error = |text: String| ImportError(format!("not an export of keys: {text}"));
    let exported: Vec<Exported> =
        serde_json::from_slice(export).map_err(|reason| error(reason.to_string()))?;
    let write = |(at, entry): (usize, Exported)| {
        let entry_error = |text: &str| error(format!("entry {}: {text}", at + 1));
        if entry.key.is_empty() {
            return Err(entry_error("a key is empty"));
        }
        let value = BASE64_STANDARD.decode(&entry.value);
        let value = value.map_err(|reason| {
            entry_error(&format!(
                "the value of {:?} is no base64: {reason}",
                entry.key
            ))
        })?;
        let content = Content {
            value: value.into(),
            flags: entry.flags,
        };
        Ok(KvWrite {
            key: Key::new(entry.key),
            verb: KvVerb::Set(content),
        })
    };
    exported.into_iter().enumerate().map(write).collect()
}
