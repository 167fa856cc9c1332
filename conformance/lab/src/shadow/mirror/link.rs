//! Requests to a server and its replies.

use std::time::Duration;

use crate::shadow::capture::blocks;
use crate::shadow::judge::readable;
use proconsul_conformance::compare::normalize::OWN_HEADERS;
use proconsul_conformance::time::Deadline;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Address, Connection, Outcome, PATIENCE};

/// The same request without waiting for a change.
pub(super) fn plain(asked: &Asked) -> Asked {
    let mut asked = asked.clone();
    if blocks(&asked) {
        for parameter in ["index", "wait", "hash"] {
            asked.drop_parameter(parameter);
        }
    }
    asked
}

/// Asks a server on a new connection.
pub(super) fn ask(agents: &[Address], asked: &Asked) -> Outcome {
    match Connection::open(&agents[asked.agent]) {
        Err(why) => Outcome::Unreachable(why),
        Ok(mut connection) => {
            connection.send(&asked.to_bytes());
            final_reply(&mut connection, asked.method == "HEAD", PATIENCE)
        }
    }
}

/// The next reply that is not an interim one.
pub(super) fn final_reply(link: &mut Connection, to_head: bool, patience: Duration) -> Outcome {
    let deadline = Deadline::after(patience);
    loop {
        match link.read(to_head, deadline.left().unwrap_or_default()) {
            Outcome::Reply(reply) if reply.status < 200 => {}
            Outcome::Reply(mut reply) => {
                // What an emulator with a control plane says beside Consul's answer.
                reply
                    .headers
                    .retain(|(name, _)| !name.starts_with(OWN_HEADERS));
                return readable(Outcome::Reply(reply));
            }
            outcome => return outcome,
        }
    }
}
