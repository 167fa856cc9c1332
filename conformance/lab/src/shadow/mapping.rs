//! Who is who: what the real server calls something, and what the emulator calls it.
//!
//! Ids of chance (sessions, queries, the node) and indexes are different on both. A pair is learnt where both first show it at the same
//! place of the same answer, and from then on it must hold. Requests are rewritten for the emulator where Consul reads an id or an index
//! out of them: never in keys and values, which are the program's own and thus alike on both.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound::{Excluded, Included, Unbounded};

use proconsul_conformance::compare::normalize::scan::{UUID_LENGTH, marked_numbers, uuid_at};
use proconsul_conformance::compare::normalize::{INDEX_MARKS, head_of};
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Reply};

/// An index that no entry has.
const NOWHERE: u64 = 1 << 62;
/// So many indexes from before are kept by what showed them.
const MOST_RECENT: usize = 4096;

/// Pairs of names, the real server's first.
#[derive(Debug, Default, Clone)]
pub(super) struct Mapping {
    /// Lower-case ids.
    ids: HashMap<String, String>,
    back: HashMap<String, String>,
    sessions: HashSet<String>,
    indexes: BTreeMap<u64, u64>,
    indexes_back: BTreeMap<u64, u64>,
    /// The last indexes of the state that was there already.
    pub(super) floors: (u64, u64),
    /// Indexes of that state by the path that showed them: one index of the real server may be several of the emulator's.
    recent: HashMap<(String, u64), u64>,
    hashes: HashMap<String, String>,
    /// Indexes of the emulator at which it did writes that had overlapped: their order may be another than the real server's.
    raced: Vec<(u64, u64)>,
    /// Indexes from such moments, which are given back as they were shown and in no order.
    unordered: HashMap<u64, u64>,
}

impl Mapping {
    /// Whether the pair holds: known as such, or new on both sides.
    pub(super) fn may_pair(&self, real: &str, emulated: &str) -> bool {
        let (real, emulated) = (real.to_lowercase(), emulated.to_lowercase());
        match (self.ids.get(&real), self.back.get(&emulated)) {
            (None, None) => true,
            (known, _) => known == Some(&emulated),
        }
    }

    pub(super) fn pair(&mut self, real: &str, emulated: &str, is_session: bool) {
        let (real, emulated) = (real.to_lowercase(), emulated.to_lowercase());
        if is_session {
            self.sessions.insert(real.clone());
        }
        self.back.insert(emulated.clone(), real.clone());
        self.ids.insert(real, emulated);
    }

    /// The emulator's id for one of the real server's; one that is unknown stays.
    pub(super) fn to_emulated_id(&self, real: &str) -> String {
        let known = self.ids.get(&real.to_lowercase());
        known.cloned().unwrap_or_else(|| real.to_owned())
    }

    /// Ids that the program itself has chosen are alike on both.
    pub(super) fn learn_own(&mut self, asked: &Asked) {
        let content = String::from_utf8_lossy(asked.body()).into_owned();
        let mut own = Vec::new();
        for text in [&asked.target, &content] {
            replace_ids(text, |id| {
                own.push(id.to_lowercase());
                None
            });
        }
        for id in own {
            if !self.ids.contains_key(&id) && !self.back.contains_key(&id) {
                self.pair(&id, &id, false);
            }
        }
    }

    pub(super) fn is_session(&self, real: &str) -> bool {
        self.sessions.contains(real)
    }

    /// A text of the emulator with the real server's ids.
    pub(super) fn to_real(&self, text: &str) -> String {
        replace_ids(text, |id| self.back.get(&id.to_lowercase()).cloned())
    }

    /// A reply of the emulator with the real server's ids; a body that is no text stays.
    pub(super) fn reply_to_real(&self, reply: &Reply) -> Reply {
        let mut reply = reply.clone();
        for (_, value) in &mut reply.headers {
            *value = self.to_real(value);
        }
        if let Ok(text) = std::str::from_utf8(&reply.body) {
            reply.body = self.to_real(text).into_bytes();
        }
        reply
    }

    /// The request as the emulator is to see it.
    pub(super) fn to_emulator(&self, asked: &Asked) -> Asked {
        let mut asked = asked.clone();
        let emulated = |id: &str| self.ids.get(&id.to_lowercase()).cloned();
        let path = asked.path().to_owned();
        let query = asked.query().to_owned();
        let new_path = match asked.key() {
            Some(_) => path.clone(),
            None => replace_ids(&path, emulated),
        };
        if !query.is_empty() {
            let parts = query.split('&').map(|part| self.parameter(&path, part));
            let parts: Vec<String> = parts.collect();
            asked.target = format!("{new_path}?{}", parts.join("&"));
        } else if new_path != path {
            asked.target = new_path;
        }
        if asked.key().is_none() && !asked.body().is_empty() {
            let content = asked.content();
            if let Ok(text) = std::str::from_utf8(&content) {
                let changed = self.body(text);
                if changed != text {
                    asked.set_body(&changed);
                }
            }
        }
        asked
    }

    fn parameter(&self, path: &str, part: &str) -> String {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let number = value.parse::<u64>().ok();
        match (name, number) {
            ("index", Some(index)) => format!("{name}={}", self.index_at(path, index)),
            ("cas", Some(index)) => format!("{name}={}", self.exact(index)),
            ("hash", _) => match self.hashes.get(value) {
                Some(hash) => format!("{name}={hash}"),
                None => part.to_owned(),
            },
            _ => replace_ids(part, |id| self.ids.get(&id.to_lowercase()).cloned()),
        }
    }

    /// A JSON body: ids that are whole strings, but not keys, and indexes.
    fn body(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (place, number) in marked_numbers(text, &["\"Index\":", "\"ModifyIndex\":"]) {
            out.push_str(&text[done..place]);
            out.push_str(&self.exact(number).to_string());
            done = place + number.to_string().len();
        }
        out.push_str(&text[done..]);
        let mut done = 0;
        let mut ids = String::with_capacity(out.len());
        for (at, _) in out.match_indices('"') {
            let Some(id) = out.get(at + 1..).and_then(uuid_at) else {
                continue;
            };
            let ends = out[at + 1 + UUID_LENGTH..].starts_with('"');
            let before = out[..at].trim_end().trim_end_matches(':').trim_end();
            let Some(emulated) = self.ids.get(&id.to_lowercase()) else {
                continue;
            };
            if ends && !before.ends_with("\"Key\"") {
                ids.push_str(&out[done..=at]);
                ids.push_str(emulated);
                done = at + 1 + UUID_LENGTH;
            }
        }
        ids.push_str(&out[done..]);
        ids
    }

    /// The index that an entry must have: one that nobody was shown is nobody's.
    fn exact(&self, index: u64) -> u64 {
        match index {
            0 => 0,
            _ => {
                let known = self.indexes.get(&index).or(self.unordered.get(&index));
                known.copied().unwrap_or(NOWHERE)
            }
        }
    }

    /// The index that a read is to exceed.
    fn index_at(&self, path: &str, index: u64) -> u64 {
        if index <= self.floors.0
            && let Some(recent) = self.recent.get(&(path.to_owned(), index))
        {
            return *recent;
        }
        if index == 0 {
            return 0;
        }
        let known = self.indexes.get(&index).or(self.unordered.get(&index));
        if let Some(known) = known {
            return *known;
        }
        // Between two indexes that were shown nothing was seen to happen; beyond the last the distance stays.
        let below = self.indexes.range(..index).next_back();
        let (real, emulated) = below.map_or(self.floors, |(real, emulated)| (*real, *emulated));
        match self.indexes.range(index..).next() {
            Some(_) => emulated,
            None if index > real => emulated.saturating_add(index - real),
            None => emulated.min(index),
        }
    }

    /// Whether an index was never compared: the answer that showed it may still be looked at.
    pub(super) fn is_unknown(&self, index: u64) -> bool {
        index > 0 && !self.indexes.contains_key(&index) && !self.unordered.contains_key(&index)
    }

    /// Takes an index of the emulator for one that was never compared.
    pub(super) fn guess(&mut self, real: u64, emulated: u64) {
        self.unordered.insert(real, emulated);
    }

    /// Whether the index that a read is to exceed was shown already, so that it can be sent.
    pub(super) fn knows(&self, asked: &Asked) -> bool {
        let shown = |index: u64| index <= self.floors.0 || self.indexes.contains_key(&index);
        asked.index().is_some_and(shown)
    }

    /// Pairs that matter for judging these indexes: themselves and their neighbours.
    pub(super) fn pairs_around(
        &self,
        real: &BTreeSet<u64>,
        emulated: &BTreeSet<u64>,
    ) -> Vec<(u64, u64)> {
        let mut pairs = BTreeSet::new();
        for (shown, pairing, turned) in [
            (real, &self.indexes, false),
            (emulated, &self.indexes_back, true),
        ] {
            for index in shown {
                let below = pairing.range(..index).next_back();
                let above = pairing.range((Excluded(index), Unbounded)).next();
                let own = pairing.get_key_value(index);
                for (one, other) in below.into_iter().chain(own).chain(above) {
                    pairs.insert(if turned {
                        (*other, *one)
                    } else {
                        (*one, *other)
                    });
                }
            }
        }
        pairs.into_iter().collect()
    }

    /// Whether two indexes may be the same moment.
    pub(super) fn may_be_same(&self, real: u64, emulated: u64) -> bool {
        match (self.indexes.get(&real), self.indexes_back.get(&emulated)) {
            (None, None) => true,
            (known, _) => known == Some(&emulated),
        }
    }

    pub(super) fn pair_indexes(&mut self, real: u64, emulated: u64) {
        self.indexes.insert(real, emulated);
        self.indexes_back.insert(emulated, real);
    }

    /// Notes that the emulator did writes that had overlapped after the one index and until the other.
    pub(super) fn add_race(&mut self, after: u64, until: u64) {
        if self.raced.len() >= MOST_RECENT {
            self.raced.remove(0);
        }
        self.raced.push((after, until));
    }

    /// Whether one of these indexes of the emulator is from writes that had overlapped.
    pub(super) fn is_raced(&self, emulated: &BTreeSet<u64>) -> bool {
        let mut ranges = self.raced.iter();
        ranges.any(|(after, until)| {
            emulated
                .range((Excluded(*after), Included(*until)))
                .next()
                .is_some()
        })
    }

    /// Indexes of two answers that are alike but for the order of moments.
    pub(super) fn pair_unordered(&mut self, real: &Reply, emulated: &Reply) {
        let (shown, shown_there) = (numbers(real), numbers(emulated));
        if shown.len() != shown_there.len() {
            return;
        }
        if self.unordered.len() >= MOST_RECENT {
            self.unordered.clear();
        }
        for (real, emulated) in shown.into_iter().zip(shown_there) {
            if real > self.floors.0 && !self.indexes.contains_key(&real) {
                self.unordered.insert(real, emulated);
            }
        }
    }

    /// An index of an entry that was there already, which a program may give back.
    pub(super) fn pair_copied(&mut self, real: u64, emulated: u64) {
        self.indexes.insert(real, emulated);
    }

    /// Learns what a program may send back after these two answers to a read of this path, whether or not they are alike.
    pub(super) fn learn_headers(&mut self, path: &str, real: &Reply, emulated: &Reply) {
        let number = |reply: &Reply| reply.header("X-Consul-Index")?.parse::<u64>().ok();
        if let (Some(real), Some(emulated)) = (number(real), number(emulated))
            && real <= self.floors.0
        {
            if self.recent.len() >= MOST_RECENT {
                self.recent.clear();
            }
            self.recent.insert((path.to_owned(), real), emulated);
        }
        let hash = |reply: &Reply| reply.header("X-Consul-Contenthash").map(str::to_owned);
        if let (Some(real), Some(emulated)) = (hash(real), hash(emulated)) {
            if self.hashes.len() >= MOST_RECENT {
                self.hashes.clear();
            }
            self.hashes.insert(real, emulated);
        }
    }
}

/// All indexes that an answer shows.
pub(super) fn indexes_of(outcome: &Outcome, floor: u64) -> BTreeSet<u64> {
    let Outcome::Reply(reply) = outcome else {
        return BTreeSet::new();
    };
    let numbers = numbers(reply).into_iter();
    numbers.filter(|number| *number > floor).collect()
}

/// The indexes of a reply, place by place.
fn numbers(reply: &Reply) -> Vec<u64> {
    let head = head_of(reply).join("\n");
    let body = String::from_utf8_lossy(&reply.body);
    [head.as_str(), &body]
        .iter()
        .flat_map(|text| marked_numbers(text, &INDEX_MARKS))
        .map(|(_, number)| number)
        .collect()
}

/// All ids in a text, in lower case and in order, each once.
pub(super) fn ids_in(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    replace_ids(text, |id| {
        let id = id.to_lowercase();
        if !ids.contains(&id) {
            ids.push(id);
        }
        None
    });
    ids
}

/// The text with those ids replaced for which there is another.
fn replace_ids(text: &str, mut by: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // The first group of an id ends with a hyphen: most places are passed over at once.
        let may_be = rest.as_bytes().get(8) == Some(&b'-') && first.is_ascii_hexdigit();
        let used = match uuid_at(rest).filter(|_| may_be) {
            Some(id) => {
                out.push_str(by(id).as_deref().unwrap_or(id));
                UUID_LENGTH
            }
            None => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[used..];
    }
    out
}
