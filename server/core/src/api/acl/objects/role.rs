//! `/v1/acl/role`: roles (acl.md 8.1).

use http::Method;

use crate::api::acl::body::{self, RoleBody};
use crate::api::acl::failure::refused;
use crate::api::acl::objects;
use crate::api::acl::wire::Role;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_store::{
    AclDelete, AclId, AclInfo, AclList, AclNamed, AclRefusal, Read, RoleRow, RoleWrite, Shown,
};
use proconsul_version::Behaviour;

/// Lists all roles, or those with a policy.
pub(in crate::api::acl) async fn list(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let options = objects::options(request)?;
    let answer = objects::read(request, &AclList::<RoleRow>::default(), options).await?;
    let mut rows = answer.rows;
    let policy = request.query.get("policy");
    if !policy.is_empty() {
        let policy = AclId::parse(&String::from_utf8_lossy(policy))
            .ok()
            .flatten();
        rows.retain(|shown| policy.is_some_and(|id| shown.row.grants.policies.contains(&id)));
    }
    if request.has(Behaviour::AclListsByName) {
        rows.sort_by_cached_key(|shown| shown.row.name.to_lowercase());
    }
    let roles = rows.iter().map(|shown| Role::new(shown, request.version()));
    let roles: Vec<_> = roles.collect();
    Ok(Reply::json(request, &roles).with_index(request, answer.index))
}

/// Creates a role.
pub(in crate::api::acl) async fn create(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    write(request).await
}

/// Reads, replaces or deletes a role.
pub(in crate::api::acl) async fn one(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    match request.method {
        Method::PUT => write(request).await,
        Method::DELETE => {
            let id = objects::named(&request, "role ID")?;
            request.check_tenancy()?;
            objects::authorize_deletion(&request, "role")?;
            let deleted = AclDelete::<RoleRow>::new(id);
            objects::deleted(&request, "role", request.context.engine.apply(deleted))
        }
        _ => {
            let id = objects::named(&request, "role ID")?;
            show(&request, &AclInfo::<RoleRow>::new(id)).await
        }
    }
}

/// Reads the role with a name.
pub(in crate::api::acl) async fn by_name(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let name = objects::named(request, "role Name")?;
    show(request, &AclNamed::<RoleRow>::new(name)).await
}

async fn show<R>(request: &Request, read: &R) -> Result<Reply, Failure>
where
    R: Read<Rows = Option<Shown<RoleRow>>, Refused = AclRefusal>,
{
    let options = objects::options(request)?;
    let answer = objects::read(request, read, options).await?;
    let Some(shown) = answer.rows else {
        return objects::nothing(request, "role", answer.index);
    };
    let role = Role::new(&shown, request.version());
    Ok(Reply::json(request, &role).with_index(request, answer.index))
}

async fn write(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let mut body = body::read::<RoleBody>(&mut request, "Role").await?;
    let target = objects::target(&request, &body.id, "Role ID")?;
    request.authorize()?;
    let version = request.version();
    let grants = body.take_grants(version);
    let write = RoleWrite {
        target,
        name: body.name,
        description: body.description,
        grants,
    };
    let written = request.context.engine.apply(write);
    let shown = written.map_err(|refusal| refused(&refusal, version))?;
    Ok(Reply::json(&request, &Role::new(&shown, version)))
}
