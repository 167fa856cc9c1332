//! Words that requests are made of: those that mean something, those that nearly do, and those that nobody chose.

use fastrand::Rng;

/// How deep texts are nested. The deepest are rare: they are megabytes.
pub(crate) fn depth(rng: &mut Rng) -> usize {
    match rng.u8(..) {
        0..100 => rng.usize(1..8),
        100..200 => rng.usize(8..150),
        200..248 => rng.usize(150..3_000),
        248..255 => rng.usize(3_000..30_000),
        255 => rng.usize(30_000..400_000),
    }
}

/// One of them.
pub(crate) fn one_of<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(..words.len())]
}

/// A key, a name, an id: few, so that requests meet each other's.
pub(crate) fn name(rng: &mut Rng) -> String {
    match rng.u8(..20) {
        0 => String::new(),
        1 => "a/".repeat(rng.usize(1..200)),
        2 => anything(rng, 40),
        3 => "x".repeat(rng.usize(1..3_000)),
        4 => session(rng),
        _ => one_of(
            rng,
            &[
                "a", "b", "a/b", "a/b/c", "web", "web-1", "n1", "n2", "c1", "_all",
            ],
        )
        .into(),
    }
}

/// The id of a session. It is hardly ever there.
pub(crate) fn session(rng: &mut Rng) -> String {
    format!("{:08x}-0000-4000-8000-{:012x}", rng.u32(..4), rng.u64(..4))
}

pub(crate) fn number(rng: &mut Rng) -> String {
    match rng.u8(..12) {
        0 => i64::MAX.to_string(),
        1 => i64::MIN.to_string(),
        2 => u64::MAX.to_string(),
        3 => "18446744073709551616".into(),
        4 => "-1".into(),
        5 => "1e400".into(),
        6 => "0.5".into(),
        7 => anything(rng, 6),
        _ => rng.u32(..50).to_string(),
    }
}

/// A duration in Go's form. Those that are waited for are short.
pub(crate) fn duration(rng: &mut Rng) -> String {
    match rng.u8(..16) {
        0 => "9223372036854775807ns".into(),
        1 => "2540400h".into(),
        2 => "-5s".into(),
        3 => "1".into(),
        4 => "10x".into(),
        5 => anything(rng, 6),
        6 => "24h".into(),
        7 => "10s".into(),
        8 => "15s".into(),
        9 => String::new(),
        _ => format!("{}ms", rng.u8(..60)),
    }
}

/// A duration by which a clock is moved: time does not come to its end by it.
pub(crate) fn travel(rng: &mut Rng) -> String {
    match rng.u8(..8) {
        0 => "24h".into(),
        1 => "-1s".into(),
        2 => "x".into(),
        3 => "10m".into(),
        4 => "15s".into(),
        _ => format!("{}ms", rng.u16(..2_000)),
    }
}

/// Characters that nobody chose, some of which mean something somewhere.
pub(crate) fn anything(rng: &mut Rng, most: usize) -> String {
    const MEANINGFUL: &[char] = &[
        '"', '\\', '/', '%', '&', '=', '?', '#', '{', '}', '[', ']', '(', ')', '$', '*', '+', '.',
        ',', ':', ';', '-', '_', ' ', '\t', '\n', '\r', '\0', '\u{7f}', 'é', '\u{2028}',
        '\u{ffff}', '😀', '0', '9', 'a', 'Z', '<', '>', '\'',
    ];
    let length = rng.usize(..=most);
    (0..length)
        .map(|_| match rng.u8(..8) {
            0 => rng.char(..),
            _ => MEANINGFUL[rng.usize(..MEANINGFUL.len())],
        })
        .collect()
}

/// A filter, or what looks like one.
pub(crate) fn filter(rng: &mut Rng) -> String {
    match rng.u8(..10) {
        0 => anything(rng, 60),
        1 => nested(
            rng,
            &["(", "not (", "not ", "Node == a or ("],
            ")",
            "Node == a",
        ),
        2 => ["not ", "Node == a and ", "Node.", "\"\\"][rng.usize(..4)]
            .repeat(depth(rng).min(5_000)),
        _ => {
            let count = rng.usize(1..5);
            let claims: Vec<String> = (0..count).map(|_| claim(rng)).collect();
            claims.join(one_of(rng, &[" and ", " or ", " and not ", " ", "&&"]))
        }
    }
}

fn claim(rng: &mut Rng) -> String {
    const SELECTORS: &[&str] = &[
        "Node",
        "Meta",
        "Meta.a",
        "ServiceTags",
        "Service.Tags",
        "Service.Meta[\"a\"]",
        "Checks",
        "Checks.Status",
        "ID",
        "Service",
        "ServicePort",
        "Port",
        "Weights.Passing",
        "Name",
        "Status",
        "ServiceName",
        "Tags",
        "Nope",
        "a.b.c",
        "TaggedAddresses",
        "Proxy.Upstreams",
        "Connect.Native",
        "Definition.HTTP",
    ];
    let selector = one_of(rng, SELECTORS);
    let value = match rng.u8(..4) {
        0 => format!("\"{}\"", pattern(rng)),
        1 => format!("`{}`", anything(rng, 10)),
        _ => name(rng),
    };
    match rng.u8(..6) {
        0 => format!("{value} in {selector}"),
        1 => format!("{selector} is empty"),
        2 => format!("{selector} is not empty"),
        _ => {
            let operator = one_of(
                rng,
                &[
                    "==",
                    "!=",
                    "matches",
                    "not matches",
                    "contains",
                    "not contains",
                    "in",
                    "=~",
                ],
            );
            format!("{selector} {operator} {value}")
        }
    }
}

/// A regular expression, or what looks like one.
pub(crate) fn pattern(rng: &mut Rng) -> String {
    const PARTS: &[&str] = &[
        "a",
        "b*",
        "(a|b)",
        "[a-z]",
        "[^a]",
        "\\d",
        "\\pL",
        "\\p{Greek}",
        "^",
        "$",
        ".",
        "a{2,5}",
        "(?i)",
        "(?P<n>a)",
        "\\Q",
        "\\E",
        "x{1000}",
        "(",
        ")",
        "[",
        "]",
        "{",
        "*",
        "+?",
        "\\",
        "[[:alpha:]]",
        "(?:",
        "|",
        "é",
    ];
    match rng.u8(..8) {
        0 => anything(rng, 20),
        1 => nested(rng, &["(", "(?:a|", "(?i:b", "["], ")*", "x"),
        _ => (0..rng.usize(1..6)).map(|_| one_of(rng, PARTS)).collect(),
    }
}

/// A template of a prepared query, or what looks like one.
pub(crate) fn template(rng: &mut Rng) -> String {
    const PARTS: &[&str] = &[
        "${name.full}",
        "${name.prefix}",
        "${match(1)}",
        "${match(",
        "${",
        "}",
        "$${",
        "a",
        "${agent.segment}",
        "${match(0)}",
        "${upper(name.full)}",
        "${1+2}",
        "${name.suffix}",
    ];
    match rng.u8(..6) {
        0 => anything(rng, 20),
        1 => nested(rng, &["${", "${match(", "("], ")}", "1"),
        _ => (0..rng.usize(1..6)).map(|_| one_of(rng, PARTS)).collect(),
    }
}

fn nested(rng: &mut Rng, opens: &[&str], close: &str, inner: &str) -> String {
    let depth = depth(rng).min(20_000);
    let open = one_of(rng, opens);
    let closes = if rng.bool() {
        depth
    } else {
        rng.usize(..=depth)
    };
    open.repeat(depth) + inner + &close.repeat(closes)
}
