//! One contender in a picture: decisions, beliefs, sessions, requests and writes, one below the other.

use std::collections::BTreeMap;

use super::super::operations::Operation;
use super::frame::{Frame, LEFT, LETTER, RIGHT, Rows, WIDTH, clipped, escaped, put, seconds};
use super::picture::{column, hue, trouble};
use super::scene::{Lane, Mark, Scene, Session, Span, Trouble};
use crate::judge::Finding;
use crate::schedule::Contender;

/// The heights of the rows.
const MARK: f64 = 20.0;
const BELIEF: f64 = 30.0;
const SESSION: f64 = 9.0;
const REQUESTS: f64 = 22.0;
const WRITES: f64 = 16.0;
const SHADES: f64 = 14.0;
/// The width of a column of requests.
const COLUMN: f64 = 3.0;
/// The most marks, and the most rows of sessions.
const MOST_MARKS: usize = 12;
const MOST_SESSIONS: usize = 6;
/// How long a text of a mark is at most.
const MOST_LETTERS: usize = 90;

/// Draws a contender from a height on. Returns how high it is.
pub(super) fn draw(
    svg: &mut String,
    frame: Frame,
    scene: &Scene,
    (by, lane): (Contender, &Lane),
    top: f64,
    finding: Option<&Finding>,
) -> f64 {
    let mut rows = String::new();
    let mut y = top + 8.0;
    y += draw_marks(&mut rows, frame, &lane.marks, y);
    let captions = |svg: &mut String, text: &str, y: f64| {
        put!(
            svg,
            "<text class=\"caption end\" x=\"{}\" y=\"{y}\">{text}</text>",
            LEFT - 10.0
        );
    };
    let mut found_at = y + 6.0;
    if scene.tells_beliefs {
        captions(svg, "believes", y + 16.0);
        draw_beliefs(&mut rows, frame, lane, y);
        found_at = y + 12.0;
        y += BELIEF;
    }
    captions(svg, "sessions", y + 8.0);
    y += draw_sessions(&mut rows, frame, &lane.sessions, y) + 6.0;
    captions(svg, "requests", y + 12.0);
    draw_requests(&mut rows, frame, &lane.requests, y);
    y += REQUESTS;
    if scene.has_guard {
        captions(svg, "guarded writes", y + 9.0);
        draw_writes(&mut rows, frame, &lane.writes, y);
        y += WRITES;
    }
    if !lane.troubles.is_empty() {
        y += SHADES;
    }
    let height = y + 4.0 - top;
    let middle = top + height / 2.0;
    put!(
        svg,
        "<g style=\"{}\"><rect class=\"badge\" x=\"14\" y=\"{}\" width=\"30\" height=\"30\" rx=\"7\"/>",
        hue(Some(by)),
        middle - 15.0
    );
    put!(
        svg,
        "<text class=\"name\" x=\"29\" y=\"{}\">{by}</text>",
        middle + 5.5
    );
    *svg += "<g clip-path=\"url(#plot)\">";
    for (kind, span) in &lane.troubles {
        trouble(
            svg,
            frame,
            *span,
            (top + 1.0, height - 1.0),
            pattern(*kind),
            kind.in_words(),
        );
    }
    for mark in lane
        .marks
        .iter()
        .take(MOST_MARKS)
        .filter(|mark| frame.shows(mark.at))
    {
        put!(
            svg,
            "<path class=\"decision\" d=\"M{:.1} {top}v{height}\"/>",
            frame.x(mark.at)
        );
    }
    *svg += &rows;
    if let Some(finding) = finding {
        let at = u64::try_from(finding.at.as_nanos()).unwrap_or(u64::MAX);
        put!(
            svg,
            "<circle class=\"found\" cx=\"{:.1}\" cy=\"{found_at:.1}\" r=\"5\"/>",
            frame.x(at)
        );
    }
    put!(
        svg,
        "</g></g><path class=\"rule\" d=\"M0 {0:.1}H{WIDTH}\"/>\n",
        top + height
    );
    height
}

pub(super) fn pattern(kind: Trouble) -> &'static str {
    match kind {
        Trouble::StandsStill => "paused",
        Trouble::Stopped => "stopped",
        Trouble::Silent => "silent",
        Trouble::Cut => "cut",
    }
}

/// Draws the decisions with their texts. Returns how high they are.
fn draw_marks(svg: &mut String, frame: Frame, marks: &[Mark], top: f64) -> f64 {
    let mut rows = Rows::default();
    let seen = marks.iter().filter(|mark| frame.shows(mark.at));
    for mark in seen.take(MOST_MARKS) {
        let x = frame.x(mark.at);
        let text = clipped(&mark.text, MOST_LETTERS);
        let width = text.chars().count() as f64 * LETTER + 30.0;
        let left = (x - 8.0).min(RIGHT - width).max(LEFT);
        let y = top + MARK * rows.place(left, left + width + 6.0) as f64;
        let kind = if mark.number.is_some() { "warn" } else { "bad" };
        let number = mark
            .number
            .map_or("!".to_owned(), |number| number.to_string());
        put!(
            svg,
            "<g class=\"mark {kind}\"><title>{} {}</title>",
            seconds(mark.at),
            escaped(&mark.text)
        );
        put!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"17\" rx=\"8.5\"/>"
        );
        put!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{}\" r=\"7\"/>",
            left + 8.5,
            y + 8.5
        );
        put!(
            svg,
            "<text class=\"number\" x=\"{:.1}\" y=\"{}\">{number}</text>",
            left + 8.5,
            y + 12.2
        );
        put!(
            svg,
            "<text class=\"of-mark\" x=\"{:.1}\" y=\"{}\">{}</text></g>",
            left + 20.0,
            y + 12.5,
            escaped(&text)
        );
    }
    MARK * rows.count() as f64
}

/// Draws when the contender believes: beside what its sessions hold, and striped where they hold nothing.
fn draw_beliefs(svg: &mut String, frame: Frame, lane: &Lane, y: f64) {
    for (span, is_true) in lane.believed() {
        let Some((x, width)) = frame.part(span) else {
            continue;
        };
        if !is_true && width < 1.5 {
            continue;
        }
        let (from, to) = (seconds(span.from), seconds(span.to));
        let (class, words) = if is_true {
            ("belief", "believes that it holds the lock")
        } else {
            (
                "belief wrong",
                "believes that it holds the lock, and holds nothing",
            )
        };
        put!(
            svg,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"24\" rx=\"5\"><title>{words}, {from} to {to}</title></rect>",
            width.max(2.0)
        );
        let words = if is_true {
            "holds"
        } else {
            "still believes, and holds nothing"
        };
        if !is_true && width > words.len() as f64 * LETTER + 14.0 {
            put!(
                svg,
                "<text class=\"in-wrong\" x=\"{:.1}\" y=\"{}\">{words}</text>",
                x + 8.0,
                y + 16.0
            );
        }
    }
    for belief in &lane.beliefs {
        let Some((x, width)) = frame.part(belief.span) else {
            continue;
        };
        put!(
            svg,
            "<rect class=\"edge\" x=\"{x:.1}\" y=\"{y}\" width=\"2\" height=\"24\"/>"
        );
        let token = belief
            .token
            .as_ref()
            .map(|token| format!(", token {}", clipped(token, 24)));
        let words = format!("holds{}", token.unwrap_or_default());
        let first = lane
            .believed()
            .into_iter()
            .find(|(span, _)| span.from == belief.span.from);
        let room = first
            .filter(|(_, is_true)| *is_true)
            .and_then(|(span, _)| frame.part(span));
        let room = room.map_or(0.0, |(_, room)| room.min(width));
        if words.chars().count() as f64 * LETTER + 12.0 < room {
            put!(
                svg,
                "<text class=\"in-bar\" x=\"{:.1}\" y=\"{}\">{}</text>",
                x + 8.0,
                y + 16.0,
                escaped(&words)
            );
        }
    }
}

/// Draws sessions as lines, thick while they hold a key. Returns how high they are.
fn draw_sessions(svg: &mut String, frame: Frame, sessions: &[Session], top: f64) -> f64 {
    let mut rows = Rows::default();
    let mut left_out = 0;
    for session in sessions {
        let Some((x, width)) = frame.part(session.span) else {
            continue;
        };
        let width = width.max(2.0);
        let row = rows.place(x, x + width + 2.0);
        if row >= MOST_SESSIONS {
            left_out += 1;
            continue;
        }
        let y = top + SESSION * row as f64 + 4.0;
        let title = escaped(&session.name);
        let (from, to) = (seconds(session.span.from), seconds(session.span.to));
        put!(svg, "<g><title>{title}, {from} to {to}</title>");
        put!(
            svg,
            "<rect class=\"session\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"2\" rx=\"1\"/>",
            y - 1.0
        );
        for (x, width) in session.holds.iter().filter_map(|hold| frame.part(*hold)) {
            put!(
                svg,
                "<rect class=\"held\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"6\" rx=\"2\"/>",
                y - 3.0,
                width.max(2.0)
            );
        }
        *svg += "</g>";
    }
    let count = rows.count().clamp(1, MOST_SESSIONS);
    let height = SESSION * count as f64;
    if left_out == 0 {
        return height;
    }
    put!(
        svg,
        "<text class=\"note\" x=\"{}\" y=\"{}\">and {left_out} more at the same time</text>",
        LEFT + 4.0,
        top + height + 10.0
    );
    height + 14.0
}

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

/// Whether the schedule did something to a request, or its client got no response.
fn is_hit(one: &Operation) -> bool {
    one.fault.is_some() || one.end.is_some_and(|(_, status)| status.is_none())
}

/// Draws requests as ticks, one for each column, and lines while they wait for a response.
fn draw_requests(svg: &mut String, frame: Frame, requests: &[Operation], top: f64) {
    let base = top + 17.0;
    let mut columns: BTreeMap<u32, Column<'_>> = BTreeMap::new();
    for one in requests.iter().filter(|one| frame.shows(one.at)) {
        let of = columns.entry(column(frame.x(one.at), COLUMN)).or_default();
        of.count += 1;
        *of.kinds.entry(one.kind.name()).or_default() += 1;
        of.first = of.first.or(Some(one));
        if is_hit(one) {
            of.hits += 1;
            of.first_hit = of.first_hit.or(Some(one));
        }
    }
    for (x, width) in waits(frame, requests.iter().filter(|one| !is_hit(one))) {
        put!(
            svg,
            "<rect class=\"wait\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"2.5\"/>",
            base - 2.5
        );
    }
    for (x, width) in waits(frame, requests.iter().filter(|one| is_hit(one))) {
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
fn draw_writes(svg: &mut String, frame: Frame, writes: &[u64], top: f64) {
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
