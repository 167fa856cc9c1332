//! The random waits of the agent.

use std::time::Duration;

/// A sequence of numbers from a seed. The seed comes from the server's entropy, because the store has no
/// source of chance: the same commands give the same store.
#[derive(Clone, Debug, Default)]
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    pub(super) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the state of the sequence, which is the seed of its rest.
    pub(super) fn state(&self) -> u64 {
        self.state
    }

    /// Returns a duration below `limit`; zero if `limit` is zero.
    pub(super) fn below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        Duration::from_nanos(bits.checked_rem(limit).unwrap_or(0))
    }
}
