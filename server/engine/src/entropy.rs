//! The only source of randomness: ids and jitter, from a seed.

use std::time::Duration;

/// A random generator whose seed decides all that it draws.
#[derive(Debug)]
pub struct Entropy {
    generator: fastrand::Rng,
}

impl Entropy {
    /// Returns the generator of this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            generator: fastrand::Rng::with_seed(seed),
        }
    }

    /// Returns the seed of the server that was started `number`th on demand of a server with this seed: the same in
    /// every run of that server.
    #[must_use]
    pub fn child_seed(seed: u64, number: u64) -> u64 {
        let mut generator = fastrand::Rng::with_seed(seed ^ number.rotate_left(32));
        generator.u64(..) >> 11
    }

    /// Draws sixteen random bytes. They have no UUID version, as Consul's ids (session.md 1).
    pub fn id(&mut self) -> [u8; 16] {
        self.generator.u128(..).to_be_bytes()
    }

    /// Puts a slice into a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        self.generator.shuffle(things);
    }

    /// Draws a duration from zero up to, not including, `limit`; zero if `limit` is zero.
    pub fn below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        if limit == 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.generator.u64(..limit))
    }
}

impl Entropy {
    /// Draws whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.generator.f64() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let mut first = Entropy::seeded(7);
        let mut again = Entropy::seeded(7);
        let mut other = Entropy::seeded(8);
        assert_eq!(first.id(), again.id());
        assert_ne!(first.id(), other.id());
    }

    #[test]
    fn the_seed_decides_the_order_too() {
        let shuffled = |seed| {
            let mut things: Vec<u8> = (0..20).collect();
            Entropy::seeded(seed).shuffle(&mut things);
            things
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
    }

    #[test]
    fn seeds_of_servers_on_demand_follow_from_the_first() {
        let children = |seed| (1..100).map(move |number| Entropy::child_seed(seed, number));
        assert!(children(7).eq(children(7)));
        let all: std::collections::BTreeSet<u64> =
            (0..100).flat_map(children).chain(0..100).collect();
        assert_eq!(all.len(), 99 * 100 + 100, "no two are the same");
    }

    #[test]
    fn below_stays_below() {
        let mut entropy = Entropy::seeded(1);
        let limit = Duration::from_nanos(3);
        for _ in 0..100 {
            assert!(entropy.below(limit) < limit);
        }
        assert_eq!(entropy.below(Duration::ZERO), Duration::ZERO);
    }
}
