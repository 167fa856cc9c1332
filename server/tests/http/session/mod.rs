//! Reading, renewing and destroying sessions (session.md 2; 1.22.md B0, B2).

mod create;

use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session};

const UNKNOWN: &str = "adf4238a-882b-9ddc-4a9d-5b6758e4159e";

/// The ids in a list, in its order.
fn ids(consul: &Consul, target: &str) -> Vec<String> {
    let answer = consul.get(target);
    let list: Vec<serde_json::Value> =
        serde_json::from_slice(&answer.body).expect("the body is a list");
    let id = |session: &serde_json::Value| session["ID"].as_str().map(str::to_owned);
    list.iter().filter_map(id).collect()
}

#[test]
fn reads_are_lists_with_the_headers_of_a_read() {
    let consul = Consul::v1_8();
    for target in [
        "/v1/session/list",
        "/v1/session/node/proconsul",
        "/v1/session/node/nope",
        &format!("/v1/session/info/{UNKNOWN}"),
    ] {
        consul.get(target).is(200, "[]").has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 2",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
            "X-Consul-Index: 1",
            "X-Consul-Knownleader: true",
            "X-Consul-Lastcontact: 0",
        ]);
    }
}

#[test]
fn lists_are_in_the_order_of_ids() {
    for consul in Consul::both() {
        let mut created: Vec<String> = (0..10).map(|_| create_session(&consul, "")).collect();
        created.sort();
        assert_eq!(ids(&consul, "/v1/session/list"), created);
        assert_eq!(ids(&consul, "/v1/session/node/proconsul"), created);
        assert_eq!(ids(&consul, "/v1/session/node/ProConsul"), created);
        assert_eq!(ids(&consul, "/v1/session/list?filter=nonsense"), created);
    }
}

#[test]
fn ids_may_be_in_upper_case() {
    for consul in Consul::both() {
        let id = create_session(&consul, "");
        let upper = id.to_uppercase();
        let found = ids(&consul, &format!("/v1/session/info/{upper}"));
        assert_eq!(found, [id.as_str()]);
        let renewed = consul.put(&format!("/v1/session/renew/{upper}"), "");
        assert!(renewed.text().starts_with(&format!(r#"[{{"ID":"{id}""#)));
        consul
            .put(&format!("/v1/session/destroy/{upper}"), "")
            .is(200, "true");
        consul.get("/v1/session/list").is(200, "[]");
    }
}

#[test]
fn destroying() {
    let consul = Consul::v1_8();
    let id = create_session(&consul, "");
    for id in [id.as_str(), id.as_str(), UNKNOWN] {
        let answer = consul.put(&format!("/v1/session/destroy/{id}"), "ignored");
        answer.is(200, "true").has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 4",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
        ]);
    }
    consul.get("/v1/session/list").is(200, "[]");
}

// trap: session 16
#[test]
fn renewing_answers_with_a_list_without_an_index_and_moves_none() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::frozen(version);
        let id = create_session(&consul, r#"{"TTL":"10s"}"#);
        let before = consul.get("/v1/session/list");
        let answer = consul.put(&format!("/v1/session/renew/{id}"), r#"{"TTL":"1h"}"#);
        answer.is(200, before.text());
        for name in [
            "X-Consul-Index",
            "X-Consul-Knownleader",
            "X-Consul-Lastcontact",
        ] {
            assert!(answer.header(name).is_none());
        }
        assert_eq!(consul.get("/v1/session/list").index(), before.index());
        // The TTL begins anew, in full and doubled.
        consul.server().advance(Duration::from_secs(19));
        assert_eq!(
            consul.put(&format!("/v1/session/renew/{id}"), "").code(),
            200
        );
        consul.server().advance(Duration::from_secs(19));
        assert_eq!(ids(&consul, "/v1/session/list").len(), 1);
        consul.server().advance(Duration::from_secs(1));
        let gone = consul.put(&format!("/v1/session/renew/{id}"), "");
        gone.is(404, &format!("Session id '{id}' not found"));
        // One without a TTL is renewed as well.
        let id = create_session(&consul, "");
        assert_eq!(
            consul.put(&format!("/v1/session/renew/{id}"), "").code(),
            200
        );
    }
}

#[test]
fn the_head_of_a_missing_session() {
    let text = format!("Session id '{UNKNOWN}' not found");
    let target = format!("/v1/session/renew/{UNKNOWN}");
    Consul::v1_8().put(&target, "").is(404, &text).has_head(&[
        "HTTP/1.1 404 Not Found",
        "Content-Length: 59",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
    ]);
}

#[test]
fn paths_without_an_id() {
    for consul in Consul::both() {
        consul.get("/v1/session/info/").is(400, "Missing session");
        consul.get("/v1/session/node/").is(400, "Missing node name");
        consul
            .put("/v1/session/renew/", "")
            .is(400, "Missing session");
        consul
            .put("/v1/session/destroy/", "")
            .is(400, "Missing session");
        for target in ["info", "node", "renew", "destroy"] {
            let answer = consul.ask("DELETE", &format!("/v1/session/{target}"));
            answer.is(301, "");
        }
    }
}

#[test]
fn malformed_ids_in_1_8() {
    let consul = Consul::v1_8();
    let start = "failed session lookup: index error: ";
    for (id, text) in [
        ("nope", "UUID must be 36 characters"),
        (
            "zdf4238a-882b-9ddc-4a9d-5b6758e4159e",
            "Invalid UUID: encoding/hex: invalid byte: U+007A 'z'",
        ),
        (
            "adf4238aa882b-9ddc-4a9d-5b6758e4159e",
            "Input (without hyphens) must be even length",
        ),
    ] {
        let text = format!("{start}{text}");
        consul
            .put(&format!("/v1/session/destroy/{id}"), "")
            .is(500, &text);
        consul
            .put(&format!("/v1/session/renew/{id}"), "")
            .is(500, &text);
        let answer = consul.get(&format!("/v1/session/info/{id}"));
        answer.is(500, &text).has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            &format!("Content-Length: {}", text.len()),
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Index: 1",
            "X-Consul-Knownleader: false",
            "X-Consul-Lastcontact: 0",
        ]);
    }
}

#[test]
fn malformed_ids_are_unknown_ones_since_1_11() {
    for version in [Version::new(1, 11, 0), Version::V1_22_0] {
        let consul = Consul::of(version);
        for id in ["nope", "zdf4238a-882b-9ddc-4a9d-5b6758e4159e", "a%2Fb"] {
            consul
                .put(&format!("/v1/session/destroy/{id}"), "")
                .is(200, "true");
            consul.get(&format!("/v1/session/info/{id}")).is(200, "[]");
            let answer = consul.put(&format!("/v1/session/renew/{id}"), "");
            let id = id.replace("%2F", "/");
            answer.is(404, &format!("Session id '{id}' not found"));
        }
    }
    let code = |version| Consul::of(version).get("/v1/session/info/nope").code();
    assert_eq!(code(Version::new(1, 10, 12)), 500);
}

#[test]
fn all_reads_show_the_index_of_the_last_session_that_came_or_went() {
    for consul in Consul::both() {
        let index = |target: &str| consul.get(target).index();
        let id = create_session(&consul, "");
        let created = index("/v1/session/list");
        assert_eq!(index(&format!("/v1/session/info/{UNKNOWN}")), created);
        assert_eq!(index("/v1/session/node/nope"), created);
        consul.put("/v1/kv/a", "x");
        consul.put("/v1/session/create", r#"{"Node":"nope"}"#);
        assert_eq!(index("/v1/session/list"), created);
        consul.put(&format!("/v1/session/destroy/{id}"), "");
        assert!(index(&format!("/v1/session/info/{id}")) > created);
    }
}

// trap: session 29
#[test]
fn whoever_waits_for_a_lock_is_told_an_index_also_where_there_is_nothing() {
    for consul in Consul::both() {
        for target in [
            "/v1/kv/lock",
            "/v1/kv/lock?consistent=",
            "/v1/kv/lock?recurse=",
        ] {
            let answer = consul.get(target);
            assert_eq!(answer.code(), 404);
            assert!(answer.index() >= 1, "{target}");
        }
        let session = create_session(&consul, "");
        consul.put(&format!("/v1/kv/lock?acquire={session}"), "");
        consul.delete("/v1/kv/lock");
        assert!(consul.get("/v1/kv/lock").index() > 1);
        // A monitor retries on 500 only, and that is what a failing server says.
        consul
            .get("/v1/kv/lock?dc=nope")
            .is(500, "No path to datacenter");
    }
}

// trap: session 30
#[test]
fn what_the_semaphores_and_tools_of_others_rely_on() {
    for consul in Consul::both() {
        let semaphore = "16210313421097356768";
        let session = create_session(&consul, "");
        let target = format!("/v1/kv/s/{session}?acquire={session}&flags={semaphore}");
        consul.put(&target, "").is(200, "true");
        for target in [
            "/v1/kv/s/?recurse=&wait=15000ms",
            "/v1/kv/s/?consistent=&recurse=",
        ] {
            let flags = format!(r#""Flags":{semaphore},"#);
            assert!(consul.get(target).text().contains(&flags), "{target}");
        }
        let keys = consul.get("/v1/kv/s/?keys=&separator=/");
        keys.is(200, &format!(r#"["s/{session}"]"#));
        let agent: serde_json::Value =
            serde_json::from_slice(&consul.get("/v1/agent/self").body).expect("the body is JSON");
        assert_eq!(agent["Config"]["NodeName"], "proconsul");
    }
}
