//! The search for schedules that break a lock: `README.md` has the interface for those who host it.
//!
//! An instance keeps the search, and has the server of one run after another.

#[cfg(test)]
mod tests;
mod wanted;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use proconsul_config::{AgentCounts, Config};
use proconsul_core::Machine;
use proconsul_core::control::Controls;
use proconsul_explore::{
    Contender, Contenders, Job, MOST_CONTENDERS, Outcome, Report, Run, Search, Setup, Stage,
};
use serde_json::{Value, json};

use crate::output;
use wanted::Wanted;

/// What the clock moves between two looks at a run.
const STEP: Duration = Duration::from_secs(5);

const NO_SEARCH: &str = "`search_new` comes first";
const NO_RUN: &str = "`run_begin` comes first";

/// What this instance has to do with searches.
#[derive(Default)]
pub(crate) struct Explore {
    search: Option<(Search, Wanted)>,
    /// The run to make next, or that is under way.
    job: Option<Job>,
    directed: Option<Directed>,
}

/// What comes out for the host: the kind of output, the number, and the bytes.
type Orders = Arc<Mutex<Vec<(u8, u64, &'static str)>>>;

/// A run on the server of this instance.
struct Directed {
    stage: Arc<Stage>,
    controls: Controls,
    setup: Setup,
    orders: Orders,
}

/// Contenders that the host runs.
struct Hosted(Orders);

impl Hosted {
    fn order(&self, contender: Contender, what: &'static str) {
        let number = u64::from(contender.0);
        self.0.lock().push((output::CONTENDER, number, what));
    }
}

impl Contenders for Hosted {
    fn pause(&self, contender: Contender, paused: bool) {
        self.order(contender, if paused { "pause" } else { "resume" });
    }

    fn run(&self, contender: Contender, runs: bool) {
        self.order(contender, if runs { "start" } else { "kill" });
    }
}

impl Explore {
    /// Begins a search.
    pub(crate) fn new_search(&mut self, wanted: &[u8]) -> Result<Value, String> {
        let wanted: Wanted = serde_json::from_slice(wanted).map_err(|error| error.to_string())?;
        self.search = Some((wanted.search()?, wanted));
        self.job = None;
        Ok(json!({}))
    }

    /// Returns the next run to make.
    pub(crate) fn next(&mut self) -> Result<Value, String> {
        let (search, _) = self.search.as_mut().ok_or(NO_SEARCH)?;
        self.job = search.next_job();
        let run = self.job.as_ref().map(|job| {
            json!({
                "number": job.number,
                "purpose": job.purpose.in_words(),
                "schedule": job.schedule.to_string(),
                "contenders": job.schedule.contenders,
                "seed": job.seed,
            })
        });
        Ok(json!({ "run": run }))
    }

    /// Gives the server of the next run as many agents as its schedule has.
    pub(crate) fn configure(&self, config: &mut Config) {
        let agents = self.job.as_ref().map(|job| job.schedule.agents);
        if let Some(agents @ 2..) = agents {
            config.agents = AgentCounts::new(agents.into(), 0).expect("a schedule has few");
        }
    }

    /// Returns the agent of a contender with this address, while a schedule directs the server.
    pub(crate) fn agent_of(&self, peer: SocketAddr) -> Option<usize> {
        let contender = Contender::at(peer.ip())?;
        self.directed.as_ref()?;
        Some(self.job.as_ref()?.schedule.agent(contender))
    }

    /// Lets the schedule of the next run direct a server.
    pub(crate) fn begin(&mut self, machine: Option<&mut Machine>) -> Result<Value, String> {
        let (_, wanted) = self.search.as_ref().ok_or(NO_SEARCH)?;
        let job = self.job.as_ref().ok_or("`search_next` comes first")?;
        let machine = machine.ok_or("`create` comes first")?;
        let controls = machine.controls().cloned();
        let controls = controls.ok_or("the server has no controls: it wants -control")?;
        self.directed = None;
        let stage = Stage::new(&job.schedule, &controls);
        let orders = Orders::default();
        let (own, hosted) = (Arc::clone(&stage), Hosted(Arc::clone(&orders)));
        machine.spawn(async move { own.play(&hosted).await });
        let (own, of, to) = (Arc::clone(&stage), controls.clone(), Arc::clone(&orders));
        let times = (wanted.length(), wanted.patience());
        machine.spawn(async move {
            until_over(&own, &of, times).await;
            to.lock().push((output::OVER, 0, ""));
        });
        self.directed = Some(Directed {
            stage,
            controls,
            setup: Setup {
                schedule: job.schedule.to_string(),
                contenders: job.schedule.contenders,
                seed: job.seed,
                guard: wanted.guard.clone(),
                tells_beliefs: job.tells_beliefs,
                ..Setup::default()
            },
            orders,
        });
        Ok(json!({}))
    }

    /// Returns what the run has recorded so far.
    pub(crate) fn recorded(&self) -> Result<Value, String> {
        let Outcome { run, places, met } = self.directed.as_ref().ok_or(NO_RUN)?.outcome();
        let places: Vec<String> = places.iter().map(ToString::to_string).collect();
        let met: Vec<String> = met.iter().map(ToString::to_string).collect();
        Ok(json!({ "run": run.to_lines(), "places": places, "met": met }))
    }

    /// Ends the run, and returns what it breaks.
    pub(crate) fn done(&mut self) -> Result<Value, String> {
        let outcome = self.directed.as_ref().ok_or(NO_RUN)?.outcome();
        let (search, _) = self.search.as_mut().ok_or(NO_SEARCH)?;
        let job = self.job.take().ok_or(NO_RUN)?;
        self.directed = None;
        let judgement = search.done(&job, outcome);
        let findings = judgement.findings.iter().map(ToString::to_string);
        let findings: Vec<String> = findings.collect();
        Ok(json!({ "findings": findings, "found": search.broken().is_some() }))
    }

    /// Returns what the search has found. It took this long, and this long until something was found, in nanoseconds.
    pub(crate) fn report(&self, took: u64, found_after: u64) -> Result<Value, String> {
        let (search, _) = self.search.as_ref().ok_or(NO_SEARCH)?;
        let [took, found_after] = [took, found_after].map(Duration::from_nanos);
        let report = Report::of(search, took, search.broken().map(|_| found_after));
        let broken = report.broken.as_ref().map(|broken| {
            json!({
                "property": broken.finding.property.name(),
                "finding": broken.finding.to_string(),
                "schedule": broken.schedule.to_string(),
                "seed": broken.seed,
                "found_in": broken.found_in,
                "replays": broken.replays,
                "is_repeated": broken.is_repeated,
                "run": broken.run.to_lines(),
            })
        });
        Ok(json!({
            "text": report.to_string(),
            "broken": broken,
            "is_judged": !report.is_not_judged(),
            "is_idle": report.is_idle(),
            "runs": search.summary().runs.values().sum::<u64>(),
        }))
    }

    /// Lets go of the server, which is about to go itself.
    pub(crate) fn forget_run(&mut self) {
        self.directed = None;
    }

    /// Returns what the host has to do for the schedule.
    pub(crate) fn orders(&self) -> Vec<(u8, u64, &'static str)> {
        let orders = self.directed.as_ref().map(|directed| &directed.orders);
        orders.map_or_else(Vec::new, |orders| std::mem::take(&mut *orders.lock()))
    }
}

impl Directed {
    fn outcome(&self) -> Outcome {
        let mut run = Run::of(&self.controls, self.setup.clone());
        run.setup.tells_beliefs |= run.has_beliefs();
        Outcome {
            run,
            places: self.stage.places(),
            met: self.stage.met(),
        }
    }
}

/// Waits until nothing of the schedule is left and all has had time to show, or the run has lasted long enough.
async fn until_over(stage: &Stage, controls: &Controls, (length, patience): (Duration, Duration)) {
    let began = controls.now();
    let is_settled = || {
        let quiet = stage.quiet_since();
        quiet.is_some_and(|since| controls.now().since(since) > patience && since.as_nanos() > 0)
    };
    while controls.now().since(began) < length && !is_settled() && !stage.is_busy() {
        let next = controls.now().plus(STEP);
        controls.engine().clock().sleep_until(next).await;
    }
}

/// Records what a contender says that it believes: `held`, `held TOKEN` or `lost`.
pub(crate) fn believe(controls: &Controls, contender: u64, said: &[u8]) {
    let said = String::from_utf8_lossy(said);
    let held = said.strip_prefix("held");
    let token = held.map(str::trim).filter(|token| !token.is_empty());
    controls.note_belief(&name(contender), held.is_some(), token);
}

/// Records that a contender has ended although the schedule wants it to run.
pub(crate) fn ended(controls: &Controls, contender: u64, how: &[u8]) {
    let how = String::from_utf8_lossy(how);
    controls.note(&format!("{} ended by itself: {how}", name(contender)));
}

fn name(contender: u64) -> String {
    let contender = u8::try_from(contender).ok().map(Contender);
    let known = contender.filter(|one| one.0 < MOST_CONTENDERS);
    known.expect("contenders have small numbers").to_string()
}
