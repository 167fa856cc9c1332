//! The routes below `/v1/acl/`, with the methods that each takes (seen on 1.8.7, 1.22.md B6). ACLs are disabled, which
//! all of them say.

use http::Method;

use crate::http::failure::{Failure, failures};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{GET, Handler::AtOnce, PUT, Route, route};
use crate::version::Behaviour;

const POST: &[Method] = &[Method::POST];
const ONE: &[Method] = &[Method::GET, Method::PUT, Method::DELETE];

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    acl("/v1/acl/bootstrap", PUT),
    acl("/v1/acl/replication", GET),
    acl("/v1/acl/policies", GET),
    acl("/v1/acl/policy", PUT),
    acl("/v1/acl/policy/", ONE),
    acl("/v1/acl/policy/name/", GET),
    acl("/v1/acl/tokens", GET),
    acl("/v1/acl/token", PUT),
    acl("/v1/acl/token/", ONE),
    acl("/v1/acl/token/self", GET),
    acl("/v1/acl/roles", GET),
    acl("/v1/acl/role", PUT),
    acl("/v1/acl/role/", ONE),
    acl("/v1/acl/role/name/", GET),
    acl("/v1/acl/binding-rules", GET),
    acl("/v1/acl/binding-rule", PUT),
    acl("/v1/acl/binding-rule/", ONE),
    acl("/v1/acl/auth-methods", GET),
    acl("/v1/acl/auth-method", PUT),
    acl("/v1/acl/auth-method/", ONE),
    acl("/v1/acl/login", POST),
    acl("/v1/acl/logout", POST),
    acl("/v1/acl/templated-policies", GET).since(Behaviour::AclTemplatedPolicies),
    acl("/v1/acl/templated-policy/name/", GET).since(Behaviour::AclTemplatedPolicies),
    acl("/v1/acl/templated-policy/preview/", POST).since(Behaviour::AclTemplatedPolicies),
    acl("/v1/acl/rules/translate", POST).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/rules/translate/", GET).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/create", PUT).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/update", PUT).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/destroy/", PUT).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/info/", GET).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/clone/", PUT).until(Behaviour::AclLegacyRemoved),
    acl("/v1/acl/list", GET).until(Behaviour::AclLegacyRemoved),
];

failures! {
    /// ACLs are disabled.
    acl_disabled() => 401, "ACL support disabled";
}

const fn acl(path: &'static str, methods: &'static [Method]) -> Route {
    route(path, methods, AtOnce(disabled))
}

fn disabled(_: &Request) -> Result<Reply, Failure> {
    Err(acl_disabled())
}
