//! Which answers differ between two runs of a command, and why they may.

use std::collections::BTreeMap;

use super::record::{Answer, Exchange};
use proconsul::Version;
use proconsul_version::Behaviour;

/// Headers whose values differ from run to run.
const VOLATILE: [&str; 5] = [
    "date",
    "content-length",
    "x-consul-index",
    "x-consul-lastcontact",
    "age",
];

/// A request whose answers differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// The request, and its answer by the release that is compared with.
    pub(super) base: Exchange,
    /// The answer of the other release.
    pub(super) other: Answer,
    /// How much of the answers differs.
    pub(super) kind: Kind,
}

/// How much of two answers differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Status,
    Body,
    Headers,
}

/// Returns the requests of `base` whose answers differ in `other`: those with another status first, then those with another
/// body, each in their order.
pub(super) fn differences(base: &[Exchange], other: &[Exchange]) -> Vec<Difference> {
    let mut answers: BTreeMap<_, Vec<&Exchange>> = BTreeMap::new();
    for exchange in other.iter().rev() {
        answers.entry(asked(exchange)).or_default().push(exchange);
    }
    let mut found = Vec::new();
    for exchange in base {
        let Some(twin) = answers.get_mut(&asked(exchange)).and_then(Vec::pop) else {
            continue;
        };
        let (Some(own), Some(others)) = (&exchange.answer, &twin.answer) else {
            continue;
        };
        if let Some(kind) = difference(own, others) {
            found.push(Difference {
                base: exchange.clone(),
                other: others.clone(),
                kind,
            });
        }
    }
    found.sort_by_key(|difference| difference.kind);
    found
}

/// What two runs have in common of a request.
fn asked(exchange: &Exchange) -> (&str, String, String) {
    let body = String::from_utf8_lossy(&exchange.body);
    (&exchange.method, plain(&exchange.target), plain(&body))
}

fn difference(own: &Answer, other: &Answer) -> Option<Kind> {
    let body = |answer: &Answer| plain(&String::from_utf8_lossy(&answer.body));
    if own.status != other.status {
        return Some(Kind::Status);
    }
    if body(own) != body(other) {
        return Some(Kind::Body);
    }
    (headers(own) != headers(other)).then_some(Kind::Headers)
}

/// Returns the headers of an answer that do not differ from run to run.
pub(super) fn headers(answer: &Answer) -> BTreeMap<&str, String> {
    let headers = answer.headers.iter();
    let headers = headers.filter(|(name, _)| !VOLATILE.contains(&name.as_str()));
    headers
        .map(|(name, value)| (name.as_str(), plain(value)))
        .collect()
}

/// Returns a text without what differs from run to run: UUIDs, and numbers, among them indexes, ports and times.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_hex = |letter: &u8| letter.is_ascii_hexdigit() || *letter == b'-';
        let run = rest.bytes().take_while(is_hex).count();
        let is_uuid = run >= 36
            && rest.as_bytes()[..36]
                .iter()
                .filter(|letter| **letter == b'-')
                .count()
                == 4;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = if is_uuid { 36 } else { digits };
        match length {
            0 => {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
            _ => {
                plain.push('#');
                rest = &rest[length..];
            }
        }
    }
    plain
}

/// Returns what differs between two releases for requests of this path: the rows of its own endpoint, or else those of all.
pub(super) fn reasons(target: &str, base: Version, other: Version) -> Vec<Behaviour> {
    let area = target
        .trim_start_matches("/v1/")
        .split(['/', '?'])
        .next()
        .unwrap_or_default();
    let differ = |behaviour: &Behaviour| base.has(*behaviour) != other.has(*behaviour);
    let rows = || {
        Behaviour::TABLE
            .iter()
            .map(|row| row.behaviour)
            .filter(differ)
    };
    // The first word of a row's id is the path's, or the beginning of it, such as `cat` and `sess`.
    let of_area = |area: &str| {
        let is_of = |row: &Behaviour| {
            let word = row.row().id.split_once('.');
            word.is_some_and(|(word, _)| area.starts_with(word))
        };
        rows().filter(is_of).collect::<Vec<_>>()
    };
    let own = of_area(area);
    if own.is_empty() { of_area("http") } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(target: &str, status: u16, headers: &[(&str, &str)], body: &str) -> Exchange {
        let header = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Exchange {
            method: "GET".to_owned(),
            target: target.to_owned(),
            body: bytes::Bytes::new(),
            answer: Some(Answer {
                status: Some(status),
                headers: headers.iter().map(header).collect(),
                body: body.to_owned().into(),
            }),
        }
    }

    #[test]
    fn what_differs_from_run_to_run_does_not_count() {
        let id = "8ae0a6a6-1b1b-4c4c-8d8d-1234567890ab";
        let base = exchange(
            "/v1/session/info/8ae0a6a6-0000-4c4c-8d8d-1234567890ab?index=7",
            200,
            &[("date", "a")],
            "[5]",
        );
        let other = exchange(
            &format!("/v1/session/info/{id}?index=12"),
            200,
            &[("date", "b")],
            "[61]",
        );
        assert!(differences(&[base], &[other]).is_empty());
    }

    #[test]
    fn a_status_comes_before_a_body_and_that_before_headers() {
        let base = [
            exchange("/a", 200, &[("x", "1")], "a"),
            exchange("/b", 200, &[], "a"),
            exchange("/c", 200, &[], "a"),
            exchange("/gone", 200, &[], "a"),
        ];
        let other = [
            exchange("/a", 200, &[("y", "1")], "a"),
            exchange("/b", 200, &[], "b"),
            exchange("/c", 400, &[], "a"),
        ];
        let found = differences(&base, &other);
        let found: Vec<_> = found
            .iter()
            .map(|row| (row.base.target.as_str(), row.kind))
            .collect();
        assert_eq!(
            found,
            [
                ("/c", Kind::Status),
                ("/b", Kind::Body),
                ("/a", Kind::Headers)
            ]
        );
    }

    #[test]
    fn the_reason_is_a_row_of_the_endpoint() {
        let reasons = reasons(
            "/v1/kv/a%20b",
            Version::new(1, 21, 4),
            Version::new(1, 21, 5),
        );
        let ids: Vec<_> = reasons.iter().map(|row| row.row().id).collect();
        assert!(ids.iter().any(|id| id.starts_with("kv.")), "{ids:?}");
    }

    #[test]
    fn a_row_whose_id_begins_as_the_path_does_may_explain_it() {
        let expected = [
            ("/v1/catalog/register", "cat.register_order"),
            ("/v1/kv/a", "kv.key_rules"),
            ("/v1/status/leader", "http.strict_chunks"),
        ];
        for (target, id) in expected {
            let reasons = reasons(target, Version::new(1, 21, 5), Version::V1_22_0);
            let ids: Vec<_> = reasons.iter().map(|row| row.row().id).collect();
            assert!(ids.contains(&id), "{target}: {ids:?}");
            let area = &id[..2];
            assert!(
                ids.iter().all(|id| id.starts_with(area)),
                "{target}: {ids:?}"
            );
        }
    }
}
