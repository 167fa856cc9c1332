//! ACLs: tokens for tests, and whether a token may do something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::records::{AtIndex, Done};
use crate::control::http::call::{JsonBody, Parameters, Refused, calls};
use crate::control::{self, AclError, Controls};

const OFF: &str = "ACLs are off.";
const UNKNOWN: &str = "There is no such token.";

calls! {
    /// Makes a token with these rules. It counts at once, and goes with `/state/reset`.
    POST "/acl/token" make_token, example { "rules": "key_prefix \"app/\" { policy = \"read\" }" }, refuses 409 OFF;
    /// Deletes a token: from now on it is unknown.
    POST "/acl/revoke" revoke_token, example { "token": "TOKEN" }, refuses 404 UNKNOWN, refuses 409 OFF;
    /// Gives the policies of a token other rules. They count for all tokens with these policies.
    POST "/acl/rules" change_rules, example { "token": "TOKEN", "rules": "" }, refuses 404 UNKNOWN,
        refuses 409 "ACLs are off, or the token has no policy of its own.";
    /// Whether a token has a permission, and what decides that.
    GET "/acl/explain" explain_permission, refuses 404 UNKNOWN, refuses 409 OFF;
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// The rules, in HCL or JSON, as a policy has them.
    rules: String,
    /// The description, by which the history names the token.
    description: Option<String>,
}

/// A token.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Token {
    /// The AccessorID, by which the history names it.
    accessor: String,
    /// The SecretID, which requests send.
    secret: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneToken {
    /// The SecretID or the AccessorID of the token.
    token: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OtherRules {
    /// The SecretID or the AccessorID of the token.
    token: String,
    /// The rules, in HCL or JSON, as a policy has them.
    rules: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The SecretID or the AccessorID of the token; `anonymous` for requests without one.
    token: String,
    /// The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to
    /// delete them, `key:write-prefix`.
    permission: String,
    /// The name of what it is about; empty for a resource without names.
    #[serde(default)]
    name: String,
}

/// Whether a token has a permission.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Permission {
    /// The AccessorID of the token.
    token: String,
    /// The description of the token.
    token_description: String,
    /// The permission, with the name of what it is about.
    permission: String,
    /// Whether the token has it.
    allowed: bool,
    /// What decides: a rule and the policy that has it, or the default policy.
    cause: String,
    /// All of it in words.
    text: String,
}

impl From<control::Permission> for Permission {
    fn from(permission: control::Permission) -> Self {
        let text = permission.to_string();
        Self {
            token: permission.accessor,
            token_description: permission.description,
            permission: permission.permission,
            allowed: permission.is_allowed,
            cause: permission.because,
            text,
        }
    }
}

impl From<AclError> for Refused {
    fn from(error: AclError) -> Self {
        let sentence = error.to_string();
        match error {
            AclError::Off | AclError::NoPolicy(_) => Self::unmet(sentence),
            AclError::UnknownToken(_) => Self::missing(sentence),
            AclError::Rules(_) | AclError::Permission(_) | AclError::Anonymous => {
                Self::input(sentence)
            }
        }
    }
}

async fn make_token(
    control: Controls,
    JsonBody(new): JsonBody<NewToken>,
) -> Result<Token, Refused> {
    let acl = control.acl();
    let made = match &new.description {
        Some(description) => acl.described_token(description, &new.rules)?,
        None => acl.token(&new.rules)?,
    };
    Ok(Token {
        accessor: made.accessor,
        secret: made.secret,
    })
}

async fn revoke_token(
    control: Controls,
    JsonBody(OneToken { token }): JsonBody<OneToken>,
) -> Result<Done, Refused> {
    control.acl().revoke(&token)?;
    Ok(Done {})
}

async fn change_rules(
    control: Controls,
    JsonBody(OtherRules { token, rules }): JsonBody<OtherRules>,
) -> Result<AtIndex, Refused> {
    control.acl().change_rules(&token, &rules)?;
    Ok(AtIndex::of(&control))
}

async fn explain_permission(
    control: Controls,
    Parameters(asked): Parameters<Asked>,
) -> Result<Permission, Refused> {
    let Asked {
        token,
        permission,
        name,
    } = asked;
    let explained = control.acl().explain(&token, &permission, &name)?;
    Ok(Permission::from(explained))
}
