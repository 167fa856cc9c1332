//! Searches the schedules that a legal Consul may show until a lock, an election or a watch breaks.
//!
//! The contenders are futures, each with a connection of its own to a server on tokio's paused clock. A run of a minute takes
//! a few milliseconds, and the same seed gives the same run. `proconsul explore` searches the same with processes.
//!
//! ```
//! use std::time::Duration;
//!
//! use proconsul::explore::{Contender, Explore};
//! use proconsul_client::recipes::{Election, Keeper};
//! use proconsul_client::{Client, Connector, NewSession};
//! use tokio::time::sleep;
//!
//! /// A program that leads for as long as it can, again and again.
//! async fn lead(contender: Contender) {
//!     let own = contender.clone();
//!     let connector = Connector::new(move |_uri| std::future::ready(own.connect()));
//!     let client = Client::builder().address("consul:8500").connector(connector).build();
//!     let client = client.expect("it is an address");
//!     let session = NewSession::new().ttl(Duration::from_secs(10));
//!     loop {
//!         if let Ok(keeper) = Keeper::start(&client, session.clone()).await
//!             && let Ok(leads) = Election::new(&client, "leader").campaign(&keeper, "me").await
//!         {
//!             contender.holds(None);
//!             leads.lost().await;
//!             contender.lost();
//!         }
//!         sleep(Duration::from_secs(1)).await;
//!     }
//! }
//!
//! let report = Explore::new().runs(50).search(lead);
//! report.assert_not_broken();
//! ```

mod contenders;
mod plain;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use proconsul_os::time::{self, delay};
use tokio::runtime;

use crate::{Builder, Server};
pub use contenders::Contender;
use contenders::Tasks;
pub use plain::{Judge, contender_address};
use proconsul_explore::{AGENTS, Job, Search, Setup, Stage, are_agents};
#[doc(inline)]
pub use proconsul_explore::{
    Action, Broken, Decision, Finding, Judgement, Limits, Options, Outcome, ParseError, Place,
    Property, Purpose, Report, Run, Schedule, Summary, judge,
};

/// What the clock moves between two looks at a run.
const STEP: Duration = Duration::from_millis(250);
/// How many runs are drawn before their outcomes are looked at. It depends on no machine, lest the search does.
const BATCH: usize = 32;
/// How much later each contender starts than the one before.
const APART: Duration = Duration::from_millis(100);

/// A search over contenders in this process.
#[derive(Debug)]
#[must_use = "`search` searches"]
pub struct Explore {
    options: Options,
    guard: Option<String>,
    length: Duration,
    server: fn(Builder) -> Builder,
}

impl Default for Explore {
    fn default() -> Self {
        let mut limits = Limits::default();
        // Nothing is slow here: what a contender says is recorded at once.
        limits.slack = Duration::from_millis(100);
        limits.bound = Duration::from_secs(30);
        Self {
            options: Options {
                contenders: 3,
                agents: 1,
                seed: 1,
                limits,
                runs: 1000,
                is_exact: true,
                replays: 3,
            },
            guard: None,
            length: Duration::from_secs(90),
            server: |builder| builder,
        }
    }
}

impl Explore {
    /// Returns a search with three contenders and 1,000 runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many contenders there are, at most 5. Default: 3.
    pub fn contenders(mut self, count: u8) -> Self {
        self.options.contenders = count.clamp(1, proconsul_explore::MOST_CONTENDERS);
        self
    }

    /// Sets how many agents there are, all servers of one datacenter, each of a contender's own: schedules cut them off, pause them,
    /// and let them lag. There are 3 to 5, and one for each contender. Default: 1, which all contenders use.
    pub fn agents(mut self, count: u8) -> Self {
        self.options.agents = count;
        self
    }

    /// Sets after how many runs without a finding the search ends. Default: 1,000.
    pub fn runs(mut self, runs: u64) -> Self {
        self.options.runs = runs;
        self
    }

    /// Sets the seed that decides what is drawn. Default: 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Says that only the holder of the lock may write keys that begin with this.
    pub fn guard(mut self, prefix: impl Into<String>) -> Self {
        self.guard = Some(prefix.into());
        self
    }

    /// Sets how long a run lasts at most, on the simulated clock. Default: 90 s.
    pub fn length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// Changes what verdicts go by, such as [`Limits::bound`].
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.options.limits);
        self
    }

    /// Configures the server of each run, such as its release.
    pub fn server(mut self, configure: fn(Builder) -> Builder) -> Self {
        self.server = configure;
        self
    }

    /// Searches until something breaks, or all runs are made. `contender` is called for each contender of each run, and again
    /// when a schedule restarts one. It gets the contender's way to the server, and runs until the run is over. As many runs are
    /// made at once as there are processors; what is found does not depend on that.
    ///
    /// # Panics
    /// The server of a run cannot be started, or so many contenders cannot have so many agents.
    pub fn search<F>(self, contender: impl Fn(Contender) -> F + Sync) -> Report
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        self.search_by(processors, contender)
    }

    /// Searches by a number of threads.
    fn search_by<F>(self, threads: usize, contender: impl Fn(Contender) -> F + Sync) -> Report
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let began = time::elapsed();
        let Options {
            agents, contenders, ..
        } = self.options;
        assert!(are_agents(agents, contenders), "expected {AGENTS}");
        let mut search = Search::new(self.options.clone());
        let mut found_after = None;
        loop {
            let jobs = batch(&mut search);
            if jobs.is_empty() {
                break;
            }
            for (job, outcome) in jobs.iter().zip(self.run_all(threads, &jobs, &contender)) {
                search.done(job, outcome);
                if search.broken().is_some() {
                    found_after.get_or_insert(time::elapsed() - began);
                    // One run at a time would not have come to the others.
                    search.forget_open();
                    break;
                }
            }
        }
        Report::of(&search, time::elapsed() - began, found_after)
    }

    /// Makes runs by a number of threads. Returns their outcomes in the order of the jobs.
    fn run_all<F>(
        &self,
        threads: usize,
        jobs: &[Job],
        contender: &(impl Fn(Contender) -> F + Sync),
    ) -> Vec<Outcome>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let outcome = self.run(job, contender);
                outcomes.lock().push((job.number, outcome));
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.min(jobs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut outcomes = outcomes.into_inner();
        outcomes.sort_by_key(|(number, _)| *number);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// Runs one schedule, such as one that a search has found, and returns what it breaks. A run without faults before it shows
    /// whether contenders say what they believe.
    ///
    /// # Panics
    /// The server cannot be started.
    pub fn replay<F>(
        &self,
        schedule: &Schedule,
        seed: u64,
        contender: impl Fn(Contender) -> F,
    ) -> Judgement
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let plain = Job {
            number: 1,
            schedule: schedule.to_plain(),
            seed,
            purpose: Purpose::Listen,
            wanted: None,
            tells_beliefs: false,
        };
        let heard = self.run(&plain, &contender);
        let job = Job {
            schedule: schedule.clone(),
            purpose: Purpose::Replay,
            tells_beliefs: heard.run.setup.tells_beliefs,
            ..plain
        };
        let outcome = self.run(&job, &contender);
        judge(&outcome.run, &self.options.limits)
    }

    fn run<F>(&self, job: &Job, contender: &impl Fn(Contender) -> F) -> Outcome
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut builder = runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime of this thread");
        // What contenders draw, such as the client's pauses between its attempts. The caller's draws go on as they would.
        let of_caller = fastrand::get_seed();
        fastrand::seed(job.seed);
        let outcome = runtime.block_on(self.play(job, contender));
        fastrand::seed(of_caller);
        outcome
    }

    async fn play<F>(&self, job: &Job, contender: &impl Fn(Contender) -> F) -> Outcome
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let epoch = "2026-01-01T00:00:00Z".parse().expect("a time");
        let builder = Server::builder().seed(job.seed).epoch(epoch);
        let builder = builder.session_ttl_min(Duration::from_millis(100));
        let builder = builder.agents(job.schedule.agents.into());
        let server = (self.server)(builder).in_runtime();
        let server = Arc::new(server.expect("a server in this runtime"));
        let stage = Stage::new(&job.schedule, &server);
        let tasks = Tasks::new(&server, &job.schedule);
        let world = stage.play(&tasks);
        let watched = async {
            let mut passed = Duration::ZERO;
            for number in 0..job.schedule.contenders {
                tasks.start(number, contender);
                delay(APART).await;
            }
            while passed < self.length && !self.is_settled(&stage, &server) && !stage.is_busy() {
                delay(STEP).await;
                passed += STEP;
                tasks.restart(contender);
            }
        };
        tokio::select! {
            biased;
            () = watched => {}
            () = world => {}
        }
        let setup = Setup {
            schedule: job.schedule.to_string(),
            contenders: job.schedule.contenders,
            seed: job.seed,
            guard: self.guard.clone(),
            tells_beliefs: job.tells_beliefs || tasks.has_beliefs(),
            ..Setup::default()
        };
        Outcome {
            run: Run::of(&server, setup),
            places: stage.places(),
            met: stage.met(),
        }
    }

    /// Returns whether nothing of the schedule is left, and all has had time to show.
    fn is_settled(&self, stage: &Stage, server: &Server) -> bool {
        let patience = self.options.limits.bound * 2;
        let quiet = stage.quiet_since();
        quiet.is_some_and(|since| server.now().since(since) > patience && since.as_nanos() > 0)
    }
}

/// Draws the next runs: one where it takes the outcome of the last to draw another.
fn batch(search: &mut Search) -> Vec<Job> {
    let mut jobs: Vec<Job> = search.next_job().into_iter().collect();
    let is_alone = |job: &Job| matches!(job.purpose, Purpose::Shrink | Purpose::Replay);
    if !jobs.iter().any(is_alone) {
        while jobs.len() < BATCH
            && let Some(job) = search.next_job()
        {
            jobs.push(job);
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use proconsul_client::{Client, Connector, NewSession};

    use super::*;

    /// Believes that it holds the lock until nobody else could have it if its session had just expired.
    async fn holds_blindly(contender: Contender) {
        let own = contender.clone();
        let connector = Connector::new(move |_uri| std::future::ready(own.connect()));
        let client = Client::builder().address("consul:8500");
        let client = client.connector(connector).build().expect("an address");
        let ttl = NewSession::new().ttl(Duration::from_secs(10));
        loop {
            if let Ok(session) = client.sessions().create(&ttl).await
                && let Ok(true) = client.kv().write("lock", "me").acquire(&session).await
            {
                contender.holds(None);
                delay(Duration::from_secs(34)).await;
                contender.lost();
            }
            delay(Duration::from_secs(1)).await;
        }
    }

    #[test]
    fn a_search_does_not_depend_on_the_number_of_processors() {
        let only = |limits: &mut Limits| limits.only = vec![Property::TwoBelievers];
        let [one, many] = [1, 5].map(|threads| {
            let search = Explore::new().contenders(2).runs(70).limits(only);
            let search = search.length(Duration::from_secs(30));
            search.search_by(threads, holds_blindly)
        });
        assert!(one.summary.tried() > 2, "the plain runs show it: {one}");
        assert_eq!(one.summary.runs, many.summary.runs);
        assert_eq!(one.summary.coverage, many.summary.coverage);
        let (found, same) = (one.broken.expect("a bug"), many.broken.expect("a bug"));
        assert_eq!((found.schedule, found.seed), (same.schedule, same.seed));
        assert_eq!(found.run, same.run);
    }

    #[test]
    fn the_seed_decides_what_contenders_draw() {
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let replay = |seed| {
            let drawn = Arc::clone(&drawn);
            Explore::new().replay(&Schedule::plain(1), seed, move |_contender| {
                drawn.lock().push(fastrand::u64(..));
                std::future::ready(())
            });
        };
        let before = fastrand::get_seed();
        for seed in [7, 7, 8] {
            replay(seed);
        }
        assert_eq!(fastrand::get_seed(), before);
        // A replay is two runs, and each starts contenders that have ended again.
        let drawn = drawn.lock();
        let [one, same, other] = [0, 1, 2].map(|third| {
            let length = drawn.len() / 3;
            &drawn[third * length..][..length]
        });
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_does_not_keep_what_directs_it() {
        let server = Server::builder().in_runtime().expect("a server");
        let stage = Stage::new(&Schedule::plain(1), &server);
        let kept = Arc::downgrade(&stage);
        drop(stage);
        assert!(kept.upgrade().is_none(), "it has the server, too");
    }
}
