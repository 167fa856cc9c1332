//! Recorded runs as a few lines of text.
//!
//! A line is `SECONDS WHO VERB ARGUMENTS [OUTCOME]`. WHO is a contender; `-` for anybody else, or for Consul and its clock. The
//! first lines may set up the run: `contenders 3`, `guard work/`, `end 60`, `mute`.
//!
//! | verb | what is recorded |
//! |---|---|
//! | `create S TTL`, `renew S`, `destroy S [KEY...]` | the request, and what it does to the session and the keys that it held |
//! | `acquire KEY S`, `again KEY S`, `reject KEY S` | an acquire that succeeds, that changes nothing, that is rejected |
//! | `release KEY S`, `delete KEY [S]`, `put KEY[?QUERY]`, `txn KEY` | a write, and the release of the lock |
//! | `get TARGET` | a read of `/v1/kv/TARGET`, or of another path if it begins with `/`; with `index=` it waits |
//! | `holds [TOKEN]`, `lost` | what the contender says |
//! | `expires S [KEY...]`, `loses KEY S`, `delay KEY SECONDS`, `free KEY`, `leader`, `lower` | what Consul does |
//! | `> DECISION`, `! TEXT` | what the schedule did, and what the driver noted |
//!
//! The outcome of a request is one of `in SECONDS` (answered so much later), `after SECONDS` (applied and answered so much
//! later), `cut [SECONDS]` (applied, and the connection ends later), `open` (applied, and no answer until the end), `held`
//! (neither, until the end), `behind N` (answered by a follower that has applied N changes of keys) and `fails
//! STATUS [SECONDS]` (not applied, answered later).

use std::collections::BTreeMap;

use proconsul_explore::{Contender, Event, Finding, Limits, Property, Run, Setup, What, judge};

/// An event before it has a number: it follows from the event that was added as the nth.
struct Draft {
    at: u64,
    cause: Option<usize>,
    what: What,
}

/// How a request ends.
#[derive(Clone, Copy)]
struct Outcome {
    applied: u64,
    /// `None` for none until the end.
    answered: Option<u64>,
    /// `None` for a connection that ends.
    status: Option<u16>,
    is_applied: bool,
    read_at: Option<u64>,
}

#[derive(Default)]
struct Writer {
    drafts: Vec<Draft>,
    calls: u64,
}

fn nanos(seconds: &str) -> u64 {
    let seconds: f64 = seconds
        .parse()
        .unwrap_or_else(|_| panic!("expected seconds, found {seconds:?}"));
    std::time::Duration::from_secs_f64(seconds).as_nanos() as u64
}

/// Reads a run.
pub(crate) fn run(text: &str) -> Run {
    let mut setup = Setup {
        format: 1,
        contenders: 2,
        tells_beliefs: true,
        ended: nanos("60"),
        ..Setup::default()
    };
    let mut writer = Writer::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["contenders", count] => setup.contenders = count.parse().expect("a number"),
            ["guard", prefix] => setup.guard = Some(prefix.to_owned()),
            ["end", seconds] => setup.ended = nanos(seconds),
            ["mute"] => setup.tells_beliefs = false,
            [at, ">", ..] => {
                let text = line.split_once("> ").expect("a decision").1.to_owned();
                writer.add(nanos(at), None, What::Schedule { text });
            }
            [at, "!", ..] => {
                let text = line.split_once("! ").expect("a text").1.to_owned();
                writer.add(nanos(at), None, What::Driver { text });
            }
            [at, who, verb, ref arguments @ ..] => {
                let who: Option<Contender> = (who != "-").then(|| who.parse().expect("a name"));
                writer.line(nanos(at), who, verb, arguments);
            }
            _ => panic!("what is {line:?}?"),
        }
    }
    Run {
        setup,
        events: writer.events(),
    }
}

impl Writer {
    fn add(&mut self, at: u64, cause: Option<usize>, what: What) -> usize {
        self.drafts.push(Draft { at, cause, what });
        self.drafts.len() - 1
    }

    /// Numbers the events and the requests in the order of their times.
    fn events(mut self) -> Vec<Event> {
        let mut order: Vec<usize> = (0..self.drafts.len()).collect();
        order.sort_by_key(|place| self.drafts[*place].at);
        let numbers: BTreeMap<usize, u64> = order.iter().copied().zip(1..).collect();
        let request = |place: &usize| match self.drafts[*place].what {
            What::Request { call, .. } => Some(call),
            _ => None,
        };
        let calls: BTreeMap<u64, u64> = order.iter().filter_map(request).zip(1..).collect();
        let is_change = |what: &What| matches!(what, What::Written { .. } | What::Deleted { .. });
        let changes = order
            .iter()
            .filter(|place| is_change(&self.drafts[**place].what));
        let changes: Vec<u64> = changes.map(|place| numbers[place]).collect();
        for draft in &mut self.drafts {
            if let What::Answer {
                read_at: Some(applied),
                ..
            } = &mut draft.what
            {
                let next = changes.get(usize::try_from(*applied).expect("few"));
                *applied = next.map_or(u64::MAX, |next| next - 1);
            }
            if let What::Request { call, .. } | What::Answer { call, .. } | What::Blocked { call } =
                &mut draft.what
            {
                *call = calls[call];
            }
        }
        let event = |place: &usize| {
            let Draft { at, cause, what } = &self.drafts[*place];
            Event {
                n: numbers[place],
                at: *at,
                cause: cause.map(|cause| numbers[&cause]),
                what: what.clone(),
            }
        };
        order.iter().map(event).collect()
    }

    fn line(&mut self, at: u64, who: Option<Contender>, verb: &str, arguments: &[&str]) {
        let by = who.map(|who| who.0);
        let said = |holds: bool, token: Option<&str>| What::Belief {
            by: by.expect("a contender"),
            holds,
            token: token.map(str::to_owned),
        };
        let own = str::to_owned;
        match (verb, arguments) {
            ("holds", token) => drop(self.add(at, None, said(true, token.first().copied()))),
            ("lost", []) => drop(self.add(at, None, said(false, None))),
            ("expires", [session, keys @ ..]) => {
                self.ends(at, None, session, keys, "its TTL ran out");
            }
            ("loses", [key, session]) => {
                let why = own("the key was deleted");
                let (key, session) = (own(key), own(session));
                self.add(at, None, What::Released { key, session, why });
            }
            ("delay", [key, seconds]) => {
                let (key, lasts) = (own(key), nanos(seconds));
                self.add(at, None, What::LockDelay { key, lasts });
            }
            ("free", [key]) => drop(self.add(at, None, What::LockDelayOver { key: own(key) })),
            ("leader", []) => {
                let text = own("new leader");
                self.add(at, None, What::Driver { text });
            }
            ("lower", []) => {
                let text = own("indexes lowered by 1000000");
                self.add(at, None, What::Driver { text });
            }
            _ => self.request(at, by, verb, arguments),
        }
    }

    /// Adds the end of a session that held these keys.
    fn ends(&mut self, at: u64, cause: Option<usize>, session: &str, keys: &[&str], why: &str) {
        let ended = What::Ended {
            session: session.to_owned(),
            why: why.to_owned(),
        };
        let ended = self.add(at, cause, ended);
        for key in keys {
            let (key, session) = ((*key).to_owned(), session.to_owned());
            self.add(at, Some(ended), What::Written { key: key.clone() });
            let why = format!("its session ended: {why}");
            self.add(at, Some(ended), What::Released { key, session, why });
        }
    }

    fn request(&mut self, at: u64, by: Option<u8>, verb: &str, arguments: &[&str]) {
        let split = arguments.iter().position(|word| {
            ["in", "after", "cut", "open", "held", "behind", "fails"].contains(word)
        });
        let (arguments, outcome) = arguments.split_at(split.unwrap_or(arguments.len()));
        let outcome = outcome_of(at, outcome);
        let target = target(verb, arguments);
        self.calls += 1;
        let call = self.calls;
        let method = match verb {
            "get" => "GET",
            "delete" => "DELETE",
            _ => "PUT",
        };
        let request = What::Request {
            call,
            by,
            method: method.to_owned(),
            target: target.clone(),
        };
        let request = self.add(at, None, request);
        if target.contains("index=") && outcome.is_applied {
            self.add(at, Some(request), What::Blocked { call });
        }
        if outcome.is_applied {
            self.apply(outcome.applied, request, verb, arguments);
        }
        if let Some(at) = outcome.answered {
            let (status, fault) = (outcome.status, None);
            let answer = What::Answer {
                call,
                status,
                fault,
                read_at: outcome.read_at,
            };
            self.add(at, Some(request), answer);
        }
    }

    fn apply(&mut self, at: u64, request: usize, verb: &str, arguments: &[&str]) {
        let own = str::to_owned;
        let cause = Some(request);
        match (verb, arguments) {
            ("create", [session, ttl]) => {
                let (session, ttl) = (own(session), nanos(ttl));
                self.add(at, cause, What::Created { session, ttl });
            }
            ("renew", [session]) => {
                let session = own(session);
                self.add(at, cause, What::Renewed { session });
            }
            ("destroy", [session, keys @ ..]) => {
                self.ends(at, cause, session, keys, "a client destroyed it");
            }
            ("acquire" | "again", [key, session]) => {
                let (key, session, again) = (own(key), own(session), verb == "again");
                self.add(at, cause, What::Written { key: key.clone() });
                let acquired = What::Acquired {
                    key,
                    session,
                    again,
                };
                self.add(at, cause, acquired);
            }
            ("reject", [key, session]) => {
                let (key, session, why) = (own(key), own(session), own("another holds it"));
                self.add(at, cause, What::AcquireRejected { key, session, why });
            }
            ("release", [key, session]) => {
                let (key, session, why) = (own(key), own(session), own("the holder released it"));
                self.add(at, cause, What::Written { key: key.clone() });
                self.add(at, cause, What::Released { key, session, why });
            }
            ("delete", [key, session @ ..]) => {
                let key = own(key);
                self.add(at, cause, What::Deleted { key: key.clone() });
                for session in session {
                    let (key, session) = (key.clone(), own(session));
                    let why = own("the key was deleted");
                    self.add(at, cause, What::Released { key, session, why });
                }
            }
            ("put" | "txn", [key]) => {
                let key = key.split('?').next().unwrap_or_default();
                let key = key.replace("%2F", "/");
                self.add(at, cause, What::Written { key });
            }
            ("get", _) => {}
            _ => panic!("what is {verb} {arguments:?}?"),
        }
    }
}

fn target(verb: &str, arguments: &[&str]) -> String {
    match (verb, arguments) {
        ("create", _) => "/v1/session/create".to_owned(),
        ("renew" | "destroy", [session, ..]) => format!("/v1/session/{verb}/{session}"),
        ("acquire" | "again" | "reject", [key, session]) => {
            format!("/v1/kv/{key}?acquire={session}")
        }
        ("release", [key, session]) => format!("/v1/kv/{key}?release={session}"),
        ("txn", _) => "/v1/txn".to_owned(),
        (_, [target, ..]) if target.starts_with('/') => (*target).to_owned(),
        (_, [target, ..]) => format!("/v1/kv/{target}"),
        _ => panic!("what is {verb} {arguments:?}?"),
    }
}

fn outcome_of(at: u64, words: &[&str]) -> Outcome {
    let later = |word: Option<&&str>| at + word.map_or(0, |seconds| nanos(seconds));
    let usual = Outcome {
        applied: at,
        answered: Some(at),
        status: Some(200),
        is_applied: true,
        read_at: None,
    };
    match words {
        [] => usual,
        ["in", seconds] => Outcome {
            answered: Some(later(Some(seconds))),
            ..usual
        },
        ["after", seconds] => Outcome {
            applied: later(Some(seconds)),
            answered: Some(later(Some(seconds))),
            ..usual
        },
        ["cut", seconds @ ..] => Outcome {
            answered: Some(later(seconds.first())),
            status: None,
            ..usual
        },
        ["open"] => Outcome {
            answered: None,
            ..usual
        },
        ["held"] => Outcome {
            answered: None,
            is_applied: false,
            ..usual
        },
        ["behind", applied] => Outcome {
            read_at: Some(applied.parse().expect("a number")),
            ..usual
        },
        ["fails", status, seconds @ ..] => Outcome {
            answered: Some(later(seconds.first())),
            status: Some(status.parse().expect("a status")),
            is_applied: false,
            ..usual
        },
        _ => panic!("what is {words:?}?"),
    }
}

/// Judges a run by the usual limits.
pub(crate) fn judged(text: &str) -> Vec<Finding> {
    judge(&run(text), &Limits::default()).findings
}

/// Checks that a run breaks these properties and no others.
#[track_caller]
pub(crate) fn breaks(text: &str, expected: &[Property]) {
    let findings = judged(text);
    let found: Vec<Property> = findings.iter().map(|finding| finding.property).collect();
    assert_eq!(found, expected, "{findings:#?}");
}

/// Checks that a run breaks nothing.
#[track_caller]
pub(crate) fn is_right(text: &str) {
    breaks(text, &[]);
}

/// Checks that a run breaks a property, when, and what is said of it.
#[track_caller]
pub(crate) fn says(text: &str, property: Property, expected: &str) {
    let findings = judged(text);
    let found = findings.iter().find(|finding| finding.property == property);
    let found = found.unwrap_or_else(|| panic!("not found in {findings:#?}"));
    assert_eq!(found.to_string(), expected);
}
