//! The requests of a run as operations: when each began, when and how it ended, and whether it has changed anything.

use std::collections::BTreeMap;

use proconsul_engine::faults::RequestKind;

use crate::contender::Contender;
use crate::judge::decoded;
use crate::run::{Event, Run, What};

/// What the director notes at a request that only takes the time of an ordinary network.
const LATENCY: &str = "latency";

/// A request, from its arrival to its end.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Who sent it; `None` for anybody but the contenders.
    pub(crate) by: Option<Contender>,
    pub(crate) kind: RequestKind,
    /// Method, path and query, without the token.
    pub(crate) request: String,
    /// The key that its path names.
    pub(crate) key: Option<String>,
    /// The session that its path or query names, or that it has made.
    pub(crate) session: Option<String>,
    /// When it arrived, in nanoseconds of the server's clock.
    pub(crate) at: u64,
    /// When it ended, and with which status; no status where its client got no answer.
    pub(crate) end: Option<(u64, Option<u16>)>,
    /// What the schedule did to it.
    pub(crate) fault: Option<String>,
    /// Whether it has changed something.
    pub(crate) is_applied: bool,
    is_rejected: bool,
    /// Whether it succeeds only under a condition: `?cas=`.
    is_conditional: bool,
}

/// What the client learned of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// It was done.
    Ok,
    /// It was not done.
    Fail,
    /// The client cannot know.
    Info,
}

/// A moment at which operations begin or end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// The operation of this number begins.
    Begin(usize),
    /// The operation of this number ends.
    End(usize),
    /// Something else happens, because of the operation of this number if there is one.
    Other(&'a Event, Option<usize>),
}

/// All operations of a run, in the order of their arrival, and all that happened, in order.
pub(crate) struct Operations<'a> {
    pub(crate) all: Vec<Operation>,
    pub(crate) steps: Vec<Step<'a>>,
}

impl<'a> Operations<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        let mut found = Self {
            all: Vec::new(),
            steps: Vec::new(),
        };
        let mut by_call = BTreeMap::new();
        // The operation that each event follows from, directly or not.
        let mut roots: BTreeMap<u64, usize> = BTreeMap::new();
        for event in &run.events {
            let root = event.cause.and_then(|cause| roots.get(&cause).copied());
            roots.extend(root.map(|root| (event.n, root)));
            match &event.what {
                What::Request { call, .. } => {
                    let number = found.all.len();
                    found.all.extend(Operation::new(event));
                    by_call.insert(*call, number);
                    roots.insert(event.n, number);
                    found.steps.push(Step::Begin(number));
                }
                What::Answer {
                    call,
                    status,
                    fault,
                    ..
                } => {
                    if let Some(number) = by_call.get(call).copied() {
                        let of = &mut found.all[number];
                        of.end = Some((event.at, *status));
                        of.fault = fault.clone().filter(|fault| fault != LATENCY);
                        found.steps.push(Step::End(number));
                    }
                }
                what => {
                    if let Some(root) = root {
                        found.all[root].learn(what);
                    }
                    found.steps.push(Step::Other(event, root));
                }
            }
        }
        found
    }
}

impl Operation {
    fn new(event: &Event) -> Option<Self> {
        let What::Request {
            by, method, target, ..
        } = &event.what
        else {
            return None;
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let parameter = |name: &str| {
            let mut pairs = query.split('&').map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (name, value.to_owned())
            });
            pairs.find(|(one, _)| *one == name).map(|(_, value)| value)
        };
        let path = decoded(path);
        let named = path.strip_prefix("/v1/session/");
        let named = named.and_then(|rest| Some(rest.split_once('/')?.1.to_owned()));
        Some(Self {
            by: by.map(Contender),
            kind: RequestKind::of(method, path.as_bytes(), |name| parameter(name).is_some()),
            request: format!("{method} {}", without_token(target)),
            key: path.strip_prefix("/v1/kv/").map(str::to_owned),
            session: named
                .or_else(|| parameter("acquire"))
                .or_else(|| parameter("release")),
            at: event.at,
            end: None,
            fault: None,
            is_applied: false,
            is_rejected: false,
            is_conditional: parameter("cas").is_some(),
        })
    }

    fn learn(&mut self, what: &What) {
        match what {
            What::Created { session, .. } => {
                self.session = Some(session.clone());
                self.is_applied = true;
            }
            What::Written { .. }
            | What::Deleted { .. }
            | What::Acquired { .. }
            | What::Released { .. }
            | What::Renewed { .. }
            | What::Ended { .. } => self.is_applied = true,
            What::AcquireRejected { .. } => self.is_rejected = true,
            _ => {}
        }
    }

    /// Returns the session that the request names; `None` for one that makes a session.
    pub(crate) fn session_asked(&self) -> Option<&str> {
        let session = self.session.as_deref();
        session.filter(|_| self.kind != RequestKind::Create)
    }

    /// Returns the status of the response; `None` where the client got none.
    pub(crate) fn status(&self) -> Option<u16> {
        self.end.and_then(|(_, status)| status)
    }

    /// Returns what the client learned from the response, or from its absence.
    pub(crate) fn completion(&self) -> Completion {
        let Some(status) = self.status() else {
            return Completion::Info;
        };
        let reads = matches!(self.kind, RequestKind::Read | RequestKind::Watch);
        let releases = self.kind == RequestKind::Release;
        match status {
            200..300 if self.is_rejected || (releases && !self.is_applied) => Completion::Fail,
            // It has written the value that was there, or nothing: only the body says which, and a run has no bodies.
            200..300 if self.is_conditional && !self.is_applied => Completion::Info,
            200..300 => Completion::Ok,
            // The key does not exist, which is what was read.
            404 if reads => Completion::Ok,
            // A write may have been committed before the error.
            500.. if !reads => Completion::Info,
            _ => Completion::Fail,
        }
    }

    /// Returns whether the schedule did something to the request, or its client got no response.
    pub(crate) fn is_hit(&self) -> bool {
        self.fault.is_some() || self.end.is_some_and(|(_, status)| status.is_none())
    }
}

/// Returns a target without its token, which is a secret.
fn without_token(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else {
        return target.to_owned();
    };
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.starts_with("token="))
        .collect();
    match kept[..] {
        [] => path.to_owned(),
        _ => format!("{path}?{}", kept.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn completion(
        kind: RequestKind,
        status: Option<u16>,
        change: impl Fn(&mut Operation),
    ) -> Completion {
        let run = samples::run(
            r#"{"n":1,"at":0,"what":"request","call":1,"by":0,"method":"GET","target":"/v1/kv/a"}"#,
        );
        let mut one = Operations::of(&run).all.remove(0);
        one.kind = kind;
        one.end = Some((1, status));
        change(&mut one);
        one.completion()
    }

    #[test]
    fn what_a_client_learns_depends_on_the_response_alone() {
        use Completion::{Fail, Info, Ok};
        use RequestKind::{Acquire, Read, Release, Renew, Write};
        let applied = |one: &mut Operation| one.is_applied = true;
        let nothing = |_: &mut Operation| {};
        let rejected = |one: &mut Operation| one.is_rejected = true;
        let conditional = |one: &mut Operation| one.is_conditional = true;
        assert_eq!(completion(Acquire, Some(200), applied), Ok);
        assert_eq!(completion(Acquire, Some(200), rejected), Fail);
        assert_eq!(
            completion(Acquire, None, applied),
            Info,
            "lost, though it was applied"
        );
        assert_eq!(
            completion(Release, Some(200), nothing),
            Fail,
            "it held nothing"
        );
        assert_eq!(
            completion(Write, Some(200), nothing),
            Ok,
            "it wrote what was there"
        );
        assert_eq!(completion(Write, Some(200), conditional), Info);
        assert_eq!(completion(Write, Some(500), nothing), Info);
        assert_eq!(completion(Write, Some(429), nothing), Fail);
        assert_eq!(completion(Read, Some(404), nothing), Ok);
        assert_eq!(completion(Read, Some(500), nothing), Fail);
        assert_eq!(completion(Renew, Some(404), nothing), Fail);
    }

    #[test]
    fn tokens_are_left_out_wherever_they_stand() {
        assert_eq!(without_token("/v1/kv/a?token=s&cas=1"), "/v1/kv/a?cas=1");
        assert_eq!(
            without_token("/v1/kv/a?cas=1&token=s&raw"),
            "/v1/kv/a?cas=1&raw"
        );
        assert_eq!(without_token("/v1/kv/a?token=s"), "/v1/kv/a");
    }

    #[test]
    fn an_operation_knows_its_session_and_whether_it_was_applied() {
        let run = samples::two_believers();
        let found = Operations::of(&run).all;
        let creates = &found[0];
        assert_eq!(creates.session.as_deref(), Some(samples::SESSION_A));
        assert!(creates.is_applied);
        let acquires = &found[1];
        assert_eq!(acquires.session.as_deref(), Some(samples::SESSION_A));
        assert_eq!(acquires.key.as_deref(), Some(samples::KEY));
        let lost = found.iter().find(|one| one.fault.is_some());
        let lost = lost.expect("one response is lost");
        assert!(lost.is_applied);
        assert_eq!(lost.completion(), Completion::Info);
    }
}
