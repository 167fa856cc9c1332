//! Runs and reports that the tests of this folder share.

use std::time::Duration;

use crate::judge::{Limits, judge};
use crate::report::Report;
use crate::run::{Event, Run, Setup, What};
use crate::schedule::Schedule;
use crate::search::{Broken, Options, Purpose, Search, Summary};

/// A key that would end a script, an attribute and a tag.
pub(crate) const KEY: &str = "</script>\"&<lock";
const KEY_IN_PATH: &str = "%3C/script%3E%22%26%3Clock";
pub(crate) const SESSION_A: &str = "aaaaaaaa-0000-0000-0000-000000000000";
const SESSION_B: &str = "bbbbbbbb-0000-0000-0000-000000000000";
pub(crate) const GUARD: &str = "work'$(x)\"\\`</";
const SCHEDULE: &str = "contenders 2\na renew 1 after acquire 1: lose-response\na renew 2 after acquire 1: silence a\n";
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Makes a run of events that are given as lines of JSON.
pub(crate) fn run(lines: &str) -> Run {
    let events = lines.lines().map(serde_json::from_str);
    Run {
        setup: Setup {
            contenders: 2,
            ..Setup::default()
        },
        events: events.collect::<Result<_, _>>().expect("they are valid"),
    }
}

/// Writes down what happens in a run.
pub(crate) struct Pen {
    pub(crate) events: Vec<Event>,
    calls: u64,
}

impl Pen {
    pub(crate) fn new() -> Self {
        Self {
            events: Vec::new(),
            calls: 0,
        }
    }

    /// Adds an event. Returns its number.
    pub(crate) fn add(&mut self, seconds: f64, cause: Option<u64>, what: What) -> u64 {
        let n = self.events.len() as u64 + 1;
        let at = u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).expect("it is short");
        self.events.push(Event { n, at, cause, what });
        n
    }

    /// Adds a request. Returns the numbers of the event and of the request.
    pub(crate) fn request(&mut self, seconds: f64, by: u8, request: &str) -> (u64, u64) {
        let (method, target) = request.split_once(' ').expect("a method and a target");
        self.calls += 1;
        let what = What::Request {
            call: self.calls,
            by: Some(by),
            method: method.to_owned(),
            target: target.to_owned(),
        };
        (self.add(seconds, None, what), self.calls)
    }

    pub(crate) fn answer(
        &mut self,
        seconds: f64,
        of: (u64, u64),
        status: Option<u16>,
        fault: Option<&str>,
    ) {
        let what = What::Answer {
            call: of.1,
            status,
            fault: fault.map(str::to_owned),
            read_at: None,
        };
        self.add(seconds, Some(of.0), what);
    }

    pub(crate) fn believes(&mut self, seconds: f64, by: u8, token: Option<&str>) {
        let what = What::Belief {
            by,
            holds: token.is_some(),
            token: token.map(str::to_owned),
        };
        self.add(seconds, None, what);
    }

    fn session(&mut self, seconds: f64, by: u8, session: &str) {
        let create = self.request(seconds, by, "PUT /v1/session/create");
        let created = What::Created {
            session: session.to_owned(),
            ttl: 10 * SECOND,
        };
        self.add(seconds, Some(create.0), created);
        self.answer(seconds, create, Some(200), None);
    }

    fn acquire(&mut self, seconds: f64, by: u8, session: &str, why_not: Option<&str>) {
        let target = format!("PUT /v1/kv/{KEY_IN_PATH}?acquire={session}&token=secret");
        let acquire = self.request(seconds, by, &target);
        let (key, session) = (KEY.to_owned(), session.to_owned());
        let what = match why_not {
            Some(why) => What::AcquireRejected {
                key,
                session,
                why: why.to_owned(),
            },
            None => What::Acquired {
                key,
                session,
                again: false,
            },
        };
        self.add(seconds, Some(acquire.0), what);
        self.answer(seconds, acquire, Some(200), None);
    }

    fn schedule(&mut self, seconds: f64, line: usize) {
        let text = SCHEDULE.lines().nth(line).expect("a decision").to_owned();
        self.add(seconds, None, What::Schedule { text });
    }
}

/// A run in which `a` goes on to believe: a response is lost, then its link is silent, and `b` takes over.
pub(crate) fn two_believers() -> Run {
    let mut pen = Pen::new();
    pen.session(0.0, 0, SESSION_A);
    pen.acquire(0.0, 0, SESSION_A, None);
    pen.believes(0.0, 0, Some("7\""));
    pen.session(0.1, 1, SESSION_B);
    pen.acquire(0.1, 1, SESSION_B, Some("held by another"));
    pen.request(
        0.2,
        0,
        &format!("GET /v1/kv/{KEY_IN_PATH}?index=5&token=secret"),
    );
    let renew = format!("PUT /v1/session/renew/{SESSION_A}");
    let first = pen.request(3.0, 0, &renew);
    pen.schedule(3.0, 1);
    let renewed = What::Renewed {
        session: SESSION_A.to_owned(),
    };
    pen.add(3.0, Some(first.0), renewed);
    pen.answer(3.0, first, None, SCHEDULE.lines().nth(1));
    let second = pen.request(6.0, 0, &renew);
    pen.schedule(6.0, 2);
    let why = "its TTL ran out".to_owned();
    let ended = What::Ended {
        session: SESSION_A.to_owned(),
        why,
    };
    let ended = pen.add(23.0, None, ended);
    let released = What::Released {
        key: KEY.to_owned(),
        session: SESSION_A.to_owned(),
        why: "its session ended, its TTL ran out".to_owned(),
    };
    pen.add(23.0, Some(ended), released);
    let delay = What::LockDelay {
        key: KEY.to_owned(),
        lasts: 15 * SECOND,
    };
    pen.add(23.0, Some(ended), delay);
    pen.acquire(38.5, 1, SESSION_B, None);
    pen.believes(38.5, 1, Some("8"));
    pen.answer(40.0, second, None, None);
    Run {
        setup: Setup {
            format: 1,
            schedule: SCHEDULE.to_owned(),
            contenders: 2,
            seed: 11,
            guard: Some(GUARD.to_owned()),
            tells_beliefs: true,
            ended: 60 * SECOND,
            ..Setup::default()
        },
        events: pen.events,
    }
}

/// The report of a search that has found that run.
pub(crate) fn broken() -> Report {
    let run = two_believers();
    let mut findings = judge(&run, &Limits::default()).findings;
    let schedule: Schedule = SCHEDULE.parse().expect("it is valid");
    let broken = Broken {
        finding: findings.remove(0),
        first: schedule.clone(),
        schedule,
        seed: 11,
        run,
        found_in: 3,
        purpose: Purpose::Known,
        replays: (3, 3),
        is_repeated: Some(true),
    };
    let mut report = not_broken();
    report.broken = Some(broken);
    report
}

/// The report of a search that has found nothing.
pub(crate) fn not_broken() -> Report {
    let mut summary = Summary {
        takeovers: 40,
        losses: 50,
        pairs: 200,
        ..Summary::default()
    };
    summary
        .runs
        .extend([(Purpose::Plain, 2), (Purpose::Drawn(1), 60)]);
    summary.coverage.insert(("renew", "lose-response"), 4);
    let why = "the contenders have no fencing tokens";
    summary.not_judged.push((crate::Property::TokenBack, why));
    let options = Options {
        contenders: 2,
        agents: 1,
        seed: 1,
        limits: Limits::default(),
        runs: 100,
        is_exact: true,
        replays: 3,
    };
    let mut report = Report::of(&Search::new(options), Duration::from_millis(1500), None);
    report.summary = summary;
    report
}
