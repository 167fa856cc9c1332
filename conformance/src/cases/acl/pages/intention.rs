//! Rights on intentions: those of the services of both sides (operator.md 4.5.r7 to 4.5.r9, acl.md 7.r38, 7.r39).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{ROOT, SETTINGS, granted, ready, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

const PATH: &str = "/v1/connect/intentions";
const DENIED: &str = "Permission denied";
const MISSING: &str = "11111111-1111-1111-1111-111111111111";

/// A case on a server with ACLs.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: SETTINGS,
    ..Case::REAL
};

fn of(source: &str, destination: &str) -> String {
    let body = json!({"SourceName": source, "DestinationName": destination, "Action": "allow"});
    body.to_string()
}

fn create(t: &Trial, token: &str, source: &str, destination: &str) -> Answer {
    let request = Request::new("POST", PATH).body(of(source, destination));
    with(t, token, &request)
}

/// Makes an intention with all rights, and returns its id.
fn made(t: &Trial, source: &str, destination: &str) -> String {
    let answer = create(t, ROOT, source, destination).status_is(200);
    answer.json()["ID"].as_str().unwrap_or_default().to_owned()
}

fn get(t: &Trial, token: &str, rest: &str) -> Answer {
    with(t, token, &Request::get(&format!("{PATH}{rest}")))
}

/// Tokens with these rules, one each.
fn tokens<const N: usize>(t: &Trial, rules: [&str; N]) -> [String; N] {
    let mut number = 0;
    rules.map(|rules| {
        number += 1;
        granted(t, &format!("p{number}"), rules).1
    })
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/intention/list",
        claim: "The list has the intentions of which either side may be read, by what a rule says of intentions or, if it does not, of the service",
        source: "acl.md 7.r38, 9.9",
        run: |t| {
            ready(t);
            made(t, "a", "web");
            made(t, "b", "db");
            for (name, rules, expected) in [
                ("p1", r#"service "a" { policy = "read" }"#, vec!["a"]),
                ("p2", r#"service "db" { policy = "write" }"#, vec!["b"]),
                (
                    "p3",
                    r#"service "db" { policy = "deny" intentions = "read" }"#,
                    vec!["b"],
                ),
                (
                    "p4",
                    r#"service "db" { policy = "write" intentions = "deny" }"#,
                    vec![],
                ),
                (
                    "p5",
                    r#"service_prefix "" { policy = "read" }"#,
                    vec!["a", "b"],
                ),
            ] {
                let (_, token) = granted(t, name, rules);
                let rows = get(t, &token, "").list();
                let sources: Vec<&Value> = rows.iter().map(|row| &row["SourceName"]).collect();
                t.same(rules, json!(sources), json!(expected));
            }
            get(t, "", "").is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/intention/read",
        claim: "One intention is read with a right on either side, else refused without an index; what is missing is told before",
        source: "operator.md 4.5.r4, 4.5.r9",
        run: |t| {
            ready(t);
            let id = made(t, "a", "web");
            let [source, destination, other] = tokens(
                t,
                [
                    r#"service "a" { policy = "read" }"#,
                    r#"service "web" { policy = "read" }"#,
                    r#"service "x" { policy = "write" }"#,
                ],
            );
            let path = format!("/{id}");
            for token in [&source, &destination] {
                get(t, token, &path).field_is("/DestinationName", "web");
            }
            for token in ["", &other] {
                get(t, token, &path)
                    .says(403, DENIED)
                    .has_no_header("X-Consul-Index");
                get(t, token, &format!("/{MISSING}")).says(404, "Intention not found");
            }
        },
        ..BASE
    },
    Case {
        id: "acl/intention/create",
        claim: "Who makes an intention needs intentions:write on its destination, which service:write does not give",
        source: "acl.md 7.r39, 9.9; operator.md 4.5.r9",
        run: |t| {
            ready(t);
            let [service, source, destination] = tokens(
                t,
                [
                    r#"service "web" { policy = "write" }"#,
                    r#"service "a" { policy = "write" intentions = "write" }"#,
                    r#"service "web" { policy = "deny" intentions = "write" }"#,
                ],
            );
            for token in ["", &service, &source] {
                create(t, token, "a", "web").says(403, DENIED);
            }
            create(t, &destination, "a", "web").status_is(200);
            create(t, &destination, "a", "*").says(403, DENIED);
        },
        ..BASE
    },
    Case {
        id: "acl/intention/delete",
        claim: "Who deletes an intention needs intentions:write on its destination; an unknown id is told before",
        source: "operator.md 4.5.r9",
        run: |t| {
            ready(t);
            let id = made(t, "a", "web");
            let [source, destination] = tokens(
                t,
                [
                    r#"service "a" { policy = "deny" intentions = "write" }"#,
                    r#"service "web" { policy = "deny" intentions = "write" }"#,
                ],
            );
            let delete =
                |token: &str, id: &str| with(t, token, &Request::delete(&format!("{PATH}/{id}")));
            for token in ["", &source] {
                delete(token, &id).says(403, DENIED);
                delete(token, MISSING).says(500, "Cannot delete non-existent intention");
            }
            delete(&destination, &id).is(200, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/intention/replace",
        claim: "Who replaces an intention needs intentions:write on its destination; until 1.9 that may change, and then the right on the new one is asked first",
        source: "operator.md 4.5.r9, 4.5.r12",
        run: |t| {
            ready(t);
            let id = made(t, "a", "web");
            let [web, db, both] = tokens(
                t,
                [
                    r#"service "web" { policy = "deny" intentions = "write" }"#,
                    r#"service "db" { policy = "deny" intentions = "write" }"#,
                    r#"service "web" { policy = "deny" intentions = "write" } service "db" { policy = "deny" intentions = "write" }"#,
                ],
            );
            let put = |token: &str, id: &str, destination: &str| {
                let path = format!("{PATH}/{id}");
                with(t, token, &Request::put(&path, of("a", destination)))
            };
            let (moved, missing) = (
                "Cannot modify Destination",
                "Cannot modify non-existent intention",
            );
            let stays = t.since(Version::V1_9);
            let [of_another, of_none] = match stays {
                true => [(500, moved), (500, missing)],
                false => [(403, DENIED); 2],
            };
            put(&web, &id, "db").says(of_another.0, of_another.1);
            put(&db, &id, "db").says(403, DENIED);
            put(&web, MISSING, "db").says(of_none.0, of_none.1);
            put(&db, MISSING, "db").says(500, missing);
            put(&web, &id, "web").field_is("/ID", id.as_str());
            let answer = put(&both, &id, "db");
            let destination = if stays {
                answer.says(500, moved);
                "web"
            } else {
                answer.field_is("/ID", id.as_str());
                "db"
            };
            get(t, ROOT, &format!("/{id}")).field_is("/DestinationName", destination);
        },
        ..BASE
    },
    Case {
        id: "acl/intention/match-and-check",
        claim: "match needs intentions:read on every name, check on the destination; what is wrong with the parameters is told before",
        source: "operator.md 4.5.r7, 4.5.r8",
        run: |t| {
            ready(t);
            made(t, "a", "web");
            let [source, destination] = tokens(
                t,
                [
                    r#"service "a" { policy = "read" }"#,
                    r#"service "web" { policy = "read" }"#,
                ],
            );
            get(t, &source, "/match?by=source&name=a").field_is("/a/0/DestinationName", "web");
            get(t, &source, "/match?by=source&name=a&name=web").says(403, DENIED);
            get(t, &destination, "/match?by=source&name=a").says(403, DENIED);
            get(t, "", "/match?by=source").says(500, "'name' not set");
            get(t, &destination, "/check?source=a&destination=web").is(200, r#"{"Allowed":true}"#);
            get(t, &destination, "/check?source=b&destination=web").is(200, r#"{"Allowed":false}"#);
            get(t, &source, "/check?source=a&destination=web").says(403, DENIED);
            get(t, "", "/check?source=a").says(500, "'destination' not set");
        },
        ..BASE
    },
    Case {
        id: "acl/intention/exact-since-1-22",
        claim: "The intention of two names is written and deleted with intentions:write on its destination",
        source: "acl.md 7.r39",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let [source, destination] = tokens(
                t,
                [
                    r#"service "a" { policy = "deny" intentions = "write" }"#,
                    r#"service "web" { policy = "deny" intentions = "write" }"#,
                ],
            );
            let path = format!("{PATH}/exact?source=a&destination=web");
            for token in ["", &source] {
                with(t, token, &Request::put(&path, r#"{"Action":"allow"}"#)).says(403, DENIED);
                with(t, token, &Request::delete(&path)).says(403, DENIED);
            }
            with(
                t,
                &destination,
                &Request::put(&path, r#"{"Action":"allow"}"#),
            )
            .is(200, "true");
            with(t, &destination, &Request::delete(&path)).is(200, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/intention/right-first",
        claim: "A new intention needs its right before it is looked at, and nobody has one without a destination; a deletion needs a token that is known",
        source: "operator.md 4.5.r9",
        run: |t| {
            ready(t);
            let create = Request::new("POST", PATH).body(r#"{"ID":"x","SourceName":"a"}"#);
            with(t, ROOT, &create).says(403, DENIED);
            with(t, "unknown", &create).says(403, "ACL not found");
            let delete = Request::new("DELETE", &format!("{PATH}/{MISSING}"));
            with(t, "unknown", &delete).says(403, "ACL not found");
            with(t, ROOT, &delete).says(500, "Cannot delete non-existent intention");
        },
        ..BASE
    },
    Case {
        id: "acl/intention/replaced-with-a-destination-in-1-8",
        claim: "Nobody has the right to replace an intention without a destination, whether there is one or not",
        source: "operator.md 4.5.r9",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let id = made(t, "a", "b");
            for id in [id.as_str(), MISSING] {
                let replace = Request::new("PUT", &format!("{PATH}/{id}"));
                with(t, ROOT, &replace.body(r#"{"SourceName":"a"}"#)).says(403, DENIED);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/intention/filter-before-the-token",
        claim: "The list looks at its filter before it looks at the token",
        source: "operator.md 4.5.r3b",
        run: |t| {
            ready(t);
            get(t, "unknown", "?filter=Bogus==1").says(500, "Selector \"Bogus\" is not valid");
            get(t, "unknown", "").says(403, "ACL not found");
        },
        ..BASE
    },
];
