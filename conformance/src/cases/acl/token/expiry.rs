//! Tokens that expire (acl.md 5.30).

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, ROOT, get, put, ready, refuses, text, token, with};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/expiry/ttl",
        claim: "A lifetime of a minute or more, as a text or in nanoseconds, becomes an ExpirationTime and is not echoed",
        source: "acl.md 5.30.r1, 5.30.r2",
        run: |t| {
            ready(t);
            for body in [
                r#"{"ExpirationTTL":"1m"}"#,
                r#"{"ExpirationTTL":60000000000}"#,
            ] {
                let made = put(t, "token", body)
                    .status_is(200)
                    .has_no_header("X-Consul-Index");
                let json = made.json();
                t.check(
                    json.get("ExpirationTTL").is_none(),
                    "the lifetime is echoed",
                );
                t.check(
                    text(&made, "/ExpirationTime") > text(&made, "/CreateTime"),
                    "it ends before it begins",
                );
            }
            let none = put(t, "token", r#"{"ExpirationTTL":true}"#).status_is(200);
            t.check(none.json().get("ExpirationTime").is_none(), "it expires");
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/refused",
        claim: "Lifetimes that are too short, negative, past or given twice are refused",
        source: "acl.md 5.30.r2",
        run: |t| {
            ready(t);
            refuses(
                t,
                "token",
                500,
                &[
                    (
                        r#"{"ExpirationTTL":"59s"}"#,
                        "ExpirationTime cannot be less than 1m0s in the future (was 59s)",
                    ),
                    (
                        r#"{"ExpirationTTL":1.5}"#,
                        "ExpirationTime cannot be less than 1m0s in the future (was 1ns)",
                    ),
                    (
                        r#"{"ExpirationTTL":"-1s","ExpirationTime":"2100-01-01T00:00:00Z"}"#,
                        "Token Expiration TTL '-1s' should be > 0",
                    ),
                    (
                        r#"{"ExpirationTTL":"1s","ExpirationTime":"2100-01-01T00:00:00Z"}"#,
                        "Token Expiration TTL and Expiration Time cannot both be set",
                    ),
                    (
                        r#"{"ExpirationTime":"2020-01-01T00:00:00Z"}"#,
                        "ExpirationTime cannot be before CreateTime",
                    ),
                    (
                        r#"{"ExpirationTTL":"1s","Policies":[{}]}"#,
                        "ExpirationTime cannot be less than 1m0s in the future (was 1s)",
                    ),
                ],
            );
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/a-day-at-most",
        claim: "A lifetime is a day at most",
        source: "acl.md 5.30.r3, 13.r13",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            put(t, "token", r#"{"ExpirationTTL":"24h"}"#).status_is(200);
            put(t, "token", r#"{"ExpirationTTL":"25h"}"#).is(
                500,
                "ExpirationTime cannot be more than 24h0m0s in the future (was 25h0m0s)",
            );
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/any-length-since-1-22",
        claim: "A lifetime may be of any length, beyond the end of 64 bits of nanoseconds, too",
        source: "acl.md 5.30.r3, 13.r13",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            put(t, "token", r#"{"ExpirationTTL":"25h"}"#).status_is(200);
            put(t, "token", r#"{"ExpirationTTL":"2562047h"}"#).status_is(200);
            put(t, "token", r#"{"ExpirationTime":"2500-01-01T00:00:00Z"}"#)
                .field_is("/ExpirationTime", "2500-01-01T00:00:00Z");
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/end",
        claim: "From its ExpirationTime on a token is unknown and not listed; a moment later it is gone, and watchers wake",
        source: "acl.md 5.30.r5, 5.30.r6, 2.5",
        needs: &[Feature::AclPolicies, Feature::MovableClock],
        run: |t| {
            ready(t);
            let (accessor, secret) = token(t, &json!({"ExpirationTTL": "1m"}));
            let own = Request::get("/v1/acl/token/self");
            with(t, &secret, &own).status_is(200);
            let tokens = get(t, "tokens");
            let list = format!("/v1/acl/tokens?index={}&wait=10m", tokens.index());
            let list = Request::get(&list).header("X-Consul-Token", ROOT);
            let list = t.start(&list);
            t.still_blocked(&list);
            t.pass(Duration::from_secs(62));
            let after = list.answer().status_is(200);
            t.same("the tokens", after.list().len(), tokens.list().len() - 1);
            with(t, &secret, &own).says(403, "ACL not found");
            get(t, &format!("token/{accessor}")).says(403, "ACL not found");
            put(t, &format!("token/{accessor}"), "{}")
                .is(500, &format!("Cannot find token \"{accessor}\""));
            token(t, &json!({ "AccessorID": accessor }));
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/late-clones",
        claim: "A token with less than a minute to live cannot be cloned",
        source: "acl.md 5.30.r4, trap 10",
        needs: &[Feature::AclPolicies, Feature::MovableClock],
        run: |t| {
            ready(t);
            let (accessor, _) = token(t, &json!({"ExpirationTTL": "90s"}));
            let path = format!("token/{accessor}/clone");
            put(t, &path, "{}").status_is(200);
            t.pass(Duration::from_secs(40));
            put(t, &path, "{}").says(500, "ExpirationTime cannot be less than 1m0s in the future");
        },
        ..BASE
    },
    Case {
        id: "acl/expiry/parsed-as-by-go-in-1-8",
        claim: "An ExpirationTime is read with its quotes, as it is written; what is behind a bad year or zone is told",
        source: "acl.md 5.5, 5.30.r1",
        until: Some(Version::V1_22),
        run: |t| {
            ready(t);
            for (time, rest, element) in [
                (r"\u00e9", r#"\u00e9""#, "2006"),
                ("127.0.0.1", r#"0.0.1""#, "2006"),
                ("2020-01-01T0a:00:00Z", r#"a:00:00Z""#, ":"),
                ("2020-01-01T00:00:00", r#"""#, "Z07:00"),
                ("2020-01-01T00:00:00+0a:00", r#"""#, "Z07:00"),
                ("2020-01-01T00:00:00Zx", r#"x""#, r#"""#),
            ] {
                let text = format!(
                    r#"parsing time ""{time}"" as ""2006-01-02T15:04:05Z07:00"": cannot parse "{rest}" as "{element}""#
                );
                put(t, "token", &format!(r#"{{"ExpirationTime":"{time}"}}"#))
                    .is(400, &format!("Bad request: Token decoding failed: {text}"));
            }
            put(
                t,
                "token",
                r#"{"ExpirationTime":"2020-01-01T0:00:00+25:00"}"#,
            )
            .is(500, "ExpirationTime cannot be before CreateTime");
        },
        ..BASE
    },
];
