//! DNS of a real 1.8.7 and of the emulator, over one catalog (cluster.md 6): the rows of the contract, and random questions.
//!
//! `CONFORMANCE_QUESTIONS` sets how many (default 2,000), `CONFORMANCE_SEED` which (default 1).

mod catalog;
mod questions;
mod rows;

use std::any::Any;
use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use proconsul::Version;
use proconsul::config::Config;
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::wire::Address;
use proconsul_testing::{DnsAnswer, ask_over_tcp, ask_over_udp};
use questions::Asked;

const QUESTIONS: u64 = 2_000;
/// How often both are asked one question until they give the same answer: what they may choose they choose at random.
const TRIES: usize = 60;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("it is a number"))
}

/// Returns a port that is free for UDP and TCP.
fn free_port() -> u16 {
    loop {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = tcp.local_addr().expect("it is bound");
        if UdpSocket::bind(address).is_ok() {
            return address.port();
        }
    }
}

/// Returns what of an answer is not in a random order.
fn answer(server: SocketAddr, asked: &Asked) -> DnsAnswer {
    let bytes = asked.question.bytes();
    let answer = if asked.over_tcp {
        ask_over_tcp(server, &bytes)
    } else {
        ask_over_udp(server, &bytes)
    };
    let answer = answer.unwrap_or_else(|error| panic!("{server}: {asked:?}: {error}"));
    let mut answer = DnsAnswer::read(&answer);
    if asked.is_of_many {
        // Which few of many instances come is random; how many do, and how long their records are, is not.
        let mask = |record: &String| record.replace(|letter: char| letter.is_ascii_digit(), "#");
        answer.records = answer.records.iter().map(mask).collect();
    }
    answer.records.sort();
    answer
}

/// Asks until both have given one answer that is the same. Returns how they differ, if they always do.
fn difference(real: SocketAddr, own: SocketAddr, asked: &Asked) -> Option<String> {
    let (mut of_real, mut of_own) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..TRIES {
        of_real.insert(answer(real, asked));
        of_own.insert(answer(own, asked));
        if of_real.intersection(&of_own).next().is_some() {
            return None;
        }
    }
    let (real, own) = (of_real.first(), of_own.first());
    Some(format!("{asked:?}\nConsul: {real:#?}\nproconsul: {own:#?}"))
}

/// A server with the catalog, for as long as it is kept.
struct Served {
    dns: SocketAddr,
    _kept: Box<dyn Any>,
}

fn real() -> Option<Served> {
    let binary = left_out::consul()?;
    let port = free_port();
    let agent = Agent {
        arguments: vec![format!("-dns-port={port}"), "-node=n0".to_owned()],
        ..Agent::default()
    };
    let target = consul::start(&binary, &agent).unwrap_or_else(|error| panic!("{error}"));
    if target.facts().version.to_string() != Version::V1_8_7.to_string() {
        left_out::test("a Consul 1.8.7");
        return None;
    }
    catalog::register(target.shared_address().expect("one agent serves"));
    Some(Served {
        dns: SocketAddr::from(([127, 0, 0, 1], port)),
        _kept: Box::new(target),
    })
}

fn own() -> Served {
    let config = Config {
        version: Version::V1_8_7,
        node_name: "n0".to_owned(),
        ..Config::dev()
    };
    let server = proconsul::Server::builder().config(config).dns().start();
    let server = server.expect("there is a free port");
    catalog::register(&Address::parse(&server.addr().to_string()).expect("it is an address"));
    Served {
        dns: server.dns_addr(),
        _kept: Box::new(server),
    }
}

#[test]
fn ours_holds_the_rows() {
    rows::hold(own().dns);
}

#[test]
fn a_real_one_holds_the_rows() {
    if let Some(real) = real() {
        rows::hold(real.dns);
    }
}

#[test]
fn answers_are_those_of_a_real_consul() {
    let Some(real) = real() else {
        return;
    };
    let own = own();
    let mut random = questions::Random::new(number("CONFORMANCE_SEED", 1));
    let count = number("CONFORMANCE_QUESTIONS", QUESTIONS);
    let questions = (0..count).map(|_| questions::draw(&mut random));
    let differences: Vec<_> = questions
        .filter_map(|asked| difference(real.dns, own.dns, &asked))
        .collect();
    let (first, many) = (differences.iter().take(3), differences.len());
    let first: Vec<_> = first.cloned().collect();
    assert!(
        many == 0,
        "{many} of {count} answers differ:\n{}",
        first.join("\n")
    );
}
