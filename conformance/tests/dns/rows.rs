//! The rows of the contract about DNS, as questions over the catalog with their answers: `rows.txt`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use proconsul_testing::DnsQuestion;

use crate::catalog::MANY;
use crate::questions::{Asked, SUBNET};
use crate::{Consul, Served, answer};

/// The questions of a claim.
pub(crate) struct Rows {
    /// The settings of the server that is asked, if it is not the default one.
    settings: Option<&'static str>,
    /// A line that is not indented, and the lines of its answer.
    questions: Vec<(&'static str, Vec<&'static str>)>,
}

/// The questions of each claim, by the last part of its id.
pub(crate) fn claims() -> BTreeMap<&'static str, Rows> {
    let sections = include_str!("rows.txt").split("\n# ").skip(1);
    let claim = |section: &'static str| {
        let (claim, lines) = section.split_once('\n').expect("a claim has questions");
        let mut lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        let settings = lines[0].strip_prefix("settings: ");
        lines.drain(..usize::from(settings.is_some()));
        let questions = lines.chunk_by(|_, next| next.starts_with("  "));
        let questions = questions.map(|lines| {
            (
                lines[0],
                lines[1..].iter().map(|line| line.trim()).collect(),
            )
        });
        let questions = questions.collect();
        (
            claim,
            Rows {
                settings,
                questions,
            },
        )
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
        is_of_many: MANY.iter().any(|(service, _)| name.contains(service)),
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

impl Rows {
    /// Holds them against a server of this kind with the catalog.
    pub(crate) fn hold(&self, consul: &Consul, default: &Served, claim: &str) {
        let own = self.settings.map(|settings| consul.start(settings));
        let server = own.as_ref().unwrap_or(default).dns;
        for (line, expected) in &self.questions {
            let shown = lines(server, &question(line));
            assert_eq!(shown, *expected, "{claim}: {line}");
        }
    }
}
