//! Where each agent is, and what differs for that alone.

use serde_json::Value;

use super::inside::Inside;
use super::judge::with_body;
use proconsul_conformance::wire::Outcome;
use proconsul_conformance::wire::asked::Asked;

/// What a real cluster measures, or says in an order of chance.
const MEASURED: [&str; 3] = [
    "/v1/coordinate/",
    "/v1/operator/autopilot/health",
    "/v1/operator/keyring",
];

/// How the place of a server begins.
const SERVER: &str = "<server of ";

/// Whether an answer says what several agents measure.
pub(super) fn is_measured(asked: &Asked) -> bool {
    MEASURED.iter().any(|path| asked.path().starts_with(path))
}

/// The agents of one side.
#[derive(Debug, Clone)]
pub(super) struct Agents(Vec<Place>);

/// Where an agent is.
#[derive(Debug, Clone)]
struct Place {
    node: String,
    address: String,
    /// Where other servers reach it.
    server: String,
    ports: Vec<String>,
}

impl Agents {
    pub(super) fn of(all: &[Inside]) -> Self {
        let places = all.iter().map(|agent| Place {
            node: agent.node.clone(),
            address: agent.member_address.clone(),
            server: agent.server_address.clone(),
            ports: agent.ports.clone(),
        });
        Self(places.collect())
    }

    /// Whether there are several.
    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// A JSON answer in which each place of an agent says whose it is, and agents are in the order of their names.
    pub(super) fn by_name(&self, outcome: &Outcome) -> Outcome {
        with_body(outcome.clone(), |reply| {
            let mut body: Value = serde_json::from_slice(&reply.body).ok()?;
            self.name(&mut body, None);
            Some(body.to_string().into_bytes())
        })
    }

    /// The agent that this is the name of, or the node.
    fn called(&self, named: &Value) -> Option<&Place> {
        let named = named.get("Node").unwrap_or(named).as_str()?;
        self.0.iter().find(|place| place.node == named)
    }

    /// The name of the agent that an item of a list is about.
    fn whose(&self, item: &Value) -> Option<String> {
        if let Some(server) = item.as_str().filter(|text| text.starts_with(SERVER)) {
            return Some(server.to_owned());
        }
        let named = item.get("Node").or_else(|| item.get("Name"))?;
        self.called(named).map(|place| place.node.clone())
    }

    /// Replaces places below an object that is about an agent.
    fn name(&self, value: &mut Value, about: Option<&Place>) {
        match value {
            Value::Object(fields) => {
                let own = fields.get("Node").or_else(|| fields.get("Name"));
                let about = own.and_then(|named| self.called(named)).or(about);
                for field in fields.values_mut() {
                    self.name(field, about);
                }
            }
            Value::Array(items) => {
                for item in items.iter_mut() {
                    self.name(item, about);
                }
                if items.iter().all(|item| self.whose(item).is_some()) {
                    items.sort_by_key(|item| self.whose(item));
                }
            }
            Value::String(text) => {
                if let Some(place) = self.0.iter().find(|place| place.server == *text) {
                    *text = format!("{SERVER}{}>", place.node);
                } else if let Some(what) = about.and_then(|about| about.says(text)) {
                    what.clone_into(text);
                }
            }
            Value::Number(number) => {
                if let Some(what) = about.and_then(|about| about.says(&number.to_string())) {
                    *value = what.into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

impl Place {
    /// What an address or port of the agent is.
    fn says(&self, text: &str) -> Option<&'static str> {
        if text == self.address {
            return Some("<its address>");
        }
        let is_port = self.ports.iter().any(|port| port == text);
        is_port.then_some("<its port>")
    }
}
