//! Sockets before anybody accepts from them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdTcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::Address;
use super::sockets::{Bound, adopt, bind_one};
use proconsul_config::Listener;

/// As many clients as are connected at once: fewer than wait with Consul, many more than with the usual backlog of 128.
const CLIENTS: usize = 1000;
/// A client that finds no room tries again for ever: nobody accepts here.
const PATIENCE: Duration = Duration::from_secs(20);

/// That so many clients are connected although nobody accepts them.
fn has_room(bound: &Bound) {
    let clients: Vec<TcpStream> = match &bound.0 {
        Address::Tcp(address) => (0..CLIENTS)
            .map(|_| TcpStream::connect_timeout(address, PATIENCE).expect("there is room"))
            .collect(),
        Address::Unix(path) => {
            let clients: Vec<UnixStream> = (0..CLIENTS)
                .map(|_| UnixStream::connect(path).expect("there is room"))
                .collect();
            assert_eq!(clients.len(), CLIENTS);
            return;
        }
    };
    assert_eq!(clients.len(), CLIENTS);
}

/// Raises the limit of open files as far as it goes; each client takes one.
fn many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("a limit may be raised to its maximum");
}

#[tokio::test]
async fn a_thousand_clients_may_wait_to_be_accepted() {
    many_files();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    has_room(&bind_one(&Listener::Tcp(any)).expect("a port is free"));
    let given = StdTcpListener::bind(any).expect("a port is free");
    has_room(&adopt(given).expect("a socket can be adopted"));
}

/// A full backlog would make the client wait for ever.
#[tokio::test]
async fn a_thousand_clients_may_wait_at_a_path() {
    many_files();
    let name = format!("proconsul-backlog-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    let bound = bind_one(&Listener::Unix(path.clone())).expect("the path is free");
    let connecting = std::thread::spawn(move || has_room(&bound));
    let connected = tokio::task::spawn_blocking(move || connecting.join());
    let connected = proconsul_testing::within(PATIENCE, connected).await;
    std::fs::remove_file(path).expect("the socket is there");
    connected
        .expect("no client waits")
        .expect("the task ends")
        .expect("all were connected");
}
