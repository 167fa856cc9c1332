//! DELETE (kv.md 3).

use crate::support::Consul;

#[test]
fn deleting_says_true() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "x");
    for _ in 0..2 {
        consul.delete("/v1/kv/a").is(200, "true").has_head(&[
            "HTTP/1.1 200 OK",
            "Content-Length: 4",
            "Content-Type: application/json",
            "Vary: Accept-Encoding",
        ]);
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn delete_cas() {
    for consul in Consul::both() {
        for index in ["0", "1", "18446744073709551615"] {
            consul
                .delete(&format!("/v1/kv/a?cas={index}"))
                .is(200, "true");
        }
        consul.put("/v1/kv/a", "x");
        let index = consul.get("/v1/kv/a").index();
        consul.delete("/v1/kv/a?cas=0").is(200, "false");
        let stale = index - 1;
        consul
            .delete(&format!("/v1/kv/a?cas={stale}"))
            .is(200, "false");
        consul.get("/v1/kv/a?raw").is(200, "x");
        consul
            .delete(&format!("/v1/kv/a?cas={index}"))
            .is(200, "true");
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn a_tree_is_a_prefix_of_bytes() {
    for consul in Consul::both() {
        for key in ["k", "k2", "k/x", "j", "l"] {
            consul.put(&format!("/v1/kv/{key}"), "");
        }
        consul.delete("/v1/kv/k?recurse").is(200, "true");
        consul.get("/v1/kv/?keys").is(200, r#"["j","l"]"#);
        consul
            .delete("/v1/kv/nothing?recurse=false")
            .is(200, "true");
        consul.delete("/v1/kv/?recurse").is(200, "true");
        consul.get("/v1/kv/?keys").is(200, "[]");
    }
}

#[test]
fn refusals_and_their_order() {
    for (consul, end) in [(Consul::v1_8(), ""), (Consul::v1_22(), "\n")] {
        let conflict = format!("Conflicting flags: cas=1&recurse={end}");
        consul.delete("/v1/kv/?recurse&cas=1").is(400, &conflict);
        consul.delete("/v1/kv/a?recurse&cas=1").is(400, &conflict);
        consul.delete("/v1/kv/").is(400, "Missing key name");
        consul.delete("/v1/kv/?cas=x").is(400, "Missing key name");
        let tenancy = consul.delete("/v1/kv/?recurse&cas=1&ns=x");
        assert!(tenancy.text().contains("Namespaces are"));
        let text = r#"strconv.ParseUint: parsing "x": invalid syntax"#;
        consul.delete("/v1/kv/a?cas=x&dc=nope").is(500, text);
        consul
            .delete("/v1/kv/a?dc=nope")
            .is(500, "No path to datacenter");
    }
}

#[test]
fn what_only_puts_look_at() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "x");
        let target = "/v1/kv/a?acquire=x&release=y&flags=z";
        let answer = consul.ask_with("DELETE", target, &[], b"a body");
        answer.is(200, "true");
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn a_held_key_is_deleted_like_any_other() {
    for consul in Consul::both() {
        let first = crate::support::create_session(&consul, "");
        let second = crate::support::create_session(&consul, "");
        consul
            .put(&format!("/v1/kv/k?acquire={first}"), "x")
            .is(200, "true");
        consul.delete("/v1/kv/k").is(200, "true");
        consul
            .put(&format!("/v1/kv/k?acquire={second}"), "x")
            .is(200, "true");
        let entry = consul.get("/v1/kv/k");
        assert!(entry.text().starts_with(r#"[{"LockIndex":1,"#));
        let alive = consul.get(&format!("/v1/session/info/{first}"));
        assert_ne!(alive.text(), "[]");
    }
}
