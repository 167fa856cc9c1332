//! Logins with JSON Web Tokens of static keys (acl.md 8.4).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::acl::{BASE, get, put, ready, text, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The key whose tokens follow: of the issuer `y` for `a`, with the name `web` and the groups `x` and `y`.
const KEY: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEzS7FTudPV4s852gmw7nihFd5KKG9\nW3ITR9aOsUWTcJLoVJMvje4auoRJrGvgeSDSr6nejY1mWQApji69kbQaMw==\n-----END PUBLIC KEY-----\n";

/// Valid until the year 2100.
const VALID: &str = "eyJhbGciOiAiRVMyNTYiLCAidHlwIjogIkpXVCJ9.eyJhdWQiOiAiYSIsICJpc3MiOiAieSIsICJzdWIiOiAicyIsICJuYW1lIjogIndlYiIsICJncm91cHMiOiBbIngiLCAieSJdLCAibmJmIjogMTYwMDAwMDAwMCwgImlhdCI6IDE2MDAwMDAwMDAsICJleHAiOiA0MTAyNDQ0ODAwfQ.bNrPio0uuC2Faz87hUYheI86K4jJ3r0NoJKSSvcQujgz_qJjBR_DSY-P-_r4bJAEPCzcTDR3kdGMYFPUDROVsA";

/// Was valid in 2020.
const OVER: &str = "eyJhbGciOiAiRVMyNTYiLCAidHlwIjogIkpXVCJ9.eyJhdWQiOiAiYSIsICJpc3MiOiAieSIsICJzdWIiOiAicyIsICJuYW1lIjogIndlYiIsICJncm91cHMiOiBbIngiLCAieSJdLCAibmJmIjogMTYwMDAwMDAwMCwgImlhdCI6IDE2MDAwMDAwMDAsICJleHAiOiAxNjAwMDAwMTAwfQ.cPFCQ_wt5EWbbRB7lgyEAR1PvqnY3DzIfJIeH_t-IqZd4swQFA0vLs2Sf6p0jhuG7I_mYmE0d9GYFnfrd8NjLA";

/// Signed by another key.
const FOREIGN: &str = "eyJhbGciOiAiRVMzODQiLCAidHlwIjogIkpXVCJ9.eyJhdWQiOiAiYSIsICJpc3MiOiAieSIsICJzdWIiOiAicyIsICJuYW1lIjogIndlYiIsICJncm91cHMiOiBbIngiLCAieSJdLCAibmJmIjogMTYwMDAwMDAwMCwgImlhdCI6IDE2MDAwMDAwMDAsICJleHAiOiA0MTAyNDQ0ODAwfQ.2eRHWIfgmo2AQuCteo7bn8exntVbb2a-av4Zzwty5UnbROhK8fGdCxbTh05rllteBvK46TVmIQTtVz8IjKcKbgsZXaUpFCMDAlLl3BdzRbc2rXiabQmreWaz58xmyLaI";

/// The key whose tokens follow: they name something twice, or in two cases, and are valid until 2100.
const OTHER_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEIIo3Z29KkSibvA1I4DeoPYbm4eLU\nxkIaWGXAhQIyiT4s86Lg1V4cPNqICVX8fdOGtFvj19aE/cg03RWPsM2aAw==\n-----END PUBLIC KEY-----\n";

/// Has the claim `name` twice.
const TWICE: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE2MDAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMCwibmFtZSI6IndlYiIsIm5hbWUiOiJ3ZWIifQ.PqpzGrhrEl3JPjG08YewLE3tssm-6De5r_Kbv8WW7YFWwJEQj-XZH3NHMKJ3AW7P3s7nCefuVsG_jum0e3wxeA";

/// Has a name twice in an object within a claim.
const TWICE_WITHIN: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE2MDAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMCwibmFtZSI6IndlYiIsImRlZXAiOlt7ImEiOjEsImEiOjJ9XX0.sx3uvz5lP2AaR9G1SNZEH9IVKhHTtvhsj1YYYMqFjfv8Zxt3PwOPMkqGRk58tP4Ra4Wb1MBu-qd-wkiveNvyJA";

/// Has the claims `name` and `Name`.
const IN_TWO_CASES: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE2MDAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMCwibmFtZSI6IndlYiIsIk5hbWUiOiJkYiJ9.uElahdIo1U7kC2AjAalgNqQqx1JLfOGu985K2LaBXGVYbsyCvF5cTDafD1q8nHivnf4DeMybXOIUAVXTOhW5CA";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "acl/login/granted",
        claim: "A login with a JWT makes a token of the rules that choose its claims, which a logout deletes",
        source: "acl.md 8.4.r3, 8.4.r4, 8.4.r8",
        run: |t| {
            ready(t);
            method(t, &json!({}));
            put(t, "role", r#"{"Name":"Rw"}"#).status_is(200);
            rule(t, "value.name==web", "service", "x-${value.name}").status_is(200);
            rule(t, "\"y\" in list.groups", "role", "rw").status_is(200);
            rule(t, "value.name==db", "service", "db").status_is(200);
            rule(t, "", "role", "missing").status_is(200);
            let made = login(t, VALID, &json!({"b": "<", "a": "1"})).status_is(200);
            t.same(
                "the description",
                text(&made, "/Description"),
                r#"token created via login: {"a":"1","b":"\u003c"}"#.to_owned(),
            );
            let secret = text(&made, "/SecretID");
            made.field_is("/AuthMethod", "m")
                .field_is("/ServiceIdentities/0/ServiceName", "x-web")
                .field_is("/Roles/0/Name", "Rw")
                .field_is("/Local", true);
            let of_method = |name: &str| {
                let listed = get(t, &format!("tokens?authmethod={name}"));
                listed.list().len()
            };
            t.same("tokens of the method", of_method("m"), 1);
            t.same("tokens of another spelling", of_method("M"), 0);
            let logout = Request::new("POST", "/v1/acl/logout");
            with(t, &secret, &logout).is(200, "true");
            with(t, &secret, &logout).status_is(403);
        },
        until: Some(Version::V1_9),
        ..BASE
    },
    Case {
        id: "acl/login/invalid-tokens",
        claim: "A login is refused for a bad signature, time, issuer or audience, and where no rule chooses it",
        source: "acl.md 8.4.r3, 8.4.r7",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            method(t, &json!({}));
            let refused = |token: &str, words: &str| login(t, token, &Value::Null).is(500, words);
            login(t, VALID, &Value::Null).is(403, "Permission denied");
            let parsing = "error parsing token: ";
            let parts = "square/go-jose: compact JWS format must have three parts";
            refused("x", &format!("{parsing}{parts}"));
            let illegal = "illegal base64 data at input byte 3";
            refused("abc!.e30.e30", &format!("{parsing}{illegal}"));
            let header = "json: cannot unmarshal array into Go value of type jose.rawHeader";
            refused("W10.e30.e30", &format!("{parsing}{header}"));
            let unknown = "no known key successfully validated the token signature";
            refused("e30.e30.e30", unknown);
            refused(FOREIGN, unknown);
            let invalid = |words: &str| format!("error validating claims: {words}");
            let jose =
                |words: &str| invalid(&format!("square/go-jose/jwt: validation failed, {words}"));
            refused(OVER, &jose("token is expired (exp)"));
            method(t, &json!({"BoundIssuer": "z"}));
            refused(VALID, &jose("invalid issuer claim (iss)"));
            method(t, &json!({"BoundAudiences": ["b"]}));
            refused(
                VALID,
                &invalid("aud claim does not match any bound audience"),
            );
            method(t, &json!({"BoundAudiences": []}));
            let unbound = "audience claim found in JWT but no audiences are bound";
            refused(VALID, &invalid(unbound));
        },
        ..BASE
    },
    Case {
        id: "acl/login/mappings",
        claim: "Claims become values and lists by their names or paths; one that is missing is an empty value",
        source: "acl.md 8.4.r8",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let values = json!({"/groups/1": "second", "exp": "until", "nope": "missing"});
            method(t, &json!({"ClaimMappings": values}));
            rule(t, "", "service", "${ value.second }-${value.until}").status_is(200);
            login(t, VALID, &Value::Null)
                .field_is("/ServiceIdentities/0/ServiceName", "y-4102444800");
            rule(t, "value.missing!=x", "service", "x-${value.missing}").status_is(200);
            let invalid = "computed \"service\" bind name for bind target is invalid: \"x-\"";
            login(t, VALID, &Value::Null).is(500, invalid);
            method(t, &json!({"ClaimMappings": {"groups": "name"}}));
            let kind = "error converting claim 'groups' to string from unknown type []interface {}";
            login(t, VALID, &Value::Null).is(500, kind);
        },
        ..BASE
    },
    Case {
        id: "acl/login/a-name-twice",
        claim: "A token is refused whose claims, or an object within them, name something twice; names in two cases are two",
        source: "acl.md 8.4.r7",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let key = json!({"JWTValidationPubKeys": [OTHER_KEY], "BoundAudiences": [], "BoundIssuer": ""});
            method(t, &key);
            rule(t, "", "service", "x-${value.name}").status_is(200);
            let unknown = "no known key successfully validated the token signature";
            for token in [TWICE, TWICE_WITHIN] {
                login(t, token, &Value::Null).is(500, unknown);
            }
            login(t, IN_TWO_CASES, &Value::Null)
                .field_is("/ServiceIdentities/0/ServiceName", "x-web");
        },
        ..BASE
    },
    Case {
        id: "acl/login/keys",
        claim: "A key is what the first block of PEM has, whatever its label; curves and kinds that tokens are not signed with are refused",
        source: "acl.md 8.4.r10",
        run: |t| {
            t.not_compared("the words about DER are Go's");
            ready(t);
            let block = |label: &str, der: &str| {
                format!("text\n-----BEGIN {label}-----\n{der}\n-----END {label}-----\n")
            };
            let key = "MCowBQYDK2VwAyEATbJBRzEV2lBjffimJgSjXhrKh0udAa6ZpM21W//w/VA=";
            for label in ["PUBLIC KEY", "CERTIFICATE", "FOO"] {
                method(t, &json!({"JWTValidationPubKeys": [block(label, key)]}));
            }
            let refused = "Invalid Auth Method: error parsing public key JWTValidationPubKeys[0]: ";
            for der in [
                "MAA=",
                // A key for X25519.
                "MCowBQYDK2VuAyEATbJBRzEV2lBjffimJgSjXhrKh0udAa6ZpM21W//w/VA=",
                // One byte less than it says.
                "MCowBQYDK2VwAyEATbJBRzEV2lBjffimJgSjXhrKh0udAa6ZpM21W//w/Q==",
                // The key of a curve, compressed.
                "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACIIo3Z29KkSibvA1I4DeoPYbm4eLUxkIaWGXAhQIyiT4=",
            ] {
                let first = format!("{}{}", block("PUBLIC KEY", der), block("PUBLIC KEY", key));
                write(t, &json!({"JWTValidationPubKeys": [first]})).says(500, refused);
            }
        },
        ..BASE
    },
    Case {
        id: "acl/login/invalid-tokens-since-1-22",
        claim: "A token of another form is refused in the words of the library of later releases",
        source: "acl.md 8.4.r7",
        since: Version::V1_22,
        run: |t| {
            ready(t);
            method(t, &json!({}));
            login(t, "x", &Value::Null).says(500, "error parsing token: go-jose/go-jose: ");
        },
        ..BASE
    },
    Case {
        id: "acl/login/settings-refused",
        claim: "The settings of a method and the rules for it are checked when they are written",
        source: "acl.md 8.4.r9",
        until: Some(Version::V1_9),
        run: |t| {
            ready(t);
            let refused = |config: &Value, words: &str| {
                write(t, config).is(500, &format!("Invalid Auth Method: {words}"));
            };
            let key = "error parsing public key JWTValidationPubKeys[0]: data does not contain any valid RSA, ECDSA, or ED25519 public keys";
            refused(&json!({"JWTValidationPubKeys": ["x"]}), key);
            let algorithm = "Invalid supported algorithm: HS256";
            refused(&json!({"JWTSupportedAlgs": ["HS256"]}), algorithm);
            let twice = "ClaimMappings contains multiple mappings for key \"n\"";
            refused(&json!({"ClaimMappings": {"a": "n", "b": "n"}}), twice);
            let decoding = "error decoding config: 1 error(s) decoding:\n\n* ";
            let unknown = format!("{decoding}'' has invalid keys: Foo");
            refused(&json!({"Foo": 1}), &unknown);
            let leeway = "cannot parse 'ClockSkewLeeway' as int: strconv.ParseInt: parsing \"10m\": invalid syntax";
            let leeway = format!("{decoding}{leeway}");
            refused(&json!({"ClockSkewLeeway": "10m"}), &leeway);
            method(t, &json!({}));
            let selector =
                "invalid Binding Rule: Selector is invalid: Selector \"name\" is not valid";
            rule(t, "name==web", "", "").is(500, selector);
            for (name, words) in [
                ("Web", ""),
                (
                    "${value.nope}",
                    ": 1:3: unknown variable accessed: value.nope",
                ),
                ("a${", ": parse error: syntax error"),
                ("$${value.name}", ""),
            ] {
                let words = format!("Invalid Binding Rule: invalid BindName{words}");
                rule(t, "", "service", name).is(500, &words);
            }
            rule(t, "", "node", "n-${value.name}").status_is(200);
            login(t, VALID, &Value::Null)
                .field_is("/NodeIdentities/0/NodeName", "n-web")
                .field_is("/NodeIdentities/0/Datacenter", "dc1");
        },
        ..BASE
    },
    Case {
        id: "acl/login/logout-without-a-token",
        claim: "A logout without a token asks no datacenter; with one it does before it looks at it",
        source: "acl.md 8.4.r6",
        run: |t| {
            ready(t);
            let logout = Request::new("POST", "/v1/acl/logout?dc=nowhere");
            t.send(&logout).status_is_one_of(&[401, 403]);
            with(t, "unknown", &logout).says(500, "No path to datacenter");
        },
        ..BASE
    },
];

/// Writes the auth method `m`, with more settings.
fn write(t: &Trial, more: &Value) -> Answer {
    let mut config = json!({"JWTValidationPubKeys": [KEY], "BoundAudiences": ["b", "a"], "BoundIssuer": "y",
        "ClaimMappings": {"name": "name"}, "ListClaimMappings": {"groups": "groups"}});
    for (name, value) in more.as_object().into_iter().flatten() {
        config[name] = value.clone();
    }
    let body = json!({"Name": "m", "Type": "jwt", "Config": config});
    put(t, "auth-method", &body.to_string())
}

fn method(t: &Trial, more: &Value) {
    write(t, more).status_is(200);
}

fn rule(t: &Trial, selector: &str, kind: &str, name: &str) -> Answer {
    let body = json!({"AuthMethod": "m", "Selector": selector, "BindType": kind, "BindName": name});
    put(t, "binding-rule", &body.to_string())
}

fn login(t: &Trial, token: &str, meta: &Value) -> Answer {
    let body = json!({"AuthMethod": "M", "BearerToken": token, "Meta": meta});
    t.send(&Request::new("POST", "/v1/acl/login").body(body.to_string()))
}
