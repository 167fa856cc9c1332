//! One request out, one answer in.

pub(crate) mod address;
pub(crate) mod connector;
pub(crate) mod tls;

use std::fmt::Write as _;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::query::{Answer, Meta};

/// A request as the endpoints build it.
pub(crate) struct Call {
    method: Method,
    /// Below the address, percent-encoded, e.g. `v1/kv/a%20b`.
    path: String,
    parameters: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    hold: Duration,
}

/// An answer with a status that its endpoint takes for one.
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) meta: Meta,
    /// Whether the answer had an index at all.
    has_index: bool,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// A read with the options of a client.
    pub(crate) fn read(client: &Client, path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            parameters: client.options.of_read(),
            body: None,
            hold: client.options.hold(),
        }
    }

    /// A write with the options of a client.
    pub(crate) fn write(client: &Client, path: impl Into<String>) -> Self {
        Self {
            method: Method::PUT,
            path: path.into(),
            parameters: client.options.of_write(),
            body: None,
            hold: Duration::ZERO,
        }
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn parameter(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.parameters.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// A body of JSON.
    pub(crate) fn json(self, value: &impl serde::Serialize) -> Self {
        let body =
            serde_json::to_vec(value).expect("our own types have text keys and finite numbers");
        self.body(body)
    }
}

impl Client {
    /// Sends a call. Statuses other than 200 are errors, except those in `also`.
    pub(crate) async fn send(&self, call: Call, also: &[u16]) -> Result<Raw, Error> {
        let shared = &self.shared;
        let mut url =
            shared.address.url.join(&call.path).map_err(|error| {
                Error::Input(format!("the path {:?} is none ({error})", call.path))
            })?;
        if !call.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.parameters);
        }
        let after = shared.settings.timeout + call.hold;
        let mut request = shared.http.request(call.method, url);
        let token = self
            .options
            .token
            .as_ref()
            .or(shared.settings.token.as_ref());
        if let Some(token) = token {
            request = request.header("X-Consul-Token", token);
        }
        if let Some((user, password)) = &shared.settings.auth {
            request = request.basic_auth(user, Some(password));
        }
        if let Some(body) = call.body {
            request = request.body(body);
        }
        let raw = tokio::select! {
            biased;
            raw = self.receive(request) => raw?,
            // The client's clock, not the machine's: in a test that moves time, a call times out in that time.
            () = shared.clock.sleep(after) => {
                let address = self.address().to_owned();
                return Err(Error::Timeout { address, after });
            }
        };
        if raw.status == 200 || also.contains(&raw.status) {
            return Ok(raw);
        }
        let text = String::from_utf8_lossy(&raw.body).trim_end().to_owned();
        Err(match raw.status {
            403 => Error::PermissionDenied { text },
            status => Error::Status { status, text },
        })
    }

    /// A read that gives a list.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        path: String,
    ) -> Result<Answer<Vec<T>>, Error> {
        self.send(Call::read(self, path), &[])
            .await?
            .json_or_empty()
    }

    /// Reads an endpoint for which there is no method here, e.g. `v1/coordinate/nodes`, with this client's options.
    /// Gives the body as it came.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn read(
        &self,
        path: &str,
        parameters: &[(&'static str, &str)],
    ) -> Result<Answer<String>, Error> {
        let Answer { value, meta } = self.read_bytes(path, parameters).await?;
        let value = String::from_utf8(value).map_err(|error| Error::Garbled {
            what: format!("expected text, got {error}"),
        })?;
        Ok(Answer { value, meta })
    }

    /// Reads an endpoint that does not answer with text, e.g. `v1/snapshot`, as [`Client::read`] does.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn read_bytes(
        &self,
        path: &str,
        parameters: &[(&'static str, &str)],
    ) -> Result<Answer<Vec<u8>>, Error> {
        let mut call = Call::read(self, path);
        for (name, value) in parameters {
            call = call.parameter(name, *value);
        }
        let raw = self.send(call, &[]).await?;
        Ok(Answer {
            value: raw.body,
            meta: raw.meta,
        })
    }

    /// Writes to an endpoint for which there is no method here, by PUT. Gives the body of the answer as it came.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn write(
        &self,
        path: &str,
        parameters: &[(&'static str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Result<String, Error> {
        self.change(Call::write(self, path).body(body.into()), parameters)
            .await
    }

    /// Makes something at an endpoint for which there is no method here, by POST. Gives the body of the answer as it came.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create(
        &self,
        path: &str,
        parameters: &[(&'static str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Result<String, Error> {
        let call = Call::write(self, path).method(Method::POST);
        self.change(call.body(body.into()), parameters).await
    }

    /// Deletes by an endpoint for which there is no method here. Gives the body of the answer as it came.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(
        &self,
        path: &str,
        parameters: &[(&'static str, &str)],
    ) -> Result<String, Error> {
        let call = Call::write(self, path).method(Method::DELETE);
        self.change(call, parameters).await
    }

    async fn change(
        &self,
        mut call: Call,
        parameters: &[(&'static str, &str)],
    ) -> Result<String, Error> {
        for (name, value) in parameters {
            call = call.parameter(name, *value);
        }
        let raw = self.send(call, &[]).await?;
        Ok(String::from_utf8_lossy(&raw.body).into_owned())
    }

    async fn receive(&self, request: reqwest::RequestBuilder) -> Result<Raw, Error> {
        let failed = |error: reqwest::Error| match error.is_builder() {
            true => Error::Input(chain(&error)),
            false => self.failed(&error, error.is_connect()),
        };
        let request = request.build().map_err(failed)?;
        let response = match &self.shared.over {
            None => self.shared.http.execute(request).await.map_err(failed)?,
            Some(over) => {
                let request = http::Request::try_from(request).map_err(failed)?;
                let answer = over.request(request).await;
                let answer = answer.map_err(|error| self.failed(&error, error.is_connect()))?;
                answer.map(reqwest::Body::wrap).into()
            }
        };
        Ok(Raw {
            status: response.status().as_u16(),
            meta: meta(response.headers()),
            has_index: response.headers().contains_key("X-Consul-Index"),
            body: response.bytes().await.map_err(failed)?.into(),
        })
    }

    fn failed(&self, error: &(dyn std::error::Error + 'static), is_connect: bool) -> Error {
        let address = self.address().to_owned();
        // Also later: it is in place of an answer that a client hears that its certificate is refused.
        if let Some(error) = tls::failure(&address, error) {
            return error;
        }
        let source = chain(error).into();
        if is_connect {
            return Error::Connect { address, source };
        }
        Error::Broken { address, source }
    }
}

/// What lies below an error of the HTTP library: its own words do not say more than the error's kind.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut lowest = error;
    while let Some(source) = lowest.source() {
        lowest = source;
    }
    lowest.to_string()
}

impl Raw {
    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(self) -> Result<Answer<T>, Error> {
        let value = serde_json::from_slice(&self.body).map_err(|error| Error::Garbled {
            what: format!("expected JSON, got {:?} ({error})", self.start()),
        })?;
        Ok(Answer {
            value,
            meta: self.meta,
        })
    }

    /// The body as JSON, where `null` is an empty list or map: Go prints one that was never made so.
    pub(crate) fn json_or_empty<T: DeserializeOwned + Default>(self) -> Result<Answer<T>, Error> {
        let answer: Answer<Option<T>> = self.json()?;
        Ok(answer.map(Option::unwrap_or_default))
    }

    /// Whether this says that there is no such key. Consul says so with an index; what has none comes from something
    /// else, which has no page of that name.
    pub(crate) fn is_absence(&self) -> Result<bool, Error> {
        if self.status == 404 && !self.has_index {
            return Err(Error::Garbled {
                what: format!("expected X-Consul-Index, got a 404 with {:?}", self.start()),
            });
        }
        Ok(self.status == 404)
    }

    /// The body as Consul's `true` or `false`.
    pub(crate) fn boolean(&self) -> Result<bool, Error> {
        match self.body.trim_ascii() {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => Err(Error::Garbled {
                what: format!("expected true or false, got {:?}", self.start()),
            }),
        }
    }

    /// Enough of the body to recognise it.
    fn start(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        text.chars().take(60).collect()
    }
}

fn meta(headers: &HeaderMap) -> Meta {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| text(name).and_then(|value| value.parse::<u64>().ok());
    Meta {
        index: number("X-Consul-Index").unwrap_or(0),
        known_leader: text("X-Consul-KnownLeader") == Some("true"),
        last_contact: Duration::from_millis(number("X-Consul-LastContact").unwrap_or(0)),
    }
}

/// A name (of a node, a service, a session) as one part of a path.
pub(crate) fn segment(name: &str) -> Result<String, Error> {
    if matches!(name, "" | "." | "..") {
        return Err(Error::Input(format!("{name:?} is no name")));
    }
    Ok(encode(name))
}

/// Percent-encodes one part of a path.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    encode_onto(&mut out, text);
    out
}

fn encode_onto(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte.into());
            }
            _ => write!(out, "%{byte:02X}").expect("writing into a string cannot fail"),
        }
    }
}

/// The path of a key or a prefix below `v1/kv/`.
///
/// Consul's router takes out empty, `.` and `..` parts with a redirect to another key, so these are refused here.
/// Transactions can address them.
pub(crate) fn key_path(key: &str) -> Result<String, Error> {
    const BELOW: &str = "v1/kv/";
    let mut path = String::with_capacity(BELOW.len() + key.len());
    path.push_str(BELOW);
    let mut rest = Some(key);
    while let Some(key_rest) = rest {
        let (part, next) = match key_rest.split_once('/') {
            Some((part, next)) => (part, Some(next)),
            None => (key_rest, None),
        };
        // The last part may be empty: a prefix often ends in a slash.
        if matches!(part, "." | "..") || part.is_empty() && next.is_some() {
            return Err(Error::Input(format!(
                "the key {key:?} has an empty, `.` or `..` part, which Consul's HTTP API takes out of paths; \
                 use a transaction, or another key"
            )));
        }
        encode_onto(&mut path, part);
        if next.is_some() {
            path.push('/');
        }
        rest = next;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_paths_or_are_refused() -> Result<(), Error> {
        assert_eq!(key_path("a b/ü?#%/")?, "v1/kv/a%20b/%C3%BC%3F%23%25/");
        assert_eq!(key_path("")?, "v1/kv/");
        assert_eq!(key_path("a/...")?, "v1/kv/a/...");
        for lost in ["/a", "a//b", "a/./b", "..", "a/.."] {
            assert!(matches!(key_path(lost), Err(Error::Input(_))), "{lost}");
        }
        Ok(())
    }
}
