//! What was compared, what differs, and the report of it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::capture::Unseen;
use proconsul_conformance::report::document::{CaseDocument, Document};
use proconsul_conformance::time::{Stopwatch, today};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::transcript::{Exchange, Line, Names, Transcript, render};
use proconsul_conformance::wire::{Outcome, Reply};

/// So many differences are kept with all that was said; of more there is a number.
const MOST: usize = 1_000;
/// So many requests before a difference are kept for a case of it, and of so many differences.
const BEFORE: usize = 200;
const WITH_PAST: usize = 50;

/// An exchange of the program with its real server.
#[derive(Clone)]
pub(super) struct Said {
    pub(super) asked: Asked,
    /// `None` for a read that still waits.
    pub(super) real: Option<Outcome>,
}

/// One request to which the servers answered differently.
pub struct Difference {
    /// From 1 on.
    pub number: usize,
    pub(super) said: Said,
    emulated: Option<Outcome>,
    /// `-` before what only the real server said, `+` before the emulator's.
    pub lines: String,
    /// What was said before, for the first differences.
    pub(super) before: Vec<Arc<Said>>,
}

impl Difference {
    /// One line for the console: the request and the first lines that differ.
    #[must_use]
    pub fn line(&self) -> String {
        let asked = &self.said.asked;
        let first = |sign: char| {
            let line = self.lines.lines().find(|line| line.starts_with(sign));
            shortened(line.unwrap_or_default())
        };
        format!(
            "DIFFERS    #{} {} {}: {} | {}",
            self.number,
            asked.method,
            shortened(&asked.target),
            first('-'),
            first('+')
        )
    }
}

/// Who hears of each difference.
pub type Observer = Box<dyn Fn(&Difference) + Send>;

/// How often a kind of request was answered alike and not.
#[derive(Default)]
struct Count {
    same: usize,
    different: usize,
}

/// Everything that was found.
pub struct Findings {
    observer: Observer,
    counts: BTreeMap<String, Count>,
    differences: Vec<Difference>,
    before: VecDeque<Arc<Said>>,
    unseen: Arc<Unseen>,
    watch: Stopwatch,
    /// What could not be copied, in sentences.
    pub(super) not_copied: Vec<String>,
    /// Reads that became alike when both were asked again.
    pub(super) settled: usize,
    /// Answers that differ where nobody can say what is right: writes had overlapped in an order that does not show.
    unjudged: usize,
    /// Answers that depend on the rights of a token that the emulator does not have.
    pub(super) by_rights: usize,
    /// Answers that were not compared because the emulator was gone or had missed something.
    pub(super) dropped: usize,
    pub(super) dead: Option<String>,
}

impl Findings {
    pub(super) fn new(observer: Observer, unseen: &Arc<Unseen>, not_copied: Vec<String>) -> Self {
        Self {
            observer,
            counts: BTreeMap::new(),
            differences: Vec::new(),
            before: VecDeque::new(),
            unseen: Arc::clone(unseen),
            watch: Stopwatch::start(),
            not_copied,
            settled: 0,
            unjudged: 0,
            by_rights: 0,
            dropped: 0,
            dead: None,
        }
    }

    fn remember(&mut self, said: Said) {
        if self.before.len() >= BEFORE {
            self.before.pop_front();
        }
        self.before.push_back(Arc::new(said));
    }

    pub(super) fn same(&mut self, asked: &Asked, real: &Outcome) {
        self.counts.entry(route(asked)).or_default().same += 1;
        self.remember(Said {
            asked: asked.clone(),
            real: Some(real.clone()),
        });
    }

    /// An answer that differs, and might also if the emulator were the same server.
    pub(super) fn unjudged(&mut self, asked: &Asked, real: Option<Outcome>) {
        self.unjudged += 1;
        self.remember(Said {
            asked: asked.clone(),
            real,
        });
    }

    pub(super) fn differs(
        &mut self,
        asked: &Asked,
        real: Option<Outcome>,
        emulated: Option<Outcome>,
        lines: String,
    ) {
        self.counts.entry(route(asked)).or_default().different += 1;
        let said = Said {
            asked: asked.clone(),
            real,
        };
        let number = self.count_of_differences();
        let kept = self.before.iter().filter(|_| number <= WITH_PAST);
        let before = kept.cloned().collect();
        self.remember(said.clone());
        if self.differences.len() < MOST {
            let difference = Difference {
                number,
                said,
                emulated,
                lines,
                before,
            };
            (self.observer)(&difference);
            self.differences.push(difference);
        }
    }

    /// How many requests were answered differently.
    #[must_use]
    pub fn count_of_differences(&self) -> usize {
        self.counts.values().map(|count| count.different).sum()
    }

    /// How many requests were answered alike.
    #[must_use]
    pub fn count_of_same(&self) -> usize {
        self.counts.values().map(|count| count.same).sum()
    }

    /// What differs, in the order in which it came up; at most a thousand.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// How many requests were not compared because the emulator was gone, or too slow.
    #[must_use]
    pub fn count_of_dropped(&self) -> usize {
        self.dropped + self.unseen.dropped.load(Ordering::SeqCst)
    }

    /// How many requests were answered differently after writes that overlapped, so that both answers may be right.
    #[must_use]
    pub fn count_of_unjudged(&self) -> usize {
        self.unjudged
    }

    /// What was not compared, in sentences.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let mut sentences = self.not_copied.clone();
        if let Some(why) = &self.dead {
            sentences.push(format!("nothing was compared any more: {why}"));
        }
        if self.unseen.is_cut.load(Ordering::SeqCst) {
            sentences.push("nothing was compared any more: the emulator was too slow".to_owned());
        }
        let count = |number: usize, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let unseen = &self.unseen;
        sentences.extend(count(
            self.count_of_dropped(),
            "requests were not compared, for that reason",
        ));
        sentences.extend(count(
            self.unjudged,
            "answers differed and were not judged: writes overlapped, and their order does not show",
        ));
        sentences.extend(count(
            self.by_rights,
            "answers were not judged: they depend on the rights of other tokens than shadow's",
        ));
        let counts = [
            (
                &unseen.foreign,
                "connections held something else than whole requests and answers, and were let through",
            ),
            (
                &unseen.unreached,
                "connections could not be passed on, for the real server was not there: the program was answered 502",
            ),
            (
                &unseen.given_up,
                "requests were given up by the program before their answer",
            ),
        ];
        for (number, what) in counts {
            sentences.extend(count(number.load(Ordering::SeqCst), what));
        }
        sentences
    }

    /// 0: all that was compared is alike; 1: something differs; 2: one of the servers was gone, so that not all was compared.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        let is_gone = self.dead.is_some() || self.unseen.unreached.load(Ordering::SeqCst) > 0;
        match self.count_of_differences() {
            0 if self.count_of_dropped() > 0 || is_gone => 2,
            0 => 0,
            _ => 1,
        }
    }

    /// One line with all numbers.
    #[must_use]
    pub fn summary(&self) -> String {
        format!(
            "{} requests answered alike ({} of them when both were asked again), {} differently, {} not judged; {:.1?}",
            self.count_of_same(),
            self.settled,
            self.count_of_differences(),
            self.unjudged + self.by_rights,
            self.watch.elapsed()
        )
    }

    /// The report as data, of which the same files are made as of a run.
    #[must_use]
    pub fn document(&self, target: &str, build: &str) -> Document {
        let alike = self.counts.iter().filter(|(_, count)| count.same > 0);
        let mut cases: Vec<CaseDocument> = alike
            .map(|(route, count)| {
                let claim = format!("{} requests were answered alike", count.same);
                case(format!("{}/{route}", topic(route)), claim, "pass")
            })
            .collect();
        for difference in &self.differences {
            let route = route(&difference.said.asked);
            let number = difference.number;
            let asked = &difference.said.asked;
            let claim = format!("{} {} is answered alike", asked.method, asked.target);
            cases.push(CaseDocument {
                message: format!(
                    "the servers differ (- the real one, + the emulator):\n{}",
                    difference.lines
                ),
                transcript: transcript(difference),
                ..case(
                    format!("{}/{route} #{number}", topic(&route)),
                    claim,
                    "fail",
                )
            });
        }
        let beyond = self.count_of_differences() - self.differences.len();
        let more =
            (beyond > 0).then(|| format!("{beyond} more requests were answered differently"));
        for (at, sentence) in self.left_out().into_iter().chain(more).enumerate() {
            let number = at + 1;
            cases.push(CaseDocument {
                message: sentence.clone(),
                ..case(format!("shadow/left-out/{number}"), sentence, "skip")
            });
        }
        cases.sort_by(|one, other| one.topic().cmp(other.topic()));
        Document {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.to_owned(),
            build: build.to_owned(),
            date: today(),
            seconds: self.watch.elapsed().as_secs_f64(),
            cases,
            mutants: Vec::new(),
        }
    }
}

fn case(id: String, claim: String, state: &str) -> CaseDocument {
    CaseDocument {
        id,
        claim,
        source: "the real server behind shadow".to_owned(),
        level: "real".to_owned(),
        state: state.to_owned(),
        message: String::new(),
        seconds: 0.0,
        transcript: String::new(),
    }
}

/// What both servers said.
fn transcript(difference: &Difference) -> String {
    let exchange = |outcome: &Option<Outcome>| {
        Line::Exchange(Exchange {
            sent: difference.said.asked.to_bytes(),
            outcome: outcome.clone(),
            took: Duration::ZERO,
            superseded: false,
        })
    };
    render(&Transcript {
        lines: vec![
            Line::Note("the real server".to_owned()),
            exchange(&difference.said.real),
            Line::Note("the emulator, which was asked with its own ids and indexes".to_owned()),
            exchange(&difference.emulated),
        ],
        names: Names::default(),
        incomparable: None,
    })
}

/// The kind of a request: its method and its endpoint, without names.
pub(super) fn route(asked: &Asked) -> String {
    let mut parts = asked.path().split('/').skip(1);
    let (version, endpoint) = (parts.next(), parts.next());
    let (Some("v1"), Some(endpoint)) = (version, endpoint) else {
        return format!("{} /", asked.method);
    };
    let verbs = match endpoint {
        "kv" | "txn" | "query" => 0,
        "agent" => 2,
        _ => 1,
    };
    let verbs: Vec<&str> = parts.take(verbs).collect();
    let path = [&[endpoint], verbs.as_slice()].concat().join("/");
    format!("{} /v1/{}", asked.method, shortened(&path))
}

/// The first part of the endpoint: `kv`, `session`.
fn topic(route: &str) -> &str {
    let topic = route.split("/v1/").nth(1).unwrap_or_default();
    topic
        .split('/')
        .next()
        .filter(|topic| !topic.is_empty())
        .unwrap_or("http")
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The status and text of a reply, for messages.
pub(super) fn told(reply: &Reply) -> String {
    format!(
        "{} {}",
        reply.status,
        shortened(String::from_utf8_lossy(&reply.body).trim())
    )
}
