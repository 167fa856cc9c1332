//! The ids of nodes: their form, and that a node which comes under another name has been renamed (session.md 3.1, 4.2); and the
//! case of the names and ids of services.

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, deregister, register};
use crate::cases::support::session::{is_gone, lives};
use crate::cases::support::txn::refused;
use crate::wire::Request;
use crate::wire::answer::Answer;

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "session.md 3.1, 4.2";
const READ: &str = "session.md 4.5.r12";
/// What reads of ids need: their beginnings are compared, and are the same in each run.
const READ_NEEDS: &[Feature] = &[Feature::OwnServer, Feature::Registration];
/// Two ids that begin alike.
const ALIKE: [&str; 2] = [
    "dec0de00-1111-4222-8333-444444444444",
    "dec0de00-5555-4666-8777-888888888888",
];

/// The ids of the nodes that the case makes: no node of another case has them.
#[track_caller]
fn ids(t: &Trial) -> [String; 2] {
    // A session's id is as good, and new.
    [(); 2].map(|()| t.session("{\"NodeChecks\":[]}"))
}

fn try_register(t: &Trial, node: &str, address: &str, id: &str) -> Answer {
    let body = json!({"Node": node, "Address": address, "ID": id});
    t.api_put("/v1/catalog/register", body.to_string())
}

/// The node's row, or null.
#[track_caller]
fn row(t: &Trial, node: &str) -> Value {
    t.api_get(&format!("/v1/catalog/node/{node}")).json()["Node"].clone()
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "catalog/node-id/form",
        claim: "A node id has 36 bytes, four hyphens in their places and hexadecimal digits, which is looked at in this order",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for (id, text) in [
                ("nope", "uuid string is wrong length"),
                (
                    "0d0a0a0a111122223333444444444444",
                    "uuid string is wrong length",
                ),
                (
                    "0d0a0a0a-1111-2222-3333-4444444444444",
                    "uuid string is wrong length",
                ),
                (
                    "0d0a0a0a+1111-2222-3333-44444444444g",
                    "uuid is improperly formatted",
                ),
                (
                    "0d0a0a0a-1111-2222-3333+444444444444",
                    "uuid is improperly formatted",
                ),
                (
                    "0d0a0a0a-1111-2222-3333-44444444444g",
                    "encoding/hex: invalid byte: U+0067 'g'",
                ),
                (
                    "zd0a0a0a-1111-2222-3333-44444444444g",
                    "encoding/hex: invalid byte: U+007A 'z'",
                ),
            ] {
                try_register(t, &node, "127.0.0.1", id).is(500, &format!("Bad node ID: {text}"));
            }
            t.same("the node", row(t, &node), Value::Null);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/is-read-as-a-name",
        claim: "catalog/node and catalog/node-services take a node's id, or its beginning, for its name",
        source: READ,
        needs: READ_NEEDS,
        run: |t| {
            let ([id, _], node) = (ALIKE, t.node("n"));
            try_register(t, &node, "127.0.0.1", id).is(200, "true");
            let start = &id[..8];
            for found in [
                id,
                &id.to_uppercase(),
                &id.replace('-', ""),
                start,
                &id[..9],
                &id[..14],
                &id[..15],
                &format!("{id}0"),
                &format!("{start}z"),
                &format!("--{start}--"),
            ] {
                t.same(found, row(t, found)["Node"].clone(), json!(node));
                let services = t.api_get(&format!("/v1/catalog/node-services/{found}"));
                services.field_is("/Node/Node", json!(node));
            }
            for unknown in [
                &id[..1],
                &id[..10],
                &id[..11],
                &id[..12],
                &format!("{id}00"),
                &format!("{start}zz"),
                &format!("0x{start}"),
                &format!("-----{start}-"),
            ] {
                t.same(unknown, row(t, unknown), Value::Null);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/is-no-name-elsewhere",
        claim: "Other requests want a node's name",
        source: READ,
        needs: READ_NEEDS,
        run: |t| {
            let ([id, _], node) = (ALIKE, t.node("n"));
            check(t, &node, "c", "passing");
            try_register(t, &node, "127.0.0.1", id).is(200, "true");
            for read in ["health/node", "session/node"] {
                t.api_get(&format!("/v1/{read}/{id}")).is(200, "[]");
            }
            deregister(t, id, &json!({}));
            t.same("the node", row(t, id)["Node"].clone(), json!(node));
            let session = json!({"Node": id, "NodeChecks": []}).to_string();
            t.api_put("/v1/session/create", session).status_is(500);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/is-read-behind-names",
        claim: "A name goes before an id, and what several ids begin with finds none",
        source: READ,
        needs: READ_NEEDS,
        run: |t| {
            let ([first, second], one, other) = (ALIKE, t.node("one"), t.node("other"));
            let start = &first[..8];
            try_register(t, &one, "127.0.0.1", first).is(200, "true");
            t.same("one", row(t, start)["Node"].clone(), json!(one));
            try_register(t, &other, "127.0.0.1", second).is(200, "true");
            t.same("several", row(t, start), Value::Null);
            t.same("the other", row(t, second)["Node"].clone(), json!(other));
            let named = json!({"Node": start, "Address": "127.0.0.1"});
            t.api_put("/v1/catalog/register", named.to_string())
                .is(200, "true");
            t.same("a name", row(t, start)["Node"].clone(), json!(start));
            deregister(t, start, &json!({}));
            deregister(t, &other, &json!({}));
            t.same("one is left", row(t, start)["Node"].clone(), json!(one));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/is-waited-for",
        claim: "A blocked read of an id is answered when a node with it comes, and when that gets a service",
        source: READ,
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let ([id, _], node) = (ALIKE, t.node("n"));
            let path = format!("/v1/catalog/node/{}", &id[..8]);
            let blocked =
                |index: u64| t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
            let comes = blocked(t.api_get(&path).index());
            try_register(t, &node, "127.0.0.1", id).is(200, "true");
            let come = comes.answer().field_is("/Node/Node", json!(node));
            let serves = blocked(come.index());
            register(t, &node, &json!({"ID": id, "Service": {"Service": "web"}}));
            let seen = serves.answer().field_is("/Services/web/Service", "web");
            t.same("the index", seen.index(), t.api_get(&path).index());
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/renames",
        claim: "A node that comes under another name has been renamed: it keeps its CreateIndex, and what was on it is gone with its sessions",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let ([id, _], old, new) = (ids(t), t.node("old"), t.node("new"));
            try_register(t, &old, "127.0.0.1", &id).is(200, "true");
            check(t, &old, "c", "passing");
            try_register(t, &old, "127.0.0.1", &id).is(200, "true");
            let session = t.session(&json!({"Node": old, "NodeChecks": []}).to_string());
            let created = row(t, &old)["CreateIndex"].clone();
            try_register(t, &new, "127.0.0.1", &id.to_uppercase()).is(200, "true");
            is_gone(t, &session);
            t.same("the old name", row(t, &old), Value::Null);
            t.api_get(&format!("/v1/health/node/{new}")).is(200, "[]");
            t.same("CreateIndex", row(t, &new)["CreateIndex"].clone(), created);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/spelling-is-a-name",
        claim: "With its id a node is renamed by another spelling of its name, too, and without an id it is not",
        source: "session.md 3.1.r7, 4.2",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let ([id, _], node) = (ids(t), t.node("n"));
            let upper = node.to_uppercase();
            register(t, &node, &json!({}));
            let unbound = json!({"Node": node, "NodeChecks": []}).to_string();
            let session = t.session(&unbound);
            register(t, &upper, &json!({}));
            lives(t, &session);
            try_register(t, &upper, "127.0.0.1", &id).is(200, "true");
            lives(t, &session);
            try_register(t, &node, "127.0.0.1", &id).is(200, "true");
            is_gone(t, &session);
            t.same("Node", row(t, &upper)["Node"].clone(), json!(node));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/name-of-one-that-is-not-alive",
        claim: "A node may take the name of another one whose serfHealth is critical or not there; what is on that one stays",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let ([id, other], node) = (ids(t), t.node("n"));
            try_register(t, &node, "127.0.0.1", &other).is(200, "true");
            let session = t.session(&json!({"Node": node, "NodeChecks": []}).to_string());
            try_register(t, &node, "127.0.0.1", &id).is(200, "true");
            lives(t, &session);
            t.same("ID", row(t, &node)["ID"].clone(), json!(id));
            let dead = json!({"CheckID": "serfHealth", "Name": "s", "Status": "critical"});
            register(t, &node, &json!({"ID": id, "Check": dead}));
            try_register(t, &node, "127.0.0.1", &other).is(200, "true");
            lives(t, &session);
            t.same("ID", row(t, &node)["ID"].clone(), json!(other));
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/name-of-one-that-is-alive",
        claim: "Nobody takes the name of a node whose serfHealth is not critical, be he new or renamed; a new node may only be given an id where there was none",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let ([id, other], node, second) = (ids(t), t.node("n"), t.node("second"));
            let alive = json!({"CheckID": "serfHealth", "Name": "s", "Status": "passing"});
            let body = json!({"Node": node, "Address": "127.0.0.1", "Check": alive});
            // The leader takes such a node away within a minute; until then all of this holds.
            t.in_time(std::time::Duration::from_secs(5), || {
                t.register(&body);
                try_register(t, &second, "127.0.0.2", &other).is(200, "true");
                try_register(t, &node, "127.0.0.3", &other).is(
                    500,
                    &format!("failed inserting node: Error while renaming Node ID: \"{other}\" (127.0.0.3): Node name {node} is reserved by node  with name {node} (127.0.0.1)"),
                );
                try_register(t, &node, "127.0.0.1", &id).is(200, "true");
                try_register(t, &node, "127.0.0.3", &other).is(
                    500,
                    &format!("failed inserting node: Error while renaming Node ID: \"{other}\" (127.0.0.3): Node name {node} is reserved by node {id} with name {node} (127.0.0.1)"),
                );
                deregister(t, &second, &json!({}));
                let new = format!("Error while renaming Node ID: \"{other}\": Node name {node} is reserved by node {id} with name {node} (127.0.0.1)");
                try_register(t, &node, "127.0.0.3", &other)
                    .is(500, &format!("failed inserting node: {new}"));
                let set = json!([{"Node": {"Verb": "set", "Node": {"Node": node, "ID": other}}}]);
                refused(t.txn(&set), &[(0, &new)]);
                deregister(t, &node, &json!({}));
            });
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/node-id/left-alone",
        claim: "Where SkipNodeUpdate leaves the node's row alone, the id of a registration says nothing",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let ([id, other], first, second) = (ids(t), t.node("first"), t.node("second"));
            try_register(t, &first, "127.0.0.1", &id).is(200, "true");
            try_register(t, &second, "127.0.0.1", &other).is(200, "true");
            let before = (row(t, &first), row(t, &second));
            register(t, &second, &json!({"ID": id, "SkipNodeUpdate": true}));
            t.same("the nodes", (row(t, &first), row(t, &second)), before);
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/check-of-a-service-in-another-case",
        claim: "A check may name the id of its service in another case until 1.22, where it is unknown then",
        source: "1.22.md B4.2.r4; session.md 4.2.r19",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.node("n");
            register(
                t,
                &node,
                &json!({"Service": {"ID": "web", "Service": "web"}}),
            );
            let check = json!({"CheckID": "c", "Name": "c", "ServiceID": "WEB"});
            let body = json!({"Node": node, "Address": "127.0.0.1", "Check": check});
            let answer = t.api_put("/v1/catalog/register", body.to_string());
            if t.facts().version >= Version::V1_22 {
                answer.is(500, "Unknown service ID 'WEB' for check ID 'c'");
            } else {
                answer.is(200, "true");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "catalog/register/service-in-any-case",
        claim: "Names and ids of services are found in any case, and shown as they were last written",
        source: "session.md 4.2.r19",
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let service = |id: &str, name: &str| json!({"Service": {"ID": id, "Service": name}});
            // Late releases want the id as it is written.
            let is_late = t.facts().version >= Version::V1_22;
            let id = if is_late { "wEB" } else { "WEB" };
            let check = json!({"CheckID": "c", "Name": "c", "ServiceID": id, "Status": "passing"});
            register(t, "first", &service("Web", "Web"));
            register(t, "second", &service("web", "web"));
            register(t, "first", &service("wEB", "WEB"));
            register(t, "first", &json!({"Check": check}));
            for name in ["web", "wEb"] {
                let found = t
                    .api_get(&format!("/v1/catalog/service/{name}"))
                    .status_is(200);
                let list = found.list();
                let shown = |place: usize| {
                    (
                        list[place]["ServiceID"].clone(),
                        list[place]["ServiceName"].clone(),
                    )
                };
                t.same("instances", list.len(), 2);
                t.same("the first", shown(0), (json!("wEB"), json!("WEB")));
                t.same("the second", shown(1), (json!("web"), json!("web")));
                let health = t
                    .api_get(&format!("/v1/health/service/{name}"))
                    .status_is(200);
                t.same(
                    "its checks",
                    health.list()[0]["Checks"][0]["ServiceID"].clone(),
                    json!(id),
                );
                let checks = t
                    .api_get(&format!("/v1/health/checks/{name}"))
                    .status_is(200);
                t.same("checks", checks.list().len(), 1);
            }
            let names = t.api_get("/v1/catalog/services").status_is(200).json();
            t.same(
                "the names as written",
                (names["web"].is_array(), names["WEB"].is_array()),
                (true, true),
            );
            deregister(t, "first", &json!({"ServiceID": "web"}));
            t.same("left", t.api_get("/v1/catalog/service/WEB").list().len(), 1);
            deregister(t, "second", &json!({"ServiceID": "WEB"}));
            t.api_get("/v1/catalog/service/web").is(200, "[]");
        },
        ..Case::REAL
    },
];
