//! A request as handlers see it, and the parameters that all endpoints share.

pub(crate) mod cache;
pub(crate) mod cached;
pub(crate) mod datacenter;
pub(crate) mod selection;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Method};
use proconsul_h1::{BodyFailure, Headers, Incoming, ReadBody};

use crate::Context;
use crate::auth::route_rights::Ask;
use crate::failure::Failure;
use proconsul_engine::aside::{MANY_BYTES, MANY_ROWS, leave};
use proconsul_engine::blocking::Wait;
use proconsul_gocompat::json::context::{DecodeOptions, UnknownFields};
use proconsul_gocompat::json::decode::{Decode, decode};
use proconsul_gocompat::url::query::Query;
use proconsul_gocompat::{duration, number};
use proconsul_store::{Index, Key, KvList, Labels, NodeList};
use proconsul_version::{Behaviour, Version};

/// The operator of filters that has a pattern on its right side, whatever it is written with.
const MATCHES: &[u8] = b"matches";
/// A filter that is longer has many terms.
const LONG_FILTER: usize = 1024;

/// A kind of tenancy of Consul Enterprise, and where a request can name one.
struct Tenancy {
    parameter: &'static str,
    header: HeaderName,
    header_as_documented: &'static str,
    feature: &'static str,
}

const NAMESPACE: Tenancy = Tenancy {
    parameter: "ns",
    header: HeaderName::from_static("x-consul-namespace"),
    header_as_documented: "X-Consul-Namespace",
    feature: "Namespaces",
};

const PARTITION: Tenancy = Tenancy {
    parameter: "partition",
    header: HeaderName::from_static("x-consul-partition"),
    header_as_documented: "X-Consul-Partition",
    feature: "Partitions",
};

/// A request whose path and query have been read.
pub(crate) struct Request {
    pub(crate) context: Arc<Context>,
    /// The agent that the client asked, whichever server of whatever datacenter handles the request.
    pub(crate) asked: Arc<Context>,
    /// The address of the client; `None` for a Unix socket.
    pub(crate) peer: Option<IpAddr>,
    /// Whether it was in flight while a lock-delay began: its acquire has passed the check already.
    pub(crate) is_in_flight: bool,
    pub(crate) method: Method,
    /// The path of the route.
    pub(crate) route: &'static str,
    /// What the route asks for if ACLs are on.
    pub(crate) asks: Option<Ask>,
    /// The rest of the path after the route, cleaned and decoded.
    pub(crate) rest: Vec<u8>,
    pub(crate) query: Query,
    pub(crate) headers: Headers,
    pub(crate) body: Incoming,
}

/// The options of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadOptions {
    /// The wait of a blocking query; `None` answers at once.
    pub(crate) wait: Option<Wait>,
    /// The requested consistency, which some endpoints report in a header.
    pub(crate) consistency: Consistency,
}

/// The consistency of a read. With a single server all three read the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consistency {
    /// The leader answers.
    Leader,
    /// Any server may answer.
    Stale,
    /// The leader answers after it has confirmed with the other servers that it still leads.
    Consistent,
}

impl Consistency {
    /// The name in headers and bodies.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Consistency::Leader => "leader",
            Consistency::Stale => "stale",
            Consistency::Consistent => "consistent",
        }
    }
}

impl Request {
    /// Returns the same request, to handle it in another context, too.
    pub(crate) fn within(&mut self, context: Arc<Context>) -> Self {
        Self {
            context,
            asked: Arc::clone(&self.asked),
            peer: self.peer,
            is_in_flight: self.is_in_flight,
            method: self.method.clone(),
            route: self.route,
            asks: self.asks,
            rest: self.rest.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: self.body.shared(),
        }
    }

    /// Returns the emulated version.
    pub(crate) fn version(&self) -> Version {
        self.context.config.version
    }

    /// Whether the emulated version has `behaviour`.
    pub(crate) fn has(&self, behaviour: Behaviour) -> bool {
        self.version().has(behaviour)
    }

    /// Returns the whole path as text, cleaned and decoded.
    pub(crate) fn path_text(&self) -> String {
        format!("{}{}", self.route, self.rest_text())
    }

    /// Returns the rest of the path as text. Only keys may contain bytes that are not UTF-8.
    pub(crate) fn rest_text(&self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }

    /// Returns the rest of the path, the name of a `what`. An empty one is a failure.
    pub(crate) fn named(&self, what: &str) -> Result<String, Failure> {
        let name = self.rest_text();
        if name.is_empty() {
            return Err(Failure::missing(what));
        }
        Ok(name)
    }

    /// Returns the options of a read, checked in Consul's order: consistency, `Cache-Control`, `wait`, `index`
    /// (kv.md 0, step 10).
    pub(crate) fn read_options(&self) -> Result<ReadOptions, Failure> {
        let consistency = self.consistency()?;
        self.check_cache_control()?;
        let wait = self.wait_options()?;
        Ok(ReadOptions { wait, consistency })
    }

    /// Checks the parameters of a read of what never changes: there is nothing to wait for.
    pub(crate) fn check_read(&self) -> Result<(), Failure> {
        self.read_options()?;
        self.check_datacenter()
    }

    /// Returns the wait of a blocking query: `wait` and `index`, checked in this order.
    pub(crate) fn wait_options(&self) -> Result<Option<Wait>, Failure> {
        let limit = self.wait()?;
        let min_index = match self.query.get("index") {
            b"" => 0,
            text => number::parse_uint(text).map_err(|_| Failure::invalid_index())?,
        };
        Ok((min_index > 0).then_some(Wait {
            min_index: Index(min_index),
            limit,
            is_exact: false,
            is_streamed: false,
        }))
    }

    /// Returns the requested consistency. Only the presence of its parameters counts, not their values (kv.md trap 7).
    pub(crate) fn consistency(&self) -> Result<Consistency, Failure> {
        let mut stale = self.query.has("stale");
        let consistent = self.query.has("consistent");
        let cached = self.wants_cache()
            || self.query.has("cached") && !self.has(Behaviour::HttpUseCacheSwitch);
        if let Some(text) = self
            .query
            .first("max_stale")
            .filter(|text| !text.is_empty())
        {
            let version = self.version();
            let limit = duration::parse(text)
                .map_err(|_| Failure::invalid_max_stale(&String::from_utf8_lossy(text), version))?;
            stale |= limit > 0;
        }
        match (stale, consistent) {
            (true, true) => Err(Failure::stale_and_consistent()),
            (false, true) if cached => Err(Failure::cached_and_consistent()),
            (false, true) => Ok(Consistency::Consistent),
            (true, false) => Ok(Consistency::Stale),
            (false, false) => Ok(Consistency::Leader),
        }
    }

    /// Refuses invalid numbers in `Cache-Control`.
    pub(crate) fn check_cache_control(&self) -> Result<(), Failure> {
        self.oldest_wanted().map(|_| ())
    }

    /// Returns the duration of the wait: the default if `wait` is missing or not positive, else `wait` up to the
    /// maximum (kv.md 5.1).
    pub(crate) fn wait(&self) -> Result<Duration, Failure> {
        let config = &self.context.config;
        let asked = self.asked_wait()?;
        Ok(asked.map_or(config.default_query_time, |asked| {
            asked.min(config.max_query_time)
        }))
    }

    /// Returns `wait` as it is asked for; `None` if it is missing or not positive.
    fn asked_wait(&self) -> Result<Option<Duration>, Failure> {
        let asked = match self.query.get("wait") {
            b"" => 0,
            text => duration::parse(text).map_err(|_| Failure::invalid_wait())?,
        };
        let asked = u64::try_from(asked).unwrap_or(0);
        Ok((asked > 0).then(|| Duration::from_nanos(asked)))
    }

    /// Returns the datacenter that the request names; an empty name is the server's own.
    pub(crate) fn asked_datacenter(&self) -> &[u8] {
        let alias = self.query.get("datacenter");
        if self.has(Behaviour::HttpDatacenterAlias) && !alias.is_empty() {
            alias
        } else {
            self.query.get("dc")
        }
    }

    /// Checks that the request names no other datacenter. Case matters. One for another that is known comes here only when it
    /// has been passed on.
    pub(crate) fn check_datacenter(&self) -> Result<(), Failure> {
        self.check_is_own_datacenter(self.asked_datacenter())
    }

    /// Checks the datacenter of a read, whose failures have the headers of a read.
    pub(crate) fn check_datacenter_of_read(&self) -> Result<(), Failure> {
        let checked = self.check_datacenter();
        checked.map_err(|failure| failure.of_read(&self.context))
    }

    /// Checks a datacenter; an empty one is the server's own.
    pub(crate) fn check_is_own_datacenter(&self, asked: &[u8]) -> Result<(), Failure> {
        let own = self.context.config.datacenter.as_bytes();
        if asked.is_empty() || asked == own {
            Ok(())
        } else {
            Err(Failure::unknown_datacenter())
        }
    }

    /// Refuses namespaces and partitions of Consul Enterprise (kv.md 6.2).
    pub(crate) fn check_tenancy(&self) -> Result<(), Failure> {
        self.refuse(&NAMESPACE)?;
        self.check_partition()
    }

    /// Refuses partitions. Earlier releases ignore them as an unknown parameter.
    pub(crate) fn check_partition(&self) -> Result<(), Failure> {
        if self.has(Behaviour::HttpPartitionRefused) {
            self.refuse(&PARTITION)?;
        }
        Ok(())
    }

    fn refuse(&self, tenancy: &Tenancy) -> Result<(), Failure> {
        let failure =
            |place, name| Failure::enterprise(place, name, tenancy.feature, self.version());
        let header = self.headers.get(&tenancy.header);
        if header.is_some_and(|value| !value.is_empty()) {
            return Err(failure("header", tenancy.header_as_documented));
        }
        if !self.query.get(tenancy.parameter).is_empty() {
            return Err(failure("query parameter", tenancy.parameter));
        }
        Ok(())
    }

    /// Returns the `Content-Length`; `None` for a chunked body.
    pub(crate) fn content_length(&self) -> Option<u64> {
        self.body.length()
    }

    /// Reads the whole body, and stops as soon as it is longer than `limit`.
    pub(crate) async fn read_body(&mut self, limit: Option<u64>) -> Result<Bytes, BodyError> {
        let ReadBody { bytes, failure } = self
            .body
            .read(limit.unwrap_or(u64::MAX))
            .await
            .ok_or(BodyError::TooLarge)?;
        failure.map_or(Ok(bytes), |failure| Err(BodyError::Unreadable(failure)))
    }

    /// Reads the body up to its end or its first failure. What becomes of a long one is done beside the thread that serves.
    pub(crate) async fn read_whole(&mut self) -> ReadBody {
        let read = self.body.read(u64::MAX).await;
        let read = read.expect("no body is longer than u64::MAX bytes");
        if read.bytes.len() > MANY_BYTES {
            leave().await;
        }
        read
    }

    /// Whether no part of the request is to be handled on the thread that serves: it has a filter with patterns, which may
    /// take any time, or it may be about many rows and the handler cannot leave that thread later (`is_bound`).
    pub(crate) fn is_long(&self, is_bound: bool) -> bool {
        let filter = self.query.get("filter");
        if filter.len() > LONG_FILTER || filter.windows(MATCHES.len()).any(|word| word == MATCHES) {
            return true;
        }
        let engine = &self.context.engine;
        let is_read = is_bound && self.method == Method::GET;
        is_read && engine.rows_for(&NodeList(Labels::new())) > MANY_ROWS
            || self.route == "/v1/txn" && engine.rows_for(&KvList(Key::new(""))) > 8 * MANY_ROWS
    }

    /// Returns the rules of decoding for this release: which fields its types have, and whether its Go names embedded
    /// types in errors (1.22.md B0, 0.14).
    pub(crate) fn decoding(&self, unknown_fields: UnknownFields) -> DecodeOptions {
        DecodeOptions {
            unknown_fields,
            release: self.version().release(),
            go_type: None,
        }
    }

    /// Decodes the body as Go's decoder does, which stops at the end of the first value. A failure behind that value
    /// does not reach the endpoint, but ends the connection.
    ///
    /// # Errors
    /// Go's text about an invalid body.
    pub(crate) fn decode<T: Decode>(
        &self,
        body: ReadBody,
        place: &mut T::Place,
        rules: DecodeOptions,
    ) -> Result<(), String> {
        let result = decode::<T>(&body.bytes, place, rules);
        match (result, body.failure) {
            (Err(error), Some(failure)) if error.is_truncation() => Err(failure.to_string()),
            (result, failure) => {
                if let Some(failure) = failure {
                    self.body.forget_failure(failure);
                }
                result.map_err(|error| error.to_string())
            }
        }
    }
}

/// Why a body could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The body is longer than the limit.
    TooLarge,
    /// The client has disconnected, or the body violates HTTP.
    Unreadable(BodyFailure),
}
