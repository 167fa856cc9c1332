//! ACLs of Consul 2, as far as its public texts say (2.1.md 2, 3): no real server of it was asked.

use proconsul::{Server, Version};
use serde_json::{Value, json};

use crate::acl::logins::{FAR, PAST, login, pair, signed, write_method};
use crate::acl::tokens::started;
use crate::over_http::face::parsed;
use crate::support::{Answer, get, put};

const V2_0_0: Version = Version::new(2, 0, 0);

/// Writes with the token that may do everything.
fn write(server: &Server, target: &str, body: &Value) -> Answer {
    let answer = put(server, &format!("{target}?token=root"), &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// A transaction names another service than its id means.
#[test]
fn rights_in_transactions_are_those_of_what_an_id_names_since_2_0() {
    let of_service = |verb: &str| json!([{"Service": {"Verb": verb, "Node": "n", "Service": {"ID": "w", "Service": "mine"}}}]);
    let of_check = json!([{"Check": {"Verb": "set",
        "Check": {"Node": "n", "CheckID": "c", "ServiceID": "w", "ServiceName": "mine"}}}]);
    let operations = [of_check, of_service("set"), of_service("delete")];
    for (version, status) in [(Version::V1_22_0, 200), (V2_0_0, 409)] {
        let server = started(version);
        let rules = r#"service "mine" { policy = "write" }"#;
        write(
            &server,
            "/v1/acl/policy",
            &json!({"Name": "p", "Rules": rules}),
        );
        let token = json!({"Policies": [{"Name": "p"}]});
        let token = parsed(&write(&server, "/v1/acl/token", &token));
        let secret = token["SecretID"].as_str().expect("a secret");
        for operation in &operations {
            let service = json!({"ID": "w", "Service": "other"});
            let node = json!({"Node": "n", "Address": "a", "Service": service});
            write(&server, "/v1/catalog/register", &node);
            let done = put(
                &server,
                &format!("/v1/txn?token={secret}"),
                &operation.to_string(),
            );
            assert_eq!(done.status, status, "{version} {operation} {}", done.body);
        }
        let own = json!([{"Service": {"Verb": "set", "Node": "n", "Service": {"ID": "m", "Service": "mine"}}}]);
        let done = put(
            &server,
            &format!("/v1/txn?token={secret}"),
            &own.to_string(),
        );
        assert_eq!(done.status, 200, "{}", done.body);
    }
}

#[test]
fn logins_name_their_tokens_since_2_0() {
    let server = started(V2_0_0);
    let key = pair();
    let pem = key.public_key_pem();
    let claims = json!({"iat": PAST, "exp": FAR, "who": "Ada"});
    let rule = json!({"AuthMethod": "m", "BindType": "service", "BindName": "web"});
    let config = json!({"JWTValidationPubKeys": [pem], "ClaimMappings": {"who": "who"}});
    let log_in = |format: Value| {
        let more = json!({"Config": config, "TokenNameFormat": format});
        write_method(&server, &[&pem], &more);
        login(&server, &signed(&key, &claims))
    };
    assert_eq!(log_in(json!("")).status, 403, "no rule chooses it");
    write(&server, "/v1/acl/binding-rule", &rule);
    assert_eq!(parsed(&log_in(json!("")))["Name"], "jwt-m");
    let made = parsed(&log_in(json!("by ${auth_method_name} for ${value.who}")));
    assert_eq!(made["Name"], "by m for Ada");
    let accessor = made["AccessorID"].as_str().expect("an id");
    let read = get(&server, &format!("/v1/acl/token/{accessor}?token=root"));
    assert_eq!(parsed(&read)["Name"], "by m for Ada");
    let method = get(&server, "/v1/acl/auth-method/m?token=root");
    let format = &parsed(&method)["TokenNameFormat"];
    assert_eq!(format, "by ${auth_method_name} for ${value.who}");
    let unknown =
        json!({"Name": "o", "Type": "jwt", "Config": config, "TokenNameFormat": "${value.x}"});
    let refused = put(
        &server,
        "/v1/acl/auth-method?token=root",
        &unknown.to_string(),
    );
    let flaw = "Invalid Auth Method: 1:3: unknown variable accessed: value.x";
    assert_eq!((refused.status, &*refused.body), (500, flaw));

    let other = started(V2_0_0);
    other
        .load(&server.dump())
        .expect("the state is of such a server");
    assert_eq!(other.dump(), server.dump());

    let before = started(Version::V1_22_0);
    let named = json!({"Name": "o", "Type": "jwt", "TokenNameFormat": "x"}).to_string();
    let refused = put(&before, "/v1/acl/auth-method?token=root", &named);
    assert!(
        refused.body.contains("unknown field \"TokenNameFormat\""),
        "{}",
        refused.body
    );
}
