//! Bugs about connections.

use proconsul::Server;
use proconsul::config::Config;
use proconsul_engine::BlockedOn;

use crate::client::get;
use crate::{Client, PATIENCE};

/// 10. A connection for every watched key runs into `http_max_conns_per_client` (hashicorp/consul#7527, #8221).
#[test]
fn more_watches_than_connections() {
    for client in [Client::Wrong, Client::Right] {
        let config = Config {
            http_max_conns_per_client: 4,
            ..Config::default()
        };
        let server = proconsul::test::server_with(Server::builder().config(config).frozen());
        for key in 0..4 {
            server.kv().put(format!("app/{key}"), "1");
        }
        let (address, index) = (server.addr(), server.index().0);
        let targets: Vec<String> = match client {
            Client::Wrong => (0..4)
                .map(|key| format!("/v1/kv/app/{key}?index={index}"))
                .collect(),
            Client::Right => vec![format!("/v1/kv/app/?recurse&index={index}")],
        };
        let count = targets.len();
        let watches: Vec<_> = targets
            .into_iter()
            .map(|target| std::thread::spawn(move || get(address, &target)))
            .collect();
        server
            .wait_blocked(&BlockedOn::prefix("app/"), count, PATIENCE)
            .expect("all watch");
        // There is nothing left for the program's other requests.
        let status = get(address, "/v1/kv/app/0").status;
        let expected = if client == Client::Wrong { 429 } else { 200 };
        assert_eq!(status, expected);
        server.wake("app/");
        for watch in watches {
            watch.join().expect("it is answered");
        }
    }
}
