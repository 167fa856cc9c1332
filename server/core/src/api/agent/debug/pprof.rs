//! `/debug/pprof/`: the profiles of Go's runtime, which this server does not have (operator.md 7).

use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::auth::acl_disabled;
use crate::failure::Failure;
use crate::reply::header::{NO_SNIFF, TEXT};
use crate::reply::{Reply, ReplyContent};
use crate::request::Request;
use proconsul_version::Behaviour;

/// Shows the command line; every profile is unknown. Without ACLs only an agent with `enable_debug` shows anything.
pub(crate) fn profile(request: &Request) -> Result<Reply, Failure> {
    if request.context.acls.is_none() && !request.context.config.enable_debug {
        if request.has(Behaviour::AgentPprofUnknown) {
            return Ok(Reply::empty(StatusCode::NOT_FOUND));
        }
        return Err(acl_disabled());
    }
    if request.authorize().is_err() {
        return Ok(Reply::empty(StatusCode::FORBIDDEN));
    }
    let mut reply = Reply {
        content_type: Some(TEXT),
        headers: vec![(X_CONTENT_TYPE_OPTIONS, NO_SNIFF)],
        ..Reply::empty(StatusCode::OK)
    };
    let text = if request.rest == b"cmdline" {
        let words = request.context.engine.host().command_line();
        words.join("\0")
    } else {
        let marked = HeaderName::from_static("x-go-pprof");
        reply.headers.push((marked, HeaderValue::from_static("1")));
        reply.status = StatusCode::NOT_FOUND;
        "Unknown profile\n".to_owned()
    };
    reply.content = ReplyContent::Whole(text.into());
    Ok(reply)
}
