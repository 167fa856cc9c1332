//! The state that the real server has already, for the emulator: by the API, as any client would.
//!
//! What the API does not show cannot be copied: tombstones, lock-delays under way, how much of a TTL is left, the definitions of the
//! agent's own checks. Indexes are new; those of the copied state count as one (`Mapping::floors`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::findings::told;
use super::inside::Inside;
use super::mapping::Mapping;
use proconsul_conformance::target::site::ToolError;
use proconsul_conformance::wire::entry::Entry;
use proconsul_conformance::wire::{Outcome, Reply, Request};

/// Where the last index of each kind of state is shown.
const TABLES: [&str; 8] = [
    "/v1/kv/?recurse",
    "/v1/session/list",
    "/v1/catalog/nodes",
    "/v1/catalog/services",
    "/v1/health/state/any",
    "/v1/query",
    "/v1/event/list",
    "/v1/catalog/service/consul",
];
/// So often is a key locked and released to have its LockIndex; more says nothing more to a program.
const MOST_LOCKS: u64 = 64;

/// Copies what the real server has to an emulator that has nothing; returns what could not be copied, in sentences.
pub(super) fn copy(
    all: &[Inside],
    emulated: &[Inside],
    mapping: &mut Mapping,
) -> Result<Vec<String>, ToolError> {
    let mut copy = Copy {
        all,
        real: &all[0],
        emulator: &emulated[0],
        mapping,
        left_out: Vec::new(),
    };
    copy.must_be_empty()?;
    copy.nodes()?;
    for (real, emulator) in all.iter().zip(emulated) {
        copy.mapping.pair(&real.node_id, &emulator.node_id, false);
        copy.own_services(real, emulator)?;
    }
    copy.sessions()?;
    copy.keys()?;
    copy.queries()?;
    copy.indexes()?;
    Ok(copy.left_out)
}

struct Copy<'c> {
    /// All real agents, of which the first is asked for what all have.
    all: &'c [Inside],
    real: &'c Inside,
    emulator: &'c Inside,
    mapping: &'c mut Mapping,
    left_out: Vec<String>,
}

impl Copy<'_> {
    fn must_be_empty(&self) -> Result<(), ToolError> {
        let at = self.emulator;
        let keys = list(at, "/v1/kv/?keys")?.len();
        let sessions = list(at, "/v1/session/list")?.len();
        if keys + sessions > 0 {
            return Err(ToolError(format!(
                "the emulator at {} is not empty: it has {keys} keys and {sessions} sessions",
                at.address
            )));
        }
        Ok(())
    }

    /// Does something at the emulator; what it refuses is left out, and said.
    fn put(&mut self, what: &str, request: &Request) -> Option<Reply> {
        self.put_at(self.emulator, what, request)
    }

    fn put_at(&mut self, agent: &Inside, what: &str, request: &Request) -> Option<Reply> {
        match agent.exchange(request) {
            Outcome::Reply(reply) if reply.status == 200 && reply.body != b"false" => Some(reply),
            Outcome::Reply(reply) => {
                let why = told(&reply);
                self.left_out.push(format!(
                    "{what} was not copied: the emulator answered {why}"
                ));
                None
            }
            other => {
                self.left_out.push(format!(
                    "{what} was not copied: the emulator answered {other:?}"
                ));
                None
            }
        }
    }

    /// Nodes besides the agents' own, with their services and checks.
    fn nodes(&mut self) -> Result<(), ToolError> {
        for node in list(self.real, "/v1/catalog/nodes")? {
            let name = text(&node, "Node");
            if self.all.iter().any(|agent| agent.node == name) {
                continue;
            }
            let mut body = json!({
                "Node": name,
                "Address": node["Address"],
                "TaggedAddresses": node["TaggedAddresses"],
                "NodeMeta": node["Meta"],
            });
            if !text(&node, "ID").is_empty() {
                body["ID"] = node["ID"].clone();
            }
            self.register(&format!("the node {name}"), &body);
            let path = encoded(&name);
            let shown = get(self.real, &format!("/v1/catalog/node/{path}"))?;
            for service in shown["Services"]
                .as_object()
                .into_iter()
                .flat_map(Map::values)
            {
                let what = format!("the service {} of {name}", service["ID"]);
                body["Service"] = without_indexes(service);
                self.register(&what, &body);
            }
            if let Some(body) = body.as_object_mut() {
                body.remove("Service");
            }
            for check in list(self.real, &format!("/v1/health/node/{path}"))? {
                let what = format!("the check {} of {name}", check["CheckID"]);
                body["Check"] = without_indexes(&check);
                self.register(&what, &body);
            }
        }
        Ok(())
    }

    fn register(&mut self, what: &str, body: &Value) {
        self.put(
            what,
            &Request::put("/v1/catalog/register", body.to_string()),
        );
    }

    /// What an agent itself runs.
    fn own_services(&mut self, real: &Inside, emulator: &Inside) -> Result<(), ToolError> {
        let services = get(real, "/v1/agent/services")?;
        for service in services.as_object().into_iter().flat_map(Map::values) {
            let what = format!("the agent's service {}", service["ID"]);
            if !text(service, "Kind").is_empty() {
                self.left_out
                    .push(format!("{what} was not copied: it is a proxy"));
                continue;
            }
            let mut body = json!({"Name": service["Service"]});
            for field in [
                "ID",
                "Tags",
                "Meta",
                "Port",
                "Address",
                "EnableTagOverride",
                "Weights",
            ] {
                // The agent shows none as an empty one, and the catalog tells them apart.
                let is_none = [Value::Null, json!({}), json!([])].contains(&service[field]);
                if !is_none {
                    body[field] = service[field].clone();
                }
            }
            let request = Request::put("/v1/agent/service/register", body.to_string());
            self.put_at(emulator, &what, &request);
        }
        let checks = get(real, "/v1/agent/checks")?;
        let count = checks.as_object().map_or(0, Map::len);
        if count > 0 {
            self.left_out.push(format!(
                "{count} checks of the agent were not copied: Consul does not show how they are defined"
            ));
        }
        Ok(())
    }

    fn sessions(&mut self) -> Result<(), ToolError> {
        let mut sessions = list(self.real, "/v1/session/list")?;
        sessions.sort_by_key(|session| session["CreateIndex"].as_u64());
        let ending = sessions
            .iter()
            .filter(|session| !text(session, "TTL").is_empty());
        let ending = ending.count();
        if ending > 0 {
            self.left_out.push(format!(
                "{ending} sessions with a TTL may end at another moment until they are renewed: Consul does not show what is left of it"
            ));
        }
        for session in &sessions {
            let id = text(session, "ID");
            let mut body = json!({"LockDelay": format!("{}ns", session["LockDelay"])});
            for field in ["Name", "Behavior", "TTL", "NodeChecks", "ServiceChecks"] {
                let is_unset = session[field].is_null() || session[field] == "";
                if !is_unset {
                    body[field] = session[field].clone();
                }
            }
            let node = text(session, "Node");
            if node != self.real.node {
                body["Node"] = node.into();
            }
            let what = format!("the session {id}");
            let request = Request::put("/v1/session/create", body.to_string());
            if let Some(reply) = self.put(&what, &request) {
                self.pair_id(&id, &reply, true);
            }
        }
        Ok(())
    }

    fn pair_id(&mut self, id: &str, reply: &Reply, is_session: bool) {
        let created: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        self.mapping.pair(id, &text(&created, "ID"), is_session);
    }

    /// Keys in the order in which they were last written, each locked as often as it was.
    fn keys(&mut self) -> Result<(), ToolError> {
        let mut entries = entries(self.real)?;
        entries.sort_by_key(|entry| entry.modify_index);
        let mut helper = None;
        for entry in &entries {
            let path = format!("/v1/kv/{}", encoded(&entry.key));
            let what = format!("the key {}", entry.key);
            let value = entry.value.clone().unwrap_or_default();
            let put = |copy: &mut Self, query: &str| {
                let target = format!("{path}?flags={}{query}", entry.flags);
                copy.put(&what, &Request::put(&target, &value)).is_some()
            };
            if !put(self, "") {
                continue;
            }
            let holder = entry.session.as_ref();
            let locks = entry.lock_index.saturating_sub(u64::from(holder.is_some()));
            for _ in 0..locks.min(MOST_LOCKS) {
                let id = match &helper {
                    Some(id) => String::clone(id),
                    None => self.helper()?,
                };
                put(self, &format!("&acquire={id}"));
                put(self, &format!("&release={id}"));
                helper = Some(id);
            }
            if locks > MOST_LOCKS {
                self.left_out.push(format!(
                    "{what} has another LockIndex than {}",
                    entry.lock_index
                ));
            }
            if let Some(holder) = holder {
                put(
                    self,
                    &format!("&acquire={}", self.mapping.to_emulated_id(holder)),
                );
                // A write without a session sets it to 0 (kv.md 2.5).
                if entry.lock_index == 0 {
                    put(self, "");
                }
            }
        }
        if let Some(id) = helper {
            let destroy = format!("/v1/session/destroy/{id}");
            self.put("a session of the copy's own", &Request::put(&destroy, ""));
        }
        Ok(())
    }

    /// A session of the emulator's with which keys are locked.
    fn helper(&mut self) -> Result<String, ToolError> {
        let body = r#"{"LockDelay":"0s","NodeChecks":[]}"#;
        let request = Request::put("/v1/session/create", body);
        let reply = self.put("a LockIndex", &request);
        let created = reply.and_then(|reply| serde_json::from_slice(&reply.body).ok());
        let created: Value =
            created.ok_or_else(|| ToolError("the emulator makes no session".to_owned()))?;
        Ok(text(&created, "ID"))
    }

    fn queries(&mut self) -> Result<(), ToolError> {
        for query in list(self.real, "/v1/query")? {
            let id = text(&query, "ID");
            let mut body = without_indexes(&query);
            if let Some(fields) = body.as_object_mut() {
                fields.remove("ID");
            }
            let session = text(&query, "Session");
            if !session.is_empty() {
                body["Session"] = self.mapping.to_emulated_id(&session).into();
            }
            let request = Request::new("POST", "/v1/query").body(body.to_string());
            if let Some(reply) = self.put(&format!("the query {id}"), &request) {
                self.pair_id(&id, &reply, false);
            }
        }
        Ok(())
    }

    /// What programs may still send of the indexes from before, and where those end.
    fn indexes(&mut self) -> Result<(), ToolError> {
        let there = entries(self.emulator)?;
        let there: BTreeMap<&str, u64> = there
            .iter()
            .map(|entry| (entry.key.as_str(), entry.modify_index))
            .collect();
        for entry in entries(self.real)? {
            if let Some(index) = there.get(entry.key.as_str()) {
                self.mapping.pair_copied(entry.modify_index, *index);
            }
        }
        self.mapping.floors = (last_index(self.real)?, last_index(self.emulator)?);
        Ok(())
    }
}

fn last_index(at: &Inside) -> Result<u64, ToolError> {
    let mut last = 0;
    for path in TABLES {
        let reply = reply(at, path)?;
        let index = reply
            .header("X-Consul-Index")
            .and_then(|index| index.parse().ok());
        last = last.max(index.unwrap_or(0));
    }
    Ok(last)
}

fn entries(at: &Inside) -> Result<Vec<Entry>, ToolError> {
    let list = list(at, "/v1/kv/?recurse")?;
    let entries = list.iter().map(Entry::read);
    entries
        .collect::<Result<_, _>>()
        .map_err(|why| ToolError(format!("{}: {why}", at.address)))
}

/// A list; where there is nothing, or no such endpoint, it is empty.
fn list(at: &Inside, path: &str) -> Result<Vec<Value>, ToolError> {
    match get(at, path)? {
        Value::Array(list) => Ok(list),
        _ => Ok(Vec::new()),
    }
}

fn get(at: &Inside, path: &str) -> Result<Value, ToolError> {
    let reply = reply(at, path)?;
    let address = &at.address;
    match reply.status {
        200 => serde_json::from_slice(&reply.body)
            .map_err(|error| ToolError(format!("{address}{path} is no JSON: {error}"))),
        404 => Ok(Value::Null),
        _ => Err(ToolError(format!(
            "{address}{path} answered {}",
            told(&reply)
        ))),
    }
}

fn reply(at: &Inside, path: &str) -> Result<Reply, ToolError> {
    match at.exchange(&Request::get(path)) {
        Outcome::Reply(reply) => Ok(reply),
        _ => Err(ToolError(format!(
            "{} does not answer GET {path}",
            at.address
        ))),
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// What was shown, as it can be sent again.
fn without_indexes(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !matches!(name.as_str(), "CreateIndex" | "ModifyIndex"));
    }
    value
}

/// A key or name as part of a path.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing into a string cannot fail");
        }
    }
    out
}
