//! Passes the requests of a contender on to a real Consul, as the schedule lets them through.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderValue,
    TRANSFER_ENCODING,
};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use proconsul::in_runtime::RuntimeServer;
use proconsul_engine::faults::{Asked, ConsulError, Cut, Director as _, Hold, Link, Plan, Stop};
use proconsul_engine::history::CallId;
use proconsul_engine::{Engine, OpenCall};
use proconsul_explore::{Contender, Stage};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::asked::About;
use super::witness::Witness;

/// The way of a contender to a real Consul.
#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) contender: Contender,
    pub(super) stage: Arc<Stage>,
    /// Keeps the history, and serves nobody.
    pub(super) recorder: Arc<RuntimeServer>,
    pub(super) witness: Arc<Witness>,
    pub(super) version: proconsul::Version,
}

impl Proxy {
    /// Serves all who connect, and never ends.
    pub(super) async fn serve(self, listener: TcpListener) {
        // Dropping it ends them.
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            // Consul sets it, too.
            let _best_effort = stream.set_nodelay(true);
            connections.spawn(self.clone().connection(stream));
        }
    }

    async fn connection(self, stream: TcpStream) {
        let (cuts, mut cut) = mpsc::unbounded_channel();
        let service = service_fn(move |request| {
            let (proxy, cuts) = (self.clone(), cuts.clone());
            async move {
                match proxy.answer(request).await {
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

    /// Answers a request.
    ///
    /// # Errors
    /// How the connection ends without an answer.
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Bytes>, Cut> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Cut::Close)?.to_bytes();
        let request = Request::from_parts(head, body);
        let engine = self.recorder.shared_engine();
        let target = request.uri().path_and_query();
        let target = target.map_or("/", http::uri::PathAndQuery::as_str);
        let call = engine.begin_call(self.client(), request.method().as_str(), target);
        let id = call.as_ref().map(OpenCall::id);
        // It stays open for whoever records what follows from it, also when the client has gone.
        let call = Arc::new(Mutex::new(call));
        let about = About::new(&request);
        let plan = self.plan(&request, &about);
        self.until_link_is_up().await?;
        if let Some(plan) = &plan {
            Engine::of_call(id, || engine.fault_hit(&plan.name));
        }
        let plan = plan.unwrap_or_default();
        self.hold(id, plan.hold).await;
        let answer = match plan.stop {
            Some(Stop::Cut(cut)) => return Err(cut),
            Some(Stop::Error(error)) => self.error(&request, &error)?,
            _ => {
                let forwarded = self.forward(request, Arc::clone(&call), id);
                let answer = self.unless_cut(forwarded).await?;
                if let Some(lasts) = plan.hold_answer {
                    self.hold(id, Hold::For(lasts)).await;
                }
                self.until_link_is_up().await?;
                answer
            }
        };
        if let Some(cut) = plan.cut {
            return Err(cut);
        }
        if let Some(call) = call.lock().as_mut() {
            call.answered(Some(answer.status().as_u16()));
        }
        Ok(answer)
    }

    fn client(&self) -> Option<IpAddr> {
        Some(self.contender.address().ip())
    }

    /// Returns what the schedule does to a request; `None` for nothing.
    fn plan(&self, request: &Request<Bytes>, about: &About) -> Option<Plan> {
        let header = |name: &str| {
            let value = request.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let asked = Asked {
            method: request.method().as_str(),
            path: about.path.as_bytes(),
            kind: about.kind,
            session: about.session(),
            acquires: about.acquired().is_some(),
            client: self.client(),
            header: &header,
            is_stale: about.is_stale,
        };
        self.stage.arrived(&asked, self.recorder.now())
    }

    async fn hold(&self, call: Option<CallId>, hold: Hold) {
        let lasts = match hold {
            // No leader loss plans them, which a Consul of one server does not have.
            Hold::None | Hold::ForLeader | Hold::ForElection(_) => return,
            Hold::For(lasts) => Some(lasts),
            Hold::AsForLeader => Some(ConsulError::NoClusterLeader.hold()),
            Hold::Forever => None,
        };
        let mut held = pin!(self.recorder.engine().hold(lasts));
        // The record of it belongs to the request.
        poll_fn(|task| Engine::of_call(call, || held.as_mut().poll(task))).await;
    }

    /// Returns one of Consul's errors as this release answers it.
    ///
    /// # Errors
    /// It closes the connection instead.
    fn error(&self, request: &Request<Bytes>, error: &ConsulError) -> Result<Response<Bytes>, Cut> {
        if error.is_silent(self.version) {
            return Err(Cut::Close);
        }
        let about = About::new(request);
        let key = about.path.as_bytes().strip_prefix(b"/v1/kv/");
        let is_write = !request.method().is_safe();
        let text = error.text(self.version, key, is_write, "127.0.0.1:8300");
        let mut answer = Response::new(Bytes::from(text));
        let status = StatusCode::from_u16(error.status());
        *answer.status_mut() = status.expect("it is one of Consul's");
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        Ok(answer)
    }

    /// Passes a request on to Consul. One that may change the state is carried out also when its client has gone.
    async fn forward(
        &self,
        mut request: Request<Bytes>,
        call: Arc<Mutex<Option<OpenCall>>>,
        id: Option<CallId>,
    ) -> Result<Response<Bytes>, Cut> {
        for name in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, EXPECT] {
            request.headers_mut().remove(name);
        }
        // The state is read from the bodies.
        request.headers_mut().remove(ACCEPT_ENCODING);
        let witness = Arc::clone(&self.witness);
        let answer = if request.method().is_safe() {
            witness.read(request).await
        } else {
            let writing = tokio::spawn(async move {
                let answer = witness.write(id, request).await;
                drop(call);
                answer
            });
            writing.await.unwrap_or_else(|error| Err(error.to_string()))
        };
        // The witness finds it out, too, and ends the run.
        let mut answer = answer.map_err(|_| Cut::Close)?;
        for name in [CONNECTION, TRANSFER_ENCODING] {
            answer.headers_mut().remove(name);
        }
        Ok(answer)
    }

    /// Waits while the link to the contender is silent.
    ///
    /// # Errors
    /// It is cut.
    async fn until_link_is_up(&self) -> Result<(), Cut> {
        loop {
            let changes = self.recorder.link_changes();
            match self.stage.link(self.client()) {
                Link::Up => return Ok(()),
                Link::Cut => return Err(Cut::Reset),
                Link::Silent => changes.await,
            }
        }
    }

    /// Waits for an answer.
    ///
    /// # Errors
    /// The link is cut before the answer arrives, or the real Consul does not answer.
    async fn unless_cut(
        &self,
        answer: impl Future<Output = Result<Response<Bytes>, Cut>>,
    ) -> Result<Response<Bytes>, Cut> {
        let mut answer = pin!(answer);
        loop {
            let changes = self.recorder.link_changes();
            if self.stage.link(self.client()) == Link::Cut {
                return Err(Cut::Reset);
            }
            tokio::select! {
                answer = &mut answer => return answer,
                () = changes => {}
            }
        }
    }
}
