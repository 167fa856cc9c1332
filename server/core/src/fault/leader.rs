//! How long a request waits for a leader before it fails (kv.md 6.4, 1.22.md A6.4).

use std::time::Duration;

use crate::Context;
use crate::request::Request;
use proconsul_engine::Engine;
use proconsul_engine::faults::ConsulError;
use proconsul_store::timestamp::Timestamp;
use proconsul_version::Behaviour;

/// The time after which a request stops waiting for a leader since 1.15 (`rpc_hold_timeout`). A wait that has begun is
/// finished.
const LIMIT: Duration = Duration::from_secs(7);
/// The longest first wait. The limit doubles with each wait.
const FIRST: Duration = Duration::from_nanos(437_500_000);

/// The waits of one request for a leader.
pub(crate) struct LeaderPatience {
    /// Whether the waits grow. Before 1.15 there is only one.
    pub(crate) grows: bool,
    began: Timestamp,
    limit: Duration,
    /// The shortest next wait; the longest is twice as long.
    shortest: Duration,
}

impl LeaderPatience {
    /// Returns the patience of a request that arrives now.
    pub(crate) fn of(request: &Request) -> Self {
        let wait = request.wait_options().ok().flatten();
        let wait = wait.map_or(Duration::ZERO, |wait| wait.limit);
        Self::new(&request.context, wait)
    }

    /// Returns the patience of a request that arrives now, with the `wait` of its blocking query.
    pub(crate) fn new(context: &Context, wait: Duration) -> Self {
        let grows = context.config.version.has(Behaviour::HttpNoLeaderHoldGrows);
        Self {
            grows,
            began: context.engine.clock().now(),
            limit: if grows {
                LIMIT + wait
            } else {
                ConsulError::NoClusterLeader.hold()
            },
            shortest: Duration::ZERO,
        }
    }

    /// Returns how long to wait before the next look for a leader; `None` when the request fails.
    pub(crate) fn step(&mut self, engine: &Engine) -> Option<Duration> {
        let now = engine.clock().now();
        // At the end of the clock's range no time passes, and a wait would never end.
        if now.plus(Duration::from_nanos(1)) == now {
            return None;
        }
        let passed = now.since(self.began);
        let left = self
            .limit
            .checked_sub(passed)
            .filter(|left| !left.is_zero())?;
        if !self.grows {
            return Some(left);
        }
        let shortest = self.shortest;
        self.shortest = (2 * shortest).clamp(FIRST, LIMIT);
        Some(shortest + engine.jitter(self.shortest - shortest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proconsul_engine::clock::{Clock, Rate};
    use proconsul_engine::entropy::Entropy;
    use proconsul_engine::host::ManualHost;
    use proconsul_engine::rules_of;
    use proconsul_store::Index;
    use proconsul_version::Version;

    /// Returns how long a request waits if no leader is elected.
    fn waited(version: Version, seed: u64, wait: Duration) -> Vec<Duration> {
        waited_from(Timestamp::ZERO, version, seed, wait)
    }

    fn waited_from(start: Timestamp, version: Version, seed: u64, wait: Duration) -> Vec<Duration> {
        let host = std::sync::Arc::new(ManualHost::new(Duration::ZERO));
        let clock = Clock::new(host, Rate::FROZEN, None);
        clock.advance_to(start);
        let entropy = Entropy::seeded(seed);
        let engine = Engine::new(rules_of(version), Index(1), clock, entropy);
        let engine = std::sync::Arc::new(engine);
        let config = proconsul_config::Config {
            version,
            ..proconsul_config::Config::default()
        };
        let context = Context::new(
            std::sync::Arc::clone(&engine),
            config.into(),
            None,
            crate::Reload::new(|| Ok(())),
        );
        let mut patience = LeaderPatience::new(&context, wait);
        let mut steps = Vec::new();
        while let Some(step) = patience.step(&engine) {
            engine.clock().advance_to(engine.clock().now().plus(step));
            steps.push(step);
        }
        steps
    }

    #[test]
    fn there_is_one_wait_of_seven_seconds_until_1_14() {
        for version in [Version::V1_8_7, Version::new(1, 14, 11)] {
            let steps = waited(version, 7, Duration::from_secs(60));
            assert_eq!(steps, [Duration::from_millis(7100)], "{version}");
        }
    }

    #[test]
    fn waits_grow_from_1_15_on_and_come_to_7_to_13_and_a_half_seconds() {
        for seed in 0..200 {
            let steps = waited(Version::new(1, 15, 0), seed, Duration::ZERO);
            let limits = [437.5, 875.0, 1750.0, 3500.0, 7000.0, 7000.0];
            let mut shortest = 0.0;
            for (step, longest) in steps.iter().zip(limits) {
                let milliseconds = step.as_secs_f64() * 1e3;
                assert!((shortest..=longest).contains(&milliseconds), "{steps:?}");
                shortest = longest;
            }
            let sum = steps.iter().sum::<Duration>().as_secs_f64();
            assert!((7.0..=13.6).contains(&sum), "{sum}");
        }
    }

    #[test]
    fn nobody_waits_when_time_is_over() {
        let end = Timestamp::from_nanos(u64::MAX);
        for version in [Version::V1_8_7, Version::V1_22_0] {
            let steps = waited_from(end, version, 7, Duration::from_secs(60));
            assert_eq!(steps, [Duration::ZERO; 0]);
        }
    }

    #[test]
    fn a_read_with_an_index_waits_its_own_wait_longer() {
        let wait = Duration::from_secs(60);
        let sum: Duration = waited(Version::default(), 7, wait).iter().sum();
        assert!(sum >= Duration::from_secs(67), "{sum:?}");
        assert!(sum <= Duration::from_secs(74), "{sum:?}");
    }
}
