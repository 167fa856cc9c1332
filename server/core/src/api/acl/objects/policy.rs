//! `/v1/acl/policy`: policies (acl.md 4).

use http::Method;

use crate::api::acl::body::{self, PolicyBody};
use crate::api::acl::failure::{self, refused};
use crate::api::acl::objects;
use crate::api::acl::wire::{Policy, PolicyStub};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_acl::Rules;
use proconsul_store::{
    AclDelete, AclInfo, AclList, AclNamed, AclRefusal, AclTarget, NewPolicy, PolicyRow,
    PolicyWrite, Read, Shown,
};
use proconsul_version::Behaviour;

/// Lists all policies.
pub(in crate::api::acl) async fn list(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let options = objects::options(request)?;
    let answer = objects::read(request, &AclList::<PolicyRow>::default(), options).await?;
    let mut rows = answer.rows;
    if request.has(Behaviour::AclListsByName) {
        rows.sort_by_cached_key(|shown| shown.row.policy.name.to_lowercase());
    }
    let rows = rows.iter();
    let stubs: Vec<_> = rows
        .map(|shown| PolicyStub::new(shown, request.version()))
        .collect();
    Ok(Reply::json(request, &stubs).with_index(request, answer.index))
}

/// Creates a policy.
pub(in crate::api::acl) async fn create(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    let body = body::read::<PolicyBody>(&mut request, "Policy").await?;
    if !body.id.is_empty() {
        let text = "Cannot specify the ID when creating a new policy";
        return Err(Failure::bad_request(text, request.version()));
    }
    let id = request.context.engine.new_session_id();
    write(&request, AclTarget::New(id), body)
}

/// Reads, replaces or deletes a policy.
pub(in crate::api::acl) async fn one(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    match request.method {
        Method::PUT => replace(request).await,
        Method::DELETE => {
            let id = objects::named(&request, "policy ID")?;
            request.check_tenancy()?;
            objects::authorize_deletion(&request, "policy")?;
            let deleted = AclDelete::<PolicyRow>::new(id);
            objects::deleted(&request, "policy", request.context.engine.apply(deleted))
        }
        _ => {
            let id = objects::named(&request, "policy ID")?;
            show(&request, &AclInfo::<PolicyRow>::new(id)).await
        }
    }
}

/// Reads the policy with a name.
pub(in crate::api::acl) async fn by_name(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let name = objects::named(request, "policy Name")?;
    show(request, &AclNamed::<PolicyRow>::new(name)).await
}

async fn show<R>(request: &Request, read: &R) -> Result<Reply, Failure>
where
    R: Read<Rows = Option<Shown<PolicyRow>>, Refused = AclRefusal>,
{
    let options = objects::options(request)?;
    let answer = objects::read(request, read, options).await?;
    let Some(shown) = answer.rows else {
        if request.has(Behaviour::AclMissing404) {
            return objects::nothing(request, "policy", answer.index);
        }
        let failure = failure::nothing_found();
        return Err(failure.of_answer(&request.context, answer.index));
    };
    let policy = Policy::new(&shown, request.version());
    Ok(Reply::json(request, &policy).with_index(request, answer.index))
}

async fn replace(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let body = body::read::<PolicyBody>(&mut request, "Policy").await?;
    let target = objects::target(&request, &body.id, "Policy ID")?;
    write(&request, target, body)
}

fn write(request: &Request, target: AclTarget, body: PolicyBody) -> Result<Reply, Failure> {
    request.authorize()?;
    let version = request.version();
    let flaw = Rules::parse(&body.rules, version).err();
    let write = PolicyWrite {
        target,
        policy: NewPolicy {
            name: body.name,
            description: body.description,
            rules: body.rules,
            datacenters: body.datacenters,
        },
        flaw: flaw.map(|error| error.to_string()),
    };
    let written = request.context.engine.apply(write);
    let shown = written.map_err(|refusal| refused(&refusal, version))?;
    Ok(Reply::json(request, &Policy::new(&shown, version)))
}
