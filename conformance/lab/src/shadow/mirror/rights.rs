//! A real server with ACLs: the emulator knows one token, which may do everything, and each request is sent to it with that one.
//!
//! So what ACLs decide is not judged: refusals, which are not sent at all, what the endpoints of ACLs answer, and what another token was
//! shown and differs, for rows may have been taken out. All else is judged as ever.

use super::{Mirror, Servers};
use proconsul_conformance::wire::Outcome;
use proconsul_conformance::wire::asked::Asked;

const DENIALS: [&[u8]; 2] = [b"Permission denied", b"ACL not found"];

/// Whether an answer says that ACLs did not allow it.
fn denies(outcome: &Outcome) -> bool {
    let Outcome::Reply(reply) = outcome else {
        return false;
    };
    let says = |text: &[u8]| reply.body.windows(text.len()).any(|part| part == text);
    reply.status >= 400 && DENIALS.into_iter().any(says)
}

impl Servers {
    /// A request as the emulator is to see it.
    pub(super) fn dressed(&self, asked: &Asked) -> Asked {
        let mut asked = asked.clone();
        if let Some(token) = &self.token {
            asked.set_token(token);
        }
        asked
    }

    /// Whether ACLs alone made this answer.
    fn is_made_by_rights(&self, asked: &Asked, outcome: &Outcome) -> bool {
        self.token.is_some() && (denies(outcome) || asked.path().starts_with("/v1/acl/"))
    }

    /// Whether ACLs may have made this answer another.
    pub(super) fn may_depend_on_rights(&self, asked: &Asked) -> bool {
        self.token
            .as_ref()
            .is_some_and(|token| token != asked.token())
    }
}

impl Mirror {
    /// Takes an answer that ACLs alone have made; false if it is none.
    pub(super) fn was_made_by_rights(&mut self, id: u64, outcome: &Outcome) -> bool {
        let is_one = self
            .flights
            .get(&id)
            .is_some_and(|flight| self.servers.is_made_by_rights(&flight.asked, outcome));
        if is_one {
            self.flights.remove(&id);
            self.findings.by_rights += 1;
        }
        is_one
    }
}
