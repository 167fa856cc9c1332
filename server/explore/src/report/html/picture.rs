//! The picture of a run: Consul's locks, the contenders below them, and what is proved as a line through all.

use super::frame::{Frame, LEFT, LETTER, RIGHT, WIDTH, clipped, escaped, put, seconds};
use super::lane;
use super::scene::{Hold, Lock, Scene, Span, in_short};
use super::shapes::{PATTERNS, column, hue, put_fitting, trouble};
use crate::contender::Contender;
use crate::judge::Finding;

/// The height of the axis, with the flag of the finding above it.
const AXIS: f64 = 50.0;
/// The height of a lock, and of its bars.
const LOCK: f64 = 64.0;
const BAR: f64 = 26.0;
/// The height of the row of changes.
const CHANGES: f64 = 28.0;
/// How many letters of a key are in a line.
const KEY: usize = 21;
/// The most keys that are drawn.
const MOST_LOCKS: usize = 4;
/// The width of a column of rejected acquires, and how high it is at most.
const COLUMN: f64 = 8.0;
const HIGHEST: f64 = 9.0;
/// Draws a scene.
pub(super) fn picture(scene: &Scene, finding: &Finding) -> String {
    let frame = Frame { shown: scene.shown };
    let found = u64::try_from(finding.at.as_nanos()).unwrap_or(u64::MAX);
    let line = frame.shows(found).then(|| frame.x(found));
    let mut body = String::new();
    let mut y = AXIS;
    for lock in scene.locks.iter().take(MOST_LOCKS) {
        draw_lock(&mut body, frame, lock, &scene.leaderless, y, line);
        y += LOCK;
    }
    if !scene.changes.is_empty() {
        draw_changes(&mut body, frame, &scene.changes, y);
        y += CHANGES;
    }
    if scene.locks.is_empty() && scene.changes.is_empty() {
        put!(
            &mut body,
            "<text class=\"note\" x=\"{LEFT}\" y=\"{}\">nobody has acquired a lock</text>",
            y + 22.0
        );
        y += 34.0;
    }
    if let Some(more) = scene
        .locks
        .len()
        .checked_sub(MOST_LOCKS)
        .filter(|more| *more > 0)
    {
        put!(
            &mut body,
            "<text class=\"note\" x=\"{LEFT}\" y=\"{}\">{more} more keys were locked</text>",
            y + 14.0
        );
        y += 20.0;
    }
    for (one, number) in scene.lanes.iter().zip(0..) {
        let by = Contender(number);
        y += lane::draw(&mut body, frame, scene, (by, one), y, finding);
    }
    let height = y + 6.0;
    let mut svg = format!(
        "<svg class=\"picture\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"The run as a picture: {} Each row of it is in the timeline below.\">\n{PATTERNS}",
        escaped(&finding.text)
    );
    put!(
        &mut svg,
        "<clipPath id=\"plot\"><rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{height}\"/></clipPath>\n",
        LEFT - 4.0,
        RIGHT - LEFT + 4.0
    );
    draw_axis(&mut svg, frame, height);
    svg += &body;
    draw_finding(&mut svg, frame, finding, height);
    svg + "</svg>\n"
}

fn draw_axis(svg: &mut String, frame: Frame, height: f64) {
    let top = AXIS - 22.0;
    for (at, name) in frame.ticks() {
        let x = frame.x(at);
        put!(svg, "<path class=\"grid\" d=\"M{x:.1} {top}V{height}\"/>");
        if x + name.len() as f64 * LETTER < RIGHT {
            put!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{}\">{name}</text>\n",
                x + 4.0,
                top + 13.0
            );
        }
    }
    put!(svg, "<path class=\"rule\" d=\"M0 {AXIS}H{WIDTH}\"/>\n");
}

fn draw_finding(svg: &mut String, frame: Frame, finding: &Finding, height: f64) {
    let at = u64::try_from(finding.at.as_nanos()).unwrap_or(u64::MAX);
    let x = frame.x(at);
    let text = format!("{} at {}", finding.property.name(), seconds(at));
    // It is bold.
    let width = text.len() as f64 * (LETTER + 0.6) + 14.0;
    let left = if x + width > RIGHT { x - width } else { x };
    put!(svg, "<g><title>{}</title>", escaped(&finding.text));
    put!(svg, "<path class=\"finding\" d=\"M{x:.1} 2V{height}\"/>");
    put!(
        svg,
        "<rect class=\"bad-fill\" x=\"{left:.1}\" y=\"2\" width=\"{width:.1}\" height=\"19\" rx=\"4\"/>"
    );
    put!(
        svg,
        "<text class=\"flag\" x=\"{:.1}\" y=\"15.5\">{text}</text></g>\n",
        left + 7.0
    );
}

/// Draws a key: who holds it, when it cannot be acquired, why it was lost, and rejected acquires.
fn draw_lock(
    svg: &mut String,
    frame: Frame,
    lock: &Lock,
    leaderless: &[Span],
    y: f64,
    line: Option<f64>,
) {
    put!(
        svg,
        "<text class=\"caption\" x=\"14\" y=\"{}\">Consul: lock</text>",
        y + 16.0
    );
    for (line, part) in key_lines(&lock.key).iter().enumerate() {
        let y = y + 32.0 + 15.0 * line as f64;
        put!(
            svg,
            "<text class=\"key\" x=\"14\" y=\"{y}\"><title>{}</title>{}</text>",
            escaped(&lock.key),
            escaped(part)
        );
    }
    put!(svg, "<g clip-path=\"url(#plot)\">");
    for span in leaderless {
        trouble(svg, frame, *span, (y, LOCK), "no-leader", "no leader");
    }
    let bar = y + 6.0;
    for (span, x, width) in frame.seen(&lock.delays, |span| *span) {
        put!(
            svg,
            "<rect fill=\"url(#delay)\" x=\"{x:.1}\" y=\"{bar}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"3\"><title>lock-delay, {} to {}</title></rect>",
            width.max(3.0),
            seconds(span.from),
            seconds(span.to)
        );
    }
    for (hold, x, width) in frame.seen(&lock.holds, |hold| hold.span) {
        draw_hold(svg, hold, (x, bar, width.max(3.0)), line);
    }
    draw_ends(svg, frame, &lock.holds, y);
    draw_rejected(svg, frame, &lock.rejected, bar + BAR + 1.0);
    put!(
        svg,
        "</g><path class=\"rule\" d=\"M0 {0}H{WIDTH}\"/>\n",
        y + LOCK
    );
}

/// Breaks a key into two lines at most, after a slash if there is one.
fn key_lines(key: &str) -> Vec<String> {
    if key.chars().count() <= KEY {
        return vec![key.to_owned()];
    }
    let first: String = key.chars().take(KEY).collect();
    let first = first
        .rfind('/')
        .map_or(first.as_str(), |slash| &first[..=slash]);
    vec![first.to_owned(), clipped(&key[first.len()..], KEY)]
}

/// Draws a holder. `at` is the left edge of its bar, the top and the width.
fn draw_hold(svg: &mut String, hold: &Hold, at: (f64, f64, f64), line: Option<f64>) {
    let (x, y, width) = at;
    let until = if hold.is_over {
        format!("until {}: {}", seconds(hold.span.to), hold.why)
    } else {
        "until the end".to_owned()
    };
    let title = escaped(&format!(
        "{} holds it from {} {until}",
        hold.name,
        seconds(hold.span.from)
    ));
    put!(
        svg,
        "<g class=\"hold\" style=\"{}\"><title>{title}</title>",
        hue(hold.by)
    );
    put!(
        svg,
        "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"5\"/>"
    );
    put!(
        svg,
        "<rect class=\"edge\" x=\"{x:.1}\" y=\"{y}\" width=\"2\" height=\"{BAR}\"/>"
    );
    if !hold.is_over {
        put!(
            svg,
            "<rect class=\"open\" x=\"{:.1}\" y=\"{y}\" width=\"2\" height=\"{BAR}\"/>",
            x + width - 2.0
        );
    }
    let short = hold.by.map(|by| by.to_string()).unwrap_or_default();
    put_fitting(
        svg,
        "in-bar",
        &[&hold.name, &short],
        (x, y + 1.0, width),
        line,
    );
    *svg += "</g>";
}

/// Draws why holders lost the key, before the moment or, at the left edge, after it. The newest reasons come first where there is no
/// room for all.
fn draw_ends(svg: &mut String, frame: Frame, holds: &[Hold], y: f64) {
    let mut room = f64::INFINITY;
    let over = holds.iter().rev().filter(|hold| hold.is_over);
    for hold in over.filter(|hold| frame.shows(hold.span.to)) {
        let x = frame.x(hold.span.to);
        let text = in_short(&hold.why);
        let width = text.len() as f64 * LETTER + 12.0;
        let is_before = x - width >= LEFT;
        let (from, to) = if is_before {
            (x - width, x)
        } else {
            (x, x + width)
        };
        if to > room {
            continue;
        }
        room = from;
        let y = y + LOCK - 9.0;
        let (class, at) = match is_before {
            true => ("cause", x - 5.0),
            false => ("cause after", x + 4.0),
        };
        put!(
            svg,
            "<text class=\"{class}\" x=\"{at:.1}\" y=\"{y}\">{}</text>",
            escaped(&text)
        );
        put!(
            svg,
            "<path class=\"quiet-line wide\" d=\"M{:.1} {}v13\"/>",
            x - 1.0,
            y - 10.0
        );
    }
}

/// Draws when the driver has changed what the contenders watch, one mark for each column.
fn draw_changes(svg: &mut String, frame: Frame, changes: &[(u64, String)], y: f64) {
    put!(
        svg,
        "<text class=\"caption\" x=\"14\" y=\"{}\">Consul: changes</text>",
        y + 17.0
    );
    let mut columns = std::collections::BTreeMap::new();
    for (at, path) in changes.iter().filter(|(at, _)| frame.shows(*at)) {
        let (count, ..) = columns
            .entry(column(frame.x(*at), COLUMN))
            .or_insert((0_u64, at, path));
        *count += 1;
    }
    for (column, (count, at, path)) in columns {
        let more = if count > 1 {
            format!(", and {} more", count - 1)
        } else {
            String::new()
        };
        put!(
            svg,
            "<path class=\"write\" d=\"M{:.1} {}l4 8h-8z\"><title>{} {} changes{more}</title></path>",
            LEFT + f64::from(column) * COLUMN,
            y + 9.0,
            seconds(*at),
            escaped(&clipped(path, 100))
        );
    }
    put!(
        svg,
        "<path class=\"rule\" d=\"M0 {0}H{WIDTH}\"/>\n",
        y + CHANGES
    );
}

/// Draws rejected acquires in columns, as high as there are many.
fn draw_rejected(svg: &mut String, frame: Frame, rejected: &[u64], y: f64) {
    let mut columns = std::collections::BTreeMap::new();
    for at in rejected.iter().filter(|at| frame.shows(**at)) {
        *columns.entry(column(frame.x(*at), COLUMN)).or_insert(0_u64) += 1;
    }
    for (column, times) in columns {
        let x = LEFT + column as f64 * COLUMN;
        let height = (2.0 + times as f64).min(HIGHEST);
        put!(
            svg,
            "<rect class=\"bad-fill\" x=\"{x:.1}\" y=\"{y}\" width=\"{}\" height=\"{height}\"><title>{times} rejected</title></rect>",
            COLUMN * 0.8
        );
    }
}
