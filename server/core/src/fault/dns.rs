//! Faults of DNS, and the records of its questions.

use std::net::IpAddr;

use http::Method;
use proconsul_engine::faults::{DnsFailure, Effect, Hold, Link, Question};
use proconsul_engine::{Engine, OpenCall};

use super::Seen;
use super::hold::{link, until_heard, until_link_is_up};
use crate::Context;
use crate::control::Controls;
use crate::dns::Transport;

/// What the history calls the method of a question.
const METHOD: &str = "DNS";

/// A question.
pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    /// The type of the records that are wanted, in words.
    pub(crate) kind: &'a str,
    pub(crate) client: Option<IpAddr>,
    pub(crate) transport: Transport,
}

/// Answers a question by `respond`, with the faults that rules plan for it. It is an open request meanwhile.
pub(crate) async fn answer(
    context: &Context,
    control: &Controls,
    asked: Asked<'_>,
    respond: impl Fn(Option<DnsFailure>) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    // One that refuses connections hears no question.
    if !control.listeners(context.agent).is_wanted() {
        return None;
    }
    let agent = (!context.is_lone()).then_some(context.agent);
    let target = format!("{} {}", asked.name, asked.kind);
    let engine = &context.engine;
    let mut open = engine.begin_call_at(agent, asked.client, METHOD, &target);
    let id = open.as_ref().map(OpenCall::id);
    let answer = Engine::in_call(id, with_faults(context, control, asked, respond)).await?;
    if let Some(open) = &mut open {
        // The last four bits of the flags.
        open.answered(answer.get(3).map(|flags| u16::from(flags & 0xf)));
    }
    Some(answer)
}

async fn with_faults(
    context: &Context,
    control: &Controls,
    asked: Asked<'_>,
    respond: impl Fn(Option<DnsFailure>) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let faults = control.fault_table();
    let mut changes = faults.changes();
    let without_servers = context.engine.without_servers(context.agent);
    if let Some(Hold::UntilHeard(given_up)) = without_servers.map(|plan| plan.hold) {
        until_heard(control, context, given_up, &mut changes).await;
    }
    if !faults.has_any() {
        return respond(None);
    }
    let is_datagram = asked.transport == Transport::Udp;
    let seen = Seen {
        method: Method::GET,
        path: &[],
        is_stale: true,
        client: asked.client,
        agent: context.agent,
        elsewhere: None,
        is_passed_on: false,
    };
    // A datagram is lost that meets no link.
    if is_datagram && link(faults, &seen) != Link::Up {
        return None;
    }
    until_link_is_up(control, &seen).await.ok()?;
    let question = Question {
        name: asked.name,
        client: asked.client,
        agent: context.agent,
        is_datagram,
    };
    let Some((name, effect)) = faults.ask_dns(&question, control.now()) else {
        return respond(None);
    };
    context.engine.fault_hit(&name);
    match effect {
        Effect::Hang => None,
        Effect::DelayBefore(delay) => {
            context.engine.hold(Some(delay)).await;
            respond(None)
        }
        Effect::DelayAfter(delay) => {
            let answer = respond(None);
            context.engine.hold(Some(delay)).await;
            answer
        }
        Effect::Dns(failure) => respond(Some(failure)),
        // A rule with another is not about questions.
        _ => respond(None),
    }
}
