//! The table: what was wanted, what was measured, and whether that is enough.

use std::fmt;

/// What an issue asks of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// Proconsul's figure divided by the bare server's is at most this.
    RatioAtMost(f64),
    /// Proconsul's figure divided by the bare server's is at least this.
    RatioAtLeast(f64),
    /// Proconsul's figure is at most this, in its unit.
    AtMost(f64),
    /// Proconsul's figure is at least this, in its unit.
    AtLeast(f64),
    /// Nothing: the figure is there to be seen.
    None,
}

/// In what a figure is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Microseconds,
    Milliseconds,
    KiB,
    MiB,
    MegabytesPerSecond,
    /// How many times as much as without what the figure is about.
    Times,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Unit::PerSecond => format!("{value:.0}/s"),
            Unit::Microseconds => format!("{value:.1} us"),
            Unit::Milliseconds => format!("{value:.1} ms"),
            Unit::KiB => format!("{value:.1} KiB"),
            Unit::MiB => format!("{value:.1} MiB"),
            Unit::MegabytesPerSecond => format!("{value:.0} MB/s"),
            Unit::Times => format!("{value:.2} x"),
        }
    }
}

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) figure: String,
    pub(crate) target: Target,
    pub(crate) unit: Unit,
    pub(crate) proconsul: f64,
    /// None where a server that keeps nothing cannot be measured.
    pub(crate) bare: Option<f64>,
    /// None where there is no Consul, or where it would take too long.
    pub(crate) consul: Option<f64>,
    /// Proconsul's figure divided by the bare server's: the median over all rounds.
    pub(crate) ratio: Option<f64>,
}

impl Row {
    /// Whether the target is met; none where there is no target.
    pub(crate) fn is_met(&self) -> Option<bool> {
        let ratio =
            |fits: fn(&f64, &f64) -> bool, limit| self.ratio.map(|ratio| fits(&ratio, &limit));
        match self.target {
            Target::RatioAtMost(limit) => ratio(f64::le, limit),
            Target::RatioAtLeast(limit) => ratio(f64::ge, limit),
            Target::AtMost(limit) => Some(self.proconsul <= limit),
            Target::AtLeast(limit) => Some(self.proconsul >= limit),
            Target::None => None,
        }
    }
}

/// The line above the rows.
pub(crate) const HEAD: &str = "\
| figure | target | proconsul | bare hyper | Consul 1.8.7 | ratio to bare | |
|---|---|---|---|---|---|---|";

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        let target = match self.target {
            Target::RatioAtMost(limit) => format!("at most {limit} of bare"),
            Target::RatioAtLeast(limit) => format!("at least {limit} of bare"),
            Target::AtMost(limit) => format!("at most {}", unit.show(limit)),
            Target::AtLeast(limit) => format!("at least {}", unit.show(limit)),
            Target::None => String::new(),
        };
        let show = |value: Option<f64>| value.map_or_else(String::new, |value| unit.show(value));
        let ratio = self
            .ratio
            .map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let verdict = match self.is_met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        write!(
            formatter,
            "| {} | {target} | {} | {} | {} | {ratio} | {verdict} |",
            self.figure,
            unit.show(self.proconsul),
            show(self.bare),
            show(self.consul),
        )
    }
}

/// The middle of some values; the mean of both where two are in the middle.
///
/// # Panics
/// When there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// The median of the ratios of values that were measured in pairs.
pub(crate) fn median_ratio(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    median(pairs.into_iter().map(|(over, under)| over / under))
}
