//! The turns of what concerns an agent's own services and checks while that has no leader (cluster.md 4.4.r3).

use super::Faults;
use crate::Engine;

impl Engine {
    /// Whether the agent with this number has no leader to tell about its services and checks.
    #[must_use]
    pub fn has_nobody_to_tell(&self, agent: usize) -> bool {
        self.contact(agent).lost.is_some() || self.without_servers(agent).is_some()
    }
}

impl Faults {
    /// Takes the last place in the queue at an agent.
    #[must_use]
    pub fn queue_at(&self, agent: usize) -> Turn<'_> {
        let mut table = self.table.lock();
        table.last_turn += 1;
        let place = (agent, table.last_turn);
        table.queue.insert(place);
        Turn {
            faults: self,
            place,
        }
    }
}

/// A place in the queue at an agent, until this is dropped. Then [`Faults::changes`] tells it.
#[derive(Debug)]
pub struct Turn<'a> {
    faults: &'a Faults,
    /// The agent, and the number of the turn.
    place: (usize, u64),
}

impl Turn<'_> {
    /// Whether nobody at the agent came before.
    #[must_use]
    pub fn has_come(&self) -> bool {
        let table = self.faults.table.lock();
        let first = table.queue.range((self.place.0, 0)..).next();
        first == Some(&self.place)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.faults.table.lock().queue.remove(&self.place);
        self.faults.changed.notify();
    }
}
