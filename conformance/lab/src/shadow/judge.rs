//! Whether two answers are alike: as `diff` compares whole cases, with references that reach over all that was said before.

use std::collections::BTreeSet;

use serde_json::Value;

use super::mapping::{Mapping, ids_in, indexes_of};
use proconsul_conformance::compare::difference::difference;
use proconsul_conformance::compare::normalize::{Known, normalize_knowing, unpacked};
use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::transcript::{Exchange, Line, Names, Transcript};
use proconsul_conformance::wire::{Outcome, Reply};

/// Paths that answer with the inside of one process.
const INSIDE: [&str; 3] = ["/v1/agent/self", "/v1/agent/metrics", "/v1/agent/host"];

/// What differs between two answers, and what is learnt of them.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// The lines that differ, `-` the real server's; `None` for answers that are alike.
    pub(super) difference: Option<String>,
    ids: Vec<(String, String, bool)>,
    indexes: Vec<(u64, u64)>,
    /// Replies that are alike but for the order of writes that had overlapped.
    unordered: Option<(Reply, Reply)>,
}

impl Judgement {
    pub(super) fn is_same(&self) -> bool {
        self.difference.is_none()
    }

    /// Adds what these answers have shown to what is known.
    pub(super) fn learn(self, mapping: &mut Mapping) -> Option<String> {
        for (real, emulated, is_session) in self.ids {
            mapping.pair(&real, &emulated, is_session);
        }
        for (real, emulated) in self.indexes {
            mapping.pair_indexes(real, emulated);
        }
        if let Some((real, emulated)) = &self.unordered {
            mapping.pair_unordered(real, emulated);
        }
        self.difference
    }
}

/// Whether the moments at which things were done are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indexes {
    Compared,
    /// Each server has done it at a moment of its own.
    LeftOut,
}

/// Below this path the checks of a service come in an order of chance.
const OF_CHANCE: &str = "/v1/agent/health/";

/// One side of a comparison.
struct Side {
    lines: Vec<String>,
    known: Known,
}

impl Side {
    fn of(asked: &Asked, outcome: &Outcome, names: &Names, known: Known) -> Self {
        let path = asked.path();
        let path = match INSIDE.contains(&path) {
            true => INSIDE[0],
            false => path,
        };
        let exchange = Exchange {
            sent: format!("{} {path} HTTP/1.1\r\n\r\n", asked.method).into_bytes(),
            outcome: Some(without_contact(asked, outcome, names)),
            took: Stopwatch::start().elapsed(),
            superseded: false,
        };
        let transcript = Transcript {
            lines: vec![Line::Exchange(exchange)],
            names: names.clone(),
            incomparable: None,
        };
        let (lines, known) = normalize_knowing(&transcript, known);
        Self { lines, known }
    }
}

/// An answer without what two followers say differently: how long ago each heard of its leader.
fn without_contact(asked: &Asked, outcome: &Outcome, names: &Names) -> Outcome {
    let mut outcome = outcome.clone();
    if let Outcome::Reply(reply) = &mut outcome
        && asked.parameter("stale").is_some()
        && !names.other_nodes.is_empty()
    {
        let is_contact = |name: &str| name.eq_ignore_ascii_case("X-Consul-LastContact");
        reply.headers.retain(|(name, _)| !is_contact(name));
    }
    outcome
}

/// Compares the real server's answer with the emulator's.
pub(super) fn judge(
    mapping: &Mapping,
    names: &(Names, Names),
    indexes: Indexes,
    asked: &Asked,
    real: &Outcome,
    emulated: &Outcome,
) -> Judgement {
    let as_is = |real, emulated| judge_as_is(mapping, names, indexes, asked, real, emulated);
    let judgement = as_is(real, emulated);
    if judgement.is_same() {
        return judgement;
    }
    if indexes == Indexes::Compared
        && let (Outcome::Reply(one), Outcome::Reply(other)) = (real, emulated)
        && mapping.is_raced(&indexes_of(emulated, mapping.floors.1))
    {
        let mut unordered = judge(mapping, names, Indexes::LeftOut, asked, real, emulated);
        if unordered.is_same() {
            unordered.unordered = Some((one.clone(), other.clone()));
            return unordered;
        }
    }
    if !asked.path().starts_with(OF_CHANCE) {
        return judgement;
    }
    let sorted = as_is(&in_order(real), &in_order(emulated));
    if sorted.is_same() { sorted } else { judgement }
}

/// The answer with its body unpacked: ids and indexes in it are to be seen, and two compressors pack the same differently.
pub(super) fn readable(outcome: Outcome) -> Outcome {
    with_body(outcome, unpacked)
}

/// The answer with checks in the order of their ids, where a real server gives them by chance.
fn in_order(outcome: &Outcome) -> Outcome {
    with_body(outcome.clone(), |reply| {
        let mut body: Value = serde_json::from_slice(&reply.body).ok()?;
        sort_checks(&mut body);
        Some(body.to_string().into_bytes())
    })
}

fn sort_checks(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_checks);
            if items.iter().all(|item| item.get("CheckID").is_some()) {
                items.sort_by_key(|item| item["CheckID"].to_string());
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(sort_checks),
        _ => {}
    }
}

/// The answer with another body, if there is one; a true length stays true.
pub(super) fn with_body(outcome: Outcome, other: impl Fn(&Reply) -> Option<Vec<u8>>) -> Outcome {
    let Outcome::Reply(mut reply) = outcome else {
        return outcome;
    };
    let Some(body) = other(&reply) else {
        return Outcome::Reply(reply);
    };
    let (length, new) = (reply.body.len().to_string(), body.len().to_string());
    for (name, value) in &mut reply.headers {
        if name.eq_ignore_ascii_case("Content-Length") && *value == length {
            value.clone_from(&new);
        }
    }
    reply.body = body;
    Outcome::Reply(reply)
}

/// Compares two answers as they are.
fn judge_as_is(
    mapping: &Mapping,
    names: &(Names, Names),
    indexes: Indexes,
    asked: &Asked,
    real: &Outcome,
    emulated: &Outcome,
) -> Judgement {
    let translated = match emulated {
        Outcome::Reply(reply) => Outcome::Reply(mapping.reply_to_real(reply)),
        other => other.clone(),
    };
    let (floor, emulated_floor) = match indexes {
        Indexes::Compared => mapping.floors,
        Indexes::LeftOut => (u64::MAX, u64::MAX),
    };
    let shown = indexes_of(real, floor);
    let shown_there = indexes_of(emulated, emulated_floor);
    let pairs = mapping.pairs_around(&shown, &shown_there);
    let known = |floor, indexes| {
        let mut known = Known {
            floor,
            indexes,
            ..Known::default()
        };
        let said = [real, &translated].into_iter().flat_map(ids_of);
        for id in ids_in(asked.path()).into_iter().chain(said) {
            let list = match mapping.is_session(&id) {
                true => &mut known.sessions,
                false if mapping.may_pair(&id, &id) => continue,
                false => &mut known.others,
            };
            if !list.contains(&id) {
                list.push(id);
            }
        }
        known
    };
    let of_real = known(floor, pairs.iter().map(|(real, _)| *real).collect());
    let of_emulated = known(
        emulated_floor,
        pairs.iter().map(|(_, other)| *other).collect(),
    );
    let counts = (of_real.sessions.len(), of_real.others.len());
    let one = Side::of(asked, real, &names.0, of_real);
    let other = Side::of(asked, &translated, &names.1, of_emulated);
    let mut judgement = Judgement {
        difference: difference(&one.lines, &other.lines),
        ..Judgement::default()
    };
    let new_ids = [
        (&one.known.sessions, &other.known.sessions, counts.0, true),
        (&one.known.others, &other.known.others, counts.1, false),
    ];
    for (real, emulated, count, is_session) in new_ids {
        if real.len() == emulated.len() {
            let new = real[count..].iter().zip(&emulated[count..]);
            judgement.add_ids(mapping, new, is_session);
        }
    }
    if judgement.is_same() {
        judgement.add_indexes(mapping, &one.known, &other.known, (&shown, &shown_there));
    }
    judgement
}

impl Judgement {
    fn add_ids<'i>(
        &mut self,
        mapping: &Mapping,
        new: impl Iterator<Item = (&'i String, &'i String)>,
        is_session: bool,
    ) {
        for (real, emulated) in new {
            if real == emulated && !mapping.may_pair(real, emulated) {
                // The program has put the real server's id into a value of its own, which is alike on both.
            } else if mapping.may_pair(real, emulated) {
                self.ids.push((real.clone(), emulated.clone(), is_session));
            } else if self.is_same() {
                let text = format!("- the id {real}, which is known\n+ an id that is not its\n");
                self.difference = Some(text);
            }
        }
    }

    /// The index at a rank on one side must be the one at that rank on the other.
    fn add_indexes(
        &mut self,
        mapping: &Mapping,
        real: &Known,
        emulated: &Known,
        shown: (&BTreeSet<u64>, &BTreeSet<u64>),
    ) {
        let there: Vec<u64> = emulated.indexes.iter().copied().collect();
        for (rank, index) in real.indexes.iter().enumerate() {
            if !shown.0.contains(index) {
                continue;
            }
            let other = there.get(rank).filter(|other| shown.1.contains(other));
            match other {
                Some(other) if mapping.may_be_same(*index, *other) => {
                    self.indexes.push((*index, *other));
                }
                _ => {
                    let text = format!(
                        "- the index {index}\n+ an index that stands for another moment: one of {:?}\n",
                        shown.1
                    );
                    self.difference = Some(text);
                    self.indexes.clear();
                    return;
                }
            }
        }
    }
}

fn ids_of(outcome: &Outcome) -> Vec<String> {
    match outcome {
        Outcome::Reply(reply) => ids_in(&text_of(reply)),
        _ => Vec::new(),
    }
}

fn text_of(reply: &Reply) -> String {
    let mut text = proconsul_conformance::compare::normalize::head_of(reply).join("\n");
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(&reply.body));
    text
}
