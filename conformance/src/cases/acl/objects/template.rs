//! Templated policies, and what else later releases show of tokens (acl.md 8.3, 5.15).

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, ROOT, get, granted, policy, put, ready, text, token, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/template/of-a-token",
        claim: "A token with a filled-in template shows it with its id, and has its rights",
        source: "acl.md 8.3.r1, 8.3.r2, 8.3.r3",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let body = json!({"TemplatedPolicies": [{"TemplateName": "builtin/service",
                "TemplateVariables": {"Name": "web"}, "Datacenters": ["dc1"]}]});
            let made = put(t, "token", &body.to_string()).status_is(200);
            let expected = json!([{"TemplateID": "00000000-0000-0000-0000-000000000003",
                "TemplateName": "builtin/service", "TemplateVariables": {"name": "web"}, "Datacenters": ["dc1"]}]);
            let made = made.field_is("/TemplatedPolicies", expected);
            let secret = text(&made, "/SecretID");
            let may = |name: &str| {
                let body = json!([{"Resource": "service", "Access": "write", "Segment": name}]);
                let path = "/v1/internal/acl/authorize";
                let request = Request::new("POST", path).body(body.to_string());
                with(t, &secret, &request).json()[0]["Allow"] == true
            };
            let allowed: Vec<bool> = ["web", "web-sidecar-proxy", "db"].map(may).to_vec();
            t.same("what it may write", allowed, vec![true, true, false]);
            let of_service = get(t, "tokens?servicename=web").list().len();
            t.same("tokens of the service", of_service, 1);
        },
        ..BASE
    },
    Case {
        id: "acl/template/refused",
        claim: "Tokens and roles refuse templates without a name, unknown ones, and ones without their variables",
        source: "acl.md 8.3.r4",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let refused = |path: &str, template: &str, words: &str| {
                let body = format!(r#"{{"Name":"r","TemplatedPolicies":[{template}]}}"#);
                let body = if path == "token" {
                    body.replace(r#""Name":"r","#, "")
                } else {
                    body
                };
                put(t, path, &body).is(500, words);
            };
            let missing = "templated policy is missing the template name field on this token";
            refused("token", "{}", missing);
            let nope = r#"{"TemplateName":"nope"}"#;
            refused(
                "token",
                nope,
                r#"no such ACL templated policy with Name "nope""#,
            );
            let in_role = "templated policy with an invalid templated name: nope for this role";
            refused("role", nope, in_role);
            let bare = r#"{"TemplateName":"builtin/service"}"#;
            let words = "validation error for templated policy \"builtin/service\": 1 error occurred:\n\t* Invalid type. Expected: object, given: null\n\n";
            refused("token", bare, words);
        },
        ..BASE
    },
    Case {
        id: "acl/template/read",
        claim: "The templates are an object by name; an unknown one is bad; both ask for acl:read",
        source: "acl.md 8.3.r2, 8.3.r5, 0.4",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let all = get(t, "templated-policies").status_is(200);
            let all = all.has_no_header("X-Consul-Index").json();
            for name in [
                "service",
                "node",
                "dns",
                "nomad-server",
                "api-gateway",
                "nomad-client",
            ] {
                let name = format!("builtin/{name}");
                let one = get(t, &format!("templated-policy/name/{name}")).status_is(200);
                let one = one.field_is("/TemplateName", name.as_str());
                t.same("the template in the list", &all[&name], &one.json());
            }
            get(t, "templated-policy/name/nope").is(400, "Invalid templated policy Name: nope");
            t.api_get("/v1/acl/templated-policies")
                .says(403, "Permission denied");
            t.not_compared("the texts of Consul's templates are its own");
        },
        ..BASE
    },
    Case {
        id: "acl/template/preview",
        claim: "A preview is a policy with a made name that is not kept",
        source: "acl.md 8.3.r6",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            let name = "synthetic policy generated from templated policy: builtin/service";
            let made = preview(t, "builtin/service", r#"{"Name":"web"}"#).status_is(200);
            let made = made
                .field_is("/Description", name)
                .field_is("/CreateIndex", 0)
                .field_is("/ModifyIndex", 0);
            let id = text(&made, "/ID");
            // The rules begin with a line feed.
            t.check(
                id.starts_with("0a7365") && id.ends_with("6c62272e07bb014262b821756295c58d"),
                "the id is made otherwise",
            );
            t.same(
                "the name",
                text(&made, "/Name"),
                format!("synthetic-policy-{id}"),
            );
            preview(t, "builtin/service", "").is(400, "Failed to decode request body: EOF");
            preview(t, "nope", r#"{"Name":"web"}"#)
                .is(400, r#"templated policy "nope" does not exist"#);
            preview(t, "builtin/service", r#"{"Name":"we b"}"#).is(
                400,
                r#"validation error for templated policy: "builtin/service": service identity "we b" has an invalid name. Only lowercase alphanumeric characters, '-' and '_' are allowed"#,
            );
            t.not_compared("the texts of Consul's templates are its own");
        },
        ..BASE
    },
    Case {
        id: "acl/token/expanded",
        claim: "With ?expanded a token shows its policies, those of its roles too, and the agent's defaults",
        source: "acl.md 5.15",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            policy(t, "p");
            policy(t, "q");
            put(t, "role", r#"{"Name":"r","Policies":[{"Name":"q"}]}"#).status_is(200);
            let body = json!({"Policies": [{"Name": "p"}], "Roles": [{"Name": "r"}]});
            let (accessor, _) = token(t, &body);
            let shown = get(t, &format!("token/{accessor}?expanded")).status_is(200);
            let shown = shown
                .field_is("/ExpandedRoles/0/Name", "r")
                .field_is("/NamespaceDefaultPolicyIDs", json!(null))
                .field_is("/AgentACLDefaultPolicy", "deny")
                .field_is("/AgentACLDownPolicy", "extend-cache");
            let policies = shown.json()["ExpandedPolicies"].clone();
            let mut names: Vec<String> = Vec::new();
            for policy in policies.as_array().into_iter().flatten() {
                names.push(policy["Name"].as_str().unwrap_or_default().to_owned());
            }
            names.sort();
            t.same("the policies", names, vec!["p".to_owned(), "q".to_owned()]);
        },
        ..BASE
    },
    Case {
        id: "acl/token/expanded-without-roles",
        claim: "A token without roles has null in the place of its expanded roles",
        source: "acl.md 5.15",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            policy(t, "p");
            let (accessor, _) = token(t, &json!({"Policies": [{"Name": "p"}]}));
            get(t, &format!("token/{accessor}?expanded"))
                .field_is("/ExpandedPolicies/0/Name", "p")
                .field_is("/ExpandedRoles", json!(null));
        },
        ..BASE
    },
    Case {
        id: "acl/token/expanded-before-1-22",
        claim: "?expanded is ignored",
        source: "acl.md 5.15",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let shown = get(t, "token/self?expanded").status_is(200);
            t.check(
                shown.json().get("ExpandedPolicies").is_none(),
                "it is not ignored",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/filtered/anonymous-told-before-1-21-5",
        claim: "Who sends the anonymous token by its name is told that rows were removed; who sends none is not",
        source: "1.22.md A6.r8",
        since: Version::V1_11,
        until: Some(Version::V1_21_5),
        run: |t| {
            anonymous(t, "").has_no_header(FILTERED);
            anonymous(t, "?token=anonymous").header_is(FILTERED, "true");
        },
        ..BASE
    },
    Case {
        id: "acl/filtered/anonymous-untold",
        claim: "Who sends the anonymous token by its name is not told that rows were removed, as who sends none",
        source: "1.22.md A6.r8, acl.md 2.12",
        since: Version::V1_21_5,
        run: |t| {
            anonymous(t, "").has_no_header(FILTERED);
            anonymous(t, "?token=anonymous").has_no_header(FILTERED);
            let (_, secret) = granted(t, "nothing", "");
            anonymous(t, &format!("?token={secret}")).header_is(FILTERED, "true");
        },
        ..BASE
    },
];

const FILTERED: &str = "X-Consul-Results-Filtered-By-Acls";

/// Reads nodes of which the anonymous token sees none.
fn anonymous(t: &Trial, query: &str) -> Answer {
    ready(t);
    t.api_get(&format!("/v1/catalog/nodes{query}"))
        .is(200, "[]")
}

/// Asks for a preview.
fn preview(t: &Trial, name: &str, body: &str) -> Answer {
    let path = format!("/v1/acl/templated-policy/preview/{name}");
    with(t, ROOT, &Request::new("POST", &path).body(body))
}
