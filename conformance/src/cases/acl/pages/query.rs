//! Rights on prepared queries (acl.md 7.r28 to 7.r32).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{NOBODY, ROOT, SETTINGS, granted, put, ready, text, token, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: SETTINGS,
    ..Case::SHOULD
};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/query/writing",
        claim: "A query with a name is written with a right on both its names, before it is checked; one without needs nothing",
        source: "acl.md 7.r28",
        until: Some(Version::V1_9),
        run: |t| {
            let Prepared {
                limited,
                named,
                unnamed,
                session,
            } = prepared(t);
            let ask = |token: &str, method: &str, path: &str, body: &Value| {
                let request = Request::new(method, &format!("/v1/query{path}"));
                with(t, token, &request.body(body.to_string()))
            };
            let query = |name: &str| json!({"Name": name, "Service": {"Service": "s"}});
            ask(NOBODY, "POST", "", &query("mine")).says(403, "ACL not found");
            ask(&limited, "POST", "", &query("other")).says(403, "Permission denied");
            ask("", "POST", "", &json!({"Name": "mine"})).says(403, "Permission denied");
            ask(&limited, "POST", "", &json!({"Name": "mine"})).is(
                500,
                "Invalid prepared query: Must provide a Service name to query",
            );
            ask(&limited, "POST", "", &query("mine")).status_is(200);
            ask(
                "",
                "POST",
                "",
                &json!({"Session": session, "Service": {"Service": "s"}}),
            )
            .status_is(200);
            let there = format!("/{named}");
            ask(&limited, "PUT", &there, &query("mine-too")).says(403, "Permission denied");
            ask(&limited, "DELETE", &there, &json!({})).says(403, "Permission denied");
            ask(NOBODY, "DELETE", &there, &json!({})).says(403, "ACL not found");
            ask(&limited, "DELETE", &format!("/{NOBODY}"), &json!({})).is(
                500,
                &format!("Cannot modify non-existent prepared query: '{NOBODY}'"),
            );
            ask("", "DELETE", &format!("/{unnamed}"), &json!({})).status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/query/reading",
        claim: "A query with a name is shown to who may read it, one without by its id alone; tokens stay hidden",
        source: "acl.md 7.r29, 7.r30, 7.r32",
        run: |t| {
            let Prepared {
                limited,
                named,
                unnamed,
                ..
            } = prepared(t);
            let read = |token: &str, path: &str| read(t, token, path);
            read(NOBODY, "").says(403, "ACL not found");
            t.same("without a token", read("", "").list(), vec![]);
            let seen = read(&limited, "").list();
            t.same("how many are seen", seen.len(), 1);
            for path in ["", &format!("/{named}")] {
                read(&limited, path)
                    .field_is("/0/Token", "<hidden>")
                    .field_is("/0/Name", "seen");
            }
            t.same("how many there are", read(ROOT, "").list().len(), 2);
            read(ROOT, &format!("/{named}")).field_is("/0/Token", ROOT);
            read("", &format!("/{named}"))
                .is(403, "Permission denied")
                .header_is("X-Consul-Index", "1");
            read("", &format!("/{unnamed}"))
                .status_is(200)
                .field_is("/0/Token", "");
            read(NOBODY, &format!("/{unnamed}")).says(403, "ACL not found");
            read(NOBODY, &format!("/{NOBODY}")).is(404, "Query not found");
        },
        ..BASE
    },
    Case {
        id: "acl/query/explaining",
        claim: "A query with a name is explained to who may read it, one without to who may change ACLs",
        source: "acl.md 7.r30, 2.11.r6",
        until: Some(Version::V1_9),
        run: |t| {
            let Prepared {
                limited, unnamed, ..
            } = prepared(t);
            let read = |token: &str, path: &str| read(t, token, path);
            read("", "/seen/explain").is(403, "Permission denied");
            read(NOBODY, "/seen/explain").says(403, "ACL not found");
            read(&limited, "/seen/explain").field_is("/Query/Token", "<hidden>");
            read(&limited, &format!("/{unnamed}/explain")).is(403, "Permission denied");
            read(ROOT, &format!("/{unnamed}/explain")).status_is(200);
            read(NOBODY, "/none/explain").is(404, "Query not found");
        },
        ..BASE
    },
    Case {
        id: "acl/query/executing",
        claim: "Everybody executes; the query's own token decides what is found, else that of the request",
        source: "acl.md 7.r31",
        run: |t| {
            let Prepared {
                limited, unnamed, ..
            } = prepared(t);
            let found = |token: &str, path: &str| {
                let answer = read(t, token, &format!("/{path}/execute")).status_is(200);
                answer.json()["Nodes"].as_array().map_or(0, Vec::len)
            };
            for (token, path, expected) in [
                ("", "seen", 1),
                (NOBODY, "seen", 1),
                (ROOT, unnamed.as_str(), 1),
                ("", &unnamed, 0),
                (&limited, &unnamed, 0),
            ] {
                t.same("how many were found", found(token, path), expected);
            }
            read(t, NOBODY, &format!("/{unnamed}/execute")).says(403, "ACL not found");
            read(t, NOBODY, "/none/execute").is(404, "Query not found");
        },
        ..BASE
    },
    Case {
        id: "acl/query/acl-write-sees-all",
        claim: "Who may write ACLs sees and explains all queries, and writes none that has a name",
        source: "acl.md 7.r28, 7.r29, 7.r30",
        run: |t| {
            let Prepared { named, unnamed, .. } = prepared(t);
            let writer = granted(t, "writer", r#"acl = "write""#).1;
            let listed = read(t, &writer, "").status_is(200).list();
            t.same("how many are listed", listed.len(), 2);
            for path in [
                &*format!("/{named}"),
                &format!("/{unnamed}"),
                "/seen/explain",
            ] {
                read(t, &writer, path).status_is(200);
            }
            let there = Request::delete(&format!("/v1/query/{named}"));
            with(t, &writer, &there).says(403, "Permission denied");
            // Who may only read them sees what everybody sees.
            let reader = granted(t, "reader", r#"acl = "read""#).1;
            t.same("how many are listed", read(t, &reader, "").list().len(), 0);
            read(t, &reader, "/seen/explain").says(403, "Permission denied");
        },
        ..BASE
    },
];

struct Prepared {
    /// A token that may read the query `seen` and write `mine`.
    limited: String,
    /// The id of the query `seen`, which has a token.
    named: String,
    /// The id of a query without a name.
    unnamed: String,
    session: String,
}

/// Registers a service, and makes two queries for it.
fn prepared(t: &Trial) -> Prepared {
    ready(t);
    let node = t.node("a");
    let service = json!({"Node": node, "Address": "192.0.2.1", "Service": {"Service": "s"}});
    let ask = |method: &str, target: &str, body: &Value| {
        let request = Request::new(method, target).body(body.to_string());
        with(t, ROOT, &request).status_is(200)
    };
    ask("PUT", "/v1/catalog/register", &service);
    let session = json!({"Node": node, "Checks": [], "NodeChecks": []});
    let session = text(&ask("PUT", "/v1/session/create", &session), "/ID");
    let query = json!({"Name": "seen", "Token": ROOT, "Service": {"Service": "s"}});
    let named = text(&ask("POST", "/v1/query", &query), "/ID");
    let query = json!({"Session": session, "Service": {"Service": "s"}});
    let unnamed = text(&ask("POST", "/v1/query", &query), "/ID");
    let rules = r#"query "seen" { policy = "read" } query "mine" { policy = "write" }"#;
    put(
        t,
        "policy",
        &json!({"Name": "limited", "Rules": rules}).to_string(),
    )
    .status_is(200);
    Prepared {
        limited: token(t, &json!({"Policies": [{"Name": "limited"}]})).1,
        named,
        unnamed,
        session,
    }
}

fn read(t: &Trial, token: &str, path: &str) -> Answer {
    with(t, token, &Request::get(&format!("/v1/query{path}")))
}
