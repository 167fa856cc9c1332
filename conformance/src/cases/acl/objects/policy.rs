//! Policies (acl.md 4).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{
    ANONYMOUS, BASE, GLOBAL, NO_UUID, NOBODY, delete, get, policy, put, ready, refuses, text,
    token, with,
};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/policy/create",
        claim: "A policy is created with an ID and a Hash of its texts, and read back by ID and by name in any case",
        source: "acl.md 4.1, 4.7",
        run: |t| {
            ready(t);
            let body = json!({"Name": "p1", "Description": "d", "Datacenters": ["dc2", "dc1", "dc2"],
                "Rules": "key \"a\" { policy = \"read\" }"});
            let made = put(t, "policy", &body.to_string())
                .status_is(200)
                .field_is("/Hash", "s9yz42mL1pLLm30H6e4f4BlHUXYPgFufo1ZAP6x7mqI=")
                .field_is("/Datacenters", json!(["dc2", "dc1", "dc2"]))
                .has_no_header("X-Consul-Index");
            let id = text(&made, "/ID");
            for path in [
                format!("policy/{id}"),
                format!("policy/{}", id.to_uppercase()),
                "policy/name/P1".to_owned(),
            ] {
                let read = get(t, &path).status_is(200).has_header("X-Consul-Index");
                t.same("the policy", read.json(), made.json());
            }
        },
        ..BASE
    },
    Case {
        id: "acl/policy/names-are-taken-in-any-case",
        claim: "A name that another policy has in any case is refused for a new policy and for one that exists",
        source: "acl.md 4.2, 4.12",
        run: |t| {
            ready(t);
            policy(t, "p1");
            let other = policy(t, "p2");
            put(t, "policy", r#"{"Name":"P1"}"#).is(
                500,
                "Invalid Policy: A Policy with Name \"P1\" already exists",
            );
            let path = format!("policy/{other}");
            put(t, &path, r#"{"Name":"p1"}"#).is(
                500,
                "Invalid Policy: A policy with name \"p1\" already exists",
            );
            put(t, &path, r#"{"Name":"P2"}"#).is(
                500,
                "Invalid Policy: A policy with name \"P2\" already exists",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/policy/needs-a-name",
        claim: "A policy without a name is refused, whatever else is wrong with it",
        source: "acl.md 4.3, 4.12",
        run: |t| {
            ready(t);
            let none = "Invalid Policy: no Name is set";
            let rows = [("{}", none), ("null", none), (r#"{"Rules":"bad"}"#, none)];
            refuses(t, "policy", 500, &rows);
            refuses(t, &format!("policy/{NOBODY}"), 500, &rows);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/undecodable",
        claim: "A body that is no policy is refused with Go's words",
        source: "acl.md 4.4, 0.2",
        until: Some(Version::V1_12),
        run: |t| {
            ready(t);
            let before = "Bad request: Policy decoding failed: ";
            for (body, words) in [
                ("", "EOF"),
                ("{", "unexpected EOF"),
                (r#"{"Foo":1}"#, "json: unknown field \"Foo\""),
                (
                    r#"{"Namespace":"x"}"#,
                    "json: unknown field \"Namespace\" - Namespaces are a Consul Enterprise feature",
                ),
                (
                    r#"{"Name":1}"#,
                    "json: cannot unmarshal number into Go struct field .Name of type string",
                ),
                (
                    "[]",
                    "json: cannot unmarshal array into Go value of type struct { Hash string; *structs.Alias }",
                ),
            ] {
                put(t, "policy", body).is(400, &format!("{before}{words}"));
            }
        },
        ..Case {
            level: crate::case::Level::Real,
            ..BASE
        }
    },
    Case {
        id: "acl/policy/undecodable-since-1-13",
        claim: "The words about a body that is no policy have no prefix",
        source: "acl.md 4.4, 0.2",
        since: Version::V1_13,
        run: |t| {
            ready(t);
            put(t, "policy", "").is(400, "Policy decoding failed: EOF");
            put(t, "policy", r#"{"Foo":1}"#)
                .is(400, "Policy decoding failed: json: unknown field \"Foo\"");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/ids-are-made",
        claim: "A new policy may not bring an ID, and that of a body must be that of the path as it is spelled",
        source: "acl.md 4.5, 4.12",
        until: Some(Version::V1_12),
        run: |t| {
            ready(t);
            put(t, "policy", r#"{"ID":"x","Name":"p"}"#).is(
                400,
                "Bad request: Cannot specify the ID when creating a new policy",
            );
            let id = policy(t, "p1");
            let other = json!({"ID": id.to_uppercase(), "Name": "p1"}).to_string();
            put(t, &format!("policy/{id}"), &other).is(
                400,
                "Bad request: Policy ID in URL and payload do not match",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/policy/names-have-letters",
        claim: "The name of a policy has letters, digits, - and _, at most 128",
        source: "acl.md 4.6, 13.r10",
        until: Some(Version::new(1, 16, 1)),
        run: |t| {
            ready(t);
            let refused = "Invalid Policy: invalid Name. Only alphanumeric characters, '-' and '_' are allowed";
            for name in ["a b", "a/b", "é", &"a".repeat(129)] {
                let body = json!({"Name": name, "Rules": "bad"}).to_string();
                put(t, "policy", &body).is(500, refused);
            }
            policy(t, &"a".repeat(128));
            policy(t, "A-_9");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/names-have-a-slash-since-1-16-1",
        claim: "The name of a policy may have one slash, but neither begin with it nor with builtin/",
        source: "acl.md 4.6, 13.r10",
        since: Version::new(1, 16, 1),
        run: |t| {
            ready(t);
            let before = "Invalid Policy: invalid Name. ";
            let letters = "Only alphanumeric characters, a single '/', '-' and '_' are allowed";
            let prefix = "Names cannot be prefixed with '/' or 'builtin/'";
            for (name, words) in [
                ("a b", letters),
                ("a/b/c", letters),
                ("/a", prefix),
                ("builtin/x", prefix),
            ] {
                let body = json!({ "Name": name }).to_string();
                put(t, "policy", &body).is(500, &format!("{before}{words}"));
            }
            policy(t, "a/b");
            policy(t, "ab/");
            get(t, "policy/name/a%2Fb").status_is(200);
            get(t, "policy/name/a/b").status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/missing",
        claim: "A policy that is missing is 403 with the index of its table",
        source: "acl.md 4.8, 13.r5",
        until: Some(Version::V1_15),
        run: |t| {
            ready(t);
            for path in [format!("policy/{NOBODY}"), "policy/name/none".to_owned()] {
                get(t, &path)
                    .is(403, "ACL not found")
                    .header_is("X-Consul-Knownleader", "true");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/policy/missing-since-1-15",
        claim: "A policy that is missing is 404 with a text, and without an index unless gzip is accepted",
        source: "acl.md 4.8, 13.r5",
        since: Version::V1_15,
        run: |t| {
            ready(t);
            let words = "Requested policy does not exist: ACL not found";
            get(t, &format!("policy/{NOBODY}"))
                .is(404, words)
                .has_no_header("X-Consul-Index");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/malformed-ids",
        claim: "An id that is no UUID is refused by reads and deletions, with the headers of a read",
        source: "acl.md 4.9, 4.16",
        run: |t| {
            ready(t);
            let words = format!("failed acl policy lookup: {NO_UUID}");
            get(t, "policy/nope")
                .is(500, &words)
                .header_is("X-Consul-Index", "1")
                .header_is("X-Consul-Knownleader", "false");
            delete(t, "policy/nope")
                .is(500, &words)
                .has_no_header("X-Consul-Index");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/path-without-an-id",
        claim: "A path without an id or a name is refused before anything else is looked at",
        source: "acl.md 4.10, 4.16, 2.9",
        until: Some(Version::V1_12),
        run: |t| {
            ready(t);
            for path in ["policy/", "policy/?ns=x", "policy/?wait=x"] {
                get(t, path).is(400, "Bad request: Missing policy ID");
            }
            get(t, "policy/name/").is(400, "Bad request: Missing policy Name");
            delete(t, "policy/").is(400, "Bad request: Missing policy ID");
            t.api_get("/v1/acl/policy/")
                .is(400, "Bad request: Missing policy ID");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/replace",
        claim: "Replacing a policy empties what is left out, keeps its CreateIndex, and moves its ModifyIndex also without a change",
        source: "acl.md 4.11",
        run: |t| {
            ready(t);
            let body = json!({"Name": "p1", "Description": "d", "Datacenters": ["dc1"]});
            let made = put(t, "policy", &body.to_string()).status_is(200);
            let (id, created) = (text(&made, "/ID"), made.json()["CreateIndex"].clone());
            let path = format!("policy/{id}");
            let put_again = put(t, &path, r#"{"Name":"p1"}"#)
                .status_is(200)
                .field_is("/Description", "")
                .field_is("/CreateIndex", created);
            t.check(
                put_again.json().get("Datacenters").is_none(),
                "the datacenters are still there",
            );
            let unchanged = put(t, &path, r#"{"Name":"p1"}"#).status_is(200);
            let index =
                |answer: &crate::wire::answer::Answer| answer.json()["ModifyIndex"].as_u64();
            t.grew("ModifyIndex", index(&put_again), index(&unchanged));
        },
        ..BASE
    },
    Case {
        id: "acl/policy/id-in-another-case",
        claim: "A policy that is replaced by its ID in another case gets that spelling, but must change its name",
        source: "acl.md 4.11, 2.2",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let path = format!("policy/{}", policy(t, "p1").to_uppercase());
            put(t, &path, r#"{"Name":"p1"}"#).is(500, "A policy with name \"p1\" already exists");
            let id = path.trim_start_matches("policy/");
            put(t, &path, r#"{"Name":"p2"}"#)
                .status_is(200)
                .field_is("/ID", id);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/replaces-nobody",
        claim: "Replacing a policy that is missing, or by an id that is no UUID, is refused",
        source: "acl.md 4.12",
        run: |t| {
            ready(t);
            let body = r#"{"Name":"p1"}"#;
            put(t, &format!("policy/{NOBODY}"), body)
                .is(500, &format!("cannot find policy {NOBODY}"));
            put(t, "policy/nope", body).is(500, "Policy ID invalid UUID");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/put-below-the-folder-creates",
        claim: "PUT policy/ creates a policy",
        source: "acl.md 4.13",
        run: |t| {
            ready(t);
            put(t, "policy/", r#"{"Name":"p1"}"#).status_is(200);
            get(t, "policy/name/p1").status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/builtin-keeps-its-rules",
        claim: "The builtin policy keeps its rules and cannot be deleted; its name and description can be changed",
        source: "acl.md 4.14, 4.16, 3.r1",
        run: |t| {
            ready(t);
            let path = format!("policy/{GLOBAL}");
            put(t, &path, r#"{"Name":"global-management"}"#).is(
                500,
                "Changing the Rules for the builtin global-management policy is not permitted",
            );
            delete(t, &path).is(
                500,
                "Delete operation not permitted on the builtin global-management policy",
            );
            let rules = text(&get(t, &path), "/Rules");
            let body = json!({"Name": "all", "Description": "d", "Rules": rules});
            put(t, &path, &body.to_string())
                .status_is(200)
                .field_is("/Name", "all");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/delete",
        claim: "Deleting a policy answers true, also when there is none",
        source: "acl.md 4.15, 13.r7",
        until: Some(Version::V1_15),
        run: |t| {
            ready(t);
            let path = format!("policy/{}", policy(t, "p1"));
            delete(t, &path).is(200, "true");
            delete(t, &path).is(200, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/delete-since-1-15",
        claim: "Deleting a policy that is missing is 404, to an unknown token, too",
        source: "acl.md 4.15, 5.26, 13.r7",
        since: Version::V1_15,
        run: |t| {
            ready(t);
            let path = format!("policy/{}", policy(t, "p1"));
            delete(t, &path).is(200, "true");
            delete(t, &path).is(404, "Cannot find policy to delete");
            let request = Request::delete(&format!("/v1/acl/policy/{GLOBAL}"));
            with(t, NOBODY, &request).is(404, "Cannot find policy to delete");
        },
        ..BASE
    },
    Case {
        id: "acl/policy/deleting-nothing-takes-no-index",
        claim: "Deleting a policy, token or role that is missing takes no index",
        source: "acl.md 0.5",
        until: Some(Version::V1_15),
        run: |t| {
            ready(t);
            let before = policy(t, "p1");
            let index = |id: &str| {
                let policy = get(t, &format!("policy/{id}"));
                policy.json()["CreateIndex"].as_u64().unwrap_or_default()
            };
            for kind in ["policy", "token", "role"] {
                delete(t, &format!("{kind}/{NOBODY}")).is(200, "true");
            }
            let after = policy(t, "p2");
            t.same("the next index", index(&after), index(&before) + 1);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/list",
        claim: "The list has no rules, shows missing datacenters as null, and is in the order of the IDs",
        source: "acl.md 4.17, 4, 13.r9",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let mut ids = vec![GLOBAL.to_owned(), policy(t, "b"), policy(t, "a")];
            ids.sort();
            let list = get(t, "policies").status_is(200).list();
            let shown = list
                .iter()
                .map(|row| row["ID"].as_str().unwrap_or_default().to_owned());
            t.same("the order", shown.collect::<Vec<_>>(), ids);
            t.check(list[0].get("Rules").is_none(), "a list has rules");
            t.same(
                "the datacenters",
                list[0].get("Datacenters").cloned(),
                Some(json!(null)),
            );
        },
        ..BASE
    },
    Case {
        id: "acl/policy/list-since-1-22",
        claim: "The list is in the order of the names",
        source: "acl.md 4.17, 13.r9",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            for name in ["c", "B", "a"] {
                policy(t, name);
            }
            let list = get(t, "policies").status_is(200).list();
            let shown = list
                .iter()
                .map(|row| row["Name"].as_str().unwrap_or_default().to_owned());
            let expected = [
                "a",
                "B",
                "builtin/global-read-only",
                "c",
                "global-management",
            ];
            t.same(
                "the order",
                shown.collect::<Vec<_>>(),
                expected.map(str::to_owned).to_vec(),
            );
        },
        ..BASE
    },
    Case {
        id: "acl/policy/links-follow",
        claim: "A token shows a renamed policy by its new name at once and a deleted one no longer, and its own indexes stay",
        source: "acl.md 4.18, 4.19, trap 11",
        run: |t| {
            ready(t);
            let id = policy(t, "p1");
            let (accessor, _) = token(t, &json!({"Policies": [{"Name": "P1"}]}));
            let path = format!("token/{accessor}");
            let before = get(t, &path).field_is("/Policies/0/Name", "p1");
            put(t, &format!("policy/{id}"), r#"{"Name":"p2"}"#).status_is(200);
            let renamed = get(t, &path).field_is("/Policies/0/Name", "p2");
            delete(t, &format!("policy/{id}")).is(200, "true");
            let bare = get(t, &path).status_is(200);
            t.check(
                bare.json().get("Policies").is_none(),
                "a link leads nowhere",
            );
            for answer in [renamed, bare] {
                t.same("the index", answer.index(), before.index());
                t.same(
                    "Hash",
                    answer.json()["Hash"].clone(),
                    before.json()["Hash"].clone(),
                );
            }
        },
        ..BASE
    },
    Case {
        id: "acl/policy/rights",
        claim: "Reading policies needs acl:read and writing acl:write: nobody may without a token",
        source: "acl.md 7.r37, 2.11.r10",
        until: Some(Version::V1_12),
        run: |t| {
            ready(t);
            for path in ["policies", "tokens", "roles", "policy/nope"] {
                t.api_get(&format!("/v1/acl/{path}"))
                    .is(403, "Permission denied")
                    .header_is("X-Consul-Index", "1");
            }
            t.api_put("/v1/acl/policy", "{}")
                .is(403, "Permission denied")
                .has_no_header("X-Consul-Index");
            t.api_put("/v1/acl/policy", "{")
                .says(400, "Policy decoding failed");
            with(t, NOBODY, &Request::get("/v1/acl/policy/nope")).is(403, "ACL not found");
            with(t, "manage", &Request::get("/v1/acl/tokens")).is(500, "Cannot resolve root ACL");
            get(t, &format!("token/{ANONYMOUS}")).status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/policy/id-of-the-path",
        claim: "Below a path that ends with a slash a policy and a token may have no id of their own",
        source: "acl.md 4.12, 5.20",
        run: |t| {
            ready(t);
            put(t, "policy/", r#"{"ID":"x","Name":"p"}"#)
                .says(400, "Policy ID in URL and payload do not match");
            put(t, "policy/", r#"{"Name":"p"}"#).status_is(200);
            put(t, "token/", r#"{"AccessorID":"x"}"#)
                .says(400, "Token Accessor ID in URL and payload do not match");
            put(t, "token/", "{}").status_is(200);
        },
        ..BASE
    },
];
