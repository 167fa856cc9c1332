//! A server as a `tower::Service`: requests without a connection.

use std::error::Error;
use std::future::pending;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response, request};
use http_body_util::{BodyExt, Full};
use proconsul_core::{Context, exchange};
use proconsul_engine::sync::either;
use tokio::sync::oneshot;

use super::accept::tasks::Tasks;

/// A [`RuntimeServer`](super::in_runtime::RuntimeServer) as a `tower::Service`, for a client that takes one in place of a
/// network. Neither requests nor responses are framed: the body of a response is in one piece, and a response that has no
/// end, such as the agent's log, never comes. To drop the future is to give up the request.
///
/// ```
/// use http::Request;
/// use http_body_util::{BodyExt, Empty};
/// use proconsul::Server;
/// use tower_service::Service;
///
/// // #[tokio::test(start_paused = true)]
/// async fn a_key_is_read() -> Result<(), Box<dyn std::error::Error>> {
///     let server = Server::builder().in_runtime()?;
///     server.kv().put("greeting", "hello");
///     let mut consul = server.service();
///     let request = Request::get("/v1/kv/greeting?raw").body(Empty::<&[u8]>::new())?;
///     let response = consul.call(request).await?;
///     assert_eq!(response.status(), 200);
///     assert_eq!(response.headers()["x-consul-index"], "8");
///     assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
///     Ok(())
/// }
/// # let mut runtime = tokio::runtime::Builder::new_current_thread();
/// # let runtime = runtime.enable_all().start_paused(true).build()?;
/// # runtime.block_on(a_key_is_read())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Service {
    pub(super) context: Arc<Context>,
    pub(super) tasks: Arc<Tasks>,
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    /// The body of the request failed; or the server cuts the request off (a fault), refuses connections or has stopped.
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _task: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { context, tasks } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let mut bytes = head(&parts);
            let body = body.collect().await.map_err(io::Error::other)?;
            bytes.extend_from_slice(&body.to_bytes());
            // A task of the server's, which ends with it.
            let (answer, answered) = oneshot::channel();
            tasks.spawn(Box::pin(answer_to(context, bytes, answer)));
            let stopped = |_| io::Error::other("the server has stopped");
            let response = answered.await.map_err(stopped)?;
            let cut = || io::Error::from(io::ErrorKind::ConnectionReset);
            Ok(response.ok_or_else(cut)?.map(Full::new))
        })
    }
}

/// Answers a request, unless its client gives it up or the server refuses connections.
async fn answer_to(
    context: Arc<Context>,
    request: Vec<u8>,
    mut answer: oneshot::Sender<Option<Response<Bytes>>>,
) {
    let gone = async {
        let refused = async {
            match context.listeners() {
                Some(listeners) => listeners.are(false).await,
                None => pending().await,
            }
        };
        either(answer.closed(), refused).await;
        None
    };
    let exchanging = pin!(exchange(Arc::clone(&context), None, &request));
    let response = either(gone, exchanging).await;
    // The client may have gone meanwhile.
    let _ = answer.send(response);
}

/// Returns the head of a request as HTTP/1.1 has it.
fn head(parts: &request::Parts) -> Vec<u8> {
    let target = parts.uri.path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    let mut head = format!("{} {target} HTTP/1.1\r\n", parts.method).into_bytes();
    let mut push = |name: &str, value: &[u8]| {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    };
    if !parts.headers.contains_key(HOST) {
        let host = parts.uri.authority().map_or("", |host| host.as_str());
        push(HOST.as_str(), host.as_bytes());
    }
    for (name, value) in &parts.headers {
        push(name.as_str(), value.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}
