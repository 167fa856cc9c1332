//! PUT of keys: parameters, plain writes and cas (kv.md 2.1 to 2.4; 1.22.md A2).

use proconsul::Version;

use crate::support::{Answer, Consul, request};

fn entry(consul: &Consul, key: &str) -> serde_json::Value {
    let answer = consul.get(&format!("/v1/kv/{key}"));
    let list: serde_json::Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    list[0].clone()
}

#[test]
fn the_answers_of_writes() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "x").is(200, "true").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 4",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
    consul
        .put("/v1/kv/a?cas=0", "x")
        .is(200, "false")
        .has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 5",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
        ]);
    Consul::v1_22()
        .put("/v1/kv/a", "x")
        .is(200, "true")
        .has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 4",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
        ]);
}

// trap: kv 6
#[test]
fn bad_numbers_are_500_in_the_words_of_go_and_bad_indexes_400() {
    for consul in Consul::both() {
        for (sent, number) in [
            ("abc", "abc"),
            ("", ""),
            ("-1", "-1"),
            ("1.5", "1.5"),
            ("0x10", "0x10"),
            ("%201", " 1"),
            ("+1", " 1"),
            ("1_0", "1_0"),
            ("%2B1", "+1"),
        ] {
            let text = format!("strconv.ParseUint: parsing \"{number}\": invalid syntax");
            for target in [
                format!("/v1/kv/a?flags={sent}"),
                format!("/v1/kv/a?cas={sent}"),
            ] {
                consul.put(&target, "x").is(500, &text);
            }
            let deleted = consul.delete(&format!("/v1/kv/a?cas={sent}"));
            deleted.is(500, &text);
        }
        let no_value = "strconv.ParseUint: parsing \"\": invalid syntax";
        consul.put("/v1/kv/a?flags", "x").is(500, no_value);
        consul.delete("/v1/kv/a?cas").is(500, no_value);
        let too_large = "strconv.ParseUint: parsing \"18446744073709551616\": value out of range";
        let target = "/v1/kv/a?flags=18446744073709551616";
        consul.put(target, "x").is(500, too_large);
        consul.get("/v1/kv/a?index=abc").is(400, "Invalid index");
        consul
            .put("/v1/kv/a?index=abc", "x")
            .is(400, "Invalid index");
        consul
            .delete("/v1/kv/a?wait=abc")
            .is(400, "Invalid wait time");
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn the_head_of_a_bad_number() {
    Consul::v1_8().put("/v1/kv/a?flags=x", "").has_head(&[
        "HTTP/1.1 500 Internal Server Error",
        "Content-Length: 46",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
    ]);
}

#[test]
fn numbers_and_repeated_parameters() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?flags=007", "x").is(200, "true");
        assert_eq!(entry(&consul, "a")["Flags"], 7);
        consul.put("/v1/kv/a?flags=1&flags=x", "x").is(200, "true");
        assert_eq!(entry(&consul, "a")["Flags"], 1);
    }
}

#[test]
fn parameters_that_exclude_each_other() {
    // A newline was added in 1.19.1.
    for (consul, end) in [(Consul::v1_8(), ""), (Consul::v1_22(), "\n")] {
        for (parameters, text) in [
            ("cas=0&acquire=x", "acquire=x&cas=0"),
            ("acquire=a&release=b", "acquire=a&release=b"),
            ("release&cas", "cas=&release="),
            (
                "release=b&flags=3&dc=dc1&cas=1&acquire=a",
                "acquire=a&cas=1&dc=dc1&flags=3&release=b",
            ),
            ("cas=0&acquire=x+y/z", "acquire=x+y%2Fz&cas=0"),
            ("cas=0&acquire=x&flags=bad", "acquire=x&cas=0&flags=bad"),
        ] {
            let answer = consul.put(&format!("/v1/kv/a?{parameters}"), "x");
            answer.is(400, &format!("Conflicting flags: {text}{end}"));
            assert_eq!(
                answer.header("Content-Type"),
                Some("text/plain; charset=utf-8")
            );
        }
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn the_checks_come_in_consuls_order() {
    for consul in Consul::both() {
        let code_and_start = |answer: &Answer, start: &str| {
            assert!(answer.text().starts_with(start), "{}", answer.text());
        };
        let all = "ns=x&cas=1&acquire=a&flags=z&dc=nope";
        let answer = consul.put(&format!("/v1/kv/?{all}"), "x");
        assert!(
            answer.text().contains("Namespaces are"),
            "{}",
            answer.text()
        );
        let all = "cas=1&acquire=a&flags=z&dc=nope";
        code_and_start(
            &consul.put(&format!("/v1/kv/?{all}"), "x"),
            "Missing key name",
        );
        code_and_start(&consul.put(&format!("/v1/kv/a?{all}"), "x"), "Conflicting");
        let number = r#"strconv.ParseUint: parsing "z""#;
        code_and_start(&consul.put("/v1/kv/a?cas=y&flags=z&dc=nope", "x"), number);
        let number = r#"strconv.ParseUint: parsing "y""#;
        code_and_start(&consul.put("/v1/kv/a?cas=y&flags=1&dc=nope", "x"), number);
        let mut wire = consul.connect();
        let length = ["Content-Length: 524289"];
        wire.send(&request("PUT", "/v1/kv/a?cas=1&dc=nope", &length, b""));
        assert_eq!(wire.answer().code(), 413);
        code_and_start(&consul.put("/v1/kv/a?cas=1&dc=nope", "x"), "No path to");
    }
}

#[test]
fn a_key_without_a_name_is_not_written() {
    for consul in Consul::both() {
        consul.put("/v1/kv/", "x").is(400, "Missing key name");
    }
}

#[test]
fn a_plain_write_keeps_the_create_index_and_resets_the_flags() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?flags=9", "x");
        let created = entry(&consul, "a");
        consul.put("/v1/kv/a", "y").is(200, "true");
        let written = entry(&consul, "a");
        assert_eq!(written["CreateIndex"], created["CreateIndex"]);
        assert_ne!(written["ModifyIndex"], created["ModifyIndex"]);
        assert_eq!(written["Flags"], 0);
        assert_eq!(written["Value"], "eQ==");
    }
}

#[test]
fn an_identical_write_changes_nothing() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?flags=9", "x");
        let before = consul.get("/v1/kv/a");
        consul.put("/v1/kv/a?flags=9", "x").is(200, "true");
        assert_eq!(consul.get("/v1/kv/a").text(), before.text());
        assert_eq!(consul.get("/v1/kv/?keys").index(), before.index());
    }
}

#[test]
fn cas() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?cas=5", "x").is(200, "false");
        consul.get("/v1/kv/a").is(404, "");
        consul.put("/v1/kv/a?cas=0", "x").is(200, "true");
        consul.put("/v1/kv/a?cas=0", "y").is(200, "false");
        let index = entry(&consul, "a")["ModifyIndex"]
            .as_u64()
            .expect("an index");
        let cas = |index, value: &str| {
            let answer = consul.put(&format!("/v1/kv/a?cas={index}"), value);
            assert_eq!(answer.code(), 200);
            answer.text() == "true"
        };
        assert!(!cas(index - 1, "y"));
        assert!(!cas(index + 1, "y"));
        assert!(cas(index, "x"), "identical");
        assert!(cas(index, "y"), "which has left the index where it was");
        assert!(!cas(index, "z"));
        consul.get("/v1/kv/a?raw").is(200, "y");
    }
}

#[test]
fn the_body_is_stored_whatever_its_type() {
    for consul in Consul::both() {
        let header = "Content-Type: application/x-www-form-urlencoded";
        let answer = consul.ask_with("PUT", "/v1/kv/a", &[header], b"a=b&cas=0");
        answer.is(200, "true");
        consul.get("/v1/kv/a?raw").is(200, "a=b&cas=0");
    }
}

#[test]
fn chunked_bodies() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        wire.send(
            b"PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
            3;ignored\r\nabc\r\n0002\r\nde\r\n0\r\nTrailer: ignored\r\n\r\n",
        );
        wire.answer().is(200, "true");
        consul.get("/v1/kv/a?raw").is(200, "abcde");
    }
}

#[test]
fn the_newline_of_conflicts_came_with_1_19_1() {
    let ends = |version| {
        let answer = Consul::of(version).put("/v1/kv/a?cas=0&acquire=x", "");
        answer.text().ends_with('\n')
    };
    assert!(!ends(Version::new(1, 19, 0)));
    assert!(ends(Version::new(1, 19, 1)));
}
