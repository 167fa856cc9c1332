//! Rules: which requests are hit, and how.

use std::net::IpAddr;
use std::time::Duration;

use super::Asked;
use super::effect::{AclChange, DnsFailure, Effect, Moment};
use super::error::RuleError;
use super::question::{Question, is_below};
use proconsul_store::timestamp::Timestamp;

/// A rule: an effect, and the requests that it hits. All conditions must be met; without any, every request is hit. With
/// [`question`](Rule::question), or an effect of DNS, it hits questions of DNS in their place.
///
/// ```
/// use proconsul::faults::{Cut, Effect, Rule};
///
/// let server = proconsul::Server::start();
/// let lost = Rule::new(Effect::AppliedThen(Cut::Reset)).method("PUT").key_prefix("job/").times(1);
/// let guard = server.fault(lost)?;
/// assert_eq!(guard.hits(), 0);
/// # Ok::<(), proconsul::faults::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a rule is installed by `Server::fault`"]
pub struct Rule {
    effect: Effect,
    method: Option<String>,
    path: Option<String>,
    key_prefix: Option<Vec<u8>>,
    session: Option<String>,
    client: Option<IpAddr>,
    agent: Option<usize>,
    header: Option<(String, String)>,
    question: Option<String>,
    window: Option<(Timestamp, Timestamp)>,
    nth: Option<u64>,
    chance: Option<(f64, u64)>,
    times: Option<u64>,
}

const METHODS: &[&str] = &["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];

impl Rule {
    /// Returns a rule that hits every request.
    pub fn new(effect: Effect) -> Self {
        Self {
            effect,
            method: None,
            path: None,
            key_prefix: None,
            session: None,
            client: None,
            agent: None,
            header: None,
            question: None,
            window: None,
            nth: None,
            chance: None,
            times: None,
        }
    }

    /// Only requests with this method.
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Only requests whose decoded path starts with `prefix`, such as `/v1/session/`.
    pub fn path(mut self, prefix: impl Into<String>) -> Self {
        self.path = Some(prefix.into());
        self
    }

    /// Only requests for a key with this prefix, or for a tree of keys whose prefix starts with it.
    pub fn key_prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.key_prefix = Some(prefix.as_ref().to_vec());
        self
    }

    /// Only requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`.
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session = Some(id.into());
        self
    }

    /// Only requests from this address.
    pub fn client(mut self, address: IpAddr) -> Self {
        self.client = Some(address);
        self
    }

    /// Only requests that come to the agent with this number, counted from 0: a client of several addresses goes to another.
    pub fn agent(mut self, number: usize) -> Self {
        self.agent = Some(number);
        self
    }

    /// Only requests with this header, which tells clients on one machine apart.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.header = Some((name.into(), value.into()));
        self
    }

    /// Questions of DNS about this name, or one below it, in place of requests; `.` is any name. They are hit by [`Effect::Dns`],
    /// [`Effect::DelayBefore`], [`Effect::DelayAfter`] and [`Effect::Hang`].
    ///
    /// ```
    /// use proconsul::faults::{DnsFailure, Effect, Rule};
    ///
    /// let server = proconsul::Server::builder().dns().start()?;
    /// let fails = Rule::new(Effect::Dns(DnsFailure::ServFail)).question("web.service.consul");
    /// let _guard = server.fault(fails)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn question(mut self, name: impl AsRef<str>) -> Self {
        let name = name.as_ref().trim_end_matches('.');
        self.question = Some(name.to_ascii_lowercase());
        self
    }

    /// Only requests that arrive at `from` or later and before `to`, on the server's clock.
    pub fn between(mut self, from: Timestamp, to: Timestamp) -> Self {
        self.window = Some((from, to));
        self
    }

    /// Only the nth request, counted from 1, that meets the other conditions.
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Hits with this probability. The same seed hits the same requests.
    pub fn chance(mut self, probability: f64, seed: u64) -> Self {
        self.chance = Some((probability, seed));
        self
    }

    /// Hits at most this many requests.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Returns what happens to the requests.
    #[must_use]
    pub fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Returns the rule in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        self.effect.in_words()
    }

    /// Returns in words which requests the rule hits.
    #[must_use]
    pub fn requests_in_words(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.method.clone());
        parts.extend(self.path.as_ref().map(|path| format!("path {path}")));
        let key = self.key_prefix.as_deref().map(String::from_utf8_lossy);
        parts.extend(key.map(|key| format!("key {key:?}")));
        parts.extend(self.session.as_ref().map(|id| format!("session {id}")));
        parts.extend(self.is_of_questions().then(|| match self.name_asked() {
            "" => "questions of DNS".to_owned(),
            name => format!("questions of DNS about {name}"),
        }));
        parts.extend(self.client.map(|client| format!("client {client}")));
        parts.extend(self.agent.map(|agent| format!("agent {agent}")));
        let header = self.header.as_ref();
        parts.extend(header.map(|(name, value)| format!("header {name}: {value}")));
        parts.extend(self.window.map(|(from, to)| {
            let span = |at: Timestamp| Duration::from_nanos(at.as_nanos());
            let to = (to != Timestamp::END).then(|| format!(" to {:?}", span(to)));
            format!("from {:?}{}", span(from), to.unwrap_or_default())
        }));
        parts.extend(self.nth.map(|nth| format!("number {nth}")));
        parts.extend(self.chance.map(|(chance, _)| format!("chance {chance}")));
        if parts.is_empty() {
            return "all requests".to_owned();
        }
        parts.join(", ")
    }

    /// Returns how many requests the rule hits at most; `None` without a limit.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.nth.map(|_| 1).or(self.times)
    }

    /// Returns the number of the agent that requests come to; `None` for any.
    #[must_use]
    pub fn agent_wanted(&self) -> Option<usize> {
        self.agent
    }

    pub(super) fn nth_wanted(&self) -> Option<u64> {
        self.nth
    }

    pub(super) fn seed(&self) -> Option<u64> {
        self.chance.map(|(_, seed)| seed)
    }

    pub(super) fn probability(&self) -> f64 {
        self.chance.map_or(1.0, |(probability, _)| probability)
    }

    /// Checks that the rule is valid and can match.
    ///
    /// # Errors
    /// Why it is invalid or can never match.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), RuleError> {
        let method = self.method.as_deref();
        if let Some(method) = method.filter(|method| !METHODS.contains(method)) {
            return Err(RuleError::Method(method.to_owned()));
        }
        if let Some(path) = self.path.as_deref() {
            let below = path.starts_with("/v1/") || "/v1/".starts_with(path);
            if path.is_empty() || !below {
                return Err(RuleError::Path(path.to_owned()));
            }
            let of_keys = path.starts_with("/v1/kv/") || "/v1/kv/".starts_with(path);
            if self.key_prefix.is_some() && !of_keys {
                return Err(RuleError::KeyOutsideKv(path.to_owned()));
            }
        }
        if self.key_prefix.is_some() && method == Some("POST") {
            return Err(RuleError::KeyMethod("POST".to_owned()));
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b':')
        };
        if let Some((name, _)) = self.header.as_ref().filter(|(name, _)| !is_name(name)) {
            return Err(RuleError::Header(name.clone()));
        }
        let of_reads = matches!(
            self.effect,
            Effect::ReportIndex(_)
                | Effect::ReadFrom { .. }
                | Effect::ChangeAcls(
                    AclChange::Revoke(Moment::Blocked) | AclChange::Rules(Moment::Blocked, _)
                )
        );
        if let Some(method) = method.filter(|method| of_reads && !matches!(*method, "GET" | "HEAD"))
        {
            return Err(RuleError::ReadsOnly(method.to_owned()));
        }
        let of_acquires = self.effect == Effect::AcquireInFlight;
        if let Some(method) = method.filter(|method| of_acquires && *method != "PUT") {
            return Err(RuleError::AcquiresOnly(method.to_owned()));
        }
        if let Effect::Respond(response) = &self.effect {
            response.check()?;
        }
        self.check_question()?;
        self.check_counts()?;
        match self.window {
            Some((from, to)) if to <= from => Err(RuleError::WindowEmpty),
            Some((_, to)) if to <= now => Err(RuleError::WindowPast),
            Some(_) | None => Ok(()),
        }
    }

    fn check_counts(&self) -> Result<(), RuleError> {
        if self.session.as_deref() == Some("") {
            return Err(RuleError::SessionEmpty);
        }
        if self.nth == Some(0) {
            return Err(RuleError::NthZero);
        }
        if self.times == Some(0) {
            return Err(RuleError::TimesZero);
        }
        if self.nth.is_some() && self.times.is_some_and(|times| times > 1) {
            return Err(RuleError::NthAndTimes);
        }
        let chance = self.probability();
        if !(chance > 0.0 && chance <= 1.0) {
            return Err(RuleError::Chance(chance));
        }
        Ok(())
    }

    /// The name that questions are about, or below; empty for any.
    fn name_asked(&self) -> &str {
        self.question.as_deref().unwrap_or_default()
    }

    /// Whether it hits questions of DNS, and no requests.
    fn is_of_questions(&self) -> bool {
        self.question.is_some() || matches!(self.effect, Effect::Dns(_))
    }

    /// Checks that a rule for questions has nothing that only requests have.
    fn check_question(&self) -> Result<(), RuleError> {
        if !self.is_of_questions() {
            return Ok(());
        }
        if !matches!(
            self.effect,
            Effect::Dns(_) | Effect::Hang | Effect::DelayBefore(_) | Effect::DelayAfter(_)
        ) {
            return Err(RuleError::QuestionEffect);
        }
        let conditions = [
            ("method", self.method.is_some()),
            ("path", self.path.is_some()),
            ("key", self.key_prefix.is_some()),
            ("session", self.session.is_some()),
            ("header", self.header.is_some()),
        ];
        match conditions.into_iter().find(|(_, is_set)| *is_set) {
            Some((condition, _)) => Err(RuleError::QuestionCondition(condition)),
            None => Ok(()),
        }
    }

    /// Returns whether this rule, tried first, leaves no request to `later`.
    pub(super) fn hides(&self, later: &Self) -> bool {
        fn covers<T: PartialEq>(own: Option<&T>, later: Option<&T>) -> bool {
            own.is_none() || own == later
        }
        let starts = |own: Option<&[u8]>, later: Option<&[u8]>| {
            own.is_none_or(|own| later.is_some_and(|later| later.starts_with(own)))
        };
        let is_endless = self.limit().is_none() && self.probability() >= 1.0;
        is_endless
            && self.window.is_none()
            && self.is_of_questions() == later.is_of_questions()
            && is_below(later.name_asked(), self.name_asked())
            && covers(self.method.as_ref(), later.method.as_ref())
            && starts(
                self.path.as_deref().map(str::as_bytes),
                later.path.as_deref().map(str::as_bytes),
            )
            && starts(self.key_prefix.as_deref(), later.key_prefix.as_deref())
            && covers(self.session.as_ref(), later.session.as_ref())
            && covers(self.client.as_ref(), later.client.as_ref())
            && covers(self.agent.as_ref(), later.agent.as_ref())
            && covers(self.header.as_ref(), later.header.as_ref())
            && !matches!(
                self.effect,
                Effect::ReadFrom { .. }
                    | Effect::AcquireInFlight
                    | Effect::Dns(DnsFailure::Truncated)
            )
    }

    /// Whether it hits at this time.
    pub(super) fn is_in_window(&self, now: Timestamp) -> bool {
        let window = self.window;
        window.is_none_or(|(from, to)| (from..to).contains(&now))
    }

    /// Returns whether a request meets the conditions, but for the time.
    pub(super) fn meets(&self, asked: &Asked<'_>) -> bool {
        let is_read = matches!(asked.method, "GET" | "HEAD");
        let fits = match self.effect {
            Effect::ReportIndex(_) => is_read,
            Effect::ReadFrom { .. } => is_read && asked.is_stale,
            Effect::AcquireInFlight => asked.acquires,
            _ => true,
        };
        let path = |own: &String| asked.path.starts_with(own.as_bytes());
        let key = |own: &Vec<u8>| asked.key().is_some_and(|key| key.starts_with(own));
        let session = |own: &String| asked.session.is_some_and(|id| id.eq_ignore_ascii_case(own));
        let header =
            |(name, value): &(String, String)| (asked.header)(name).as_ref() == Some(value);
        fits && !self.is_of_questions()
            && self.method.as_ref().is_none_or(|own| own == asked.method)
            && self.path.as_ref().is_none_or(path)
            && self.key_prefix.as_ref().is_none_or(key)
            && self.session.as_ref().is_none_or(session)
            && self.client.is_none_or(|own| asked.client == Some(own))
            && self.agent.is_none_or(|own| asked.agent == own)
            && self.header.as_ref().is_none_or(header)
    }

    /// Returns whether a question meets the conditions of name, transport, client and agent.
    pub(super) fn is_about(&self, question: &Question<'_>) -> bool {
        self.is_of_questions()
            && (question.is_datagram || self.effect != Effect::Dns(DnsFailure::Truncated))
            && self.client.is_none_or(|own| question.client == Some(own))
            && self.agent.is_none_or(|own| question.agent == own)
            && is_below(question.name, self.name_asked())
    }
}
