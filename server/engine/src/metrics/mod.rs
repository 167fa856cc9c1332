//! What is counted and measured, in intervals of ten seconds (operator.md 7).
//!
//! A request adds to one entry of one of several shards, and an entry of the log to another; what clients are shown is
//! made of that when they ask. Durations are those of the server's clock: where it stands still everything takes no time.

mod aggregate;
mod series;
mod totals;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use proconsul_store::LogEntry;
use proconsul_store::timestamp::Timestamp;

pub use aggregate::Aggregate;
pub use series::{Kind, Labels, Series};
pub use totals::Total;
use totals::Totals;

/// The length of an interval.
const INTERVAL: Duration = Duration::from_secs(10);
/// How many threads can add at the same time.
const SHARDS: usize = 8;

/// What is counted or measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measured {
    /// The requests with a method to a route.
    Request {
        /// The method, such as `GET`.
        method: &'static str,
        /// The route, as the metric's name has it.
        route: &'static str,
        /// Whether they came through to what is behind the endpoint.
        came_through: bool,
    },
    /// The entries of the log that a command has made; of some only the kind is known.
    Entry(LogEntry),
    /// Entries without a name, and further ones of the same command.
    OtherEntry,
    /// Transactions that only read.
    ReadTransaction,
}

/// The metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    settings: MetricsSettings,
    shards: [Mutex<Shard>; SHARDS],
    totals: Mutex<Totals>,
    /// How many requests wait for a change.
    waiting: AtomicUsize,
}

/// What the metrics of a server depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsSettings {
    /// How far the first interval is when the clock begins.
    pub begun: Duration,
    /// For how long metrics are kept for Prometheus; zero for not at all.
    pub retention: Duration,
    /// Whether all requests are one metric with labels.
    pub labels_requests: bool,
}

#[derive(Debug, Default)]
struct Shard {
    /// The number of the current interval.
    number: u64,
    current: Values,
    previous: Values,
}

type Values = BTreeMap<Measured, Aggregate>;

/// What is shown of an interval.
#[derive(Debug, Default)]
pub struct Interval {
    /// When it began; before the clock did for the first one.
    pub began: i128,
    /// The values of each metric.
    pub values: BTreeMap<Series, Aggregate>,
}

impl Shard {
    /// Goes on to the interval with this number.
    fn go_on(&mut self, number: u64) {
        if number <= self.number {
            return;
        }
        let ended = std::mem::take(&mut self.current);
        self.previous = match number == self.number + 1 {
            true => ended,
            false => Values::new(),
        };
        self.number = number;
    }
}

impl Metrics {
    /// Returns metrics that have counted nothing.
    pub fn new(settings: MetricsSettings) -> Self {
        Self {
            settings,
            shards: Default::default(),
            totals: Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Adds to a count and to what is known of the durations.
    pub fn add(&self, now: Timestamp, measured: Measured, took: Duration) {
        let milliseconds = took.as_secs_f32() * 1e3;
        let mut shard = self.shards[own_shard()].lock();
        shard.go_on(self.number(now));
        shard.current.entry(measured).or_default().add(milliseconds);
        drop(shard);
        if !self.settings.retention.is_zero() {
            let series = series::of(measured, self.settings.labels_requests);
            self.totals.lock().add(now, series, milliseconds);
        }
    }

    /// Returns the last interval that has ended, or the first one while it has not.
    pub fn shown(&self, now: Timestamp) -> Interval {
        let number = self.number(now);
        let mut values = BTreeMap::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.go_on(number);
            let of_shard = if number == 0 {
                &shard.current
            } else {
                &shard.previous
            };
            for (measured, aggregate) in of_shard {
                for series in series::of(*measured, self.settings.labels_requests) {
                    let aggregate = match series.kind {
                        Kind::Counter => aggregate.as_counter(),
                        Kind::Sample => *aggregate,
                    };
                    let all: &mut Aggregate = values.entry(series).or_default();
                    all.merge(&aggregate);
                }
            }
        }
        let tens = i128::from(number.saturating_sub(1)) * nanos(INTERVAL);
        Interval {
            began: tens - nanos(self.settings.begun),
            values,
        }
    }

    /// Returns when the interval of a moment is over.
    pub fn end_of_interval(&self, now: Timestamp) -> Timestamp {
        let begun = now.since(Timestamp::ZERO) + self.settings.begun;
        let left = INTERVAL
            - Duration::from_nanos(
                u64::try_from(begun.as_nanos() % INTERVAL.as_nanos()).unwrap_or(0),
            );
        now.plus(left)
    }

    /// Returns all that was counted and measured, but for what has gone out of date; `None` unless it is kept.
    pub fn totals(&self, now: Timestamp) -> Option<BTreeMap<Series, Total>> {
        let retention = self.settings.retention;
        (!retention.is_zero()).then(|| self.totals.lock().shown(now, retention))
    }

    /// Counts a request that waits from now on.
    pub fn begin_wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that waits no longer.
    pub fn end_wait(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns how many requests wait for a change.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn number(&self, now: Timestamp) -> u64 {
        let since = now.since(Timestamp::ZERO) + self.settings.begun;
        since.as_secs() / INTERVAL.as_secs()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(MetricsSettings::default())
    }
}

fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

/// Returns the shard of this thread.
fn own_shard() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    OWN.with(|own| *own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Measured = Measured::ReadTransaction;

    fn at(milliseconds: u64) -> Timestamp {
        Timestamp::ZERO.plus(Duration::from_millis(milliseconds))
    }

    fn counts(metrics: &Metrics, now: Timestamp) -> Vec<u64> {
        let shown = metrics.shown(now).values;
        let counts = shown.values().map(|aggregate| aggregate.count);
        counts.collect()
    }

    #[test]
    fn an_interval_is_shown_for_ten_seconds_after_its_end() {
        let metrics = Metrics::default();
        metrics.add(at(0), READ, Duration::ZERO);
        metrics.add(at(9_999), READ, Duration::ZERO);
        assert_eq!(counts(&metrics, at(9_999)), [2]);
        metrics.add(at(10_000), READ, Duration::ZERO);
        assert_eq!(counts(&metrics, at(10_000)), [2]);
        assert_eq!(counts(&metrics, at(19_999)), [2]);
        assert_eq!(counts(&metrics, at(20_000)), [1]);
        assert_eq!(counts(&metrics, at(30_000)), [0; 0]);
    }

    #[test]
    fn intervals_are_whole_tens_of_seconds_of_the_day() {
        let metrics = Metrics::new(MetricsSettings {
            begun: Duration::from_secs(7),
            ..MetricsSettings::default()
        });
        metrics.add(at(2_999), READ, Duration::ZERO);
        assert_eq!(metrics.shown(at(2_999)).began, -7_000_000_000);
        assert_eq!(metrics.shown(at(3_000)).began, -7_000_000_000);
        assert_eq!(counts(&metrics, at(3_000)), [1]);
        assert_eq!(metrics.shown(at(13_000)).began, 3_000_000_000);
        assert_eq!(counts(&metrics, at(13_000)), [0; 0]);
    }

    #[test]
    fn threads_add_to_one_count() {
        let metrics = Metrics::default();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        metrics.add(at(1), READ, Duration::from_millis(2));
                    }
                });
            }
        });
        let shown = metrics.shown(at(10_000)).values;
        let aggregate = shown.values().next().expect("it was counted");
        assert_eq!((aggregate.count, aggregate.sum), (1000, 2000.0));
    }
}
