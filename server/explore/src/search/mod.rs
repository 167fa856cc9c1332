//! The search: which schedule to run next, and what all of them came to.
//!
//! First plain runs, from which the requests of the contenders are learned; then schedules that have broken clients before;
//! then drawn ones, until something breaks. Then the schedule that broke it is made small, and replayed.

mod draw;
mod known;
mod shrink;

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;

use crate::judge::{Finding, Judgement, Limits, Property, judge};
use crate::run::Run;
use crate::schedule::{Decision, Place, Schedule};
use draw::Draw;
use shrink::Shrink;

/// How many runs without decisions there are first.
const PLAIN: u64 = 2;

/// What is searched, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many contenders there are.
    pub contenders: u8,
    /// How many agents there are: see [`Schedule::agents`].
    pub agents: u8,
    /// The seed that decides what is drawn.
    pub seed: u64,
    /// What verdicts need to know.
    pub limits: Limits,
    /// After how many runs without a finding the search ends.
    pub runs: u64,
    /// Whether the same schedule and seed always give the same run: contenders are tasks of a simulation, not processes.
    pub is_exact: bool,
    /// How often what was found is replayed in the end.
    pub replays: u32,
}

impl Options {
    /// Returns a schedule without decisions.
    fn plain(&self) -> Schedule {
        Schedule {
            agents: self.agents,
            ..Schedule::plain(self.contenders)
        }
    }
}

/// A run to make.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its number, counted from 1.
    pub number: u64,
    /// The schedule.
    pub schedule: Schedule,
    /// The seed of the server, and of all else that is drawn in the run.
    pub seed: u64,
    /// What it is made for.
    pub purpose: Purpose,
    /// The property that it is to break, so that a driver may end it then; `None` for any.
    pub wanted: Option<Property>,
    /// Whether contenders have said in an earlier run what they believe, so that they do where they say nothing.
    pub tells_beliefs: bool,
}

/// What a run is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To learn whether the contenders say what they believe, before a schedule is only replayed. It is over once one has.
    Listen,
    /// To learn what the contenders do when nothing goes wrong.
    Plain,
    /// To try a schedule that has broken other clients.
    Known,
    /// To try a schedule of this many decisions, each drawn from all that there are with the same chance.
    Drawn(u32),
    /// To try a schedule whose decisions were drawn near a change of the holder.
    Steered,
    /// To see whether a smaller schedule breaks the same.
    Shrink,
    /// To see how often the smallest schedule breaks it.
    Replay,
}

impl Purpose {
    /// Returns what the runs are for, in words.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Listen => "listening".to_owned(),
            Self::Plain => "plain".to_owned(),
            Self::Known => "known schedules".to_owned(),
            Self::Drawn(1) => "1 decision drawn".to_owned(),
            Self::Drawn(count) => format!("{count} decisions drawn"),
            Self::Steered => "near a change of the holder".to_owned(),
            Self::Shrink => "shrinking".to_owned(),
            Self::Replay => "replays".to_owned(),
        }
    }
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was recorded.
    pub run: Run,
    /// The requests of the contenders, in order.
    pub places: Vec<Place>,
    /// The decisions that were met.
    pub met: Vec<Decision>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The property that is broken, when, and how, in the run below.
    pub finding: Finding,
    /// The schedule that was found first.
    pub first: Schedule,
    /// The smallest schedule that breaks it.
    pub schedule: Schedule,
    /// The seed of that run.
    pub seed: u64,
    /// The run of the smallest schedule.
    pub run: Run,
    /// The number of the run that found it.
    pub found_in: u64,
    /// What the run that found it was made for.
    pub purpose: Purpose,
    /// How many replays broke it, and how many there were.
    pub replays: (u32, u32),
    /// Whether all replays were the same byte for byte; `None` where that is not promised.
    pub is_repeated: Option<bool>,
}

impl Broken {
    fn new(job: &Job, run: Run, finding: &Finding) -> Self {
        Self {
            finding: finding.clone(),
            first: job.schedule.clone(),
            schedule: job.schedule.clone(),
            seed: job.seed,
            run,
            found_in: job.number,
            purpose: job.purpose,
            replays: (0, 0),
            is_repeated: None,
        }
    }
}

/// What all runs came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many runs there were for each purpose.
    pub runs: BTreeMap<Purpose, u64>,
    /// In how many of them a lock went from one contender to another, without those that shrink and replay.
    pub takeovers: u64,
    /// In how many of them somebody lost a lock that he had not released.
    pub losses: u64,
    /// How often each kind of request met each kind of action.
    pub coverage: BTreeMap<(&'static str, &'static str), u64>,
    /// How many different pairs of a request and an action there are to draw from.
    pub pairs: u64,
    /// The properties that could not be judged, and why.
    pub not_judged: Vec<(Property, &'static str)>,
    /// The TTL and the lock-delay of the contenders' sessions, as far as they were seen.
    pub ttl: (Duration, Duration),
}

impl Summary {
    /// Returns how many runs tried something.
    #[must_use]
    pub fn tried(&self) -> u64 {
        let tries = |purpose: &Purpose| !matches!(purpose, Purpose::Shrink | Purpose::Replay);
        let counted = self.runs.iter().filter(|(purpose, _)| tries(purpose));
        counted.map(|(_, count)| count).sum()
    }

    /// Returns the chance at most with which a bug that `depth` decisions show was missed; `None` if no such schedule was
    /// drawn.
    #[must_use]
    pub fn missed(&self, depth: u32) -> Option<f64> {
        let drawn = *self.runs.get(&Purpose::Drawn(depth))?;
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        let (pairs, drawn) = (self.pairs as f64, drawn as f64);
        let orders: u32 = (1..=depth).product();
        let hit = f64::from(orders) / pairs.powi(depth.cast_signed());
        Some((1.0 - hit).powf(drawn))
    }
}

/// The search, as a state that a driver asks for runs and tells of their outcomes.
#[derive(Debug)]
pub struct Search {
    options: Options,
    rng: Rng,
    last: u64,
    /// How many runs have been handed out and are not back.
    open: u64,
    phase: Phase,
    /// The requests of the plain runs.
    learned: Vec<Place>,
    draw: Option<Draw>,
    known: Vec<Schedule>,
    summary: Summary,
    broken: Option<Broken>,
    unconfirmed: Vec<Broken>,
    /// The schedule of a search that only replays it.
    replayed: Option<Schedule>,
    replays_done: u32,
    is_stopped: bool,
    tells_beliefs: bool,
}

#[derive(Debug)]
enum Phase {
    /// Before a schedule is only replayed, a run without faults shows whether contenders say what they believe.
    Listen {
        is_given: bool,
    },
    Plain(u64),
    Try,
    Shrink(Box<Shrink>),
    Replay(u32),
    Over,
}

impl Search {
    /// Begins a search.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            rng: Rng::with_seed(options.seed),
            options,
            last: 0,
            open: 0,
            phase: Phase::Plain(0),
            learned: Vec::new(),
            draw: None,
            known: Vec::new(),
            summary: Summary::default(),
            broken: None,
            unconfirmed: Vec::new(),
            replayed: None,
            replays_done: 0,
            is_stopped: false,
            tells_beliefs: false,
        }
    }

    /// Begins with a schedule that is only replayed, as often as the options say.
    #[must_use]
    pub fn replay(options: Options, schedule: Schedule) -> Self {
        let mut search = Self::new(options);
        search.phase = Phase::Listen { is_given: false };
        search.replayed = Some(schedule);
        search
    }

    /// Forgets the runs that are under way: their outcomes will not come.
    pub fn forget_open(&mut self) {
        self.open = 0;
    }

    /// Returns the next run to make; `None` while the outcomes of others are needed first, or when the search is over.
    pub fn next_job(&mut self) -> Option<Job> {
        if self.is_stopped && !matches!(self.phase, Phase::Shrink(_) | Phase::Replay(_)) {
            return None;
        }
        let plain = self.options.plain();
        let (schedule, purpose) = match &mut self.phase {
            Phase::Listen { is_given } if !*is_given => {
                *is_given = true;
                (self.replayed.as_ref()?.to_plain(), Purpose::Listen)
            }
            Phase::Plain(given) if *given < PLAIN => {
                *given += 1;
                (plain, Purpose::Plain)
            }
            Phase::Try if self.last >= self.options.runs => return None,
            Phase::Try => match self.known.pop() {
                Some(schedule) => (schedule, Purpose::Known),
                None => self.draw.as_ref()?.schedule(&mut self.rng, &plain)?,
            },
            Phase::Shrink(shrink) => (shrink.next()?, Purpose::Shrink),
            Phase::Replay(given) if *given < self.options.replays => {
                *given += 1;
                let found = self.broken.as_ref().map(|broken| &broken.schedule);
                let schedule = self.replayed.as_ref().or(found)?;
                (schedule.clone(), Purpose::Replay)
            }
            Phase::Listen { .. } | Phase::Plain(_) | Phase::Replay(_) | Phase::Over => return None,
        };
        self.last += 1;
        self.open += 1;
        let seed = match purpose {
            // A search that only replays a schedule has the seed of the run that it repeats.
            Purpose::Listen | Purpose::Shrink | Purpose::Replay if self.options.is_exact => {
                let found = self.broken.as_ref();
                found.map_or(self.options.seed, |broken| broken.seed)
            }
            // JavaScript and JSON take it as it is.
            _ => self.rng.u64(..1 << 53),
        };
        Some(Job {
            number: self.last,
            schedule,
            seed,
            purpose,
            wanted: self.broken.as_ref().map(|broken| broken.finding.property),
            tells_beliefs: self.tells_beliefs,
        })
    }

    /// Takes the outcome of a run. Returns its judgement.
    pub fn done(&mut self, job: &Job, outcome: Outcome) -> Judgement {
        self.open = self.open.saturating_sub(1);
        let judgement = judge(&outcome.run, &self.options.limits);
        self.tells_beliefs |= outcome.run.setup.tells_beliefs;
        if matches!(self.phase, Phase::Listen { .. }) {
            self.phase = Phase::Replay(0);
            return judgement;
        }
        *self.summary.runs.entry(job.purpose).or_default() += 1;
        self.count(&outcome, &judgement);
        match &mut self.phase {
            Phase::Shrink(shrink) if job.purpose == Purpose::Shrink => {
                let wanted = self.broken.as_ref().map(|broken| broken.finding.property);
                let mut findings = judgement.findings.iter();
                let found = findings.find(|finding| Some(finding.property) == wanted);
                shrink.done(&job.schedule, found.is_some());
                if let (Some(found), Some(broken)) = (found, &mut self.broken)
                    && job.schedule == *shrink.best()
                {
                    broken.finding = found.clone();
                    broken.schedule = job.schedule.clone();
                    broken.seed = job.seed;
                    broken.run = outcome.run;
                }
                if let Some(replays) = shrink.unconfirmed() {
                    let broken = self.broken.take();
                    self.unconfirmed
                        .extend(broken.map(|broken| Broken { replays, ..broken }));
                    // A driver may have given up the plain runs that were under way.
                    self.phase = match self.draw {
                        Some(_) => Phase::Try,
                        None => Phase::Plain(0),
                    };
                } else if shrink.is_over() {
                    self.phase = Phase::Replay(0);
                }
            }
            Phase::Replay(_) if job.purpose == Purpose::Replay => {
                self.replayed(job, outcome, &judgement);
            }
            Phase::Plain(_) | Phase::Try => self.tried(job, outcome, &judgement),
            // What others found first.
            Phase::Listen { .. } | Phase::Shrink(_) | Phase::Replay(_) | Phase::Over => {}
        }
        judgement
    }

    fn replayed(&mut self, job: &Job, outcome: Outcome, judgement: &Judgement) {
        self.replays_done += 1;
        let wanted = self.broken.as_ref().map(|broken| broken.finding.property);
        let mut findings = judgement.findings.iter();
        let found = findings.find(|one| wanted.is_none_or(|wanted| wanted == one.property));
        if let (None, Some(found)) = (&self.broken, found) {
            self.broken = Some(Broken::new(job, outcome.run.clone(), found));
        }
        if let Some(broken) = &mut self.broken {
            broken.replays.0 += u32::from(found.is_some());
            broken.replays.1 = self.replays_done;
            if self.options.is_exact {
                let same = outcome.run == broken.run;
                broken.is_repeated = Some(same && broken.is_repeated != Some(false));
            } else if let Some(found) = found {
                broken.finding = found.clone();
                broken.run = outcome.run;
                broken.seed = job.seed;
            }
        }
        if self.replays_done == self.options.replays {
            self.phase = Phase::Over;
        }
    }

    /// Takes the outcome of a run that tried something.
    fn tried(&mut self, job: &Job, outcome: Outcome, judgement: &Judgement) {
        self.summary.takeovers += u64::from(judgement.has_takeover);
        self.summary.losses += u64::from(judgement.has_loss);
        if let Some(finding) = judgement.findings.first() {
            let broken = Broken::new(job, outcome.run, finding);
            let times = self.summary.ttl.0;
            let tries = if self.options.is_exact { 1 } else { 5 };
            let shrink = Shrink::new(&job.schedule, &outcome.met, times, tries);
            // A plain run of two contenders cannot be made smaller.
            self.phase = if shrink.is_over() {
                Phase::Replay(0)
            } else {
                Phase::Shrink(Box::new(shrink))
            };
            self.broken = Some(broken);
            return;
        }
        if job.purpose == Purpose::Plain {
            let plain = self.summary.runs.get(&Purpose::Plain);
            let is_first = plain.is_none_or(|done| *done < PLAIN);
            self.learned.extend(outcome.places);
            if !is_first {
                self.learn();
                self.phase = Phase::Try;
            }
        }
    }

    /// Makes schedules of the requests of the plain runs.
    fn learn(&mut self) {
        let (ttl, lock_delay) = self.summary.ttl;
        let (places, plain) = (&self.learned, self.options.plain());
        self.known = known::schedules(places, &plain, ttl, lock_delay);
        if self.options.limits.judges(Property::StaleRead) {
            self.known.extend(known::of_reads(places, &plain));
        }
        // The first are tried first.
        self.known.reverse();
        let draw = Draw::new(places, &plain, ttl, lock_delay);
        self.summary.pairs = draw.pairs();
        self.draw = Some(draw);
    }

    fn count(&mut self, outcome: &Outcome, judgement: &Judgement) {
        let (ttl, lock_delay) = &mut self.summary.ttl;
        *ttl = judgement.ttl.max(*ttl);
        *lock_delay = judgement.lock_delay.max(*lock_delay);
        for Decision { place, action } in &outcome.met {
            let pair = (place.kind.name(), action.name());
            *self.summary.coverage.entry(pair).or_default() += 1;
        }
        // What one run shows, all runs of the same program can.
        let missing = &mut self.summary.not_judged;
        if self.summary.runs.values().sum::<u64>() == 1
            || judgement.not_judged.len() < missing.len()
        {
            missing.clone_from(&judgement.not_judged);
        }
    }

    /// Ends the search after the runs that are under way; what was found is still made small.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns whether there is nothing left to do, now or later.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_spent = self.is_stopped || self.last >= self.options.runs;
        match &self.phase {
            Phase::Over => true,
            Phase::Listen { .. } | Phase::Plain(_) | Phase::Try => is_spent && self.open == 0,
            Phase::Shrink(_) | Phase::Replay(_) => false,
        }
    }

    /// Returns what was found and then did not show again in most tries of the same schedule. A busy machine can look like a wrong
    /// client, and a bug that needs luck like none.
    #[must_use]
    pub fn unconfirmed(&self) -> &[Broken] {
        &self.unconfirmed
    }

    /// Returns what the runs came to so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns what was found.
    #[must_use]
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Returns what is searched.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Event, Setup, What};

    fn outcome(ends: bool) -> Outcome {
        let text = "a ended by itself: exit status 1".to_owned();
        let event = Event {
            n: 1,
            at: 1,
            cause: None,
            what: What::Driver { text },
        };
        let setup = Setup {
            contenders: 2,
            ended: 1_000_000_000,
            ..Setup::default()
        };
        Outcome {
            run: Run {
                setup,
                events: ends.then_some(event).into_iter().collect(),
            },
            places: Vec::new(),
            met: Vec::new(),
        }
    }

    fn options() -> Options {
        Options {
            contenders: 2,
            agents: 1,
            seed: 1,
            limits: Limits::default(),
            runs: 100,
            is_exact: false,
            replays: 1,
        }
    }

    #[test]
    fn who_has_said_what_it_believes_does_so_where_it_says_nothing() {
        let schedule = "contenders 2\na acquire 1: lose-response\n".parse();
        let mut search = Search::replay(options(), schedule.expect("a schedule"));
        let plain = search.next_job().expect("a run without faults");
        assert!(plain.purpose == Purpose::Listen && !plain.tells_beliefs);
        assert!(search.next_job().is_none(), "its outcome is needed first");
        let mut told = outcome(false);
        told.run.setup.tells_beliefs = true;
        search.done(&plain, told);
        let replay = search.next_job().expect("the schedule");
        assert!(replay.tells_beliefs && replay.purpose == Purpose::Replay);
        search.done(&replay, outcome(false));
        assert!(search.is_over());
        let runs: Vec<_> = search.summary().runs.keys().collect();
        assert_eq!(runs, [&Purpose::Replay]);
    }

    #[test]
    fn plain_runs_are_made_again_when_their_finding_does_not_show_again() {
        let mut search = Search::new(options());
        let first = search.next_job().expect("a plain run");
        search.done(&first, outcome(true));
        assert!(search.broken().is_some());
        search.forget_open();
        for _ in 0..3 {
            let again = search.next_job().expect("it is confirmed first");
            assert_eq!(again.purpose, Purpose::Shrink);
            search.done(&again, outcome(false));
        }
        assert!(search.broken().is_none());
        let [once] = search.unconfirmed() else {
            panic!("{search:?}");
        };
        assert_eq!((once.found_in, once.replays), (first.number, (0, 3)));
        let next = search.next_job().expect("the search goes on");
        assert_eq!(next.purpose, Purpose::Plain);
    }
}
