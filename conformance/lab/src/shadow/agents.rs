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

    /// The agent that an object is about, which has its name or its node.
    fn about(&self, item: &Value) -> Option<&Place> {
        let named = item.get("Node").or_else(|| item.get("Name"))?;
        let named = named.get("Node").unwrap_or(named).as_str()?;
        self.0.iter().find(|place| place.node == named)
    }

    /// The name of the agent that an item of a list is about.
    fn whose(&self, item: &Value) -> Option<String> {
        match item {
            Value::String(text) => text.starts_with(SERVER).then(|| text.clone()),
            _ => self.about(item).map(|place| place.node.clone()),
        }
    }

    /// Replaces places below a value, which is inside an object about an agent.
    fn name(&self, value: &mut Value, inside: Option<&Place>) {
        let about = self.about(value).or(inside);
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let is_port = name.to_ascii_lowercase().ends_with("port");
                    if is_port && about.is_some_and(|about| about.has_port(field)) {
                        *field = "<its port>".into();
                    }
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
                } else if about.is_some_and(|about| about.address == *text) {
                    "<its address>".clone_into(text);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl Place {
    fn has_port(&self, shown: &Value) -> bool {
        let shown = match shown {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.ports.contains(&shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(address: &str, ports: [u16; 2]) -> Agents {
        let places = ["a", "b"].into_iter().zip(ports);
        let places = places.map(|(node, port)| Place {
            node: node.to_owned(),
            address: address.to_owned(),
            server: format!("{address}:{port}"),
            ports: vec![port.to_string()],
        });
        Agents(places.collect())
    }

    fn named(agents: &Agents, body: &str) -> String {
        let mut body = serde_json::from_str(body).expect("JSON");
        agents.name(&mut body, None);
        body.to_string()
    }

    #[test]
    fn places_differ_by_their_agent_alone() {
        let (real, emulated) = (agents("10.0.0.1", [1, 2]), agents("127.0.0.1", [8, 9]));
        for (one, other, are_alike) in [
            (
                r#"["10.0.0.1:2","10.0.0.1:1"]"#,
                r#"["127.0.0.1:8","127.0.0.1:9"]"#,
                true,
            ),
            (r#""10.0.0.1:1""#, r#""127.0.0.1:9""#, false),
            (
                r#"[{"Name":"b","Addr":"10.0.0.1","Port":2},{"Name":"a","Tags":{"port":"1"}}]"#,
                r#"[{"Name":"a","Tags":{"port":"8"}},{"Name":"b","Addr":"127.0.0.1","Port":9}]"#,
                true,
            ),
            (
                r#"{"Node":{"Node":"a"},"Service":{"Address":"10.0.0.1","ServicePort":1}}"#,
                r#"{"Node":{"Node":"a"},"Service":{"Address":"127.0.0.1","ServicePort":8}}"#,
                true,
            ),
            // Of what is no agent, and what is no port.
            (
                r#"{"Node":"x","Address":"10.0.0.1"}"#,
                r#"{"Node":"x","Address":"127.0.0.1"}"#,
                false,
            ),
            (
                r#"{"Node":"a","CreateIndex":1}"#,
                r#"{"Node":"a","CreateIndex":8}"#,
                false,
            ),
            (
                r#"[{"Node":"x"},{"Node":"a"}]"#,
                r#"[{"Node":"a"},{"Node":"x"}]"#,
                false,
            ),
        ] {
            assert_eq!(
                named(&real, one) == named(&emulated, other),
                are_alike,
                "{one}"
            );
        }
    }
}
