//! What holds a request: before its handler, and while it waits there.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use proconsul_engine::Engine;
use proconsul_engine::blocking::{self, Wait};
use proconsul_engine::faults::{ConsulError, Cut, Faults, Hold, Link, Plan, Stop};
use proconsul_engine::sync::{Next, either};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Answer, Cluster, Entry, Key, KvGet};
use proconsul_version::Behaviour;

use super::{Seen, ask};
use crate::Context;
use crate::control::Controls;
use crate::fault::leader::LeaderPatience;
use crate::request::Request;

/// Holds a request as long as its plan says, and returns the plan for the rest of the way.
pub(super) async fn until_it_may_go_on(
    control: &Controls,
    request: &Request,
    seen: &Seen<'_>,
) -> Plan {
    let faults = control.fault_table();
    let (engine, agent) = (&request.context.engine, request.context.agent);
    if request.context.is_lone() && !faults.has_any() {
        return Plan::default();
    }
    let now = || control.now();
    let director = faults.director().filter(|_| !seen.is_passed_on);
    let mut directed =
        director.and_then(|director| ask(request, seen, |asked| director.arrived(asked, now())));
    if until_link_is_up(control, seen).await.is_err() {
        return Plan {
            stop: Some(Stop::Cut(Cut::Reset)),
            ..Plan::default()
        };
    }
    let mut patience = LeaderPatience::of(request);
    loop {
        let mut changes = faults.changes();
        let of_rules = || match seen.is_passed_on {
            true => None,
            false => ask(request, seen, |asked| faults.ask(asked, now())),
        };
        let of_agent = || match seen.needs_leader(&request.context) {
            true => ask(request, seen, |asked| engine.plan_of_agent(agent, asked)),
            false => None,
        };
        let Some(plan) = directed.take().or_else(of_rules).or_else(of_agent) else {
            return Plan::default();
        };
        engine.fault_hit(&plan.name);
        match plan.hold {
            Hold::None => return plan,
            Hold::For(duration) => {
                engine.hold(Some(duration)).await;
                return plan;
            }
            Hold::Forever => engine.hold(None).await,
            Hold::UntilHeard(given_up) => {
                if !until_heard(control, &request.context, given_up, &mut changes).await {
                    return plan;
                }
            }
            Hold::AsForLeader => {
                while let Some(step) = patience.step(engine) {
                    engine.hold(Some(step)).await;
                }
                return plan;
            }
            Hold::ForLeader | Hold::ForElection(_) => {
                let Some(step) = patience.step(engine) else {
                    return plan;
                };
                // From 1.15 on a request waits to the end, even if a leader is elected earlier.
                if patience.grows {
                    engine.hold(Some(step)).await;
                } else {
                    for_leader(engine, plan.hold, step, &mut changes).await;
                }
            }
        }
    }
}

/// Holds a request for a step of its wait for a leader, at most until there is one.
async fn for_leader(engine: &Engine, hold: Hold, step: Duration, changes: &mut Next<'_>) {
    let lasts = match hold {
        Hold::ForElection(lasts) => lasts.min(step),
        _ => step,
    };
    engine.looks_at(changes);
    let until = engine.clock().now().plus(lasts);
    either(engine.hold_until(Some(until)), changes).await;
}

/// Waits until the leader is heard of that the agent had, at most until it is given up. Returns whether it was.
pub(super) async fn until_heard<'a>(
    control: &'a Controls,
    context: &Context,
    given_up: Timestamp,
    changes: &mut Next<'a>,
) -> bool {
    let led = context.engine.cluster().last_leader();
    let is_heard = |cluster: &Cluster| cluster.reaches(context.agent, led);
    until_changed(control, context, Some(given_up), changes, is_heard).await
}

/// Waits until something changes and this is so, at most until this time, if one is given. Returns whether it is.
async fn until_changed<'a>(
    control: &'a Controls,
    context: &Context,
    until: Option<Timestamp>,
    changes: &mut Next<'a>,
    is_so: impl Fn(&Cluster) -> bool,
) -> bool {
    let engine = &context.engine;
    let mut held = pin!(engine.hold_until(until));
    loop {
        engine.looks_at(changes);
        if !changes_within(held.as_mut(), &mut *changes).await {
            return false;
        }
        *changes = control.fault_table().changes();
        if is_so(&engine.cluster()) {
            return true;
        }
    }
}

/// Waits for the first of two. Returns whether that is a change.
async fn changes_within(over: impl Future<Output = ()>, changes: impl Future<Output = ()>) -> bool {
    let over = async {
        over.await;
        false
    };
    let changed = async {
        changes.await;
        true
    };
    either(over, changed).await
}

/// Lets an acquire wait while another session holds its key. Returns whether it has waited: then it has passed the check
/// of the lock-delay that the end of that session began.
pub(super) async fn in_flight(request: &Request, seen: &Seen<'_>) -> bool {
    let key = seen.path.strip_prefix(b"/v1/kv/");
    let get = KvGet(Key::new(key.unwrap_or_default()));
    let own = request.query.first("acquire").unwrap_or_default();
    let engine = &request.context.engine;
    let holder = |answer: &Answer<Option<Entry>>| {
        let (_, row) = answer.rows.as_ref()?;
        row.session().map(str::to_owned)
    };
    let Ok(before) = engine.read(&get);
    let Some(other) = holder(&before).filter(|holder| holder.as_bytes() != own) else {
        return false;
    };
    let wait = Wait {
        min_index: before.index,
        limit: Duration::MAX,
        is_exact: true,
        is_streamed: false,
    };
    let is_over = |answer: &Answer<_>| holder(answer).as_ref() != Some(&other);
    let Ok(_) = blocking::answer_when(engine, &get, Some(wait), is_over).await;
    true
}

/// What ends a request that is parked.
pub(super) enum Interruption {
    LeaderLost(ConsulError),
    LinkCut,
}

/// Holds a request, or its response, while the link to its client is silent.
///
/// # Errors
/// The link is cut.
pub(super) async fn until_link_is_up(
    control: &Controls,
    seen: &Seen<'_>,
) -> Result<(), Interruption> {
    let faults = control.fault_table();
    let mut held = None;
    loop {
        let changes = faults.changes();
        match link(faults, seen) {
            Link::Up => return Ok(()),
            Link::Cut => return Err(Interruption::LinkCut),
            Link::Silent => {
                held = held.or_else(|| control.engine().stand_still());
                control.engine().looks_at(&changes);
                changes.await;
            }
        }
    }
}

pub(super) fn link(faults: &Faults, seen: &Seen<'_>) -> Link {
    if !faults.has_any() || seen.is_passed_on {
        return Link::Up;
    }
    match faults.link_of_agent(seen.agent) {
        Link::Up => {
            let director = faults.director();
            director.map_or(Link::Up, |director| director.link(seen.client))
        }
        down => down,
    }
}

/// Waits for a leader that a blocked read may be asked again at, whose leader has been given up. Returns whether it may: only since
/// 1.15 (cluster.md 2.5.r4, 3.13).
async fn is_asked_again<'a>(
    control: &'a Controls,
    context: &Context,
    changes: &mut Next<'a>,
) -> bool {
    if !context.config.version.has(Behaviour::HttpNoLeaderHoldGrows) {
        return false;
    }
    let has_leader = |cluster: &Cluster| cluster.has_leader(context.agent);
    *changes = control.fault_table().changes();
    has_leader(&context.engine.cluster())
        || until_changed(control, context, None, changes, has_leader).await
}

/// Runs `work`.
///
/// # Errors
/// What interrupts it.
pub(super) async fn unless_interrupted<T>(
    control: &Controls,
    seen: &Seen<'_>,
    context: &Context,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Interruption> {
    let faults = control.fault_table();
    let mut changes = faults.changes();
    loop {
        control.engine().looks_at(&changes);
        let done = poll_fn(|task| {
            // What a leader does after a change does not come to an agent that has lost it.
            if !changes.has_happened()
                && let Poll::Ready(done) = work.as_mut().poll(task)
            {
                return Poll::Ready(Some(done));
            }
            Pin::new(&mut changes).poll(task).map(|()| None)
        });
        if let Some(done) = done.await {
            return Ok(done);
        }
        // Before the look, so that nothing is missed after it.
        changes = faults.changes();
        if link(faults, seen) == Link::Cut {
            return Err(Interruption::LinkCut);
        }
        let by_rules = faults.interrupts(seen.is_stale, control.now());
        let plan = by_rules.filter(|_| !seen.is_passed_on);
        let at_agent = || match seen.needs_leader(context) {
            true => {
                let engine = &context.engine;
                engine.interrupts_at_agent(context.agent, seen.is_stale)
            }
            false => None,
        };
        let plan = plan.or_else(at_agent);
        let Some(Plan {
            name,
            hold,
            stop: Some(Stop::Error(error)),
            ..
        }) = plan
        else {
            continue;
        };
        control.engine().fault_hit(&name);
        if let Hold::UntilHeard(given_up) = hold {
            let is_heard = until_heard(control, context, given_up, &mut changes).await;
            if is_heard || is_asked_again(control, context, &mut changes).await {
                context.engine.block_again();
                continue;
            }
        }
        return Err(Interruption::LeaderLost(error));
    }
}
