//! A run in the formats of checkers: Jepsen's history and Porcupine's events.

use std::collections::BTreeMap;

use proconsul_engine::faults::RequestKind;
use serde::Serialize;

use super::edn::{Edn, named};
use super::operations::{Completion, Operation, Operations, Step};
use crate::run::Run;

impl Run {
    /// Returns the run as a history of Jepsen: a map of EDN a line.
    ///
    /// Operations are the contenders' requests. They end with `:ok` where they were done, `:fail` where the client learned
    /// that they were not, and `:info` where it got no answer or an error that leaves it open; `:applied` says then whether
    /// the server has changed anything for it. A contender with two open requests is further processes, whose numbers modulo
    /// the contenders are its own, and a process that ends with `:info` is not used again. What the schedule, Consul and the
    /// contenders' beliefs do has the process `:nemesis`.
    #[must_use]
    pub fn to_edn(&self) -> String {
        let operations = Operations::of(self);
        let mut history = Edn::default();
        let mut clients = Clients::new(self, &operations.all);
        for step in &operations.steps {
            match step {
                Step::Begin(number) => {
                    let one = &operations.all[*number];
                    let process = clients.begin(*number, one);
                    let fields = format!(
                        ":process {process}, :f :{}, :value {}",
                        one.kind.name(),
                        named(one, one.session_asked())
                    );
                    history.line(one.at, ":invoke", &fields);
                }
                Step::End(number) => {
                    let one = &operations.all[*number];
                    let process = clients.end(*number, one);
                    let at = one.end.map_or(one.at, |(at, _)| at);
                    history.completion(at, process, one);
                }
                Step::Other(event, _) => history.other(event),
            }
        }
        for (number, process) in clients.open() {
            history.completion(self.setup.ended, process, &operations.all[number]);
        }
        history.text
    }

    /// Returns the run as events of Porcupine: a JSON object a line with `clientId`, `kind`, `value` and `id`, in order.
    ///
    /// A client has one open operation at a time. Operations without an answer return at the end, because they may take
    /// effect until then; the `result` is `ok`, `fail` or `info`.
    #[must_use]
    pub fn to_porcupine(&self) -> String {
        let operations = Operations::of(self);
        let mut clients = Clients::new(self, &operations.all);
        let mut lines = String::new();
        let mut unknown = Vec::new();
        for step in &operations.steps {
            match step {
                Step::Begin(number) => {
                    let one = &operations.all[*number];
                    let client = clients.begin(*number, one);
                    lines += &porcupine(client, *number, Value::call(one));
                }
                Step::End(number) => {
                    let one = &operations.all[*number];
                    let client = clients.end(*number, one);
                    if one.completion() == Completion::Info {
                        unknown.push((*number, client));
                    } else {
                        lines += &porcupine(client, *number, Value::returned(one));
                    }
                }
                Step::Other(..) => {}
            }
        }
        unknown.extend(clients.open());
        for (number, client) in unknown {
            lines += &porcupine(client, number, Value::returned(&operations.all[number]));
        }
        lines
    }
}

/// Gives operations to clients, each with one open operation at a time.
struct Clients {
    /// How many contenders there are, with one for anybody else.
    width: usize,
    /// The operation of each client: its number while it is open, `None` while the client is free.
    open: BTreeMap<usize, Option<usize>>,
    by_operation: BTreeMap<usize, usize>,
}

impl Clients {
    fn new(run: &Run, all: &[Operation]) -> Self {
        let others = all.iter().any(|one| one.by.is_none());
        Self {
            width: usize::from(run.setup.contenders) + usize::from(others),
            open: BTreeMap::new(),
            by_operation: BTreeMap::new(),
        }
    }

    fn begin(&mut self, number: usize, one: &Operation) -> usize {
        let own = one.by.map_or(self.width - 1, |by| by.index());
        let mut ids = (0..).map(|slot| own + slot * self.width);
        let is_free = |id: &usize| !matches!(self.open.get(id), Some(Some(_)));
        let client = ids.find(is_free).expect("there is always another id");
        self.open.insert(client, Some(number));
        self.by_operation.insert(number, client);
        client
    }

    /// Ends an operation. A client that does not know what came of it is not used again.
    fn end(&mut self, number: usize, one: &Operation) -> usize {
        let client = self.by_operation[&number];
        self.by_operation.remove(&number);
        if one.completion() != Completion::Info {
            self.open.insert(client, None);
        }
        client
    }

    /// Returns the operations that have not ended, with their clients.
    fn open(&self) -> Vec<(usize, usize)> {
        let open = self.by_operation.iter();
        open.map(|(number, client)| (*number, *client)).collect()
    }
}

#[derive(Serialize)]
struct Porcupine<'a> {
    #[serde(rename = "clientId")]
    client_id: usize,
    kind: &'static str,
    value: Value<'a>,
    id: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Call {
        op: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a str>,
        request: &'a str,
        at: u64,
    },
    Return {
        result: &'static str,
        status: Option<u16>,
        applied: bool,
        /// The session that was made.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a str>,
        at: Option<u64>,
    },
}

impl<'a> Value<'a> {
    fn call(one: &'a Operation) -> Self {
        Self::Call {
            op: one.kind.name(),
            key: one.key.as_deref(),
            session: one.session_asked(),
            request: &one.request,
            at: one.at,
        }
    }

    fn returned(one: &'a Operation) -> Self {
        let creates = one.kind == RequestKind::Create;
        Self::Return {
            result: match one.completion() {
                Completion::Ok => "ok",
                Completion::Fail => "fail",
                Completion::Info => "info",
            },
            status: one.status(),
            applied: one.is_applied,
            session: one.session.as_deref().filter(|_| creates),
            at: one.end.map(|(at, _)| at),
        }
    }
}

fn porcupine(client_id: usize, id: usize, value: Value<'_>) -> String {
    let kind = match value {
        Value::Call { .. } => "call",
        Value::Return { .. } => "return",
    };
    let event = Porcupine {
        client_id,
        kind,
        value,
        id,
    };
    serde_json::to_string(&event).expect("it is plain data") + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value as Json;

    use super::*;
    use crate::report::samples;

    #[test]
    fn a_lost_response_is_info_and_its_process_is_not_used_again() {
        let edn = samples::two_believers().to_edn();
        let info: Vec<&str> = edn
            .lines()
            .filter(|line| line.contains(":no-answer"))
            .collect();
        let lost = info.iter().find(|line| line.contains(":fault"));
        let lost = lost.expect("a response is lost");
        assert!(lost.contains(":type :info"), "{lost}");
        assert!(lost.contains(":applied true"), "{lost}");
        assert!(lost.contains(":f :renew"), "{lost}");
        let process = |line: &str| {
            let after = line.split(":process ").nth(1).expect("each line has one");
            after.split(',').next().expect("a name").to_owned()
        };
        let of_lost = process(lost);
        let after = edn.split(*lost).nth(1).expect("it is a line");
        assert!(
            after
                .lines()
                .all(|line| line.is_empty() || process(line) != of_lost)
        );
        // Its contender goes on as another process, which is its own modulo the contenders.
        let mut later = after.lines().filter(|line| line.contains("renew/"));
        let later = process(later.next().expect("it renews again"));
        let contender = |process: &str| process.parse::<usize>().expect("a number") % 2;
        assert_eq!(contender(&later), contender(&of_lost));
    }

    #[test]
    fn each_line_of_edn_is_numbered_and_balanced_whatever_the_keys() {
        let edn = samples::two_believers().to_edn();
        for (number, line) in edn.lines().enumerate() {
            assert!(
                line.starts_with(&format!("{{:index {number}, :time ")),
                "{line}"
            );
            assert!(is_balanced(line), "{line}");
        }
        assert!(edn.contains(r#"</script>\"&<"#), "{edn}");
        assert!(!edn.contains("secret"), "tokens are left out");
        assert!(edn.contains(":process :nemesis, :f :schedule"));
        assert!(edn.contains(":holds true, :token \"7\\\"\""), "{edn}");
    }

    #[test]
    fn an_acquire_that_was_rejected_fails() {
        let edn = samples::two_believers().to_edn();
        let lines = edn.lines().filter(|line| line.contains(":f :acquire"));
        let kinds = lines.map(|line| {
            line.split(":type ")
                .nth(1)
                .and_then(|rest| rest.split(',').next())
        });
        let kinds: Vec<_> = kinds.flatten().collect();
        assert_eq!(
            kinds,
            [":invoke", ":ok", ":invoke", ":fail", ":invoke", ":ok"]
        );
    }

    /// Returns whether brackets and strings are closed, as Clojure's reader counts them.
    fn is_balanced(line: &str) -> bool {
        let (mut depth, mut in_string, mut escaped) = (0_i32, false, false);
        for letter in line.chars() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                '{' if !in_string => depth += 1,
                '}' if !in_string => depth -= 1,
                _ => {}
            }
        }
        depth == 0 && !in_string
    }

    #[test]
    fn a_client_of_porcupine_has_one_open_operation_and_each_call_returns() {
        let events = samples::two_believers().to_porcupine();
        let mut open: BTreeMap<u64, u64> = BTreeMap::new();
        let mut calls = BTreeSet::new();
        for line in events.lines() {
            let event: Json = serde_json::from_str(line).expect("it is JSON");
            let client = event["clientId"].as_u64().expect("a number");
            let id = event["id"].as_u64().expect("a number");
            if event["kind"] == "call" {
                assert!(calls.insert(id), "each id calls once");
                assert_eq!(open.insert(client, id), None, "one open operation");
            } else {
                assert_eq!(event["kind"], "return");
                assert_eq!(open.remove(&client), Some(id));
            }
        }
        assert!(open.is_empty(), "each call returns");
    }

    #[test]
    fn what_has_no_answer_returns_last_and_a_second_open_request_is_another_client() {
        let events = samples::two_believers().to_porcupine();
        let events: Vec<Json> = events
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"))
            .collect();
        let unknown = events
            .iter()
            .position(|event| event["value"]["result"] == "info");
        let unknown = unknown.expect("a response is lost");
        assert!(
            events[unknown..]
                .iter()
                .all(|event| event["value"]["result"] == "info")
        );
        assert_eq!(events[unknown]["value"]["applied"], true);
        assert_eq!(events[unknown]["value"]["status"], Json::Null);
        // a watches and renews at the same time.
        let watch = events.iter().find(|event| event["value"]["op"] == "watch");
        let renew = events.iter().find(|event| event["value"]["op"] == "renew");
        let client = |event: Option<&Json>| event.and_then(|event| event["clientId"].as_u64());
        assert_eq!((client(watch), client(renew)), (Some(0), Some(2)));
    }
}
