//! The table's lines as a picture: both axes logarithmic, each line divided by its first value, so that flat is 1.

use std::fmt::{self, Write};

const WIDTH: f64 = 1020.0;
const HEIGHT: f64 = 560.0;
/// Where the axes cross, and how far they go.
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 490.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 50.0;
/// Where the legend begins, and how far apart its lines are.
const LEGEND: f64 = 650.0;
const LEGEND_STEP: f64 = 26.0;
/// What lines are told apart by: colours that differ in lightness, too, and dashes when all have been used.
const COLOURS: [&str; 7] = [
    "#1f5fa8", "#c1440e", "#2e7d32", "#7b1fa2", "#8d6e00", "#00838f", "#ad1457",
];
const DASHES: [&str; 3] = ["none", "7 4", "2 3"];
const SIZES: [&str; 5] = ["10", "100", "1,000", "10,000", "100,000"];

/// What a figure comes to at each size.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// Sizes and microseconds.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Line {
    /// How many times the first value each value is.
    fn growth(&self) -> impl Iterator<Item = (f64, f64)> {
        let first = self.points[0].1;
        self.points
            .iter()
            .map(move |(size, value)| (*size, value / first))
    }

    fn grows(&self) -> f64 {
        self.growth().last().map_or(1.0, |(_, growth)| growth)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "| {} |", self.name)?;
        for (_, value) in &self.points {
            write!(formatter, " {value:.1} us |")?;
        }
        write!(formatter, " {:.2} times |", self.grows())
    }
}

/// How far something lies between two ends, measured in powers.
fn share(value: f64, from: f64, to: f64) -> f64 {
    (value / from).ln() / (to / from).ln()
}

/// The picture as SVG; the legend has the order of the lines' ends.
pub(crate) fn draw(lines: &[Line]) -> String {
    let mut lines: Vec<&Line> = lines.iter().collect();
    lines.sort_by(|left, right| right.grows().total_cmp(&left.grows()));
    let values = lines.iter().flat_map(|line| line.growth());
    let (low, high) = values.fold((0.5_f64, 2.0_f64), |(low, high), (_, value)| {
        (low.min(value * 0.9), high.max(value * 1.1))
    });
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#1a1a1a\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * share(value, low, high);
    axes(
        &mut svg,
        ticks().filter(|value| (low..=high).contains(value)),
        y,
    );
    for (place, line) in lines.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let dashes = DASHES[place / COLOURS.len() % DASHES.len()];
        let points = line.growth().map(|(size, value)| (x(size), y(value)));
        let points: Vec<_> = points.collect();
        stroke(&mut svg, &points, colour, 2.0, dashes);
        for (x, y) in points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"
            );
        }
        let height = TOP + LEGEND_STEP * (place as f64 + 0.8);
        let sample = [(LEGEND, height), (LEGEND + 30.0, height)];
        stroke(&mut svg, &sample, colour, 2.0, dashes);
        let name = format!("{:.2}  {}", line.grows(), line.name);
        text(&mut svg, (LEGEND + 38.0, height + 4.0), "start", &name);
    }
    svg.push_str("</svg>\n");
    svg
}

fn x(size: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * share(size, 10.0, 100_000.0)
}

/// The axes with their names, a grid, and what stands above picture and legend.
fn axes(svg: &mut String, ticks: impl Iterator<Item = f64>, y: impl Fn(f64) -> f64) {
    for (size, name) in [10.0, 1e2, 1e3, 1e4, 1e5].into_iter().zip(SIZES) {
        stroke(
            svg,
            &[(x(size), TOP), (x(size), BOTTOM)],
            "#dddddd",
            1.0,
            "none",
        );
        text(svg, (x(size), BOTTOM + 20.0), "middle", name);
    }
    for value in ticks {
        let colour = if value == 1.0 { "#555555" } else { "#dddddd" };
        stroke(
            svg,
            &[(LEFT, y(value)), (RIGHT, y(value))],
            colour,
            1.0,
            "none",
        );
        text(
            svg,
            (LEFT - 8.0, y(value) + 4.0),
            "end",
            &format!("{value}"),
        );
    }
    text(
        svg,
        (LEFT, 26.0),
        "start",
        "CPU of the server for one operation, as a multiple of its value at N = 10",
    );
    let below = (f64::midpoint(LEFT, RIGHT), BOTTOM + 45.0);
    text(
        svg,
        below,
        "middle",
        "N: keys, locks, sessions, services with a check, or waiters",
    );
    let beside = (-f64::midpoint(TOP, BOTTOM), 22.0);
    text(
        svg,
        beside,
        "middle\" transform=\"rotate(-90)",
        "times the CPU at N = 10",
    );
    text(svg, (LEGEND, TOP - 4.0), "start", "at the right end:");
}

/// 1, 2 and 5 of each power of ten.
fn ticks() -> impl Iterator<Item = f64> {
    let powers = (-2..6).map(|power| 10.0_f64.powi(power));
    powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * power))
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, what: &str) {
    let what = what.replace('&', "&amp;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>"
    );
}

fn stroke(svg: &mut String, points: &[(f64, f64)], colour: &str, width: f64, dashes: &str) {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/>",
        points.join(" ")
    );
}
