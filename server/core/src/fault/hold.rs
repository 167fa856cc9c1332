//! What holds a request: before its handler, and while it waits there.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::Method;
use proconsul_engine::Engine;
use proconsul_engine::blocking::{self, Wait};
use proconsul_engine::faults::{ConsulError, Cut, Faults, Hold, Link, Plan, Stop, Turn};
use proconsul_engine::sync::{Next, either};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Answer, Cluster, Entry, Key, KvGet};
use proconsul_version::Behaviour;
use tracing::subscriber::{NoSubscriber, with_default};

use super::{Seen, ask};
use crate::Context;
use crate::control::Controls;
use crate::failure::Failure;
use crate::fault::leader::LeaderPatience;
use crate::request::Request;
use crate::route::Handler;

/// What an agent tells a leader even if it changes nothing.
const TOLD: [&[u8]; 2] = [b"/v1/agent/service/register", b"/v1/agent/check/register"];

/// What reads or changes the services and checks of an agent.
const OF_STATE: [&[u8]; 6] = [
    b"/v1/agent/check",
    b"/v1/agent/health/",
    b"/v1/agent/maintenance",
    b"/v1/agent/reload",
    b"/v1/agent/self",
    b"/v1/agent/service",
];

/// Holds a request as long as its plan says, and returns the plan for the rest of the way. `turn` is for the request's turn, until it
/// is done.
///
/// # Errors
/// The agent refuses it without asking its leader.
pub(super) async fn until_it_may_go_on<'a>(
    control: &'a Controls,
    handler: Handler,
    request: &mut Request,
    seen: &Seen<'_>,
    turn: &mut Option<Turn<'a>>,
) -> Result<Plan, Failure> {
    let faults = control.fault_table();
    let context = Arc::clone(&request.context);
    let engine = &context.engine;
    if context.is_lone() && !faults.has_any() {
        return Ok(Plan::default());
    }
    let now = control.now();
    let director = faults.director().filter(|_| !seen.is_passed_on);
    let mut directed =
        director.and_then(|director| ask(request, seen, |asked| director.arrived(asked, now)));
    if until_link_is_up(control, seen).await.is_err() {
        return Ok(Plan {
            stop: Some(Stop::Cut(Cut::Reset)),
            ..Plan::default()
        });
    }
    *turn = until_its_turn(control, &context, seen).await;
    let mut patience = LeaderPatience::of(request);
    let mut is_checked = false;
    loop {
        let mut changes = faults.changes();
        let plan = match directed.take() {
            Some(plan) => Some(plan),
            None => planned(control, handler, request, seen, &mut is_checked).await?,
        };
        let Some(plan) = plan else {
            return Ok(Plan::default());
        };
        engine.fault_hit(&plan.name);
        match plan.hold {
            Hold::None => return Ok(plan),
            Hold::For(duration) => {
                engine.hold(Some(duration)).await;
                return Ok(plan);
            }
            Hold::Forever => engine.hold(None).await,
            Hold::UntilHeard(given_up) => {
                if !until_heard(control, &context, given_up, &mut changes).await {
                    return Ok(plan);
                }
            }
            Hold::AsForLeader => {
                while let Some(step) = patience.step(engine) {
                    engine.hold(Some(step)).await;
                }
                return Ok(plan);
            }
            Hold::ForLeader | Hold::ForElection(_) => {
                let Some(step) = patience.step(engine) else {
                    return Ok(plan);
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

/// Lets what concerns the services and checks of an agent without a leader wait for what came before (cluster.md 4.4.r3). Returns
/// the turn of a write, which others wait for.
async fn until_its_turn<'a>(
    control: &'a Controls,
    context: &Context,
    seen: &Seen<'_>,
) -> Option<Turn<'a>> {
    let is_own = OF_STATE.iter().any(|path| seen.path.starts_with(path));
    if !is_own || !context.engine.has_nobody_to_tell(context.agent) {
        return None;
    }
    let faults = control.fault_table();
    let mut changes = faults.changes();
    let turn = faults.queue_at(context.agent);
    if !turn.has_come() {
        context
            .engine
            .fault_hit("the agent waits for a leader to tell");
        until_changed(control, context, None, &mut changes, |_| turn.has_come()).await;
    }
    let is_read = matches!(seen.method, Method::GET | Method::HEAD);
    (!is_read).then_some(turn)
}

/// Returns what a request goes through as things stand; `None` to handle it as always.
///
/// # Errors
/// The agent refuses it without asking its leader. That is checked once.
async fn planned(
    control: &Controls,
    handler: Handler,
    request: &mut Request,
    seen: &Seen<'_>,
    is_checked: &mut bool,
) -> Result<Option<Plan>, Failure> {
    let (faults, now) = (control.fault_table(), control.now());
    let is_of_client = !seen.is_passed_on;
    if is_of_client && let Some(plan) = ask(request, seen, |asked| faults.ask(asked, now)) {
        return Ok(Some(plan));
    }
    let context = &request.context;
    let plan = ask(request, seen, |asked| {
        let of_loss = is_of_client.then(|| faults.without_leader(asked, now));
        let of_agent = || context.engine.plan_of_agent(context.agent, asked);
        let needs_leader = seen.needs_leader(context);
        of_loss
            .flatten()
            .or_else(|| needs_leader.then(of_agent).flatten())
    });
    // Boxed, because it is rare and large.
    if plan.is_some()
        && !std::mem::replace(is_checked, true)
        && Box::pin(tells_nothing(handler, request, seen)).await?
    {
        return Ok(None);
    }
    Ok(plan)
}

/// Checks what an agent checks before it asks its leader, so that it refuses bad input without one, too. Returns whether the
/// request changes nothing at the agent, which then has nothing to tell a leader (cluster.md 3.22).
///
/// # Errors
/// The agent refuses the request.
async fn tells_nothing(
    handler: Handler,
    request: &mut Request,
    seen: &Seen<'_>,
) -> Result<bool, Failure> {
    if seen.elsewhere.is_some() {
        return Ok(false);
    }
    let before = request.context.engine.snapshot().applied();
    // The handler has a copy of the state, and no log. Once it has looked there, its answer is the leader's.
    let context = &request.context;
    let context = Arc::new(context.of_another_server(context.engine.unused()));
    let same = request.within(Arc::clone(&context));
    let mut handling = with_default(NoSubscriber::new(), || handler.answer_here(same));
    let handled = poll_fn(|task| {
        let polled = with_default(NoSubscriber::new(), || handling.as_mut().poll(task));
        match polled {
            Poll::Pending if context.engine.is_used() => Poll::Ready(None),
            handled => handled.map(Some),
        }
    });
    match handled.await {
        Some(Err(failure)) if !context.engine.is_used() && !failure.is_of_leader() => Err(failure),
        Some(_) => {
            let is_own = seen.path.starts_with(b"/v1/agent/") && !TOLD.contains(&seen.path);
            Ok(is_own && context.engine.snapshot().applied() == before)
        }
        None => Ok(false),
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
