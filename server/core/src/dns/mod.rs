//! DNS: datagrams and messages in, answers out (cluster.md 6). Sockets are the driver's.

mod encode;
mod fit;
mod lookup;
mod message;
mod records;
mod reverse;

use crate::Context;
use encode::{Answer, flawed};
use lookup::Lookup;
use message::{Arrived, Code, Question, flag, kind, read};

/// How a question came, which limits what an answer may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// In a datagram. An answer is at most as long as the client says that it takes.
    Udp,
    /// On a connection, where a length of two bytes goes before each message.
    Tcp,
}

/// Returns the answer to a question; `None` for what is not answered: what is no question, and, as in Consul, a question whose
/// answer cannot be written, such as one with metadata of more than 255 bytes.
pub fn answer(context: &Context, transport: Transport, question: &[u8]) -> Option<Vec<u8>> {
    let question = match read(question) {
        Arrived::Noise => return None,
        Arrived::Flawed(question, code) => return flawed(&question, code),
        Arrived::Asked(question) => question,
    };
    // From what the server has applied: without a leader, too.
    let mut answer = found(context.view().map_or(context, |view| view), &question);
    answer.flags |= question.flags & flag::OPCODE;
    if question.flags & flag::OPCODE == 0 {
        answer.flags |= question.flags & (flag::RECURSION_DESIRED | flag::CHECKING_DISABLED);
    }
    fit::fitted(context, transport, &question, &answer)
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
