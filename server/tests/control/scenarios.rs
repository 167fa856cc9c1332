//! What Consul does to its clients once in a while, on demand.

use std::time::Duration;

use proconsul::control::{Restart, Session};
use proconsul_engine::BlockedOn;
use proconsul_store::Cause;

use crate::support::{PATIENCE, SECOND, background, frozen, get, join};

#[test]
fn indexes_go_back_on_a_live_connection() {
    let server = frozen();
    for value in 0..20 {
        server.kv().put("k", value.to_string());
    }
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    let before = server.index().0;
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={before}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.lower_indexes(10);
    let answer = join(waiting);
    assert_eq!(
        (answer.body.as_str(), answer.index()),
        ("19", before - 1 - 10)
    );
    assert_eq!(server.index().0, before - 10);
    let body = get(&server, "/v1/kv/k").body;
    assert!(
        body.contains(&format!("\"ModifyIndex\":{}", before - 11)),
        "{body}"
    );
    server.lower_indexes(1_000_000);
    assert_eq!(get(&server, "/v1/kv/k").index(), 1);
    server.kv().put("k", "next");
    assert_eq!(get(&server, "/v1/kv/k").index(), 2);
    server.advance(20 * SECOND);
    assert!(server.sessions().renew(&session).is_err(), "TTLs go on");
}

#[test]
fn a_spurious_wake_has_the_same_index_and_the_same_data() {
    let server = frozen();
    server.kv().put("a/k", "1");
    let index = server.index().0;
    let waiting = background(&server, "GET", &format!("/v1/kv/a/k?raw&index={index}"));
    let other = background(&server, "GET", &format!("/v1/kv/b?index={index}&wait=1s"));
    server
        .wait_blocked(&BlockedOn::Anything, 2, PATIENCE)
        .expect("both block");
    assert_eq!(server.wake("a/"), 1);
    let answer = join(waiting);
    assert_eq!((answer.index(), answer.body.as_str()), (index, "1"));
    assert_eq!(server.blocked().len(), 1);
    server.advance(2 * SECOND);
    join(other);
}

#[test]
fn a_wake_can_come_late_and_with_all_that_changed_meanwhile() {
    let server = frozen();
    server.kv().put("k", "1");
    let index = server.index().0;
    server.delay_wakes("k", 5 * SECOND, Some(1));
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={index}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.kv().put("k", "2");
    server.advance(2 * SECOND);
    server.kv().put("k", "3");
    assert_eq!(server.blocked().len(), 1);
    server.advance(3 * SECOND);
    let answer = join(waiting);
    assert_eq!((answer.body.as_str(), answer.index()), ("3", index + 2));
    // That was the one.
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={}", index + 2));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.kv().put("k", "4");
    assert_eq!(join(waiting).body, "4");
}

#[test]
fn a_late_wake_comes_by_itself_while_time_passes() {
    let server = proconsul::Server::start();
    server.kv().put("k", "1");
    let index = server.index().0;
    server.delay_wakes("", Duration::from_millis(30), None);
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={index}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.kv().put("k", "2");
    assert_eq!(join(waiting).body, "2");
}

#[test]
fn sessions_end_by_their_check_or_their_node() {
    let server = frozen();
    let by_check = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    server
        .catalog()
        .fail_check("proconsul", "serfHealth")
        .expect("it is there");
    let ended = server.explain("none");
    assert!(!ended.exists);
    assert!(server.sessions().renew(&by_check).is_err());
    assert!(
        server.sessions().create(Session::default()).is_err(),
        "the check is critical"
    );
    server
        .catalog()
        .pass_check("proconsul", "serfHealth")
        .expect("it is there");
    let by_node = server
        .sessions()
        .create(Session::default())
        .expect("it passes again");
    server.catalog().delete_node("proconsul");
    let unknown = server.catalog().fail_check("proconsul", "serfHealth");
    assert_eq!(
        unknown.expect_err("the node is gone").to_string(),
        "node \"proconsul\" has no check \"serfHealth\""
    );
    let causes: Vec<_> = server
        .history(&proconsul::history::Filter::of(
            proconsul::history::Kind::SessionEnded,
        ))
        .into_iter()
        .map(|record| record.what)
        .collect();
    assert_eq!(
        causes,
        [
            proconsul::history::Happened::SessionEnded {
                session: by_check,
                cause: Cause::CheckCritical("serfHealth".to_owned()),
            },
            proconsul::history::Happened::SessionEnded {
                session: by_node,
                cause: Cause::NodeDeleted,
            },
        ]
    );
}

fn answers(address: std::net::SocketAddr) -> bool {
    std::net::TcpStream::connect(address).is_ok()
}

#[test]
fn a_server_refuses_connections_and_comes_back_on_its_port() {
    let server = frozen();
    let address = server.addr();
    server.kv().put("k", "1");
    let index = server.index();
    let waiting = background(&server, "GET", &format!("/v1/kv/k?index={index}"));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.refuse_connections().expect("it closes");
    assert!(!answers(address));
    waiting
        .join()
        .expect_err("its connection ended without an answer");
    server.wait_idle(PATIENCE).expect("nobody is left");
    server.accept_connections().expect("the port is its own");
    assert_eq!(server.addr(), address);
    assert_eq!(get(&server, "/v1/kv/k?raw").body, "1");
    server.refuse_connections().expect("it closes");
    drop(server);
    std::net::TcpListener::bind(address).expect("the port is free");
}

#[test]
fn a_restart_keeps_what_consul_keeps_or_nothing() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    let other = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    assert_eq!(server.kv().acquire("a", "1", &session), Ok(true));
    assert_eq!(server.kv().acquire("b", "1", &other), Ok(true));
    server.sessions().expire(&other).expect("it is there");
    server.advance(5 * SECOND);
    let index = server.index();
    server.restart(Restart::KeepState).expect("it starts");
    assert_eq!(server.index(), index);
    assert_eq!(
        server.explain("a").holder.as_deref(),
        Some(session.as_str())
    );
    assert_eq!(
        server.next_deadline(),
        Some(20 * SECOND),
        "the TTL starts anew"
    );
    assert_eq!(
        server.explain("b").lock_delay_left,
        None,
        "lock-delays are forgotten"
    );
    assert_eq!(get(&server, "/v1/kv/a?raw").body, "1");
    server.restart(Restart::WipeState).expect("it starts");
    assert_eq!(get(&server, "/v1/kv/a").status, 404);
    assert!(server.index() < index);
}
