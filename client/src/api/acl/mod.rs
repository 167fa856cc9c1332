//! ACLs. Source: Consul's HTTP API, ACLs.

mod objects;

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::objects::{
    AclLink, AuthMethod, BindingRule, NodeIdentity, Policy, Role, ServiceIdentity, Token,
};
use crate::client::Client;
use crate::error::Error;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// Tokens and what they may do, from [`Client::acl`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let mut acl = proconsul::config::Config::default().acl;
/// # (acl.enabled, acl.default_policy) = (true, "deny".to_owned());
/// # let config = proconsul::config::Config { acl, ..Default::default() };
/// # let server = proconsul::Server::builder().config(config).start()?;
/// # let address = server.url();
/// use proconsul_client::{Client, Policy, QueryOptions, Token};
///
/// let client = Client::new(&address)?;
/// let root = client.acl().bootstrap().await?;
/// let root = client.with(QueryOptions::new().token(root.secret_id));
///
/// let rules = r#"key_prefix "jobs/" { policy = "write" }"#;
/// root.acl().create_policy(&Policy::new("jobs", rules)).await?;
/// let token = root.acl().create_token(&Token::new().policy("jobs")).await?;
///
/// let worker = client.with(QueryOptions::new().token(token.secret_id));
/// worker.kv().put("jobs/1", "mine").await?;
/// let refused = worker.kv().put("config/1", "mine").await.expect_err("it may not");
/// assert!(refused.is_forbidden());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Every call gives [`Error::PermissionDenied`] when its own token may not make it. Before 1.15 Consul answers so too
/// when a policy or token is missing.
#[derive(Debug)]
pub struct Acl<'c> {
    client: &'c Client,
}

impl Client {
    /// Tokens and what they may do.
    #[must_use]
    pub fn acl(&self) -> Acl<'_> {
        Acl { client: self }
    }
}

/// The calls of one kind of objects: create, update, delete, one by its id, all.
macro_rules! objects {
    ($one:literal $all:literal $object:ident: $create:ident, $update:ident($id:ident), $delete:ident, $list:ident) => {
        #[doc = concat!("Creates ", $one, " and gives it with what Consul has filled in.")]
        ///
        /// # Errors
        /// See [`Error`].
        pub async fn $create(&self, new: &$object) -> Result<$object, Error> {
            self.put(concat!("v1/acl/", $one), new).await
        }

        #[doc = concat!("Replaces the ", $one, " with this id; fields that are empty become so.")]
        ///
        /// # Errors
        /// See [`Error`].
        pub async fn $update(&self, changed: &$object) -> Result<$object, Error> {
            let id = segment(&changed.$id)?;
            self.put(&format!(concat!("v1/acl/", $one, "/{}"), id), changed)
                .await
        }

        #[doc = concat!("Deletes a ", $one, ".")]
        ///
        /// # Errors
        /// See [`Error`].
        pub async fn $delete(&self, id: &str) -> Result<(), Error> {
            let path = format!(concat!("v1/acl/", $one, "/{}"), segment(id)?);
            self.client.delete(&path, &[]).await.map(|_| ())
        }

        #[doc = concat!("All of Consul's ", $all, ".")]
        ///
        /// # Errors
        /// See [`Error`].
        pub async fn $list(&self) -> Result<Answer<Vec<$object>>, Error> {
            self.client.list(concat!("v1/acl/", $all).to_owned()).await
        }
    };
}

impl Acl<'_> {
    /// Makes the first management token. Consul does this once.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::PermissionDenied`] when it was done before.
    pub async fn bootstrap(&self) -> Result<Token, Error> {
        let call = Call::write(self.client, "v1/acl/bootstrap");
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    objects!("policy" "policies" Policy: create_policy, update_policy(id), delete_policy, policies);

    /// One policy by its id.
    ///
    /// # Errors
    /// See [`Error`]. Consul refuses a missing one with 403 before 1.15, then with 404.
    pub async fn policy(&self, id: &str) -> Result<Answer<Policy>, Error> {
        self.get(format!("v1/acl/policy/{}", segment(id)?)).await
    }

    /// One policy by its name.
    ///
    /// # Errors
    /// See [`Error`]. Consul refuses a missing one with 403 before 1.15, then with 404.
    pub async fn policy_by_name(&self, name: &str) -> Result<Answer<Policy>, Error> {
        self.get(format!("v1/acl/policy/name/{}", segment(name)?))
            .await
    }

    objects!("token" "tokens" Token: create_token, update_token(accessor_id), delete_token, tokens);

    /// One token by its AccessorID.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::PermissionDenied`] for a missing one.
    pub async fn token(&self, accessor: &str) -> Result<Answer<Token>, Error> {
        self.get(format!("v1/acl/token/{}", segment(accessor)?))
            .await
    }

    /// The token of this client.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::PermissionDenied`] when Consul does not know it.
    pub async fn own_token(&self) -> Result<Answer<Token>, Error> {
        self.get("v1/acl/token/self".to_owned()).await
    }

    /// Creates a token with the rights of another. An empty description is that of the other.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn clone_token(&self, accessor: &str, description: &str) -> Result<Token, Error> {
        let path = format!("v1/acl/token/{}/clone", segment(accessor)?);
        self.put(&path, &serde_json::json!({ "Description": description }))
            .await
    }

    objects!("role" "roles" Role: create_role, update_role(id), delete_role, roles);

    /// One role by its id; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn role(&self, id: &str) -> Result<Option<Role>, Error> {
        self.find(format!("v1/acl/role/{}", segment(id)?)).await
    }

    /// One role by its name; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn role_by_name(&self, name: &str) -> Result<Option<Role>, Error> {
        self.find(format!("v1/acl/role/name/{}", segment(name)?))
            .await
    }

    objects!("auth-method" "auth-methods" AuthMethod: create_auth_method, update_auth_method(name), delete_auth_method, auth_methods);

    /// One auth method by its name; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn auth_method(&self, name: &str) -> Result<Option<AuthMethod>, Error> {
        self.find(format!("v1/acl/auth-method/{}", segment(name)?))
            .await
    }

    objects!("binding-rule" "binding-rules" BindingRule: create_binding_rule, update_binding_rule(id), delete_binding_rule, binding_rules);

    /// One binding rule by its id; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn binding_rule(&self, id: &str) -> Result<Option<BindingRule>, Error> {
        self.find(format!("v1/acl/binding-rule/{}", segment(id)?))
            .await
    }

    /// Exchanges the bearer token of another system for a token. `meta` becomes part of its description.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::PermissionDenied`] when the auth method is missing or no binding rule matches.
    pub async fn login(
        &self,
        method: &str,
        bearer: &str,
        meta: &[(&str, &str)],
    ) -> Result<Token, Error> {
        let meta: std::collections::BTreeMap<_, _> = meta.iter().copied().collect();
        let body = serde_json::json!({ "AuthMethod": method, "BearerToken": bearer, "Meta": meta });
        let call = Call::write(self.client, "v1/acl/login")
            .method(Method::POST)
            .json(&body);
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// Deletes the token of this client, which a [`login`](Self::login) made.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::PermissionDenied`] when no login made it.
    pub async fn logout(&self) -> Result<(), Error> {
        let call = Call::write(self.client, "v1/acl/logout").method(Method::POST);
        self.client.send(call, &[]).await.map(|_| ())
    }

    /// Translates rules of the language before 1.4. Consul 1.11 and later have forgotten it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn translate_rules(&self, rules: &str) -> Result<String, Error> {
        let call = Call::write(self.client, "v1/acl/rules/translate");
        let call = call.method(Method::POST).body(rules.into());
        let raw = self.client.send(call, &[]).await?;
        Ok(String::from_utf8_lossy(&raw.body).into_owned())
    }

    async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let call = Call::write(self.client, path).json(body);
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    async fn get<T: DeserializeOwned>(&self, path: String) -> Result<Answer<T>, Error> {
        let call = Call::read(self.client, path);
        self.client.send(call, &[]).await?.json()
    }

    async fn find<T: DeserializeOwned>(&self, path: String) -> Result<Option<T>, Error> {
        match self.get(path).await {
            Ok(answer) => Ok(Some(answer.value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
