//! Lists of tokens, and waiting for them (acl.md 5.28, 5.29, 10.3).

use serde_json::json;

use crate::case::Case;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, NOBODY, ROOT, get, policy, put, ready, token};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/tokens/list",
        claim: "The list is in the order of the secrets, which it does not show",
        source: "acl.md 5.28, 5, trap 9, 13.r8",
        until: Some(Version::V1_10),
        run: |t| {
            ready(t);
            for (number, secret) in [("1", "b"), ("2", "a"), ("3", "c")] {
                let id = |letter: &str| format!("{}-bbbb-4ccc-8ddd-eeeeeeeeeeee", letter.repeat(8));
                token(
                    t,
                    &json!({"AccessorID": id(number), "SecretID": id(secret)}),
                );
            }
            let list = get(t, "tokens").status_is(200).list();
            let shown = list
                .iter()
                .map(|row| row["AccessorID"].as_str().unwrap_or_default().to_owned());
            let shown: Vec<String> = shown
                .filter(|id| id.contains("bbbb-4ccc"))
                .map(|id| id[..1].to_owned())
                .collect();
            t.same(
                "the order",
                shown,
                ["2", "1", "3"].map(str::to_owned).to_vec(),
            );
            t.check(list[0].get("SecretID").is_none(), "a secret is shown");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/list-since-1-10-1",
        claim: "The list shows the secrets to who may write ACLs",
        source: "acl.md 5, 13.r8",
        since: Version::new(1, 10, 1),
        run: |t| {
            ready(t);
            let list = get(t, "tokens").status_is(200).list();
            t.check(list[0].get("SecretID").is_some(), "no secret is shown");
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/filters",
        claim: "The list can be filtered by a policy, a role or an auth method, one at a time",
        source: "acl.md 5.29",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let id = policy(t, "p1");
            let (accessor, _) = token(t, &json!({"Policies": [{"Name": "p1"}]}));
            let list = get(t, &format!("tokens?policy={id}")).status_is(200);
            t.same("the tokens", list.list().len(), 1);
            list.field_is("/0/AccessorID", accessor);
            for filter in [
                "policy=p1",
                "role=x",
                "authmethod=none",
                &format!("policy={NOBODY}&role="),
            ] {
                get(t, &format!("tokens?{filter}")).is(200, "[]");
            }
            get(t, "tokens?policy=x&role=y").is(
                500,
                "can only filter by one of policy, role, or methodName at a time",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/tokens/wakes",
        claim: "A blocking read of one token wakes with that token and with no other, and the list with any",
        source: "acl.md 10.3",
        run: |t| {
            t.not_compared("two reads are answered at once");
            ready(t);
            let (accessor, _) = token(t, &json!({}));
            let (other, _) = token(t, &json!({}));
            let index = get(t, &format!("token/{accessor}")).index();
            let wait = |path: &str| {
                let path = format!("/v1/acl/{path}?index={index}&wait=60s");
                t.start(&Request::get(&path).header("X-Consul-Token", ROOT))
            };
            let (one, list) = (wait(&format!("token/{accessor}")), wait("tokens"));
            t.still_blocked(&one);
            put(t, &format!("token/{other}"), r#"{"Description":"x"}"#).status_is(200);
            list.answer().status_is(200);
            t.still_blocked(&one);
            put(t, &format!("token/{accessor}"), r#"{"Description":"x"}"#).status_is(200);
            one.answer().field_is("/Description", "x");
        },
        ..BASE
    },
];
