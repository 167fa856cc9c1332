//! Two runs of the same say the same; whatever matters still differs.

use std::time::Duration;

use super::*;
use crate::wire::Framing;
use crate::wire::transcript::Names;

const S1: &str = "0a1b2c3d-1111-2222-3333-444455556666";
const S2: &str = "ffffeeee-1111-2222-3333-444455556666";

struct WakeSignal(Transcript);

impl WakeSignal {
    fn new(tag: &str) -> Self {
        Self(Transcript {
            names: Names {
                tag: tag.to_owned(),
                host: "127.0.0.1:9000".to_owned(),
                node: "agent-1".to_owned(),
                other_nodes: vec!["agent-1-1".to_owned(), "far".to_owned()],
            },
            ..Transcript::default()
        })
    }

    fn say(mut self, request: &str, status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.0.lines.push(Line::Exchange(Exchange {
            sent: format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:9000\r\n\r\n").into_bytes(),
            outcome: Some(Outcome::Reply(Reply {
                version: "HTTP/1.1".to_owned(),
                status,
                reason: "OK".to_owned(),
                headers: headers.collect(),
                body: body.as_bytes().to_vec(),
                framing: Framing::Length,
            })),
            took: Duration::ZERO,
            superseded: false,
        }));
        self
    }

    fn lines(&self) -> Vec<String> {
        normalize(&self.0)
    }
}

fn create(id: &str) -> String {
    format!("{{\"ID\":\"{id}\"}}")
}

#[test]
fn names_sessions_and_indexes_become_references() {
    let told = WakeSignal::new("aa-1")
        .say("PUT /v1/session/create", 200, &[], &create(S1))
        .say(
            &format!("PUT /v1/kv/c/aa-1/k?acquire={S1}"),
            200,
            &[("Date", "Sat")],
            "true",
        )
        .say(
            "GET /v1/kv/c/aa-1/k?index=7",
            200,
            &[("X-Consul-Index", "21"), ("Content-Length", "70")],
            &format!(
                "[{{\"LockIndex\":1,\"Session\":\"{S1}\",\"CreateIndex\":20,\"ModifyIndex\":21}}]"
            ),
        );
    let lines = told.lines();
    for expected in [
        "> PUT /v1/kv/c/<run>/k?acquire=<session:1> HTTP/1.1",
        "> Host: <host>",
        "< Date: <date>",
        "> GET /v1/kv/c/<run>/k?index=7 HTTP/1.1",
        "< X-Consul-Index: <index:2>",
        "< [{\"LockIndex\":1,\"Session\":\"<session:1>\",\"CreateIndex\":<index:1>,\"ModifyIndex\":<index:2>}]",
        // Not the true length, so it stands as it came.
        "< Content-Length: 70",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "no {expected} in {lines:#?}"
        );
    }
}

fn pair(tag: &str, first: &str, second: &str, indexes: [u64; 3]) -> Vec<String> {
    let [a, b, c] = indexes;
    WakeSignal::new(tag)
        .say("PUT /v1/session/create", 200, &[], &create(first))
        .say("PUT /v1/session/create", 200, &[], &create(second))
        .say(
            &format!("GET /v1/kv/{tag}"),
            200,
            &[("X-Consul-Index", &a.to_string())],
            "",
        )
        .say(
            &format!("PUT /v1/kv/{tag}?cas={a}"),
            200,
            &[("X-Consul-Index", &b.to_string())],
            "",
        )
        .say(
            &format!("GET /v1/kv/{tag}?cas={}", b + 1),
            200,
            &[("X-Consul-Index", &c.to_string())],
            second,
        )
        .lines()
}

#[test]
fn two_runs_agree_when_only_chance_differs() {
    let one = pair("aa-1", S1, S2, [5, 9, 9]);
    assert_eq!(one, pair("bb-77", S2, S1, [500, 20_000, 20_000]));
}

#[test]
fn order_and_identity_still_differ() {
    let one = pair("aa-1", S1, S2, [5, 9, 9]);
    assert_ne!(one, pair("aa-1", S1, S2, [5, 9, 12]), "an index that moved");
    assert_ne!(one, pair("aa-1", S1, S2, [9, 5, 5]), "an index that fell");
    assert_ne!(
        one,
        pair("aa-1", S1, S1, [5, 9, 9]),
        "the same session twice"
    );
    assert_ne!(
        one,
        pair("aa-1", S1, &S2.to_uppercase(), [5, 9, 9]),
        "another spelling"
    );
}

#[test]
fn zero_and_constants_stay_and_neighbours_keep_their_distance() {
    let told = WakeSignal::new("t")
        .say("GET /v1/kv/k", 200, &[("X-Consul-Index", "30")], "")
        .say("PUT /v1/kv/k?cas=0", 200, &[], "")
        .say("PUT /v1/kv/k?cas=31", 200, &[], "")
        .say("PUT /v1/kv/k?flags=1&cas=29", 200, &[], "")
        .say("GET /v1/kv/k?index=007", 200, &[], "")
        .say("GET /v1/kv/k?index=30.5", 200, &[], "")
        .say("GET /v1/kv/k?index=0030", 200, &[], "")
        .say("GET /v1/kv/k?index=00", 200, &[], "")
        .say("GET /v1/kv/k?index=4000000000", 200, &[], "");
    let lines = told.lines().join("\n");
    for expected in [
        "?cas=0 ",
        "?cas=<index:1>+1 ",
        "&cas=<index:1>-1 ",
        "?index=007 ",
        "?index=30.5 ",
        "?index=00<index:1> ",
        "?index=00 ",
        "?index=4000000000 ",
    ] {
        assert!(lines.contains(expected), "no {expected} in {lines}");
    }
}

#[test]
fn presence_counts_even_where_values_vary() {
    let with = WakeSignal::new("t").say(
        "GET /",
        200,
        &[("Date", "Sat"), ("Content-Length", "0")],
        "",
    );
    let other = WakeSignal::new("t").say(
        "GET /",
        200,
        &[("Date", "Sun"), ("Content-Length", "0")],
        "",
    );
    let without = WakeSignal::new("t").say("GET /", 200, &[("Content-Length", "0")], "");
    assert_eq!(with.lines(), other.lines());
    assert_ne!(with.lines(), without.lines());
    assert!(
        with.lines()
            .contains(&"< Content-Length: <length>".to_owned())
    );
}

#[test]
fn lists_sorted_by_chance_are_sorted_by_appearance() {
    let list = |first: &str, second: &str, one: &str, two: &str| {
        WakeSignal::new("t")
            .say("PUT /v1/session/create", 200, &[], &create(first))
            .say("PUT /v1/session/create", 200, &[], &create(second))
            .say(
                "GET /v1/session/list",
                200,
                &[],
                &format!("[\n    {{\n        \"ID\": \"{one}\"\n    }},\n    {{\n        \"ID\": \"{two}\"\n    }}\n]\n"),
            )
            .lines()
    };
    assert_eq!(list(S1, S2, S1, S2), list(S2, S1, S1, S2));
    let keys = |one: &str, two: &str| {
        WakeSignal::new("t")
            .say(
                "GET /v1/kv/?keys",
                200,
                &[],
                &format!("[\"{one}\",\"{two}\"]"),
            )
            .lines()
    };
    assert_ne!(
        keys("a", "b"),
        keys("b", "a"),
        "an order that is not left to chance"
    );
}

#[test]
fn values_in_which_an_id_hides_are_decoded_and_others_are_not() {
    let hidden = STANDARD.encode(format!("{{\"Holder\":\"{S1}\"}}"));
    let told = WakeSignal::new("t")
        .say("PUT /v1/session/create", 200, &[], &create(S1))
        .say(
            "GET /v1/kv/a",
            200,
            &[],
            &format!("[{{\"Value\": \"{hidden}\"}},{{\"Value\": \"YQ==\"}}]"),
        );
    let lines = told.lines().join("\n");
    assert!(
        lines.contains("<base64 of {\"Holder\":\"<session:1>\"}>"),
        "{lines}"
    );
    assert!(lines.contains("\"YQ==\""), "{lines}");
}

#[test]
fn a_final_newline_counts_and_long_bodies_keep_a_hash() {
    let body = |body: &str| WakeSignal::new("t").say("GET /", 200, &[], body).lines();
    assert_ne!(body("true"), body("true\n"));
    let long = "x".repeat(SHOWN + 1);
    assert!(
        body(&long)
            .iter()
            .any(|line| line.contains("<16385 bytes, hash "))
    );
    assert_ne!(body(&long), body(&format!("{}y", &long[1..])));
}

#[test]
fn chunks_count_by_what_they_hold() {
    let sent = |chunks: &str| {
        let mut told = WakeSignal::new("t").say("PUT /a", 200, &[], "");
        if let Line::Exchange(exchange) = &mut told.0.lines[0] {
            let head = "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
            exchange.sent = format!("{head}{chunks}").into_bytes();
        }
        told.lines()
    };
    let one = sent("3\r\nabc\r\n0\r\n\r\n");
    assert!(one.contains(&"> abc".to_owned()), "{one:?}");
    assert_eq!(one, sent("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"));
    assert_ne!(one, sent("4\r\nabcd\r\n0\r\n\r\n"));
    let cut = sent("5\r\nab");
    assert!(
        cut.contains(&"> 5\\r".to_owned()),
        "what is no chunk stays: {cut:?}"
    );
}

fn packed(text: &str, level: flate2::Compression) -> Vec<u8> {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
    packer.write_all(text.as_bytes()).expect("memory takes it");
    packer.finish().expect("memory takes it")
}

#[test]
fn events_are_told_apart_by_their_order() {
    fn header(index: &str) -> [(&str, &str); 1] {
        [("X-Consul-Index", index)]
    }
    let told = |ltime: u64, index: u64| {
        let list = |index: u64, times: &[u64]| {
            let shown: Vec<String> = times
                .iter()
                .map(|time| format!("{{\"LTime\":{time}}}"))
                .collect();
            (index.to_string(), format!("[{}]", shown.join(",")))
        };
        let (none, one, two) = (
            list(1, &[]),
            list(index, &[ltime]),
            list(index / 2, &[ltime, ltime + 3]),
        );
        let waiting = format!("GET /v1/event/list?name=a&index={}", index - 1);
        WakeSignal::new("t-1")
            .say("GET /v1/event/list?name=a", 200, &header(&none.0), &none.1)
            .say("GET /v1/event/list?name=a", 200, &header(&one.0), &one.1)
            .say(&waiting, 200, &header(&two.0), &two.1)
            .say("GET /v1/kv/a", 200, &header("5"), "")
            .lines()
            .join("\n")
    };
    let lines = told(7, 1 << 60);
    assert_eq!(lines, told(70, 9000));
    for part in [
        "X-Consul-Index: <index:1>\n",
        "X-Consul-Index: <event-index:1>\n",
        "&index=<event-index:1>-1 HTTP",
        "X-Consul-Index: <event-index:2>\n<\n< [{\"LTime\":<time:1>},{\"LTime\":<time:2>}]",
        "X-Consul-Index: <index:2>",
    ] {
        assert!(lines.contains(part), "no {part} in {lines}");
    }
}

#[test]
fn what_is_packed_counts_by_what_it_holds() {
    let say = |body: Vec<u8>| {
        let length = body.len().to_string();
        let headers = [
            ("Content-Encoding", "gzip"),
            ("Content-Length", length.as_str()),
        ];
        let mut told = WakeSignal::new("t-1").say("GET /a", 200, &headers, "");
        if let Line::Exchange(Exchange {
            outcome: Some(Outcome::Reply(reply)),
            ..
        }) = &mut told.0.lines[0]
        {
            reply.body = body;
        }
        told.lines()
    };
    let text = "of t-1: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let fast = packed(text, flate2::Compression::none());
    let best = packed(text, flate2::Compression::best());
    assert_ne!(fast, best);
    assert_eq!(say(fast), say(best.clone()));
    assert!(
        say(best)
            .join("\n")
            .contains("< <gzip of what follows>\n<\n< of <run>: aaa")
    );
    let indexed = packed("[{\"ModifyIndex\": 4711}]", flate2::Compression::best());
    let indexed = say(indexed).join("\n");
    assert!(
        indexed.ends_with("\"ModifyIndex\": <index:1>}]"),
        "{indexed}"
    );
    let broken = say(b"no gzip of t-1".to_vec()).join("\n");
    assert!(broken.ends_with("< no gzip of <run>"), "{broken}");
}

#[test]
fn bytes_that_are_no_text_keep_their_references() {
    let mut told = WakeSignal::new("t-1").say("GET /a", 200, &[], "");
    if let Line::Exchange(Exchange {
        outcome: Some(Outcome::Reply(reply)),
        ..
    }) = &mut told.0.lines[0]
    {
        reply.body = b"/t-1/\xff".to_vec();
    }
    assert!(told.lines().contains(&"< /<run>/\\xff".to_owned()));
}

#[test]
fn replaced_looks_and_times_are_left_out() {
    let mut told = WakeSignal::new("t")
        .say("GET /a", 200, &[], "")
        .say("GET /b", 200, &[], "");
    if let Line::Exchange(exchange) = &mut told.0.lines[0] {
        exchange.superseded = true;
    }
    told.0.lines.push(Line::Note("time passes: 3s".to_owned()));
    let lines = told.lines().join("\n");
    assert!(!lines.contains("/a") && lines.contains("/b"), "{lines}");
    assert!(!lines.contains("time"), "{lines}");
}

#[test]
fn ports_are_references_and_the_inside_of_a_process_is_left_out() {
    let told = |port: u16, goroutines: u32| {
        WakeSignal::new("t")
            .say(
                "GET /v1/agent/members",
                200,
                &[],
                &format!("[{{\"Port\": {port}, \"port\": \"{}\"}}]", port + 1),
            )
            .say(
                "GET /v1/agent/self",
                200,
                &[],
                &format!("{{\"goroutines\":{goroutines}}}"),
            )
            .say("GET /v1/agent/self?ns=x", 400, &[], "refused")
            .lines()
    };
    let lines = told(8300, 70);
    assert_eq!(lines, told(41_000, 75));
    let lines = lines.join("\n");
    assert!(
        lines.contains("{\"Port\": <port:1>, \"port\": \"<port:2>\"}"),
        "{lines}"
    );
    assert!(
        lines.contains("the inside of one process") && lines.contains("refused"),
        "{lines}"
    );
}

#[test]
fn texts_of_chance_are_references() {
    let told = |one: &str, two: &str| {
        let body =
            format!("[{{\"Hash\": \"{one}\"}},{{\"Hash\":\"{two}\",\"CreateTime\":\"12:00\"}}]");
        WakeSignal::new("t")
            .say("GET /v1/acl/tokens", 200, &[], &body)
            .lines()
    };
    assert_eq!(told("a", "b"), told("x", "y"));
    assert_ne!(told("a", "b"), told("a", "a"));
    assert!(told("a", "b").join("").contains("\"CreateTime\": <time:1>"));
}

#[test]
fn long_lines_of_heads_keep_a_hash() {
    let path = format!("GET /{}", "x".repeat(SHOWN));
    let lines = WakeSignal::new("t").say(&path, 414, &[], "").lines();
    assert!(
        lines[0].len() < 60 && lines[0].contains("hash"),
        "{}",
        lines[0]
    );
}

#[test]
fn only_whole_words_are_names() {
    let lines = WakeSignal::new("t-1")
        .say(
            "GET /t-1/t-12/agent-1/agent-10/xagent-1/AGENT-1/agent-1-1/far",
            200,
            &[],
            "",
        )
        .lines();
    assert_eq!(
        lines[0],
        "> GET /<run>/t-12/<node>/agent-10/xagent-1/<NODE>/<node:2>/<node:3> HTTP/1.1"
    );
}

#[test]
fn an_index_that_the_target_repeats_is_a_reference_and_a_constant_stays() {
    let told = WakeSignal::new("aa-1")
        .say("GET /v1/kv/k", 200, &[("X-Consul-Index", "20")], "")
        .say(
            "PUT /v1/txn",
            409,
            &[("X-Consul-Index", "21")],
            "current modify index 21 != 20, current modify index 21 != 1",
        );
    let repeated =
        "< current modify index <index:2> != <index:1>, current modify index <index:2> != 1";
    let lines = told.lines();
    assert!(lines.iter().any(|line| line == repeated), "{lines:?}");
}

#[test]
fn hashes_of_services_are_references_wherever_they_stand() {
    let hash = "9a3381ad6dda54c4";
    let body = format!("{{\"ContentHash\": \"{hash}\"}}");
    let lines = WakeSignal::new("t")
        .say(
            &format!("GET /a?hash={hash}&wait=1s"),
            200,
            &[("X-Consul-Contenthash", hash)],
            &body,
        )
        .say("GET /a?hash=other", 200, &[], "")
        .lines()
        .join("\n");
    for part in [
        "> GET /a?hash=<hash:1>&wait=1s HTTP/1.1",
        "< X-Consul-Contenthash: <hash:1>",
        "{\"ContentHash\": <hash:1>}",
        "> GET /a?hash=other HTTP/1.1",
    ] {
        assert!(lines.contains(part), "no {part} in:\n{lines}");
    }
}
