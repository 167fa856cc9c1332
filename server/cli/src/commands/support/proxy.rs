//! Stands between a client and a server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use proconsul_engine::faults::Cut;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The answer to a request, or how the connection ends without one.
pub(in crate::commands) type Answering =
    Pin<Box<dyn Future<Output = Result<Response<Bytes>, Cut>> + Send>>;

/// What answers the requests of all who connect.
pub(in crate::commands) type Answer = Arc<dyn Fn(Request<Bytes>) -> Answering + Send + Sync>;

/// Serves all who connect, and never ends.
pub(in crate::commands) async fn serve(listener: TcpListener, answer: Answer) {
    // Dropping it ends them.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Consul sets it, too.
        let _best_effort = stream.set_nodelay(true);
        connections.spawn(connection(stream, Arc::clone(&answer)));
    }
}

async fn connection(stream: TcpStream, answer: Answer) {
    let (cuts, mut cut) = mpsc::unbounded_channel();
    let service = service_fn(move |request| {
        let (answer, cuts) = (Arc::clone(&answer), cuts.clone());
        async move {
            match whole(request, &answer).await {
                Ok(answer) => Ok::<_, Infallible>(answer.map(Full::new)),
                Err(how) => {
                    // The connection ends before this is looked at again.
                    let _ended = cuts.send(how);
                    std::future::pending().await
                }
            }
        }
    });
    // As Go writes the names of headers, for clients that look at the case.
    let mut http = http1::Builder::new();
    let mut connection = http
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream), service);
    let how = tokio::select! {
        _ = &mut connection => None,
        how = cut.recv() => how,
    };
    if how == Some(Cut::Reset) {
        let stream = connection.into_parts().io.into_inner();
        // Where it does not work, the connection is closed all the same.
        let _best_effort = stream.set_zero_linger();
    }
}

/// Answers a request when all of it is there.
async fn whole(request: Request<Incoming>, answer: &Answer) -> Result<Response<Bytes>, Cut> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut::Close)?.to_bytes();
    answer(Request::from_parts(head, body)).await
}

/// Returns the path and query of a request.
pub(in crate::commands) fn target<B>(request: &Request<B>) -> &str {
    let target = request.uri().path_and_query();
    target.map_or("/", PathAndQuery::as_str)
}

/// A server to which requests are passed on.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Upstream {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Upstream {
    pub(in crate::commands) fn at(address: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            address,
            client: Client::builder(TokioExecutor::new()).build(connector),
        }
    }

    pub(in crate::commands) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a request without what belongs to its connection, and returns the response alike. The body comes as it is, not
    /// compressed, because it is read on the way.
    ///
    /// # Errors
    /// The server does not answer.
    pub(in crate::commands) async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, String> {
        let mut request = request.map(Full::new);
        let uri: Result<Uri, _> = format!("http://{}{}", self.address, target(&request)).parse();
        *request.uri_mut() = uri.map_err(|error| error.to_string())?;
        for name in [
            HOST,
            CONNECTION,
            CONTENT_LENGTH,
            TRANSFER_ENCODING,
            EXPECT,
            ACCEPT_ENCODING,
        ] {
            request.headers_mut().remove(name);
        }
        let silent = |error: &dyn std::error::Error| {
            // The error itself says no more than that a connection failed.
            let why = error.source().map_or_else(String::new, ToString::to_string);
            format!("{} does not answer: {error}: {why}", self.address)
        };
        let answer = self.client.request(request).await;
        let (mut head, body) = answer.map_err(|error| silent(&error))?.into_parts();
        let body = body.collect().await.map_err(|error| silent(&error))?;
        for name in [CONNECTION, TRANSFER_ENCODING] {
            head.headers.remove(name);
        }
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}
