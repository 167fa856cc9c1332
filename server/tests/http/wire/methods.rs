//! What the conformance suite does not say of methods and unknown paths: bytes, and both sides of each release that changed something
//! between those that the suite runs on (kv.md 6.6; 1.22.md A6; 2.1.md 1).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn types_of_empty_answers_by_version() {
    let options = |version, target: &str, content_type: &[&str]| {
        let answer = Consul::of(version).ask_with("OPTIONS", target, content_type, b"");
        answer.header("Content-Type").map(str::to_owned)
    };
    for (version, content_type) in [
        (Version::new(1, 19, 2), None),
        (Version::V1_20_0, Some("text/plain; charset=utf-8")),
        (Version::new(1, 20, 1), Some("text/plain; charset=utf-8")),
        (Version::new(1, 20, 2), Some("application/json")),
        (Version::new(1, 21, 4), Some("application/json")),
        (Version::V1_21_5, Some("application/json; charset=utf-8")),
        (Version::V1_22_0, Some("application/json; charset=utf-8")),
    ] {
        let own = ["Content-Type: text/x-own"];
        assert_eq!(options(version, "/v1/kv/a", &own).as_deref(), content_type);
    }
}

#[test]
fn a_method_is_any_token_and_counts_before_the_parameters() {
    for consul in Consul::both() {
        let method = "X-Y!#$%&'*+.^_`|~";
        let answer = consul.ask(method, "/v1/kv/x");
        answer.is(405, &format!("method {method} not allowed"));
        assert_eq!(consul.ask("OPTIONS", "/v1/kv/?index=abc").code(), 200);
    }
}

#[test]
fn a_head_has_no_body_in_1_8() {
    let next = "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunks = "1\r\nx\r\n0\r\n\r\n";
    for (version, header, body, code, next_code) in [
        (Version::V1_8_7, "Content-Length: 0", "", 405, Some(404)),
        (Version::V1_8_7, "Content-Length: 1", "x", 400, None),
        (Version::V1_8_7, "Content-Length: 00", "", 400, None),
        (Version::V1_8_7, "Content-Length:", "", 400, None),
        (
            Version::V1_8_7,
            "Transfer-Encoding: chunked",
            "",
            405,
            Some(404),
        ),
        (
            Version::V1_8_7,
            "Transfer-Encoding: chunked",
            chunks,
            405,
            Some(400),
        ),
        (Version::V1_22_0, "Content-Length: 1", "x", 405, Some(404)),
        (
            Version::V1_22_0,
            "Transfer-Encoding: chunked",
            chunks,
            405,
            Some(404),
        ),
    ] {
        let consul = Consul::of(version);
        let mut wire = consul.connect();
        let head = format!("HEAD /v1/kv/a HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n");
        wire.send(format!("{head}{body}{next}").as_bytes());
        assert_eq!(wire.answer_to_head().code(), code, "{version} {head}");
        if next_code.is_some() {
            let came = wire.next_answer().map(|answer| answer.code());
            assert_eq!(came, next_code, "{version} {head}");
        }
    }
}

#[test]
fn until_1_10_a_semicolon_separates_parameters() {
    let code = |version| {
        Consul::of(version)
            .put("/v1/kv/a?cas=0;flags=1", "x")
            .code()
    };
    assert_eq!(code(Version::new(1, 10, 0)), 200);
    assert_eq!(code(Version::new(1, 11, 0)), 500);
}

#[test]
fn an_unknown_path_is_explained_since_1_11() {
    let start =
        "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n";
    let text = |version, target: &str| Consul::of(version).get(target).text().to_owned();
    assert_eq!(text(Version::new(1, 10, 0), "/nope"), "");
    assert_eq!(text(Version::new(1, 11, 0), "/nope"), start);
    // /api/ is somebody else's since 1.17.
    assert_eq!(text(Version::new(1, 16, 4), "/api/x"), start);
    Consul::v1_8()
        .ask("HEAD", "/v1/nope")
        .has_head(&["HTTP/1.1 404 Not Found"]);
    Consul::v1_22().ask("HEAD", "/v1/nope").has_head(&[
        "HTTP/1.1 404 Not Found",
        "Content-Length: 53",
        "Content-Type: text/plain; charset=utf-8",
    ]);
}

#[test]
fn the_root_without_the_page_is_explained_since_1_11_2() {
    let text = |version| Consul::of(version).get("/").text().to_owned();
    assert_eq!(text(Version::new(1, 11, 1)), "Consul Agent");
    assert!(text(Version::new(1, 11, 2)).starts_with("Consul Agent: UI disabled. To enable, "));
}

#[test]
fn a_path_is_cleaned_by_307_since_2_0() {
    for (version, cleaned, tunnel) in [
        (Version::V1_22_0, 301, 301),
        (Version::new(2, 0, 0), 307, 404),
        (Version::V2_1_0, 307, 404),
    ] {
        let consul = Consul::of(version);
        for method in ["GET", "PUT"] {
            let answer = consul.ask(method, "/v1//kv/a?raw");
            assert_eq!(answer.code(), cleaned, "{version} {method}");
            assert_eq!(answer.header("Location"), Some("/v1/kv/a?raw"));
        }
        assert_eq!(consul.ask("CONNECT", "a:1").code(), tunnel, "{version}");
    }
}
