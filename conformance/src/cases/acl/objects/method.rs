//! Auth methods and binding rules, as they are kept and shown (acl.md 8.4).

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{
    BASE, NO_UUID, NOBODY, ROOT, delete, get, put, ready, refuses, text, with,
};
use crate::wire::Request;

/// A key of nobody's, against which logins would be checked.
const KEY: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvJYgVdZvi/pzPTCCJmhCLpfByyzd\nD4Pcbp9O65BGCOkS2dj8BuNlmyV/LIe2QBtFkgNzLYSFhMSZoYg2cHdsnw==\n-----END PUBLIC KEY-----";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/auth-method/kept",
        claim: "An auth method is kept and shown, in lists without its settings, and found in any case",
        source: "acl.md 8.4.r1",
        run: |t| {
            ready(t);
            let body = json!({"Name": "m", "DisplayName": "dn", "Description": "de", "MaxTokenTTL": "5m", "TokenLocality": "local",
                "Type": "jwt", "Config": {"JWTValidationPubKeys": [KEY], "BoundIssuer": "x"}});
            let made = put(t, "auth-method", &body.to_string())
                .status_is(200)
                .field_is("/MaxTokenTTL", "5m0s")
                .field_is("/Config/BoundIssuer", "x");
            t.same("the method", get(t, "auth-method/M").json(), made.json());
            let list = get(t, "auth-methods").status_is(200).list();
            t.same("the methods", list.len(), 1);
            t.check(list[0].get("Config").is_none(), "a list has settings");
        },
        ..BASE
    },
    Case {
        id: "acl/auth-method/keeps-its-type",
        claim: "An auth method keeps its type if none is sent, and needs what the type needs",
        source: "acl.md 8.4.r1",
        run: |t| {
            ready(t);
            method(t, "m");
            let which = "exactly one of 'JWTValidationPubKeys', 'JWKSURL', or 'OIDCDiscoveryURL' must be set for type \"jwt\"";
            put(t, "auth-method/m", r#"{"Description":"x"}"#)
                .is(500, &format!("Invalid Auth Method: {which}"));
            let body = json!({"Config": {"JWTValidationPubKeys": [KEY]}});
            put(t, "auth-method/m", &body.to_string()).field_is("/Type", "jwt");
            put(t, "auth-method/m", r#"{"Type":"kubernetes"}"#)
                .is(500, "the Type field of an Auth Method is immutable");
        },
        ..BASE
    },
    Case {
        id: "acl/auth-method/refused",
        claim: "An auth method needs a name, a type, and what the type needs",
        source: "acl.md 8.4.r1",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            method(t, "m");
            let which = "exactly one of 'JWTValidationPubKeys', 'JWKSURL', or 'OIDCDiscoveryURL' must be set for type \"jwt\"";
            let types = "Invalid Auth Method: Type should be one of: [jwt kubernetes]";
            refuses(
                t,
                "auth-method",
                500,
                &[
                    ("{}", "Invalid Auth Method: no Name is set"),
                    (r#"{"Name":"n"}"#, types),
                    (r#"{"Name":"n","Type":"x"}"#, types),
                    (
                        r#"{"Name":"a b","Type":"jwt"}"#,
                        "Invalid Auth Method: invalid Name. Only alphanumeric characters, '-' and '_' are allowed",
                    ),
                    (
                        r#"{"Name":"n","Type":"jwt"}"#,
                        &format!("Invalid Auth Method: {which}"),
                    ),
                    (
                        r#"{"Name":"n","Type":"kubernetes"}"#,
                        "Invalid Auth Method: Config.Host is required",
                    ),
                    (
                        r#"{"Name":"m","Type":"kubernetes"}"#,
                        "the Type field of an Auth Method is immutable",
                    ),
                ],
            );
            put(t, "auth-method/m", r#"{"Name":"n"}"#).is(
                400,
                "Bad request: AuthMethod Name in URL and payload do not match",
            );
            get(t, "auth-method/none").is(404, "");
            get(t, "auth-method/").is(400, "Bad request: Missing auth method name");
        },
        ..BASE
    },
    Case {
        id: "acl/binding-rule/kept",
        claim: "A binding rule is kept and shown, keeps its auth method, and goes with it",
        source: "acl.md 8.4.r1, 8.4.r2",
        run: |t| {
            ready(t);
            method(t, "m");
            let body =
                json!({"AuthMethod": "m", "BindType": "role", "BindName": "r", "Description": "d"});
            let made = put(t, "binding-rule", &body.to_string())
                .status_is(200)
                .field_is("/Selector", "")
                .field_is("/Description", "d");
            let path = format!("binding-rule/{}", text(&made, "/ID"));
            t.same("the rule", get(t, &path).json(), made.json());
            put(t, &path, r#"{"BindType":"service","BindName":"s"}"#)
                .field_is("/AuthMethod", "m")
                .field_is("/Description", "");
            get(t, "binding-rules?authmethod=none").is(200, "[]");
            t.same(
                "the rules",
                get(t, "binding-rules?authmethod=m").list().len(),
                1,
            );
            delete(t, "auth-method/m").is(200, "true");
            get(t, "binding-rules").is(200, "[]");
        },
        ..BASE
    },
    Case {
        id: "acl/binding-rule/unknown-type-since-1-22",
        claim: "An unknown type of a binding rule is refused as its name would be",
        source: "acl.md 8.4.r2",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            method(t, "m");
            let body = r#"{"AuthMethod":"m","BindType":"x","BindName":"a"}"#;
            let words =
                "invalid BindName or BindVars: invalid Binding Rule: unknown BindType \"x\"";
            put(t, "binding-rule", body).says(500, words);
        },
        ..BASE
    },
    Case {
        id: "acl/binding-rule/refused",
        claim: "A binding rule needs an auth method that there is, a type and a name",
        source: "acl.md 8.4.r2",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            method(t, "m");
            let invalid = |words: &str| format!("Invalid Binding Rule: {words}");
            refuses(
                t,
                "binding-rule",
                500,
                &[
                    ("{}", &invalid("no AuthMethod is set")),
                    (
                        r#"{"AuthMethod":"none"}"#,
                        "cannot find auth method with name \"none\"",
                    ),
                    (r#"{"AuthMethod":"m"}"#, &invalid("no BindType is set")),
                    (
                        r#"{"AuthMethod":"m","BindType":"x"}"#,
                        &invalid("no BindName is set"),
                    ),
                    (
                        r#"{"AuthMethod":"m","BindType":"x","BindName":"a"}"#,
                        &invalid("unknown BindType \"x\""),
                    ),
                    (
                        r#"{"AuthMethod":"m","BindType":"role","BindName":"a b"}"#,
                        &invalid("invalid BindName"),
                    ),
                ],
            );
            let body = r#"{"AuthMethod":"m","BindType":"role","BindName":"r"}"#;
            put(t, "binding-rule/nope", body).is(500, "Binding Rule ID invalid UUID");
            put(t, &format!("binding-rule/{NOBODY}"), body)
                .is(500, &format!("cannot find binding rule {NOBODY}"));
            get(t, "binding-rule/nope")
                .is(500, &format!("failed acl binding rule lookup: {NO_UUID}"));
            get(t, &format!("binding-rule/{NOBODY}")).is(404, "");
            get(t, "binding-rule/").is(400, "Bad request: Missing binding rule ID");
        },
        ..BASE
    },
    Case {
        id: "acl/login/refused",
        claim: "A login needs no token, but a body and an auth method that there is; a logout needs a token that a login made",
        source: "acl.md 8.4.r3, 8.4.r4, 8.4.r6, 2.6",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            method(t, "m");
            let login = |body: &str| {
                let request = Request::new("POST", "/v1/acl/login").body(body);
                with(t, "unknown", &request)
            };
            let decode =
                |words: &str| format!("Bad request: Failed to decode request body: {words}");
            login("").is(400, &decode("EOF"));
            login(r#"{"Foo":1}"#).is(400, &decode("json: unknown field \"Foo\""));
            login("null").is(500, "Invalid Login request: Missing auth parameters");
            login("{}").is(403, "ACL not found");
            login(r#"{"AuthMethod":"none","BearerToken":"x"}"#).is(403, "ACL not found");
            login(r#"{"AuthMethod":"M"}"#).is(500, "missing jwt");
            let logout = |token: &str| with(t, token, &Request::new("POST", "/v1/acl/logout"));
            logout("").is(403, "ACL not found");
            logout("unknown").is(403, "ACL not found");
            logout(ROOT).is(403, "Permission denied");
            logout("anonymous").is(403, "Permission denied");
        },
        ..BASE
    },
    Case {
        id: "acl/agent-token/names",
        claim: "The agent's tokens are set by their names, and a default one acts on the next request",
        source: "acl.md 11.1, 11.2, 7.r16",
        run: |t| {
            ready(t);
            let set = |name: &str, token: &str| {
                let body = json!({ "Token": token }).to_string();
                let request = Request::put(&format!("/v1/agent/token/{name}"), body);
                with(t, ROOT, &request)
            };
            set("bogus", "x").is(404, "Token \"bogus\" is unknown");
            set("acl_agent_token", "x").is(200, "");
            t.api_put("/v1/agent/token/bogus", "{}")
                .says(403, "Permission denied");
            set("default", ROOT).is(200, "");
            t.api_get("/v1/acl/tokens").status_is(200);
            set("default", "").is(200, "");
            t.api_get("/v1/acl/tokens").says(403, "Permission denied");
        },
        ..BASE
    },
];

/// Creates an auth method.
fn method(t: &Trial, name: &str) {
    let body = json!({"Name": name, "Type": "jwt", "Config": {"JWTValidationPubKeys": [KEY]}});
    put(t, "auth-method", &body.to_string()).status_is(200);
}
