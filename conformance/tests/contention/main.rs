//! Rust, Go, Python and `consul lock` want one lock, and one semaphore of two slots, while they are killed at random:
//! there are never more holders than allowed, on the emulator and on a real Consul.
//!
//! Each server and recipe is contended for 4 s, or for as long as `PROCONSUL_CONTENTION_SECONDS` says.
//! `PROCONSUL_CONTENTION_SEED` chooses who dies when.
//!
//! What is judged is what the workers do: they say at a [`Place`] outside of Consul that they begin and that they end.
//! Two traps, of which each looks like a second holder:
//!
//! * `consul lock` gives its lock back as soon as its worker is dead, which a worker that dies of a signal tells
//!   nobody. Others are let in some milliseconds later. The place has to notice the death before it lets them in.
//! * `consul lock` signals the shell that it starts, not what that shell has started, which may work on without a lock.
//!   This is so by its construction; here the shell becomes the worker (`exec`).

mod contenders;
#[path = "../hosts/mod.rs"]
mod hosts;
mod place;
mod transitions;

use std::io::{Write, stderr};
use std::time::Duration;

use contenders::{Contender, Death, Programs, lawless};
use hosts::{Host, emulator, hosts};
use place::{Place, Visit, crowds};
use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::time::{Clock, Deadline, RealClock};
use proconsul_conformance::wire::{self, Address, Outcome, Request};
use serde_json::Value;
use transitions::{Transition, Transitions};

/// How long all may take to have worked once, when the time is over and somebody has not; and how long it may take to
/// notice a death.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait for somebody to be at work, to die of it there.
const SOON: Duration = Duration::from_millis(500);
const PREFIX: &str = "contended";
/// From so many seconds on, one dead contender in four leaves a session that has to lapse, for 10 s.
const LONG: u64 = 20;

/// What is contended for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Lock,
    /// Of two slots.
    Semaphore,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Semaphore => "semaphore",
        }
    }

    fn allowed(self) -> usize {
        match self {
            Self::Lock => 1,
            Self::Semaphore => 2,
        }
    }
}

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse().expect("the variable is a number")
    })
}

/// The steps of a linear congruential generator, of which the upper bits are good enough.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// One server on which one recipe is contended for.
struct Contention<'a> {
    host: &'a Host,
    mode: Mode,
    place: Place,
    contenders: Vec<Contender>,
    chance: Chance,
    /// Whether there is the time for a session to lapse.
    is_long: bool,
}

impl Contention<'_> {
    /// Somebody dies, and comes back.
    fn one_dies(&mut self) {
        let victim = self.chance.below(self.contenders.len() as u64);
        let victim = &mut self.contenders[usize::try_from(victim).expect("there are few")];
        assert_eq!(victim.ended(), None, "on {}", self.host.name);
        // The session of `consul lock` has a lock-delay of 15 s: if it does not give its lock back, nobody has it for so
        // long. It does so as long as its worker works, and not when it is asked to end while it acquires.
        let is_asked = victim.name == "consul-lock" && self.mode == Mode::Lock;
        let at_work = is_asked || self.chance.below(2) == 0;
        if at_work && !until(SOON, || self.place.is_inside(victim.name)) && is_asked {
            return;
        }
        let death = if is_asked || self.chance.below(4) == 0 {
            Death::Terminate
        } else {
            Death::Kill
        };
        let session = victim.session_name();
        victim.die(death);
        // `consul lock` ends by itself then.
        let is_dead = death == Death::Kill || victim.name != "consul-lock";
        if is_dead {
            // Who is dead works no more; the operating system may still be about to say so.
            let gone = until(PATIENCE, || !self.place.is_inside(victim.name));
            assert!(gone, "{} was killed and works on", victim.name);
            if !self.is_long || self.chance.below(4) > 0 {
                destroy_sessions(self.host, &session);
            }
        }
        victim.come_back();
    }
}

/// Waits until something is so; whether it was in time.
fn until(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let patience = Deadline::after(patience);
    while !is_so() {
        if patience.left().is_none() {
            return false;
        }
        RealClock
            .pass(Duration::from_millis(1))
            .expect("real time passes");
    }
    true
}

/// As an operator does it, or the check of a node.
fn destroy_sessions(host: &Host, name: &str) {
    let sessions: Value =
        serde_json::from_str(&answer(host, &Request::get("/v1/session/list"))).expect("JSON");
    let of_name = sessions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|session| session["Name"] == name);
    for session in of_name {
        let id = session["ID"].as_str().expect("a session has an id");
        answer(
            host,
            &Request::put(&format!("/v1/session/destroy/{id}"), ""),
        );
    }
}

fn answer(host: &Host, request: &Request) -> String {
    let address = Address::parse(&host.address).expect("the host has an address");
    match wire::exchange(&address, request) {
        Outcome::Reply(reply) if reply.status == 200 => {
            String::from_utf8_lossy(&reply.body).into_owned()
        }
        other => panic!(
            "{} {} on {}: {other:?}",
            request.method, request.target, host.name
        ),
    }
}

/// Whether all have worked at least once.
fn all_have_worked(contenders: &[Contender], visits: &[Visit]) -> bool {
    contenders
        .iter()
        .all(|contender| visits.iter().any(|visit| visit.name == contender.name))
}

/// Lets them contend, kills one of them now and then, and judges what they did.
fn contend(host: &Host, mode: Mode, programs: &Programs) {
    let seconds = variable("PROCONSUL_CONTENTION_SECONDS", 4);
    let place = Place::open();
    let prefix = format!("{PREFIX}-{}", mode.word());
    let transitions = Transitions::watch(&host.address, &prefix, place.clock());
    let mut contention = Contention {
        host,
        mode,
        contenders: programs.start(mode, &prefix, place.address(), &host.address),
        place,
        chance: Chance(variable("PROCONSUL_CONTENTION_SEED", 1)),
        is_long: seconds >= LONG,
    };
    let end = Deadline::after(Duration::from_secs(seconds));
    while end.left().is_some() {
        let pause = Duration::from_millis(200 + contention.chance.below(1000));
        RealClock.pass(pause).expect("real time passes");
        contention.one_dies();
    }
    let Contention {
        place, contenders, ..
    } = contention;
    let all = until(PATIENCE, || all_have_worked(&contenders, &place.visits()));
    let names: Vec<&str> = contenders.iter().map(|contender| contender.name).collect();
    drop(contenders);
    let (visits, transitions) = (place.visits(), transitions.end());
    let told = format!("{} on {}: {}", mode.word(), host.name, counted(&visits));
    if let Some(complaint) = complaint(&visits, &transitions, mode.allowed()) {
        panic!("{told}: {complaint}\n{}", timeline(host, &prefix));
    }
    assert!(all, "{told}: not all of {names:?} have held it");
    let violations = violations(host, &prefix);
    assert!(
        mode == Mode::Semaphore || violations.is_none(),
        "{told}: {violations:?}"
    );
    // Past the capture of the test harness: it says how much was tried.
    writeln!(stderr(), "{told}").expect("standard error is open");
}

/// How often each was inside.
fn counted(visits: &[Visit]) -> String {
    let mut names: Vec<&str> = visits.iter().map(|visit| visit.name.as_str()).collect();
    names.sort_unstable();
    let of = |group: &[&str]| format!("{} {}", group[0], group.len());
    let times: Vec<String> = names.chunk_by(|a, b| a == b).map(of).collect();
    let cut_off = visits.iter().filter(|visit| visit.cut_off).count();
    format!(
        "{} visits ({}), of which {cut_off} were cut off",
        visits.len(),
        times.join(", ")
    )
}

/// What is wrong; `None` when there were never more holders than allowed.
fn complaint(visits: &[Visit], transitions: &[Transition], allowed: usize) -> Option<String> {
    let crowds = crowds(visits, allowed);
    let named = transitions
        .iter()
        .find(|transition| transition.holders > allowed);
    let first = crowds.first().and_then(|crowd| crowd.last());
    let moment = first
        .map(|visit| visit.from)
        .or_else(|| named.map(|transition| transition.at))?;
    let mut text = format!("more than {allowed} at a time, {} times", crowds.len());
    for crowd in crowds.iter().take(5) {
        text += "\n  together:";
        for visit in crowd {
            text += &format!("\n    {visit}");
        }
    }
    text += "\nThe watched keys around the first time:";
    let second = Duration::from_secs(1);
    for transition in transitions {
        if transition.at + second > moment && transition.at < moment + second {
            text += &format!("\n  at {:.3?}{}", transition.at, transition.text);
        }
    }
    Some(text)
}

/// What the emulator's history says of the key; a real Consul keeps none.
fn timeline(host: &Host, prefix: &str) -> String {
    if host.name == "consul" {
        return String::new();
    }
    answer(
        host,
        &Request::get(&format!("/proconsul/v1/timeline?key={prefix}/.lock")),
    )
}

/// What was not safe about a lock in the emulator's history; `None` when all was, or there is no history.
fn violations(host: &Host, prefix: &str) -> Option<String> {
    if host.name == "consul" {
        return None;
    }
    let body = serde_json::json!({ "key": format!("{prefix}/.lock") }).to_string();
    let request = Request::new("POST", "/proconsul/v1/safety").body(body);
    let safety: Value = serde_json::from_str(&answer(host, &request)).expect("JSON");
    (safety["safe"] != true).then(|| safety.to_string())
}

/// The emulators keep a history, and take the same short sessions as the suite's real Consul.
fn with_history() -> Config {
    Config {
        control: true,
        session_ttl_min: Duration::from_secs(1),
        ..Config::dev()
    }
}

fn on_all_hosts(mode: Mode) {
    let Some(programs) = Programs::find() else {
        return;
    };
    for host in hosts(&with_history()) {
        contend(&host, mode, &programs);
    }
}

#[test]
fn a_lock_has_one_holder_whatever_it_is_written_in() {
    on_all_hosts(Mode::Lock);
}

#[test]
fn a_semaphore_of_two_has_no_third_holder_whatever_it_is_written_in() {
    on_all_hosts(Mode::Semaphore);
}

/// The check can fail: it finds one who works without a lock, and says who was inside together.
#[test]
fn one_who_ignores_the_lock_is_found() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let host = emulator("emulator 1.22.0", Version::V1_22_0, &with_history());
    let place = Place::open();
    let transitions = Transitions::watch(&host.address, PREFIX, place.clock());
    let _contenders = programs.start(Mode::Lock, PREFIX, place.address(), &host.address);
    let _lawless = lawless(place.address());
    let found = until(PATIENCE, || !crowds(&place.visits(), 1).is_empty());
    assert!(found, "nobody was found: {}", counted(&place.visits()));
    let found = complaint(&place.visits(), &transitions.end(), 1).expect("there was a crowd");
    let together = found.split("together:").nth(1).expect("it says who");
    assert!(
        together.contains("\n    lawless ") && together.matches("\n    ").count() > 1,
        "{found}"
    );
    // Nor is the server taken for the culprit.
    assert_eq!(violations(&host, PREFIX), None);
}
