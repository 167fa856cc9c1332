//! Whether a read that waits has come to wait at the emulator.
//!
//! It goes there on a connection of its own, on which no answer says that it has arrived; and a busy machine may let a write pass it that
//! was sent later. So the emulator's control plane is asked which reads are blocked there, before anything else is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::{BETWEEN_LOOKS, Mirror};
use proconsul_conformance::time::{Deadline, pause};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Connection, Outcome, Request};

const BLOCKED: &str = "/proconsul/v1/blocked";
/// How long an arrival is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the emulator says which reads are blocked.
#[derive(Default)]
pub(super) struct Arrivals {
    link: Option<Connection>,
    /// It was asked and does not say.
    is_silent: bool,
}

/// A read that is about to be sent.
pub(super) struct Arrival {
    target: String,
    before: usize,
    pub(super) is_answered: Arc<AtomicBool>,
}

impl Arrivals {
    /// How many such reads are blocked; `None` where the emulator has no control plane.
    fn count(
        &mut self,
        emulator: &proconsul_conformance::wire::Address,
        target: &str,
    ) -> Option<usize> {
        if self.is_silent {
            return None;
        }
        let mut link = match self.link.take() {
            Some(link) => link,
            None => Connection::open(emulator).ok()?,
        };
        let outcome = link.exchange(&Request::get(BLOCKED));
        let shown = match &outcome {
            Outcome::Reply(reply) if reply.status == 200 => {
                serde_json::from_slice::<Value>(&reply.body).ok()
            }
            _ => None,
        };
        let Some(shown) = shown else {
            self.is_silent = matches!(outcome, Outcome::Reply(_));
            return None;
        };
        self.link = Some(link);
        let blocked = shown.get("blocked")?.as_array()?.iter();
        Some(blocked.filter(|read| read["target"] == target).count())
    }
}

impl Arrival {
    /// Counts those that are there already.
    pub(super) fn of(asked: &Asked, mirror: &mut Mirror) -> Self {
        let before = mirror
            .arrivals
            .count(&mirror.servers.emulator[0], &asked.target);
        Self {
            target: asked.target.clone(),
            before: before.unwrap_or_default(),
            is_answered: Arc::default(),
        }
    }

    /// Returns when the read is blocked or answered, or has taken too long.
    pub(super) fn wait(&self, mirror: &mut Mirror) {
        let deadline = Deadline::after(PATIENCE);
        while !self.is_answered.load(Ordering::SeqCst) && deadline.left().is_some() {
            match mirror
                .arrivals
                .count(&mirror.servers.emulator[0], &self.target)
            {
                Some(count) if count <= self.before => pause(BETWEEN_LOOKS / 25),
                _ => return,
            }
        }
    }
}
