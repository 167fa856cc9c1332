//! Runs of random cases that say their seed.

use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// Returns a run of `cases` random cases, or of as many as `PROPTEST_CASES` says. A run that fails shows its seed, and
/// `PROPTEST_RNG_SEED` repeats it.
#[expect(
    clippy::print_stdout,
    reason = "the output of a test is shown when it fails"
)]
#[must_use]
pub fn random_cases(cases: u32) -> Config {
    let given = Config::default();
    let seed = match given.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().build_hasher().finish(),
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
