//! `session/create`: which TTLs there are. What they do is in `session_ttl`.

use std::time::Duration;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::cases::support::session::Shown;

/// The longest TTL.
const MOST: Duration = Duration::from_secs(24 * 3600);

/// The TTL is refused for being out of bounds; gives the least TTL as the text prints it.
#[track_caller]
fn refused(t: &Trial, ttl: &str, nanoseconds: i128) -> String {
    let answer = t.create_session(&format!(r#"{{"TTL":"{ttl}"}}"#));
    let text = answer.text();
    let least = text
        .split_once("must be between [")
        .and_then(|(_, rest)| rest.split_once("=24h0m0s]"))
        .map(|(least, _)| least.to_owned())
        .unwrap_or_default();
    answer.is(
        500,
        &format!("Invalid Session TTL '{nanoseconds}', must be between [{least}=24h0m0s]"),
    );
    least
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/ttl-input/kept-as-sent",
        claim: "A TTL is shown in the words in which it was sent",
        source: "session.md 1.3, trap 7",
        run: |t| {
            for ttl in ["1m30s", "1.5m", "90000ms", "24h", "1h0m0s", "0h30m"] {
                let session = t.session(&format!(r#"{{"TTL":"{ttl}"}}"#));
                let shown = Shown {
                    ttl,
                    ..Shown::of(t, &session)
                };
                shown.is_stored(t);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/zero-is-none",
        claim: "A TTL of zero in any words is accepted and shown, though it is below the least",
        source: "session.md 1.3",
        run: |t| {
            for ttl in ["", "0", "0s", "0ms", "-0s"] {
                let session = t.session(&format!(r#"{{"TTL":"{ttl}"}}"#));
                let shown = Shown {
                    ttl,
                    ..Shown::of(t, &session)
                };
                shown.is_stored(t);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/least-is-included",
        claim: "The least TTL is accepted, a nanosecond less is 500 with the bounds in the text and the TTL in nanoseconds",
        source: "session.md 1.3, trap 6",
        run: |t| {
            let least = t.facts().shortest_ttl;
            let text = format!("{}ns", least.as_nanos());
            let session = t.session(&format!(r#"{{"TTL":"{text}"}}"#));
            let shown = Shown {
                ttl: &text,
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
            let nanoseconds = i128::try_from(least.as_nanos()).unwrap_or_default() - 1;
            // Where a nanosecond is the least, nothing lies between it and no TTL at all.
            if nanoseconds > 0 {
                refused(t, &format!("{nanoseconds}ns"), nanoseconds);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/most-is-included",
        claim: "24 hours are accepted, a nanosecond more is 500",
        source: "session.md 1.3",
        run: |t| {
            let most = MOST.as_nanos();
            t.create_session(&format!(r#"{{"TTL":"{most}ns"}}"#))
                .status_is(200);
            let nanoseconds = i128::try_from(most).unwrap_or_default() + 1;
            refused(t, &format!("{nanoseconds}ns"), nanoseconds);
            refused(t, "25h", 90_000_000_000_000);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/negative-is-refused",
        claim: "A negative TTL is 500, its nanoseconds shown with their sign",
        source: "session.md 1.3",
        run: |t| {
            refused(t, "-10s", -10_000_000_000);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/bounds-are-the-servers",
        claim: "The least TTL that a refusal names is accepted in just these words",
        source: "session.md 1.3, 7.1",
        run: |t| {
            let least = refused(t, "-1s", -1_000_000_000);
            let session = t.session(&format!(r#"{{"TTL":"{least}"}}"#));
            let shown = Shown {
                ttl: &least,
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/not-a-duration",
        claim: "A TTL that is no duration is 500 with the text in quotes and the reason",
        source: "session.md 1.3, trap 5",
        run: |t| {
            for (ttl, reason) in [
                ("10", "missing unit in duration"),
                ("abc", "invalid duration"),
                (" 10s", "invalid duration"),
                ("1d", "unknown unit"),
            ] {
                t.create_session(&format!(r#"{{"TTL":"{ttl}"}}"#))
                    .says(500, &format!("Session TTL '{ttl}' invalid: time: {reason}"));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl-input/number-is-400",
        claim: "A TTL is a text: a number is 400",
        source: "session.md 1.1, 1.3",
        run: |t| {
            t.create_session(r#"{"TTL":10}"#)
                .says(400, "Request decode failed: json: cannot unmarshal number");
        },
        ..Case::MUST
    },
];
