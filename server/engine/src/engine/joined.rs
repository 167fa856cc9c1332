//! The engines of datacenters that are joined: they share a clock, and moving it moves all of them.

use std::sync::{Arc, Weak};

use super::{Engine, Shared};

/// The engines that share a clock, in the order in which they act; the first lets it run. Weak, since each has them all.
pub(super) type Joined = Arc<[Weak<Shared>]>;

impl Engine {
    /// Joins these engines, which share a clock: whoever moves the clock of one moves it through the deadlines of all, and
    /// the first one's [`run`](Self::run) lets it run for all. An engine that is joined already stays as it is.
    pub fn join(engines: &[Arc<Engine>]) {
        let all: Joined = engines
            .iter()
            .map(|engine| Arc::downgrade(&engine.shared))
            .collect();
        for engine in engines {
            let _ = engine.joined.set(Arc::clone(&all));
        }
    }

    /// Returns the engines that share this one's clock, this one first.
    pub(super) fn joined(&self) -> Vec<Engine> {
        let mut all = vec![Self::of(Arc::clone(&self.shared))];
        all.extend(self.others());
        all
    }

    /// Returns the other engines that share this one's clock.
    pub(super) fn others(&self) -> Vec<Engine> {
        let all = self.joined.get().into_iter().flat_map(|all| all.iter());
        all.filter_map(Weak::upgrade)
            .filter(|shared| !Arc::ptr_eq(shared, &self.shared))
            .map(Self::of)
            .collect()
    }

    /// Returns the engine that keeps the time for all: the first that was joined.
    pub(super) fn timekeeper(&self) -> Engine {
        let first = self.joined.get().and_then(|all| all.first()?.upgrade());
        Self::of(first.unwrap_or_else(|| Arc::clone(&self.shared)))
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self { shared, view: None }
    }
}
