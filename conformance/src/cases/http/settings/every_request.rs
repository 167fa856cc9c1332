//! What an agent's settings change for every request (kv.md 0, 2.2, 6.4, 6.6).

use serde_json::Value;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::wire::Request;

/// Nobody but another network may write.
const READ_ONLY: &str = r#"{"http_config": {"allow_write_http_from": ["192.0.2.0/24"]}}"#;
const BLOCKED: &str = r#"{"http_config": {"block_endpoints": ["/v1/kv/blocked", "/v1/txn"]}}"#;
const HEADERS: &str = r#"{"http_config": {"response_headers": {"X-Conformance": "yes"}}}"#;
/// Headers that answers have by themselves, in the order in which they are sent.
const OWN_HEADERS: &str = r#"{"http_config": {"response_headers":
    {"Content-Type": "my/type", "Date": "today", "Vary": "mine", "X-Consul-Index": "mine"}}}"#;
/// The most that a value may have, in bytes; not a power of two.
const LARGER: usize = 2_000_000;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "settings/block-endpoints/is-403",
        claim: "A path that begins like a blocked one is 403, whatever the method; others are served",
        source: "kv.md 0.6",
        settings: BLOCKED,
        run: |t| {
            let text = "Endpoint is blocked by agent configuration";
            for target in [
                "/v1/kv/blocked",
                "/v1/kv/blockedzz",
                "/v1/kv/blocked/x",
                "/v1/kv/%62locked",
            ] {
                for method in ["GET", "PUT", "OPTIONS", "POST"] {
                    t.send(&Request::new(method, target))
                        .is(403, text)
                        .header_is("Vary", "Accept-Encoding")
                        .has_no_header("Allow");
                }
            }
            t.txn(&serde_json::json!([])).is(403, text);
            t.get("block", "").is(404, "");
            t.put("other/blocked", "", "v").is(200, "true");
        },
        ..Case::SHOULD
    },
    Case {
        id: "settings/block-endpoints/order",
        claim: "A blocked path is cleaned and its query is parsed before it is refused",
        source: "kv.md 0",
        settings: BLOCKED,
        run: |t| {
            t.get("blocked", "a=%zz").is(500, "");
            t.get("/blocked", "").status_is(t.moved());
            t.get("blocked%00", "").is(400, "");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/allow-write-http-from/is-403",
        claim: "Who may not write may read and ask for methods, but PUT and DELETE are 403 before their parameters are looked at",
        source: "kv.md 0.9",
        settings: READ_ONLY,
        run: |t| {
            let text = "Access is restricted";
            t.get("k", "").is(404, "");
            t.send(&Request::new("OPTIONS", "/v1/kv/k")).is(200, "");
            t.put("k", "", "v").is(403, text);
            t.put("k", "index=abc", "v").is(403, text);
            t.delete("k", "").is(403, text);
            t.txn(&serde_json::json!([])).is(403, text);
            t.get("k", "").is(404, "");
        },
        ..Case::SHOULD
    },
    Case {
        id: "settings/allow-write-http-from/order",
        claim: "Redirects, queries that do not parse and wrong methods are answered before it counts who writes",
        source: "kv.md 0",
        settings: READ_ONLY,
        run: |t| {
            t.put("x//y", "", "v").status_is(t.moved());
            t.put("k", "a=%zz", "v").is(500, "");
            t.send(&Request::new("POST", "/v1/kv/k"))
                .is(405, "method POST not allowed");
            t.send(&Request::new("HEAD", "/v1/kv/k")).is(405, "");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/on-endpoints",
        claim: "response_headers stand on every answer of an endpoint, also on errors, but not on redirects and unprintable paths",
        source: "kv.md 0.4",
        settings: HEADERS,
        run: |t| {
            for (status, request) in answered_by_endpoints() {
                t.send(&request)
                    .status_is(status)
                    .header_is("X-Conformance", "yes");
            }
            t.api_get("/v1/kv")
                .status_is(t.moved())
                .has_no_header("X-Conformance");
            t.api_get("/v1/kv/%00")
                .status_is(400)
                .has_no_header("X-Conformance");
        },
        ..Case::SHOULD
    },
    Case {
        id: "settings/response-headers/not-on-unknown-paths",
        claim: "Unknown paths do not carry the response_headers",
        source: "kv.md 6.6",
        until: Some(Version::V1_11),
        settings: HEADERS,
        run: |t| {
            t.api_get("/v1/nowhere")
                .status_is(404)
                .has_no_header("X-Conformance");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/on-unknown-paths-since-1-11",
        claim: "Unknown paths carry the response_headers too",
        source: "1.22.md A6.6 [D]",
        since: Version::V1_11,
        settings: HEADERS,
        run: |t| {
            t.api_get("/v1/nowhere")
                .status_is(404)
                .header_is("X-Conformance", "yes");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/type-of-unknown-paths-since-1-22",
        claim: "A configured type is that of unknown paths and of the redirect to the page, which loses its text",
        source: "1.22.md A6.r11",
        since: Version::V1_22,
        settings: r#"{"ui_config": {"enabled": true}, "http_config": {"response_headers": {"Content-Type": "my/type"}}}"#,
        run: |t| {
            let unknown = t.api_get("/v1/nowhere").status_is(404);
            let names = unknown.header_names();
            t.same(
                "types",
                names.iter().filter(|name| **name == "Content-Type").count(),
                1,
            );
            unknown.header_is("Content-Type", "my/type");
            t.api_get("/")
                .is(301, "")
                .header_is("Content-Type", "my/type")
                .header_is("Location", "/ui/");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/allow-twice",
        claim: "A configured Allow stands before the one of a refused method",
        source: "kv.md 0.4",
        settings: r#"{"http_config": {"response_headers": {"Allow": "mine"}}}"#,
        run: |t| {
            let answer = t
                .send(&Request::new("PATCH", "/v1/status/leader"))
                .status_is(405);
            let names = answer.header_names();
            t.same(
                "both",
                names.iter().filter(|name| **name == "Allow").count(),
                2,
            );
            answer.header_is("Allow", "mine");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/replaced-by-the-answers-own",
        claim: "A header that an answer has itself replaces that of response_headers, which replaces Vary and Date; each is there once",
        source: "kv.md 0.4",
        settings: OWN_HEADERS,
        run: |t| {
            t.put("k", "", "v").is(200, "true");
            let answer = t
                .get("k", "")
                .status_is(200)
                .header_is("Content-Type", "application/json")
                .header_is("Date", "today")
                .header_is("Vary", "mine");
            t.check(
                answer.header("X-Consul-Index") != Some("mine"),
                "the index is the answer's",
            );
            for name in ["Content-Type", "Date", "Vary", "X-Consul-Index"] {
                let names = answer.header_names();
                let times = names.iter().filter(|found| **found == name).count();
                t.check(
                    times == 1,
                    format!("{name} is there once, not {times} times"),
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "settings/response-headers/replace-a-guessed-type",
        claim: "Where an answer sets no type, that of response_headers stands, and none is guessed from the body",
        source: "kv.md 0.4",
        until: Some(Version::V1_9),
        settings: OWN_HEADERS,
        run: |t| {
            for (status, query) in [(404, ""), (400, "index=x")] {
                let names = ["Content-Type", "Date", "Vary", "X-Consul-Index"];
                let answer = t
                    .get("missing", query)
                    .status_is(status)
                    .header_is("Content-Type", "my/type");
                let ours = answer
                    .header_names()
                    .into_iter()
                    .filter(|name| names.contains(name));
                t.check(ours.eq(names), "each is there once, in its place");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "settings/translate-wan-addrs/is-said",
        claim: "With translate_wan_addrs every answer of an endpoint says so, also errors; no other answer does",
        source: "kv.md 6.6",
        settings: r#"{"translate_wan_addrs": true}"#,
        run: |t| {
            let name = "X-Consul-Translate-Addresses";
            for (status, request) in answered_by_endpoints() {
                t.send(&request).status_is(status).header_is(name, "true");
            }
            t.api_get("/v1/kv").status_is(t.moved()).has_no_header(name);
            t.api_get("/v1/nowhere").status_is(404).has_no_header(name);
        },
        ..Case::REAL
    },
    Case {
        id: "settings/translate-wan-addrs/is-not-said-without",
        claim: "Without translate_wan_addrs no answer speaks of translated addresses",
        source: "kv.md 6.6",
        run: |t| {
            for (status, request) in answered_by_endpoints() {
                t.send(&request)
                    .status_is(status)
                    .has_no_header("X-Consul-Translate-Addresses");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "settings/connect/off",
        claim: "Without Connect its certificates and discovery chains are refused, since 1.22 the reads of intentions, too",
        source: "operator.md 3.r20",
        settings: r#"{"connect": {"enabled": false}}"#,
        run: |t| {
            let refused = "Connect must be enabled in order to use this endpoint";
            let get = |path: &str| t.api_get(&format!("/v1/{path}"));
            for of_read in [
                "connect/ca/roots",
                "discovery-chain/web",
                "discovery-chain/web?dc=x",
            ] {
                get(of_read)
                    .says(500, refused)
                    .header_is("X-Consul-Index", "1")
                    .header_is("X-Consul-Knownleader", "false");
            }
            for path in ["connect/ca/configuration", "agent/connect/ca/roots"] {
                get(path).says(500, refused).has_no_header("X-Consul-Index");
            }
            t.api_put("/v1/connect/ca/configuration", "{}")
                .says(500, refused);
            get("connect/ca/roots?index=x").says(400, "Invalid index");
            get("connect/ca/roots?dc=x").says(500, "No path to datacenter");
            get("discovery-chain/").status_is(400);
            let list = get("connect/intentions");
            if t.since(Version::V1_22) {
                for of_read in [list, get("connect/intentions/match?by=source&name=a")] {
                    of_read
                        .is(500, refused)
                        .header_is("X-Consul-Knownleader", "false");
                }
                get("connect/intentions/check?source=a&destination=b")
                    .is(500, refused)
                    .has_no_header("X-Consul-Knownleader");
                let native = r#"{"Node":"n","Address":"127.0.0.1","Service":{"Service":"s","Port":1,"Connect":{"Native":true}}}"#;
                t.api_put("/v1/catalog/register", native).is(200, "true");
                let rows = get("catalog/service/s").json();
                t.same(
                    "addresses",
                    &rows[0]["ServiceTaggedAddresses"],
                    &Value::Null,
                );
                let off = get("agent/self").json()["DebugConfig"]["ConnectEnabled"].clone();
                t.same("ConnectEnabled", off, Value::Bool(false));
            } else {
                list.status_is(200);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "settings/kv-max-value-size/is-obeyed",
        claim: "kv_max_value_size sets the limit of values, and the text about it",
        source: "kv.md 2.2",
        settings: r#"{"limits": {"kv_max_value_size": 2000000}}"#,
        run: |t| {
            let value = vec![b'v'; LARGER];
            t.put("k", "", &value).is(200, "true");
            t.get("k", "raw").status_is(200).body_is_exactly(&value);
            let host = t.host();
            t.raw(format!(
                "PUT /v1/kv/k HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
                LARGER + 1
            ))
            .says(
                413,
                "Request body(2000001 bytes) too large, max size: 2000000 bytes.",
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "settings/kv-max-value-size/small-refusals-keep-the-connection",
        claim: "After a refusal that leaves less than 256 KiB of body unread the connection serves the next request",
        source: "1.22.md A2 [G]",
        settings: r#"{"limits": {"kv_max_value_size": 1000}}"#,
        run: |t| {
            let host = t.host();
            let put =
                format!("PUT /v1/kv/k HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2000\r\n\r\n");
            let get = format!("GET /v1/kv/k HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let mut connection = t.connect();
            connection.send(format!("{put}{}{get}", "v".repeat(2000)).as_bytes());
            connection
                .answer()
                .says(
                    413,
                    "Request body(2000 bytes) too large, max size: 1000 bytes.",
                )
                .has_no_header("Connection");
            connection.answer().is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/use-cache/off-and-cached",
        claim: "Without a cache, cached and consistent are in conflict all the same",
        source: "kv.md (a) 25",
        until: Some(Version::V1_10),
        settings: r#"{"http_config": {"use_cache": false}}"#,
        run: |t| {
            t.get("k", "cached&consistent")
                .says(400, "Cannot specify ?cached with ?consistent");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/use-cache/off-and-cached-since-1-10",
        claim: "Without a cache, cached says nothing, also beside consistent",
        source: "1.22.md A6.1 [H]",
        since: Version::V1_10,
        settings: r#"{"http_config": {"use_cache": false}}"#,
        run: |t| {
            t.get("k", "cached&consistent").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/key-validation/off-since-1-22",
        claim: "disable_kv_key_validation lets every name through with a warning in a header; paths are cleaned all the same",
        source: "1.22.md A1.6b [S] [D]",
        since: Version::V1_22,
        settings: r#"{"disable_kv_key_validation": true}"#,
        run: |t| {
            let warning = "KV key validation bypassed: invalid key name, leading/trailing spaces are not allowed. Consider enabling key validation for security.";
            t.put("a%20", "", "v")
                .is(200, "true")
                .header_is("X-Consul-Kv-Warning", warning);
            t.get("a%20", "raw")
                .is(200, "v")
                .header_is("X-Consul-Kv-Warning", warning);
            t.put("b%2F%2Fc", "", "v")
                .is(200, "true")
                .has_no_header("X-Consul-Kv-Warning");
            let keys = t.get("", "keys").strings();
            t.same("keys", keys, ["a ", "b/c"].map(str::to_owned).to_vec());
        },
        ..Case::REAL
    },
    Case {
        id: "settings/key-validation/warns-on-errors-since-1-22",
        claim: "With disable_kv_key_validation errors carry the warning, too: of a read, a write and a body that is too large",
        source: "1.22.md A1.6b",
        since: Version::V1_22,
        settings: r#"{"disable_kv_key_validation": true}"#,
        run: |t| {
            let warning = "KV key validation bypassed: invalid key name, leading/trailing spaces are not allowed. Consider enabling key validation for security.";
            let nowhere = "dc=conformance-nowhere";
            for answer in [
                t.get("a%20", nowhere).status_is(500),
                t.put("a%20", nowhere, "v").status_is(500),
                t.put("a%20", "cas=x", "v").status_is(500),
                t.put("a%20", "", vec![b'v'; 524_289]).status_is(413),
                t.get("a%20", "").status_is(404),
            ] {
                answer.header_is("X-Consul-Kv-Warning", warning);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "settings/key-validation/off-in-1-21-5",
        claim: "disable_http_unprintable_char_filter switches off the check of key names too",
        source: "1.22.md A1.6b [D]",
        since: Version::V1_21_5,
        until: Some(Version::V1_22),
        settings: r#"{"disable_http_unprintable_char_filter": true}"#,
        run: |t| {
            t.put("a%20b", "", "v").is(200, "true");
            t.get("a%20b", "raw").is(200, "v");
        },
        ..Case::REAL
    },
    Case {
        id: "settings/unprintable-filter/can-be-switched-off",
        claim: "disable_http_unprintable_char_filter lets control characters and NUL into keys",
        source: "kv.md 1.6",
        settings: r#"{"disable_http_unprintable_char_filter": true}"#,
        run: |t| {
            for key in ["a%00", "b%09", "c%7F", "d%C2%A0e", "f%E2%80%8B"] {
                t.get(key, "").is(404, "");
                t.put(key, "", "v").is(200, "true");
                t.get(key, "raw").is(200, "v");
            }
            let keys = t.get("", "keys").strings();
            let expected = ["a\0", "b\t", "c\u{7f}", "d\u{a0}e", "f\u{200b}"];
            t.same("keys", keys, expected.map(str::to_owned).to_vec());
        },
        ..Case::REAL
    },
    Case {
        id: "settings/ui/off",
        claim: "Without the UI / is 200 with two words",
        source: "kv.md 6.6",
        until: Some(Version::new(1, 11, 2)),
        settings: r#"{"ui": false}"#,
        run: |t| {
            t.api_get("/")
                .is(200, "Consul Agent")
                .header_names_are(&["Date", "Content-Length", "Content-Type"])
                .header_is("Content-Type", "text/plain; charset=utf-8");
            t.api_get("/ui/").status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "settings/ui/off-since-1-11-2",
        claim: "Without the UI / is 200 and says how to get it",
        source: "1.22.md A6.6 [D]",
        since: Version::new(1, 11, 2),
        settings: r#"{"ui_config": {"enabled": false}}"#,
        run: |t| {
            t.api_get("/").is(
                200,
                "Consul Agent: UI disabled. To enable, set ui_config.enabled=true in the agent configuration and restart.",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "settings/ui/older-key-since-1-22",
        claim: "The older key of the page does not switch the page of -dev off",
        source: "1.22.md A6.r13",
        since: Version::V1_22,
        needs: &[Feature::DevMode],
        settings: r#"{"ui": false}"#,
        run: |t| {
            t.api_get("/").status_is(301);
        },
        ..Case::REAL
    },
    Case {
        id: "settings/ui/on",
        claim: "With the UI / is 301 to /ui/ as it is, and /ui to /ui/ with its query",
        source: "kv.md 6.6; /ui seen on 1.8.7",
        settings: r#"{"ui": true}"#,
        run: |t| {
            t.api_get("/?a=1")
                .is(301, "<a href=\"/ui/\">Moved Permanently</a>.\n\n")
                .header_is("Location", "/ui/");
            t.api_get("/ui?a=1&b")
                .is(t.moved(), &t.moved_page("/ui/?a=1&amp;b"))
                .header_is("Location", "/ui/?a=1&b");
        },
        ..Case::REAL
    },
];

/// A read, a refusal of each kind, a wrong method and OPTIONS.
fn answered_by_endpoints() -> [(u16, Request); 6] {
    [
        (404, Request::get("/v1/kv/conformance-missing")),
        (400, Request::get("/v1/kv/")),
        (400, Request::get("/v1/kv/k?index=abc")),
        (500, Request::get("/v1/kv/k?a=%zz")),
        (405, Request::new("POST", "/v1/kv/k")),
        (200, Request::new("OPTIONS", "/v1/kv/k")),
    ]
}
