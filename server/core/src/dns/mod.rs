//! DNS: datagrams and messages in, answers out (cluster.md 6). Sockets are the driver's.

mod encode;
mod fit;
mod lookup;
mod message;
mod records;
mod reverse;

use std::net::IpAddr;

use crate::{Context, fault};
use encode::{Answer, flawed};
use lookup::Lookup;
use message::{Arrived, Code, Question, flag, kind, read};
use proconsul_engine::faults::DnsFailure;

/// How a question came, which limits what an answer may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// In a datagram. An answer is at most as long as the client says that it takes.
    Udp,
    /// On a connection, where a length of two bytes goes before each message.
    Tcp,
}

/// Answers a question of a client; `None` for what is not answered: what is no question, what a fault keeps from its answer,
/// and, as in Consul, a question whose answer cannot be written, such as one with metadata of more than 255 bytes.
///
/// What a rule delays is answered when the server's clock has moved on. A server whose history is kept records each question
/// as a request with the method `DNS`; the status of its response is the code of the answer.
pub async fn answer(
    context: &Context,
    client: Option<IpAddr>,
    transport: Transport,
    message: &[u8],
) -> Option<Vec<u8>> {
    let question = match read(message) {
        Arrived::Noise => return None,
        Arrived::Flawed(question, code) => return flawed(&question, code),
        Arrived::Asked(question) => question,
    };
    let respond = |failure| respond(context, transport, &question, failure);
    match &context.control {
        None => respond(None),
        Some(control) => {
            let asked = fault::dns::Asked {
                name: &question
                    .name
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                kind: &kind::in_words(question.kind),
                client,
                transport,
            };
            fault::dns::answer(context, control, asked, respond).await
        }
    }
}

/// Returns the answer to a question, or one that fails.
fn respond(
    context: &Context,
    transport: Transport,
    question: &Question,
    failure: Option<DnsFailure>,
) -> Option<Vec<u8>> {
    let failed = Answer {
        code: Code::ServFail,
        ..Answer::default()
    };
    let mut answer = match failure {
        // From what the server has applied: without a leader, too.
        None => match found(context.view().map_or(context, |view| view), question) {
            // What it would ask servers for.
            answer if answer.code != Code::Refused && context.is_without_servers() => failed,
            answer => answer,
        },
        Some(DnsFailure::ServFail) => failed,
        Some(DnsFailure::Truncated) => Answer {
            flags: flag::AUTHORITATIVE | flag::TRUNCATED,
            ..Answer::default()
        },
    };
    answer.flags |= question.flags & flag::OPCODE;
    if question.flags & flag::OPCODE == 0 {
        answer.flags |= question.flags & (flag::RECURSION_DESIRED | flag::CHECKING_DISABLED);
    }
    fit::fitted(context, transport, question, &answer)
}

fn found(context: &Context, question: &Question) -> Answer {
    let refused = Answer {
        code: Code::Refused,
        ..Answer::default()
    };
    let Some(name) = &question.name else {
        return refused;
    };
    let lookup = Lookup::new(context);
    let mut answer = if let Some(zone) = lookup.zone(name) {
        if question.kind == kind::AXFR {
            Answer {
                code: Code::NotImp,
                ..Answer::default()
            }
        } else {
            lookup.records(&zone, question.kind, 0)
        }
    } else if reverse::is_asked(name) {
        match lookup.pointer(name, question.kind) {
            Some(answer) => answer,
            None => Answer {
                code: Code::ServFail,
                flags: flag::RECURSION_AVAILABLE,
                ..Answer::default()
            },
        }
    } else {
        return refused;
    };
    if answer.code != Code::ServFail {
        answer.flags |= flag::AUTHORITATIVE;
    }
    answer.edns.clone_from(&question.edns);
    if answer.is_of_query
        && let Some(subnet) = answer.edns.as_mut().and_then(|edns| edns.subnet.as_mut())
    {
        // The scope is the network asked from.
        subnet[3] = subnet[2];
    }
    answer
}
