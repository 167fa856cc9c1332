//! Plays the steps of sequences with tokens.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::Call;
use super::caller::Acl;
use super::names::{EXPIRING_ACCESSOR, EXPIRING_SECRET, MANAGER, MANAGER_ACCESSOR, ROOT};
use crate::sequence::Agent;
use crate::sequence::operation::Operation;
use crate::sequence::play::Player;
use proconsul_conformance::time::{Deadline, Stopwatch, pause};
use proconsul_conformance::wire::{Address, Outcome, Request, exchange};

/// For how long an event travels at most until lists show it, and an agent enters itself into the catalog.
const TRAVEL: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// How long the token that expires lives: the shortest time that Consul takes (acl.md 5.30.r2).
const LIVES: &str = "1m";
/// Objects that are there from the start, and stay.
const BUILT_IN: &str = "00000000-0000-0000-0000-00000000000";
/// What is said about the anonymous token before somebody changes it.
const ANONYMOUS: &str = r#"{"Description":"Anonymous Token"}"#;

/// Makes servers ready for sequences with tokens. The time since then says whether the token that expires has expired.
pub(in crate::sequence) fn prepare(agents: [&Agent; 2]) -> Stopwatch {
    for Agent { address, node } in agents {
        let name = node.as_str();
        let manager = json!({
            "AccessorID": MANAGER_ACCESSOR, "SecretID": MANAGER, "Policies": [{"Name": "global-management"}],
        });
        let put = |path: &str, body: &str| send(address, ROOT, &Request::put(path, body));
        put("/v1/acl/token", &manager.to_string());
        // From now on the agent lets in nobody who has no token.
        send(address, ROOT, &no_default());
        put(
            "/v1/agent/token/agent",
            &json!({ "Token": MANAGER }).to_string(),
        );
        delete_configured(address);
        let expiring = json!({"AccessorID": EXPIRING_ACCESSOR, "SecretID": EXPIRING_SECRET, "ExpirationTTL": LIVES});
        let put = |path: &str, body: &str| send(address, MANAGER, &Request::put(path, body));
        put("/v1/acl/token", &expiring.to_string());
        // A change makes the agent enter itself into the catalog now instead of within a minute (acl.md 11.5).
        put(
            "/v1/agent/service/register",
            r#"{"Name":"before-all-sequences"}"#,
        );
        put("/v1/agent/service/deregister/before-all-sequences", "");
        let own = Request::get(&format!("/v1/catalog/node/{name}"));
        await_text(address, &own, "\"lan\"");
        renew_own_node(address, name);
    }
    Stopwatch::start()
}

/// Writes what the catalog has about the agent's node once more. Who of leader and agent was first to enter it says
/// nothing.
fn renew_own_node(address: &Address, name: &str) {
    let json = |path: &str| {
        let outcome = send(address, MANAGER, &Request::get(path));
        let Outcome::Reply(reply) = outcome else {
            return Value::Null;
        };
        serde_json::from_slice(&reply.body).unwrap_or_default()
    };
    let put =
        |path: &str, body: &Value| send(address, MANAGER, &Request::put(path, body.to_string()));
    let shown = json(&format!("/v1/catalog/node/{name}"));
    let (node, service) = (&shown["Node"], &shown["Services"]["consul"]);
    let check = &json(&format!("/v1/health/node/{name}"))[0];
    for what in ["ServiceID", "CheckID"] {
        let id = if what == "ServiceID" {
            "consul"
        } else {
            "serfHealth"
        };
        put("/v1/catalog/deregister", &json!({"Node": name, what: id}));
    }
    let mut body = json!({
        "ID": node["ID"], "Node": name, "Address": node["Address"], "TaggedAddresses": node["TaggedAddresses"],
        "NodeMeta": {"renewed": "yes"},
    });
    put("/v1/catalog/register", &body);
    body["NodeMeta"] = node["Meta"].clone();
    // The leader looks once a minute whether all of this is as it should be.
    body["Service"] = json!({
        "ID": "consul", "Service": "consul", "Port": service["Port"], "Meta": service["Meta"],
        "Tags": service["Tags"], "Weights": service["Weights"],
    });
    body["Check"] = json!({
        "Node": name, "CheckID": "serfHealth", "Name": check["Name"], "Status": check["Status"],
        "Output": check["Output"],
    });
    put("/v1/catalog/register", &body);
}

/// Deletes the configured token. A server may give all that it has from the start one CreateTime, or not.
fn delete_configured(address: &Address) {
    let own = send(address, ROOT, &Request::get("/v1/acl/token/self"));
    let Outcome::Reply(own) = own else { return };
    let own: Value = serde_json::from_slice(&own.body).unwrap_or_default();
    let accessor = own["AccessorID"].as_str().unwrap_or_default();
    send(
        address,
        MANAGER,
        &Request::delete(&format!("/v1/acl/token/{accessor}")),
    );
}

fn send(address: &Address, token: &str, request: &Request) -> Outcome {
    exchange(address, &request.clone().header("X-Consul-Token", token))
}

/// Waits until an answer shows a text.
fn await_text(address: &Address, request: &Request, text: &str) {
    let deadline = Deadline::after(TRAVEL);
    let shows = || {
        let outcome = send(address, MANAGER, request);
        matches!(outcome, Outcome::Reply(reply) if String::from_utf8_lossy(&reply.body).contains(text))
    };
    while deadline.left().is_some() && !shows() {
        pause(LOOK);
    }
}

/// Takes away the token of requests that have none.
fn no_default() -> Request {
    Request::put("/v1/agent/token/default", r#"{"Token":""}"#)
}

impl Player {
    /// Plays a step as somebody.
    pub(in crate::sequence) fn step_as(&mut self, caller: &'static str, operation: &Operation) {
        let Some(acl) = &mut self.acl else { return };
        acl.names.learn_queries(&self.queries);
        let (way, secret) = caller.split_once(' ').expect("a way and a secret");
        acl.caller = (way, acl.names.fill(secret));
        self.step(operation);
        self.act_as_root();
    }

    pub(in crate::sequence) fn act_as_root(&mut self) {
        if let Some(acl) = &mut self.acl {
            acl.caller = ("header", MANAGER.to_owned());
        }
    }

    /// Makes a request of the grammar, and remembers what it made.
    pub(in crate::sequence) fn call(&mut self, call: &Call) {
        let Some(acl) = &mut self.acl else { return };
        let target = acl.names.fill(&call.target);
        let mut request = Request::new(&call.method, &target);
        if call.method == "PUT" || call.method == "POST" {
            request = request.body(acl.names.fill(&call.body));
        }
        acl.has_changed_agent |= target.starts_with("/v1/agent/") && call.method == "PUT";
        let Outcome::Reply(reply) = self.request(&request) else {
            return;
        };
        if reply.status != 200 || call.method == "GET" {
            return;
        }
        let made: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        if target.starts_with("/v1/acl/token") {
            acl_of(self).learn_token(&text("AccessorID"), &text("SecretID"));
        } else if target.starts_with("/v1/acl/") {
            acl_of(self).names.learn_object(&text("Name"), &text("ID"));
        } else if target == "/v1/query" {
            self.queries.push(text("ID"));
        } else if target.starts_with("/v1/event/fire/") {
            self.await_event(&text("ID"));
        }
    }

    /// Waits until an event is in lists: it travels.
    fn await_event(&mut self, id: &str) {
        await_text(self.address(), &Request::get("/v1/event/list"), id);
    }

    /// Makes the last changes of policies, roles and tokens older than those of the keys.
    pub(in crate::sequence) fn level_acls(&mut self) {
        if self.acl.is_none() {
            return;
        }
        for kind in ["policy", "role", "token"] {
            let body = json!({"Name": "before-the-sequence"});
            let body = if kind == "token" { json!({}) } else { body };
            let made = self.json(&Request::put(&format!("/v1/acl/{kind}"), body.to_string()));
            let id = made["AccessorID"].as_str().or(made["ID"].as_str());
            let id = id.unwrap_or_default();
            self.request(&Request::delete(&format!("/v1/acl/{kind}/{id}")));
        }
    }

    /// Takes away what the sequence has made at the agent, and all of its tokens, roles and policies.
    pub(in crate::sequence) fn delete_acls(&mut self) {
        let Some(acl) = &self.acl else { return };
        if acl.has_changed_agent {
            self.delete_of_agent();
        }
        self.request(&Request::put(
            &format!("/v1/acl/token/{BUILT_IN}2"),
            ANONYMOUS,
        ));
        for (list, kind, id) in [
            ("tokens", "token", "AccessorID"),
            ("roles", "role", "ID"),
            ("policies", "policy", "ID"),
        ] {
            let listed = self.json(&Request::get(&format!("/v1/acl/{list}")));
            for object in listed.as_array().into_iter().flatten() {
                let id = object[id].as_str().unwrap_or_default();
                let stays = [MANAGER_ACCESSOR, EXPIRING_ACCESSOR].contains(&id);
                if !stays && !id.starts_with(BUILT_IN) {
                    self.request(&Request::delete(&format!("/v1/acl/{kind}/{id}")));
                }
            }
        }
    }

    fn delete_of_agent(&mut self) {
        self.request(&no_default());
        self.request(&Request::put("/v1/agent/maintenance?enable=false", ""));
        for (list, path) in [("services", "service"), ("checks", "check")] {
            let listed = self.json(&Request::get(&format!("/v1/agent/{list}")));
            for id in listed
                .as_object()
                .into_iter()
                .flat_map(serde_json::Map::keys)
            {
                self.request(&Request::put(
                    &format!("/v1/agent/{path}/deregister/{id}"),
                    "",
                ));
            }
        }
        // What the agent may not take out of the catalog stays there (acl.md 11.4).
        let node = self.acl.as_ref().map(|acl| acl.names.node.clone());
        let node = node.unwrap_or_default();
        let listed = self.json(&Request::get(&format!("/v1/catalog/node-services/{node}")));
        for service in listed["Services"].as_array().into_iter().flatten() {
            if service["ID"] != "consul" {
                let body = json!({"Node": node, "ServiceID": service["ID"]});
                self.request(&Request::put("/v1/catalog/deregister", body.to_string()));
            }
        }
        let listed = self.json(&Request::get(&format!("/v1/health/node/{node}")));
        for check in listed.as_array().into_iter().flatten() {
            if check["CheckID"] != "serfHealth" {
                let body = json!({"Node": node, "CheckID": check["CheckID"]});
                self.request(&Request::put("/v1/catalog/deregister", body.to_string()));
            }
        }
    }
}

fn acl_of(player: &mut Player) -> &mut Acl {
    player.acl.as_mut().expect("the server has ACLs")
}
