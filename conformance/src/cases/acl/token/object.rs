//! Tokens as objects: creating, reading, replacing, cloning and deleting them (acl.md 5).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{
    ANONYMOUS, BASE, GLOBAL, NO_UUID, NOBODY, ROOT, delete, get, names, policy, put, ready,
    refuses, text, token, with,
};
use crate::wire::Request;

/// Ids that a client has chosen.
const ACCESSOR: &str = "AAAAAAAA-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const SECRET: &str = "AAAAAAAA-bbbb-4ccc-8ddd-eeeeeeeeeeef";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/tokens/empty",
        claim: "An empty body makes a token of no rights with made ids",
        source: "acl.md 5.1, 0.9",
        run: |t| {
            ready(t);
            for body in ["{}", "null"] {
                let made = put(t, "token", body)
                    .status_is(200)
                    .field_is("/Description", "")
                    .field_is("/Local", false)
                    .field_is("/Hash", "NLOoV2WBU8ieJIrYXXx8NRb5C2xU61pVVWRDLEIMxlU=");
                let mut expected = [
                    "AccessorID",
                    "SecretID",
                    "Description",
                    "Local",
                    "CreateTime",
                    "Hash",
                    "CreateIndex",
                    "ModifyIndex",
                ];
                let mut shown = names(&made);
                expected.sort_unstable();
                shown.sort_unstable();
                t.same("the fields", shown, expected.map(str::to_owned).to_vec());
            }
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/chosen-ids",
        claim: "Ids that a client has chosen are kept as they are spelled, and no other token may have them",
        source: "acl.md 5.2, 5.3, 2.2",
        run: |t| {
            ready(t);
            let body = json!({"AccessorID": ACCESSOR, "SecretID": SECRET}).to_string();
            put(t, "token", &body)
                .field_is("/AccessorID", ACCESSOR)
                .field_is("/SecretID", SECRET);
            let accessor = "Invalid Token: AccessorID is already in use";
            let secret = "Invalid Token: SecretID is already in use";
            let lower = ACCESSOR.to_lowercase();
            for (field, id, words) in [
                ("AccessorID", lower.as_str(), accessor),
                ("AccessorID", SECRET, accessor),
                ("SecretID", SECRET, secret),
                ("SecretID", &lower, secret),
            ] {
                put(t, "token", &json!({ field: id }).to_string()).is(500, words);
            }
            get(t, &format!("token/{lower}")).field_is("/AccessorID", ACCESSOR);
            let own = Request::get("/v1/acl/token/self");
            with(t, SECRET, &own).status_is(200);
            with(t, &SECRET.to_lowercase(), &own).says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/bad-ids",
        claim: "Ids that are no UUIDs, or are reserved, are refused, that of the token before its secret",
        source: "acl.md 5.4, 5.5, 5.6",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let lookup =
                format!("Failed acl token lookup by accessor: failed acl token lookup: {NO_UUID}");
            let reserved = "Invalid Token: UUIDs with the prefix \"00000000-0000-0000-0000-0000000000\" are reserved";
            refuses(
                t,
                "token",
                500,
                &[
                    (r#"{"AccessorID":"nope","SecretID":"nope"}"#, &lookup),
                    (
                        r#"{"SecretID":"nope","AuthMethod":"x"}"#,
                        "Invalid Token: SecretID is not a valid UUID",
                    ),
                    (
                        r#"{"AccessorID":"00000000-0000-0000-0000-000000000009","SecretID":"nope"}"#,
                        reserved,
                    ),
                    (
                        r#"{"SecretID":"00000000-0000-0000-0000-000000000009"}"#,
                        reserved,
                    ),
                ],
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/unhyphenated-id",
        claim: "An AccessorID of 36 digits without hyphens is refused after it was looked up",
        source: "acl.md 5.5",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let body = json!({"AccessorID": "a".repeat(36), "SecretID": "nope"}).to_string();
            put(t, "token", &body).is(500, "Invalid Token: AccessorID is not a valid UUID");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/bad-ids-since-1-22",
        claim: "The texts about ids name the field",
        source: "acl.md 5.4, 5.5, 5.6",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let reserved =
                "UUIDs with the prefix \"00000000-0000-0000-0000-0000000000\" are reserved";
            refuses(
                t,
                "token",
                500,
                &[
                    (
                        r#"{"AccessorID":"nope"}"#,
                        "Invalid Token: AccessorID - not a valid UUID",
                    ),
                    (
                        r#"{"SecretID":"nope"}"#,
                        "Invalid Token: SecretID - not a valid UUID",
                    ),
                    (
                        r#"{"SecretID":"00000000-0000-0000-0000-000000000009"}"#,
                        &format!("Invalid Token: SecretID - {reserved}"),
                    ),
                ],
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/undecodable",
        claim: "A body that is no token is refused with Go's words; Rules of the old system are decoded and refused last",
        source: "acl.md 5.7",
        until: Some(Version::V1_11),
        run: |t| {
            ready(t);
            let before = "Bad request: Token decoding failed: ";
            for (body, words) in [
                ("", "EOF"),
                ("{", "unexpected EOF"),
                (r#"{"Foo":1}"#, "json: unknown field \"Foo\""),
                (r#"{"Type":"client"}"#, "json: unknown field \"Type\""),
                (r#"{"Policies":[{"Foo":1}]}"#, "json: unknown field \"Foo\""),
                (
                    r#"{"ExpirationTTL":"x","Foo":1}"#,
                    "json: unknown field \"Foo\"",
                ),
                (r#"{"ExpirationTTL":"x"}"#, "time: invalid duration \"x\""),
                (
                    r#"{"Policies":{}}"#,
                    "json: cannot unmarshal object into Go struct field .Policies of type []structs.ACLTokenPolicyLink",
                ),
                (
                    r#"{"Policies":[{"id":1}]}"#,
                    "json: cannot unmarshal number into Go struct field ACLTokenPolicyLink.Policies.ID of type string",
                ),
                (
                    r#"{"ExpirationTime":"x"}"#,
                    "parsing time \"\"x\"\" as \"\"2006-01-02T15:04:05Z07:00\"\": cannot parse \"x\"\" as \"2006\"",
                ),
                (
                    "[]",
                    "json: cannot unmarshal array into Go value of type struct { ExpirationTTL interface {}; Hash string; *structs.Alias }",
                ),
            ] {
                put(t, "token", body).is(400, &format!("{before}{words}"));
            }
            put(t, "token", r#"{"Rules":"x"}"#).is(500, "Rules cannot be specified for this token");
            put(t, "token", r#"{"Rules":"x","Policies":[{}]}"#)
                .is(500, "No such ACL policy with name \"\"");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/unknown-links",
        claim: "Links to policies and roles that there are not are refused, policies first, in later releases roles",
        source: "acl.md 5.8, 5.10",
        run: |t| {
            ready(t);
            refuses(
                t,
                "token",
                500,
                &[
                    (
                        r#"{"Policies":[{"Name":"none"}],"Roles":[{"Name":"r"}]}"#,
                        if t.since(Version::V1_22) {
                            "No such ACL role with name \"r\""
                        } else {
                            "No such ACL policy with name \"none\""
                        },
                    ),
                    (
                        r#"{"Policies":[{"ID":"99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee"}]}"#,
                        "No such ACL policy with ID \"99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee\"",
                    ),
                    (r#"{"Policies":[{}]}"#, "No such ACL policy with name \"\""),
                    (
                        r#"{"Roles":[{"Name":"r"}],"ServiceIdentities":[{}]}"#,
                        "No such ACL role with name \"r\"",
                    ),
                    (
                        r#"{"Roles":[{"ID":"99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee"}]}"#,
                        "No such ACL role with ID \"99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee\"",
                    ),
                ],
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/malformed-links",
        claim: "A link by an id that is no UUID is refused in the words of the lookup",
        source: "acl.md 5.8, 5.10",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for (field, kind) in [("Policies", "policy"), ("Roles", "role")] {
                let body = json!({field: [{"ID": "nope"}]}).to_string();
                let words = format!(
                    "Error looking up {kind} for id \"nope\": failed acl {kind} lookup: {NO_UUID}"
                );
                put(t, "token", &body).is(500, &words);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/links-are-kept-once",
        claim: "Each policy is linked once, in the order of the body, and the ID of a link counts more than its name",
        source: "acl.md 5.9",
        run: |t| {
            ready(t);
            policy(t, "p1");
            policy(t, "p2");
            let body = json!({"Policies": [{"Name": "p2"}, {"ID": GLOBAL, "Name": "p1"}, {"Name": "P2"}, {"Name": "p1"}]});
            let made = put(t, "token", &body.to_string()).status_is(200).json();
            let links = made["Policies"].as_array().cloned().unwrap_or_default();
            let shown = links
                .iter()
                .map(|link| link["Name"].as_str().unwrap_or_default().to_owned());
            let expected = ["p2", "global-management", "p1"].map(str::to_owned);
            t.same("the links", shown.collect::<Vec<_>>(), expected.to_vec());
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/auth-method",
        claim: "A new token may not name an auth method, and a local one is shown as one",
        source: "acl.md 5.11, 5.12",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            put(t, "token", r#"{"AuthMethod":"x","ExpirationTTL":"1s"}"#)
                .is(500, "AuthMethod field is disallowed outside of Login");
            put(t, "token", r#"{"Local":true}"#)
                .field_is("/Local", true)
                .field_is("/Hash", "phJYEP8TihveNo6aOJCxLxq34AAOhSYayisOMnod+Kc=");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/hidden-secret",
        claim: "Who may only read ACLs sees no secret but its own",
        source: "acl.md 5.14, 5.18",
        run: |t| {
            ready(t);
            put(t, "policy", r#"{"Name":"reader","Rules":"acl = \"read\""}"#).status_is(200);
            let (accessor, secret) = token(t, &json!({"Policies": [{"Name": "reader"}]}));
            let request = Request::get(&format!("/v1/acl/token/{accessor}"));
            with(t, &secret, &request).field_is("/SecretID", "<hidden>");
            with(t, ROOT, &request).field_is("/SecretID", secret.as_str());
            with(t, &secret, &Request::get("/v1/acl/token/self"))
                .field_is("/SecretID", secret.as_str());
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/missing",
        claim: "A token that is missing, and one named by its secret, is 403 with the index of the table",
        source: "acl.md 5.16, 5.17, trap 8, 13.r6",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            for id in [NOBODY, "11111111-1111-4111-8111-111111111111"] {
                get(t, &format!("token/{id}"))
                    .is(403, "ACL not found")
                    .header_is("X-Consul-Knownleader", "true");
            }
            get(t, "token/nope")
                .is(500, &format!("failed acl token lookup: {NO_UUID}"))
                .header_is("X-Consul-Knownleader", "false");
            get(t, "token/").is(400, "Bad request: Missing token ID");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/missing-since-1-22",
        claim: "A token that is missing is 403 in words, with the headers of a failed read",
        source: "acl.md 5.16, 5.17, trap 8, 13.r6",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            get(t, &format!("token/{NOBODY}"))
                .is(403, "token does not exist: ACL not found")
                .header_is("X-Consul-Index", "1");
            get(t, "token/").is(400, "Missing token AccessorID");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/self",
        claim: "token/self is the token of the request; without one there is none, and `anonymous` is the anonymous one",
        source: "acl.md 5.18, 2.3",
        run: |t| {
            ready(t);
            let own = Request::get("/v1/acl/token/self");
            t.send(&own).says(403, "ACL not found");
            with(t, NOBODY, &own).says(403, "ACL not found");
            with(t, "manage", &own).says(403, "ACL not found");
            with(t, "anonymous", &own).field_is("/AccessorID", ANONYMOUS);
            t.api_get("/v1/acl/token/self?dc=x")
                .says(500, "No path to datacenter");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/replace",
        claim: "Replacing a token empties what is left out, but keeps its secret and its times",
        source: "acl.md 5.19, 5.27",
        run: |t| {
            ready(t);
            policy(t, "p1");
            let body =
                json!({"Description": "d", "Policies": [{"Name": "p1"}], "ExpirationTTL": "1h"});
            let made = put(t, "token", &body.to_string()).status_is(200);
            let accessor = text(&made, "/AccessorID");
            let put_again = put(t, &format!("token/{accessor}"), "{}")
                .status_is(200)
                .field_is("/Description", "")
                .field_is("/SecretID", made.json()["SecretID"].clone())
                .field_is("/ExpirationTime", made.json()["ExpirationTime"].clone())
                .field_is("/CreateTime", made.json()["CreateTime"].clone());
            t.check(
                put_again.json().get("Policies").is_none(),
                "the links are still there",
            );
            put(t, &format!("token/{ANONYMOUS}"), "{}")
                .field_is("/Description", "")
                .field_is("/SecretID", "anonymous");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/unchangeable",
        claim: "The secret, the locality, the auth method and the times of a token cannot be changed, told in this order",
        source: "acl.md 5.20",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let (accessor, _) = token(t, &json!({}));
            refuses(
                t,
                &format!("token/{accessor}"),
                500,
                &[
                    (
                        r#"{"SecretID":"x","Local":true,"Policies":[{}]}"#,
                        "Changing a tokens SecretID is not permitted",
                    ),
                    (
                        r#"{"Local":true,"AuthMethod":"x"}"#,
                        &format!("cannot toggle local mode of {accessor}"),
                    ),
                    (
                        r#"{"AuthMethod":"x","ExpirationTTL":"1h"}"#,
                        &format!("Cannot change AuthMethod of {accessor}"),
                    ),
                    (
                        r#"{"ExpirationTTL":"1h","Policies":[{}]}"#,
                        &format!("Cannot change expiration time of {accessor}"),
                    ),
                    (
                        r#"{"ExpirationTime":"2100-11-23T00:00:00Z"}"#,
                        &format!("Cannot change expiration time of {accessor}"),
                    ),
                ],
            );
            put(
                t,
                &format!("token/{accessor}"),
                &json!({ "AccessorID": NOBODY }).to_string(),
            )
            .is(
                400,
                "Bad request: Token Accessor ID in URL and payload do not match",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/replaces-nobody",
        claim: "Replacing a token that is missing is refused, and PUT token/ creates one",
        source: "acl.md 5.21",
        run: |t| {
            ready(t);
            put(t, &format!("token/{NOBODY}"), "{}")
                .is(500, &format!("Cannot find token \"{NOBODY}\""));
            put(t, "token/", "{}").status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/spelled-otherwise",
        claim: "Replacing a token by its AccessorID in another case is refused only after an index was taken",
        source: "acl.md 5.19",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let (_, _) = token(t, &json!({ "AccessorID": ACCESSOR }));
            put(t, &format!("token/{}", ACCESSOR.to_lowercase()), "{}")
                .is(500, "The ACL Token AccessorID field is immutable");
            put(t, "token/nope", "{}").is(
                500,
                &format!("Failed acl token lookup by accessor: failed acl token lookup: {NO_UUID}"),
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/clone",
        claim: "A clone has new ids and the rights, locality and end of the other one, and its description unless it brings one",
        source: "acl.md 5.22, 5.23",
        run: |t| {
            ready(t);
            policy(t, "p1");
            let body = json!({"Description": "d", "Local": true, "Policies": [{"Name": "p1"}], "ExpirationTTL": "1h"});
            let made = put(t, "token", &body.to_string()).status_is(200);
            let path = format!("token/{}/clone", text(&made, "/AccessorID"));
            let clone = put(t, &path, r#"{"Local":false,"SecretID":"x"}"#)
                .field_is("/Description", "d")
                .field_is("/Local", true)
                .field_is("/Policies", made.json()["Policies"].clone())
                .field_is("/ExpirationTime", made.json()["ExpirationTime"].clone());
            t.check(
                text(&clone, "/SecretID") != text(&made, "/SecretID"),
                "the same secret",
            );
            put(t, &path, r#"{"Description":"c"}"#).field_is("/Description", "c");
            put(t, &path, "").says(400, "Token decoding failed: EOF");
            put(t, "token/nope/clone", "{}")
                .is(500, &format!("failed acl token lookup: {NO_UUID}"));
            put(t, &format!("token/{NOBODY}/clone"), "{}").says(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/delete",
        claim: "A deleted token is unknown at once, and deleting a missing one answers true",
        source: "acl.md 5.24, 10.1",
        until: Some(Version::V1_15),
        run: |t| {
            ready(t);
            let (accessor, secret) = token(t, &json!({}));
            let own = Request::get("/v1/acl/token/self");
            with(t, &secret, &own).status_is(200);
            delete(t, &format!("token/{accessor}")).is(200, "true");
            with(t, &secret, &own).is(403, "ACL not found");
            delete(t, &format!("token/{accessor}")).is(200, "true");
            delete(t, "token/").says(400, "Missing token ID");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/undeletable",
        claim: "The token of the request and the anonymous token are not deleted, nor is one named by no UUID",
        source: "acl.md 5.25",
        run: |t| {
            ready(t);
            let own = text(&get(t, "token/self"), "/AccessorID");
            delete(t, &format!("token/{own}")).is(
                500,
                "Deletion of the request's authorization token is not permitted",
            );
            delete(t, &format!("token/{ANONYMOUS}"))
                .is(500, "Delete operation not permitted on the anonymous token");
            delete(t, "token/nope").is(500, "Accessor ID is missing or an invalid UUID");
        },
        ..BASE
    },
];
