//! The only source of chance: session ids and jitter, from a seed.

use std::time::Duration;

/// A generator whose seed decides everything that it will ever give.
#[derive(Debug)]
pub struct Entropy {
    generator: fastrand::Rng,
}

impl Entropy {
    /// The generator of this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            generator: fastrand::Rng::with_seed(seed),
        }
    }

    /// A seed that the machine chose, for runs that were not given one.
    #[must_use]
    pub fn machine_seed() -> u64 {
        fastrand::Rng::new().u64(..)
    }

    /// Sixteen random bytes, with no version in them: Consul's ids have none (session.md 1).
    pub fn id(&mut self) -> [u8; 16] {
        self.generator.u128(..).to_be_bytes()
    }

    /// Puts things into a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        self.generator.shuffle(things);
    }

    /// A random duration from zero up to, not including, `limit`; zero when `limit` is.
    pub fn below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        if limit == 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.generator.u64(..limit))
    }
}

impl Entropy {
    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.generator.f64() < probability
    }
}

/// A run of `cases` random cases, or of as many as `PROPTEST_CASES` says. A run that fails shows its seed, and
/// `PROPTEST_RNG_SEED` repeats it.
#[expect(
    clippy::print_stdout,
    reason = "the output of a test is shown when it fails"
)]
#[cfg(test)]
pub(crate) fn random_cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::{Config, RngSeed};

    let given = Config::default();
    let seed = match given.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => Entropy::machine_seed(),
    };
    println!("PROPTEST_RNG_SEED={seed}");
    Config {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() {
            given.cases
        } else {
            cases
        },
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..given
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
    fn below_stays_below() {
        let mut entropy = Entropy::seeded(1);
        let limit = Duration::from_nanos(3);
        for _ in 0..100 {
            assert!(entropy.below(limit) < limit);
        }
        assert_eq!(entropy.below(Duration::ZERO), Duration::ZERO);
    }
}
