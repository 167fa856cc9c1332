//! Bugs of those who hold a lock by a session.

use proconsul::control::Session;
use proconsul::history::{Interval, Unsafe};

use crate::client::{put, send};
use crate::{Client, SECOND};

/// 5. A session that lapsed cannot be renewed: 404 is no hiccup but the loss of everything that it held.
#[test]
fn a_renew_after_the_lapse() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        let session = server
            .sessions()
            .create(Session::ttl(10 * SECOND))
            .expect("a node");
        assert_eq!(server.kv().acquire("leader", "", &session), Ok(true));
        let from = server.now();
        // The network is down for as long as the session lives.
        server.advance(20 * SECOND);
        let mut to = server.now();
        for _ in 0..3 {
            let renewed = put(server.addr(), &format!("/v1/session/renew/{session}"));
            if renewed.status == 404 && client == Client::Right {
                break;
            }
            server.advance(5 * SECOND);
            to = server.now();
        }
        let belief = Interval { session, from, to };
        let safe = server.check_lock_safety("leader", &[belief]);
        assert_eq!(safe.is_ok(), client == Client::Right, "{safe:?}");
    }
}

/// 8. A leader is paused, its session lapses, another leads, and the first goes on where it was: two leaders.
#[test]
fn two_leaders_after_a_pause() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        let sessions = server.sessions();
        let first = sessions.create(Session::ttl(10 * SECOND)).expect("a node");
        let second = sessions.create(Session::ttl(60 * SECOND)).expect("a node");
        assert_eq!(server.kv().acquire("leader", "first", &first), Ok(true));
        let began = server.now();
        server.advance(40 * SECOND);
        assert_eq!(server.kv().acquire("leader", "second", &second), Ok(true));
        // The first wakes up, and writes what only the leader may write.
        let write = match client {
            Client::Wrong => send(server.addr(), "PUT", "/v1/kv/work", "by first"),
            // Only if it still holds the lock: both in one transaction.
            Client::Right => send(
                server.addr(),
                "PUT",
                "/v1/txn",
                &format!(
                    r#"[{{"KV":{{"Verb":"check-session","Key":"leader","Session":"{first}"}}}},
                        {{"KV":{{"Verb":"set","Key":"work","Value":"Ynk="}}}}]"#
                ),
            ),
        };
        assert!(write.is_ok());
        let worked = server.kv().get("work").is_some();
        assert_eq!(worked, client == Client::Wrong);
        let lost_at = server.now();
        let belief = |session: &str, from, to| Interval {
            session: session.to_owned(),
            from,
            to,
        };
        server.advance(SECOND);
        if worked {
            let beliefs = [
                belief(&first, began, server.now()),
                belief(&second, lost_at, server.now()),
            ];
            let found = server
                .check_lock_safety("leader", &beliefs)
                .expect_err("two leaders");
            assert!(matches!(found[0], Unsafe::TwoBelievers { .. }));
        }
    }
}
