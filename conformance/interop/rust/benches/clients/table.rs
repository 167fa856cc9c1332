//! The table: what each client came to, and how many times as good ours is.

use std::fmt;

/// The line above the rows.
pub(crate) const HEAD: &str = "\
| figure | proconsul-client | rs-consul, as it comes | rs-consul, connections kept | times as good as it comes | times as good as kept |
|---|---|---|---|---|---|";

/// In what a figure is given, and which way is better.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// More is better.
    PerSecond,
    /// Less is better.
    Microseconds,
    /// Less is better.
    Times,
    /// Less is better.
    Bytes,
}

impl Unit {
    /// How many times as good one is as another.
    fn advantage(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Self::PerSecond => ours / theirs,
            Self::Microseconds | Self::Times | Self::Bytes => theirs / ours,
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{value:.0}/s"),
            Self::Microseconds => format!("{value:.0} us"),
            Self::Times => format!("{value:.1}"),
            Self::Bytes => format!("{value:.0} B"),
        }
    }
}

/// One figure: the samples of the clients, in the order of [`Kind::ALL`](crate::client::Kind::ALL), one of each
/// round.
pub(crate) struct Row {
    pub(crate) figure: &'static str,
    pub(crate) unit: Unit,
    pub(crate) samples: [Vec<f64>; 3],
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ours, as_it_comes, kept] = &self.samples;
        write!(f, "| {} ", self.figure)?;
        for samples in &self.samples {
            write!(f, "| {} ", self.unit.show(median(samples.iter().copied())))?;
        }
        for theirs in [as_it_comes, kept] {
            // Of each round by itself, so that whatever else the machine does disturbs both.
            let pairs = ours.iter().zip(theirs);
            let advantage = median(pairs.map(|(ours, theirs)| self.unit.advantage(*ours, *theirs)));
            write!(f, "| {advantage:.2} ")?;
        }
        write!(f, "|")
    }
}

/// The middle of some values.
///
/// # Panics
/// When there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
