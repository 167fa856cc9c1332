//! The verbs of `acl`. Contract: acl.md 12.
//!
//! | module | what it has |
//! |---|---|
//! | `object` | the five kinds of objects, and what is the same for all: `read`, `list`, `delete` |
//! | `change` | `create` and `update` of policies, tokens and roles |
//! | `method` | `create` and `update` of auth methods and binding rules |
//! | `links` | the flags that link tokens and roles with others |
//! | `shape` | how objects are printed |
//! | `legacy` | rules of the language before 1.4 |
//! | `login` | `login`, `logout` |

mod change;
mod legacy;
mod links;
pub(super) mod login;
mod method;
mod object;
mod shape;

use serde_json::json;

use self::change::{
    clone_token, create_policy, create_role, create_token, update_policy, update_role, update_token,
};
use self::legacy::translate_rules;
use self::method::{
    create_auth_method, create_binding_rule, update_auth_method, update_binding_rule,
};
use self::object::{delete, list, read};
use super::{Outcome, because};
use crate::commands::support::flags::{ArgumentKind, Given};
use proconsul_config::settings::go_flags::Flag;

const FORMAT: &[Flag<ArgumentKind>] = flags! {
    Text "format" "pretty or json (default: pretty)";
};

const META: &[Flag<ArgumentKind>] = flags! {
    Switch "meta" "Prints hashes and indexes too";
};

const BY_ID: &[Flag<ArgumentKind>] = flags! {
    Text "id" "Its ID, or the beginning of one";
};

const BY_NAME: &[Flag<ArgumentKind>] = flags! {
    Text "name" "Its name";
};

const DESCRIBED: &[Flag<ArgumentKind>] = flags! {
    Text "description" "A description for people";
};

const NO_MERGE: &[Flag<ArgumentKind>] = flags! {
    Switch "no-merge" "Replaces everything, also what is not given";
};

const RULES: &[Flag<ArgumentKind>] = flags! {
    Text "rules" "The rules; @file and - read a file and standard input";
    Text "valid-datacenter" "A datacenter in which it holds; may be repeated";
};

const LINKED: &[Flag<ArgumentKind>] = flags! {
    Text "node-identity" "NODE:DATACENTER; may be repeated";
    Text "policy-id" "The ID of a policy, or its beginning; may be repeated";
    Text "policy-name" "The name of a policy; may be repeated";
    Text "service-identity" "SERVICE or SERVICE:DATACENTER,...; may be repeated";
};

const ROLES: &[Flag<ArgumentKind>] = flags! {
    Text "role-id" "The ID of a role, or its beginning; may be repeated";
    Text "role-name" "The name of a role; may be repeated";
};

const METHOD: &[Flag<ArgumentKind>] = flags! {
    Text "config" "Its configuration as JSON; @file and - read a file and standard input";
    Text "display-name" "A name for people";
    Text "kubernetes-ca-cert" "A PEM certificate of the Kubernetes API; @file and - as above";
    Text "kubernetes-host" "The address of the Kubernetes API";
    Text "kubernetes-service-account-jwt" "The JWT with which the Kubernetes API is asked";
    Time "max-token-ttl" "How long its tokens live at most";
    Text "token-locality" "local or global";
};

const BINDING: &[Flag<ArgumentKind>] = flags! {
    Text "bind-name" "What a token is bound to; may have ${var}";
    Text "bind-type" "service or role (default: service)";
    Text "selector" "Only logins that match this expression";
};

commands! {
    "acl auth-method create" "" create_auth_method "Creates an auth method" [FORMAT, META, BY_NAME, DESCRIBED, METHOD] {
        Text "type" "Its type: jwt, kubernetes";
    }
    "acl auth-method delete" "" delete(object::AUTH_METHOD) "Deletes an auth method" [BY_NAME] {}
    "acl auth-method list" "" list(object::AUTH_METHOD) "Lists the auth methods" [FORMAT, META] {}
    "acl auth-method read" "" read(object::AUTH_METHOD) "Prints an auth method" [FORMAT, META, BY_NAME] {}
    "acl auth-method update" "" update_auth_method "Changes an auth method"
        [FORMAT, META, BY_NAME, DESCRIBED, METHOD, NO_MERGE] {}
    "acl binding-rule create" "" create_binding_rule "Creates a binding rule" [FORMAT, META, DESCRIBED, BINDING] {
        Text "method" "The name of its auth method";
    }
    "acl binding-rule delete" "" delete(object::BINDING_RULE) "Deletes a binding rule" [BY_ID] {}
    "acl binding-rule list" "" list(object::BINDING_RULE) "Lists the binding rules" [FORMAT, META] {
        Text "method" "Only rules of this auth method";
    }
    "acl binding-rule read" "" read(object::BINDING_RULE) "Prints a binding rule" [FORMAT, META, BY_ID] {}
    "acl binding-rule update" "" update_binding_rule "Changes a binding rule"
        [FORMAT, META, BY_ID, DESCRIBED, BINDING, NO_MERGE] {}
    "acl bootstrap" "" bootstrap "Makes the first management token" [FORMAT] {}
    "acl policy create" "" create_policy "Creates a policy" [FORMAT, META, BY_NAME, DESCRIBED, RULES] {
        Text "from-token" "The AccessorID of a legacy token whose rules are taken";
        Switch "token-secret" "The argument of -from-token is a SecretID";
    }
    "acl policy delete" "" delete(object::POLICY) "Deletes a policy" [BY_ID, BY_NAME] {}
    "acl policy list" "" list(object::POLICY) "Lists the policies" [FORMAT, META] {}
    "acl policy read" "" read(object::POLICY) "Prints a policy" [FORMAT, META, BY_ID, BY_NAME] {}
    "acl policy update" "" update_policy "Changes a policy"
        [FORMAT, META, BY_ID, BY_NAME, DESCRIBED, RULES, NO_MERGE] {}
    "acl role create" "" create_role "Creates a role" [FORMAT, META, BY_NAME, DESCRIBED, LINKED] {}
    "acl role delete" "" delete(object::ROLE) "Deletes a role" [BY_ID, BY_NAME] {}
    "acl role list" "" list(object::ROLE) "Lists the roles" [FORMAT, META] {}
    "acl role read" "" read(object::ROLE) "Prints a role" [FORMAT, META, BY_ID, BY_NAME] {}
    "acl role update" "" update_role "Changes a role"
        [FORMAT, META, BY_ID, BY_NAME, DESCRIBED, LINKED, NO_MERGE] {}
    "acl set-agent-token" "TYPE TOKEN" set_agent_token "Gives the agent a token of its own" {}
    "acl token clone" "" clone_token "Creates a token with the rights of another" [FORMAT, BY_ID, DESCRIBED] {}
    "acl token create" "" create_token "Creates a token" [FORMAT, META, DESCRIBED, LINKED, ROLES] {
        Text "accessor" "Its AccessorID, a UUID (default: a new one)";
        Time "expires-ttl" "How long it is valid (default: for ever)";
        Switch "local" "It is valid in this datacenter only";
        Text "secret" "Its SecretID, a UUID (default: a new one)";
    }
    "acl token delete" "" delete(object::TOKEN) "Deletes a token" [BY_ID] {}
    "acl token list" "" list(object::TOKEN) "Lists the tokens" [FORMAT, META] {}
    "acl token read" "" read(object::TOKEN) "Prints a token" [FORMAT, META, BY_ID] {
        Switch "self" "The token of this command";
    }
    "acl token update" "" update_token "Changes a token" [FORMAT, META, BY_ID, DESCRIBED, LINKED, ROLES] {
        Switch "merge-node-identities" "Keeps the present node identities";
        Switch "merge-policies" "Keeps the present policies";
        Switch "merge-roles" "Keeps the present roles";
        Switch "merge-service-identities" "Keeps the present service identities";
        Switch "upgrade-legacy" "Replaces the rules of a legacy token by the policies";
    }
    "acl translate-rules" "RULES" translate_rules "Translates rules of the language before 1.4" {
        Switch "token-accessor" "RULES is the AccessorID of a legacy token";
        Switch "token-secret" "RULES is the SecretID of a legacy token";
    }
}

async fn bootstrap(given: Given) -> Outcome {
    let made = given.client()?.write("v1/acl/bootstrap", &[], "").await;
    let made = made.map_err(because("Failed ACL bootstrapping"))?;
    object::TOKEN.print(&given, &made)
}

async fn set_agent_token(given: Given) -> Outcome {
    let (kind, token) = match given.rest() {
        [] => return Err("Error! Missing TYPE and TOKEN arguments".into()),
        [_] => return Err("Error! Missing TOKEN argument".into()),
        [kind, token] => (kind.as_str(), token),
        more => {
            let got = more.len();
            return Err(format!("Error! Too many arguments: expected 2 got {got}").into());
        }
    };
    let name = match kind {
        "default" | "agent" | "replication" => kind,
        "master" => "agent_master",
        _ => return Err("Unknown token type".into()),
    };
    let body = json!({ "Token": token }).to_string();
    let path = format!("v1/agent/token/{name}");
    let set = given.client()?.write(&path, &[], body).await;
    set.map_err(because(&format!("Failed to set ACL token {kind:?}")))?;
    Ok(format!("ACL token {kind:?} set successfully\n"))
}
