//! Sessions. Source: Consul's HTTP API, sessions.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::duration;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// The id of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// As Consul writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What happens to the keys that a session holds when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// They stay, without a holder.
    #[default]
    Release,
    /// They are deleted.
    Delete,
}

/// A session to be created. What is not set is left to Consul: no TTL, a lock-delay of 15 s, bound to `serfHealth`
/// of the agent's node.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct NewSession {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    node: String,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "go_text")]
    lock_delay: Option<Duration>,
    #[serde(
        rename = "TTL",
        skip_serializing_if = "Option::is_none",
        serialize_with = "go_text"
    )]
    ttl: Option<Duration>,
    behavior: Behavior,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_checks: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    service_checks: Vec<ServiceCheck>,
}

fn go_text<S: serde::Serializer>(
    value: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&duration::format(value.unwrap_or_default()))
}

/// A service's check that a session is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ServiceCheck {
    /// The check's id.
    #[serde(rename = "ID")]
    pub id: String,
    /// Its namespace (Consul Enterprise), else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
}

impl NewSession {
    /// Consul's defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A name for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The node that the session belongs to (default: the agent's).
    #[must_use]
    pub fn node(mut self, node: impl Into<String>) -> Self {
        self.node = node.into();
        self
    }

    /// How long keys stay closed to other sessions after this one is lost (default 15 s, at most 60 s).
    #[must_use]
    pub fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.lock_delay = Some(lock_delay);
        self
    }

    /// The session expires unless it is renewed: not before this time, in fact after twice this time. Consul takes
    /// 10 s (`session_ttl_min`) to 24 h.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// What happens to its keys when it ends.
    #[must_use]
    pub fn behavior(mut self, behavior: Behavior) -> Self {
        self.behavior = behavior;
        self
    }

    /// Ids of the node's checks that it depends on, in place of `serfHealth`; an empty list is none. Consul 1.7 and
    /// later.
    #[must_use]
    pub fn node_checks<I: Into<String>>(mut self, checks: impl IntoIterator<Item = I>) -> Self {
        self.node_checks = Some(checks.into_iter().map(Into::into).collect());
        self
    }

    /// A service's check that it depends on. Consul 1.7 and later.
    #[must_use]
    pub fn service_check(mut self, id: impl Into<String>) -> Self {
        self.service_checks.push(ServiceCheck {
            id: id.into(),
            namespace: String::new(),
        });
        self
    }

    pub(crate) fn ttl_set(&self) -> Option<Duration> {
        self.ttl.filter(|ttl| !ttl.is_zero())
    }
}

/// A session as Consul has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Session {
    /// What it is called in requests.
    #[serde(rename = "ID")]
    pub id: SessionId,
    /// The name for people.
    #[serde(default, deserialize_with = "json::null_is_empty")]
    pub name: String,
    /// The node that it belongs to.
    pub node: String,
    /// How long its keys stay closed after its loss.
    #[serde(deserialize_with = "json::nanoseconds")]
    pub lock_delay: Duration,
    /// What happens to its keys when it ends.
    pub behavior: Behavior,
    /// Its TTL as it was written; see [`Session::ttl`].
    #[serde(rename = "TTL", default, deserialize_with = "json::null_is_empty")]
    pub ttl_text: String,
    /// The node's checks that it depends on. Empty before Consul 1.7, which calls them `Checks`.
    #[serde(default, deserialize_with = "json::null_is_empty")]
    pub node_checks: Vec<String>,
    /// The services' checks that it depends on.
    #[serde(default, deserialize_with = "json::null_is_empty")]
    pub service_checks: Vec<ServiceCheck>,
    /// When it was created.
    pub create_index: u64,
    /// When it last changed, which is when it was created.
    pub modify_index: u64,
}

impl Session {
    /// The TTL; `None` when it never expires.
    #[must_use]
    pub fn ttl(&self) -> Option<Duration> {
        duration::parse(&self.ttl_text).filter(|ttl| !ttl.is_zero())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Created {
    #[serde(rename = "ID")]
    id: SessionId,
}

/// Sessions, from [`Client::sessions`].
#[derive(Debug)]
pub struct Sessions<'c> {
    client: &'c Client,
}

impl Client {
    /// Sessions. To keep one alive, see [`Keeper`](crate::recipes::Keeper).
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { client: self }
    }
}

impl Sessions<'_> {
    /// Creates a session.
    ///
    /// # Errors
    /// See [`Error`]. After a lost answer a session may exist that nobody knows: give sessions a TTL.
    pub async fn create(&self, session: &NewSession) -> Result<SessionId, Error> {
        let call = Call::write(self.client, "v1/session/create").json(session);
        let created: Answer<Created> = self.client.send(call, &[]).await?.json()?;
        Ok(created.value.id)
    }

    /// Starts its TTL again; `None` when it does not exist any more.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn renew(&self, id: &SessionId) -> Result<Option<Session>, Error> {
        let path = format!("v1/session/renew/{}", segment(id.as_str())?);
        let call = Call::write(self.client, path);
        let raw = self.client.send(call, &[404]).await?;
        if raw.status == 404 {
            return Ok(None);
        }
        let sessions: Answer<Vec<Session>> = raw.json()?;
        Ok(sessions.value.into_iter().next())
    }

    /// Ends a session; it need not exist. Its keys are released or deleted, and its lock-delay guards them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn destroy(&self, id: &SessionId) -> Result<(), Error> {
        let path = format!("v1/session/destroy/{}", segment(id.as_str())?);
        self.client
            .send(Call::write(self.client, path), &[])
            .await?
            .boolean()
            .map(|_| ())
    }

    /// One session; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn info(&self, id: &SessionId) -> Result<Answer<Option<Session>>, Error> {
        let path = format!("v1/session/info/{}", segment(id.as_str())?);
        let sessions: Answer<Vec<_>> = self.client.list(path).await?;
        Ok(sessions.map(|sessions| sessions.into_iter().next()))
    }

    /// All sessions.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list(&self) -> Result<Answer<Vec<Session>>, Error> {
        self.client.list("v1/session/list".to_owned()).await
    }

    /// The sessions of a node.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn node(&self, node: &str) -> Result<Answer<Vec<Session>>, Error> {
        let path = format!("v1/session/node/{}", segment(node)?);
        self.client.list(path).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_not_sent() {
        let text = |session: &NewSession| serde_json::to_string(session).expect("it is JSON");
        assert_eq!(text(&NewSession::new()), r#"{"Behavior":"release"}"#);
        let session = NewSession::new()
            .ttl(Duration::from_secs(15))
            .lock_delay(Duration::ZERO)
            .behavior(Behavior::Delete)
            .node_checks(Vec::<String>::new())
            .service_check("web");
        assert_eq!(
            text(&session),
            r#"{"LockDelay":"0s","TTL":"15s","Behavior":"delete","NodeChecks":[],"ServiceChecks":[{"ID":"web"}]}"#
        );
    }
}
