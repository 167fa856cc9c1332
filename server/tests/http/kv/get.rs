//! GET of keys and trees: dispatch, answers, JSON (kv.md 1.1 to 1.3; 1.22.md A1).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn a_key_that_exists() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "x").is(200, "true");
    let entry =
        r#"[{"LockIndex":0,"Key":"a","Flags":0,"Value":"eA==","CreateIndex":8,"ModifyIndex":8}]"#;
    consul.get("/v1/kv/a").is(200, entry).has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 84",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
    ]);
}

#[test]
fn a_key_that_exists_since_the_newer_headers() {
    let consul = Consul::v1_22();
    consul.put("/v1/kv/a", "x").is(200, "true");
    consul.get("/v1/kv/a").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 84",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
        "X-Consul-Query-Backend: blocking-query",
    ]);
}

#[test]
fn nothing_there_is_404_with_the_headers_of_a_read() {
    let consul = Consul::v1_8();
    for target in [
        "/v1/kv/a",
        "/v1/kv/a?raw",
        "/v1/kv/p?recurse",
        "/v1/kv/p?keys",
        "/v1/kv/?recurse",
    ] {
        consul.get(target).is(404, "").has_head(&[
            "HTTP/1.1 404 Not Found",
            "Content-Length: 0",
            "Vary: Accept-Encoding",
            "X-Consul-Index: 1",
            "X-Consul-Knownleader: true",
            "X-Consul-Lastcontact: 0",
        ]);
    }
    Consul::v1_22().get("/v1/kv/a").is(404, "").has_head(&[
        "HTTP/1.1 404 Not Found",
        "Content-Length: 0",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
        "X-Consul-Index: 1",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
        "X-Consul-Query-Backend: blocking-query",
    ]);
}

// trap: kv 8
#[test]
fn only_the_whole_store_may_be_an_empty_list_of_keys() {
    for consul in Consul::both() {
        consul.get("/v1/kv/?keys").is(200, "[]");
        consul.get("/v1/kv/?recurse").is(404, "");
        consul.get("/v1/kv/p?keys").is(404, "");
        consul.get("/v1/kv/p/?recurse").is(404, "");
    }
    Consul::dev(Version::V1_8_7)
        .get("/v1/kv/?keys")
        .is(200, "[]\n");
}

#[test]
fn a_key_has_a_name() {
    let consul = Consul::v1_8();
    consul
        .get("/v1/kv/")
        .is(400, "Missing key name")
        .has_head(&[
            "HTTP/1.1 400 Bad Request",
            "Content-Length: 16",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
        ]);
    consul.get("/v1/kv/?raw").is(400, "Missing key name");
    consul.get("/v1/kv/?ns=x").is(400, "Missing key name");
    Consul::v1_22()
        .get("/v1/kv/")
        .is(400, "Missing key name")
        .has_head(&[
            "HTTP/1.1 400 Bad Request",
            "Content-Length: 16",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
        ]);
}

// trap: kv 9
#[test]
fn reads_carry_an_index_and_nothing_else_does() {
    for consul in Consul::both() {
        let has_index = |method: &str, target: &str| {
            let names = [
                "X-Consul-Index",
                "X-Consul-Knownleader",
                "X-Consul-Lastcontact",
            ];
            let answer = consul.ask(method, target);
            let found = names.map(|name| answer.header(name).is_some());
            assert!(found == [true; 3] || found == [false; 3], "{target}");
            found == [true; 3]
        };
        assert!(!has_index("PUT", "/v1/kv/a"));
        assert!(!has_index("PUT", "/v1/kv/a?cas=0"));
        assert!(!has_index("PUT", "/v1/kv/a?acquire=nope"));
        assert!(!has_index("PUT", "/v1/kv/a?flags=x"));
        for target in ["/v1/kv/a", "/v1/kv/?keys", "/v1/kv/zz", "/v1/kv/zz?raw"] {
            assert!(has_index("GET", target), "{target}");
        }
        for target in [
            "/v1/kv/",
            "/v1/kv/a?index=x",
            "/v1/kv/a?dc=x",
            "/v1/kv/a?ns=x",
        ] {
            assert!(!has_index("GET", target), "{target}");
        }
        assert!(!has_index("POST", "/v1/kv/a"));
        assert!(!has_index("DELETE", "/v1/kv/a"));
        assert!(!has_index("DELETE", "/v1/kv/a?cas=5"));
    }
}

// trap: kv 7
#[test]
fn parameters_count_by_their_presence() {
    for consul in Consul::both() {
        consul.put("/v1/kv/p/a", "1");
        consul.put("/v1/kv/p", "2");
        let count = |target: &str| consul.get(target).text().matches("LockIndex").count();
        assert_eq!(count("/v1/kv/p?recurse=false"), 2);
        assert_eq!(count("/v1/kv/p?recurse=0"), 2);
        assert_eq!(count("/v1/kv/p?recurse="), 2);
        assert_eq!(count("/v1/kv/p"), 1);
        consul.get("/v1/kv/p?keys=false").is(200, r#"["p","p/a"]"#);
        consul.get("/v1/kv/p?raw=false").is(200, "2");
        assert!(consul.get("/v1/kv/p?pretty=no").text().ends_with("\n]\n"));
        let both = consul.get("/v1/kv/p?stale=false&consistent=false");
        both.is(
            400,
            "Cannot specify ?stale with ?consistent, conflicting semantics.",
        );
    }
}

#[test]
fn keys_wins_over_recurse_and_recurse_over_raw() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "x");
        consul.get("/v1/kv/a?raw&recurse&keys").is(200, r#"["a"]"#);
        let recursed = consul.get("/v1/kv/a?raw&recurse");
        assert!(recursed.text().starts_with(r#"[{"LockIndex""#));
        // The separator belongs to keys.
        let single = consul.get("/v1/kv/a?separator=/");
        assert!(single.text().starts_with(r#"[{"LockIndex""#));
    }
}

#[test]
fn the_fields_of_an_entry_and_their_order() {
    for consul in Consul::both() {
        let created = consul.put("/v1/session/create", "");
        let session = created.text().split('"').nth(3).expect("an id").to_owned();
        consul.put(&format!("/v1/kv/a?acquire={session}&flags=42"), "x");
        consul.get("/v1/kv/a").is(
            200,
            &format!(
                r#"[{{"LockIndex":1,"Key":"a","Flags":42,"Value":"eA==","Session":"{session}","CreateIndex":9,"ModifyIndex":9}}]"#
            ),
        );
    }
}

#[test]
fn an_empty_value_is_null_however_it_was_written() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "");
        consul.ask_with("PUT", "/v1/kv/b", &["Content-Length: 0"], b"");
        let mut wire = consul.connect();
        wire.send(
            b"PUT /v1/kv/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        );
        wire.answer().is(200, "true");
        let operations = r#"[{"KV":{"Verb":"set","Key":"d"}},{"KV":{"Verb":"set","Key":"e","Value":""}},
            {"KV":{"Verb":"set","Key":"f","Value":null}}]"#;
        assert_eq!(consul.put("/v1/txn", operations).code(), 200);
        for key in ["a", "b", "c", "d", "e", "f"] {
            let entry = consul.get(&format!("/v1/kv/{key}"));
            assert!(entry.text().contains(r#""Value":null,"#), "{key}");
        }
    }
}

#[test]
fn values_are_padded_base64_of_the_standard_alphabet() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", [0xfb, 0xff, 0xbf, 0]);
        let entry = consul.get("/v1/kv/a");
        assert!(entry.text().contains(r#""Value":"+/+/AA==","#));
    }
}

#[test]
fn flags_are_all_of_u64() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?flags=18446744073709551615", "");
        let entry = consul.get("/v1/kv/a");
        assert!(entry.text().contains(r#""Flags":18446744073709551615,"#));
    }
}

#[test]
fn keys_in_json_are_escaped_as_go_does() {
    for consul in Consul::both() {
        for (target, json) in [
            ("/v1/kv/am&p=1", r#""am\u0026p=1""#),
            ("/v1/kv/%3Cb%3E", r#""\u003cb\u003e""#),
            ("/v1/kv/q%22%5C", r#""q\"\\""#),
            ("/v1/kv/%C3%A9", "\"\u{e9}\""),
            ("/v1/kv/bad%FFutf", r#""bad\ufffdutf""#),
        ] {
            consul.put(target, "").is(200, "true");
            let entry = consul.get(target);
            let key = format!(r#""Key":{json},"#);
            assert!(entry.text().contains(&key), "{}", entry.text());
        }
    }
}

/// How pretty JSON looks: four spaces, and a newline that depends on the version.
const PRETTY: &str = r#"[
    {
        "LockIndex": 0,
        "Key": "a",
        "Flags": 0,
        "Value": null,
        "CreateIndex": 13,
        "ModifyIndex": 13
    }
]"#;

// trap: kv 1
#[test]
fn a_dev_agent_prints_pretty_and_1_8_ends_the_line() {
    let consul = Consul::dev(Version::V1_8_7);
    consul.put("/v1/kv/a", "").is(200, "true\n").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 5",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
    consul.get("/v1/kv/a").is(200, &format!("{PRETTY}\n"));
    consul
        .get("/v1/kv/a?pretty")
        .is(200, &format!("{PRETTY}\n"));
    Consul::v1_8().put("/v1/kv/a", "").is(200, "true");
}

#[test]
fn since_1_17_the_newline_comes_only_where_pretty_was_asked_for() {
    let consul = Consul::dev(Version::V1_22_0);
    consul.put("/v1/kv/a", "").is(200, "true");
    consul.put("/v1/kv/a?pretty", "").is(200, "true\n");
    let expected = PRETTY.replace("13", "17");
    consul.get("/v1/kv/a").is(200, &expected);
    consul
        .get("/v1/kv/a?pretty")
        .is(200, &format!("{expected}\n"));
    let newline = |version| Consul::dev(version).put("/v1/kv/a", "").body.len() == 5;
    assert!(newline(Version::new(1, 16, 4)));
    assert!(!newline(Version::new(1, 17, 0)));
}

#[test]
fn pretty_is_for_every_agent_that_is_asked() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?pretty", "").is(200, "true\n");
        let entry = consul.get("/v1/kv/a?pretty=");
        let expected = PRETTY.replace("13", "8");
        entry.is(200, &format!("{expected}\n"));
        consul
            .get("/v1/kv/?keys&pretty")
            .is(200, "[\n    \"a\"\n]\n");
    }
}

#[test]
fn a_body_of_more_than_2048_bytes_is_chunked() {
    for consul in Consul::both() {
        // The rest of the list is 80 bytes, and 4 of Base64 stand for 3 of the value.
        for (length, chunked) in [(1476, false), (1477, true)] {
            consul.put("/v1/kv/a", vec![b'x'; length]);
            for target in ["/v1/kv/a", "/v1/kv/a?recurse"] {
                let answer = consul.get(target);
                let size = answer.body.len();
                assert_eq!(size > 2048, chunked, "{size}");
                let encoding = answer.header("Transfer-Encoding");
                assert_eq!(encoding, chunked.then_some("chunked"), "{target}");
                let length = answer.header("Content-Length").map(str::to_owned);
                assert_eq!(length, (!chunked).then(|| size.to_string()));
            }
        }
    }
}

#[test]
fn a_tree_of_any_size_is_one_list() {
    for consul in Consul::both() {
        for number in 0..100 {
            consul.put(&format!("/v1/kv/p/{number:03}"), vec![b'x'; 1000]);
        }
        let tree = consul.get("/v1/kv/p/?recurse");
        let entries: Vec<serde_json::Value> =
            serde_json::from_slice(&tree.body).expect("the body is JSON");
        let keys: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry["Key"].as_str())
            .collect();
        let expected: Vec<String> = (0..100).map(|number| format!("p/{number:03}")).collect();
        assert_eq!(keys, expected);
        assert_eq!(tree.index(), 107);
    }
}
