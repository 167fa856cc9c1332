//! What transactions say of nodes, services and checks that they cannot read or write (kv.md 7.5).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::catalog::{check, service_check};
use crate::cases::support::txn::refused;
use crate::cases::support::txn_catalog::{
    check_op, fails, id_of_node, node_op, one, service_op, shown, shows_nothing,
};

const NEEDS: &[Feature] = &[Feature::Registration];
const SOURCE: &str = "kv.md 7.5";

/// A node with the check `ok` and the service `svc`.
#[track_caller]
fn furnished(t: &Trial) -> String {
    let node = t.register_node("n");
    check(t, &node, "ok", "passing");
    service_check(t, &node, "svc", "svcok", "passing");
    node
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/catalog/get-of-what-is-not-there",
        claim: "A get of a node, a service or a check that is not there fails and names it",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (t.register_node("n"), t.node("missing"));
            fails(
                t,
                &node_op("get", &json!({"Node": missing})),
                &format!("node \"{missing}\" doesn't exist"),
            );
            for node in [&node, &missing] {
                fails(
                    t,
                    &service_op("get", node, &json!({"ID": "zz", "Service": "zz"})),
                    &format!("service \"zz\" on node \"{node}\" doesn't exist"),
                );
                fails(
                    t,
                    &check_op("get", &json!({"Node": node, "CheckID": "zz"})),
                    &format!("check \"zz\" on node \"{node}\" doesn't exist"),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/stale-cas",
        claim: "A cas with another index than that of the node, the service or the check fails, with 0 for what is there, and with any other for what is not",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (furnished(t), t.node("missing"));
            for (node, index) in [(&node, 0), (&node, 1), (&missing, 1)] {
                let stale = |what: &str| format!("failed to set {what}, index is stale");
                fails(
                    t,
                    &node_op("cas", &json!({"Node": node, "ModifyIndex": index})),
                    &stale(&format!("node \"{node}\"")),
                );
                let service = json!({"ID": "svc", "Service": "svc", "ModifyIndex": index});
                fails(
                    t,
                    &service_op("cas", node, &service),
                    &stale(&format!("service \"svc\" on node \"{node}\"")),
                );
                let check =
                    json!({"Node": node, "CheckID": "ok", "Name": "ok", "ModifyIndex": index});
                fails(
                    t,
                    &check_op("cas", &check),
                    &stale(&format!("check \"ok\" on node \"{node}\"")),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/stale-delete-cas",
        claim: "A delete-cas with another index than that of the node, the service or the check fails, and of what is not there with every index",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (furnished(t), t.node("missing"));
            for (node, index) in [(&node, 0), (&node, 1), (&missing, 0), (&missing, 1)] {
                let stale = |what: &str| format!("failed to delete {what}, index is stale");
                fails(
                    t,
                    &node_op("delete-cas", &json!({"Node": node, "ModifyIndex": index})),
                    &stale(&format!("node \"{node}\"")),
                );
                let service = json!({"ID": "svc", "Service": "svc", "ModifyIndex": index});
                fails(
                    t,
                    &service_op("delete-cas", node, &service),
                    &stale(&format!("service \"svc\" on node \"{node}\"")),
                );
                let check = json!({"Node": node, "CheckID": "ok", "ModifyIndex": index});
                fails(
                    t,
                    &check_op("delete-cas", &check),
                    &stale(&format!("check \"ok\" on node \"{node}\"")),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "txn/catalog/parent-missing",
        claim: "A service or a check of a node that is not there cannot be written, nor a check of such a service",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (t.register_node("n"), t.node("missing"));
            let service = json!({"ID": "s", "Service": "s"});
            for verb in ["set", "cas"] {
                let operation = service_op(verb, &missing, &service);
                fails(t, &operation, "Missing node registration");
            }
            let check = json!({"Node": missing, "CheckID": "c", "Name": "c"});
            fails(t, &check_op("set", &check), "Missing node registration");
            let check = json!({"Node": node, "CheckID": "c", "Name": "c", "ServiceID": "none"});
            fails(t, &check_op("set", &check), "Missing service registration");
            fails(
                t,
                &service_op("set", "", &service),
                "Missing node registration",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "txn/check/cas-passes-over-what-cannot-be-written",
        claim: "A check that cas 0 would make, but that has no node, no service or no id to be written with, is passed over: no error and no result",
        source: "kv.md 7.5.r8, 7.5.r10",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let (node, missing, key) = (t.register_node("n"), t.node("missing"), t.key("k"));
            for check in [
                json!({"Node": missing, "CheckID": "c", "Name": "c"}),
                json!({"Node": missing}),
                json!({"Node": node, "CheckID": "c", "Name": "c", "ServiceID": "none"}),
                json!({"Node": node}),
            ] {
                shows_nothing(t, &check_op("cas", &check));
                // What stands beside it is done.
                let set = json!({"KV": {"Verb": "set", "Key": key, "Value": "dg=="}});
                let answer = t.txn(&json!([check_op("cas", &check), set]));
                answer
                    .status_is(200)
                    .field_is("/Results/0/KV/Key", key.clone());
            }
            t.api_get(&format!("/v1/health/node/{node}")).is(200, "[]");
            let named = json!({"Node": node, "Name": "named"});
            let made = shown(t, &check_op("cas", &named), "Check");
            t.same("CheckID", made["CheckID"].clone(), json!("named"));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/refused-cas-shows-the-check-since-1-22",
        claim: "A cas of a check that names a service which its node lacks is no error, and shows the check as it was",
        source: "kv.md 7.5.r10",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            check(t, &node, "c", "passing");
            let before = shown(
                t,
                &check_op("get", &json!({"Node": node, "CheckID": "c"})),
                "Check",
            );
            let moved = json!({"Node": node, "CheckID": "c", "ServiceID": "none", "Status": "critical",
                "ModifyIndex": before["ModifyIndex"]});
            let after = shown(t, &check_op("cas", &moved), "Check");
            t.same("check", after, before);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/without-an-id-since-1-22",
        claim: "A check without an id is told by the step that looks for it, before its missing node",
        source: "1.22.md A7.r12",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let missing = "index error: object is missing a value for this index";
            for (verb, words) in [
                ("set", "failed health check lookup"),
                ("get", "failed check lookup"),
                ("cas", "failed check lookup"),
                ("delete", "check lookup failed"),
                ("delete-cas", "check lookup failed: failed check lookup"),
            ] {
                let words = format!("{words}: {missing}");
                fails(t, &check_op(verb, &json!({})), &words);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/later-fields-since-1-22",
        claim: "The port of a proxy is kept of a check; a check of a peer has no node here; a service may say where it is",
        source: "1.22.md A7.r10",
        since: Version::V1_22,
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let exposed = json!({"Node": node, "CheckID": "c", "Name": "c", "ExposedPort": 7});
            let check = shown(t, &check_op("set", &exposed), "Check");
            t.same("port", &check["ExposedPort"], &json!(7));
            let of_peer = json!({"Node": node, "CheckID": "p", "Name": "p", "PeerName": "x"});
            fails(t, &check_op("set", &of_peer), "Missing node registration");
            let service = json!({"ID": "s", "Service": "s", "Datacenter": "dc1", "Partition": "x"});
            shown(t, &service_op("set", &node, &service), "Service");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/node/validation",
        claim: "A write of a node needs a name and, if it gives an id, a well-formed one; a read of none finds none",
        source: SOURCE,
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            for verb in ["set", "cas", "delete", "delete-cas"] {
                fails(t, &node_op(verb, &json!({})), "Must provide node");
                let malformed = json!({"Node": node, "ID": "nope"});
                fails(
                    t,
                    &node_op(verb, &malformed),
                    "Bad node ID: uuid string is wrong length",
                );
            }
            fails(t, &node_op("get", &json!({})), "node \"\" doesn't exist");
        },
        ..Case::SHOULD
    },
    Case {
        id: "txn/node/by-id",
        claim: "A get that gives an id finds the node of that id, whatever its name; a malformed id is told as one",
        source: "kv.md 7.5",
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let node = t.node("n");
            let id = id_of_node(&node);
            t.register(&json!({"Node": node, "Address": "127.0.0.1", "ID": id}));
            for fields in [
                json!({"ID": id}),
                json!({"ID": id.to_uppercase(), "Node": "another"}),
            ] {
                let found = shown(t, &node_op("get", &fields), "Node");
                t.same("Node", found["Node"].clone(), json!(node));
            }
            let unknown = json!({"ID": "cccccccc-ffff-4fff-8fff-ffffffffffff", "Node": node});
            fails(
                t,
                &node_op("get", &unknown),
                &format!("node \"{node}\" doesn't exist"),
            );
            fails(
                t,
                &node_op("get", &json!({"ID": "nope", "Node": node})),
                "node lookup by ID failed, wrong UUID: uuid string is wrong length for 'nope'",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/service/validation-before-1-13",
        claim: "A write of a service with an id needs its name, also its deletion",
        source: "kv.md 7.5, 1.22.md A7",
        until: Some(Version::V1_13),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for verb in ["set", "cas", "delete", "delete-cas"] {
                let operation = service_op(verb, &node, &json!({"ID": "s"}));
                fails(t, &operation, "Must provide service name with ID");
            }
            fails(
                t,
                &service_op("set", &node, &json!({})),
                "failed inserting service: object missing primary index",
            );
            shows_nothing(t, &service_op("delete", &node, &json!({})));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/service/validation-since-1-14",
        claim: "A write of a service with an id needs its name, also its deletion, and the text tells the fields",
        source: "1.22.md A7",
        since: Version::new(1, 14, 0),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for verb in ["set", "cas", "delete", "delete-cas"] {
                fails(
                    t,
                    &service_op(verb, &node, &json!({"ID": "s"})),
                    "Must provide service name (Service.Service) when service ID is provided",
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/service/empty-since-1-21-2",
        claim: "A write of a service with neither id nor name fails before anything runs, also its deletion",
        source: "1.22.md A7",
        since: Version::new(1, 21, 2),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            for verb in ["set", "delete"] {
                fails(
                    t,
                    &service_op(verb, &node, &json!({})),
                    "service name (Service.Service) is required; both Service ID (Service.ID) and Service Name cannot be empty",
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/check/validation",
        claim: "A check needs an id or a name to be set; without both it is not found and its deletion does nothing",
        source: SOURCE,
        until: Some(Version::V1_22),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let nameless = json!({"Node": node});
            fails(
                t,
                &check_op("set", &nameless),
                "failed inserting check: object missing primary index",
            );
            fails(
                t,
                &check_op("get", &nameless),
                &format!("check \"\" on node \"{node}\" doesn't exist"),
            );
            shows_nothing(t, &check_op("delete", &nameless));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/catalog/unknown-verbs-before-1-19-1",
        claim: "A verb that is none fails when its turn comes, after what keeps any operation from running",
        source: "kv.md 7.5, 1.22.md A7",
        until: Some(Version::new(1, 19, 1)),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let service = json!({"ID": "s", "Service": "s"});
            let check = json!({"Node": node, "CheckID": "c"});
            for verb in ["bogus", "", "SET"] {
                let text = |kind: &str| format!("unknown {kind} verb \"{verb}\"");
                fails(t, &node_op(verb, &json!({"Node": node})), &text("Node"));
                fails(t, &service_op(verb, &node, &service), &text("Service"));
                fails(t, &check_op(verb, &check), &text("Check"));
            }
            let answer = t.txn(&json!([
                check_op("bogus", &check),
                node_op("bogus", &json!({})),
            ]));
            refused(answer, &[(1, "Must provide node")]);
        },
        ..Case::REAL
    },
    Case {
        id: "txn/catalog/unknown-verbs-since-1-19-1",
        claim: "A verb that is none is refused before anything runs",
        source: "1.22.md A7",
        since: Version::new(1, 19, 1),
        needs: NEEDS,
        run: |t| {
            let node = t.register_node("n");
            let service = json!({"ID": "s", "Service": "s"});
            let check = json!({"Node": node, "CheckID": "c"});
            for verb in ["bogus", "", "SET"] {
                let text = |kind: &str| format!("unknown {kind} operation: {verb}");
                fails(t, &node_op(verb, &json!({"Node": node})), &text("node"));
                fails(t, &service_op(verb, &node, &service), &text("service"));
                fails(t, &check_op(verb, &check), &text("check"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "txn/catalog/every-failure-is-listed",
        claim: "Every operation that fails is listed; of those that are refused before anything runs only these",
        source: "kv.md 7.4, 7.5",
        needs: NEEDS,
        run: |t| {
            let (node, missing) = (t.register_node("n"), t.node("missing"));
            let get = node_op("get", &json!({"Node": missing}));
            let cas = node_op("cas", &json!({"Node": node, "ModifyIndex": 1}));
            let answer = t.txn(&json!([get, node_op("set", &json!({"Node": node})), cas]));
            let not_there = format!("node \"{missing}\" doesn't exist");
            let stale = format!("failed to set node \"{node}\", index is stale");
            refused(answer, &[(0, &not_there), (2, &stale)]);
            let answer = t.txn(&json!([get, node_op("set", &json!({})), cas]));
            refused(answer, &[(1, "Must provide node")]);
            one(t, &node_op("get", &json!({"Node": node}))).status_is(200);
        },
        ..Case::MUST
    },
];
