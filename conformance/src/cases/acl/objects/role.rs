//! Roles and identities (acl.md 8.1, 8.2).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{
    BASE, NO_UUID, NOBODY, delete, get, policy, put, ready, refuses, text, token,
};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/role/create",
        claim: "A role has the policies of its body in their order, and is read back by ID and by name in any case",
        source: "acl.md 8.1.r4, 8.1.r6",
        run: |t| {
            ready(t);
            let id = policy(t, "p1");
            let body = json!({"Name": "r1", "Description": "d", "Policies": [{"Name": "P1"}, {"ID": id}],
                "ServiceIdentities": [{"ServiceName": "web", "Datacenters": ["dc1"]}],
                "NodeIdentities": [{"NodeName": "n1", "Datacenter": "dc1"}]});
            let made = put(t, "role", &body.to_string())
                .status_is(200)
                .field_is("/Policies", json!([{"ID": id, "Name": "p1"}]))
                .field_is("/ServiceIdentities", body["ServiceIdentities"].clone())
                .field_is("/NodeIdentities", body["NodeIdentities"].clone());
            let role = text(&made, "/ID");
            for path in [format!("role/{role}"), "role/name/R1".to_owned()] {
                t.same("the role", get(t, &path).json(), made.json());
            }
            t.same("the list", get(t, "roles").list(), vec![made.json()]);
            t.same(
                "by policy",
                get(t, &format!("roles?policy={id}")).list().len(),
                1,
            );
            get(t, &format!("roles?policy={NOBODY}")).is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/role/hash",
        claim: "The Hash of a role is that of its texts",
        source: "acl.md 8.1, 8.2.r4",
        run: |t| {
            ready(t);
            put(t, "role", r#"{"Name":"r1"}"#)
                .field_is("/Hash", "3Hu2XrMXzcGTGFy2YFwuQDBNtBYyS+GvXlrzoQQFUhE=");
            let body = json!({"Name": "a", "ServiceIdentities": [{"ServiceName": "web"}, {"ServiceName": "api"}],
                "NodeIdentities": [{"NodeName": "b", "Datacenter": "dc1"}, {"NodeName": "a", "Datacenter": "dc1"}]});
            let made = put(t, "role", &body.to_string());
            let (hash, service, node) = match t.since(Version::V1_22) {
                true => ("E2Z6b4g0mihUdSBTsb6rrg6VVy3d8noeSUPB/XHfW0U=", "web", "b"),
                false => ("XE1iYEsarDVzCtAQkmQkc08lr4hmIjKLi2yW69fcsGU=", "api", "a"),
            };
            made.field_is("/Hash", hash)
                .field_is("/ServiceIdentities/0/ServiceName", service)
                .field_is("/NodeIdentities/0/NodeName", node);
        },
        ..BASE
    },
    Case {
        id: "acl/role/refused",
        claim: "A role is refused for its name first, then for the names of its policies, then for its identities",
        source: "acl.md 8.1.r1",
        run: |t| {
            ready(t);
            put(t, "role", r#"{"Name":"r0"}"#).status_is(200);
            refuses(
                t,
                "role",
                500,
                &[
                    (
                        r#"{"Name":"R0","Policies":[{}]}"#,
                        "Invalid Role: A Role with Name \"R0\" already exists",
                    ),
                    (r#"{"Policies":[{}]}"#, "Invalid Role: no Name is set"),
                    (
                        r#"{"Name":"a b","Policies":[{}]}"#,
                        "Invalid Role: invalid Name. Only alphanumeric characters, '-' and '_' are allowed",
                    ),
                    (
                        r#"{"Name":"a","Policies":[{"Name":"none"}]}"#,
                        "No such ACL policy with name \"none\"",
                    ),
                    (
                        r#"{"Name":"a","ServiceIdentities":[{}]}"#,
                        "Service identity is missing the service name field on this role",
                    ),
                    (
                        r#"{"Name":"a","NodeIdentities":[{}]}"#,
                        "Node identity is missing the node name field on this role",
                    ),
                    (
                        r#"{"Name":"a","NodeIdentities":[{"NodeName":"a"}]}"#,
                        "Node identity is missing the datacenter field on this role",
                    ),
                ],
            );
            put(t, "role", r#"{"ID":"x","Name":"a"}"#)
                .says(400, "Role ID in URL and payload do not match");
            put(t, "role", "").says(400, "Role decoding failed: EOF");
        },
        ..BASE
    },
    Case {
        id: "acl/role/unknown-policies",
        claim: "An unknown policy ID of a role is found only in raft, which takes an index",
        source: "acl.md 8.1.r1, 0.5",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let made = |name: &str| {
                let role = put(t, "role", &json!({ "Name": name }).to_string());
                role.json()["CreateIndex"].as_u64().unwrap_or_default()
            };
            let before = made("a");
            let body = json!({"Name": "b", "Policies": [{"ID": NOBODY}]}).to_string();
            put(t, "role", &body).is(500, &format!("No such policy with ID: {NOBODY}"));
            t.same("the next index", made("b"), before + 2);
            put(t, "role", r#"{"Name":"c","Policies":[{"ID":"nope"}]}"#)
                .is(500, &format!("failed acl policy lookup: {NO_UUID}"));
        },
        ..BASE
    },
    Case {
        id: "acl/role/missing",
        claim: "A role that is missing is an empty 404 without an index",
        source: "acl.md 8.1.r2, 8.1.r3, 13.r5",
        until: Some(Version::V1_15),
        run: |t| {
            ready(t);
            for path in [format!("role/{NOBODY}"), "role/name/none".to_owned()] {
                get(t, &path)
                    .is(404, "")
                    .has_no_header("X-Consul-Index")
                    .has_no_header("Content-Type");
            }
            get(t, "role/nope").is(500, &format!("failed acl role lookup: {NO_UUID}"));
            get(t, "role/").says(400, "Missing role ID");
            get(t, "role/name/").says(400, "Missing role Name");
        },
        ..BASE
    },
    Case {
        id: "acl/role/missing-since-1-15",
        claim: "A role that is missing is 404 with a text",
        source: "acl.md 8.1.r2, 8.1.r5, 13.r5",
        since: Version::V1_15,
        run: |t| {
            ready(t);
            get(t, &format!("role/{NOBODY}"))
                .is(404, "Requested role does not exist: ACL not found");
            delete(t, &format!("role/{NOBODY}")).is(404, "Cannot find role to delete");
        },
        ..BASE
    },
    Case {
        id: "acl/role/replace",
        claim: "Replacing a role empties what is left out, and needs a role and a free name",
        source: "acl.md 8.1.r4",
        run: |t| {
            ready(t);
            put(t, "role", r#"{"Name":"r2"}"#).status_is(200);
            let made = put(t, "role", r#"{"Name":"r1","Description":"d"}"#);
            let path = format!("role/{}", text(&made, "/ID"));
            put(t, &path, r#"{"Name":"r1"}"#)
                .field_is("/Description", "")
                .field_is("/CreateIndex", made.json()["CreateIndex"].clone());
            put(t, &path, r#"{"Name":"r2"}"#)
                .is(500, "Invalid Role: A role with name \"r2\" already exists");
            put(t, &format!("role/{NOBODY}"), r#"{"Name":"zz"}"#)
                .is(500, &format!("cannot find role {NOBODY}"));
            put(t, "role/nope", r#"{"Name":"zz"}"#).is(500, "Role ID invalid UUID");
            put(t, "role/", r#"{"Name":"slash"}"#).status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/role/delete",
        claim: "A deleted role vanishes from its tokens",
        source: "acl.md 8.1.r5",
        run: |t| {
            ready(t);
            let role = text(&put(t, "role", r#"{"Name":"r1"}"#), "/ID");
            let (accessor, _) = token(t, &json!({"Roles": [{"Name": "r1"}, {"ID": role}]}));
            let path = format!("token/{accessor}");
            get(t, &path).field_is("/Roles", json!([{"ID": role, "Name": "r1"}]));
            delete(t, &format!("role/{role}")).is(200, "true");
            t.check(
                get(t, &path).json().get("Roles").is_none(),
                "a link leads nowhere",
            );
            delete(t, "role/nope").is(500, &format!("failed acl role lookup: {NO_UUID}"));
        },
        ..BASE
    },
    Case {
        id: "acl/identity/merged",
        claim: "Identities are there once, in the order of their names, in later releases as they were sent; the datacenters of a service are put together",
        source: "acl.md 8.2.r1, 8.2.r2, 8.2.r4",
        run: |t| {
            ready(t);
            let body = json!({"ServiceIdentities": [
                {"ServiceName": "web", "Datacenters": ["b", "a", "b"]}, {"ServiceName": "api"},
                {"ServiceName": "web", "Datacenters": ["c"]}, {"ServiceName": "api", "Datacenters": ["x"]},
            ], "NodeIdentities": [
                {"NodeName": "n2", "Datacenter": "dc1"}, {"NodeName": "n1", "Datacenter": "dc1"},
                {"NodeName": "n2", "Datacenter": "dc1"},
            ]});
            let made = put(t, "token", &body.to_string());
            if t.since(Version::V1_22) {
                made.field_is(
                    "/ServiceIdentities",
                    json!([
                        {"ServiceName": "web", "Datacenters": ["a", "b", "b", "c"]},
                        {"ServiceName": "api", "Datacenters": ["x"]},
                    ]),
                );
                return;
            }
            made.field_is("/ServiceIdentities", json!([
                {"ServiceName": "api"}, {"ServiceName": "web", "Datacenters": ["a", "b", "c"]},
            ]))
            .field_is("/NodeIdentities", json!([
                {"NodeName": "n1", "Datacenter": "dc1"}, {"NodeName": "n2", "Datacenter": "dc1"},
            ]));
        },
        ..BASE
    },
    Case {
        id: "acl/identity/refused",
        claim: "Identities without a name or with a bad one are refused, and datacenters of a local token",
        source: "acl.md 8.2.r3",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let letters =
                "has an invalid name. Only alphanumeric characters, '-' and '_' are allowed";
            refuses(
                t,
                "token",
                500,
                &[
                    (
                        r#"{"ServiceIdentities":[{"ServiceName":"We b"}]}"#,
                        &format!("Service identity \"We b\" {letters}"),
                    ),
                    (
                        r#"{"Local":true,"ServiceIdentities":[{"ServiceName":"We b","Datacenters":["dc1"]}]}"#,
                        "Service identity \"We b\" cannot specify a list of datacenters on a local token",
                    ),
                    (
                        r#"{"NodeIdentities":[{"Datacenter":"dc1"}]}"#,
                        "Node identity is missing the node name field on this token",
                    ),
                    (
                        r#"{"NodeIdentities":[{"NodeName":"N1"}]}"#,
                        "Node identity is missing the datacenter field on this token",
                    ),
                    (
                        r#"{"NodeIdentities":[{"NodeName":"N1","Datacenter":"dc1"}]}"#,
                        &format!("Node identity {letters}"),
                    ),
                ],
            );
        },
        ..BASE
    },
];
