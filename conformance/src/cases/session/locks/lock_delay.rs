//! `session/create`: how a lock-delay is read. What it does is in `lock_delay`.

use crate::case::Case;
use crate::case::trial::Trial;
use crate::cases::support::session::Shown;

/// Each value, as JSON, is stored as so many nanoseconds.
#[track_caller]
fn are_stored(t: &Trial, values: &[(&str, i64)]) {
    for (sent, nanoseconds) in values {
        let session = t.session(&format!(r#"{{"LockDelay":{sent}}}"#));
        let shown = Shown {
            lock_delay: *nanoseconds,
            ..Shown::of(t, &session)
        };
        shown.is_stored(t);
    }
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/lock-delay/absent-is-15s",
        claim: "A lock-delay that is absent or null is 15 seconds, shown in nanoseconds",
        source: "session.md 1.2, trap 7",
        run: |t| {
            are_stored(t, &[("null", 15_000_000_000), (r#""15s""#, 15_000_000_000)]);
            let session = t.session("{}");
            Shown::of(t, &session).is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/text-is-a-duration",
        claim: "A text is read as a duration with its unit",
        source: "session.md 1.2",
        run: |t| {
            are_stored(
                t,
                &[
                    (r#""90s""#, 90_000_000_000),
                    (r#""1m30s""#, 90_000_000_000),
                    (r#""1.5s""#, 1_500_000_000),
                    (r#""1h""#, 3_600_000_000_000),
                    (r#""1ms""#, 1_000_000),
                    (r#""1us""#, 1_000),
                    ("\"1\u{b5}s\"", 1_000),
                ],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/small-number-is-seconds",
        claim: "A number below 1000 counts seconds",
        source: "session.md 1.2, trap 3",
        run: |t| {
            are_stored(
                t,
                &[
                    ("1", 1_000_000_000),
                    ("15", 15_000_000_000),
                    ("61", 61_000_000_000),
                    ("999", 999_000_000_000),
                ],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/large-number-is-nanoseconds",
        claim: "A number from 1000 on counts nanoseconds",
        source: "session.md 1.2, trap 3",
        run: |t| {
            are_stored(
                t,
                &[
                    ("1000", 1_000),
                    ("1e3", 1_000),
                    ("10000000000", 10_000_000_000),
                    ("1e10", 10_000_000_000),
                ],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/text-below-a-microsecond-is-seconds",
        claim: "A duration of fewer than 1000 nanoseconds is taken for seconds, too",
        source: "session.md 1.2, trap 3",
        run: |t| {
            are_stored(
                t,
                &[
                    (r#""999ns""#, 999_000_000_000),
                    (r#""1ns""#, 1_000_000_000),
                    (r#""0.5us""#, 500_000_000_000),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/zero",
        claim: "Zero, as number or as text, is no lock-delay",
        source: "session.md 1.2",
        run: |t| are_stored(t, &[("0", 0), (r#""0s""#, 0), (r#""0""#, 0), ("0.0", 0)]),
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/fraction-is-cut-off",
        claim: "A number loses its fraction before anything else is done with it",
        source: "session.md 1.2",
        run: |t| {
            are_stored(
                t,
                &[
                    ("1.5", 1_000_000_000),
                    ("0.5", 0),
                    ("999.9", 999_000_000_000),
                    ("1000.9", 1_000),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/negative-is-multiplied",
        claim: "A negative lock-delay is below 1000, hence multiplied, text or number alike",
        source: "session.md 1.2, trap 4",
        run: |t| {
            are_stored(
                t,
                &[
                    ("-1", -1_000_000_000),
                    ("-1000", -1_000_000_000_000),
                    (r#""-1s""#, -1_000_000_000_000_000_000),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/beyond-the-cap-is-shown",
        claim: "More than 60 seconds is stored and shown as it was sent, though it acts as 60",
        source: "session.md 1.2, trap 4",
        run: |t| {
            are_stored(
                t,
                &[
                    (r#""61s""#, 61_000_000_000),
                    (r#""24h""#, 86_400_000_000_000),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/other-kinds-are-zero",
        claim: "A lock-delay that is neither text nor number is 0, without a word",
        source: "session.md 1.2",
        run: |t| {
            are_stored(
                t,
                &[("true", 0), ("false", 0), ("{}", 0), ("[]", 0), ("[15]", 0)],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/lock-delay/unit-is-needed",
        claim: "A text without unit is 400",
        source: "session.md 1.2, trap 5",
        run: |t| {
            for text in ["15", "1000", "1.5"] {
                t.create_session(&format!(r#"{{"LockDelay":"{text}"}}"#))
                    .says(
                        400,
                        "Request decode failed: time: missing unit in duration ",
                    );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/lock-delay/not-a-duration",
        claim: "A text that is no duration is 400, also an empty one and one with a blank before it",
        source: "session.md 1.2, trap 5",
        run: |t| {
            for text in ["", "abc", " 15s", "s", "-"] {
                t.create_session(&format!(r#"{{"LockDelay":"{text}"}}"#))
                    .says(400, "Request decode failed: time: invalid duration ");
            }
            t.create_session(r#"{"LockDelay":"1d"}"#)
                .says(400, "Request decode failed: time: unknown unit ");
        },
        ..Case::MUST
    },
];
