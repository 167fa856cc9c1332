//! One contender in a picture: decisions, beliefs, sessions, requests and writes, one below the other.

use super::frame::{Frame, LEFT, LETTER, RIGHT, Rows, WIDTH, clipped, escaped, put, seconds};
use super::requests::{draw_requests, draw_writes};
use super::scene::{Lane, Mark, Scene, Session, Span};
use super::shapes::{hue, pattern, put_fitting, trouble};
use crate::contender::Contender;
use crate::judge::{Finding, Property};

/// The heights of the rows.
const MARK: f64 = 20.0;
const BELIEF: f64 = 30.0;
const SESSION: f64 = 9.0;
const REQUESTS: f64 = 22.0;
const WRITES: f64 = 16.0;
const SHADES: f64 = 14.0;
/// The most marks, and the most rows of sessions.
const MOST_MARKS: usize = 12;
const MOST_SESSIONS: usize = 6;
/// How long a text of a mark is at most.
const MOST_LETTERS: usize = 70;

/// Draws a contender from a height on. Returns how high it is.
pub(super) fn draw(
    svg: &mut String,
    frame: Frame,
    scene: &Scene,
    (by, lane): (Contender, &Lane),
    top: f64,
    finding: &Finding,
) -> f64 {
    let found = u64::try_from(finding.at.as_nanos()).unwrap_or(u64::MAX);
    let line = frame.shows(found).then(|| frame.x(found));
    let rows = draw_rows(frame, scene, lane, top + 8.0, (finding, line));
    let shades = if lane.troubles.is_empty() {
        0.0
    } else {
        SHADES
    };
    let height = rows.end + shades + 4.0 - top;
    put!(
        svg,
        "<g style=\"{}\">{}<rect class=\"badge\" x=\"14\" y=\"{}\" width=\"30\" height=\"30\" rx=\"7\"/>",
        hue(Some(by)),
        rows.captions,
        top + height / 2.0 - 15.0
    );
    put!(
        svg,
        "<text class=\"name\" x=\"29\" y=\"{}\">{by}</text><g clip-path=\"url(#plot)\">",
        top + height / 2.0 + 5.5
    );
    for (kind, span) in &lane.troubles {
        let at = (top + 1.0, height - 1.0);
        trouble(svg, frame, *span, at, pattern(*kind), kind.in_words());
    }
    for mark in seen_marks(frame, &lane.marks) {
        put!(
            svg,
            "<path class=\"decision\" d=\"M{:.1} {top}v{height}\"/>",
            frame.x(mark.at)
        );
    }
    *svg += &rows.drawn;
    if let Some(x) = line.filter(|_| finding.contender == Some(by)) {
        put!(
            svg,
            "<circle class=\"found\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"5\"/>",
            rows.found_at
        );
    }
    put!(
        svg,
        "</g></g><path class=\"rule\" d=\"M0 {0:.1}H{WIDTH}\"/>\n",
        top + height
    );
    height
}

/// The rows of a contender, drawn.
struct DrawnRows {
    captions: String,
    drawn: String,
    /// The height of the row that the finding is about.
    found_at: f64,
    /// Where the last row ends.
    end: f64,
}

/// Draws the rows of a contender from a height on. `finding` comes with where its line is.
fn draw_rows(
    frame: Frame,
    scene: &Scene,
    lane: &Lane,
    top: f64,
    (finding, line): (&Finding, Option<f64>),
) -> DrawnRows {
    let mut drawn = String::new();
    let mut captions = String::new();
    let mut caption = |text: &str, y: f64| {
        put!(
            &mut captions,
            "<text class=\"caption end\" x=\"{}\" y=\"{y}\">{text}</text>",
            LEFT - 10.0
        );
    };
    let beliefs = top + draw_marks(&mut drawn, frame, &lane.marks, top);
    let mut sessions = beliefs;
    if scene.tells_beliefs {
        caption("believes", beliefs + 16.0);
        draw_beliefs(&mut drawn, frame, lane, beliefs, line);
        sessions += BELIEF;
    }
    caption("sessions", sessions + 8.0);
    let requests = sessions + draw_sessions(&mut drawn, frame, &lane.sessions, sessions) + 6.0;
    caption("requests", requests + 12.0);
    draw_requests(&mut drawn, frame, &lane.requests, requests);
    let writes = requests + REQUESTS;
    let mut end = writes;
    if scene.has_guard {
        caption("guarded writes", writes + 9.0);
        draw_writes(&mut drawn, frame, &lane.writes, writes);
        end += WRITES;
    }
    let found_at = match finding.property {
        Property::SessionsPileUp => sessions + 4.0,
        Property::BusyLoop | Property::MissedValue | Property::LostUpdate | Property::StaleRead => {
            requests + 12.0
        }
        Property::StaleWrite | Property::ActedAfterLoss => writes + 6.0,
        _ if scene.tells_beliefs => beliefs + 12.0,
        _ => sessions + 4.0,
    };
    DrawnRows {
        captions,
        drawn,
        found_at,
        end,
    }
}

/// Returns the marks that are drawn.
fn seen_marks(frame: Frame, marks: &[Mark]) -> impl Iterator<Item = &Mark> {
    let seen = marks.iter().filter(move |mark| frame.shows(mark.at));
    seen.take(MOST_MARKS)
}

/// Draws the decisions with their texts. Returns how high they are.
fn draw_marks(svg: &mut String, frame: Frame, marks: &[Mark], top: f64) -> f64 {
    let mut rows = Rows::default();
    for mark in seen_marks(frame, marks) {
        let x = frame.x(mark.at);
        let text = clipped(&mark.text, MOST_LETTERS);
        let width = text.chars().count() as f64 * LETTER + 30.0;
        // The circle is at the moment; the text is where there is room for it.
        let is_left = x - 8.5 + width > RIGHT && x + 8.5 - width > LEFT;
        let (left, circle, text_at) = if is_left {
            (x + 8.5 - width, x, x + 17.0 - width)
        } else {
            (x - 8.5, x, x + 11.5)
        };
        let row = rows.place(left, left + width + 6.0, MOST_MARKS);
        let y = top + MARK * row.unwrap_or_default() as f64;
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
            "<circle cx=\"{circle:.1}\" cy=\"{}\" r=\"7\"/>",
            y + 8.5
        );
        put!(
            svg,
            "<text class=\"number\" x=\"{circle:.1}\" y=\"{}\">{number}</text>",
            y + 12.2
        );
        put!(
            svg,
            "<text class=\"of-mark\" x=\"{text_at:.1}\" y=\"{}\">{}</text></g>",
            y + 12.5,
            escaped(&text)
        );
    }
    MARK * rows.count() as f64
}

/// Draws when the contender believes: beside what its sessions hold, and striped where they hold nothing.
fn draw_beliefs(svg: &mut String, frame: Frame, lane: &Lane, y: f64, line: Option<f64>) {
    let parts = lane.believed();
    for ((span, is_true), x, width) in frame.seen(&parts, |(span, _)| *span) {
        draw_belief(svg, *span, *is_true, (x, y, width), line);
    }
    for (belief, x, _) in frame.seen(&lane.beliefs, |belief| belief.span) {
        if frame.shows(belief.span.from) {
            put!(
                svg,
                "<rect class=\"edge\" x=\"{x:.1}\" y=\"{y}\" width=\"2\" height=\"24\"/>"
            );
        }
        let token = belief
            .token
            .as_ref()
            .map(|token| format!(", token {}", clipped(token, 24)));
        let long = format!("holds{}", token.unwrap_or_default());
        let mut first = parts
            .iter()
            .filter(|(span, _)| span.from == belief.span.from);
        let room = first.find_map(|(span, is_true)| frame.part(*span).filter(|_| *is_true));
        let room = room.map_or(0.0, |(_, room)| room);
        put_fitting(svg, "in-bar", &[&long, "holds"], (x, y, room), line);
    }
}

/// Draws a part of a belief. `at` is its left edge, its top and its width.
fn draw_belief(
    svg: &mut String,
    span: Span,
    is_true: bool,
    at: (f64, f64, f64),
    line: Option<f64>,
) {
    let (x, y, width) = at;
    // The word of a contender comes a little after what the server knows.
    if !is_true && width < 1.5 {
        return;
    }
    let (from, to) = (seconds(span.from), seconds(span.to));
    let (class, more) = if is_true {
        ("belief", "")
    } else {
        ("belief wrong", ", and holds nothing")
    };
    put!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"24\" rx=\"5\"><title>believes that it holds the lock{more}, {from} to {to}</title></rect>",
        width.max(2.0)
    );
    if !is_true {
        let words = ["still believes, and holds nothing", "still believes"];
        put_fitting(svg, "in-wrong", &words, at, line);
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
        let Some(row) = rows.place(x, x + width + 2.0, MOST_SESSIONS) else {
            left_out += 1;
            continue;
        };
        let y = top + SESSION * row as f64 + 4.0;
        let title = escaped(&session.name);
        let (from, to) = (seconds(session.span.from), seconds(session.span.to));
        put!(svg, "<g><title>{title}, {from} to {to}</title>");
        put!(
            svg,
            "<rect class=\"session\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"2\" rx=\"1\"/>",
            y - 1.0
        );
        for (_, x, width) in frame.seen(&session.holds, |hold| *hold) {
            put!(
                svg,
                "<rect class=\"held\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"6\" rx=\"2\"/>",
                y - 3.0,
                width.max(2.0)
            );
        }
        *svg += "</g>";
    }
    let height = SESSION * rows.count().max(1) as f64;
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
