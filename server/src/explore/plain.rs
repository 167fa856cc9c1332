//! Verdicts of a plain test, which says itself what happens.

use std::net::SocketAddr;

use proconsul_explore::{self as explore, Judgement, Limits, Property, Run, Setup, judge};

use crate::control::Controls;

/// Returns the address by which a server knows the first contender (0) to the fifth (4): 127.0.1.1 to 127.0.1.5. A contender
/// of a plain test connects from there, such as with `local_address` of reqwest, or by
/// [`serve_connection`](crate::in_runtime::RuntimeServer::serve_connection).
///
/// # Panics
/// There are five contenders.
#[must_use]
pub fn contender_address(number: u8) -> SocketAddr {
    assert!(
        number < explore::MOST_CONTENDERS,
        "there are five contenders"
    );
    explore::Contender(number).address()
}

/// Judges the history of a server as a search does. Contenders are known by [their addresses](contender_address), and say what
/// they believe by `Controls::note_belief` or `POST /proconsul/v1/beliefs`.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    guard: Option<String>,
    limits: Limits,
}

impl Judge {
    /// Returns a judge with the limits of [`Limits::default`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that only the holder of the lock may write keys that begin with this.
    #[must_use]
    pub fn guard(mut self, prefix: impl Into<String>) -> Self {
        self.guard = Some(prefix.into());
        self
    }

    /// Changes what verdicts go by, such as [`Limits::bound`].
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Judges what a server has recorded until now.
    #[must_use]
    pub fn judge(&self, server: &Controls) -> Judgement {
        let run = Run::of(server, Setup::default());
        let by = |what: &explore::What| match *what {
            explore::What::Request { by, .. } => by,
            explore::What::Belief { by, .. } => Some(by),
            _ => None,
        };
        let last = run.events.iter().filter_map(|event| by(&event.what)).max();
        let setup = Setup {
            contenders: last.map_or(0, |last| last + 1),
            guard: self.guard.clone(),
            tells_beliefs: run.has_beliefs(),
            ..run.setup
        };
        judge(&Run { setup, ..run }, &self.limits)
    }

    /// Asserts that nobody has broken a property.
    ///
    /// # Panics
    /// A contender has broken it, or it cannot be judged: with a sentence that says when and how, or why not.
    #[track_caller]
    pub fn assert_not_broken(&self, server: &Controls, property: Property) {
        let alone = self.clone().limits(|limits| limits.only = vec![property]);
        let judgement = alone.judge(server);
        let mut findings = judgement.findings.iter();
        if let Some(finding) = findings.find(|finding| finding.property == property) {
            panic!("broken: {finding}\n  {}", property.meaning());
        }
        let mut missing = judgement.not_judged.iter();
        if let Some((_, why)) = missing.find(|(missing, _)| *missing == property) {
            panic!("{} is not judged: {why}", property.name());
        }
    }
}
