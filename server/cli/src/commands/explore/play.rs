//! One run: a server, an address for each contender, and its process.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proconsul::in_runtime::RuntimeServer;
use proconsul::{Server, Version};
use proconsul_explore::{
    Change, Contender, Contenders, Job, Limits, Outcome, Property, Purpose, Run, Setup, Stage,
    judge,
};
use proconsul_os::time::{self, delay};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::contender::{Process, Program};
use super::proxy::Proxy;
use super::witness::{NODE, Runs, Witness};

/// What a run is made of, beside its schedule.
#[derive(Clone, Debug)]
pub(super) struct Play {
    pub(super) program: Program,
    pub(super) guard: Option<String>,
    pub(super) limits: Limits,
    pub(super) session_ttl_min: Duration,
    pub(super) version: Version,
    /// The keys that are changed all the time.
    pub(super) changed: Vec<String>,
    /// The services whose instance changes all the time.
    pub(super) changed_services: Vec<String>,
    /// The real Consul that the contenders use; `None` for a server of ours.
    pub(super) real: Option<Arc<Runs>>,
}

/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a contender may take to its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(15);
/// How long a contender that has sent a request is given to acquire the lock before the next one starts.
const FIRST_ACQUIRE: Duration = Duration::from_millis(400);
/// How often keys are changed.
const CHANGE: Duration = Duration::from_millis(500);
/// How many writes there were before the run, so that indexes that begin anew are far below what they were.
const BEFORE: u32 = 100;
/// The shortest run.
const SHORTEST: Duration = Duration::from_secs(3);
/// The longest time for decisions that are not met.
const LONGEST: Duration = Duration::from_secs(60);

/// The contenders of a run.
struct Processes {
    all: Vec<Process>,
    /// What sees what they do to a real Consul.
    witness: Option<Arc<Witness>>,
}

impl Contenders for Processes {
    fn pause(&self, contender: Contender, paused: bool) {
        self.all[contender.index()].pause(paused);
    }

    fn run(&self, contender: Contender, runs: bool) {
        let process = &self.all[contender.index()];
        if !runs {
            process.kill();
        } else if let Err(error) = process.start() {
            // It has started before.
            process.note(&error);
        }
    }

    fn change(&self, change: &Change) -> Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        let witness = self.witness.as_ref()?;
        let change = change.clone();
        Some(Box::pin(async move { witness.change(&change).await }))
    }
}

impl Play {
    /// Makes one run.
    ///
    /// # Errors
    /// The server or a contender cannot be started.
    pub(super) async fn play(&self, job: &Job) -> Result<Outcome, String> {
        let builder = Server::builder().seed(job.seed).version(self.version);
        let builder = builder.agents(job.schedule.agents.into());
        let builder = builder.session_ttl_min(self.session_ttl_min);
        let server = builder.in_runtime().map_err(|error| error.to_string())?;
        let server = Arc::new(server);
        let stage = Stage::new(&job.schedule, &server);
        let real = self.real.as_ref();
        let witness = real.map(|runs| runs.begin(server.shared_engine()));
        if self.is_watched() && witness.is_none() {
            for number in 0..BEFORE {
                server.kv().put("explore/before", number.to_string());
            }
        }
        let mut processes = Vec::new();
        // Dropping it ends them.
        let mut listening = JoinSet::new();
        for name in Contender::all(job.schedule.contenders) {
            let proxy = witness.as_ref().map(|witness| Proxy {
                contender: name,
                stage: Arc::clone(&stage),
                recorder: Arc::clone(&server),
                witness: Arc::clone(witness),
                version: self.version,
            });
            let agent = job.schedule.agent(name);
            let address = listen(&server, (name, agent), proxy, &mut listening).await?;
            processes.push(Process::new(name, address, &self.program, &server));
        }
        let processes = Processes {
            all: processes,
            witness,
        };
        let is_slow = AtomicBool::new(false);
        let ended = tokio::select! {
            ended = self.watch(job, &server, &stage, &processes, &is_slow) => ended,
            () = stage.play(&processes) => Ok(()),
            () = self.change(&server, processes.witness.as_deref()) => Ok(()),
            failure = failure_of(processes.witness.as_deref()) => Err(failure),
        };
        ended?;
        let mut outcome = self.outcome(job, &server, &stage, processes.witness.as_deref());
        drop((processes, listening));
        if let Some(runs) = real {
            runs.tidy().await?;
        }
        if is_slow.load(Ordering::Relaxed) {
            // What a contender says may have come late.
            outcome.run.setup.tells_beliefs = false;
        }
        Ok(outcome)
    }

    fn outcome(
        &self,
        job: &Job,
        server: &RuntimeServer,
        stage: &Stage,
        witness: Option<&Witness>,
    ) -> Outcome {
        let setup = Setup {
            schedule: job.schedule.to_string(),
            contenders: job.schedule.contenders,
            seed: job.seed,
            guard: self.guard.clone(),
            ..Setup::default()
        };
        let mut run = Run::of(server, setup);
        if let Some(witness) = witness {
            // The recorder has none of the sessions.
            run.setup.lock_delay = witness.lock_delay_nanos();
        }
        run.setup.tells_beliefs = job.tells_beliefs || run.has_beliefs();
        Outcome {
            run,
            places: stage.places(),
            met: stage.met(),
        }
    }

    /// Starts the contenders one after another, and waits until the run proves what it can.
    async fn watch(
        &self,
        job: &Job,
        server: &RuntimeServer,
        stage: &Stage,
        processes: &Processes,
        is_slow: &AtomicBool,
    ) -> Result<(), String> {
        for (name, process) in Contender::all(job.schedule.contenders).zip(&processes.all) {
            process.start()?;
            self.until_it_competes(stage, name, process).await;
        }
        let began = time::elapsed();
        let mut found_at = None;
        loop {
            let looked = time::elapsed();
            delay(LOOK).await;
            let now = time::elapsed();
            let late = (now - looked).saturating_sub(LOOK);
            if late > self.limits.slack / 2 {
                is_slow.store(true, Ordering::Relaxed);
            }
            let runs = processes
                .all
                .iter()
                .filter(|process| process.look())
                .count();
            let outcome = self.outcome(job, server, stage, processes.witness.as_deref());
            let run = outcome.run;
            let judgement = judge(&run, &self.limits);
            let (ttl, lock_delay) = (judgement.ttl, judgement.lock_delay);
            let change = 2 * ttl + lock_delay + self.limits.slack + Duration::from_millis(500);
            if let Some(finding) = judgement.findings.first() {
                // What follows from it may be worse, once another takes over.
                let is_wanted = job.wanted == Some(finding.property);
                let may_be_worse = finding.property == Property::NoticedLate && !is_wanted;
                let patience = if may_be_worse {
                    self.limits.bound
                } else {
                    Duration::ZERO
                };
                let found_at = *found_at.get_or_insert(now);
                if now - found_at > patience || stage.is_busy() || runs == 0 {
                    return Ok(());
                }
                continue;
            }
            let passed = now - began;
            let plain = SHORTEST.max(4 * ttl).min(LONGEST);
            let quiet = stage.quiet_since().map(|since| server.now().since(since));
            let is_plain = job.schedule.decisions.is_empty();
            let is_over = match quiet {
                _ if job.purpose == Purpose::Listen => run.setup.tells_beliefs || passed > SHORTEST,
                None => passed > plain + ttl,
                Some(_) if is_plain => passed > plain,
                Some(quiet) if self.is_calm(&run, stage) => quiet > change,
                // A watch has to end once before its client knows of indexes that began anew.
                Some(quiet) if self.is_watched() => quiet > change + 3 * self.limits.bound,
                Some(quiet) => quiet > change + self.limits.bound,
            };
            if is_over || runs == 0 && passed > SHORTEST {
                return Ok(());
            }
        }
    }

    /// Returns whether a contender holds a lock and knows it, so that there is nothing to wait for.
    fn is_calm(&self, run: &Run, stage: &Stage) -> bool {
        let knows = |one| !run.setup.tells_beliefs || run.believes(one);
        let mut all = Contender::all(run.setup.contenders);
        !self.is_watched() && all.any(|one| stage.holds(one).0 > 0 && knows(one))
    }

    /// Returns whether the contenders watch something.
    fn is_watched(&self) -> bool {
        !self.changed.is_empty() || !self.changed_services.is_empty()
    }

    async fn until_it_competes(&self, stage: &Stage, name: Contender, process: &Process) {
        let began = time::elapsed();
        let mut first = None;
        while time::elapsed() - began < FIRST_REQUEST && process.look() {
            let (_, acquires) = stage.holds(name);
            let now = time::elapsed();
            if first.is_none() && stage.places().iter().any(|place| place.contender == name) {
                first = Some(now);
            }
            if acquires > 0 || first.is_some_and(|first| now - first > FIRST_ACQUIRE) {
                return;
            }
            delay(LOOK / 10).await;
        }
    }

    /// Changes keys and services, and never ends.
    async fn change(&self, server: &RuntimeServer, witness: Option<&Witness>) {
        for number in 1_u64.. {
            delay(CHANGE).await;
            for key in &self.changed {
                match witness {
                    Some(witness) => witness.put_key(key, number.to_string()).await,
                    None => {
                        server.kv().put(key, number.to_string());
                    }
                }
            }
            for service in &self.changed_services {
                let instance = json!({ "ID": service, "Service": service, "Port": 1024 + number });
                let body = json!({ "Node": NODE, "Address": "127.0.0.1", "Service": instance });
                let registered = match witness {
                    Some(witness) => witness.register(body.to_string()).await,
                    None => register(server, &body.to_string()).await,
                };
                // The run is over if it is not.
                if registered.is_some() {
                    server.note(&format!("changed /v1/health/service/{service}"));
                }
            }
        }
    }
}

/// Registers a service; `None` if the server closes the connection before it answers.
async fn register(server: &RuntimeServer, registration: &str) -> Option<()> {
    let length = registration.len();
    let request = format!(
        "PUT /v1/catalog/register HTTP/1.1\r\nHost: explore\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{registration}",
    );
    let mut connection = server.connect();
    let mut response = Vec::new();
    connection.write_all(request.as_bytes()).await.ok()?;
    connection.read_to_end(&mut response).await.ok()?;
    Some(())
}

/// Returns why a run on a real Consul cannot go on. Without such a Consul it never ends.
async fn failure_of(witness: Option<&Witness>) -> String {
    match witness {
        Some(witness) => witness.watch().await,
        None => std::future::pending().await,
    }
}

/// Serves a new address, whose clients are all one contender, which uses an agent of the server or a real Consul behind a proxy.
///
/// # Errors
/// The operating system's error.
async fn listen(
    server: &Arc<RuntimeServer>,
    (name, agent): (Contender, usize),
    proxy: Option<Proxy>,
    listening: &mut JoinSet<()>,
) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    if let Some(proxy) = proxy {
        listening.spawn(proxy.serve(listener));
        return Ok(address.to_string());
    }
    let server = Arc::clone(server);
    listening.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Consul sets it, too.
            let _best_effort = stream.set_nodelay(true);
            server.serve_connection_to(agent, stream, Some(name.address()));
        }
    });
    Ok(address.to_string())
}
