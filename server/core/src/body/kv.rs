//! Keys in answers of reads and transactions.

use serde::Serialize;

use proconsul_gocompat::json::encode::{Base64, Text};
use proconsul_store::{Key, KvRow};

/// A key (kv.md 1.3).
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct KvEntry<'a> {
    lock_index: u64,
    key: Text<'a>,
    flags: u64,
    value: Base64<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    create_index: u64,
    modify_index: u64,
}

impl<'a> KvEntry<'a> {
    /// Returns the entry of a key. The results of most transaction verbs have no value (kv.md trap 27).
    pub(crate) fn new(key: &'a Key, row: &'a KvRow, with_value: bool) -> Self {
        Self {
            lock_index: row.lock_index(),
            key: Text(key.as_bytes()),
            flags: row.flags(),
            value: Base64(if with_value { &row.value } else { &[] }),
            session: row.session(),
            create_index: row.create_index.0,
            modify_index: row.modify_index.0,
        }
    }
}
