//! Blocking queries as changes. Consul's rules for them stand here and nowhere else.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, Stream};

use crate::api::catalog::Check;
use crate::api::health::ServiceEntry;
use crate::api::kv::Pair;
use crate::api::session::{Session, SessionId};
use crate::client::Client;
use crate::clock::Backoff;
use crate::error::Error;
use crate::query::Answer;

type Reading<T> = Pin<Box<dyn Future<Output = Result<Answer<T>, Error>> + Send>>;

/// Something that is watched, from one of the `watch_...` methods of [`Client`]: first its present state, then each
/// change of it.
///
/// * A state that is skipped over is not reported, the newest always is. An answer that says nothing new (Consul
///   wakes some readers without need) is not reported either.
/// * An index that goes backwards (a server was restored or lost its data) starts the watch again.
/// * An error is reported once per failed request; the watch goes on after a wait that grows up to 10 s.
/// * Nothing runs while nobody awaits, and dropping it ends it: the connection is closed, which frees the server.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let server = proconsul::Server::start();
/// # let client = proconsul_client::Client::new(&server.url())?;
/// let mut watch = client.watch_key("config");
/// assert_eq!(watch.next().await?.value, None);
/// client.kv().put("config", "new").await?;
/// let pair = watch.next().await?.value.expect("it was written");
/// assert_eq!(pair.value, b"new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a watch does nothing until its next change is awaited"]
pub struct Watch<T> {
    client: Client,
    read: Arc<dyn Fn(Client) -> Reading<T> + Send + Sync>,
    /// What to wait beyond; 0 asks for the state as it is.
    index: u64,
    last: Option<T>,
    backoff: Backoff,
    /// To wait before the next request.
    pause: Duration,
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

impl<T: Clone + PartialEq + Send + 'static> Watch<T> {
    fn new<F>(client: &Client, read: impl Fn(Client) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Answer<T>, Error>> + Send + 'static,
    {
        Self {
            client: client.clone(),
            read: Arc::new(move |client| Box::pin(read(client))),
            index: 0,
            last: None,
            backoff: Backoff::default(),
            pause: Duration::ZERO,
        }
    }

    /// The next change; the first call gives the present state. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// That of one failed request; call again to go on.
    pub async fn next(&mut self) -> Result<Answer<T>, Error> {
        loop {
            if !self.pause.is_zero() {
                self.client.clock().sleep(self.pause).await;
                self.pause = Duration::ZERO;
            }
            let index = self.index;
            let client = self.client.but(|options| options.index(index));
            match (self.read)(client).await {
                Ok(answer) => {
                    self.backoff.succeeded();
                    self.index = next_index(self.index, answer.meta.index);
                    if self.last.as_ref() != Some(&answer.value) {
                        self.last = Some(answer.value.clone());
                        return Ok(answer);
                    }
                }
                Err(error) => {
                    self.pause = self.backoff.failed();
                    // Whatever is there now may be another server's.
                    self.index = 0;
                    return Err(error);
                }
            }
        }
    }

    /// The changes as a stream. An error does not end it.
    pub fn into_stream(self) -> impl Stream<Item = Result<Answer<T>, Error>> + Send {
        stream::unfold(self, |mut watch| async move {
            let next = watch.next().await;
            Some((next, watch))
        })
    }
}

/// The index to wait beyond, when an answer to waiting beyond `index` said that it is `seen`.
pub(crate) fn next_index(index: u64, seen: u64) -> u64 {
    if seen < index {
        // A server was restored, or is another one: its indexes may grow beyond this one unseen.
        0
    } else {
        // Waiting beyond 0 does not wait: it would ask as fast as it can.
        seen.max(1)
    }
}

impl Client {
    /// One key; `None` while it does not exist.
    pub fn watch_key(&self, key: &str) -> Watch<Option<Pair>> {
        let key = key.to_owned();
        Watch::new(self, move |client| {
            let key = key.clone();
            async move { client.kv().get(&key).await }
        })
    }

    /// All keys below a prefix.
    pub fn watch_prefix(&self, prefix: &str) -> Watch<Vec<Pair>> {
        let prefix = prefix.to_owned();
        Watch::new(self, move |client| {
            let prefix = prefix.clone();
            async move { client.kv().list(&prefix).await }
        })
    }

    /// The instances of a service with their health; with `passing`, only those whose checks all pass.
    pub fn watch_service(&self, service: &str, passing: bool) -> Watch<Vec<ServiceEntry>> {
        let service = service.to_owned();
        Watch::new(self, move |client| {
            let service = service.clone();
            async move {
                let health = client.health();
                if passing {
                    health.passing(&service).await
                } else {
                    health.service(&service).await
                }
            }
        })
    }

    /// The checks of a service.
    pub fn watch_checks(&self, service: &str) -> Watch<Vec<Check>> {
        let service = service.to_owned();
        Watch::new(self, move |client| {
            let service = service.clone();
            async move { client.health().checks(&service).await }
        })
    }

    /// One session; `None` when it has ended.
    pub fn watch_session(&self, id: &SessionId) -> Watch<Option<Session>> {
        let id = id.clone();
        Watch::new(self, move |client| {
            let id = id.clone();
            async move { client.sessions().info(&id).await }
        })
    }
}
