//! What a server has from its start, and the first token (acl.md 3).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{GLOBAL, SETTINGS, get, ready, text, with};
use crate::wire::Request;

/// A server on which nobody has a token.
const NOT_BOOTSTRAPPED: &str = r#"{"acl": {"enabled": true, "default_policy": "deny"}}"#;

/// A case on a server that was never bootstrapped.
const BASE: Case = Case {
    needs: &[Feature::AclPolicies],
    settings: NOT_BOOTSTRAPPED,
    ..Case::SHOULD
};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/bootstrap/once",
        claim: "The first bootstrap makes a token that allows everything, whatever token it is asked with",
        source: "acl.md 3.1.r1, 3.1.r3, 13.r4",
        run: |t| {
            let made = bootstrapped(t);
            let (id, secret) = (text(&made, "/ID"), text(&made, "/SecretID"));
            t.same("ID", id, secret.clone());
            made.field_is("/Description", "Bootstrap Token (Global Management)")
                .field_is(
                    "/Policies",
                    json!([{"ID": GLOBAL, "Name": "global-management"}]),
                )
                .field_is("/Local", false);
            with(t, &secret, &Request::get("/v1/acl/tokens")).status_is(200);
        },
        ..BASE
    },
    Case {
        id: "acl/bootstrap/hash-is-of-the-old-kind",
        claim: "The Hash of the first token counts it as a management token of the old system",
        source: "acl.md 5",
        until: Some(Version::V1_11),
        run: |t| {
            bootstrapped(t).field_is("/Hash", "oyrov6+GFLjo/KZAfqgxF/X4J/3LX0435DOBy9V22I0=");
        },
        ..BASE
    },
    Case {
        id: "acl/bootstrap/twice",
        claim: "A second bootstrap is refused with the index of the first token, also when that is gone",
        source: "acl.md 3.1.r2",
        run: |t| {
            let made = bootstrapped(t).json()["CreateIndex"].clone();
            let words =
                format!("Permission denied: ACL bootstrap no longer allowed (reset index: {made})");
            t.api_put("/v1/acl/bootstrap", "").is(403, &words);
            t.api_put("/v1/acl/bootstrap?dc=x&ns=x", "").is(403, &words);
        },
        ..BASE
    },
    Case {
        id: "acl/bootstrap/not-with-a-configured-token",
        claim: "A server with a configured management token takes no bootstrap",
        source: "acl.md 3.1.r2, 1.8",
        settings: SETTINGS,
        run: |t| {
            ready(t);
            let index = get(t, "token/self").json()["CreateIndex"].clone();
            t.api_put("/v1/acl/bootstrap", "").is(
                403,
                &format!(
                    "Permission denied: ACL bootstrap no longer allowed (reset index: {index})"
                ),
            );
        },
        ..BASE
    },
    Case {
        id: "acl/start/configured-token",
        claim: "The configured management token is an ordinary token with the builtin policy",
        source: "acl.md 3.r5, 1.8, 1.3, 13.r1",
        until: Some(Version::V1_11),
        settings: SETTINGS,
        run: |t| {
            ready(t);
            get(t, "token/self")
                .field_is("/Description", "Master Token")
                .field_is("/Hash", "4H7ICbDZ4j6AdxBPps0g3c8dGOg5QUg7BfxngwA4i+c=")
                .field_is("/Policies/0/ID", GLOBAL);
        },
        ..BASE
    },
    Case {
        id: "acl/start/tables",
        claim: "An idle server with a configured token has one policy, tokens a little later, and nothing else",
        source: "acl.md 3.r6, 3.r4, 10.2, 3.r2",
        until: Some(Version::V1_11),
        settings: SETTINGS,
        run: |t| {
            ready(t);
            for path in ["roles", "binding-rules", "auth-methods"] {
                get(t, path).is(200, "[]").header_is("X-Consul-Index", "1");
            }
            // The policy has index 4 and the tokens 6, or each one more: the server may write something of its own between.
            let policies = get(t, "policies").status_is(200);
            t.same("policies", policies.list().len(), 1);
            let tokens = get(t, "tokens").status_is(200);
            t.same("tokens", tokens.list().len(), 2);
            let anonymous = get(t, "token/00000000-0000-0000-0000-000000000002")
                .field_is("/SecretID", "anonymous")
                .field_is("/Description", "Anonymous Token");
            // Rarely it was there before the policy, in the form of before 1.4, and written again.
            if anonymous.json()["CreateIndex"].as_u64() < Some(policies.index()) {
                anonymous.field_is("/Hash", "f1vc9iHr1UyeDCj1ftbKgYBVLuKMeu1V1Y6GgYjj9VU=");
            } else {
                t.grew("the index", policies.index(), tokens.index());
                t.check(tokens.index() <= 8, "the tokens have a late index");
                anonymous.field_is("/Hash", "RNVFSWnfd5DUOuB8vplp+imivlIna3fKQVnkUHh21cA=");
            }
            get(t, &format!("policy/{GLOBAL}"))
                .field_is("/Hash", "swIQt6up+s0cV4kePfJ2aRdKCLaQyykF4Hl1Nfdeumk=");
        },
        ..BASE
    },
    Case {
        id: "acl/start/tables-since-1-22",
        claim: "An idle server with a configured token has two policies at index 5 and tokens at 7",
        source: "acl.md 3.r6, 3.r3, 3.r5",
        since: Version::V1_22,
        settings: SETTINGS,
        run: |t| {
            ready(t);
            get(t, "policies").header_is("X-Consul-Index", "5");
            get(t, "tokens").header_is("X-Consul-Index", "7");
            get(t, "policy/name/builtin%2Fglobal-read-only").field_is(
                "/Description",
                "A built-in policy that grants read-only access to all Consul features",
            );
            get(t, "token/self").field_is("/Description", "Initial Management Token");
        },
        ..BASE
    },
    Case {
        id: "acl/replication/status",
        claim: "acl/replication needs no token, and says that nothing is replicated",
        source: "acl.md 8.5.r1",
        run: |t| {
            ready_for_bootstrap(t);
            t.api_get("/v1/acl/replication?token=unknown")
                .field_is("/Enabled", false)
                .field_is("/LastSuccess", "0001-01-01T00:00:00Z")
                .has_no_header("X-Consul-Index");
            t.api_get("/v1/acl/replication?dc=x")
                .is(500, "No path to datacenter");
        },
        ..BASE
    },
];

/// Waits until a young server knows its ACLs.
fn ready_for_bootstrap(t: &Trial) {
    t.eventually(
        "there is a leader",
        std::time::Duration::from_secs(10),
        || {
            let leader = t.api_get("/v1/status/leader").text();
            (leader.len() > 2).then_some(())
        },
    );
}

/// Makes the first token.
fn bootstrapped(t: &Trial) -> crate::wire::answer::Answer {
    ready_for_bootstrap(t);
    t.api_put("/v1/acl/bootstrap?token=unknown", "")
        .status_is(200)
}
