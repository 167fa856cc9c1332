//! What the looks of a picture mean.

use std::collections::BTreeSet;

use super::super::operations::Operation;
use super::frame::put;
use super::scene::{Lane, Scene, Trouble};
use super::shapes::pattern;

const HELD: &str =
    r#"<rect class="bar" width="22" height="12"/><rect class="edge" width="2" height="12"/>"#;
const REJECTED: &str = r#"<rect class="bad-fill" x="7" y="3" width="6" height="5"/>"#;
const SESSION: &str = r#"<rect class="session" y="5" width="22" height="2"/><rect class="held" x="6" y="3" width="10" height="6" rx="2"/>"#;
const REQUEST: &str = r#"<rect class="request" x="6" y="2" width="2" height="9"/><rect class="wait" x="6" y="8.5" width="16" height="2.5"/>"#;
const HIT: &str = r#"<rect class="bad-fill" x="6" width="2" height="12"/><path class="hit" d="M4 1l6 6m0 -6l-6 6"/><path class="lost" d="M10 8h12"/>"#;
const CHANGE: &str = r#"<path class="write" d="M11 2l4 8h-8z"/>"#;
const WRITE: &str = r#"<path class="write" d="M11 2l4 4l-4 4l-4 -4z"/>"#;

/// Returns what the looks mean that are in the picture.
pub(super) fn legend(scene: &Scene) -> String {
    let any_lane = |test: fn(&Lane) -> bool| scene.lanes.iter().any(test);
    let is_wrong =
        scene.tells_beliefs && any_lane(|lane| lane.believed().iter().any(|(_, is_true)| !is_true));
    let fill =
        |pattern: &str| format!("<rect width=\"22\" height=\"12\" fill=\"url(#{pattern})\"/>");
    let rows = [
        (!scene.locks.is_empty(), HELD.to_owned(), "held"),
        (
            scene.locks.iter().any(|lock| !lock.delays.is_empty()),
            fill("delay"),
            "lock-delay",
        ),
        (
            scene.locks.iter().any(|lock| !lock.rejected.is_empty()),
            REJECTED.to_owned(),
            "acquire rejected",
        ),
        (
            is_wrong,
            fill("wrong"),
            "believes in a lock that it does not hold",
        ),
        (true, SESSION.to_owned(), "session, thick while it holds"),
        (true, REQUEST.to_owned(), "request, and how long it waits"),
        (
            any_lane(|lane| lane.requests.iter().any(Operation::is_hit)),
            HIT.to_owned(),
            "request that was hit, or got no response",
        ),
        (
            !scene.changes.is_empty(),
            CHANGE.to_owned(),
            "change of what is watched",
        ),
        (
            any_lane(|lane| !lane.writes.is_empty()),
            WRITE.to_owned(),
            "write of a guarded key",
        ),
        (!scene.leaderless.is_empty(), fill("no-leader"), "no leader"),
    ];
    let rows = rows.into_iter().filter(|(is_there, ..)| *is_there);
    let troubles: BTreeSet<Trouble> = scene
        .lanes
        .iter()
        .flat_map(|lane| lane.troubles.iter().map(|(kind, _)| *kind))
        .collect();
    let troubles = troubles
        .iter()
        .map(|kind| (true, fill(pattern(*kind)), kind.in_words()));
    let mut legend = String::from("<p class=\"legend\">");
    for (_, drawn, words) in rows.chain(troubles) {
        put!(
            &mut legend,
            "<span><svg viewBox=\"0 0 22 12\" style=\"--hue:250\" aria-hidden=\"true\">{drawn}</svg>{words}</span>"
        );
    }
    legend + "</p>\n"
}
