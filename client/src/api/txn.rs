//! Transactions: many operations on keys, all or none. Source: Consul's HTTP API, transactions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::api::kv::Pair;
use crate::api::session::SessionId;
use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::transport::Call;

/// A transaction in the making, from [`Client::txn`]. Consul takes at most 64 operations (128 since 1.14).
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// use proconsul_client::TxnOutcome;
///
/// let outcome = client.txn().check_not_exists("a").set("a", "1").set("b", "2").commit().await?;
/// assert!(matches!(outcome, TxnOutcome::Committed(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before commit"]
pub struct Txn<'c> {
    client: &'c Client,
    operations: Vec<Operation>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Kv {
    verb: &'static str,
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    flags: u64,
    #[serde(skip_serializing_if = "is_zero")]
    index: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
}

#[derive(Clone, Debug, Serialize)]
struct Operation {
    #[serde(rename = "KV")]
    kv: Kv,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnOutcome {
    /// All operations took place. The keys that they set and read, in their order; a set key has no value here.
    Committed(Vec<Pair>),
    /// None did.
    RolledBack(Vec<TxnError>),
}

/// Why an operation could not take place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct TxnError {
    /// Which operation, from 0.
    pub op_index: usize,
    /// Consul's text.
    pub what: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Body {
    #[serde(default, deserialize_with = "json::null_is_empty")]
    results: Vec<ResultRow>,
    #[serde(default, deserialize_with = "json::null_is_empty")]
    errors: Vec<TxnError>,
}

#[derive(Deserialize)]
struct ResultRow {
    #[serde(rename = "KV")]
    kv: Option<Pair>,
}

impl Client {
    /// A transaction on keys.
    pub fn txn(&self) -> Txn<'_> {
        Txn {
            client: self,
            operations: Vec::new(),
        }
    }
}

impl Txn<'_> {
    fn add(mut self, verb: &'static str, key: &str, change: impl FnOnce(&mut Kv)) -> Self {
        let mut kv = Kv {
            verb,
            key: key.to_owned(),
            ..Kv::default()
        };
        change(&mut kv);
        self.operations.push(Operation { kv });
        self
    }

    /// Writes a value, whatever was there before.
    pub fn set(self, key: &str, value: impl AsRef<[u8]>) -> Self {
        self.add("set", key, |kv| kv.value = encoded(value))
    }

    /// Writes a value with flags.
    pub fn set_with_flags(self, key: &str, value: impl AsRef<[u8]>, flags: u64) -> Self {
        self.add("set", key, |kv| {
            kv.value = encoded(value);
            kv.flags = flags;
        })
    }

    /// Writes if the key is as it was at `modify_index` (0: if it does not exist).
    pub fn cas(self, key: &str, value: impl AsRef<[u8]>, modify_index: u64) -> Self {
        self.add("cas", key, |kv| {
            kv.value = encoded(value);
            kv.index = modify_index;
        })
    }

    /// Writes and locks.
    pub fn lock(self, key: &str, value: impl AsRef<[u8]>, session: &SessionId) -> Self {
        self.add("lock", key, |kv| {
            kv.value = encoded(value);
            kv.session = Some(session.clone());
        })
    }

    /// Writes and unlocks.
    pub fn unlock(self, key: &str, value: impl AsRef<[u8]>, session: &SessionId) -> Self {
        self.add("unlock", key, |kv| {
            kv.value = encoded(value);
            kv.session = Some(session.clone());
        })
    }

    /// Reads a key; it must exist.
    pub fn get(self, key: &str) -> Self {
        self.add("get", key, |_| {})
    }

    /// Reads all keys below a prefix.
    pub fn get_tree(self, prefix: &str) -> Self {
        self.add("get-tree", prefix, |_| {})
    }

    /// Fails unless the key is as it was at `modify_index`.
    pub fn check_index(self, key: &str, modify_index: u64) -> Self {
        self.add("check-index", key, |kv| kv.index = modify_index)
    }

    /// Fails unless this session holds the key.
    pub fn check_session(self, key: &str, session: &SessionId) -> Self {
        self.add("check-session", key, |kv| {
            kv.session = Some(session.clone());
        })
    }

    /// Fails if the key exists.
    pub fn check_not_exists(self, key: &str) -> Self {
        self.add("check-not-exists", key, |_| {})
    }

    /// Deletes a key.
    pub fn delete(self, key: &str) -> Self {
        self.add("delete", key, |_| {})
    }

    /// Deletes a key if it is as it was at `modify_index`.
    pub fn delete_cas(self, key: &str, modify_index: u64) -> Self {
        self.add("delete-cas", key, |kv| kv.index = modify_index)
    }

    /// Deletes all keys below a prefix.
    pub fn delete_tree(self, prefix: &str) -> Self {
        self.add("delete-tree", prefix, |_| {})
    }

    /// Sends it.
    ///
    /// # Errors
    /// See [`Error`]. That an operation could not take place is no error but [`TxnOutcome::RolledBack`].
    pub async fn commit(self) -> Result<TxnOutcome, Error> {
        let call = Call::write(self.client, "v1/txn").json(&self.operations);
        let raw = self.client.send(call, &[409]).await?;
        let rolled_back = raw.status == 409;
        let body: Body = raw.json()?.value;
        if rolled_back {
            return Ok(TxnOutcome::RolledBack(body.errors));
        }
        let pairs = body.results.into_iter().filter_map(|row| row.kv).collect();
        Ok(TxnOutcome::Committed(pairs))
    }
}

fn encoded(value: impl AsRef<[u8]>) -> Option<String> {
    Some(STANDARD.encode(value))
}
