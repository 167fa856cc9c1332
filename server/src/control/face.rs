//! The controls over HTTP, under a prefix that no Consul has: for tests in any language.
//!
//! Every call validates all of its input before it does anything: what is wrong is a 400 with a sentence that says
//! what was expected, and then nothing has happened. `openapi.json` describes the calls; a test compares the two.

mod calls;
mod input;
mod show;

use serde_json::{Value, json};

use super::Control;
use crate::go::query::{Query, Semicolons};

/// What all paths of the control plane begin with.
pub(crate) const PREFIX: &str = "/proconsul/v1/";

/// The description of the calls.
const OPENAPI: &str = include_str!("face/openapi.json");

/// A call as it arrived.
#[derive(Debug)]
pub(crate) struct Call {
    /// The method.
    pub(crate) method: String,
    /// The decoded path, after [`PREFIX`].
    pub(crate) path: String,
    /// The query string, as sent.
    pub(crate) query: Vec<u8>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// The body.
    pub(crate) content: Content,
}

/// A body.
#[derive(Debug)]
pub(crate) enum Content {
    /// JSON.
    Json(Value),
    /// JSON that is written already.
    Written(String),
    /// Text for people.
    Text(String),
}

impl Answer {
    /// What was asked for is not there.
    pub(crate) fn missing(sentence: impl Into<String>) -> Self {
        Refused::missing(sentence).into()
    }

    /// What was sent cannot be used.
    pub(crate) fn bad(sentence: impl Into<String>) -> Self {
        Refused::input(sentence).into()
    }

    /// The call could not be carried out.
    pub(crate) fn failed(sentence: impl Into<String>) -> Self {
        Refused(500, sentence.into()).into()
    }

    fn json(value: Value) -> Self {
        Self {
            status: 200,
            content: Content::Json(value),
        }
    }

    fn written(text: String) -> Self {
        Self {
            status: 200,
            content: Content::Written(text),
        }
    }

    fn text(text: impl Into<String>) -> Self {
        Self {
            status: 200,
            content: Content::Text(text.into()),
        }
    }

    fn done() -> Self {
        Self::json(json!({}))
    }
}

/// Why a call was not carried out: a status and a sentence.
#[derive(Debug)]
struct Refused(u16, String);

impl Refused {
    /// Something is wrong with what was sent.
    fn input(sentence: impl Into<String>) -> Self {
        Self(400, sentence.into())
    }

    /// What is named is not there.
    fn missing(sentence: impl Into<String>) -> Self {
        Self(404, sentence.into())
    }

    /// What was waited for did not come.
    fn unmet(sentence: impl Into<String>) -> Self {
        Self(409, sentence.into())
    }
}

impl From<Refused> for Answer {
    fn from(Refused(status, sentence): Refused) -> Self {
        Self {
            status,
            content: Content::Text(format!("{sentence}\n")),
        }
    }
}

type Outcome = Result<Answer, Refused>;

/// One call of the table.
struct Route {
    method: &'static str,
    /// A last segment `{id}` stands for anything.
    path: &'static str,
    run: fn(&Control, &Call) -> Outcome,
}

const fn route(
    method: &'static str,
    path: &'static str,
    run: fn(&Control, &Call) -> Outcome,
) -> Route {
    Route { method, path, run }
}

const ROUTES: &[Route] = &[
    route("GET", "openapi.json", |_, _| {
        Ok(Answer::written(OPENAPI.to_owned()))
    }),
    route("GET", "clock", calls::clock),
    route("POST", "clock/advance", calls::advance),
    route("POST", "clock/advance-to-next", calls::advance_to_next),
    route("POST", "clock/jump", calls::jump),
    route("POST", "clock/freeze", calls::freeze),
    route("POST", "clock/resume", calls::resume),
    route("POST", "clock/rate", calls::rate),
    route("POST", "clock/auto", calls::auto),
    route("DELETE", "clock/auto", calls::no_auto),
    route("GET", "history", calls::history),
    route("DELETE", "history", calls::clear_history),
    route("GET", "timeline", calls::timeline),
    route("GET", "explain", calls::explain),
    route("POST", "safety", calls::safety),
    route("GET", "blocked", calls::blocked),
    route("POST", "wait/blocked", calls::wait_blocked),
    route("POST", "wait/event", calls::wait_event),
    route("POST", "wait/idle", calls::wait_idle),
    route("GET", "faults", calls::faults),
    route("POST", "faults", calls::install_fault),
    route("DELETE", "faults", calls::clear_faults),
    route("DELETE", "faults/{id}", calls::remove_fault),
    route("POST", "leader/lose", calls::lose_leader),
    route("POST", "leader/find", calls::find_leader),
    route("POST", "indexes/lower", calls::lower_indexes),
    route("POST", "wakes/spurious", calls::wake),
    route("POST", "wakes/delay", calls::delay_wakes),
    route("POST", "connections/refuse", calls::refuse_connections),
    route("POST", "connections/accept", calls::accept_connections),
    route("POST", "restart", calls::restart),
    route("POST", "sessions/expire", calls::expire_session),
    route("POST", "checks/fail", calls::fail_check),
    route("POST", "checks/pass", calls::pass_check),
    route("POST", "nodes/delete", calls::delete_node),
    route("POST", "state/reset", calls::reset),
    route("POST", "state/checkpoint", calls::checkpoint),
    route("POST", "state/rollback", calls::rollback),
    route("GET", "state", calls::dump),
    route("PUT", "state", calls::load),
    route("GET", "state/kv", calls::export_kv),
    route("PUT", "state/kv", calls::import_kv),
    route("GET", "servers", calls::servers),
    route("POST", "servers", calls::start_server),
    route("DELETE", "servers/{id}", calls::stop_server),
];

/// Carries out a call. It may wait, for as long as the call asks for.
pub(crate) fn answer(control: &Control, call: &Call) -> Answer {
    run(control, call).unwrap_or_else(Answer::from)
}

fn run(control: &Control, call: &Call) -> Outcome {
    let here: Vec<&Route> = ROUTES
        .iter()
        .filter(|route| matches(route.path, &call.path))
        .collect();
    if here.is_empty() {
        return Err(Refused::missing(format!(
            "there is no {:?}; GET /proconsul/v1/openapi.json lists what there is",
            call.path
        )));
    }
    match here.iter().find(|route| route.method == call.method) {
        Some(route) => (route.run)(control, call),
        None => {
            let methods: Vec<_> = here.iter().map(|route| route.method).collect();
            Err(Refused(
                405,
                format!(
                    "{:?} takes {}, not {}",
                    call.path,
                    methods.join(" or "),
                    call.method
                ),
            ))
        }
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix("{id}") {
        Some(folder) => path
            .strip_prefix(folder)
            .is_some_and(|id| !id.is_empty() && !id.contains('/')),
        None => pattern == path,
    }
}

impl Call {
    /// The parameters of the query string, all of which must be among `known`.
    fn parameters(&self, known: &[&str]) -> Result<Vec<(String, String)>, Refused> {
        let query = Query::parse(&self.query, Semicolons::Refused)
            .map_err(|_| Refused::input("the query string cannot be read"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut found = Vec::new();
        for (name, value) in query.pairs() {
            let name = text(name);
            if !known.contains(&name.as_str()) {
                return Err(Refused::input(format!(
                    "unknown parameter {name:?}, expected {}",
                    list(known)
                )));
            }
            found.push((name, text(value)));
        }
        Ok(found)
    }

    /// The last segment of the path.
    fn id(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What is described is what there is.
    #[test]
    fn the_description_lists_every_call_and_no_other() {
        let description: Value = serde_json::from_str(OPENAPI).expect("the description is JSON");
        let paths = description["paths"].as_object().expect("it has paths");
        let described: BTreeSet<(String, String)> = paths
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().expect("a path has methods");
                methods
                    .keys()
                    .map(|method| (path.clone(), method.to_uppercase()))
            })
            .collect();
        let there: BTreeSet<(String, String)> = ROUTES
            .iter()
            .map(|route| (format!("/{}", route.path), route.method.to_owned()))
            .collect();
        assert_eq!(described, there);
        assert_eq!(
            there.len(),
            ROUTES.len(),
            "no call stands in the table twice"
        );
    }
}
