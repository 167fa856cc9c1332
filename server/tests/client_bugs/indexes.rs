//! Bugs about the index of a read.

use std::net::SocketAddr;

use proconsul::faults::{Effect, ReportedIndex, Rule};
use proconsul_engine::BlockedOn;

use crate::client::get;
use crate::{Client, PATIENCE};

/// A watch of one key: the index that it knows after an answer.
fn known_after(client: Client, known: u64, answered: u64) -> u64 {
    match client {
        // The index only grows, they thought.
        Client::Wrong => known.max(answered),
        // One that goes back means that all is new; one of 0 would not wait.
        Client::Right if answered < known => 0,
        Client::Right => answered,
    }
}

/// Reads on until the value is `wanted`. How many requests that took.
fn watch_until(client: Client, address: SocketAddr, mut known: u64, wanted: &str) -> usize {
    for requests in 1.. {
        let answer = get(address, &format!("/v1/kv/k?raw&index={known}"));
        known = known_after(client, known, answer.index.expect("a read has an index"));
        if answer.body == wanted {
            return requests;
        }
    }
    unreachable!("there is no end to the numbers")
}

/// 1. The index goes back on a live connection, as after a restore (hashicorp/consul#2621 and six other projects).
#[test]
fn an_index_that_goes_back() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        for value in 0..100 {
            server.kv().put("k", value.to_string());
        }
        let (address, known) = (server.addr(), server.index().0);
        let watch = std::thread::spawn(move || watch_until(client, address, known, "news"));
        server
            .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
            .expect("it watches");
        server.lower_indexes(100);
        let waits = server
            .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
            .expect("it watches on");
        server.kv().put("k", "news");
        match client {
            // It waits for an index that is a hundred writes away, and misses them all.
            Client::Wrong => {
                assert!(waits[0].min_index > server.index());
                server.wait_idle(PATIENCE).expect("nobody is told");
                assert!(!watch.is_finished());
            }
            Client::Right => {
                watch.join().expect("it sees the news");
            }
        }
    }
}

/// 2. The index is 0, so that the next request does not wait, nor any after it (silas/node-consul#134).
#[test]
fn an_index_of_zero() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        server.kv().put("k", "1");
        let rule = Rule::new(Effect::ReportIndex(ReportedIndex::Exactly(0))).key_prefix("k");
        let _guard = server.fault(rule).expect("it can match");
        let (address, known) = (server.addr(), server.index().0);
        let watch = std::thread::spawn(move || busy_requests(client, address, known));
        server
            .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
            .expect("it waits");
        server.wake("k");
        if client == Client::Right {
            server
                .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
                .expect("it waits on");
            server.kv().put("k", "2");
        }
        let requests = watch.join().expect("no panic");
        match client {
            Client::Wrong => assert_eq!(requests, 50, "it would have gone on for ever"),
            Client::Right => assert_eq!(requests, 2),
        }
    }
}

/// Reads until the value is 2, or 50 times. How many times that was.
fn busy_requests(client: Client, address: SocketAddr, mut known: u64) -> usize {
    for requests in 1..50 {
        let answer = get(address, &format!("/v1/kv/k?raw&index={known}"));
        if answer.body == "2" {
            return requests;
        }
        let answered = answer.index.expect("a read has an index");
        known = match client {
            Client::Wrong => answered,
            Client::Right if answered == 0 => known,
            Client::Right => answered,
        };
    }
    50
}
