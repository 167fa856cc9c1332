//! Bugs of locks.

use std::net::SocketAddr;

use proconsul::control::Session;
use proconsul::faults::{ConsulError, Cut, Effect, Rule};

use crate::client::{get, put, send};
use crate::{Client, SECOND};

/// 3. Too many requests, says the server once, and the lock is given up (hashicorp/consul#1457: monitors retry 500 only).
#[test]
fn a_monitor_that_gives_up_on_429() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        let session = server
            .sessions()
            .create(Session::default())
            .expect("a node");
        assert_eq!(server.kv().acquire("lock", "", &session), Ok(true));
        let rule = Rule::new(Effect::Error(ConsulError::RateLimited))
            .key_prefix("lock")
            .times(1);
        let _guard = server.fault(rule).expect("it can match");
        let still_held = (0..3).find_map(|_| {
            let answer = get(server.addr(), "/v1/kv/lock");
            match (client, answer.status) {
                (_, 200) => Some(answer.body.contains(&session)),
                (_, 500) | (Client::Right, 429) => None,
                _ => Some(false),
            }
        });
        assert_eq!(still_held, Some(client == Client::Right));
        assert_eq!(
            server.explain("lock").holder,
            Some(session),
            "it was held all the time"
        );
    }
}

/// One attempt to acquire the lock, which may have to be repeated. With which session it is held, if it is.
fn acquire(
    client: Client,
    address: SocketAddr,
    mut new_session: impl FnMut() -> String,
) -> Option<String> {
    let mut session = new_session();
    for _ in 0..3 {
        match send(
            address,
            "PUT",
            &format!("/v1/kv/lock?acquire={session}"),
            "",
        ) {
            Ok(answer) if answer.body == "true" => return Some(session),
            Ok(_) => {}
            // No answer: it did not work, they thought, and began anew.
            Err(_) if client == Client::Wrong => session = new_session(),
            // It may have: the same again tells.
            Err(_) => {}
        }
    }
    None
}

/// 4. The acquire was applied and its answer is lost: a client that begins anew is locked out by itself.
#[test]
fn an_acquire_whose_answer_is_lost() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        let rule = Rule::new(Effect::AppliedThen(Cut::Reset))
            .key_prefix("lock")
            .times(1);
        let _guard = server.fault(rule).expect("it can match");
        let new_session = || {
            server
                .sessions()
                .create(Session::ttl(15 * SECOND))
                .expect("a node")
        };
        let held = acquire(client, server.addr(), new_session);
        assert_eq!(held.is_some(), client == Client::Right);
        let holder = server.explain("lock").holder;
        assert!(holder.is_some() && (holder == held || client == Client::Wrong));
    }
}

/// 7. After a holder's end nobody acquires for the lock-delay: who tries three times in a row goes without.
#[test]
fn retries_during_the_lock_delay() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        let first = server
            .sessions()
            .create(Session::default())
            .expect("a node");
        let second = server
            .sessions()
            .create(Session::default())
            .expect("a node");
        assert_eq!(server.kv().acquire("lock", "", &first), Ok(true));
        server.sessions().expire(&first).expect("it is there");
        let target = format!("/v1/kv/lock?acquire={second}");
        let acquired = (0..3).any(|_| {
            let acquired = put(server.addr(), &target).body == "true";
            if client == Client::Right {
                // Its own pause between attempts.
                server.advance(10 * SECOND);
            }
            acquired
        });
        assert_eq!(acquired, client == Client::Right);
    }
}
