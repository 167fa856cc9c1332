//! The picture of a run: Consul's locks, the contenders below them, and what is proved as a line through all.

use super::frame::{Frame, LEFT, LETTER, RIGHT, WIDTH, clipped, escaped, put, seconds};
use super::lane;
use super::scene::{Hold, Lock, Scene, Span, in_short};
use crate::judge::Finding;
use crate::schedule::Contender;

/// The height of the axis, with the flag of the finding above it.
const AXIS: f64 = 50.0;
/// The height of a lock, and of its bars.
const LOCK: f64 = 64.0;
const BAR: f64 = 26.0;
/// The most keys that are drawn.
const MOST_LOCKS: usize = 4;
/// The width of a column of rejected acquires, and how high it is at most.
const COLUMN: f64 = 8.0;
const HIGHEST: f64 = 9.0;
/// The hues of the contenders, which are easy to tell apart.
const HUES: [u16; 5] = [250, 172, 320, 95, 215];

/// What stripes and dots mean, by their ids.
const PATTERNS: &str = r#"<defs>
<pattern id="delay" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="warn-back"/><rect width="2" height="7" class="warn-fill"/></pattern>
<pattern id="wrong" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="7" height="7" class="bad-back"/><rect width="2.5" height="7" class="bad-fill soft"/></pattern>
<pattern id="paused" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="quiet-back"/><rect width="1.2" height="6" class="quiet-fill soft"/></pattern>
<pattern id="stopped" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="quiet-back"/><path d="M0 3h6M3 0v6" class="quiet-line soft"/></pattern>
<pattern id="silent" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="info-back soft"/><circle cx="2" cy="2" r="1" class="info-fill soft"/><circle cx="6" cy="6" r="1" class="info-fill soft"/></pattern>
<pattern id="cut" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="info-back soft"/><path d="M2 0v5" class="info-line soft"/><path d="M6 4v4M6 0v1" class="info-line soft"/></pattern>
<pattern id="no-leader" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="bad-back soft"/><path d="M0 3h6" class="bad-line soft"/></pattern>
</defs>
"#;

/// Returns the style that gives a contender its hue.
pub(super) fn hue(by: Option<Contender>) -> String {
    match by.and_then(|by| HUES.get(by.index())) {
        Some(hue) => format!("--hue:{hue}"),
        None => "--hue:0;--bar-strength:0%".to_owned(),
    }
}

/// Draws a scene.
pub(super) fn picture(scene: &Scene, finding: &Finding) -> String {
    let frame = Frame { shown: scene.shown };
    let mut body = String::new();
    let mut y = AXIS;
    for lock in scene.locks.iter().take(MOST_LOCKS) {
        draw_lock(&mut body, frame, lock, &scene.leaderless, y);
        y += LOCK;
    }
    if scene.locks.is_empty() {
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
        let is_found = finding.contender == Some(by);
        y += lane::draw(
            &mut body,
            frame,
            scene,
            (by, one),
            y,
            is_found.then_some(finding),
        );
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
    let width = text.len() as f64 * LETTER + 14.0;
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
fn draw_lock(svg: &mut String, frame: Frame, lock: &Lock, leaderless: &[Span], y: f64) {
    put!(
        svg,
        "<text class=\"caption\" x=\"14\" y=\"{}\">Consul: lock</text>",
        y + 16.0
    );
    let key = clipped(&lock.key, 40);
    let letters: Vec<char> = key.chars().collect();
    for (line, part) in letters.chunks(20).enumerate() {
        let part: String = part.iter().collect();
        let y = y + 32.0 + 15.0 * line as f64;
        put!(
            svg,
            "<text class=\"key\" x=\"14\" y=\"{y}\"><title>{}</title>{}</text>",
            escaped(&lock.key),
            escaped(&part)
        );
    }
    put!(svg, "<g clip-path=\"url(#plot)\">");
    for span in leaderless {
        trouble(svg, frame, *span, (y, LOCK), "no-leader", "no leader");
    }
    let bar = y + 6.0;
    for span in &lock.delays {
        if let Some((x, width)) = frame.part(*span) {
            put!(
                svg,
                "<rect fill=\"url(#delay)\" x=\"{x:.1}\" y=\"{bar}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"3\"><title>lock-delay, {} to {}</title></rect>",
                width.max(3.0),
                seconds(span.from),
                seconds(span.to)
            );
        }
    }
    for hold in &lock.holds {
        draw_hold(svg, frame, hold, bar);
    }
    draw_ends(svg, frame, &lock.holds, y);
    draw_rejected(svg, frame, &lock.rejected, bar + BAR + 1.0);
    put!(
        svg,
        "</g><path class=\"rule\" d=\"M0 {0}H{WIDTH}\"/>\n",
        y + LOCK
    );
}

fn draw_hold(svg: &mut String, frame: Frame, hold: &Hold, y: f64) {
    let Some((x, width)) = frame.part(hold.span) else {
        return;
    };
    let width = width.max(3.0);
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
    let names = [&hold.name, &short];
    let name = names
        .into_iter()
        .find(|name| name.len() as f64 * LETTER + 12.0 < width);
    if let Some(name) = name {
        put!(
            svg,
            "<text class=\"in-bar\" x=\"{:.1}\" y=\"{}\">{}</text>",
            x + 8.0,
            y + 17.5,
            escaped(name)
        );
    }
    *svg += "</g>";
}

/// Draws why holders lost the key. The newest reasons come first where there is no room for all.
fn draw_ends(svg: &mut String, frame: Frame, holds: &[Hold], y: f64) {
    let mut room = f64::INFINITY;
    let over = holds.iter().rev().filter(|hold| hold.is_over);
    for hold in over.filter(|hold| frame.shows(hold.span.to)) {
        let x = frame.x(hold.span.to);
        let text = in_short(&hold.why);
        if x > room {
            continue;
        }
        room = x - text.len() as f64 * LETTER - 12.0;
        let y = y + LOCK - 9.0;
        put!(
            svg,
            "<text class=\"cause\" x=\"{:.1}\" y=\"{y}\">{}</text>",
            x - 5.0,
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

/// Returns the number of the column of this width in which a place is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the picture is small, and nothing in it is left of its left edge"
)]
pub(super) fn column(x: f64, width: f64) -> u32 {
    ((x - LEFT) / width) as u32
}

/// Shades a time of trouble. `at` is the top and the height.
pub(super) fn trouble(
    svg: &mut String,
    frame: Frame,
    span: Span,
    at: (f64, f64),
    pattern: &str,
    words: &str,
) {
    let Some((x, width)) = frame.part(span) else {
        return;
    };
    let (y, height) = at;
    let (from, to) = (seconds(span.from), seconds(span.to));
    put!(
        svg,
        "<rect fill=\"url(#{pattern})\" x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{height}\"><title>{words}, {from} to {to}</title></rect>",
        width.max(1.5)
    );
    if width > words.len() as f64 * LETTER + 10.0 {
        put!(
            svg,
            "<text class=\"shade\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>",
            x + 5.0,
            y + height - 5.0
        );
    }
}
