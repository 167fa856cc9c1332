//! DNS on the wire: one port for datagrams and connections.

use std::net::{SocketAddr, TcpStream, UdpSocket};

use proconsul::Server;
use proconsul::config::{Config, DnsConfig};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_tcp, ask_over_udp};

const NODE: &str = "answer proconsul.node.consul. 0 A 127.0.0.1";

fn question() -> Vec<u8> {
    DnsQuestion::new("proconsul.node.consul", "A").bytes()
}

fn is_answered(answer: std::io::Result<Vec<u8>>) -> bool {
    let answer = DnsAnswer::read(&answer.expect("the server answers"));
    answer.records.contains(&NODE.to_owned())
}

#[test]
fn datagrams_and_connections_are_answered_at_one_free_port() {
    let server = Server::builder()
        .dns()
        .start()
        .expect("there is a free port");
    let address = server.dns_addr();
    assert!(is_answered(ask_over_udp(address, &question())));
    assert!(is_answered(ask_over_tcp(address, &question())));
}

#[test]
fn a_restart_closes_its_port_and_opens_it_again() {
    let server = Server::builder()
        .dns()
        .start()
        .expect("there is a free port");
    let address = server.dns_addr();
    let open = TcpStream::connect(address).expect("the server listens");
    server.refuse_connections().expect("the sockets close");
    TcpStream::connect(address).expect_err("nobody listens");
    // What was open is closed.
    let mut byte = [0];
    let read = std::io::Read::read(&mut &open, &mut byte);
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    server.accept_connections().expect("the sockets open");
    assert!(is_answered(ask_over_tcp(address, &question())));
    assert!(is_answered(ask_over_udp(address, &question())));
}

#[test]
fn a_port_that_somebody_has_is_told_with_its_protocol() {
    let start = |address: SocketAddr| {
        let config = Config {
            dns: DnsConfig {
                listeners: vec![address],
                ..DnsConfig::default()
            },
            ..Config::default()
        };
        let error = Server::builder()
            .config(config)
            .start()
            .expect_err("somebody has the port");
        error.to_string()
    };
    // Another test may have the port for TCP.
    let mut told = (0..20).map(|_| {
        let taken = UdpSocket::bind("127.0.0.1:0").expect("there is a free port");
        let address = taken.local_addr().expect("it is bound");
        start(address) == format!("listen udp {address}: bind: address already in use")
    });
    assert!(told.any(|is_of_udp| is_of_udp));
    let server = Server::start();
    let expected = format!("listen tcp {}: bind: address already in use", server.addr());
    assert_eq!(start(server.addr()), expected);
}
