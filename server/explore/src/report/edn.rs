//! A history in EDN, which Jepsen reads: a map a line.

use std::fmt::Write;

use super::operations::{Completion, Operation};
use crate::run::{Event, What};

#[derive(Default)]
pub(super) struct Edn {
    pub(super) text: String,
    index: usize,
}

impl Edn {
    pub(super) fn line(&mut self, at: u64, kind: &str, fields: &str) {
        let index = self.index;
        self.index += 1;
        let line = format!("{{:index {index}, :time {at}, :type {kind}, {fields}}}\n");
        self.text += &line;
    }

    pub(super) fn completion(&mut self, at: u64, process: usize, one: &Operation) {
        let completion = one.completion();
        let kind = match completion {
            Completion::Ok => ":ok",
            Completion::Fail => ":fail",
            Completion::Info => ":info",
        };
        let mut fields = format!(
            ":process {process}, :f :{}, :value {}",
            one.kind.name(),
            named(one, one.session.as_deref())
        );
        match one.status() {
            Some(status) => write!(fields, ", :status {status}"),
            None => write!(fields, ", :error :no-answer"),
        }
        .expect("a String takes all");
        if completion == Completion::Info {
            write!(fields, ", :applied {}", one.is_applied).expect("a String takes all");
        }
        if let Some(fault) = &one.fault {
            write!(fields, ", :fault {}", edn_string(fault)).expect("a String takes all");
        }
        self.line(at, kind, &fields);
    }

    pub(super) fn other(&mut self, event: &Event) {
        let string = |text: &str| edn_string(text);
        let (f, value) = match &event.what {
            What::Schedule { text } => ("schedule", string(text)),
            What::Driver { text } => ("driver", string(text)),
            What::Belief { by, holds, token } => {
                let token = token.as_deref().map_or("nil".to_owned(), edn_string);
                let value = format!("{{:contender {by}, :holds {holds}, :token {token}}}");
                ("belief", value)
            }
            What::Released { key, session, why } => (
                "released",
                map(&[("key", key), ("session", session), ("why", why)]),
            ),
            What::Ended { session, why } => {
                ("session-ended", map(&[("session", session), ("why", why)]))
            }
            What::LockDelay { key, lasts } => {
                let value = format!("{{:key {}, :lasts {lasts}}}", edn_string(key));
                ("lock-delay", value)
            }
            What::LockDelayOver { key } => ("lock-delay-over", map(&[("key", key)])),
            _ => return,
        };
        let fields = format!(":process :nemesis, :f :{f}, :value {value}");
        self.line(event.at, ":info", &fields);
    }
}

/// Returns what an operation is about.
pub(super) fn named(one: &Operation, session: Option<&str>) -> String {
    let mut fields = Vec::new();
    fields.extend(one.key.as_deref().map(|key| ("key", key)));
    fields.extend(session.map(|session| ("session", session)));
    fields.push(("request", &one.request));
    map(&fields)
}

fn map(fields: &[(&str, &str)]) -> String {
    let fields = fields.iter();
    let fields = fields.map(|(name, value)| format!(":{name} {}", edn_string(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// Returns a text as Clojure's reader takes it.
fn edn_string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    string.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => string.extend(['\\', letter]),
            '\n' => string += "\\n",
            '\r' => string += "\\r",
            '\t' => string += "\\t",
            letter if letter.is_control() => {
                write!(string, "\\u{:04x}", u32::from(letter)).expect("a String takes all");
            }
            letter => string.push(letter),
        }
    }
    string.push('"');
    string
}
