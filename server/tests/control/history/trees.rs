//! Deleted trees: one record for all keys, and one for each that was a lock.

use proconsul::Server;
use proconsul::control::Session;
use proconsul::history::{Filter, Happened, Kind, Record, ReleasedBy};
use proconsul_engine::BlockedOn;
use proconsul_store::Key;

use crate::support::{PATIENCE, ask, background, frozen, get, join, put};

/// The records of a deletion, without those of its request.
fn deletion(server: &Server, after: u64) -> Vec<Record> {
    let filter = [Kind::KeyDeleted, Kind::Released, Kind::Control]
        .into_iter()
        .fold(Filter::of(Kind::KeyTreeDeleted), Filter::or);
    server.history(&filter.after(after))
}

/// A tree of three keys, one of which a session holds, and a key beside it. Returns the session.
fn tree(server: &Server) -> String {
    for key in ["a/1", "a/3", "b"] {
        server.kv().put(key, "x");
    }
    let session = server.sessions().create(Session::default());
    let session = session.expect("a node");
    assert_eq!(server.kv().acquire("a/lock", "x", &session), Ok(true));
    session
}

#[test]
fn a_deleted_tree_is_one_record_and_one_for_each_lock_in_it() {
    let by_key = |server: &Server| ask(server, "DELETE", "/v1/kv/a/?recurse", "").body;
    let by_transaction = |server: &Server| {
        let body = r#"[{ "KV": { "Verb": "delete-tree", "Key": "a/" } }]"#;
        put(server, "/v1/txn", body).body
    };
    for delete in [by_key, by_transaction] {
        let server = frozen();
        let session = tree(&server);
        let before = server.last_record();
        delete(&server);
        let found = deletion(&server, before);
        let facts: Vec<_> = found.iter().map(|record| record.what.clone()).collect();
        let key = Key::new("a/lock");
        let expected = [
            Happened::KeyTreeDeleted {
                prefix: Key::new("a/"),
                keys: 3,
            },
            Happened::KeyDeleted { key: key.clone() },
            Happened::Released {
                key,
                session,
                cause: ReleasedBy::Delete,
            },
        ];
        assert_eq!(facts, expected);
        assert!(found.iter().all(|record| record.cause == Some(before + 1)));
    }
}

#[test]
fn a_deleted_tree_leaves_the_rest_of_the_history() {
    let server = Server::builder().history_capacity(200).frozen().start();
    let server = server.expect("a free port");
    tree(&server);
    let many = (0..64).map(|number| {
        format!(r#"{{ "KV": {{ "Verb": "set", "Key": "many/{number}", "Value": "eA==" }} }}"#)
    });
    let many: Vec<_> = many.collect();
    for part in 0..10 {
        let part = format!("[{}]", many.join(",")).replace("many/", &format!("many/{part}/"));
        put(&server, "/v1/txn", &part);
    }
    assert_eq!(server.kv().list("many/").len(), 640);
    server.clear_history();
    let session = server.sessions().create(Session::default());
    let session = session.expect("a node");
    assert_eq!(server.kv().acquire("lock", "x", &session), Ok(true));
    server.kv().delete_tree("many/");
    let timeline = server.timeline("lock");
    assert!(timeline.contains(r#""lock" acquired by"#), "{timeline}");
    assert_eq!(server.lost_records(), 0);
}

#[test]
fn the_life_of_a_key_has_the_deletion_of_the_tree_around_it() {
    let server = frozen();
    tree(&server);
    let before = server.last_record();
    server.kv().delete_tree("a");
    let line = r#"3 keys under "a" deleted"#;
    assert!(server.timeline("a/1").contains(line));
    assert!(!server.timeline("b").contains(line));
    assert_eq!(server.explain("a/1").last.as_deref(), Some(line));
    let of_key = |key: &str| server.history(&Filter::all().key(key).after(before)).len();
    assert_eq!([of_key("a/1"), of_key("b")], [1, 0]);
    server.kv().delete_tree("b");
    assert!(server.timeline("b").contains(r#"1 key under "b" deleted"#));
    // Where nothing is deleted, nothing has happened.
    server.kv().delete_tree("b");
    assert_eq!(deletion(&server, before).len(), 4);
}

#[test]
fn a_wake_follows_from_the_deletion_of_the_tree() {
    for read in ["a/1?", "a/?recurse&", "a/1/?recurse&", "?recurse&"] {
        let server = frozen();
        tree(&server);
        server.kv().put("a/1/2", "x");
        let before = server.last_record();
        let wait = format!("/v1/kv/{read}index={}&wait=60s", server.index());
        let waiting = background(&server, "GET", &wait);
        let blocked = server.wait_blocked(&BlockedOn::Anything, 1, PATIENCE);
        blocked.expect("it blocks");
        server.kv().delete_tree("a/1");
        join(waiting);
        let records = server.history(&Filter::all().after(before));
        let of_kind = |kind| records.iter().find(|one| one.what.kind() == kind);
        let woken = of_kind(Kind::Woken).expect("it is woken");
        let deleted = of_kind(Kind::KeyTreeDeleted).expect("the tree is deleted");
        assert_eq!(woken.cause, Some(deleted.number), "{read}");
    }
}

#[test]
fn other_languages_get_prefix_and_count() {
    let server = frozen();
    tree(&server);
    server.kv().delete_tree("a/");
    let found = get(&server, "/proconsul/v1/history?kind=key-tree-deleted").body;
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    let record = &found["records"][0];
    assert_eq!(record["prefix"], "a/");
    assert_eq!(record["keys"], 3);
    assert_eq!(record["text"], r#"3 keys under "a/" deleted"#);
    assert_eq!(record["key"], serde_json::Value::Null);
}
