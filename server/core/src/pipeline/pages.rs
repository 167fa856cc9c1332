//! Answers outside of Consul's API: the root, the inspection page, redirects, unknown paths, and targets that are not
//! paths.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, StatusCode};
use proconsul_h1::{Head, Protocol};

use crate::pipeline::context::Context;
use crate::reply::body::{ApiAnswer, ReplyBody};
use crate::reply::{self, Reply, header};
use proconsul_gocompat::mux::{Mux, Redirect};
use proconsul_gocompat::url::RequestTarget;
use proconsul_version::Behaviour;

/// Answers paths outside of the API: `/` and the inspection page. These answers lack the headers of the API.
pub(super) fn page(
    context: &Context,
    method: &Method,
    target: &RequestTarget,
) -> Option<ApiAnswer> {
    let ui = context.config.ui;
    match target.path() {
        // Not the mux, but Consul itself says where the page is.
        b"/" if ui => {
            let to_page = Redirect::to("/ui/");
            let answer = redirect(method, &to_page, StatusCode::MOVED_PERMANENTLY);
            Some(with_configured(context, answer))
        }
        b"/ui" if ui => Some(to_slash(context, method, target)),
        b"/api" if context.has(Behaviour::HttpApiPrefix) => Some(to_slash(context, method, target)),
        b"/" => {
            let text = if context.has(Behaviour::HttpUiOffText) {
                "Consul Agent: UI disabled. To enable, set ui_config.enabled=true in the agent configuration and restart."
            } else {
                "Consul Agent"
            };
            Some(ApiAnswer {
                body: ReplyBody::Whole(text.into()),
                guessed_type: Some(header::TEXT),
                ..ApiAnswer::empty(StatusCode::OK)
            })
        }
        path if ui && path.starts_with(b"/ui/") => Some(of_page(path)),
        _ => None,
    }
}

/// Answers with a file of the page, which is allowed what it needs and nothing else: its own scripts and styles, and
/// requests to this server.
fn of_page(path: &[u8]) -> ApiAnswer {
    let Some(file) = crate::extensions::ui::file(path) else {
        return unknown_resource();
    };
    let text = HeaderValue::from_static;
    ApiAnswer {
        headers: vec![
            (CACHE_CONTROL, text("no-cache")),
            (CONTENT_LENGTH, header::number(file.bytes.len() as u64)),
            (
                CONTENT_SECURITY_POLICY,
                text(crate::extensions::ui::SECURITY_POLICY),
            ),
            (CONTENT_TYPE, text(file.kind)),
            (REFERRER_POLICY, text("no-referrer")),
            (X_CONTENT_TYPE_OPTIONS, header::NO_SNIFF),
        ],
        body: ReplyBody::Whole(Bytes::from_static(file.bytes)),
        ..ApiAnswer::empty(StatusCode::OK)
    }
}

/// Answers targets that are not paths, as Go's server and its mux do.
pub(super) fn without_path(context: &Context, head: &Head) -> Option<ApiAnswer> {
    if head.method == Method::CONNECT && !head.target.as_sent().starts_with(b"/") {
        let is_redirected = context.has(Behaviour::HttpMuxEscaped)
            && !context.has(Behaviour::HttpRedirectTemporary);
        return Some(if is_redirected {
            mux_redirect(context, &head.method, &Redirect::to("/"))
        } else {
            unknown_resource()
        });
    }
    if **head.target.as_sent() != *b"*" {
        return None;
    }
    let (status, header) = if head.method == Method::OPTIONS {
        (
            StatusCode::OK,
            (CONTENT_LENGTH, HeaderValue::from_static("0")),
        )
    } else {
        let close = HeaderValue::from_static("close");
        (StatusCode::BAD_REQUEST, (CONNECTION, close))
    };
    let mut answer = ApiAnswer::empty(status);
    // An HTTP/1.0 connection ends anyway, so it gets no `Connection: close`.
    if head.protocol == Protocol::Http11 || status == StatusCode::OK {
        answer.headers.push(header);
    }
    Some(answer)
}

/// Redirects a path to the same with a slash at its end.
pub(super) fn to_slash(context: &Context, method: &Method, target: &RequestTarget) -> ApiAnswer {
    mux_redirect(context, method, &Mux::redirect_to_slash(target))
}

/// Redirects as the mux of the release does.
pub(super) fn mux_redirect(context: &Context, method: &Method, to: &Redirect) -> ApiAnswer {
    let status = if context.has(Behaviour::HttpRedirectTemporary) {
        StatusCode::TEMPORARY_REDIRECT
    } else {
        StatusCode::MOVED_PERMANENTLY
    };
    redirect(method, to, status)
}

fn redirect(method: &Method, to: &Redirect, status: StatusCode) -> ApiAnswer {
    let mut answer = ApiAnswer::empty(status);
    if matches!(*method, Method::GET | Method::HEAD) {
        answer.headers.push((CONTENT_TYPE, header::HTML));
    }
    if let Ok(location) = HeaderValue::from_str(&to.location()) {
        answer.headers.push((LOCATION, location));
    }
    if *method == Method::GET {
        let reason = status.canonical_reason().unwrap_or_default();
        answer.body = ReplyBody::Whole(to.html(reason).into());
    }
    answer
}

/// Answers an unknown path (kv.md 6.6, 1.22.md A6). The log names each path once, because it may be an endpoint that
/// this server lacks.
pub(super) fn unknown_path(context: &Context, path: &[u8]) -> ApiAnswer {
    context.note_unknown(path);
    if path.starts_with(b"/api/") && context.has(Behaviour::HttpApiPrefix) {
        return unknown_resource();
    }
    let text = if !context.has(Behaviour::HttpUnknownPathText) {
        ""
    } else if path.windows(4).any(|window| window == b"/v1/") {
        "Invalid URL path: not a recognized HTTP API endpoint\n"
    } else {
        "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n"
    };
    let mut answer = ApiAnswer::empty(StatusCode::NOT_FOUND);
    if !text.is_empty() {
        // Go's server guesses the type after all other headers.
        answer.guessed_type = Some(header::TEXT);
        answer.body = ReplyBody::Whole(text.into());
    }
    with_configured(context, answer)
}

/// Adds the configured headers to an answer outside of the API, as later releases do. A configured type leaves nothing to
/// guess, and a redirect without its text.
fn with_configured(context: &Context, mut answer: ApiAnswer) -> ApiAnswer {
    if !context.has(Behaviour::HttpUnknownPathText) || context.response_headers.is_empty() {
        return answer;
    }
    let mut configured = context.response_headers.iter();
    if configured.any(|(name, _)| *name == CONTENT_TYPE) {
        answer.guessed_type = None;
        if answer.status.is_redirection() {
            answer.headers.retain(|(name, _)| *name != CONTENT_TYPE);
            answer.body = ReplyBody::Whole(Bytes::new());
        }
    }
    answer.headers.extend_from_slice(&context.response_headers);
    answer
        .headers
        .sort_by(|(left, _), (right, _)| left.as_str().cmp(right.as_str()));
    answer
}

/// Answers an unknown path of the resource API, which is separate from `/v1/` (1.22.md A6).
fn unknown_resource() -> ApiAnswer {
    ApiAnswer {
        headers: vec![
            (CONTENT_TYPE, header::TEXT),
            (X_CONTENT_TYPE_OPTIONS, header::NO_SNIFF),
        ],
        body: ReplyBody::Whole("404 page not found\n".into()),
        ..ApiAnswer::empty(StatusCode::NOT_FOUND)
    }
}

/// Answers a malformed query string (kv.md 0, step 5).
pub(super) fn bad_query(context: &Context) -> ApiAnswer {
    let mut reply = Reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    if context.has(Behaviour::HttpBadQueryContentType) {
        reply.content_type = Some(header::TEXT);
    }
    reply::finish(context, false, reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_says_its_status_in_words() {
        for (status, reason) in [
            (StatusCode::MOVED_PERMANENTLY, "Moved Permanently"),
            (StatusCode::TEMPORARY_REDIRECT, "Temporary Redirect"),
        ] {
            let answer = redirect(&Method::GET, &Redirect::to("/a"), status);
            assert_eq!(answer.status, status);
            let ReplyBody::Whole(body) = answer.body else {
                panic!("a redirect has a body")
            };
            assert_eq!(body, format!("<a href=\"/a\">{reason}</a>.\n\n"));
        }
    }
}
