//! What a token may do, asked of the server itself (acl.md 8.5).

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, NOBODY, ROOT, put, ready, token, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/authorize/answers",
        claim: "Each question comes back with its answer, without an empty segment",
        source: "acl.md 8.5.r2",
        run: |t| {
            ready(t);
            let asked = r#"[{"Resource":"key","Access":"read","Segment":"a"},{"Resource":"acl","Access":"write"}]"#;
            let answered = |allow: bool| {
                json!([{"Resource": "key", "Segment": "a", "Access": "read", "Allow": allow},
                    {"Resource": "acl", "Access": "write", "Allow": allow}])
            };
            t.same(
                "of root",
                ask(t, ROOT, asked).status_is(200).json(),
                answered(true),
            );
            t.same(
                "of nobody",
                ask(t, "", asked).status_is(200).json(),
                answered(false),
            );
            ask(t, ROOT, "[]").is(200, "[]");
            ask(t, ROOT, "null").is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/authorize/refused",
        claim: "Unknown resources and accesses are refused, after the token",
        source: "acl.md 8.5.r2",
        until: Some(Version::V1_12),
        run: |t| {
            ready(t);
            for (body, words) in [
                ("", "Failed to decode request body: EOF"),
                (
                    r#"[{"Resource":"bogus","Access":"read"}]"#,
                    "Invalid ACL resource requested: \"bogus\"",
                ),
                (
                    r#"[{"Resource":"Key","Access":"read"}]"#,
                    "Invalid ACL resource requested: \"Key\"",
                ),
                (
                    r#"[{"Resource":"key","Access":"bogus"}]"#,
                    "Invalid access level for key resource: bogus",
                ),
                (
                    r#"[{"Resource":"node","Access":"list"}]"#,
                    "Invalid access level for node resource: list",
                ),
                (
                    r#"[{"Foo":1}]"#,
                    "Failed to decode request body: json: unknown field \"Foo\"",
                ),
            ] {
                ask(t, ROOT, body).is(400, &format!("Bad request: {words}"));
            }
            let many = vec![json!({"Resource": "key", "Access": "read"}); 65];
            ask(t, ROOT, &json!(many).to_string()).is(
                400,
                "Bad request: Refusing to process more than 64 authorizations at once",
            );
            ask(t, NOBODY, r#"[{"Resource":"key","Access":"bogus"}]"#).is(403, "ACL not found");
        },
        ..BASE
    },
    Case {
        id: "acl/authorize/nothing",
        claim: "Who asks nothing needs no token that is known",
        source: "acl.md 0.6, 8.5.r2",
        run: |t| {
            ready(t);
            for token in ["unknown", ""] {
                ask(t, token, "[]").is(200, "[]");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/authorize/identities",
        claim: "The identity of a service writes it and its sidecar and reads services and nodes; that of a node writes the node",
        source: "acl.md 8.2.r1, 8.2.r2",
        run: |t| {
            ready(t);
            let (_, service) = token(t, &json!({"ServiceIdentities": [{"ServiceName": "web"}]}));
            let (_, node) = token(
                t,
                &json!({"NodeIdentities": [{"NodeName": "n1", "Datacenter": "dc1"}]}),
            );
            let questions = [
                ("service", "write", "web"),
                ("service", "write", "web-sidecar-proxy"),
                ("service", "write", "other"),
                ("service", "read", "other"),
                ("node", "read", "n1"),
                ("node", "write", "n1"),
                ("key", "read", "a"),
                ("session", "write", "n1"),
            ];
            let body: Vec<_> = questions
                .iter()
                .map(|(resource, access, name)| json!({"Resource": resource, "Access": access, "Segment": name}))
                .collect();
            for (secret, expected) in [
                (
                    service,
                    [true, true, false, true, true, false, false, false],
                ),
                (node, [false, false, false, true, true, true, false, false]),
            ] {
                let answers = ask(t, &secret, &json!(body).to_string())
                    .status_is(200)
                    .list();
                let allowed: Vec<bool> = answers
                    .iter()
                    .map(|answer| answer["Allow"] == true)
                    .collect();
                t.same("what is allowed", allowed, expected.to_vec());
            }
        },
        ..BASE
    },
    Case {
        id: "acl/authorize/next-request",
        claim: "A change of a policy, also through a role, acts on the next request, and other datacenters' policies do not count",
        source: "acl.md 10.1, 2.7",
        run: |t| {
            ready(t);
            let rules = |level: &str| format!("key_prefix \"\" {{ policy = \"{level}\" }}");
            let body = |level: &str, datacenter: &str| {
                json!({"Name": "p1", "Rules": rules(level), "Datacenters": [datacenter]})
                    .to_string()
            };
            let made = put(t, "policy", &body("write", "dc1"))
                .status_is(200)
                .json();
            put(t, "role", r#"{"Name":"r1","Policies":[{"Name":"p1"}]}"#).status_is(200);
            let (_, secret) = token(t, &json!({"Roles": [{"Name": "r1"}]}));
            let may = || {
                let asked = r#"[{"Resource":"key","Access":"write","Segment":"a"}]"#;
                ask(t, &secret, asked).json()[0]["Allow"] == true
            };
            let path = format!("policy/{}", made["ID"].as_str().unwrap_or_default());
            for (level, datacenter, expected) in [
                ("write", "dc1", true),
                ("read", "dc1", false),
                ("write", "dc1", true),
                ("write", "dc9", false),
            ] {
                put(t, &path, &body(level, datacenter)).status_is(200);
                t.same("what is allowed", may(), expected);
            }
        },
        ..BASE
    },
];

fn ask(t: &Trial, token: &str, body: &str) -> Answer {
    with(
        t,
        token,
        &Request::new("POST", "/v1/internal/acl/authorize").body(body),
    )
}
