//! Chance that a seed repeats.

use std::hash::{BuildHasher, RandomState};

/// A seed of chance, for runs that repeat nothing; whoever uses it prints it.
#[must_use]
pub fn new_seed() -> u64 {
    RandomState::new().hash_one("seed")
}

/// A generator of numbers (SplitMix64); the same seed gives the same numbers.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The generator of this seed; `stream` tells apart those that share a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut chance = Self(seed);
        chance.0 ^= Self(stream).next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a number of choices fits into 64 bits");
        usize::try_from(self.next() % bound).expect("it is below a usize")
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten(seed: u64, stream: u64) -> Vec<usize> {
        let mut chance = Chance::new(seed, stream);
        (0..10).map(|_| chance.below(1000)).collect()
    }

    #[test]
    fn the_same_seed_and_stream_give_the_same_numbers() {
        assert_eq!(ten(7, 1), ten(7, 1));
        assert_ne!(ten(7, 1), ten(7, 2));
        assert_ne!(ten(7, 1), ten(8, 1));
    }

    #[test]
    fn every_choice_comes() {
        let mut chance = Chance::new(1, 1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[chance.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
