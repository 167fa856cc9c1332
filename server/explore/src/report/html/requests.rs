//! The requests of a contender in a picture: one mark for each column, however many there are.

use std::collections::BTreeMap;

use super::super::operations::Operation;
use super::frame::{Frame, LEFT, clipped, escaped, put, seconds};
use super::scene::Span;
use super::shapes::column;

/// The width of a column of requests.
const COLUMN: f64 = 3.0;

/// What of the requests is in one column.
#[derive(Default)]
struct Column<'a> {
    count: u64,
    hits: u64,
    first: Option<&'a Operation>,
    first_hit: Option<&'a Operation>,
    kinds: BTreeMap<&'static str, u64>,
}

impl Column<'_> {
    fn title(&self) -> String {
        let one = self.first_hit.or(self.first);
        let Some(one) = one else {
            return String::new();
        };
        let outcome = match (one.status(), &one.fault) {
            (_, Some(fault)) => format!(", hit by {fault}"),
            (None, None) => ", no response".to_owned(),
            (Some(status), None) => format!(": {status}"),
        };
        let text = format!(
            "{} {}{outcome}",
            seconds(one.at),
            clipped(&one.request, 200)
        );
        if self.count == 1 {
            return text;
        }
        let kinds = self
            .kinds
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"));
        format!("{}; the first {text}", kinds.collect::<Vec<_>>().join(", "))
    }
}

/// Draws requests as ticks, one for each column, and lines while they wait for a response.
pub(super) fn draw_requests(svg: &mut String, frame: Frame, requests: &[Operation], top: f64) {
    let base = top + 17.0;
    let mut columns: BTreeMap<u32, Column<'_>> = BTreeMap::new();
    for one in requests.iter().filter(|one| frame.shows(one.at)) {
        let of = columns.entry(column(frame.x(one.at), COLUMN)).or_default();
        of.count += 1;
        *of.kinds.entry(one.kind.name()).or_default() += 1;
        of.first = of.first.or(Some(one));
        if one.is_hit() {
            of.hits += 1;
            of.first_hit = of.first_hit.or(Some(one));
        }
    }
    for (x, width) in waits(frame, requests.iter().filter(|one| !one.is_hit())) {
        put!(
            svg,
            "<rect class=\"wait\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"2.5\"/>",
            base - 2.5
        );
    }
    for (x, width) in waits(frame, requests.iter().filter(|one| one.is_hit())) {
        put!(
            svg,
            "<path class=\"lost\" d=\"M{x:.1} {:.1}h{width:.1}\"/>",
            base - 8.0
        );
    }
    for (column, of) in columns {
        let x = LEFT + f64::from(column) * COLUMN;
        // Each doubling makes it higher.
        let height = (5.0 + 2.0 * f64::from(of.count.ilog2())).min(15.0);
        put!(svg, "<g><title>{}</title>", escaped(&of.title()));
        if of.hits == 0 {
            put!(
                svg,
                "<rect class=\"request\" x=\"{x:.1}\" y=\"{:.1}\" width=\"2\" height=\"{height}\"/>",
                base - height
            );
        } else {
            put!(
                svg,
                "<rect class=\"bad-fill\" x=\"{x:.1}\" y=\"{:.1}\" width=\"2\" height=\"15\"/>",
                base - 15.0
            );
            put!(
                svg,
                "<path class=\"hit\" d=\"M{:.1} {:.1}l6 6m0 -6l-6 6\"/>",
                x - 2.0,
                base - 18.0
            );
        }
        *svg += "</g>";
    }
}

/// Returns when requests wait for a response, as parts that do not overlap and are wide enough to be seen.
fn waits<'a>(frame: Frame, requests: impl Iterator<Item = &'a Operation>) -> Vec<(f64, f64)> {
    let spans = requests.map(|one| Span {
        from: one.at,
        to: one.end.map_or(u64::MAX, |(at, _)| at),
    });
    let mut parts: Vec<(f64, f64)> = spans.filter_map(|span| frame.part(span)).collect();
    parts.retain(|(_, width)| *width > COLUMN);
    parts.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (x, width) in parts {
        match joined.last_mut() {
            Some((from, length)) if *from + *length + 1.0 >= x => {
                *length = length.max(x + width - *from);
            }
            _ => joined.push((x, width)),
        }
    }
    joined
}

/// Draws writes of guarded keys, one for each column.
pub(super) fn draw_writes(svg: &mut String, frame: Frame, writes: &[u64], top: f64) {
    let mut columns: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for at in writes.iter().filter(|at| frame.shows(**at)) {
        let (count, _) = columns
            .entry(column(frame.x(*at), 2.0 * COLUMN))
            .or_insert((0, *at));
        *count += 1;
    }
    for (column, (count, first)) in columns {
        let x = LEFT + f64::from(column) * 2.0 * COLUMN;
        put!(
            svg,
            "<path class=\"write\" d=\"M{:.1} {:.1}l4 4l-4 4l-4 -4z\"><title>{} {count} guarded {}</title></path>",
            x + 1.0,
            top + 2.0,
            seconds(first),
            if count == 1 { "write" } else { "writes" }
        );
    }
}
