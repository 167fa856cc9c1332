//! What was said and heard, freed of what differs between two runs by nature.
//!
//! Nothing is blanked: what varies is replaced by a reference that keeps its identity and, for indexes, its order. The second session of a
//! trial is `<session:2>` wherever it stands; `<index:3>` is the third smallest of the indexes that the target showed, so equal stays equal
//! and later stays later; so are `<time:1>`, the time of an event, and `<event-index:1>`, the first index of a list of events. `<run>` is the trial's own part of names, `<node>` the agent's node, `<host>` the target's address, `<date>` a
//! date, `<length>` the true length of the body beside it. In upper case they are `<SESSION:2>` and `<NODE>`. Ports of the agent are `<port:1>`;
//! `agent/self`, which shows the inside of one process, is the one answer that is left out, and says so. Looks that a later look replaced
//! (`Trial::eventually`) are left out, for their number says nothing, and so are notes, for they are the suite's own words. What recordings
//! show beyond that, and two builds of a release do not share, is for `settle.rs`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

use super::settle::settled;
use crate::compare::normalize::scan::{
    UUID_LENGTH, address_at, hash_at, marked_numbers, position_or_push, uuid_at,
    uuid_at_start_of_name,
};
use crate::wire::json::{array_items, is_json_array};
use crate::wire::transcript::{Exchange, Line, Transcript};
use crate::wire::{Outcome, Reply};

/// Bodies and lines of heads beyond this many bytes are shown by a hash and the length that they have with references.
const SHOWN: usize = 16 * 1024;
/// What stands before an index.
pub const INDEX_MARKS: [&str; 9] = [
    "X-Consul-Index: ",
    "\"CreateIndex\":",
    "\"ModifyIndex\":",
    "\"Index\":",
    "?index=",
    "&index=",
    "?cas=",
    "&cas=",
    "modify index ",
];
/// What stands before an index that the client sent and the target repeats. It may be a constant of the case, so
/// it says nothing about which indexes there are.
const REPEATED_MARK: &str = " != ";
/// What stands before the time of an event.
const TIME_MARKS: [&str; 1] = ["\"LTime\":"];
/// What lists events: its index is made from the id of the last one, and so of chance.
const EVENTS: &[u8] = b"GET /v1/event/list";
/// The index of such a list when it is empty.
const WITHOUT_EVENTS: u64 = 1;
/// What stands before a port of the agent's own.
const PORT_MARKS: [&str; 3] = ["\"Port\":", "\"port\":", "\"wan_join_port\":"];
/// What stands before texts of chance, and what they are called.
const CHANCE_MARKS: [(&str, &str); 9] = [
    ("\"CreatedAt\":", "time"),
    ("\"UpdatedAt\":", "time"),
    ("\"CreateTime\":", "time"),
    ("\"ExpirationTime\":", "time"),
    ("\"Hash\":", "hash"),
    ("\"ContentHash\":", "hash"),
    ("X-Consul-Contenthash: ", "hash"),
    ("?hash=", "hash"),
    ("&hash=", "hash"),
];
/// How the emulator's own headers begin.
pub const OWN_HEADERS: &str = "X-Proconsul-";
/// What answers with settings, counters and memory of the process that runs.
const INSIDE: &[u8] = b"GET /v1/agent/self";

/// A transcript as lines that two runs of one case on equal servers have in common.
#[must_use]
pub fn normalize(transcript: &Transcript) -> Vec<String> {
    normalize_knowing(transcript, Known::default()).0
}

/// [`normalize`] for a part of what was said: what is known already has a reference, and what is known afterwards is returned.
#[must_use]
pub fn normalize_knowing(transcript: &Transcript, known: Known) -> (Vec<String>, Known) {
    let mut references = References::new(transcript, known);
    let mut lines = Vec::new();
    for line in &transcript.lines {
        match line {
            // How the suite let time pass depends on the target's clock, and is nothing that the target said.
            Line::Note(_) => {}
            Line::Exchange(exchange) if exchange.superseded => {}
            Line::Exchange(exchange) => references.exchange(exchange, &mut lines),
        }
    }
    let lines = settled(&lines);
    let known = Known {
        floor: references.floor,
        indexes: references.indexes.into_iter().collect(),
        sessions: references.sessions,
        others: references.others,
    };
    (lines, known)
}

/// What has a reference before anything is said.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Indexes up to this one are not told apart: they are from a time of which nothing was seen. 0 for none.
    pub floor: u64,
    /// Indexes that count besides those that are shown, and afterwards these, too.
    pub indexes: BTreeSet<u64>,
    /// Ids of sessions, in the order of their numbers.
    pub sessions: Vec<String>,
    /// Other ids.
    pub others: Vec<String>,
}

/// Who is who in one transcript.
struct References<'t> {
    transcript: &'t Transcript,
    /// All indexes that the target showed, in order.
    indexes: Vec<u64>,
    /// The times of all events that it showed, in order.
    times: Vec<u64>,
    /// The indexes of lists of events, in order of appearance.
    of_events: Vec<u64>,
    /// What comes now is about a list of events.
    listing: bool,
    /// [`Known::floor`].
    floor: u64,
    /// Lower-case ids in order of appearance, with the kind they were first seen as.
    sessions: Vec<String>,
    others: Vec<String>,
    addresses: Vec<String>,
    ports: Vec<String>,
    /// Texts of [`CHANCE_MARKS`].
    chance: Vec<String>,
    /// Ids that come up now are new sessions: the answer is that of session/create.
    creating: bool,
}

impl<'t> References<'t> {
    fn new(transcript: &'t Transcript, known: Known) -> Self {
        let (mut indexes, mut times) = (known.indexes, BTreeSet::new());
        for line in &transcript.lines {
            if let Line::Exchange(Exchange {
                sent,
                outcome: Some(Outcome::Reply(reply)),
                superseded: false,
                ..
            }) = line
            {
                let head = head_of(reply).join("\n");
                let unpacked = unpacked(reply);
                let body = unpacked.as_deref().unwrap_or(&reply.body);
                let body = String::from_utf8_lossy(body);
                let numbers = |text, marks: &[&'static str]| {
                    let shown = marked_numbers(text, marks);
                    shown.into_iter().map(|(_, number)| number)
                };
                let of_events = sent.starts_with(EVENTS);
                let counts = |index: &u64| !of_events || *index == WITHOUT_EVENTS;
                indexes.extend(numbers(&head, &INDEX_MARKS).filter(counts));
                indexes.extend(numbers(&body, &INDEX_MARKS));
                times.extend(numbers(&body, &TIME_MARKS));
            }
        }
        indexes.retain(|index| *index > known.floor);
        times.remove(&0);
        Self {
            transcript,
            indexes: indexes.into_iter().collect(),
            floor: known.floor,
            times: times.into_iter().collect(),
            of_events: Vec::new(),
            listing: false,
            sessions: known.sessions,
            others: known.others,
            addresses: Vec::new(),
            ports: Vec::new(),
            chance: Vec::new(),
            creating: false,
        }
    }

    fn exchange(&mut self, exchange: &Exchange, lines: &mut Vec<String>) {
        self.listing = exchange.sent.starts_with(EVENTS);
        let (head, body) = split_head(&exchange.sent);
        let mut head: Vec<String> = head.lines().map(str::to_owned).collect();
        // Where chunks end may depend on the length of names; only what they hold counts.
        let joined = joined_chunks(&head, body);
        self.message(">", &mut head, joined.as_deref().unwrap_or(body), lines);
        let creates = exchange.sent.starts_with(b"PUT /v1/session/create");
        let shows_inside = exchange.sent.starts_with(INSIDE);
        match &exchange.outcome {
            Some(Outcome::Reply(reply)) if shows_inside && reply.status == 200 => {
                lines.push("< 200, the inside of one process, which is not compared".to_owned());
            }
            Some(Outcome::Reply(reply)) => {
                self.creating = creates;
                let mut head = head_of(reply);
                let unpacked = unpacked(reply);
                if unpacked.is_some() {
                    head.push("<gzip of what follows>".to_owned());
                }
                let length = reply.body.len();
                let body = unpacked.as_deref().unwrap_or(&reply.body);
                self.sized_message("<", &mut head, length, body, lines);
                self.creating = false;
            }
            Some(Outcome::Closed) => lines.push("< (closed without an answer)".to_owned()),
            Some(Outcome::Silent { .. }) => lines.push("< (no whole answer in time)".to_owned()),
            Some(Outcome::Unreachable(_)) => lines.push("< (no connection)".to_owned()),
            Some(Outcome::Broken { received, why }) => {
                lines.push(format!("< (broken: {why})"));
                self.message("<", &mut Vec::new(), received, lines);
            }
            // A read that still blocks when the case ends.
            None => lines.push("< (unanswered)".to_owned()),
        }
    }

    fn message(&mut self, side: &str, head: &mut [String], body: &[u8], lines: &mut Vec<String>) {
        self.sized_message(side, head, body.len(), body, lines);
    }

    /// A message of which `length` bytes of body were sent.
    fn sized_message(
        &mut self,
        side: &str,
        head: &mut [String],
        length: usize,
        body: &[u8],
        lines: &mut Vec<String>,
    ) {
        for line in head.iter_mut() {
            *line = self.head_line(line, length);
            lines.push(format!("{side} {}", shortened(line)));
        }
        if body.is_empty() {
            return;
        }
        lines.push(side.to_owned());
        let text = match std::str::from_utf8(body) {
            Ok(text) => self.text(&self.body_in_order(text)),
            Err(_) => self.text(&body.escape_ascii().to_string()),
        };
        let text = shortened(&text);
        for line in text.split('\n') {
            let shown: String = line.chars().flat_map(escaped).collect();
            lines.push(format!("{side} {shown}").trim_end().to_owned());
        }
    }

    fn head_line(&mut self, line: &str, body_length: usize) -> String {
        match line.split_once(": ") {
            Some(("Date", _)) => "Date: <date>".to_owned(),
            Some(("Content-Length", length)) if length == body_length.to_string() => {
                "Content-Length: <length>".to_owned()
            }
            _ => self.text(line),
        }
    }

    /// Lists that the target sorts by ids of chance are sorted by when their ids first appeared.
    fn body_in_order(&self, text: &str) -> String {
        if !is_json_array(text) {
            return text.to_owned();
        }
        let items = array_items(text);
        let by_chance = |item: &&str| uuid_at_start_of_name(item).is_some();
        if items.len() < 2 || !items.iter().any(by_chance) {
            return text.to_owned();
        }
        let mut trimmed: Vec<&str> = items.iter().map(|item| item.trim()).collect();
        trimmed.sort_by_key(|item| {
            let id = uuid_at_start_of_name(item)
                .unwrap_or_default()
                .to_lowercase();
            let known = |list: &[String]| list.iter().position(|other| *other == id);
            (
                known(&self.sessions).unwrap_or(usize::MAX),
                known(&self.others),
            )
        });
        let gap = &items[1][..items[1].len() - items[1].trim_start().len()];
        let end = &text[text.rfind(']').unwrap_or(text.len())..];
        let last = items
            .last()
            .map_or("", |item| &item[item.trim_end().len()..]);
        let joined: Vec<String> = trimmed.iter().map(|item| format!("{gap}{item}")).collect();
        format!("[{}{last}{end}", joined.join(","))
    }

    /// Replaces names, ids, addresses, indexes and encoded values in one text.
    fn text(&mut self, text: &str) -> String {
        let text = self.encoded_values(text);
        let text = self.marked_indexes(&text);
        let text = self.marked_ports(&text);
        let text = self.marked_chance(&text);
        let names = &self.transcript.names;
        let of_others = (2..).map(|number| format!("<node:{number}>"));
        let others: Vec<_> = names.other_nodes.iter().zip(of_others).collect();
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let (loud, loud_tag) = (names.node.to_uppercase(), names.tag.to_uppercase());
            let known = [
                (names.tag.as_str(), "<run>"),
                (loud_tag.as_str(), "<RUN>"),
                (names.host.as_str(), "<host>"),
                (names.node.as_str(), "<node>"),
                (loud.as_str(), "<NODE>"),
            ];
            // The longer one of two names comes first: other nodes may be called as the agent's own, and a number.
            let others = others
                .iter()
                .map(|(node, says)| (node.as_str(), says.as_str()));
            // A node may be called `n1`: only whole words are names.
            let inside = out.ends_with(char::is_alphanumeric);
            let name = others.chain(known).find(|(name, _)| {
                let tail = rest
                    .strip_prefix(name)
                    .filter(|_| !name.is_empty() && !inside);
                tail.is_some_and(|tail| !tail.starts_with(char::is_alphanumeric))
            });
            let used = if let Some((name, reference)) = name {
                out.push_str(reference);
                name.len()
            } else if let Some(id) = uuid_at(rest) {
                out.push_str(&self.id(id));
                UUID_LENGTH
            } else if let Some(address) = address_at(rest) {
                let number = position_or_push(&mut self.addresses, address);
                write!(out, "<address:{number}>").expect("writing into a string cannot fail");
                address.len()
            } else {
                out.push(first);
                first.len_utf8()
            };
            rest = &rest[used..];
        }
        out
    }

    fn id(&mut self, spelled: &str) -> String {
        let id = spelled.to_lowercase();
        let known = |list: &[String]| list.iter().position(|other| *other == id);
        let reference = if let Some(number) = known(&self.sessions) {
            format!("<session:{}>", number + 1)
        } else if self.creating && known(&self.others).is_none() {
            format!("<session:{}>", position_or_push(&mut self.sessions, &id))
        } else {
            format!("<uuid:{}>", position_or_push(&mut self.others, &id))
        };
        if spelled == id {
            reference
        } else {
            reference.to_uppercase()
        }
    }

    fn marked_indexes(&mut self, text: &str) -> String {
        let marks = INDEX_MARKS.iter().chain([&REPEATED_MARK]);
        let text = replaced(text, marks, |number| {
            if self.listing {
                self.index_of_events(number)
            } else {
                self.index(number)
            }
        });
        replaced(&text, &TIME_MARKS, |number| {
            ranked(&self.times, "time", number)
        })
    }

    /// Returns the reference of an index.
    fn index(&self, number: u64) -> String {
        if (1..=self.floor).contains(&number) {
            return "<index from before>".to_owned();
        }
        ranked(&self.indexes, "index", number)
    }

    /// A list that nobody waits for shows its index before it is asked for with it or a neighbour.
    fn index_of_events(&mut self, number: u64) -> String {
        if number <= WITHOUT_EVENTS {
            return self.index(number);
        }
        let known = |list: &[u64], number: Option<u64>| {
            list.iter().position(|index| Some(*index) == number)
        };
        let beside = [(0, ""), (-1, "+1"), (1, "-1")];
        let found = beside.iter().find_map(|(step, sign)| {
            let at = known(&self.of_events, number.checked_add_signed(*step))?;
            Some(format!("<event-index:{}>{sign}", at + 1))
        });
        found.unwrap_or_else(|| {
            self.of_events.push(number);
            format!("<event-index:{}>", self.of_events.len())
        })
    }

    /// `"Hash": "…"` is `"Hash": <hash:1>`, the same text always the same number.
    fn marked_chance(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (mark, kind) in CHANCE_MARKS {
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some(at) = rest.find(mark) {
                let (before, after) = rest.split_at(at + mark.len());
                out.push_str(before);
                rest = after;
                let opened = after.trim_start().strip_prefix('"');
                let (gap, found) = match opened {
                    Some(opened) => (" ", opened.split_once('"')),
                    None => ("", hash_at(after)),
                };
                if let Some((value, tail)) = found {
                    let number = position_or_push(&mut self.chance, value);
                    write!(out, "{gap}<{kind}:{number}>")
                        .expect("writing into a string cannot fail");
                    rest = tail;
                }
            }
            out.push_str(rest);
            text = out;
        }
        text
    }

    fn marked_ports(&mut self, text: &str) -> String {
        replaced(text, &PORT_MARKS, |number| match number {
            0 => "0".to_owned(),
            _ => {
                let port = position_or_push(&mut self.ports, &number.to_string());
                format!("<port:{port}>")
            }
        })
    }

    /// Values are base64; those in which an id or a name hides are shown decoded.
    fn encoded_values(&mut self, text: &str) -> String {
        const MARK: &str = "\"Value\":";
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(MARK) {
            let (before, after) = rest.split_at(at + MARK.len());
            out.push_str(before);
            let opened = after.trim_start().strip_prefix('"');
            let value = opened.and_then(|opened| opened.split_once('"'));
            let decoded = value.and_then(|(value, _)| STANDARD.decode(value).ok());
            let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
            rest = after;
            if let (Some((_, tail)), Some(decoded)) = (value, decoded) {
                let shown = self.text(&decoded);
                if shown != decoded {
                    write!(out, " <base64 of {shown}>").expect("writing into a string cannot fail");
                    rest = tail;
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// A text with other texts for the numbers behind some marks.
fn replaced<'m>(
    text: &str,
    marks: impl IntoIterator<Item = &'m &'m str>,
    mut shown: impl FnMut(u64) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (place, number) in marked_numbers(text, marks) {
        out.push_str(&text[done..place]);
        out.push_str(&shown(number));
        done = place + number.to_string().len();
    }
    out.push_str(&text[done..]);
    out
}

/// A number by its place among those that the target showed. A constant of the case (0, or far from all of them) stays; neighbours keep
/// their distance.
fn ranked(shown: &[u64], kind: &str, number: u64) -> String {
    let rank = |number: u64| shown.binary_search(&number).ok().map(|rank| rank + 1);
    if number == 0 {
        return "0".to_owned();
    }
    if let Some(rank) = rank(number) {
        return format!("<{kind}:{rank}>");
    }
    if let Some(rank) = rank(number - 1) {
        return format!("<{kind}:{rank}>+1");
    }
    match number.checked_add(1).and_then(rank) {
        Some(rank) => format!("<{kind}:{rank}>-1"),
        None => number.to_string(),
    }
}

/// A compressed body unpacked: two compressors may pack the same differently. One that cannot be unpacked stays as it is.
#[must_use]
pub fn unpacked(reply: &Reply) -> Option<Vec<u8>> {
    reply
        .header("Content-Encoding")
        .filter(|encoding| *encoding == "gzip")?;
    let mut unpacked = Vec::new();
    let read = GzDecoder::new(reply.body.as_slice()).read_to_end(&mut unpacked);
    read.is_ok().then_some(unpacked)
}

/// Status line and headers, but for the emulator's own words.
#[must_use]
pub fn head_of(reply: &Reply) -> Vec<String> {
    let mut head = vec![format!(
        "{} {} {}",
        reply.version, reply.status, reply.reason
    )];
    head.extend(
        reply
            .headers
            .iter()
            .filter(|(name, _)| !name.starts_with(OWN_HEADERS))
            .map(|(name, value)| format!("{name}: {value}")),
    );
    head
}

fn split_head(sent: &[u8]) -> (String, &[u8]) {
    let end = sent.windows(4).position(|window| window == b"\r\n\r\n");
    match end {
        Some(end) => (
            String::from_utf8_lossy(&sent[..end]).into_owned(),
            &sent[end + 4..],
        ),
        None => (String::new(), sent),
    }
}

/// The body of a request that was sent in good chunks.
fn joined_chunks(head: &[String], body: &[u8]) -> Option<Vec<u8>> {
    let is_chunked = |line: &String| line.eq_ignore_ascii_case("Transfer-Encoding: chunked");
    head.iter().find(|line| is_chunked(line))?;
    let (mut joined, mut rest) = (Vec::new(), body);
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        let chunk = rest.get(line + 2..line + 2 + size)?;
        rest = rest[line + 2 + size..].strip_prefix(b"\r\n")?;
        if size == 0 {
            return rest.is_empty().then_some(joined);
        }
        joined.extend_from_slice(chunk);
    }
}

fn escaped(character: char) -> Box<dyn Iterator<Item = char>> {
    if character.is_control() {
        Box::new(character.escape_default())
    } else {
        Box::new(std::iter::once(character))
    }
}

/// What is too long to be shown, as its length and a hash.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN {
        return Cow::Borrowed(text);
    }
    let hash = fnv(text.as_bytes());
    Cow::Owned(format!("<{} bytes, hash {hash:016x}>", text.len()))
}

/// FNV-1a with 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub mod scan;
#[cfg(test)]
mod tests;
