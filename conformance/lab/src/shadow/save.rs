//! A difference as a case: what led to it, in the words of the suite, to be finished by hand.
//!
//! Of what was said before, that is kept which has a key or a session in common with the request that differs. Keys and sessions of the
//! program become variables; the answers are the real server's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::findings::{Difference, Said, route};
use super::mapping::ids_in;
use proconsul_conformance::wire::asked::Asked;
use proconsul_conformance::wire::{Outcome, Reply};

/// So many of the requests before it does a case have.
const MOST: usize = 20;
/// A longer answer is looked at by its status alone.
const SHOWN: usize = 200;

impl Difference {
    /// The case, as Rust for a file below `cases/`; `None` where what was said before is not kept.
    #[must_use]
    pub fn case(&self) -> Option<String> {
        let steps = self.steps()?;
        let asked = &self.said.asked;
        let mut names = Names::default();
        let mut body = String::new();
        for said in steps {
            names.step(&mut body, said);
        }
        let mut text = String::new();
        let difference = self.lines.lines().map(|line| format!("// {line}\n"));
        let (keys, kind) = (names.keys(), route(asked));
        write!(
            text,
            "// A difference that shadow saw (- the real server, + the emulator):\n{}\
             // Finish it: an id, a claim, a source; take out what does not belong to it; take indexes from answers (`.index()`).\n\
             Case {{\n    id: \"topic/area/what-it-claims\",\n    claim: \"{kind} …\",\n    source: \"…\",\n    run: |t| {{\n\
             {keys}{body}    }},\n    ..Case::REAL\n}}\n",
            difference.collect::<String>(),
        )
        .expect("writing into a string cannot fail");
        Some(text)
    }

    /// What led to it and it itself.
    fn steps(&self) -> Option<Vec<&Said>> {
        if self.before.is_empty() && self.number > 1 {
            return None;
        }
        let mut marks = marks(&self.said);
        let mut steps = vec![&self.said];
        for said in self.before.iter().rev() {
            let its = self::marks(said);
            let is_related = its
                .iter()
                .any(|mark| marks.iter().any(|other| related(mark, other)));
            if is_related && steps.len() <= MOST {
                marks.extend(its);
                steps.push(said);
            }
        }
        steps.reverse();
        Some(steps)
    }
}

/// What a request and its answer are about: the key and the ids in it.
fn marks(said: &Said) -> Vec<String> {
    let mut marks: Vec<String> = said.asked.key().map(str::to_owned).into_iter().collect();
    marks.extend(ids_in(&said.asked.target));
    if said.asked.key().is_none() {
        marks.extend(ids_in(&String::from_utf8_lossy(&said.asked.content())));
        if said.asked.is_put() {
            marks.extend(
                reply(said)
                    .into_iter()
                    .flat_map(|reply| ids_in(&text(reply))),
            );
        }
    }
    marks
}

/// Keys below each other, or the same id.
fn related(one: &str, other: &str) -> bool {
    !one.is_empty() && !other.is_empty() && (one.starts_with(other) || other.starts_with(one))
}

fn reply(said: &Said) -> Option<&Reply> {
    match &said.real {
        Some(Outcome::Reply(reply)) => Some(reply),
        _ => None,
    }
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).trim_end().to_owned()
}

/// The variables of a case.
#[derive(Default)]
struct Names {
    keys: BTreeMap<String, usize>,
    /// Ids of sessions, in the order in which they were made.
    sessions: Vec<String>,
}

impl Names {
    /// The lines that make the names of keys.
    fn keys(&self) -> String {
        let line = |(key, number): (&String, &usize)| {
            format!("        let k{number} = t.key({});\n", quoted(key))
        };
        self.keys.iter().map(line).collect()
    }

    /// Adds the line of one request.
    fn step(&mut self, lines: &mut String, said: &Said) {
        let asked = &said.asked;
        let body = String::from_utf8_lossy(&asked.content()).into_owned();
        if asked.path() == "/v1/session/create"
            && let Some(id) = reply(said).and_then(|reply| ids_in(&text(reply)).into_iter().next())
        {
            self.sessions.push(id);
            let line = format!(
                "let s{} = t.session({});",
                self.sessions.len(),
                quoted(&body)
            );
            return add(lines, &line);
        }
        let call = self.call(asked, &body);
        let expected = match reply(said) {
            None => ";".to_owned(),
            Some(reply) => {
                let text = text(reply);
                match text.len() <= SHOWN && ids_in(&text).is_empty() && !text.contains("Index") {
                    true => format!(".is({}, {});", reply.status, quoted(&text)),
                    false => format!(".status_is({});", reply.status),
                }
            }
        };
        add(lines, &format!("{call}{expected}"));
    }

    fn call(&mut self, asked: &Asked, body: &str) -> String {
        let Some(key) = asked.key().filter(|key| !key.is_empty()) else {
            let target = self.with_sessions(&asked.target);
            return match asked.method.as_str() {
                "GET" => format!("t.api_get({target})"),
                "PUT" => format!("t.api_put({target}, {})", self.with_sessions(body)),
                method => format!(
                    "t.send(&Request::new({}, {target}).body({}))",
                    quoted(method),
                    self.with_sessions(body)
                ),
            };
        };
        let next = self.keys.len() + 1;
        let number = *self.keys.entry(key.to_owned()).or_insert(next);
        let query = self.with_sessions(asked.query());
        match asked.method.as_str() {
            "GET" => format!("t.get(&k{number}, {query})"),
            "PUT" => format!("t.put(&k{number}, {query}, {})", quoted(body)),
            "DELETE" => format!("t.delete(&k{number}, {query})"),
            method => format!(
                "t.send(&Request::new({}, &format!(\"/v1/kv/{{k{number}}}?{{}}\", {query})))",
                quoted(method)
            ),
        }
    }

    /// A text in which ids of sessions are variables.
    fn with_sessions(&self, text: &str) -> String {
        let mut format = text.replace('{', "{{").replace('}', "}}");
        let mut has_one = false;
        for (at, id) in self.sessions.iter().enumerate() {
            has_one |= format.contains(id.as_str());
            format = format.replace(id.as_str(), &format!("{{s{}}}", at + 1));
        }
        match has_one {
            true => format!("&format!({})", quoted(&format)),
            false => quoted(text),
        }
    }
}

fn add(lines: &mut String, line: &str) {
    lines.push_str("        ");
    lines.push_str(line);
    lines.push('\n');
}

/// A text as Rust.
fn quoted(text: &str) -> String {
    match text.contains('"') && !text.contains("\"#") && !text.contains(char::is_control) {
        true => format!("r#\"{text}\"#"),
        false => format!("{text:?}"),
    }
}
