//! Indexes that go back, on every endpoint that gives one.

use proconsul::Server;
use proconsul::control::Session;
use proconsul_engine::BlockedOn;

use crate::support::{PATIENCE, ask, background, frozen, get, join, put};

/// How far the indexes go back: not to the 1 under which none goes.
const BY: u64 = 3;

/// A server with something to see at each endpoint, all of whose indexes are well above [`BY`]; a session and a query.
fn furnished() -> (Server, String, String) {
    let server = frozen();
    server.kv().put("early", "1");
    let session = server.sessions().create(Session::default());
    let session = session.expect("a node");
    let service = r#"{"Node":"n1","Address":"1.1.1.1","Service":{"Service":"web"},"Check":{"Name":"c","ServiceID":"web"}}"#;
    assert_eq!(put(&server, "/v1/catalog/register", service).body, "true");
    let query = r#"{"Name":"q","Service":{"Service":"web"}}"#;
    let query = ask(&server, "POST", "/v1/query", query).body;
    let query = query.split('"').nth(3).expect("an id").to_owned();
    server.kv().put("k/1", "1");
    (server, session, query)
}

const BLOCKING: [&str; 23] = [
    "/v1/kv/k/1",
    "/v1/kv/k?recurse",
    "/v1/kv/k?keys",
    "/v1/kv/missing",
    "/v1/session/list",
    "/v1/session/info/SESSION",
    "/v1/session/node/proconsul",
    "/v1/catalog/nodes",
    "/v1/catalog/node/n1",
    "/v1/catalog/node-services/n1",
    "/v1/catalog/services",
    "/v1/catalog/service/web",
    "/v1/catalog/service/missing",
    "/v1/catalog/connect/web",
    "/v1/health/node/n1",
    "/v1/health/checks/web",
    "/v1/health/service/web",
    "/v1/health/service/missing",
    "/v1/health/connect/web",
    "/v1/health/state/any",
    "/v1/query",
    "/v1/query/QUERY",
    "/v1/catalog/nodes?filter=Node==n1",
];

#[test]
fn every_blocking_read_is_answered_with_an_index_that_went_back() {
    for target in BLOCKING {
        let (server, session, query) = furnished();
        let target = target.replace("SESSION", &session).replace("QUERY", &query);
        let before = get(&server, &target);
        let index = before.index();
        assert!(index > BY + 1, "{target}: {index}");
        let separator = if target.contains('?') { '&' } else { '?' };
        let waiting = background(&server, "GET", &format!("{target}{separator}index={index}"));
        server
            .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
            .expect(&target);
        server.lower_indexes(BY);
        let answer = join(waiting);
        assert_eq!(answer.status, before.status, "{target}");
        assert_eq!(answer.index(), index - BY, "{target}");
        assert_eq!(get(&server, &target).index(), index - BY, "{target}");
    }
}

/// What a row says of its own index is what the header says of its table's.
#[test]
fn rows_go_back_as_their_tables_do() {
    let (server, _, query) = furnished();
    let told = |server: &Server| {
        let body = get(server, &format!("/v1/query/{query}")).body;
        let index = body.split("\"ModifyIndex\":").nth(1).expect("it has one");
        let digits: String = index.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().expect("it is a number")
    };
    let before = told(&server);
    server.lower_indexes(BY);
    assert_eq!(told(&server), before - BY);
}

/// The index of events is half of an id, and no index of raft's.
#[test]
fn the_index_of_events_stays() {
    let (server, _, _) = furnished();
    put(&server, "/v1/event/fire/deploy", "now");
    let index = get(&server, "/v1/event/list").index();
    let waiting = background(&server, "GET", &format!("/v1/event/list?index={index}"));
    server
        .wait_blocked(&BlockedOn::Anything, 1, PATIENCE)
        .expect("it blocks");
    server.lower_indexes(BY);
    assert_eq!(join(waiting).index(), index);
}
