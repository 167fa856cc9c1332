//! `/v1/acl/`: the routes and their methods (seen on 1.8.7, 1.22.md B6). Each answers that ACLs are disabled.

use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::routes;
use crate::version::Behaviour;

routes! {
    "/v1/acl/bootstrap" [PUT] => at_once(disabled);
    "/v1/acl/replication" [GET] => at_once(disabled);
    "/v1/acl/policies" [GET] => at_once(disabled);
    "/v1/acl/policy" [PUT] => at_once(disabled);
    "/v1/acl/policy/" [GET PUT DELETE] => at_once(disabled);
    "/v1/acl/policy/name/" [GET] => at_once(disabled);
    "/v1/acl/tokens" [GET] => at_once(disabled);
    "/v1/acl/token" [PUT] => at_once(disabled);
    "/v1/acl/token/" [GET PUT DELETE] => at_once(disabled);
    "/v1/acl/token/self" [GET] => at_once(disabled);
    "/v1/acl/roles" [GET] => at_once(disabled);
    "/v1/acl/role" [PUT] => at_once(disabled);
    "/v1/acl/role/" [GET PUT DELETE] => at_once(disabled);
    "/v1/acl/role/name/" [GET] => at_once(disabled);
    "/v1/acl/binding-rules" [GET] => at_once(disabled);
    "/v1/acl/binding-rule" [PUT] => at_once(disabled);
    "/v1/acl/binding-rule/" [GET PUT DELETE] => at_once(disabled);
    "/v1/acl/auth-methods" [GET] => at_once(disabled);
    "/v1/acl/auth-method" [PUT] => at_once(disabled);
    "/v1/acl/auth-method/" [GET PUT DELETE] => at_once(disabled);
    "/v1/acl/login" [POST] => at_once(disabled);
    "/v1/acl/logout" [POST] => at_once(disabled);
    "/v1/acl/templated-policies" [GET] => at_once(disabled), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/templated-policy/name/" [GET] => at_once(disabled), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/templated-policy/preview/" [POST] => at_once(disabled), since Behaviour::AclTemplatedPolicies;
    "/v1/acl/rules/translate" [POST] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/rules/translate/" [GET] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/create" [PUT] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/update" [PUT] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/destroy/" [PUT] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/info/" [GET] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/clone/" [PUT] => at_once(disabled), until Behaviour::AclLegacyRemoved;
    "/v1/acl/list" [GET] => at_once(disabled), until Behaviour::AclLegacyRemoved;
}

failures! {
    /// ACLs are disabled.
    acl_disabled() => 401, "ACL support disabled";
}

fn disabled(_: &Request) -> Result<Reply, Failure> {
    Err(acl_disabled())
}
