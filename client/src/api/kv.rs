//! Keys and values. Source: Consul's HTTP API, KV store.

use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::session::SessionId;
use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, key_path};

/// One key as Consul has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Pair {
    /// The whole key.
    pub key: String,
    /// The bytes that were put.
    #[serde(deserialize_with = "json::base64_or_null")]
    pub value: Vec<u8>,
    /// A number that means what its users agree on.
    pub flags: u64,
    /// How often the key was locked since it was last written without a lock.
    pub lock_index: u64,
    /// Who holds it.
    #[serde(default, deserialize_with = "json::empty_is_none")]
    pub session: Option<SessionId>,
    /// When it was created.
    pub create_index: u64,
    /// When it last changed: what [`Write::cas`] compares.
    pub modify_index: u64,
}

impl Pair {
    /// The value as text.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(&self.value)
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// When it is not JSON, or not of this form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.value)
    }
}

/// The KV store, from [`Client::kv`].
#[derive(Debug)]
pub struct Kv<'c> {
    client: &'c Client,
}

impl Client {
    /// Keys and values.
    #[must_use]
    pub fn kv(&self) -> Kv<'_> {
        Kv { client: self }
    }
}

impl<'c> Kv<'c> {
    /// One key; `None` when it does not exist. The index of the answer is there in both cases.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get(&self, key: &str) -> Result<Answer<Option<Pair>>, Error> {
        let call = Call::read(self.client, key_path(key)?);
        let raw = self.client.send(call, &[404]).await?;
        if raw.is_absence()? {
            return Ok(Answer {
                value: None,
                meta: raw.meta,
            });
        }
        let pairs: Answer<Vec<Pair>> = raw.json()?;
        Ok(pairs.map(|pairs| pairs.into_iter().next()))
    }

    /// All keys below a prefix, in order of their names; empty when there are none.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list(&self, prefix: &str) -> Result<Answer<Vec<Pair>>, Error> {
        let call = Call::read(self.client, key_path(prefix)?).parameter("recurse", "");
        self.list_of(call).await
    }

    /// The names of all keys below a prefix. With a separator, names are cut after its first appearance beyond
    /// the prefix, and each appears once: `keys("a/", Some("/"))` is what a directory listing shows.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn keys(
        &self,
        prefix: &str,
        separator: Option<&str>,
    ) -> Result<Answer<Vec<String>>, Error> {
        let mut call = Call::read(self.client, key_path(prefix)?).parameter("keys", "");
        if let Some(separator) = separator {
            call = call.parameter("separator", separator);
        }
        self.list_of(call).await
    }

    async fn list_of<T: DeserializeOwned>(&self, call: Call) -> Result<Answer<Vec<T>>, Error> {
        let raw = self.client.send(call, &[404]).await?;
        if raw.is_absence()? {
            return Ok(Answer {
                value: Vec::new(),
                meta: raw.meta,
            });
        }
        raw.json()
    }

    /// A write of a value, to be ended by [`put`](Write::put), [`cas`](Write::cas), [`acquire`](Write::acquire) or
    /// [`release`](Write::release).
    pub fn write(&self, key: &str, value: impl Into<Vec<u8>>) -> Write<'c> {
        Write {
            client: self.client,
            key: key.to_owned(),
            value: value.into(),
            flags: 0,
        }
    }

    /// Writes a value, whatever was there before; the flags become 0.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn put(&self, key: &str, value: impl Into<Vec<u8>>) -> Result<(), Error> {
        self.write(key, value).put().await
    }

    /// Deletes a key; it need not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(&self, key: &str) -> Result<(), Error> {
        self.deletion(key_path(key)?, &[]).await.map(|_| ())
    }

    /// Deletes a key if it is as it was at `modify_index`; says whether it did (and `true` when there is no such key).
    ///
    /// # Errors
    /// See [`Error`]. [`Error::Input`] for index 0, with which Consul would delete nothing and say so of any key.
    pub async fn delete_cas(&self, key: &str, modify_index: u64) -> Result<bool, Error> {
        if modify_index == 0 {
            return Err(Error::Input(
                "a delete_cas needs an index above 0".to_owned(),
            ));
        }
        self.deletion(key_path(key)?, &[("cas", modify_index.to_string())])
            .await
    }

    /// Deletes all keys below a prefix. The empty prefix is every key there is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete_tree(&self, prefix: &str) -> Result<(), Error> {
        let parameters = [("recurse", String::new())];
        self.deletion(key_path(prefix)?, &parameters)
            .await
            .map(|_| ())
    }

    async fn deletion(
        &self,
        path: String,
        parameters: &[(&'static str, String)],
    ) -> Result<bool, Error> {
        let mut call = Call::write(self.client, path).method(Method::DELETE);
        for (name, value) in parameters {
            call = call.parameter(name, value.clone());
        }
        self.client.send(call, &[]).await?.boolean()
    }
}

/// A value on its way to a key, from [`Kv::write`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before put, cas, acquire or release"]
pub struct Write<'c> {
    client: &'c Client,
    key: String,
    value: Vec<u8>,
    flags: u64,
}

impl Write<'_> {
    /// Sets the flags; a write without them makes them 0.
    pub fn flags(mut self, flags: u64) -> Self {
        self.flags = flags;
        self
    }

    /// Writes, whatever was there before.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn put(self) -> Result<(), Error> {
        self.send(None).await.map(|_| ())
    }

    /// Writes if the key is as it was at `modify_index` (0: if it does not exist); says whether it did.
    ///
    /// # Errors
    /// See [`Error`]. After a lost answer ([`Error::may_be_applied`]) read the key: a second try would be refused.
    pub async fn cas(self, modify_index: u64) -> Result<bool, Error> {
        self.send(Some(("cas", modify_index.to_string()))).await
    }

    /// Writes and locks if nobody else holds the key and no lock-delay is in force; says whether it did. `true` again
    /// for the holder.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::is_session_lost`] when there is no such session.
    pub async fn acquire(self, session: &SessionId) -> Result<bool, Error> {
        self.send(Some(("acquire", session.to_string()))).await
    }

    /// Writes and unlocks if this session holds the key; says whether it did.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn release(self, session: &SessionId) -> Result<bool, Error> {
        self.send(Some(("release", session.to_string()))).await
    }

    async fn send(self, condition: Option<(&'static str, String)>) -> Result<bool, Error> {
        let mut call = Call::write(self.client, key_path(&self.key)?).body(self.value);
        if self.flags != 0 {
            call = call.parameter("flags", self.flags.to_string());
        }
        if let Some((name, value)) = condition {
            call = call.parameter(name, value);
        }
        self.client.send(call, &[]).await?.boolean()
    }
}
