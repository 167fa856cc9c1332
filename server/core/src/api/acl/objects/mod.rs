//! What the endpoints of policies, roles, tokens and binding rules share: reading one, deleting one.

pub(super) mod method;
pub(super) mod policy;
pub(super) mod role;
pub(super) mod template;
pub(super) mod token;

use crate::api::acl::failure::{self, refused};
use crate::failure::Failure;
use crate::reply::{self, Reply};
use crate::request::{ReadOptions, Request};
use proconsul_engine::blocking;
use proconsul_store::{AclRefusal, AclTarget, Answer, Index, Read};
use proconsul_version::Behaviour;

/// Returns the rest of the path, the `what` of an object, as the first check of a handler.
pub(super) fn named(request: &Request, what: &str) -> Result<String, Failure> {
    let name = request.rest_text();
    if name.is_empty() {
        let text = format!("Missing {what}");
        return Err(Failure::bad_request(&text, request.version()));
    }
    Ok(name)
}

/// Returns the options of a read, after the checks that all of them make.
pub(super) fn options(request: &Request) -> Result<ReadOptions, Failure> {
    let options = request.read_options()?;
    request.check_tenancy()?;
    request.check_datacenter_of_read()?;
    Ok(options)
}

/// Runs a read that the caller may do.
pub(super) async fn read<R: Read<Refused: Into<AclRefusal>>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Result<Answer<R::Rows>, Failure> {
    let authorized = request.authorize();
    authorized.map_err(|failure| failure.of_read(&request.context))?;
    answer(request, read, options).await
}

/// Runs a read that everybody may do.
pub(super) async fn answer<R: Read<Refused: Into<AclRefusal>>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Result<Answer<R::Rows>, Failure> {
    let engine = &request.context.engine;
    let answer = blocking::answer(engine, read, options.wait).await;
    answer.map_err(|refusal| refused(&refusal.into(), request.version()).of_read(&request.context))
}

/// Returns the answer to a read that found nothing, with the index if the client accepts gzip (acl.md 4.8, 8.1.r2).
pub(super) fn nothing(request: &Request, what: &str, index: Index) -> Result<Reply, Failure> {
    let shows_index = reply::accepts_gzip(&request.headers);
    if !request.has(Behaviour::AclMissing404) {
        let reply = Reply::empty(http::StatusCode::NOT_FOUND);
        return Ok(if shows_index {
            reply.with_index(request, index)
        } else {
            reply
        });
    }
    let failure = failure::missing_object(what);
    Err(if shows_index {
        failure.of_answer(&request.context, index)
    } else {
        failure
    })
}

/// Checks that the caller may delete. Later releases tell an unknown token that there is nothing to delete (acl.md 5.26).
pub(super) fn authorize_deletion(request: &Request, what: &str) -> Result<(), Failure> {
    request.authorize().map_err(|failure| {
        if request.has(Behaviour::AclMissing404) && failure.says("ACL not found") {
            failure::nothing_to_delete(what)
        } else {
            failure
        }
    })
}

/// Returns the answer to a deletion.
pub(super) fn deleted(
    request: &Request,
    what: &str,
    outcome: Result<bool, AclRefusal>,
) -> Result<Reply, Failure> {
    let existed = outcome.map_err(|refusal| refused(&refusal, request.version()))?;
    if !existed && request.has(Behaviour::AclMissing404) {
        return Err(failure::nothing_to_delete(what));
    }
    Ok(Reply::boolean(request, true))
}

/// Returns what a write below a path is about: a new object where the path ends, else the one that it names, which must
/// be that of the body.
pub(super) fn target(request: &Request, in_body: &str, what: &str) -> Result<AclTarget, Failure> {
    let in_path = request.rest_text();
    if !in_body.is_empty() && in_body != in_path {
        let text = format!("{what} in URL and payload do not match");
        return Err(Failure::bad_request(&text, request.version()));
    }
    if in_path.is_empty() {
        return Ok(AclTarget::New(request.context.engine.new_session_id()));
    }
    Ok(AclTarget::Existing(in_path))
}
