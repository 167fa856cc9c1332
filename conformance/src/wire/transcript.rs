//! What a trial said and heard, in order.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::wire::{Outcome, Reply};

/// How much of a body a rendered transcript shows.
const SHOWN: usize = 2_000;

/// One request and what became of it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The bytes sent.
    pub sent: Vec<u8>,
    /// What came back; `None` while the answer is awaited.
    pub outcome: Option<Outcome>,
    /// Real time between sending and the answer.
    pub took: Duration,
    /// A look that a later one replaced: how many there were says nothing about the target.
    pub superseded: bool,
}

/// One line of a transcript.
#[derive(Debug, Clone)]
pub enum Line {
    /// A request and its outcome.
    Exchange(Exchange),
    /// Something that happened besides, e.g. that time passed.
    Note(String),
}

/// The names that differ between two trials of one case, so that they can be told from what must not differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// What makes the trial's keys and nodes its own.
    pub tag: String,
    /// Where the target listens, as the `Host` header says.
    pub host: String,
    /// The agent's own node.
    pub node: String,
    /// The nodes of the agents that are asked beside it.
    pub other_nodes: Vec<String>,
}

/// What one trial said and heard, in the order of sending.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// Exchanges and notes.
    pub lines: Vec<Line>,
    /// What was called how.
    pub names: Names,
    /// Why two right servers need not say the same here, if so.
    pub incomparable: Option<&'static str>,
}

/// Takes down a transcript, from several threads if need be.
#[derive(Debug, Default)]
pub struct Recorder {
    names: Names,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    lines: Vec<Line>,
    incomparable: Option<&'static str>,
}

impl Recorder {
    /// Begins a transcript of a run that calls things so.
    #[must_use]
    pub fn new(names: Names) -> Self {
        Self {
            names,
            taken: Mutex::default(),
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // A case that halts while it holds the lock leaves whole lines behind.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that bytes were sent; the number is for [`Self::heard`].
    pub fn sent(&self, bytes: &[u8]) -> usize {
        let mut taken = self.taken();
        taken.lines.push(Line::Exchange(Exchange {
            sent: bytes.to_vec(),
            outcome: None,
            took: Duration::ZERO,
            superseded: false,
        }));
        taken.lines.len() - 1
    }

    /// Records what came back for the bytes of that number.
    pub fn heard(&self, number: usize, what: &Outcome, time: Duration) {
        if let Some(Line::Exchange(exchange)) = self.taken().lines.get_mut(number) {
            exchange.outcome = Some(what.clone());
            exchange.took = time;
        }
    }

    pub(crate) fn note(&self, text: String) {
        self.taken().lines.push(Line::Note(text));
    }

    /// How many lines there are: a place for [`Self::supersede_since`].
    pub(crate) fn length(&self) -> usize {
        self.taken().lines.len()
    }

    /// What was said since then is about to be said again.
    pub(crate) fn supersede_since(&self, number: usize) {
        for line in &mut self.taken().lines[number..] {
            if let Line::Exchange(exchange) = line {
                exchange.superseded = true;
            }
        }
    }

    /// What is said from now on is not compared, and why.
    pub(crate) fn not_compared(&self, why: &'static str) {
        self.taken().incomparable = Some(why);
    }

    /// What was recorded so far.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        let taken = self.taken();
        Transcript {
            lines: taken.lines.clone(),
            names: self.names.clone(),
            incomparable: taken.incomparable,
        }
    }
}

/// A transcript as text: `>` before what was sent, `<` before what came back.
#[must_use]
pub fn render(transcript: &Transcript) -> String {
    let mut text = String::new();
    for (number, line) in transcript.lines.iter().enumerate() {
        match line {
            Line::Note(note) => writeln!(text, "[{}] -- {note}", number + 1),
            Line::Exchange(exchange) => writeln!(text, "[{}] {:.1?}", number + 1, exchange.took)
                .and_then(|()| {
                    prefixed(&mut text, "> ", &exchange.sent);
                    text.write_str(&outcome_text(exchange.outcome.as_ref()))
                }),
        }
        .expect("writing into a string cannot fail");
    }
    text
}

fn outcome_text(outcome: Option<&Outcome>) -> String {
    let mut text = String::new();
    match outcome {
        None => text.push_str("< (not answered when the case ended)\n"),
        Some(Outcome::Reply(reply)) => prefixed(&mut text, "< ", &reply_bytes(reply)),
        Some(Outcome::Closed) => text.push_str("< (connection closed without an answer)\n"),
        Some(Outcome::Unreachable(why)) => {
            text = format!("< (no connection: {why})\n");
        }
        Some(Outcome::Silent { received }) => {
            text.push_str("< (no whole answer in time)\n");
            prefixed(&mut text, "< ", received);
        }
        Some(Outcome::Broken { received, why }) => {
            text = format!("< (broken answer: {why})\n");
            prefixed(&mut text, "< ", received);
        }
    }
    text
}

/// A reply as it would stand on the wire without chunks.
fn reply_bytes(reply: &Reply) -> Vec<u8> {
    let mut bytes = format!("{} {} {}\n", reply.version, reply.status, reply.reason).into_bytes();
    for (name, value) in &reply.headers {
        bytes.extend_from_slice(format!("{name}: {value}\n").as_bytes());
    }
    if !reply.body.is_empty() {
        bytes.push(b'\n');
        bytes.extend_from_slice(&reply.body);
    }
    bytes
}

fn prefixed(text: &mut String, prefix: &str, bytes: &[u8]) {
    let shown = &bytes[..bytes.len().min(SHOWN)];
    for line in String::from_utf8_lossy(shown).lines() {
        let line: String = line.chars().flat_map(visible).collect();
        text.push_str(prefix.trim_end());
        if !line.is_empty() {
            text.push(' ');
            text.push_str(&line);
        }
        text.push('\n');
    }
    if shown.len() < bytes.len() {
        text.push_str(prefix);
        text.push_str(&format!("(and {} more bytes)\n", bytes.len() - shown.len()));
    }
}

fn visible(character: char) -> Box<dyn Iterator<Item = char>> {
    if character.is_control() {
        Box::new(character.escape_default())
    } else {
        Box::new(std::iter::once(character))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Framing;

    #[test]
    fn shows_both_sides_and_what_is_awaited() {
        let transcript = Recorder::default();
        let first = transcript.sent(b"PUT /v1/kv/a HTTP/1.1\r\nHost: h\r\n\r\nv\x00");
        let reply = Reply {
            version: "HTTP/1.1".to_owned(),
            status: 200,
            reason: "OK".to_owned(),
            headers: vec![("Vary".to_owned(), "Accept-Encoding".to_owned())],
            body: b"true\n".to_vec(),
            framing: Framing::Length,
        };
        transcript.heard(first, &Outcome::Reply(reply), Duration::from_millis(2));
        transcript.note("time passes: 1s".to_owned());
        transcript.sent(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(
            render(&transcript.transcript()),
            "[1] 2.0ms\n> PUT /v1/kv/a HTTP/1.1\n> Host: h\n>\n> v\\u{0}\n\
             < HTTP/1.1 200 OK\n< Vary: Accept-Encoding\n<\n< true\n\
             [2] -- time passes: 1s\n\
             [3] 0.0ns\n> GET / HTTP/1.1\n>\n< (not answered when the case ended)\n"
        );
    }

    #[test]
    fn cuts_long_bodies_aloud() {
        let transcript = Recorder::default();
        transcript.sent(&[b'x'; SHOWN + 5]);
        assert!(render(&transcript.transcript()).contains("> (and 5 more bytes)\n"));
    }
}
