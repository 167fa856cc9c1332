//! A request of a recorded run.

use proconsul_engine::faults::RequestKind;

use super::span::At;
use crate::action::Action;
use crate::contender::Contender;

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its number.
    pub(super) number: u64,
    pub(super) by: Option<Contender>,
    pub(super) kind: RequestKind,
    pub(super) target: String,
    /// The path, decoded.
    pub(super) path: String,
    /// The key that the path names.
    pub(super) key: Option<String>,
    /// The number of the event of its arrival.
    pub(super) n: u64,
    /// When it was sent. A silent link holds it later, on the server's side.
    pub(super) at: At,
    /// The response, if one has arrived.
    pub(super) answer: Option<Answer>,
    /// When it was answered, or ended without an answer.
    pub(super) over: Option<At>,
    /// What the schedule did to it.
    pub(super) hit: Option<Action>,
    /// Whether it waits for a change.
    pub(super) is_parked: bool,
    /// Whether it waits for an index of before all indexes went back, which its client could not know.
    pub(super) is_blind: bool,
}

/// A response, at the time at which it was delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// The number of its event.
    pub(super) n: u64,
    pub(super) at: At,
    pub(super) status: u16,
    /// The number of the last event that the state of a follower shows, if the response is of that.
    pub(super) read_at: Option<u64>,
}

impl Call {
    pub(super) fn new(number: u64, by: Option<u8>, method: &str, target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = decoded(path);
        Self {
            number,
            by: by.map(Contender),
            kind: RequestKind::of(method, path.as_bytes(), |name| has(query, name)),
            target: target.to_owned(),
            key: path.strip_prefix("/v1/kv/").map(str::to_owned),
            path,
            n: 0,
            at: 0,
            answer: None,
            over: None,
            hit: None,
            is_parked: false,
            is_blind: false,
        }
    }

    /// Returns whether the request has a parameter.
    pub(super) fn has(&self, name: &str) -> bool {
        let query = self.target.split_once('?');
        query.is_some_and(|(_, query)| has(query, name))
    }

    /// Returns whether the request is about this key, and no other.
    pub(super) fn names(&self, key: &str) -> bool {
        self.key.as_deref() == Some(key) && !self.has("recurse") && !self.has("keys")
    }

    /// Returns whether its sender wants to know of a key, or to acquire it.
    pub(super) fn pursues(&self) -> bool {
        let is_alone = || !self.has("recurse") && !self.has("keys");
        self.kind == RequestKind::Acquire || self.is_read() && is_alone()
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self.kind, RequestKind::Read | RequestKind::Watch)
    }

    /// Returns whether the request reads this key, alone or with all others of a prefix.
    pub(super) fn covers(&self, key: &str) -> bool {
        let is_of_prefix = self.has("recurse") || self.has("keys");
        let prefix = self.key.as_deref().filter(|_| is_of_prefix);
        self.is_read() && (self.names(key) || prefix.is_some_and(|prefix| key.starts_with(prefix)))
    }

    /// Returns whether a response says which session holds this key.
    pub(super) fn shows_holder(&self, key: &str) -> bool {
        let is_whole = !self.has("keys") && (!self.has("raw") || self.has("recurse"));
        is_whole && self.covers(key)
    }

    /// Returns whether the request is about this session.
    pub(super) fn is_of_session(&self, session: &str) -> bool {
        let target = self.target.to_lowercase();
        target.contains(&session.to_lowercase())
    }

    /// Returns whether its response has an index.
    pub(super) fn may_read(&self) -> bool {
        self.is_read() || self.kind == RequestKind::Other
    }

    pub(super) fn is_watch(&self) -> bool {
        self.kind == RequestKind::Watch
    }

    /// Returns whether a response says what the request wants to know.
    pub(super) fn is_answered_well(&self) -> bool {
        self.answer
            .is_some_and(|answer| matches!(answer.status, 200 | 404))
    }

    /// Returns whether the schedule keeps a response from the client, so that it may wait for as long as it likes.
    pub(super) fn is_kept(&self) -> bool {
        let is_held = matches!(
            self.hit,
            Some(Action::Hold | Action::Delay(_) | Action::DelayResponse(_) | Action::Error(_))
        );
        let is_of_the_past = self.hit == Some(Action::Empty) && self.has("stale");
        is_held || self.is_blind || is_of_the_past
    }
}

fn has(query: &str, name: &str) -> bool {
    let mut names = query.split('&').map(|pair| pair.split('=').next());
    names.any(|one| one == Some(name))
}

/// Decodes `%2F` and the like.
pub(crate) fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).filter(|_| *first == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let code = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
