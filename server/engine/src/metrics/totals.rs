//! What is kept for Prometheus: all that was counted and measured since the server began, or since a metric went out of
//! date (operator.md 7).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::Series;
use proconsul_store::timestamp::Timestamp;

/// For how long values count in quantiles.
const RECENT: Duration = Duration::from_secs(10);
/// How many values count in quantiles at most.
const RECENT_VALUES: usize = 1000;

/// The totals of all metrics.
#[derive(Debug, Default)]
pub(super) struct Totals(BTreeMap<Series, Total>);

/// The totals of a metric.
#[derive(Clone, Debug)]
pub struct Total {
    /// How many values there were.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    updated: Timestamp,
    recent: VecDeque<(Timestamp, f32)>,
}

impl Totals {
    pub(super) fn add(&mut self, now: Timestamp, series: Vec<Series>, value: f32) {
        for series in series {
            let total = self.0.entry(series).or_insert(Total {
                count: 0,
                sum: 0.0,
                updated: now,
                recent: VecDeque::new(),
            });
            total.count += 1;
            total.sum += f64::from(value);
            total.updated = now;
            if total.recent.len() == RECENT_VALUES {
                total.recent.pop_front();
            }
            total.recent.push_back((now, value));
        }
    }

    /// Returns the totals, but for those that were not added to for so long: they begin anew.
    pub(super) fn shown(&mut self, now: Timestamp, retention: Duration) -> BTreeMap<Series, Total> {
        self.0.retain(|_, total| {
            total.recent.retain(|(at, _)| now.since(*at) < RECENT);
            now.since(total.updated) <= retention
        });
        self.0.clone()
    }
}

impl Total {
    /// Returns the value below which this part of the recent values lies; `None` without any.
    pub fn quantile(&self, part: f64) -> Option<f32> {
        let mut values: Vec<f32> = self.recent.iter().map(|(_, value)| *value).collect();
        values.sort_unstable_by(f32::total_cmp);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "there are a thousand at most"
        )]
        let rank = (part * values.len() as f64).ceil() as usize;
        values.get(rank.saturating_sub(1)).copied()
    }
}
