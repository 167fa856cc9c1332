//! Who makes an error: the agent that is asked, the server that it asks, or the leader (cluster.md 1.12).

use crate::Context;
use crate::failure::{Failure, FailureKind};
use crate::fault::Seen;
use crate::reply::Reply;

/// Who makes an error.
enum Origin {
    /// The agent that is asked, or whoever shows it without a word before it.
    Agent,
    /// The server that is asked first.
    Server,
    /// The leader.
    Leader,
}

/// Where the agent checks the token itself, beside its own endpoints.
const CHECKED_BY_AGENT: [&[u8]; 2] = [b"/v1/acl/rules/translate", b"/v1/internal/acl/authorize"];

impl Origin {
    fn of(failure: &Failure, seen: &Seen<'_>) -> Self {
        let is_of_server = seen.elsewhere.is_some()
            || matches!(
                failure.kind,
                FailureKind::OfServer | FailureKind::DirectOfServer
            );
        let is_of_agent = seen.is_for_agent() || CHECKED_BY_AGENT.contains(&seen.path);
        match () {
            () if is_bare(seen.path) => Self::Agent,
            () if is_of_server => Self::Server,
            () if is_of_agent => Self::Agent,
            () if seen.is_stale => Self::Server,
            () => Self::Leader,
        }
    }
}

/// Whether errors there have no words before them, whoever makes them.
pub(super) fn is_bare(path: &[u8]) -> bool {
    matches!(path, b"/v1/snapshot" | b"/v1/operator/keyring")
}

/// Marks the error of a server that is not the agent that was asked.
pub(super) fn passed_on(
    context: &Context,
    seen: &Seen<'_>,
    reply: Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    reply.map_err(|failure| {
        let is_own = context.is_lone()
            || match Origin::of(&failure, seen) {
                Origin::Agent => true,
                Origin::Server => context.config.server,
                Origin::Leader => context.engine.cluster().leader() == Some(context.agent),
            };
        match is_own {
            true => failure,
            false => failure.passed_on(),
        }
    })
}
