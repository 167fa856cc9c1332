//! The value of a write: its bytes, its framing and its limit (kv.md 2.2).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/put/empty-value-is-null",
        claim: "An empty value is printed as null, never as an empty text, however the body came to be empty",
        source: "kv.md 1.3, 2.2",
        run: |t| {
            let key = t.key("k");
            let put = Request::new("PUT", &format!("/v1/kv/{key}"));
            for request in [put.clone(), put.clone().body(""), put.chunked(&[])] {
                t.put(&key, "", "full").is(200, "true");
                t.send(&request).is(200, "true");
                t.get(&key, "").entry().value_is_null();
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/value/content-type-says-nothing",
        claim: "The body is stored to the byte, whatever Content-Type the request gives",
        source: "kv.md 2.2",
        run: |t| {
            let key = t.key("k");
            for content_type in [
                "application/x-www-form-urlencoded",
                "application/json; charset=latin1",
                "multipart/form-data; boundary=x",
                "nonsense",
            ] {
                let body = format!("a=b&c=%20d+{content_type}\r\n");
                let put = Request::put(&format!("/v1/kv/{key}"), &body);
                t.send(&put.header("Content-Type", content_type))
                    .is(200, "true");
                t.get(&key, "raw").is(200, &body);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/value/chunked-body",
        claim: "A chunked body is stored like any other",
        source: "kv.md 2.2",
        run: |t| {
            let key = t.key("k");
            let put = Request::new("PUT", &format!("/v1/kv/{key}"));
            t.send(&put.chunked(&[b"ab", b"c", b"\0\xff", &[b'x'; 5000]]))
                .is(200, "true");
            let expected = [&b"abc\0\xff"[..], &[b'x'; 5000]].concat();
            t.get(&key, "raw").body_is_exactly(expected);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/value/the-limit-itself-fits",
        claim: "A value of exactly kv_max_value_size bytes (512 KiB unless configured) is stored",
        source: "kv.md 2.2",
        run: |t| {
            let (key, limit) = (t.key("k"), limit(t));
            let value = vec![b'v'; limit];
            t.put(&key, "", &value).is(200, "true");
            t.get(&key, "raw").status_is(200).body_is_exactly(&value);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/value/over-the-limit-is-413",
        claim: "A Content-Length over the limit is 413 with both sizes in its text, and nothing is written",
        source: "kv.md 2.2",
        run: |t| {
            let (key, limit) = (t.key("k"), limit(t));
            let over = limit + 1;
            let text = format!(
                "Request body({over} bytes) too large, max size: {limit} bytes. See https://"
            );
            let answer = t.put(&key, "", vec![b'v'; over]).says(413, &text);
            answer.header_is("Content-Type", "text/plain; charset=utf-8");
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/value/limit-words",
        claim: "The text about the limit ends with a link to the option",
        source: "kv.md 2.2",
        until: Some(Version::V1_12),
        run: |t| limit_words(t, "www.consul.io/docs/agent/options.html"),
        ..Case::REAL
    },
    Case {
        id: "kv/value/limit-words-since-1-12",
        claim: "The text about the limit ends with a link to the option in its new place",
        source: "1.22.md A2 [H]",
        since: Version::V1_12,
        until: Some(Version::new(1, 21, 1)),
        run: |t| limit_words(t, "www.consul.io/docs/agent/config/config-files"),
        ..Case::REAL
    },
    Case {
        id: "kv/value/limit-words-since-1-22",
        claim: "The text about the limit ends with a link to the option on the developer host",
        source: "1.22.md A2 [S] [H]",
        since: Version::V1_22,
        run: |t| limit_words(t, "developer.hashicorp.com/docs/agent/config/config-files"),
        ..Case::REAL
    },
    Case {
        id: "kv/value/refused-before-the-body",
        claim: "A body over the limit is refused before it is read, without a 100 Continue, and the connection is closed",
        source: "kv.md 2.2",
        run: |t| {
            let over = limit(t) + 1;
            let mut connection = t.connect();
            connection.send(head(t, "", over, "Expect: 100-continue\r\n").as_bytes());
            connection
                .answer()
                .status_is(413)
                .header_is("Connection", "close");
            connection.answer().is_closed();
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/continues-when-it-fits",
        claim: "A client that expects 100 Continue gets it before a body that fits, and its value is stored",
        source: "kv.md 2.2",
        run: |t| {
            let mut connection = t.connect();
            connection.send(head(t, "", 5, "Expect: 100-continue\r\n").as_bytes());
            connection.answer().status_is(100);
            connection.send(b"value");
            connection.answer().is(200, "true");
            t.get(&t.key("k"), "raw").is(200, "value");
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/value/limit-comes-after-the-numbers",
        claim: "The size of a body is looked at after flags and cas, and before the datacenter",
        source: "kv.md 2.1",
        run: |t| {
            let over = limit(t) + 1;
            t.raw(head(t, "?cas=bad", over, ""))
                .is(500, "strconv.ParseUint: parsing \"bad\": invalid syntax");
            t.raw(head(t, "?dc=conformance-nowhere", over, ""))
                .says(413, "too large");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/unread-bodies-end-the-connection",
        claim: "A refusal that leaves more than 256 KiB of body unread closes the connection, whatever it refuses",
        source: "1.22.md A2 [G]",
        run: |t| {
            let length = 256 * 1024 + 1;
            for query in [
                "?cas=bad",
                "?ns=x",
                "?cas=0&acquire=x",
                "?index=abc",
                "?a=%zz",
            ] {
                let mut connection = t.connect();
                connection.send(head(t, query, length, "").as_bytes());
                connection
                    .answer()
                    .status_is_one_of(&[400, 500])
                    .header_is("Connection", "close");
                connection.answer().is_closed();
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/read-bodies-keep-the-connection",
        claim: "A refusal that leaves less than 256 KiB of body unread swallows it and keeps the connection",
        source: "1.22.md A2 [G]",
        run: |t| {
            let length = 256 * 1024 - 1;
            let mut connection = t.connect();
            for query in [
                "?cas=bad",
                "?ns=x",
                "?cas=0&acquire=x",
                "?index=abc",
                "?a=%zz",
            ] {
                connection.send(head(t, query, length, "").as_bytes());
                connection.send(&vec![b'v'; length]);
                connection
                    .answer()
                    .status_is_one_of(&[400, 500])
                    .has_no_header("Connection");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/chunked-bodies-have-no-limit",
        claim: "Only the Content-Length is held against the limit: a chunked body of three times as much is stored",
        source: "kv.md 2.2; trap 26",
        until: Some(Version::V1_22),
        run: |t| {
            let key = t.key("k");
            let chunk = vec![b'v'; limit(t)];
            chunked(t, &key, &[&chunk, &chunk, &chunk]).is(200, "true");
            t.get(&key, "raw")
                .status_is(200)
                .body_is_exactly(chunk.repeat(3));
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/chunked-limit-since-1-22",
        claim: "A chunked body may have one byte more than the limit; one of two more is 413 with a text of its own",
        source: "1.22.md A2 [D] [G]",
        since: Version::V1_22,
        run: |t| {
            let (key, limit) = (t.key("k"), limit(t));
            let value = vec![b'v'; limit + 2];
            chunked(t, &key, &[&value[..limit], b"v"]).is(200, "true");
            t.get(&key, "raw")
                .header_is("Content-Length", &(limit + 1).to_string());
            let text = format!("Request body too large. Max allowed is {limit} bytes.");
            chunked(t, &t.key("other"), &[&value]).is(413, &text);
            t.get(&t.key("other"), "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/value/large-values-burn-several-indexes",
        claim: "A write that does not fit one raft entry of 512 KiB consumes several indexes, and the last is its ModifyIndex",
        source: "kv.md 2.2; trap 26",
        run: |t| {
            let (key, probe) = (t.key("k"), t.key("probe"));
            t.put(&probe, "", "before").is(200, "true");
            let before = t.get(&probe, "").index();
            t.put(&key, "", vec![b'v'; limit(t)]).is(200, "true");
            let entry = t.get(&key, "").entry().is_as_created();
            t.grew("ModifyIndex", before + 1, entry.modify_index);
            t.put(&probe, "", "after").is(200, "true");
            t.grew("index", entry.modify_index, t.get(&probe, "").index());
        },
        ..Case::REAL
    },
];

/// What the server says it takes at most (`kv_max_value_size`), so that the cases hold wherever it is configured.
fn limit(t: &Trial) -> usize {
    let answer = t.raw(head(t, "", 1_000_000_000_000, ""));
    let text = answer.says(413, "max size: ").text();
    let number = text
        .split_once("max size: ")
        .and_then(|(_, rest)| rest.split_once(' '))
        .and_then(|(number, _)| number.parse().ok());
    t.check(number.is_some(), format!("no limit in {text:?}"));
    number.unwrap_or_default()
}

/// A head of a PUT that announces so many bytes.
fn head(t: &Trial, query: &str, length: usize, more: &str) -> String {
    let (key, host) = (t.key("k"), t.host());
    format!(
        "PUT /v1/kv/{key}{query} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {length}\r\n\r\n"
    )
}

fn chunked(t: &Trial, key: &str, chunks: &[&[u8]]) -> Answer {
    t.send(&Request::new("PUT", &format!("/v1/kv/{key}")).chunked(chunks))
}

fn limit_words(t: &Trial, place: &str) {
    let limit = limit(t);
    let over = limit + 1;
    t.raw(head(t, "", over, "")).is(
        413,
        &format!(
            "Request body({over} bytes) too large, max size: {limit} bytes. See https://{place}#kv_max_value_size."
        ),
    );
}
