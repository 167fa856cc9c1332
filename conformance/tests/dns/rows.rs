//! The rows of the contract about DNS, as questions over the catalog with their answers: `rows.txt`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use proconsul_conformance::cases::clusters::{AREAS, CLAIMS};
use proconsul_testing::DnsQuestion;

use crate::answer;
use crate::catalog::MANY;
use crate::questions::{Asked, SUBNET};

/// The questions of each claim, by the last part of its id: a line that is not indented, and the lines of its answer.
fn claims() -> BTreeMap<&'static str, Vec<(&'static str, Vec<&'static str>)>> {
    let sections = include_str!("rows.txt").split("\n# ").skip(1);
    let claim = |section: &'static str| {
        let (claim, lines) = section.split_once('\n').expect("a claim has questions");
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        let questions = lines.chunk_by(|_, next| next.starts_with("  "));
        let questions = questions.map(|lines| {
            (
                lines[0],
                lines[1..].iter().map(|line| line.trim()).collect(),
            )
        });
        (claim, questions.collect())
    };
    sections.map(claim).collect()
}

/// Reads a question: a name, a type, and how it is asked.
fn question(line: &'static str) -> Asked {
    let mut words = line.split(' ');
    let mut word = || words.next().expect("a question has a name and a type");
    let (name, kind) = (word(), word());
    let mut asked = Asked {
        question: DnsQuestion::new(name, kind),
        over_tcp: false,
        is_of_many: MANY.iter().any(|(service, _)| name.starts_with(service)),
    };
    for how in words {
        match how.split_once('=') {
            None if how == "tcp" => asked.over_tcp = true,
            None if how == "subnet" => asked.question.options = SUBNET.to_vec(),
            Some(("size", size)) => {
                asked.question.size = Some(size.parse().expect("a size is a number"));
            }
            Some(("flags", bits)) => {
                asked.question.flags = u16::from_str_radix(bits, 16).expect("flags are bits");
            }
            _ => panic!("{line}: {how} is no way to ask"),
        }
    }
    asked
}

/// The lines of an answer, which has the question as it was asked, or none: how it ended, and its records, of which each comes once, with how often it is there.
fn lines(server: SocketAddr, asked: &Asked) -> Vec<String> {
    let answer = answer(server, asked);
    let head = match answer.head.split_once(", ") {
        None => format!("{}, no question", answer.head),
        Some((head, question)) => {
            let name = asked.question.name.trim_end_matches('.');
            assert_eq!(question, format!("{name}. {}", asked.question.kind));
            head.to_owned()
        }
    };
    let records = answer.records.chunk_by(|one, next| one == next);
    let records = records.map(|same| match same {
        [one] => one.clone(),
        many => format!("{} x {}", many.len(), many[0]),
    });
    std::iter::once(head).chain(records).collect()
}

/// Holds all claims about DNS against a server with the catalog.
pub(crate) fn hold(server: SocketAddr) {
    let mut left = claims();
    for claim in CLAIMS {
        let Some(name) = claim.id.strip_prefix(AREAS[2]) else {
            continue;
        };
        let questions = left.remove(name);
        let questions = questions.unwrap_or_else(|| panic!("nothing holds {}", claim.id));
        for (line, expected) in questions {
            let shown = lines(server, &question(line));
            assert_eq!(shown, expected, "{}: {line}", claim.id);
        }
    }
    assert!(left.is_empty(), "no claims: {:?}", left.keys());
}
