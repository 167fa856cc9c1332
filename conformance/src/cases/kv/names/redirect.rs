//! Paths that are cleaned: 301 instead of an answer (kv.md 1.6).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// The first release that may clean paths before they are decoded; certain from 1.20.0 on (1.22.md A1.6).
const V1_19_1: Version = Version::new(1, 19, 1);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/redirect/literal-segments",
        claim: "Doubled slashes and dot segments in a path are 301 to the path without them; nothing is read",
        source: "kv.md 1.6; trap 24",
        run: |t| {
            redirects(
                t,
                &[
                    ("x//y", "x/y"),
                    ("x///y", "x/y"),
                    ("dot/./k", "dot/k"),
                    ("dd/../k2", "k2"),
                    ("a/.", "a"),
                    ("trail//", "trail/"),
                    ("//lead", "lead"),
                ],
            );
        },
        ..Case::MUST
    },
    Case {
        id: "kv/redirect/above-the-key",
        claim: "Dot segments can lead out of the keys, up to the root",
        source: "kv.md 1.6",
        run: |t| {
            for (target, location) in [
                ("/v1/kv/..", "/v1"),
                ("/v1/kv/.", "/v1/kv/"),
                ("/v1/kv/a/..", "/v1/kv/"),
                ("/v1/kv//", "/v1/kv/"),
                ("/v1/kv/../../..", "/"),
                ("/v1//txn", "/v1/txn"),
                ("//v1/kv/a", "/v1/kv/a"),
            ] {
                t.api_get(target)
                    .status_is(t.moved())
                    .header_is("Location", location);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/encoded-segments",
        claim: "Encoded doubled slashes and dot segments are cleaned like literal ones",
        source: "kv.md 1.6; trap 24",
        until: Some(V1_19_1),
        run: |t| {
            redirects(
                t,
                &[
                    ("x%2F%2Fz", "x/z"),
                    ("v/%2Fz", "v/z"),
                    ("dd/%2E%2E/k3", "k3"),
                    ("w%2F..%2Fy", "y"),
                    ("a%2F.", "a"),
                    ("trail%2F%2F", "trail/"),
                ],
            );
            for (target, location) in [
                ("/v1/kv/%2Flead2", "/v1/kv/lead2"),
                ("/v1/kv/%2E", "/v1/kv/"),
                ("/v1/kv/%2E%2E", "/v1"),
            ] {
                t.api_get(target)
                    .status_is(t.moved())
                    .header_is("Location", location);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/of-a-get",
        claim: "A GET is redirected with an HTML link, by exactly these headers",
        source: "kv.md 1.6",
        run: |t| {
            let (target, location) = doubled(t);
            t.api_get(&target)
                .is(t.moved(), &t.moved_page(&location))
                .header_names_are(&["Content-Type", "Location", "Date", "Content-Length"])
                .header_is("Content-Type", "text/html; charset=utf-8")
                .header_is("Location", &location);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/of-a-head",
        claim: "A HEAD is redirected with a Content-Type and no body",
        source: "kv.md 1.6",
        run: |t| {
            let (target, location) = doubled(t);
            t.send(&Request::new("HEAD", &target))
                .is(t.moved(), "")
                .header_names_are(&["Content-Type", "Location", "Date"])
                .header_is("Content-Type", "text/html; charset=utf-8")
                .header_is("Location", &location);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/of-a-write",
        claim: "A PUT, a DELETE and any other method are redirected without a body and a Content-Type, and write nothing",
        source: "kv.md 1.6",
        run: |t| {
            let (target, location) = doubled(t);
            t.put(&t.key("x/y"), "", "kept").is(200, "true");
            for method in ["PUT", "DELETE", "POST", "OPTIONS"] {
                t.send(&Request::new(method, &target).body("v"))
                    .is(t.moved(), "")
                    .header_names_are(&["Location", "Date", "Content-Length"])
                    .header_is("Location", &location);
            }
            t.get(&t.key("x/y"), "raw").is(200, "kept");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/keeps-the-query",
        claim: "A redirect keeps the query as it was sent, even one that does not parse; the link has it HTML-escaped",
        source: "kv.md 1.6",
        run: |t| {
            let (target, location) = doubled(t);
            for (query, link) in [
                ("?raw", "?raw"),
                ("?a=%zz", "?a=%zz"),
                ("?a=1&b=2", "?a=1&amp;b=2"),
                ("?x='", "?x=&#39;"),
            ] {
                let words = t.moved_page(&format!("{location}{link}"));
                t.api_get(&format!("{target}{query}"))
                    .is(t.moved(), &words)
                    .header_is("Location", &format!("{location}{query}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/encodes-the-path-again",
        claim: "The Location is the decoded path, encoded as Go encodes paths",
        source: "kv.md 1.6",
        until: Some(V1_19_1),
        run: |t| {
            redirects(
                t,
                &[
                    ("a%20b//c%2Bd+e%C3%A9", "a%20b/c+d+e%C3%A9"),
                    ("%FF//%25x%23%3f", "%FF/%25x%23%3F"),
                    ("x;y//%22%3C", "x;y/%22%3C"),
                ],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/encodes-forbidden-characters",
        claim: "Characters that no URL may hold as they are are escaped in the Location, except in its query; the link has them HTML-escaped",
        source: "kv.md 1.6",
        until: Some(V1_19_1),
        run: |t| {
            redirects(t, &[("a\"b//c", "a%22b/c"), ("<b>//é", "%3Cb%3E/%C3%A9")]);
            let (target, location) = doubled(t);
            let link = format!("{location}?x=&lt;&#34;&gt;");
            t.api_get(&format!("{target}?x=<\">"))
                .is(t.moved(), &t.moved_page(&link))
                .header_is("Location", &format!("{location}?x=<\">"));
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/encodes-forbidden-characters-twice-since-1-20",
        claim: "Characters that no URL may hold as they are are escaped twice in the Location",
        source: "1.22.md A1.6 [G]",
        since: Version::V1_20,
        run: |t| redirects(t, &[("a\"b//c", "a%2522b/c"), ("<b>//c", "%253Cb%253E/c")]),
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/encodes-the-path-twice-since-1-20",
        claim: "The Location has the escapes of the path escaped once more",
        source: "1.22.md A1.6 [G]",
        since: Version::V1_20,
        run: |t| {
            redirects(
                t,
                &[("a%20b//c%2Bd+e%C3%A9", "a%2520b/c%252Bd+e%25C3%25A9")],
            );
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/of-bytes-in-the-query",
        claim: "A query byte that is not ASCII stands in the Location as an escape in lower case, in the link as it is",
        source: "kv.md 1.6.r15",
        until: Some(V1_19_1),
        run: |t| {
            let (target, location) = doubled(t);
            let (request, body) = (format!("GET {target}?"), format!("<a href=\"{location}?"));
            let request = [request.as_bytes(), b"\xff HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
            let body = [body.as_bytes(), b"\xff\">Moved Permanently</a>.\n\n"].concat();
            t.raw(request)
                .status_is(t.moved())
                .header_is("Location", &format!("{location}?%ff"))
                .body_is_exactly(body);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/redirect/comes-before-the-query",
        claim: "A path that must be cleaned is redirected even when the query or the method would be refused",
        source: "kv.md 0",
        run: |t| {
            let (target, _) = doubled(t);
            t.api_get(&format!("{target}?a=%zz")).status_is(t.moved());
            t.send(&Request::new("POST", &target)).status_is(t.moved());
            t.api_get(&format!("{target}?index=abc"))
                .status_is(t.moved());
        },
        ..Case::REAL
    },
];

/// A target that must be cleaned, and the path it is cleaned to.
fn doubled(t: &Trial) -> (String, String) {
    let target = |name: &str| format!("/v1/kv/{}", t.key(name));
    (target("x//y"), target("x/y"))
}

/// Below the trial's prefix each path is redirected to the other.
fn redirects(t: &Trial, paths: &[(&str, &str)]) {
    for (path, location) in paths {
        let location = format!("/v1/kv/{}", t.key(location));
        t.get(&t.key(path), "")
            .status_is(t.moved())
            .header_is("Location", &location)
            .has_no_header("Vary")
            .has_no_header("X-Consul-Index");
    }
}
