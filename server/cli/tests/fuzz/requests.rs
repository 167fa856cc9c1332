//! Requests to Consul's API: every route, odd methods, queries and headers, and malformed heads.

use fastrand::Rng;

use crate::bodies::{body, broken};
use crate::texts::{anything, duration, filter, name, number, one_of, session};

/// The bytes of a request, and what is due for them.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    /// The answer has no body.
    pub(crate) is_head: bool,
    /// It is a whole request, and one answer is due; else nobody knows what it is.
    pub(crate) is_sound: bool,
    /// It may be one that waits.
    pub(crate) may_wait: bool,
    /// Its answer ends when the client goes.
    pub(crate) is_endless: bool,
}

/// The routes of Consul's API, from the table that is made of all of them.
pub(crate) fn routes() -> Vec<&'static str> {
    let table = include_str!("../../../ROUTES.md").lines();
    let rows = table.filter_map(|line| line.strip_prefix("| `"));
    let routes = rows.filter_map(|row| row.split('`').next());
    let mut routes: Vec<_> = routes.filter(|route| route.starts_with("/v1/")).collect();
    assert!(routes.len() > 100, "the table of routes is found");
    routes.extend([
        "/v1/kv/",
        "/v1/kv/",
        "/v1/txn",
        "/v1/agent/service/register",
        "/v1/catalog/register",
    ]);
    routes.extend([
        "/",
        "/ui/",
        "/ui",
        "/v1/nope",
        "/v1",
        "*",
        "/v1/query/web/execute",
        "/v1/query/a/explain",
    ]);
    routes
}

/// Draws a request to a route.
pub(crate) fn request(rng: &mut Rng, host: &str, route: &str) -> Request {
    let method = method(rng, route);
    let mut path = route.to_owned();
    if route.ends_with('/') || rng.u8(..30) == 0 {
        let name = name(rng);
        path += &escaped(rng, &name);
    }
    let query = query(rng);
    let may_wait = query.contains("index=") || query.contains("wait=") || query.contains("hash=");
    let target = match rng.u8(..60) {
        0 => format!("http://{host}{path}{query}"),
        1 => format!("{path}/../{}{query}", anything(rng, 10)),
        2 => format!("//{path}{query}"),
        _ => path + &query,
    };
    let body = match method {
        "GET" | "HEAD" if rng.u8(..10) > 0 => Vec::new(),
        _ => body(rng, route),
    };
    Request {
        is_endless: ["/v1/agent/monitor", "/v1/agent/metrics/stream"].contains(&route),
        ..finish(rng, host, method, &target, &body, may_wait)
    }
}

fn method(rng: &mut Rng, route: &str) -> &'static str {
    const WRITTEN: &[&str] = &[
        "register",
        "create",
        "destroy",
        "renew",
        "fire",
        "pass/",
        "warn/",
        "fail/",
        "update",
        "join",
        "maintenance",
        "reload",
        "force-leave",
        "token",
        "txn",
        "config",
    ];
    let usual = match route {
        "/v1/kv/" | "/v1/query/" | "/v1/query" => {
            one_of(rng, &["GET", "PUT", "PUT", "DELETE", "POST"])
        }
        _ if WRITTEN.iter().any(|word| route.contains(word)) => "PUT",
        _ => "GET",
    };
    let method = match rng.u8(..25) {
        0 => one_of(
            rng,
            &[
                "HEAD", "OPTIONS", "PATCH", "POST", "DELETE", "CONNECT", "TRACE", "get", "NOPE",
                "PRI",
            ],
        ),
        1 => "GET",
        2 | 3 => "PUT",
        _ => usual,
    };
    // It would end the server.
    if route == "/v1/agent/leave" && method == "PUT" {
        "GET"
    } else {
        method
    }
}

/// A query with parameters that mean something, mostly.
fn query(rng: &mut Rng) -> String {
    let mut query = String::new();
    for place in 0..rng.usize(0..4) {
        query.push(if place == 0 { '?' } else { '&' });
        let pair = match rng.u8(..24) {
            0 => format!("filter={}", percent(&filter(rng))),
            1 => format!("index={}", number(rng)),
            2 => format!("wait={}", duration(rng)),
            3 => one_of(
                rng,
                &[
                    "recurse",
                    "keys",
                    "raw",
                    "stale",
                    "consistent",
                    "pretty",
                    "cached",
                    "leader",
                ],
            )
            .into(),
            4 => format!("separator={}", percent(&anything(rng, 2))),
            5 => format!("cas={}", number(rng)),
            6 => format!("flags={}", number(rng)),
            7 => format!(
                "{}={}",
                one_of(rng, &["acquire", "release", "session"]),
                session(rng)
            ),
            8 => format!("dc={}", one_of(rng, &["dc1", "dc2", "", "DC1"])),
            9 => format!(
                "{}={}",
                one_of(
                    rng,
                    &[
                        "passing",
                        "tag",
                        "near",
                        "node-meta",
                        "ns",
                        "partition",
                        "peer"
                    ]
                ),
                name(rng)
            ),
            10 => format!("node={}", percent(&crate::texts::pattern(rng))),
            11 => format!(
                "{}={}",
                one_of(
                    rng,
                    &["enable", "reason", "note", "limit", "hash", "token", "wan"]
                ),
                number(rng)
            ),
            12 => percent(&anything(rng, 20)),
            13 => one_of(rng, &[";", "%", "%zz", "a;b=c", "=", "&&", "%00", "+"]).into(),
            14 => format!(
                "{}={}",
                "a".repeat(rng.usize(..2_000)),
                "&".repeat(rng.usize(..2_000))
            ),
            _ => continue,
        };
        query += &pair;
    }
    query
}

/// A path's part as programs write it, mostly.
fn escaped(rng: &mut Rng, text: &str) -> String {
    match rng.u8(..8) {
        0 => percent(text),
        1 => text.to_owned(),
        _ => percent(text).replace("%2F", "/"),
    }
}

/// Every byte that is no letter or digit, as `%XX`.
fn percent(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// The whole request: with headers, chunks now and then, and sometimes with a byte of the head changed.
pub(crate) fn finish(
    rng: &mut Rng,
    host: &str,
    method: &str,
    target: &str,
    body: &[u8],
    may_wait: bool,
) -> Request {
    let version = if rng.u8(..40) == 0 { "1.0" } else { "1.1" };
    let mut head = format!("{method} {target} HTTP/{version}\r\nHost: {host}\r\n");
    let mut is_sound =
        !target.contains([' ', '\t', '\n', '\r', '\0', '\u{7f}']) && target.is_ascii();
    let mut body = body.to_vec();
    for _ in 0..rng.usize(0..3) {
        head += &header(rng);
    }
    match rng.u8(..40) {
        0..4 => {
            head += "Transfer-Encoding: chunked\r\n";
            body = chunked(rng, &body);
            // What precedes HTTP/1.1 knows no chunks.
            is_sound &= version == "1.1";
        }
        4 => {
            head += &oddity(rng);
            head += &format!("Content-Length: {}\r\n", body.len());
            is_sound = false;
        }
        _ => head += &format!("Content-Length: {}\r\n", body.len()),
    }
    head += "\r\n";
    let mut head = head.into_bytes();
    if rng.u8(..60) == 0 {
        head = broken_head(rng, head);
        is_sound = false;
    }
    // The body of a CONNECT or of what looks like HTTP/2 is anybody's guess.
    is_sound &= !matches!(method, "CONNECT" | "PRI") && !target.contains('*');
    head.extend_from_slice(&body);
    Request {
        bytes: head,
        is_head: method == "HEAD",
        is_sound,
        may_wait,
        is_endless: false,
    }
}

fn broken_head(rng: &mut Rng, head: Vec<u8>) -> Vec<u8> {
    let place = rng.usize(..head.len());
    let mut broken_head = head.clone();
    broken_head[place] = rng.u8(..);
    match rng.u8(..3) {
        0 => broken(rng, head),
        1 => broken_head,
        _ => head[..place].to_vec(),
    }
}

/// A header that changes nothing about how the request ends.
fn header(rng: &mut Rng) -> String {
    match rng.u8(..12) {
        0 => "Accept-Encoding: gzip\r\n".into(),
        1 => format!("X-Consul-Token: {}\r\n", session(rng)),
        2 => "Content-Type: application/json\r\n".into(),
        3 => format!("Cache-Control: max-age={}\r\n", rng.u16(..)),
        4 => format!("X-Odd: {}\r\n", "y".repeat(rng.usize(..5_000))),
        5 => format!("X-Folded: a\r\n{}", " b\r\n".repeat(rng.usize(..300))),
        6 => "X-Consul-Namespace: a\r\n".into(),
        7 => "X-Many: 1\r\n".repeat(rng.usize(..300)),
        8 => "Connection: keep-alive\r\n".into(),
        9 => format!(
            "Accept: {}\r\n",
            one_of(rng, &["*/*", "application/openmetrics-text", "text/html"])
        ),
        _ => String::new(),
    }
}

/// Headers after which nobody knows how the request goes on.
fn oddity(rng: &mut Rng) -> String {
    one_of(
        rng,
        &[
            "Expect: 100-continue\r\n",
            "Expect: 200-ok\r\n",
            "Content-Length: 5\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: gzip\r\n",
            "Host: b\r\n",
            "Connection: close\r\n",
            "Connection: upgrade\r\nUpgrade: h2c\r\n",
            "Trailer: Content-Length\r\n",
            "No colon\r\n",
            ": empty\r\n",
            " folded first\r\n",
            "Bad\u{1}Name: a\r\n",
        ],
    )
    .into()
}

fn chunked(rng: &mut Rng, body: &[u8]) -> Vec<u8> {
    let mut chunked = Vec::new();
    let size = rng.usize(1..5_000);
    for piece in body.chunks(size) {
        let extension = if rng.u8(..20) == 0 { ";a=b" } else { "" };
        chunked.extend_from_slice(format!("{:x}{extension}\r\n", piece.len()).as_bytes());
        chunked.extend_from_slice(piece);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    chunked
}
