//! Policies, tokens, roles and logins, on a server with ACLs.

use std::time::Duration;

use proconsul::Server;
use proconsul::config::{AclConfig, Config};
use proconsul_client::{
    AclLink, AuthMethod, BindingRule, Client, Error, Policy, QueryOptions, Role, ServiceIdentity,
    Token,
};

/// A server with ACLs and time that stands still, a client without a token, and one with the first management token.
async fn guarded() -> Result<(Server, Client, Client), Error> {
    let acl = AclConfig {
        enabled: true,
        default_policy: "deny".to_owned(),
        ..AclConfig::default()
    };
    let config = Config {
        acl,
        ..Config::default()
    };
    let server = Server::builder().config(config).frozen();
    let server = server.start().expect("a free port");
    let client = Client::new(&server.url())?;
    let token = client.acl().bootstrap().await?;
    let root = as_holder(&client, &token);
    Ok((server, client, root))
}

fn as_holder(client: &Client, token: &Token) -> Client {
    client.with(QueryOptions::new().token(token.secret_id.clone()))
}

#[tokio::test]
async fn a_refused_call_is_an_error_of_its_own_kind() -> Result<(), Error> {
    let (_server, client, root) = guarded().await?;
    root.acl()
        .create_policy(&Policy::new(
            "jobs",
            r#"key_prefix "jobs/" { policy = "write" }"#,
        ))
        .await?;
    let token = root
        .acl()
        .create_token(&Token::new().policy("jobs"))
        .await?;
    let worker = as_holder(&client, &token);
    worker.kv().put("jobs/1", "mine").await?;

    let refused = worker
        .kv()
        .put("other", "mine")
        .await
        .expect_err("it may not");
    assert!(
        matches!(&refused, Error::PermissionDenied { text } if text.starts_with("Permission denied"))
    );
    assert!(!refused.is_acl_not_found() && !refused.is_transient() && !refused.may_be_applied());

    let unknown = client.with(QueryOptions::new().token("unknown"));
    let refused = unknown.kv().get("jobs/1").await.expect_err("nobody has it");
    assert!(refused.is_acl_not_found());
    let again = client.acl().bootstrap().await.expect_err("it was done");
    assert!(again.is_forbidden() && !again.is_acl_not_found());
    Ok(())
}

#[tokio::test]
async fn policies_tokens_and_roles_come_back_as_they_were_sent() -> Result<(), Error> {
    let (server, _, root) = guarded().await?;
    let acl = root.acl();
    let mut policy = acl
        .create_policy(&Policy::new("p", r#"acl = "read""#))
        .await?;
    policy.description = "changed".to_owned();
    let changed = acl.update_policy(&policy).await?;
    assert!(changed.modify_index > policy.modify_index);
    assert_eq!(acl.policy(&policy.id).await?.value, changed);
    assert_eq!(acl.policy_by_name("p").await?.value, changed);
    assert!(
        acl.policies()
            .await?
            .value
            .iter()
            .any(|listed| listed.id == policy.id)
    );

    let role = Role {
        name: "r".to_owned(),
        policies: vec![AclLink::id(&policy.id)],
        service_identities: vec![ServiceIdentity {
            service_name: "web".to_owned(),
            ..ServiceIdentity::default()
        }],
        ..Role::default()
    };
    let mut role = acl.create_role(&role).await?;
    assert_eq!(role.policies[0].name, "p");
    assert_eq!(acl.role(&role.id).await?.as_ref(), Some(&role));
    assert_eq!(acl.role_by_name("r").await?.as_ref(), Some(&role));
    role.policies.clear();
    assert_eq!(acl.update_role(&role).await?.policies, []);

    let hour = Duration::from_secs(3600);
    let token = Token::new().policy("p").role("r").expires_after(hour);
    let token = acl.create_token(&token).await?;
    assert_eq!(token.roles[0].id, role.id);
    assert!(token.create_time < token.expiration_time);
    let mut read = acl.token(&token.accessor_id).await?.value;
    assert_eq!(read, token);
    read.description = "mine".to_owned();
    assert_eq!(acl.update_token(&read).await?.description, "mine");
    let clone = acl.clone_token(&token.accessor_id, "").await?;
    assert_eq!((&*clone.description, &clone.roles), ("mine", &token.roles));
    assert!(!format!("{clone:?}").contains(&clone.secret_id));
    let holder = as_holder(&root, &clone);
    assert_eq!(holder.acl().own_token().await?.value, clone);
    // The bootstrap token, the anonymous one, and these two.
    assert_eq!(acl.tokens().await?.value.len(), 4);
    acl.delete_token(&token.accessor_id).await?;
    server.advance(hour);
    let lapsed = holder.acl().own_token().await.expect_err("it has expired");
    assert!(lapsed.is_acl_not_found());

    acl.delete_role(&role.id).await?;
    assert_eq!(acl.role(&role.id).await?, None);
    assert_eq!(acl.roles().await?.value, []);
    acl.delete_policy(&policy.id).await?;
    assert!(acl.policy(&policy.id).await.is_err());
    Ok(())
}

/// A public key of which the other half is lost.
const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAc2N9n3+KWFN7H2peHDO6HEgWANA\n\
    0v4PaEmJAsYzNJUv7Wdv+PLkQbORyIicv3mnLDKF7iXWs8hht7MMw31xaA==\n\
    -----END PUBLIC KEY-----\n";

#[tokio::test]
async fn auth_methods_and_binding_rules_are_kept() -> Result<(), Error> {
    let (_server, client, root) = guarded().await?;
    let acl = root.acl();
    let method = AuthMethod {
        name: "m".to_owned(),
        kind: "jwt".to_owned(),
        config: serde_json::json!({ "JWTValidationPubKeys": [KEY] }),
        ..AuthMethod::default()
    };
    let unknown = AuthMethod {
        kind: "none".to_owned(),
        ..method.clone()
    };
    let refused = acl.create_auth_method(&unknown).await;
    assert_eq!(refused.expect_err("no such type").status(), Some(500));
    let mut method = acl.create_auth_method(&method).await?;
    method.description = "changed".to_owned();
    acl.update_auth_method(&method).await?;
    let read = acl.auth_method("m").await?.expect("it was created");
    assert_eq!(
        (&*read.description, &read.config),
        ("changed", &method.config)
    );
    assert_eq!(acl.auth_methods().await?.value.len(), 1);

    let rule = BindingRule {
        auth_method: "m".to_owned(),
        bind_type: "service".to_owned(),
        bind_name: "web".to_owned(),
        ..BindingRule::default()
    };
    let mut rule = acl.create_binding_rule(&rule).await?;
    rule.bind_name = "api".to_owned();
    acl.update_binding_rule(&rule).await?;
    let read = acl.binding_rule(&rule.id).await?.expect("it was created");
    assert_eq!(read.bind_name, "api");
    assert_eq!(acl.binding_rules().await?.value.len(), 1);
    acl.delete_binding_rule(&rule.id).await?;
    assert_eq!(acl.binding_rule(&rule.id).await?, None);

    assert!(client.acl().login("m", "x", &[("a", "b")]).await.is_err());
    acl.delete_auth_method("m").await?;
    assert_eq!(acl.auth_method("m").await?, None);
    assert!(
        root.acl()
            .logout()
            .await
            .expect_err("no login made it")
            .status()
            .is_some()
    );
    Ok(())
}
