//! Reads from the agent's cache, `?cached` (session.md 4.5c).
//!
//! Consul refreshes most entries in the background, soon after a change. Here they are read afresh, which is the same but
//! for that moment; what is kept is that they have been asked for. Entries that Consul does not refresh are kept as they were.

use std::any::Any;
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AGE, CACHE_CONTROL};
use http::{HeaderName, HeaderValue};

use super::cache::{Found, Moment, Value};
use super::selection::node_meta;
use super::{ReadOptions, Request};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::header::number;
use proconsul_store::Read;

/// How long a read of the cache waits that does not say how long.
const ENDLESS: Duration = Duration::from_secs(u32::MAX as u64);

const CACHE: HeaderName = HeaderName::from_static("x-cache");

/// The reads that the agent's cache answers from what any server has, beside executions of prepared queries.
const CACHED: [&str; 7] = [
    "/v1/catalog/services",
    "/v1/catalog/service/",
    "/v1/catalog/connect/",
    "/v1/health/service/",
    "/v1/health/connect/",
    "/v1/health/ingress/",
    "/v1/discovery-chain/",
];

/// What the cache has for a read.
pub(crate) struct Cached(Source);

enum Source {
    /// The read is not about the cache.
    Off,
    /// The read is answered from an entry of this age.
    Hit(Duration),
    /// The answer becomes the entry with this key, which holds this.
    Miss(String, Option<Value>),
}

impl Request {
    /// Whether the request asks for the cache, and gets it.
    pub(crate) fn wants_cache(&self) -> bool {
        self.query.has("cached") && self.context.config.use_cache
    }

    /// Whether the agent's cache answers the request, which reads from any server (cluster.md 1.8).
    pub(crate) fn reads_into_cache(&self) -> bool {
        let is_cached = match self.route {
            "/v1/query/" => self.rest.ends_with(b"/execute"),
            route => CACHED.contains(&route),
        };
        is_cached && self.wants_cache()
    }

    /// Returns what the cache has for a read that it refreshes, and the options with which to read: a wait in the cache
    /// has neither default nor maximum nor jitter. Who has to wait is answered by the server, which is a miss.
    pub(crate) fn cached<R: Read<Refused = Infallible>>(
        &self,
        read: &R,
        options: ReadOptions,
    ) -> (ReadOptions, Cached) {
        self.cached_as(&(), read, options)
    }

    /// Returns what [`Request::cached`] does, for reads of several kinds, which have entries of their own.
    pub(crate) fn cached_as<R: Read<Refused = Infallible>>(
        &self,
        kind: &impl Debug,
        read: &R,
        options: ReadOptions,
    ) -> (ReadOptions, Cached) {
        if self.wants_cache() {
            debug_assert!(self.reads_into_cache(), "{}: not in CACHED", self.route);
            self.entry_of(&(kind, self.what_tells_apart()), read, options, false)
        } else {
            (options, Cached::off())
        }
    }

    /// Returns what [`Request::cached`] does, for reads that `parts` tells apart.
    pub(crate) fn cached_by<R: Read>(
        &self,
        parts: &impl Debug,
        read: &R,
        options: ReadOptions,
    ) -> (ReadOptions, Cached) {
        if self.wants_cache() {
            self.entry_of(parts, read, options, false)
        } else {
            (options, Cached::off())
        }
    }

    /// Returns what [`Request::cached`] does, for an endpoint that always asks the cache. It is there already where the agent
    /// `has_read` it itself.
    pub(crate) fn always_cached<R: Read<Refused = Infallible>>(
        &self,
        read: &R,
        options: ReadOptions,
        has_read: bool,
    ) -> (ReadOptions, Cached) {
        self.entry_of(&((), self.what_tells_apart()), read, options, has_read)
    }

    /// Returns what tells the cached reads of an endpoint apart.
    fn what_tells_apart(&self) -> impl Debug + use<> {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let mut tags: Vec<_> = self.query.all("tag").map(text).collect();
        tags.sort_unstable();
        // The list of all services has none to look for.
        tags.retain(|_| self.route != "/v1/catalog/services");
        let [filter, peer] = ["filter", "peer"].map(|name| text(self.query.get(name)));
        (text(&self.rest), tags, node_meta(self), filter, peer)
    }

    fn entry_of<R: Read>(
        &self,
        parts: &impl Debug,
        read: &R,
        mut options: ReadOptions,
        has_read: bool,
    ) -> (ReadOptions, Cached) {
        let key = self.cache_key(parts);
        let is_there = has_read || self.asked.cache.find(&key, self.moment()).is_some();
        let waits = options.wait.as_mut().is_some_and(|wait| {
            wait.is_exact = true;
            wait.limit = self.asked_wait().ok().flatten().unwrap_or(ENDLESS);
            let answer = self.context.engine.read(read);
            answer.is_ok_and(|answer| answer.index <= wait.min_index)
        });
        let source = match is_there && !waits {
            // The background query follows the state.
            true => Source::Hit(Duration::ZERO),
            false => Source::Miss(key, None),
        };
        (options, Cached(source))
    }

    /// Returns an entry that is not refreshed, if it is young enough for the client.
    pub(crate) fn kept<T: Any + Send + Sync>(&self, key: &str) -> Option<(Arc<T>, Cached)> {
        let oldest = self.oldest_wanted().ok()?;
        let Found { age, value } = self.asked.cache.find(key, self.moment())?;
        let is_young = oldest.is_none_or(|oldest| age <= oldest && !oldest.is_zero());
        let value = value?.downcast().ok().filter(|_| is_young)?;
        Some((value, Cached(Source::Hit(age))))
    }

    /// Returns the key of an entry: the endpoint, what distinguishes its reads, and the token as it is spelled.
    pub(crate) fn cache_key(&self, read: &impl Debug) -> String {
        let datacenter = &self.context.config.datacenter;
        format!("{datacenter} {} {read:?} {:?}", self.route, self.secret())
    }

    fn moment(&self) -> Moment {
        let engine = &self.context.engine;
        Moment {
            era: engine.era(),
            now: engine.clock().now(),
        }
    }

    /// Returns the greatest age of an entry that the client takes, as `Cache-Control` has it: zero for one that is
    /// fetched now, `None` for any. The first header of several counts.
    ///
    /// # Errors
    /// One of the two numbers that Consul reads is invalid.
    pub(crate) fn oldest_wanted(&self) -> Result<Option<Duration>, Failure> {
        let Some(value) = self.headers.get(CACHE_CONTROL) else {
            return Ok(None);
        };
        let value = String::from_utf8_lossy(value).to_lowercase();
        let mut oldest = None;
        let mut revalidates = false;
        for directive in value.split(',').map(str::trim) {
            revalidates |= directive == "must-revalidate";
            if let Some((name @ ("max-age" | "stale-if-error"), number)) = directive.split_once('=')
            {
                let seconds = number.parse::<i64>();
                let seconds = seconds.map_err(|_| Failure::invalid_cache_control())?;
                if name == "max-age" {
                    revalidates |= seconds == 0;
                    oldest = u64::try_from(seconds).ok().map(Duration::from_secs);
                }
            }
        }
        Ok(if revalidates {
            Some(Duration::ZERO)
        } else {
            oldest
        })
    }
}

impl Cached {
    /// Returns a miss. Its answer becomes an entry that is not refreshed.
    pub(crate) fn missed<T: Any + Send + Sync>(key: String, value: Arc<T>) -> Self {
        Self(Source::Miss(key, Some(value)))
    }

    /// Returns what a read is that does not ask for the cache.
    pub(crate) fn off() -> Self {
        Self(Source::Off)
    }

    /// Says in the headers whether the answer was cached. That of a miss will be.
    pub(crate) fn told_in(self, request: &Request, mut reply: Reply) -> Reply {
        let told = match self.0 {
            Source::Off => return reply,
            Source::Hit(age) => {
                let seconds = (age + Duration::from_millis(500)).as_secs();
                reply.headers.push((AGE, number(seconds)));
                "HIT"
            }
            Source::Miss(key, value) => {
                request.asked.cache.keep(key, request.moment(), value);
                "MISS"
            }
        };
        reply.headers.push((CACHE, HeaderValue::from_static(told)));
        reply
    }
}
