//! The verb `explore`: searches the schedules that a legal Consul may show until a program breaks.

mod asked;
mod consul;
mod contender;
mod files;
mod play;
mod proxy;
mod seen;
mod witness;

use std::sync::Arc;
use std::time::Duration;

use proconsul::Version;
use proconsul_explore::{
    AGENTS, Job, Limits, MOST_CONTENDERS, Options, Property, Purpose, Report, Run, Schedule,
    Search, are_agents, judge,
};
use proconsul_os::{CORES, process, time};
use tokio::task::JoinSet;

use super::{Failure, Given, Outcome};
use crate::output;
use consul::Consul;
use contender::Program;
use play::Play;
use witness::Runs;

commands! {
    "explore" "-- PROGRAM..." explore "Searches for a schedule that breaks a lock, an election or a watch (not in Consul)" {
        Number "agents" "How many agents there are, each of a contender's own: 3 to 5, and one for each (default: 1, which all use)";
        Text "as-version" "Emulates this release of Consul";
        Text "change" "A key that is changed all the time, for programs that watch it; may be repeated";
        Text "change-service" "A service whose instance is changed all the time, for programs that watch it; may be repeated";
        Text "consul" "With -replay: a real Consul on this machine, such as 127.0.0.1:8500, which replays it behind a proxy";
        Number "contenders" "How many copies of the program compete (default: 2)";
        Time "for" "How long to search (default: 5m)";
        Text "guard" "Only the holder of the lock may write keys that begin with this";
        Text "held" "What a line of output contains that says that the program holds the lock (default: held)";
        Text "judge" "Judges a recorded run again, and runs nothing";
        Switch "keeps-lock" "The program keeps a lock as long as it can: to release it is to give it up";
        Text "lost" "What a line of output contains that says that it has lost the lock (default: lost)";
        Text "out" "A folder for the report, the schedule and the recorded run";
        Number "parallel" "How many runs are made at once (default: 8 for each core)";
        Text "property" "Judges this property alone; may be repeated";
        Text "replay" "Runs this schedule, and searches for nothing";
        Number "requests" "How many requests a second are a busy loop (default: 100)";
        Number "runs" "After how many runs the search ends (default: no limit; with -replay: 20)";
        Number "seed" "The seed that decides what is drawn";
        Time "session-ttl-min" "The shortest TTL that the servers allow (default: 100ms)";
        Time "slack" "How late the program may act on what it knows (default: 500ms)";
        Time "within" "Within which time a free lock has to be taken, and a change to be read (default: 12s)";
    }
}

/// The exit code of a search that has found something.
const BROKEN: u8 = 1;
/// That of a search that could not judge anything, and of a command line that is not understood.
const NOT_JUDGED: u8 = 2;
/// How often the progress is printed.
const PROGRESS: Duration = Duration::from_secs(5);
/// How often a replay is made.
const REPLAYS: u32 = 20;

fn misuse(text: impl Into<String>) -> Failure {
    Failure {
        text: text.into(),
        code: NOT_JUDGED,
    }
}

async fn explore(given: Given) -> Outcome {
    let limits = limits(&given)?;
    if let Some(file) = given.filled("judge") {
        return judge_again(file, &limits);
    }
    let mut play = play_of(&given, &limits)?;
    let replayed = given.filled("replay").map(schedule).transpose()?;
    play.real = real(&given, replayed.as_ref()).await?;
    if let Some(runs) = &play.real {
        play.version = runs.consul.version;
    }
    let contenders = given.number("contenders").unwrap_or(2);
    let is_valid = (1..=u64::from(MOST_CONTENDERS)).contains(&contenders);
    if !is_valid {
        return Err(misuse(format!(
            "-contenders: expected 1 to {MOST_CONTENDERS}"
        )));
    }
    let agents = given.number("agents").unwrap_or(1);
    let agents = u8::try_from(agents).unwrap_or(u8::MAX);
    let contenders = u8::try_from(contenders).unwrap_or(MOST_CONTENDERS);
    if !are_agents(agents, contenders) {
        return Err(misuse(format!("-agents: expected {AGENTS}")));
    }
    let options = Options {
        agents,
        contenders,
        seed: given.number("seed").unwrap_or_else(time::machine_seed),
        limits,
        runs: given.number("runs").unwrap_or(u64::MAX),
        is_exact: false,
        replays: REPLAYS,
    };
    let began = time::elapsed();
    let search = match replayed {
        Some(schedule) => {
            let replays = given
                .number("runs")
                .map_or(REPLAYS, |runs| u32::try_from(runs).unwrap_or(REPLAYS));
            Search::replay(Options { replays, ..options }, schedule)
        }
        None => Search::new(options),
    };
    let parallel = given
        .number("parallel")
        .and_then(|number| usize::try_from(number).ok());
    let parallel = match play.real {
        // The runs use the same keys.
        Some(_) => 1,
        None => parallel.unwrap_or(8 * *CORES).max(1),
    };
    let lasts = given.time("for").unwrap_or(Duration::from_secs(300));
    let searched = run(search, &play, parallel, lasts).await;
    if let Some(runs) = &play.real {
        // A signal or an error may have ended a run.
        runs.tidy().await.map_err(misuse)?;
    }
    let (search, found_after) = searched?;
    let report = Report::of(&search, time::elapsed() - began, found_after);
    let real = play.real.as_ref();
    let on = real.map(|runs| replayed_on(&runs.consul, &search));
    let text = report.to_string() + &on.unwrap_or_default();
    if let Some(folder) = given.filled("out") {
        files::write(folder, &report, &text, &words(&given)).map_err(misuse)?;
    }
    output::out(&files::annotated(&report));
    finish(&report, text)
}

/// Says how often a schedule broke the program on a real Consul.
fn replayed_on(consul: &Consul, search: &Search) -> String {
    let hits = search.broken().map_or(0, |broken| broken.replays.0);
    let replays = search.summary().runs.get(&Purpose::Replay);
    let replays = replays.copied().unwrap_or_default();
    format!("{}: {hits} of {replays} replays break it\n", consul.name())
}

/// Returns the words of the command that a replay takes over: flags about the program and its verdicts, and the program.
fn words(given: &Given) -> Vec<String> {
    const OF_THE_SEARCH: &[&str] = &[
        "consul", "for", "judge", "out", "parallel", "replay", "runs", "seed",
    ];
    let flags = given.0.flags.iter();
    let flags = flags.filter(|(flag, _)| !OF_THE_SEARCH.contains(&flag.name));
    let flags = flags.map(|(flag, value)| format!("-{}={value}", flag.name));
    let program = given.rest().iter().cloned();
    flags.chain(["--".to_owned()]).chain(program).collect()
}

/// Returns the text of the report, as the outcome of the verb.
fn finish(report: &Report, text: String) -> Outcome {
    if report.broken.is_some() {
        output::out(&text);
        let code = BROKEN;
        return Err(Failure {
            text: String::new(),
            code,
        });
    }
    if report.is_not_judged() {
        output::out(&text);
        return Err(misuse(""));
    }
    Ok(text)
}

/// Makes the runs that the search wants, until it is over, the time is, or a signal ends it.
async fn run(
    mut search: Search,
    play: &Play,
    parallel: usize,
    lasts: Duration,
) -> Result<(Search, Option<Duration>), Failure> {
    let began = time::elapsed();
    let mut signals = process::Signals::listen().map_err(|error| error.to_string())?;
    let mut running: JoinSet<(Job, Result<proconsul_explore::Outcome, String>)> = JoinSet::new();
    let mut said = began;
    let mut found_after = None;
    let mut purpose = Purpose::Plain;
    loop {
        while running.len() < parallel
            && let Some(job) = search.next_job()
        {
            purpose = job.purpose;
            let play = play.clone();
            running.spawn(async move {
                let outcome = play.play(&job).await;
                (job, outcome)
            });
        }
        if search.is_over() {
            return Ok((search, found_after));
        }
        let left = lasts.saturating_sub(time::elapsed() - began);
        tokio::select! {
            done = running.join_next() => if let Some(Ok((job, outcome))) = done {
                let before = search.broken().is_some();
                search.done(&job, outcome?);
                // Of a schedule that is replayed, each run counts, and none is made small.
                let is_tried = job.purpose != Purpose::Replay;
                if let Some(broken) = search.broken().filter(|_| is_tried && !before) {
                    output::err(&format!("found in run {}: {}\nmaking it small\n", job.number, broken.finding));
                    found_after = Some(time::elapsed() - began);
                    // The others are of no use any more, and small schedules want a quiet machine.
                    running.abort_all();
                    search.forget_open();
                }
                if before && search.broken().is_none() {
                    output::err("it did not show again: the search goes on\n");
                }
            },
            () = time::delay(left), if !left.is_zero() => search.stop(),
            _ = signals.next() => return Ok((search, found_after)),
        }
        if left.is_zero() {
            search.stop();
        }
        let now = time::elapsed();
        if now - said >= PROGRESS {
            said = now;
            output::err(&format!("{}\n", progress(&search, purpose, left)));
        }
    }
}

fn progress(search: &Search, purpose: Purpose, left: Duration) -> String {
    let summary = search.summary();
    let all: u64 = summary.runs.values().sum();
    format!(
        "{all} runs ({}), takeovers in {} of {}, {} kinds of requests and actions met, {} s left",
        purpose.in_words(),
        summary.takeovers,
        summary.tried(),
        summary.coverage.len(),
        left.as_secs(),
    )
}

fn play_of(given: &Given, limits: &Limits) -> Result<Play, Failure> {
    let words = given.rest().to_vec();
    if words.is_empty() {
        return Err(misuse("expected a program behind the flags"));
    }
    let version = given.filled("as-version").map(|text| {
        let version: Result<Version, _> = text.parse();
        version.map_err(|error| misuse(format!("-as-version: {error}")))
    });
    let texts = |flag: &str| given.texts(flag).into_iter().map(str::to_owned).collect();
    Ok(Play {
        program: Program {
            words,
            held: given.filled("held").unwrap_or("held").to_owned(),
            lost: given.filled("lost").unwrap_or("lost").to_owned(),
        },
        guard: given.filled("guard").map(str::to_owned),
        limits: limits.clone(),
        session_ttl_min: given
            .time("session-ttl-min")
            .unwrap_or(Duration::from_millis(100)),
        version: version.transpose()?.unwrap_or_default(),
        changed: texts("change"),
        changed_services: texts("change-service"),
        real: None,
    })
}

/// Finds the real Consul that a schedule is to be replayed on, if there is to be one.
async fn real(given: &Given, replayed: Option<&Schedule>) -> Result<Option<Arc<Runs>>, Failure> {
    let Some(address) = given.filled("consul") else {
        return Ok(None);
    };
    let schedule = replayed.ok_or_else(|| misuse("-consul: expected -replay, too"))?;
    for flag in ["as-version", "session-ttl-min"] {
        if given.text(flag).is_some() {
            return Err(misuse(format!("-{flag}: a real Consul is as it is")));
        }
    }
    let consul = Consul::at(address).await;
    let consul = consul.map_err(|error| misuse(format!("-consul: {error}")))?;
    let checked = consul.check(schedule).await;
    checked.map_err(|error| misuse(format!("{} cannot be brought to {error}", consul.name())))?;
    Ok(Some(Arc::new(Runs::on(consul))))
}

fn limits(given: &Given) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    let times = [("slack", &mut limits.slack), ("within", &mut limits.bound)];
    for (flag, limit) in times {
        *limit = given.time(flag).unwrap_or(*limit);
    }
    if let Some(requests) = given.number("requests") {
        limits.requests = usize::try_from(requests).unwrap_or(usize::MAX);
    }
    limits.keeps_lock = given.is_set("keeps-lock");
    for name in given.texts("property") {
        let property = Property::ALL
            .iter()
            .find(|property| property.name() == name);
        let names: Vec<&str> = Property::ALL.iter().map(Property::name).collect();
        let unknown = || misuse(format!("-property: expected one of {}", names.join(", ")));
        limits.only.push(*property.ok_or_else(unknown)?);
    }
    Ok(limits)
}

fn read(file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| misuse(format!("{file}: {error}")))
}

fn schedule(file: &str) -> Result<Schedule, Failure> {
    let schedule: Result<Schedule, _> = read(file)?.parse();
    schedule.map_err(|error| misuse(format!("{file}: {error}")))
}

/// Judges a recorded run.
fn judge_again(file: &str, limits: &Limits) -> Outcome {
    let run = Run::from_lines(&read(file)?).map_err(|error| misuse(format!("{file}: {error}")))?;
    let judgement = judge(&run, limits);
    let lines = proconsul_explore::timeline(&run, &judgement.findings);
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if judgement.findings.is_empty() {
        return Ok(lines + "not broken\n");
    }
    let found = judgement
        .findings
        .iter()
        .map(|finding| format!("broken: {finding}\n"));
    output::out(&(lines + &found.collect::<String>()));
    let code = BROKEN;
    Err(Failure {
        text: String::new(),
        code,
    })
}
