//! Bugs of watches.

use std::net::SocketAddr;

use proconsul_engine::BlockedOn;

use crate::client::{Answer, get};
use crate::{Client, PATIENCE};

/// 6. A wait without a unit is an error, which a client that does not look takes for "nothing new" (G-Research/consuldotnet#103).
#[test]
fn a_wait_without_a_unit() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        server.kv().put("k", "1");
        let (address, known) = (server.addr(), server.index().0);
        let wait = match client {
            Client::Wrong => "10",
            Client::Right => "10s",
        };
        let watch = std::thread::spawn(move || {
            let is_new = |answer: &Answer| answer.index.is_some_and(|index| index > known);
            let target = format!("/v1/kv/k?raw&wait={wait}&index={known}");
            (1..50)
                .find(|_| is_new(&get(address, &target)))
                .unwrap_or(50)
        });
        if client == Client::Right {
            server
                .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
                .expect("it waits");
            server.kv().put("k", "2");
        }
        let requests = watch.join().expect("no panic");
        match client {
            Client::Wrong => assert_eq!(
                requests, 50,
                "it asked as fast as it could, and saw nothing"
            ),
            Client::Right => assert_eq!(requests, 1),
        }
    }
}

/// What a watch of a tree of keys knows: the index, and whether anything is there.
struct Tree {
    index: u64,
    exists: bool,
}

fn next_of_tree(client: Client, address: SocketAddr, known: Tree) -> Tree {
    let answer = get(address, &format!("/v1/kv/app/?keys&index={}", known.index));
    match (client, answer.status) {
        // Something is wrong with the server, they thought: try again with what we had.
        (Client::Wrong, 404) => known,
        (_, status) => Tree {
            index: answer
                .index
                .expect("a read has an index, also one that finds nothing"),
            exists: status == 200,
        },
    }
}

/// 9. A deleted tree is answered with 404 and an index: nothing there is an answer, too.
#[test]
fn a_watch_on_a_deleted_prefix() {
    for client in [Client::Wrong, Client::Right] {
        let server = proconsul::test::frozen();
        server.kv().put("app/a", "1");
        let (address, index) = (server.addr(), server.index().0);
        let known = Tree {
            index,
            exists: true,
        };
        let watch = std::thread::spawn(move || {
            let mut known = known;
            for _ in 0..3 {
                known = next_of_tree(client, address, known);
                if !known.exists {
                    break;
                }
            }
            known.exists
        });
        server
            .wait_blocked(&BlockedOn::prefix("app/"), 1, PATIENCE)
            .expect("it watches");
        server.kv().delete_tree("app/");
        let believes_it_exists = watch.join().expect("no panic");
        assert_eq!(believes_it_exists, client == Client::Wrong);
    }
}
