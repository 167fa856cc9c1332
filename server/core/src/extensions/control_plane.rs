//! The control plane on the port of Consul's API: calls its router for requests that `h1` has read.

#[cfg(not(feature = "control-http"))]
pub(crate) use absent::ControlPlane;
#[cfg(feature = "control-http")]
pub(crate) use present::ControlPlane;

#[cfg(feature = "control-http")]
mod present {
    use std::sync::OnceLock;

    use axum::Router;
    use axum::body::Body as RouterBody;
    use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
    use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
    use axum::response::Response;
    use proconsul_h1::{Head, Incoming, ReadBody};
    use tower_service::Service;

    use crate::control::Controls;
    use crate::control::http::{self, LocalSocket};
    use crate::reply::body::{ApiAnswer, ReplyBody};
    use crate::reply::header;
    use crate::reply::stream::StreamBody;
    use proconsul_config::Config;

    /// The prefix of the paths of the control plane, which no Consul has.
    const PREFIX: &[u8] = b"/proconsul/";
    /// The longest body of a call in bytes: a state may have many keys.
    const BODY_LIMIT: u64 = 1 << 30;

    /// The router of a server. It is made at the first call, because most servers never get one.
    #[derive(Debug)]
    pub(crate) struct ControlPlane {
        control: Controls,
        allowed: Vec<String>,
        router: OnceLock<Router>,
    }

    impl ControlPlane {
        /// Returns the control plane; `None` without controls.
        pub(crate) fn new(control: Option<&Controls>, config: &Config) -> Option<Self> {
            control.map(|control| Self {
                control: control.clone(),
                allowed: config.allow_hosts.clone(),
                router: OnceLock::new(),
            })
        }

        /// Whether a request is meant for the control plane, by its decoded path without an origin.
        pub(crate) fn is_meant(&self, head: &Head) -> bool {
            head.target.path().starts_with(PREFIX)
        }

        /// Answers a call. Dropping the future cancels the call: the client has gone.
        pub(crate) async fn answer(
            &self,
            head: &Head,
            mut body: Incoming,
            is_local_socket: bool,
        ) -> ApiAnswer {
            let Some(ReadBody {
                bytes,
                failure: None,
            }) = body.read(BODY_LIMIT).await
            else {
                return refused("the body cannot be read\n");
            };
            let Some(mut request) = request(head, bytes.into()) else {
                return refused("the target cannot be read\n");
            };
            if is_local_socket {
                request.extensions_mut().insert(LocalSocket);
            }
            let router = || http::router(self.control.clone(), &self.allowed);
            let mut router = self.router.get_or_init(router).clone();
            match router.call(request).await {
                Ok(response) => answer(response).await,
                Err(never) => match never {},
            }
        }
    }

    fn request(head: &Head, body: RouterBody) -> Option<Request<RouterBody>> {
        let mut request = Request::new(body);
        *request.uri_mut() = http::uri_of(head.target.path(), head.target.raw_query()).ok()?;
        *request.method_mut() = head.method.clone();
        *request.headers_mut() = head.headers.to_map();
        Some(request)
    }

    /// Reads the whole response, unless it is a stream of events.
    async fn answer(response: Response) -> ApiAnswer {
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind == "text/event-stream") {
            return ApiAnswer {
                headers: listed(&parts.headers),
                body: ReplyBody::Stream(Box::new(StreamBody::new(body))),
                ..ApiAnswer::empty(parts.status)
            };
        }
        let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
            return ApiAnswer::silence();
        };
        let mut headers = listed(&parts.headers);
        if !parts.headers.contains_key(CONTENT_LENGTH) {
            headers.push((CONTENT_LENGTH, header::number(bytes.len() as u64)));
        }
        ApiAnswer {
            headers,
            body: ReplyBody::Whole(bytes),
            ..ApiAnswer::empty(parts.status)
        }
    }

    fn listed(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
        let headers = headers.iter();
        headers
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn refused(sentence: &'static str) -> ApiAnswer {
        ApiAnswer {
            headers: vec![
                (CONTENT_LENGTH, header::number(sentence.len() as u64)),
                (CONTENT_TYPE, header::TEXT),
            ],
            body: ReplyBody::Whole(sentence.into()),
            ..ApiAnswer::empty(StatusCode::BAD_REQUEST)
        }
    }
}

/// A build without the control plane, whose paths are unknown.
#[cfg(not(feature = "control-http"))]
mod absent {
    use crate::control::Controls;
    use proconsul_config::Config;
    use proconsul_h1::{Head, Incoming};

    use crate::reply::body::ApiAnswer;

    #[derive(Debug)]
    pub(crate) enum ControlPlane {}

    impl ControlPlane {
        pub(crate) fn new(_: Option<&Controls>, _: &Config) -> Option<Self> {
            None
        }

        pub(crate) fn is_meant(&self, _: &Head) -> bool {
            match *self {}
        }

        pub(crate) async fn answer(&self, _: &Head, _: Incoming, _: bool) -> ApiAnswer {
            match *self {}
        }
    }
}
