//! The table: what was asked of a figure, what was measured, and whether that is enough.

use std::fmt;

use crate::servers::{Kind, Sample, Turns};

/// What a limit is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The figure divided by the bare server's with as many threads, of the same turns.
    Bare,
    /// The figure divided by Consul's.
    Consul,
    /// The figure itself, in its unit.
    Itself,
}

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    AtMost(f64, Of),
    AtLeast(f64, Of),
}

/// In what a figure is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Microseconds,
    Milliseconds,
    Seconds,
    KiB,
    MiB,
    Count,
    /// How many times as much as without what the figure is about.
    Times,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Unit::PerSecond => format!("{value:.0}/s"),
            Unit::Microseconds => format!("{value:.1} us"),
            Unit::Milliseconds if value < 1.0 => format!("{value:.2} ms"),
            Unit::Milliseconds => format!("{value:.1} ms"),
            Unit::Seconds => format!("{value:.0} s"),
            Unit::KiB => format!("{value:.1} KiB"),
            Unit::MiB => format!("{value:.2} MiB"),
            Unit::Count => format!("{value:.0}"),
            Unit::Times => format!("{value:.2} x"),
        }
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) asked: Asked,
}

impl Asked {
    fn of(self) -> Of {
        match self {
            Self::AtMost(_, of) | Self::AtLeast(_, of) => of,
        }
    }

    fn show(self, unit: Unit) -> String {
        let (sign, limit) = match self {
            Self::AtMost(limit, _) => ("<=", limit),
            Self::AtLeast(limit, _) => (">=", limit),
        };
        match self.of() {
            Of::Bare => format!("{sign} {limit} of bare"),
            Of::Consul => format!("{sign} {limit} of Consul"),
            Of::Itself => format!("{sign} {}", unit.show(limit)),
        }
    }

    /// Says whether `value` is enough, and by how much it is not.
    fn verdict(self, value: f64) -> String {
        let miss = match self {
            Self::AtMost(limit, _) => value / limit - 1.0,
            Self::AtLeast(limit, _) => 1.0 - value / limit,
        };
        if miss > 0.0 {
            format!("MISSED by {:.0} %", (miss * 100.0).ceil())
        } else {
            "met".to_owned()
        }
    }
}

/// A figure with what was measured of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) turns: &'a Turns,
    /// Which number of each sample is this figure's.
    pub(crate) column: usize,
}

impl Row<'_> {
    fn values(&self, kind: Kind) -> impl Iterator<Item = f64> {
        let of = move |sample: &Sample| sample.get(self.column).copied().unwrap_or(f64::NAN);
        self.turns[kind as usize].iter().map(of)
    }

    /// The median over the turns; `None` where nothing was measured.
    fn value(&self, kind: Kind) -> Option<f64> {
        median(self.values(kind))
    }

    /// The number that the limit is compared with.
    fn compared(&self, kind: Kind) -> Option<f64> {
        match self.figure.asked.of() {
            Of::Bare => self.ratio(kind, Kind::Bare),
            Of::Consul => self.ratio(kind, Kind::Consul),
            Of::Itself => self.value(kind),
        }
    }

    fn ratio(&self, kind: Kind, base: Kind) -> Option<f64> {
        median_ratio(self.values(kind).zip(self.values(base)))
    }
}

/// The lines above the rows.
pub(crate) fn head(this: &str, other: Option<&str>) -> String {
    let other = other.map_or_else(String::new, |other| format!(" {other}"));
    let [bare, wide] = [Kind::Bare, Kind::Wide].map(|kind| match kind.threads_of_bare() {
        Some(1) => "1 thread".to_owned(),
        threads => format!("{} threads", threads.unwrap_or_default()),
    });
    format!(
        "| figure | asked | this commit {this} | other commit{other} | bare hyper, {bare} | bare hyper, {wide} | Consul 1.8.7 \
         | ratio | the other's ratio | ratio to {wide} | |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    )
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { name, unit, asked } = *self.figure;
        write!(formatter, "| {name} | {} |", asked.show(unit))?;
        for kind in Kind::ALL {
            let value = self.value(kind);
            let value = value.map_or_else(|| "-".to_owned(), |value| unit.show(value));
            write!(formatter, " {value} |")?;
        }
        for kind in [Kind::This, Kind::Other] {
            let is_ratio = asked.of() != Of::Itself;
            let ratio = self.compared(kind).filter(|_| is_ratio);
            let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            write!(formatter, " {ratio} |")?;
        }
        let to_wide = self.ratio(Kind::This, Kind::Wide);
        let to_wide = to_wide.filter(|_| asked.of() == Of::Bare);
        let to_wide = to_wide.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        write!(formatter, " {to_wide} |")?;
        let compared = self.compared(Kind::This);
        let verdict = compared.map_or_else(String::new, |value| asked.verdict(value));
        write!(formatter, " {verdict} |")
    }
}

/// The middle of the values that are numbers; the mean of both where two are in the middle; `None` without any.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// The median of the ratios of values that were measured in pairs.
pub(crate) fn median_ratio(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    median(pairs.into_iter().map(|(over, under)| over / under))
}
