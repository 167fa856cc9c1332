//! Many services (session.md 4.5): each is answered and watched by itself, and what the history says of who was woken.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use proconsul::Server;
use proconsul::history::{Filter, Happened, Kind};
use proconsul_engine::BlockedOn;

use crate::support::{PATIENCE, frozen, get, parse, put, request};

/// How many services there are, each with two checks.
const SERVICES: usize = 1000;
/// Every so many of them lie on a node of their own.
const ON_ONE_NODE: usize = 50;
/// Every so many of them are watched: as many clients as may be connected.
const WATCHED: usize = 10;

fn node(service: usize) -> String {
    format!("n{}", service / ON_ONE_NODE)
}

/// Registers a service with its two checks, the second of them in this status.
fn register(server: &Server, service: usize, status: &str) {
    let (name, node) = (format!("s{service}"), node(service));
    let check = |id: &str, status: &str| {
        format!(
            r#"{{"CheckID":"{name}-{id}","Name":"c","Status":"{status}","ServiceID":"{name}"}}"#
        )
    };
    let body = format!(
        r#"{{"Node":"{node}","Address":"127.0.0.1","Service":{{"Service":"{name}"}},"Checks":[{},{}]}}"#,
        check("a", "passing"),
        check("b", status)
    );
    assert_eq!(put(server, "/v1/catalog/register", &body).status, 200);
}

fn path(service: usize) -> String {
    format!("/v1/health/service/s{service}")
}

/// A client that waits for a service to change.
fn watch(server: &Server, service: usize) -> (usize, TcpStream) {
    let index = get(server, &path(service)).index();
    let target = format!("{}?index={index}", path(service));
    let mut connection = TcpStream::connect(server.addr()).expect("the server listens");
    connection
        .set_read_timeout(Some(PATIENCE))
        .expect("a timeout can be set");
    connection
        .write_all(request("GET", &target, &[], "").as_bytes())
        .expect("the server reads");
    (service, connection)
}

/// The services whose watchers look again because of what `act` does.
fn woken_by(server: &Server, act: impl FnOnce()) -> BTreeSet<usize> {
    let before = server.blocked();
    let since = Filter::of(Kind::Woken).after(server.last_record());
    act();
    server.wait_idle(PATIENCE).expect("all are answered");
    let records = server.history(&since);
    let calls = records.iter().map(|record| match &record.what {
        Happened::Woken { call, .. } => *call,
        other => panic!("{other} is no wake"),
    });
    let target = |call| {
        let blocked = before.iter().find(|blocked| blocked.call == call);
        let target = &blocked.expect("who is woken was blocked").target;
        let number = target.trim_start_matches("/v1/health/service/s");
        let number = number.split('?').next().unwrap_or_default();
        number.parse().expect("a target names its service")
    };
    calls.map(target).collect()
}

/// The answer that has come to a watcher.
fn answer(watcher: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    watcher
        .read_to_end(&mut bytes)
        .expect("who was woken is answered");
    parse(&bytes).body
}

#[test]
fn a_change_to_one_of_a_thousand_services_wakes_its_watchers_alone() {
    let server = frozen();
    for service in 0..SERVICES {
        register(&server, service, "passing");
    }
    for service in 0..SERVICES {
        let body = get(&server, &path(service)).body;
        assert_eq!(body.matches(r#""CheckID""#).count(), 2, "{body}");
    }
    let watched = (0..SERVICES).step_by(WATCHED);
    let mut watchers: Vec<_> = watched.map(|service| watch(&server, service)).collect();
    let all = watchers.len();
    server
        .wait_blocked(&BlockedOn::Anything, all, PATIENCE)
        .expect("all wait");

    let alone = woken_by(&server, || register(&server, 500, "warning"));
    assert_eq!(alone, BTreeSet::from([500]));
    assert_eq!(server.blocked().len(), all - 1);
    let (_, watcher) = watchers.remove(500 / WATCHED);
    assert!(answer(&mut { watcher }).contains(r#""Status":"warning""#));

    // Nobody watches it, though its neighbours on the node are watched.
    assert_eq!(watchers[500 / WATCHED].0, 500 + WATCHED);
    let nobody = woken_by(&server, || register(&server, 501, "critical"));
    assert_eq!(nobody, BTreeSet::new());

    // A check of the node is shown with each of its services.
    let check = r#"{"Node":"n0","Address":"127.0.0.1","Check":{"CheckID":"disk","Name":"disk"}}"#;
    let neighbours = woken_by(&server, || {
        assert_eq!(put(&server, "/v1/catalog/register", check).status, 200);
    });
    let on_node = (0..ON_ONE_NODE).step_by(WATCHED);
    assert_eq!(neighbours, on_node.collect());

    let gone = r#"{"Node":"n19","ServiceID":"s990"}"#;
    let last = woken_by(&server, || {
        assert_eq!(put(&server, "/v1/catalog/deregister", gone).status, 200);
    });
    assert_eq!(last, BTreeSet::from([990]));
    let (service, watcher) = watchers.pop().expect("the last is left");
    assert_eq!((service, &answer(&mut { watcher })[..]), (990, "[]"));
}
