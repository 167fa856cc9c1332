//! Passes requests on to a server, and writes down what was asked and answered.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A request and its answer.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) method: String,
    /// Path and query, as sent.
    pub(super) target: String,
    pub(super) body: Bytes,
    /// `None` if the client went before the answer came.
    pub(super) answer: Option<Answer>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The headers, in the order in which they came.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
}

/// What a command asked, in the order in which it did.
#[derive(Clone, Default)]
pub(super) struct Recorded(Arc<Mutex<Vec<Exchange>>>);

impl Recorded {
    /// Returns what was recorded.
    pub(super) fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.0.lock())
    }
}

type Forward = Client<HttpConnector, Full<Bytes>>;

/// Serves all who connect, and never ends.
pub(super) async fn serve(listener: TcpListener, server: SocketAddr, recorded: Recorded) {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Forward = Client::builder(TokioExecutor::new()).build(connector);
    // Dropping it ends them.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Consul sets it, too.
        let _best_effort = stream.set_nodelay(true);
        let (client, recorded) = (client.clone(), recorded.clone());
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let (client, recorded) = (client.clone(), recorded.clone());
                async move {
                    let answer = exchange(request, server, &client, &recorded).await;
                    Ok::<_, Infallible>(answer)
                }
            });
            // As Go writes the names of headers, for clients that look at the case.
            let mut http = http1::Builder::new();
            let http = http.title_case_headers(true);
            // The client ends it.
            let _ended = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn exchange(
    request: Request<Incoming>,
    server: SocketAddr,
    client: &Forward,
    recorded: &Recorded,
) -> Response<Full<Bytes>> {
    match forward(request, server, client, recorded).await {
        Ok(answer) => answer.map(Full::new),
        Err(error) => {
            let mut answer = Response::new(Full::new(Bytes::from(error)));
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
            answer
        }
    }
}

async fn forward(
    request: Request<Incoming>,
    server: SocketAddr,
    client: &Forward,
    recorded: &Recorded,
) -> Result<Response<Bytes>, String> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await.map_err(|error| error.to_string())?;
    let body = body.to_bytes();
    let target = head.uri.path_and_query();
    let target = target
        .map_or("/", http::uri::PathAndQuery::as_str)
        .to_owned();
    let number = {
        let mut exchanges = recorded.0.lock();
        exchanges.push(Exchange {
            method: head.method.to_string(),
            target: target.clone(),
            body: body.clone(),
            answer: None,
        });
        exchanges.len() - 1
    };
    let uri: Result<Uri, _> = format!("http://{server}{target}").parse();
    head.uri = uri.map_err(|error| error.to_string())?;
    for name in [
        HOST,
        CONNECTION,
        CONTENT_LENGTH,
        TRANSFER_ENCODING,
        EXPECT,
        ACCEPT_ENCODING,
    ] {
        head.headers.remove(name);
    }
    let answer = client
        .request(Request::from_parts(head, Full::new(body)))
        .await;
    let (mut head, body) = answer.map_err(|error| error.to_string())?.into_parts();
    let body = body.collect().await.map_err(|error| error.to_string())?;
    let body = body.to_bytes();
    for name in [CONNECTION, TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    let answer = Answer {
        status: head.status.as_u16(),
        headers: headers.collect(),
        body: body.clone(),
    };
    // Nobody takes them before the command has ended, and then the connections are gone.
    if let Some(exchange) = recorded.0.lock().get_mut(number) {
        exchange.answer = Some(answer);
    }
    Ok(Response::from_parts(head, body))
}
