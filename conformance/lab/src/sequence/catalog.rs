//! The steps of sequences that are about nodes, services and checks: on nodes of the sequence's own.

use serde_json::{Value, json};

use super::operation::{CasIndex, CatalogRead, CatalogStep, NODES, Registered, SESSIONS};
use super::play::{Player, STALE_INDEX};
use proconsul_conformance::wire::Request;

impl Player {
    /// The name of a node, which no other sequence has.
    pub(super) fn node(&self, slot: usize) -> String {
        format!("sequence-{}-{}", self.tag, NODES[slot])
    }

    /// The name of a service, which no other sequence has.
    pub(super) fn service(&self, name: &str) -> String {
        format!("sequence-{}-{name}", self.tag)
    }

    pub(super) fn register(&mut self, slot: usize, what: Registered) {
        let mut body = json!({"Node": self.node(slot), "Address": "127.0.0.1"});
        let check = |id: &str, service: &str, status: &str| json!({"CheckID": id, "Name": id, "Status": status, "ServiceID": service});
        match what {
            Registered::Node => body["NodeMeta"] = json!({"kind": "node"}),
            Registered::Service(name) => {
                body["Service"] = json!({"ID": name, "Service": self.service(name)});
            }
            Registered::Check(status) => body["Check"] = check("check", "", status),
            Registered::ServiceCheck(name, status) => {
                body["Check"] = check(&format!("check-{name}"), name, status);
            }
        }
        self.put("/v1/catalog/register", &body);
    }

    pub(super) fn deregister(&mut self, slot: usize, what: Registered) {
        let mut body = json!({"Node": self.node(slot)});
        match what {
            Registered::Node => {}
            Registered::Service(name) => body["ServiceID"] = json!(name),
            Registered::Check(_) => body["CheckID"] = json!("check"),
            Registered::ServiceCheck(name, _) => body["CheckID"] = json!(format!("check-{name}")),
        }
        self.put("/v1/catalog/deregister", &body);
    }

    pub(super) fn read_catalog(&mut self, slot: usize, read: CatalogRead) {
        let node = self.node(slot);
        let target = match read {
            CatalogRead::Node => format!("/v1/catalog/node/{node}"),
            CatalogRead::Checks => format!("/v1/health/node/{node}"),
            CatalogRead::Sessions => format!("/v1/session/node/{node}"),
            CatalogRead::Service(name) => format!("/v1/catalog/service/{}", self.service(name)),
            CatalogRead::Health(name) => format!("/v1/health/service/{}", self.service(name)),
            CatalogRead::ServiceChecks(name) => {
                format!("/v1/health/checks/{}", self.service(name))
            }
        };
        self.request(&Request::get(&target));
    }

    /// A transaction of these operations.
    pub(super) fn catalog_txn(&mut self, steps: &[CatalogStep]) {
        let steps: Vec<Value> = steps.iter().map(|step| self.catalog_step(step)).collect();
        self.put("/v1/txn", &Value::from(steps));
    }

    fn catalog_step(&mut self, step: &CatalogStep) -> Value {
        let (node, verb) = (self.node(step.node), step.verb);
        let index = self.catalog_index(step);
        let check = |id: &str, service: &str, status: &str| {
            let check = json!({
                "Node": node, "CheckID": id, "Name": id, "Status": status, "ServiceID": service, "ModifyIndex": index,
            });
            json!({"Check": {"Verb": verb, "Check": check}})
        };
        match step.what {
            Registered::Node => {
                let node = json!({"Node": node, "Address": "127.0.0.2", "ModifyIndex": index});
                json!({"Node": {"Verb": verb, "Node": node}})
            }
            Registered::Service(name) => {
                let service =
                    json!({"ID": name, "Service": self.service(name), "ModifyIndex": index});
                json!({"Service": {"Verb": verb, "Node": node, "Service": service}})
            }
            Registered::Check(status) => check("check", "", status),
            Registered::ServiceCheck(name, status) => check(&format!("check-{name}"), name, status),
        }
    }

    /// The index that an operation names.
    fn catalog_index(&mut self, step: &CatalogStep) -> u64 {
        match step.index {
            CasIndex::Zero => return 0,
            CasIndex::Stale => return STALE_INDEX,
            CasIndex::Current => {}
        }
        let node = self.node(step.node);
        let path = format!("/v1/catalog/node/{node}");
        let found = match step.what {
            Registered::Node => self.json(&Request::get(&path)).pointer("/Node").cloned(),
            Registered::Service(name) => {
                let shown = self.json(&Request::get(&path));
                shown.pointer(&format!("/Services/{name}")).cloned()
            }
            Registered::Check(_) => self.check(&node, "check"),
            Registered::ServiceCheck(name, _) => self.check(&node, &format!("check-{name}")),
        };
        let index = found
            .as_ref()
            .and_then(|found| found["ModifyIndex"].as_u64());
        index.unwrap_or(0)
    }

    fn check(&mut self, node: &str, id: &str) -> Option<Value> {
        let checks = self.json(&Request::get(&format!("/v1/health/node/{node}")));
        let checks = checks.as_array()?;
        checks.iter().find(|check| check["CheckID"] == id).cloned()
    }

    /// A session on a node, which falls with it, and with its check if it is bound to that.
    pub(super) fn create_session_on(&mut self, slot: usize, bound: bool) {
        if self.sessions.len() == SESSIONS {
            return;
        }
        let checks: &[&str] = if bound { &["check"] } else { &[] };
        let body = json!({"Node": self.node(slot), "NodeChecks": checks, "LockDelay": "0s"});
        let created = self.json(&Request::put("/v1/session/create", body.to_string()));
        if let Some(id) = created.pointer("/ID").and_then(Value::as_str) {
            self.sessions.push(id.to_owned());
        }
    }

    /// Makes the last changes of nodes, services and checks older than that of the keys, and some service extinct:
    /// what a sequence reads first then depends on nothing but the sequence.
    pub(super) fn level_catalog(&mut self) {
        let before = [
            Registered::Node,
            Registered::Service("before"),
            Registered::ServiceCheck("before", "passing"),
        ];
        for what in before {
            self.register(0, what);
        }
        self.deregister(0, Registered::Node);
    }

    /// Takes away whatever the sequence has registered.
    pub(super) fn deregister_all(&mut self) {
        for slot in 0..NODES.len() {
            self.deregister(slot, Registered::Node);
        }
    }

    fn put(&mut self, target: &str, body: &Value) {
        self.request(&Request::put(target, body.to_string()));
    }
}
