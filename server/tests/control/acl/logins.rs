//! Logins with JSON Web Tokens: keys, and the times of tokens on the server's clock.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proconsul::Server;
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::{Value, json};

use crate::acl::tokens::{BOTH, started};
use crate::over_http::face::parsed;
use crate::support::{Answer, ask, get, put};

/// Returns a token that a key has signed.
pub(super) fn signed(key: &KeyPair, claims: &Value) -> String {
    let encoded = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let header = encoded(br#"{"alg":"EdDSA"}"#);
    let message = format!("{header}.{}", encoded(claims.to_string().as_bytes()));
    let signature = key.sign(message.as_bytes()).expect("the key signs");
    format!("{message}.{}", encoded(&signature))
}

pub(super) fn login(server: &Server, token: &str) -> Answer {
    let body = json!({"AuthMethod": "m", "BearerToken": token});
    ask(server, "POST", "/v1/acl/login", &body.to_string())
}

/// Writes the auth method `m` of these keys.
pub(super) fn write_method(server: &Server, keys: &[&str], more: &Value) {
    let mut body = json!({"Name": "m", "Type": "jwt", "Config": {"JWTValidationPubKeys": keys}});
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    let written = put(server, "/v1/acl/auth-method?token=root", &body.to_string());
    assert_eq!(written.status, 200, "{}", written.body);
}

pub(super) fn pair() -> KeyPair {
    KeyPair::generate_for(&PKCS_ED25519).expect("there is chance")
}

/// The year 2020.
pub(super) const PAST: u64 = 1_600_000_000;
/// The year 2100.
pub(super) const FAR: u64 = 4_102_444_800;

#[test]
fn bearer_tokens_and_what_they_give_expire_on_the_servers_clock() {
    for version in BOTH {
        let server = started(version);
        let (key, other) = (pair(), pair());
        let pems = [other.public_key_pem(), key.public_key_pem()];
        let pems = [pems[0].as_str(), pems[1].as_str()];
        write_method(&server, &pems, &json!({"MaxTokenTTL": "5m"}));
        let rule = r#"{"AuthMethod":"m","BindType":"service","BindName":"web"}"#;
        assert_eq!(
            put(&server, "/v1/acl/binding-rule?token=root", rule).status,
            200
        );
        let valid = signed(&key, &json!({"iat": PAST, "exp": FAR}));
        let early = signed(&key, &json!({"nbf": FAR, "exp": FAR + 1}));
        let made = login(&server, &valid);
        assert_eq!(made.status, 200, "{}", made.body);
        let secret = parsed(&made)["SecretID"]
            .as_str()
            .expect("a secret")
            .to_owned();
        let own = format!("/v1/acl/token/self?token={secret}");
        assert_eq!(get(&server, &own).status, 200);
        server.advance(Duration::from_secs(301));
        assert_eq!(get(&server, &own).status, 403);
        assert!(
            login(&server, &early)
                .body
                .ends_with("token not valid yet (nbf)")
        );
        let century = Duration::from_secs(100 * 366 * 24 * 3600);
        server.advance(century);
        let over = login(&server, &valid);
        assert_eq!(over.status, 500);
        assert!(
            over.body.ends_with("token is expired (exp)"),
            "{}",
            over.body
        );
    }
}

#[test]
fn only_the_keys_of_the_method_count_and_all_of_the_token_is_signed() {
    for version in BOTH {
        let server = started(version);
        let (key, other) = (pair(), pair());
        write_method(&server, &[&key.public_key_pem()], &json!({}));
        let claims = json!({"iat": PAST, "exp": FAR});
        // No rule chooses it, but its signature is fine.
        let valid = signed(&key, &claims);
        assert_eq!(login(&server, &valid).status, 403);
        let unverified = "no known key successfully validated the token signature";
        let more = signed(&other, &json!({"iat": PAST, "exp": FAR, "name": "root"}));
        let mixed: Vec<_> = valid.split('.').collect();
        let payload = more.split('.').nth(1).expect("a payload");
        let mixed = format!("{}.{payload}.{}", mixed[0], mixed[2]);
        for token in [
            &more,
            &mixed,
            &format!("{valid}AA"),
            &valid[..valid.len() - 2].to_owned(),
        ] {
            let refused = login(&server, token);
            assert_eq!(refused.status, 500);
            assert!(refused.body.ends_with(unverified), "{}", refused.body);
        }
    }
}

#[test]
fn what_is_not_emulated_says_so() {
    for version in BOTH {
        let server = started(version);
        let write = |body: &str| put(&server, "/v1/acl/auth-method?token=root", body).status;
        let kubernetes = r#"{"Name":"m","Type":"kubernetes","Config":{"Host":"https://k"}}"#;
        assert_eq!(write(kubernetes), 200);
        let refused = login(&server, "x");
        assert_eq!(refused.status, 501);
        assert!(
            refused.body.contains("of type kubernetes are not emulated"),
            "{}",
            refused.body
        );
        ask(&server, "DELETE", "/v1/acl/auth-method/m?token=root", "");
        let fetched = r#"{"Name":"m","Type":"jwt","Config":{"JWKSURL":"https://k"}}"#;
        assert_eq!(write(fetched), 200);
        let refused = login(&server, "x");
        assert_eq!(refused.status, 501);
        assert!(refused.body.contains("are not fetched"), "{}", refused.body);
    }
}
