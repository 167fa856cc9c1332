//! User events. Source: Consul's HTTP API, events.

use serde::Deserialize;

use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// An event that somebody fired.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Event {
    /// Its id.
    #[serde(rename = "ID")]
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it carries.
    #[serde(deserialize_with = "json::base64_or_null")]
    pub payload: Vec<u8>,
    /// Its place in the agent's order; 0 in the answer to firing it.
    #[serde(rename = "LTime", default)]
    pub lamport_time: u64,
}

/// Events, from [`Client::events`].
#[derive(Debug)]
pub struct Events<'c> {
    client: &'c Client,
}

impl Client {
    /// User events.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        Events { client: self }
    }
}

impl Events<'_> {
    /// Fires an event.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn fire(&self, name: &str, payload: impl Into<Vec<u8>>) -> Result<Event, Error> {
        let path = format!("v1/event/fire/{}", segment(name)?);
        let call = Call::write(self.client, path).body(payload.into());
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// The latest events that the agent knows (256 at most), of one name or all. Their index is no order: it
    /// only tells whether there is something new.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list(&self, name: Option<&str>) -> Result<Answer<Vec<Event>>, Error> {
        let mut call = Call::read(self.client, "v1/event/list");
        if let Some(name) = name {
            call = call.parameter("name", name);
        }
        self.client.send(call, &[]).await?.json_or_empty()
    }
}
