//! DNS of a real 1.8.7 and of the emulator, over one catalog (cluster.md 6): the rows of the contract, and random questions.
//!
//! `CONFORMANCE_QUESTIONS` sets how many (default 2,000), `CONFORMANCE_SEED` which (default 1).

mod catalog;
mod messages;
mod questions;
mod rows;

use std::any::Any;
use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;

use proconsul::config::Config;
use proconsul::{Server, Version};
use proconsul_conformance::cases::clusters::{AREAS, CLAIMS};
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
    http: Address,
    _kept: Box<dyn Any>,
}

/// Whose servers are asked.
enum Consul {
    Real(PathBuf),
    Own,
}

impl Consul {
    /// Returns the real one, if there is one of the release that is emulated here.
    fn real() -> Option<Self> {
        let binary = left_out::consul()?;
        let target = consul::start(&binary, &Agent::default());
        let target = target.unwrap_or_else(|error| panic!("{error}"));
        if target.facts().version.to_string() != Version::V1_8_7.to_string() {
            left_out::test("a Consul 1.8.7");
            return None;
        }
        Some(Self::Real(binary))
    }

    /// Starts one with the catalog and further settings, in HCL.
    fn start(&self, settings: &str) -> Served {
        let served = self.started(settings);
        let served = served.unwrap_or_else(|refusal| panic!("{settings}: {refusal}"));
        catalog::register(&served.http);
        served
    }

    /// Starts one with further settings. Otherwise returns what it says.
    fn started(&self, settings: &str) -> Result<Served, String> {
        let port = free_port();
        let dns = format!("-dns-port={port}");
        let arguments = [&dns, "-node=n0", "-hcl", settings];
        let (http, kept): (_, Box<dyn Any>) = match self {
            Self::Real(binary) => {
                let agent = Agent {
                    arguments: arguments.map(str::to_owned).to_vec(),
                    ..Agent::default()
                };
                let target = consul::start(binary, &agent).map_err(|error| error.to_string())?;
                let http = target.shared_address().expect("one agent serves");
                (http.clone(), Box::new(target))
            }
            Self::Own => {
                let http = format!("-http-port={}", free_port());
                let arguments = [&["-dev", "-as-version=1.8.7", &http], &arguments[..]].concat();
                let config = Config::from_arguments(&arguments);
                let config = config.map_err(|error| error.to_string())?;
                let server = Server::builder().config(config).dns().start();
                let server = server.map_err(|error| error.to_string())?;
                let http = Address::parse(&server.addr().to_string());
                (http.expect("it is an address"), Box::new(server))
            }
        };
        Ok(Served {
            dns: SocketAddr::from(([127, 0, 0, 1], port)),
            http,
            _kept: kept,
        })
    }

    /// Holds all claims about DNS against servers of this kind.
    fn holds_the_claims(&self) {
        let default = self.start("");
        let mut rows = rows::claims();
        let mut checks: Vec<_> = messages::HELD.to_vec();
        for claim in CLAIMS {
            let Some(name) = claim.id.strip_prefix(AREAS[2]) else {
                continue;
            };
            if let Some(rows) = rows.remove(name) {
                rows.hold(self, &default, claim.id);
            } else {
                let place = checks.iter().position(|(check, _)| *check == name);
                let place = place.unwrap_or_else(|| panic!("nothing holds {}", claim.id));
                (checks.remove(place).1)(self, &default);
            }
        }
        assert!(rows.is_empty(), "no claims: {:?}", rows.keys());
        assert!(checks.is_empty(), "there are checks without a claim");
    }
}

#[test]
fn ours_holds_the_claims() {
    Consul::Own.holds_the_claims();
}

#[test]
fn a_real_one_holds_the_claims() {
    if let Some(real) = Consul::real() {
        real.holds_the_claims();
    }
}

#[test]
fn answers_are_those_of_a_real_consul() {
    let Some(real) = Consul::real() else {
        return;
    };
    let (real, own) = (real.start(""), Consul::Own.start(""));
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
