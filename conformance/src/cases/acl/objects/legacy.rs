//! The endpoints of the old system, which releases before 1.11 still have (acl.md 8.5.r3).

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{
    ANONYMOUS, GLOBAL, NOBODY, ROOT, get, granted, put, ready, text, token, with,
};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A case about the old endpoints.
const BASE: Case = Case {
    until: Some(Version::V1_11),
    ..crate::cases::support::acl::BASE
};

/// Rules of the old system.
const RULES: &str = r#"key "a" { policy = "read" }"#;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/legacy/created",
        claim: "acl/create makes a token of any id, or of a made one, whose rules it shows to who knows the id",
        source: "acl.md 8.5.r3, 13.r20",
        run: |t| {
            ready(t);
            let body = json!({"ID": "any text", "Name": "n", "Rules": RULES}).to_string();
            put(t, "create", &body).is(200, r#"{"ID":"any text"}"#);
            upgraded(t, "any text");
            let shown = info(t, "any%20text");
            shown
                .field_is("/0/ID", "any text")
                .field_is("/0/Name", "n")
                .field_is("/0/Type", "client")
                .field_is("/0/Rules", RULES);
            t.api_get("/v1/acl/info/none?token=unknown").is(200, "[]");
            let made = text(&put(t, "create", "").status_is(200), "/ID");
            t.same("a made id", made.len(), NOBODY.len());
            put(t, "clone/any%20text", "").status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/upgraded",
        claim: "A moment later an old token has an AccessorID, one of type management has the builtin policy, and no time of creation",
        source: "acl.md 8.5.r5",
        run: |t| {
            ready(t);
            let body = json!({"ID": "old", "Name": "n", "Rules": RULES}).to_string();
            put(t, "create", &body).status_is(200);
            upgraded(t, "old")
                .field_is("/Rules", RULES)
                .field_is("/CreateTime", "0001-01-01T00:00:00Z")
                .field_is("/Hash", "e7+kN8y3TycUpQZnz3HtPj+ce8Tjg/HmX5q4RFq9vRg=");
            put(
                t,
                "create",
                r#"{"ID":"man","Type":"management","Name":"boss"}"#,
            )
            .status_is(200);
            let man = upgraded(t, "man")
                .field_is("/Policies/0/ID", GLOBAL)
                .field_is("/Hash", "2U0yITQ95xtDQ2EanVMp2BOUXuTFIQekZKlPB+PXVxs=");
            t.check(man.json().get("Rules").is_none(), "there are rules");
            let list = get(t, "tokens").list();
            let old = list.iter().find(|row| row["Description"] == "n");
            let is_told =
                old.is_some_and(|row| row["Legacy"] == true && row.get("Rules").is_none());
            t.check(
                is_told,
                "the list does not say that the token is an old one",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/rights",
        claim: "Rules of old tokens are about all names that begin with a text; only keyring and operator have none",
        source: "acl.md 8.5.r5",
        run: |t| {
            ready(t);
            let rules = r#"key "a" { policy = "read" } service "web" { policy = "write" intentions = "deny" }
                session "n" { policy = "write" } operator = "read" acl = "write" mesh = "x"
                key_prefix "b" { policy = "x" } Node "m" { POLICY = "read" }"#;
            let body = json!({"ID": "old", "Rules": rules}).to_string();
            put(t, "create", &body).status_is(200);
            let allowed = may(
                t,
                "old",
                &[
                    ("key", "read", "ab"),
                    ("key", "write", "ab"),
                    ("key", "read", "b"),
                    ("service", "write", "web2"),
                    ("intention", "read", "web"),
                    ("session", "write", "nn"),
                    ("operator", "read", ""),
                    ("acl", "read", ""),
                    ("node", "read", "mm"),
                ],
            );
            let expected = [true, false, false, true, false, true, true, false, true];
            t.same("the rights", allowed, expected.to_vec());
            put(t, "create", r#"{"ID":"man","Type":"management"}"#).status_is(200);
            let asked = [("acl", "write", ""), ("key", "write", "b")];
            t.same("the rights", may(t, "man", &asked), vec![true, true]);
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/refused",
        claim: "acl/create and acl/update refuse types, rules and tokens of the new system, and words for roots",
        source: "acl.md 8.5.r3, 8.5.r6",
        run: |t| {
            ready(t);
            let not_old = "Cannot use legacy endpoint to modify a non-legacy token";
            let bad_rules = "ACL rule compilation failed: Failed to parse ACL rules: At 1:7: object expected closing RBRACE got: EOF";
            let rows = [
                ("{", 400, "Request decode failed: unexpected EOF"),
                (
                    r#"{"Foo":1}"#,
                    400,
                    r#"Request decode failed: json: unknown field "Foo""#,
                ),
                (
                    r#"{"ID":"x","Type":1}"#,
                    400,
                    "Request decode failed: json: cannot unmarshal number into Go struct field ACL.Type of type string",
                ),
                (r#"{"ID":"allow","Type":"x"}"#, 500, "Invalid ACL Type"),
                (
                    r#"{"ID":"allow","Rules":"key {"}"#,
                    403,
                    "Permission denied: Cannot modify root ACL",
                ),
                (r#"{"ID":"anonymous","Rules":"key {"}"#, 500, not_old),
                (&format!(r#"{{"ID":"{ROOT}"}}"#), 500, not_old),
                (r#"{"ID":"x","Rules":"key {"}"#, 500, bad_rules),
                (
                    r#"{"ID":"x","Rules":"operator = \"x\""}"#,
                    500,
                    "ACL rule compilation failed: Invalid operator policy: \"x\"",
                ),
            ];
            for (body, status, expected) in rows {
                for path in ["create", "update"] {
                    let answer = put(t, path, body);
                    // On a rare start the anonymous token is one of the old system (3.r6): its rules are read.
                    if expected != not_old
                        || !body.contains("anonymous")
                        || answer.text() != bad_rules
                    {
                        answer.is(status, expected);
                    }
                }
            }
            put(t, "update", "").is(400, "ACL ID must be set");
            info(t, "x").is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/updated",
        claim: "acl/update replaces an old token, or makes one; one that the new system has changed is no longer an old one",
        source: "acl.md 8.5.r3, 8.5.r6",
        run: |t| {
            ready(t);
            let body = json!({"ID": "old", "Name": "n", "Rules": RULES}).to_string();
            put(t, "update", &body).is(200, r#"{"ID":"old"}"#);
            let accessor = text(&upgraded(t, "old"), "/AccessorID");
            put(
                t,
                "update",
                r#"{"ID":"old","Name":"m","Type":"management"}"#,
            )
            .status_is(200);
            info(t, "old")
                .field_is("/0/Name", "m")
                .field_is("/0/Type", "management")
                .field_is("/0/Rules", "");
            t.same(
                "its rights",
                may(t, "old", &[("acl", "write", "")]),
                vec![true],
            );
            let path = format!("token/{accessor}");
            put(t, &path, r#"{"Description":"new"}"#).field_is("/Description", "new");
            info(t, "old").is(200, "[]");
            t.same(
                "its rights",
                may(t, "old", &[("acl", "write", "")]),
                vec![false],
            );
            put(t, "update", r#"{"ID":"old"}"#).says(500, "non-legacy");
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/cloned",
        claim: "acl/clone copies an old token, the first management token among them; the new system clones no old rules",
        source: "acl.md 8.5.r3, 8.5.r6",
        run: |t| {
            ready(t);
            let body = json!({"ID": "old", "Name": "n", "Rules": RULES}).to_string();
            put(t, "create", &body).status_is(200);
            let accessor = text(&upgraded(t, "old"), "/AccessorID");
            let clone = text(&put(t, "clone/old", "").status_is(200), "/ID");
            upgraded(t, &clone);
            info(t, &clone)
                .field_is("/0/Name", "n")
                .field_is("/0/Rules", RULES);
            put(t, &format!("clone/{ROOT}"), "").status_is(200);
            put(t, &format!("token/{accessor}/clone"), "{}")
                .is(500, "Cannot clone a legacy ACL with this endpoint");
            put(t, "clone/none", "").is(403, "Permission denied");
            let anonymous = put(t, "clone/anonymous", "");
            if anonymous.status() == 200 {
                // On a rare start it is one of the old system (3.r6).
                info(t, "anonymous").field_is("/0/ID", "anonymous");
            } else {
                anonymous.is(403, "Permission denied");
            }
            put(t, "clone/", "").is(400, "Missing ACL");
            let request = Request::put("/v1/acl/clone/old", "");
            with(t, "unknown", &request).is(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/destroyed",
        claim: "acl/destroy deletes tokens of either system by their secrets, but not the anonymous one",
        source: "acl.md 8.5.r3",
        run: |t| {
            ready(t);
            put(t, "create", r#"{"ID":"old"}"#).status_is(200);
            put(t, "destroy/old", "").is(200, "true");
            put(t, "destroy/old", "").is(200, "true");
            info(t, "old").is(200, "[]");
            let (accessor, secret) = token(t, &json!({}));
            put(t, &format!("destroy/{secret}"), "").is(200, "true");
            get(t, &format!("token/{accessor}")).is(403, "ACL not found");
            put(t, "destroy/anonymous", "")
                .is(403, "Permission denied: Cannot delete anonymous token");
            get(t, &format!("token/{ANONYMOUS}")).status_is(200);
            put(t, "destroy/", "").is(400, "Missing ACL");
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/asks-for-acl-write",
        claim: "The old endpoints ask for acl:write, the list too; reading one token asks for nothing",
        source: "acl.md 8.5.r3, 8.5.r6",
        run: |t| {
            ready(t);
            put(t, "create", r#"{"ID":"old","Name":"n"}"#).status_is(200);
            upgraded(t, "old");
            let (_, reader) = granted(t, "reader", r#"acl = "read""#);
            let put = |path: &str, body: &str| {
                let request = Request::put(&format!("/v1/acl/{path}"), body);
                with(t, &reader, &request)
            };
            put("create", "{}").is(403, "Permission denied");
            put("update", "{}").is(400, "ACL ID must be set");
            put("update", r#"{"ID":"old","Type":"x"}"#).is(403, "Permission denied");
            put("clone/old", "").is(403, "Permission denied");
            put("destroy/anonymous", "").is(403, "Permission denied");
            with(t, &reader, &Request::get("/v1/acl/list"))
                .is(403, "Permission denied")
                .header_is("X-Consul-Index", "1");
            info(t, "old").field_is("/0/Name", "n");
            let list = get(t, "list").status_is(200).list();
            // A server that has just started may still list the anonymous one.
            let ids = list.iter().map(|row| &row["ID"]);
            let ids: Vec<&Value> = ids.filter(|id| **id != "anonymous").collect();
            t.same("the old tokens", json!(ids), json!([ROOT, "old"]));
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/translated",
        claim: "acl/rules/translate writes old rules as policies have them, and asks for acl:read",
        source: "acl.md 8.5.r4",
        run: |t| {
            ready(t);
            let (_, reader) = granted(t, "reader", r#"acl = "read""#);
            let translate = |rules: &str| {
                let path = "/v1/acl/rules/translate";
                with(t, &reader, &Request::new("POST", path).body(rules))
            };
            translate("# c\nkey \"a\" { policy = \"read\" }\nservice \"\" { policy = \"x\"\n intentions = \"y\" }").is(
                200,
                "# c\nkey_prefix \"a\" {\n  policy = \"read\"\n}\n\nservice_prefix \"\" {\n  policy     = \"x\"\n  intentions = \"y\"\n}",
            );
            translate("").is(200, "");
            translate("key \"a\" {").is(
                400,
                "Bad request: Failed to parse rules: At 1:11: object expected closing RBRACE got: EOF",
            );
            let request = Request::new("POST", "/v1/acl/rules/translate").body("key \"a\" {");
            t.send(&request).is(403, "Permission denied");
            let body = json!({"ID": "old", "Rules": RULES}).to_string();
            put(t, "create", &body).status_is(200);
            let accessor = text(&upgraded(t, "old"), "/AccessorID");
            let of_token = |accessor: &str| get(t, &format!("rules/translate/{accessor}"));
            of_token(&accessor).is(200, "key_prefix \"a\" {\n  policy = \"read\"\n}");
            of_token(ANONYMOUS).is(500, "The specified token does not have any rules set");
            of_token(NOBODY).is(403, "ACL not found");
            of_token("").is(400, "Bad request: Missing token ID");
        },
        ..BASE
    },
    Case {
        id: "acl/legacy/translated-in-any-namespace",
        claim: "acl/rules/translate/<id> ignores a namespace",
        source: "acl.md 0.7",
        run: |t| {
            ready(t);
            get(t, "rules/translate/x?ns=a").says(500, "index error: UUID must be 36 characters");
        },
        ..BASE
    },
];

/// Reads an old token without any right.
fn info(t: &Trial, id: &str) -> Answer {
    t.api_get(&format!("/v1/acl/info/{id}"))
}

/// Waits until the leader has made a token of the new system of an old one, and returns it.
fn upgraded(t: &Trial, secret: &str) -> Answer {
    t.eventually("the token is upgraded", Duration::from_secs(10), || {
        let own = with(t, secret, &Request::get("/v1/acl/token/self"));
        (!text(&own, "/AccessorID").is_empty()).then_some(own)
    })
}

/// Whether a token may do each of some things.
fn may(t: &Trial, secret: &str, questions: &[(&str, &str, &str)]) -> Vec<bool> {
    let questions = questions.iter().map(
        |(resource, access, name)| json!({"Resource": resource, "Access": access, "Segment": name}),
    );
    let body = Value::Array(questions.collect()).to_string();
    let request = Request::new("POST", "/v1/internal/acl/authorize").body(body);
    let answers = with(t, secret, &request).status_is(200).list();
    let allowed = answers.iter().map(|answer| answer["Allow"] == true);
    allowed.collect()
}
