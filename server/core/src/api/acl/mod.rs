//! `/v1/acl/` and `/v1/internal/acl/authorize`: policies, roles, tokens and what belongs to them (acl.md 3 to 5 and 8).

#[cfg(feature = "acl")]
mod authorize;
#[cfg(feature = "acl")]
mod body;
#[cfg(feature = "acl")]
mod bootstrap;
#[cfg(feature = "acl")]
mod failure;
#[cfg(feature = "acl")]
mod legacy;
#[cfg(feature = "acl")]
mod login;
#[cfg(feature = "acl")]
mod objects;
#[cfg(feature = "acl")]
mod wire;

use crate::route::routes;
use proconsul_version::Behaviour;

routes! {
    feature "acl";
    "/v1/internal/acl/authorize" [POST] => waits(authorize::authorize);
    "/v1/acl/bootstrap" [PUT] => waits(bootstrap::bootstrap);
    "/v1/acl/replication" [GET] => at_once(bootstrap::replication);
    "/v1/acl/policies" [GET] asks acl => waits(&objects::policy::list);
    "/v1/acl/policy" [PUT] asks acl => waits(objects::policy::create);
    "/v1/acl/policy/" [GET PUT DELETE] asks acl => waits(objects::policy::one);
    "/v1/acl/policy/name/" [GET] asks acl => waits(&objects::policy::by_name);
    "/v1/acl/tokens" [GET] asks acl => waits(&objects::token::list);
    "/v1/acl/token" [PUT] asks acl => waits(objects::token::create);
    "/v1/acl/token/" [GET PUT DELETE] asks acl => waits(objects::token::one);
    "/v1/acl/token/self" [GET] => waits(&objects::token::own);
    "/v1/acl/roles" [GET] asks acl => waits(&objects::role::list);
    "/v1/acl/role" [PUT] asks acl => waits(objects::role::create);
    "/v1/acl/role/" [GET PUT DELETE] asks acl => waits(objects::role::one);
    "/v1/acl/role/name/" [GET] asks acl => waits(&objects::role::by_name);
    "/v1/acl/binding-rules" [GET] asks acl => waits(&objects::method::rules);
    "/v1/acl/binding-rule" [PUT] asks acl => waits(objects::method::create_rule);
    "/v1/acl/binding-rule/" [GET PUT DELETE] asks acl => waits(objects::method::rule);
    "/v1/acl/auth-methods" [GET] asks acl => waits(&objects::method::methods);
    "/v1/acl/auth-method" [PUT] asks acl => waits(objects::method::create_method);
    "/v1/acl/auth-method/" [GET PUT DELETE] asks acl => waits(objects::method::method);
    "/v1/acl/login" [POST] => waits(login::login);
    "/v1/acl/logout" [POST] => at_once(login::logout);
    "/v1/acl/templated-policies" [GET] asks acl => at_once(objects::template::list), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/templated-policy/name/" [GET] asks acl => at_once(objects::template::by_name), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/templated-policy/preview/" [POST] asks acl:read => waits(objects::template::preview), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/rules/translate" [POST] asks acl:read => waits(legacy::translate), until Behaviour::AclLegacyRemoved;
    "/v1/acl/rules/translate/" [GET] asks acl => waits(&legacy::translate_token), until Behaviour::AclLegacyRemoved;
    "/v1/acl/create" [PUT] asks acl => waits(legacy::create), until Behaviour::AclLegacyRemoved;
    "/v1/acl/update" [PUT] asks acl => waits(legacy::update), until Behaviour::AclLegacyRemoved;
    "/v1/acl/destroy/" [PUT] asks acl => at_once(legacy::destroy), until Behaviour::AclLegacyRemoved;
    "/v1/acl/info/" [GET] => waits(&legacy::info), until Behaviour::AclLegacyRemoved;
    "/v1/acl/clone/" [PUT] asks acl => waits(legacy::clone), until Behaviour::AclLegacyRemoved;
    "/v1/acl/list" [GET] asks acl:write => waits(&legacy::list), until Behaviour::AclLegacyRemoved;
}
