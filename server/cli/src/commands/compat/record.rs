//! Passes requests on to a server, and writes down what was asked and answered.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use parking_lot::Mutex;
use proconsul_engine::faults::Cut;
use tokio::net::TcpListener;

use crate::commands::support::proxy::{self, Answering, Upstream};

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
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// `None` if the server closed the connection instead.
    pub(super) status: Option<u16>,
    /// The headers, in the order in which they came.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
}

impl Answer {
    fn of(response: &Response<Bytes>) -> Self {
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), value)
        });
        Self {
            status: Some(response.status().as_u16()),
            headers: headers.collect(),
            body: response.body().clone(),
        }
    }
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

/// Serves all who connect, and never ends.
pub(super) async fn serve(listener: TcpListener, server: SocketAddr, recorded: Recorded) {
    let server = Upstream::at(server);
    let answer = move |request| -> Answering {
        let (server, recorded) = (server.clone(), recorded.clone());
        Box::pin(async move { forward(request, &server, &recorded).await })
    };
    proxy::serve(listener, Arc::new(answer)).await;
}

async fn forward(
    request: Request<Bytes>,
    server: &Upstream,
    recorded: &Recorded,
) -> Result<Response<Bytes>, Cut> {
    let number = {
        let mut exchanges = recorded.0.lock();
        exchanges.push(Exchange {
            method: request.method().to_string(),
            target: proxy::target(&request).to_owned(),
            body: request.body().clone(),
            answer: None,
        });
        exchanges.len() - 1
    };
    let response = server.send(request).await;
    let answer = match &response {
        Ok(response) => Answer::of(response),
        Err(_) => Answer::default(),
    };
    // Nobody takes them before the command has ended, and then the connections are gone.
    if let Some(exchange) = recorded.0.lock().get_mut(number) {
        exchange.answer = Some(answer);
    }
    response.map_err(|_| Cut::Close)
}
