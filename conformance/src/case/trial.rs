//! One run of one case: its own names, its requests, its time, and what it must clean up.

use std::collections::hash_map::RandomState;
use std::fmt::Display;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::feature::Facts;
use crate::case::version::Version;
use crate::runner::verdict::{Halt, caught, fail, halt};
use crate::target::site::Site;
use crate::time::{Deadline, Stopwatch, pause};
use crate::wire::answer::Answer;
use crate::wire::transcript::{Names, Recorder, Transcript};
use crate::wire::waiting::{RawConnection, VIRTUAL_PATIENCE, Waiting};
use crate::wire::{self, Connection, Outcome, Request};

/// How long a settling pause is where nothing but real time shows that a server is at rest.
const SETTLE: Duration = Duration::from_millis(60);
/// How late a loaded machine may be; only ever makes a failure come later.
const SLOW: Duration = Duration::from_secs(20);
/// How often [`Trial::in_time`] tries.
const ATTEMPTS: usize = 5;
/// A blocked read that is answered later than this after a change is answered late.
const AT_ONCE: Duration = Duration::from_millis(300);
/// Between two polls of [`Trial::eventually`].
const POLL: Duration = Duration::from_millis(15);

/// One run of one case on one target.
///
/// All of it may be used from several threads at once (see [`Trial::together`]).
#[derive(Debug)]
pub struct Trial {
    site: Site,
    facts: Arc<Facts>,
    /// Unique among all trials of all runs: `<run>-<number>`.
    tag: String,
    recorder: Arc<Recorder>,
    made: Mutex<Made>,
}

/// What the trial must take away when it ends.
#[derive(Debug, Default)]
struct Made {
    keys: bool,
    sessions: Vec<String>,
    nodes: Vec<String>,
    /// `check/deregister/<id>` and `service/deregister/<id>` of the agent.
    agent: Vec<String>,
}

/// Eight letters and digits that no other run has; they only name things.
fn run_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let chance = RandomState::new().hash_one(std::process::id());
        // A letter at the front: in capitals it is another name always, not only mostly.
        format!("{:08x}", chance & 0xffff_ffff | 0xa000_0000)
    })
}

impl Trial {
    pub(crate) fn new(site: Site, facts: Arc<Facts>) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Of one length, because some claims count bytes.
        let tag = format!("{}-{number:05}", run_name());
        let names = Names {
            tag: tag.clone(),
            host: site.address().host.clone(),
            node: facts.node.clone(),
            other_nodes: Vec::new(),
        };
        Self {
            site,
            facts,
            tag,
            recorder: Arc::new(Recorder::new(names)),
            made: Mutex::default(),
        }
    }

    pub(crate) fn transcript(&self) -> Transcript {
        self.recorder.transcript()
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // --- names -------------------------------------------------------------------------------------------------------------

    /// A key under the trial's own prefix, which no other case uses and which is deleted afterwards.
    /// The prefix holds only lower-case letters, digits, `-` and `/` (key names are checked since 1.21.5).
    #[must_use]
    pub fn key(&self, name: &str) -> String {
        self.made().keys = true;
        format!("conformance/{}/{name}", self.tag)
    }

    /// The name of a catalog node of the trial's own; it is deregistered afterwards. This does not register it.
    #[must_use]
    pub fn node(&self, name: &str) -> String {
        let node = format!("conformance-{}-{name}", self.tag);
        let mut made = self.made();
        if !made.nodes.contains(&node) {
            made.nodes.push(node.clone());
        }
        node
    }

    /// The id of a check of the agent's own; it is deregistered afterwards. This does not register it.
    #[must_use]
    pub fn agent_check(&self, name: &str) -> String {
        self.of_agent("check", name)
    }

    /// The id of a service of the agent's own; it is deregistered afterwards. This does not register it.
    #[must_use]
    pub fn agent_service(&self, name: &str) -> String {
        self.of_agent("service", name)
    }

    fn of_agent(&self, kind: &str, name: &str) -> String {
        let id = format!("conformance-{}-{name}", self.tag);
        self.made().agent.push(format!("{kind}/deregister/{id}"));
        id
    }

    /// A well-formed session id that no session has.
    #[must_use]
    pub fn unknown_session(&self) -> String {
        "deadbeef-0000-4000-8000-0123456789ab".to_owned()
    }

    // --- the target --------------------------------------------------------------------------------------------------------

    /// What was found out about the target.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether the target is of this version or a later one.
    #[must_use]
    pub fn since(&self, version: Version) -> bool {
        self.facts.version >= version
    }

    /// The status of a redirect of Go's mux (2.1.md 1.r1).
    #[must_use]
    pub fn moved(&self) -> u16 {
        if self.since(Version::V2) { 307 } else { 301 }
    }

    /// The page of a redirect of Go's mux to a target, as HTML has it.
    #[must_use]
    pub fn moved_page(&self, target: &str) -> String {
        let words = match self.moved() {
            301 => "Moved Permanently",
            _ => "Temporary Redirect",
        };
        format!("<a href=\"{target}\">{words}</a>.\n\n")
    }

    /// The shortest TTL that a session may have here, but at least one second: `"1s"`, `"10s"`.
    /// The session lapses after twice that time (session.md 3.4).
    #[must_use]
    pub fn shortest_ttl(&self) -> (Duration, String) {
        let seconds = self.facts.shortest_ttl.as_secs_f64().ceil().max(1.0);
        (Duration::from_secs_f64(seconds), format!("{seconds:.0}s"))
    }

    // --- requests ----------------------------------------------------------------------------------------------------------

    /// `GET /v1/kv/<key>?<query>`.
    pub fn get(&self, key: &str, query: &str) -> Answer {
        self.send(&Request::get(&kv(key, query)))
    }

    /// `PUT /v1/kv/<key>?<query>` with a value.
    pub fn put(&self, key: &str, query: &str, value: impl AsRef<[u8]>) -> Answer {
        self.send(&Request::put(&kv(key, query), value))
    }

    /// `DELETE /v1/kv/<key>?<query>`.
    pub fn delete(&self, key: &str, query: &str) -> Answer {
        self.send(&Request::delete(&kv(key, query)))
    }

    /// `PUT /v1/txn` with a list of operations as JSON.
    pub fn txn(&self, operations: &Value) -> Answer {
        self.send(&Request::put("/v1/txn", operations.to_string()))
    }

    /// `GET` of any path and query.
    pub fn api_get(&self, target: &str) -> Answer {
        self.send(&Request::get(target))
    }

    /// `PUT` to any path and query.
    pub fn api_put(&self, target: &str, body: impl AsRef<[u8]>) -> Answer {
        self.send(&Request::put(target, body))
    }

    /// Any request, on a connection of its own.
    pub fn send(&self, request: &Request) -> Answer {
        let bytes = request.to_bytes(&self.site.address().host);
        let number = self.recorder.sent(&bytes);
        let watch = Stopwatch::start();
        let outcome = wire::exchange(self.site.address(), request);
        let took = watch.elapsed();
        self.recorder.heard(number, &outcome, took);
        if let Outcome::Unreachable(why) = outcome {
            halt(Halt::Unreachable(why));
        }
        let name = format!("{} {}", request.method, request.target);
        Answer::new(name, outcome, took, self.is_pretty())
    }

    /// Sends bytes as they are on a connection of their own and reads one reply.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut connection = self.connect();
        connection.send(bytes.as_ref());
        connection.answer()
    }

    /// The `Host` header for [`Self::raw`] requests.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.site.address().host
    }

    /// A connection to send bytes on and read several replies from.
    #[must_use]
    pub fn connect(&self) -> RawConnection {
        match Connection::open(self.site.address()) {
            Ok(connection) => {
                RawConnection::new(connection, Arc::clone(&self.recorder), self.is_pretty())
            }
            Err(why) => halt(Halt::Unreachable(why)),
        }
    }

    fn is_pretty(&self) -> bool {
        self.facts.has(crate::case::feature::Feature::DevMode)
    }

    // --- sessions and nodes ------------------------------------------------------------------------------------------------

    /// Creates a session and gives its id; it is destroyed afterwards. The body is sent as it stands.
    #[track_caller]
    pub fn session(&self, body: &str) -> String {
        let answer = self.create_session(body).status_is(200);
        match answer.json().get("ID").and_then(Value::as_str) {
            Some(id) => id.to_owned(),
            None => fail("session/create answered without an ID"),
        }
    }

    /// A session without TTL whose keys are free at once when it falls. Bound to no check, so that nothing but a destroy ends it.
    #[track_caller]
    pub fn session_without_delay(&self) -> String {
        self.session(r#"{"LockDelay":"0s","NodeChecks":[]}"#)
    }

    /// Asks for a session, for claims about the answer; if one comes into being, it is destroyed afterwards.
    pub fn create_session(&self, body: &str) -> Answer {
        let answer = self.api_put("/v1/session/create", body);
        if let Outcome::Reply(reply) = answer.outcome()
            && let Ok(json) = serde_json::from_slice::<Value>(&reply.body)
            && let Some(id) = json.get("ID").and_then(Value::as_str)
        {
            self.made().sessions.push(id.to_owned());
        }
        answer
    }

    /// `PUT /v1/session/destroy/<id>`, which must be answered `true`.
    #[track_caller]
    pub fn destroy(&self, session: &str) {
        self.api_put(&format!("/v1/session/destroy/{session}"), "")
            .is(200, "true");
    }

    /// Registers a catalog node of the trial's own and gives its name; it has no checks, so sessions on it need `"NodeChecks":[]`.
    #[track_caller]
    pub fn register_node(&self, name: &str) -> String {
        let node = self.node(name);
        self.register(&json!({"Node": node, "Address": "127.0.0.1"}));
        node
    }

    /// `PUT /v1/catalog/register`, which must be answered `true`. Name nodes with [`Self::node`].
    #[track_caller]
    pub fn register(&self, body: &Value) {
        self.api_put("/v1/catalog/register", body.to_string())
            .is(200, "true");
    }

    // --- blocking requests -------------------------------------------------------------------------------------------------

    /// Starts `GET /v1/kv/<key>?<query>` in the background and returns once the server may be supposed to hold it.
    pub fn start_get(&self, key: &str, query: &str) -> Waiting {
        self.start(&Request::get(&kv(key, query)))
    }

    /// Starts any request in the background and returns once the server may be supposed to hold it.
    pub fn start(&self, request: &Request) -> Waiting {
        let waiting = self.start_one(request);
        self.settle();
        waiting
    }

    /// The same for many requests at the same time.
    pub fn start_all(&self, requests: &[Request]) -> Vec<Waiting> {
        let waiting = requests.iter().map(|request| self.start_one(request));
        let waiting = waiting.collect();
        self.settle();
        waiting
    }

    fn start_one(&self, request: &Request) -> Waiting {
        Waiting::start(
            self.site.address(),
            request.clone(),
            Arc::clone(&self.recorder),
            self.is_pretty(),
            self.site.clock().is_virtual(),
        )
    }

    /// Gives the server time to come to rest: to register a blocking query, or to answer one wrongly.
    ///
    /// Only ever makes a claim sharper: a server that is slower than this cannot make a right case fail.
    pub fn settle(&self) {
        let request = Request::get("/v1/status/leader");
        for _ in 0..2 {
            if let Outcome::Unreachable(why) = wire::exchange(self.site.address(), &request) {
                halt(Halt::Unreachable(why));
            }
        }
        pause(SETTLE);
    }

    /// The blocking request has not been answered, even after the server came to rest.
    ///
    /// Follow it with a write that must wake the request and look at what [`Waiting::answer`] shows: that also catches a server which
    /// woke too late for this look.
    #[track_caller]
    pub fn still_blocked(&self, waiting: &Waiting) {
        self.settle();
        if let Some(answer) = waiting.peek() {
            fail(format!(
                "{} should still block, but was answered after {:.1?}",
                waiting.request(),
                answer.took()
            ));
        }
    }

    /// A blocked read of `path` is answered at once when `change` has been made, which must change something each time.
    ///
    /// One attempt in time is enough: a busy machine is late now and then, a server that is late is so every time.
    #[track_caller]
    pub fn wakes_at_once(&self, path: &str, mut change: impl FnMut()) {
        let mark = if path.contains('?') { '&' } else { '?' };
        let what = format!("{path} is answered within {AT_ONCE:?} of a change");
        self.eventually(&what, SLOW, || {
            let index = self.api_get(path).index();
            let request = format!("{path}{mark}index={index}&wait=60s");
            let waiting = self.start(&Request::get(&request));
            change();
            let watch = Stopwatch::start();
            let answer = waiting.answer();
            let late = watch.elapsed();
            self.grew("the index", index, answer.index());
            (late <= AT_ONCE).then_some(())
        });
    }

    /// The blocking request is answered when its `wait` has run out, and not before; gives that answer.
    ///
    /// Where time is virtual, the clock must not have been advanced since the request was started.
    #[track_caller]
    pub fn runs_out(&self, waiting: &Waiting, wait: Duration) -> Answer {
        self.recorder.note(format!("the wait runs out: {wait:?}"));
        if self.site.clock().is_virtual() {
            self.advance(wait * 3 / 4);
            self.settle();
            if let Some(early) = waiting.peek() {
                // What has passed for real came on top.
                return early.took_at_least(wait / 4);
            }
            // So does the jitter of up to a sixteenth (kv.md 5.1).
            self.advance(wait / 2);
            return waiting.answer();
        }
        waiting
            .answer_within(wait * 17 / 16 + SLOW)
            .took_at_least(wait)
    }

    // --- time --------------------------------------------------------------------------------------------------------------

    /// Lets time pass on the target: through its control plane where it has one, else by waiting.
    pub fn pass(&self, duration: Duration) {
        self.recorder.note(format!("time passes: {duration:?}"));
        self.advance(duration);
    }

    fn advance(&self, duration: Duration) {
        if let Err(why) = self.site.clock().pass(duration) {
            halt(Halt::Suite(format!(
                "the target's clock did not advance: {why}"
            )));
        }
    }

    /// Does what is only true when it is done within `limit`, and once more when a slow machine took longer and it failed.
    ///
    /// For claims that something is still so: where real time passes, the claim may have become untrue while the suite was held up.
    pub fn in_time<T>(&self, limit: Duration, body: impl Fn() -> T) -> T {
        for _ in 0..ATTEMPTS {
            let before = self.recorder.length();
            let watch = Stopwatch::start();
            let end = caught(&body);
            let was_slow = !self.site.clock().is_virtual() && watch.elapsed() >= limit;
            match end {
                Ok(result) => return result,
                Err(Halt::Failed(_)) if was_slow => self.recorder.supersede_since(before),
                Err(other) => halt(other),
            }
        }
        halt(Halt::Suite(format!(
            "this machine is too slow: {ATTEMPTS} times something took longer than {limit:?}"
        )))
    }

    /// Does what has to be done before the case begins, which is no part of what is recorded and compared.
    pub fn before<T>(&self, body: impl FnOnce() -> T) -> T {
        let before = self.recorder.length();
        let result = body();
        self.recorder.supersede_since(before);
        result
    }

    /// Asks until `look` gives something, at most for `bound` of real time; `what` names it in the failure.
    #[track_caller]
    pub fn eventually<T>(
        &self,
        what: &str,
        bound: Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> T {
        let bound = match self.site.clock().is_virtual() {
            true => bound.min(VIRTUAL_PATIENCE),
            false => bound,
        };
        let deadline = Deadline::after(bound);
        loop {
            let before = self.recorder.length();
            if let Some(found) = look() {
                return found;
            }
            self.recorder.supersede_since(before);
            if deadline.left().is_none() {
                fail(format!("{what}: did not happen within {bound:?}"));
            }
            pause(POLL);
        }
    }

    // --- claims and threads ------------------------------------------------------------------------------------------------

    /// Fails the case with `otherwise` unless `holds`.
    #[track_caller]
    pub fn check(&self, holds: bool, otherwise: impl Display) {
        if !holds {
            fail(otherwise.to_string());
        }
    }

    /// Fails the case unless both sides are equal; `what` names them.
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a claim reads better without borrows"
    )]
    pub fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, came: T, expected: T) {
        if came != expected {
            fail(format!("{what}: expected {expected:?}, but it is {came:?}"));
        }
    }

    /// Fails the case unless `later > earlier`, e.g. for indexes; `what` names them.
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a claim reads better without borrows"
    )]
    pub fn grew<T: PartialOrd + std::fmt::Debug>(&self, what: &str, earlier: T, later: T) {
        if later <= earlier {
            fail(format!(
                "{what}: expected more than {earlier:?}, but it is {later:?}"
            ));
        }
    }

    /// Says that two right servers need not say the same in this case, so that `diff` and `record` leave it out.
    pub fn not_compared(&self, why: &'static str) {
        self.recorder.not_compared(why);
    }

    /// Runs `body(0)` to `body(count - 1)` at the same time and gives their results in order; a claim that fails in one fails the case.
    pub fn together<T: Send>(&self, count: usize, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
        self.recorder.not_compared("its requests race");
        let results: Vec<Result<T, Halt>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count)
                .map(|number| {
                    let body = &body;
                    scope.spawn(move || caught(|| body(number)))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .expect("every panic is caught within the thread")
                })
                .collect()
        });
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(|stopped| halt(stopped)))
            .collect()
    }

    // --- the end -----------------------------------------------------------------------------------------------------------

    /// Takes away what the trial made. What fails here fails silently: the case has already spoken.
    pub(crate) fn clean_up(&self) {
        let made = std::mem::take(&mut *self.made());
        let mut requests = Vec::new();
        for session in made.sessions {
            requests.push(Request::put(&format!("/v1/session/destroy/{session}"), ""));
        }
        if made.keys {
            requests.push(Request::delete(&kv(
                &format!("conformance/{}/", self.tag),
                "recurse",
            )));
        }
        for node in made.nodes {
            let body = json!({"Node": node}).to_string();
            requests.push(Request::put("/v1/catalog/deregister", body));
        }
        for path in made.agent {
            requests.push(Request::put(&format!("/v1/agent/{path}"), ""));
        }
        for request in requests {
            if matches!(
                wire::exchange(self.site.address(), &request),
                Outcome::Unreachable(_)
            ) {
                return;
            }
        }
    }
}

fn kv(key: &str, query: &str) -> String {
    match query {
        "" => format!("/v1/kv/{key}"),
        query => format!("/v1/kv/{key}?{query}"),
    }
}
