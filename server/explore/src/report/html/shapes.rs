//! What pictures are made of: hues, stripes, columns, and texts that fit.

use super::frame::{Frame, LEFT, LETTER, escaped, put, seconds};
use super::scene::{Span, Trouble};
use crate::contender::Contender;

/// The hues of the contenders, which are easy to tell apart.
const HUES: [u16; 5] = [250, 172, 320, 95, 215];

/// What stripes and dots mean, by their ids.
pub(super) const PATTERNS: &str = r#"<defs>
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

/// Returns the stripes or dots of a trouble.
pub(super) fn pattern(kind: Trouble) -> &'static str {
    match kind {
        Trouble::StandsStill => "paused",
        Trouble::Stopped => "stopped",
        Trouble::Silent | Trouble::AgentLate => "silent",
        Trouble::Cut | Trouble::AgentAway => "cut",
    }
}

/// Puts the first of some texts into a bar that fits beside the line of the finding.
pub(super) fn put_fitting(
    svg: &mut String,
    class: &str,
    texts: &[&str],
    at: (f64, f64, f64),
    line: Option<f64>,
) {
    let (x, y, width) = at;
    let end = x + width;
    let line = line.filter(|line| *line > x + 4.0 && *line < end);
    let places = [(x, line.unwrap_or(end)), (line.unwrap_or(end), end)];
    for text in texts {
        let needed = text.chars().count() as f64 * LETTER + 16.0;
        if let Some((from, _)) = places.iter().find(|(from, to)| from + needed < *to) {
            put!(
                svg,
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{}\">{}</text>",
                from + 8.0,
                y + 16.0,
                escaped(text)
            );
            return;
        }
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
