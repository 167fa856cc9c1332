//! What the state of a real Consul proves during a run, recorded in the history of a server that serves nobody.
//!
//! Requests that may change the state go through one after another. After each, and whenever an index has grown, the keys of
//! the run and the sessions are read, and what differs is recorded. So the order of the records is the order of what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use proconsul_engine::Engine;
use proconsul_engine::faults::RequestKind;
use proconsul_engine::history::{CallId, Happened};
use proconsul_explore::Change;
use proconsul_gocompat::duration;
use proconsul_gocompat::url::path_escape;
use proconsul_os::time;
use proconsul_store::Behavior;
use serde_json::{Value, json};

use super::asked::About;
use super::consul::{Consul, index_of, path_of, refused, request};
use super::seen::{Because, Row, Seen, Session};

/// How much longer than a lock-delay the next run waits.
const MARGIN: Duration = Duration::from_millis(50);
/// The longest lock-delay that has an effect (session.md 3.2).
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The node of services that change.
pub(super) const NODE: &str = "explore";

/// The runs on one Consul, one at a time.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) consul: Arc<Consul>,
    /// The last run, until what it has made is removed.
    last: Mutex<Option<Arc<Witness>>>,
}

impl Runs {
    pub(super) fn on(consul: Consul) -> Self {
        Self {
            consul: Arc::new(consul),
            last: Mutex::default(),
        }
    }

    /// Begins a run, which is recorded in the history of this engine.
    pub(super) fn begin(&self, engine: Arc<Engine>) -> Arc<Witness> {
        let run = Arc::new(Witness::new(&self.consul, engine));
        *self.last.lock() = Some(Arc::clone(&run));
        run
    }

    /// Removes what the last run has made, and waits until its lock-delays are over.
    ///
    /// # Errors
    /// Consul does not do it, or the run was not what the schedule wants.
    pub(super) async fn tidy(&self) -> Result<(), String> {
        let run = self.last.lock().take();
        match run {
            Some(run) => run.tidy().await,
            None => Ok(()),
        }
    }
}

/// Sees what one run does to a Consul.
#[derive(Debug)]
pub(super) struct Witness {
    consul: Arc<Consul>,
    engine: Arc<Engine>,
    seen: tokio::sync::Mutex<Seen>,
    /// The highest index that a look has seen.
    index: AtomicU64,
    /// The longest lock-delay of the run's sessions, in nanoseconds.
    lock_delay: AtomicU64,
    /// Whether a service has been registered.
    has_service: AtomicBool,
    /// Why the run is not what the schedule wants.
    failure: Mutex<Option<String>>,
}

impl Witness {
    fn new(consul: &Arc<Consul>, engine: Arc<Engine>) -> Self {
        Self {
            consul: Arc::clone(consul),
            seen: tokio::sync::Mutex::new(Seen::new(&engine)),
            engine,
            index: AtomicU64::default(),
            lock_delay: AtomicU64::default(),
            has_service: AtomicBool::default(),
            failure: Mutex::default(),
        }
    }

    /// Removes the keys, sessions and services that the run has made, and waits until its lock-delays are over.
    async fn tidy(&self) -> Result<(), String> {
        let mut seen = self.seen.lock().await;
        seen.is_over = true;
        // Without their keys, the sessions leave no lock-delays behind.
        let keys = seen.own_keys().map(|key| (Method::DELETE, path_of(key)));
        let sessions = seen.sessions.keys();
        let sessions = sessions.map(|id| (Method::PUT, format!("/v1/session/destroy/{id}")));
        for (method, target) in keys.chain(sessions) {
            let done = self.consul.send(request(method, &target, Bytes::new()));
            let done = done.await?;
            if done.status() != StatusCode::OK {
                return Err(refused(&target, &done));
            }
        }
        if self.has_service.load(Ordering::Relaxed) {
            let node = Bytes::from(json!({ "Node": NODE }).to_string());
            let target = "/v1/catalog/deregister";
            self.consul.send(request(Method::PUT, target, node)).await?;
        }
        let now = time::elapsed();
        let last = seen.delays.values().max();
        if let Some(last) = last.filter(|last| **last > now) {
            time::delay(*last - now + MARGIN).await;
        }
        match self.failure.lock().take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Returns the longest lock-delay of the run's sessions, in nanoseconds.
    pub(super) fn lock_delay_nanos(&self) -> u64 {
        self.lock_delay.load(Ordering::Relaxed)
    }

    /// Looks at the state whenever sessions have changed, and once a second. Returns why that ends.
    pub(super) async fn watch(&self) -> String {
        let mut index = 0;
        loop {
            let changed = format!("/v1/session/list?index={index}&wait=1s");
            let looked = match self.consul.get(&changed).await {
                Ok((next, _)) => {
                    index = if next < index { 0 } else { next };
                    let mut seen = self.seen.lock().await;
                    self.look(&mut seen, &Because::default()).await
                }
                Err(error) => Err(error),
            };
            let failure = self.failure.lock().take();
            if let Some(failure) = failure.or(looked.err()) {
                return failure;
            }
        }
    }

    /// Passes on a request that changes nothing. What its response shows is recorded before.
    ///
    /// # Errors
    /// Consul does not answer.
    pub(super) async fn read(&self, request: Request<Bytes>) -> Result<Response<Bytes>, String> {
        let path = request.uri().path();
        let shows_state = path.starts_with("/v1/kv/") || path.starts_with("/v1/session/");
        let answer = self.consul.send(request).await?;
        let index = index_of(&answer);
        if shows_state && index > self.index.load(Ordering::Relaxed) {
            let mut seen = self.seen.lock().await;
            self.look(&mut seen, &Because::default()).await?;
            self.index.fetch_max(index, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Passes on a request that may change the state, and records what has changed.
    ///
    /// # Errors
    /// Consul does not answer, or the run is over.
    pub(super) async fn write(
        &self,
        call: Option<CallId>,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, String> {
        let about = About::new(&request);
        let mut seen = self.seen.lock().await;
        if seen.is_over {
            return Err("the run is over".to_owned());
        }
        for (key, is_prefix) in about.keys() {
            self.learn(&mut seen, key, *is_prefix).await?;
        }
        let acquired = about.acquired();
        let holder = acquired.and_then(|(key, _)| seen.holder(key).map(str::to_owned));
        let answer = self.consul.send(request).await?;
        let is_done = answer.status() == StatusCode::OK;
        if is_done && about.kind == RequestKind::Create {
            self.created(&mut seen, call, answer.body()).await?;
        }
        let because = Because {
            call,
            about: Some(&about),
        };
        self.look(&mut seen, &because).await?;
        let what = match acquired {
            Some((key, session)) if is_done => {
                let is_acquired = answer.body().trim_ascii() == b"true";
                seen.outcome(key, session, holder.as_deref(), is_acquired)
            }
            _ if is_done => about.renewed().map(|session| Happened::SessionRenewed {
                session: session.to_owned(),
            }),
            _ => None,
        };
        if let Some(what) = what {
            Engine::of_call(call, || self.engine.record(what));
        }
        Ok(answer)
    }

    /// Changes the state as the schedule wants it.
    pub(super) async fn change(&self, change: &Change) {
        let done = match change {
            Change::DestroySession(id) => {
                let target = format!("/v1/session/destroy/{id}");
                self.put(Method::PUT, &target, Bytes::new()).await
            }
            Change::DeleteKey(key) => self.put(Method::DELETE, &path_of(key), Bytes::new()).await,
            Change::FailNode => self.fail_node().await,
        };
        self.keep_failure(done);
    }

    /// Writes a key, as somebody who is no contender.
    pub(super) async fn put_key(&self, key: &str, value: String) {
        let done = self.put(Method::PUT, &path_of(key), value.into()).await;
        self.keep_failure(done);
    }

    /// Registers a service on [`NODE`]; `None` if Consul does not do it.
    pub(super) async fn register(&self, registration: String) -> Option<()> {
        self.has_service.store(true, Ordering::Relaxed);
        let done = self.put(Method::PUT, "/v1/catalog/register", registration.into());
        self.keep_failure(done.await)
    }

    fn keep_failure(&self, done: Result<(), String>) -> Option<()> {
        if let Err(error) = done {
            self.failure.lock().get_or_insert(error);
            return None;
        }
        Some(())
    }

    async fn put(&self, method: Method, target: &str, body: Bytes) -> Result<(), String> {
        let answer = self.write(None, request(method, target, body)).await?;
        match answer.status() {
            StatusCode::OK => Ok(()),
            _ => Err(refused(target, &answer)),
        }
    }

    /// Registers the check `serfHealth` of the node as critical, and then as it was.
    async fn fail_node(&self) -> Result<(), String> {
        let node = &self.consul.node;
        let escaped = path_escape(node.as_bytes());
        let target = format!("/v1/catalog/node/{escaped}");
        let (_, of_node) = self.consul.get(&target).await?;
        let target = format!("/v1/health/node/{escaped}");
        let (_, checks) = self.consul.get(&target).await?;
        let mut checks = checks.as_array().into_iter().flatten();
        let passing = checks.find(|check| check["CheckID"] == "serfHealth");
        let passing = passing.ok_or("fail-node: the node has no check serfHealth")?;
        let mut critical = passing.clone();
        critical["Status"] = json!("critical");
        for check in [&critical, passing] {
            let body = json!({
                "Node": node,
                "Address": of_node["Node"]["Address"],
                "SkipNodeUpdate": true,
                "Check": check,
            });
            let body = Bytes::from(body.to_string());
            self.put(Method::PUT, "/v1/catalog/register", body).await?;
        }
        Ok(())
    }

    /// Learns what a key is before the run changes it.
    async fn learn(&self, seen: &mut Seen, key: &str, is_prefix: bool) -> Result<(), String> {
        if !is_prefix && seen.knows(key) {
            return Ok(());
        }
        let target = path_of(key) + if is_prefix { "?recurse" } else { "" };
        let (_, rows) = self.consul.get(&target).await?;
        for row in rows.as_array().into_iter().flatten() {
            let key = row["Key"].as_str().unwrap_or_default();
            seen.learn(key, Some(Row::of(row)));
        }
        if !is_prefix {
            seen.learn(key, None);
        }
        Ok(())
    }

    /// Records the session that a request has created.
    async fn created(
        &self,
        seen: &mut Seen,
        call: Option<CallId>,
        body: &[u8],
    ) -> Result<(), String> {
        let made: Value = serde_json::from_slice(body).unwrap_or_default();
        let id = made["ID"].as_str().unwrap_or_default();
        let (_, rows) = self.consul.get(&format!("/v1/session/info/{id}")).await?;
        let row = &rows[0];
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let ttl = duration::parse(text("TTL")).ok();
        let ttl = ttl.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
        let ttl = Duration::from_nanos(ttl.unwrap_or_default());
        let lock_delay = Duration::from_nanos(row["LockDelay"].as_u64().unwrap_or_default());
        let session = Session {
            has_ttl: !ttl.is_zero(),
            lock_delay: lock_delay.min(LONGEST_DELAY),
            check: row["NodeChecks"][0].as_str().unwrap_or_default().to_owned(),
        };
        let nanoseconds = u64::try_from(session.lock_delay.as_nanos()).unwrap_or(u64::MAX);
        self.lock_delay.fetch_max(nanoseconds, Ordering::Relaxed);
        seen.sessions.insert(id.to_owned(), session);
        let what = Happened::SessionCreated {
            session: id.to_owned(),
            name: text("Name"),
            node: text("Node"),
            ttl,
            behavior: match row["Behavior"].as_str() {
                Some("delete") => Behavior::Delete,
                _ => Behavior::Release,
            },
        };
        Engine::of_call(call, || self.engine.record(what));
        Ok(())
    }

    /// Reads the state, and records what has changed since the last look.
    async fn look(&self, seen: &mut Seen, because: &Because<'_>) -> Result<(), String> {
        if seen.is_over {
            return Ok(());
        }
        let mut rows = self.rows(seen, because).await?;
        let (index, list) = self.consul.get("/v1/session/list").await?;
        self.index.fetch_max(index, Ordering::Relaxed);
        let list = list.as_array().into_iter().flatten();
        let live: BTreeSet<&str> = list.filter_map(|row| row["ID"].as_str()).collect();
        let ended = seen
            .sessions
            .keys()
            .filter(|id| !live.contains(id.as_str()));
        let ended: Vec<String> = ended.cloned().collect();
        if !ended.is_empty() {
            // The keys may have been read before the session ended.
            rows = self.rows(seen, because).await?;
        }
        for id in ended {
            seen.ended(&id, because);
        }
        for (key, row) in rows {
            seen.changed(&key, row, because);
        }
        Ok(())
    }

    /// Reads the keys that may have changed: those that are held, and those that a request names.
    async fn rows(
        &self,
        seen: &Seen,
        because: &Because<'_>,
    ) -> Result<BTreeMap<String, Option<Row>>, String> {
        let mut rows = BTreeMap::new();
        for key in seen.may_have_changed(because) {
            let (index, row) = self.consul.get(&path_of(key)).await?;
            self.index.fetch_max(index, Ordering::Relaxed);
            rows.insert(key.to_owned(), row.get(0).map(Row::of));
        }
        Ok(rows)
    }
}
