//! Passes the requests of a contender on to a real Consul, as the schedule lets them through.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use parking_lot::Mutex;
use proconsul::in_runtime::RuntimeServer;
use proconsul_engine::faults::{Asked, ConsulError, Cut, Director as _, Hold, Link, Plan, Stop};
use proconsul_engine::history::CallId;
use proconsul_engine::{Engine, OpenCall};
use proconsul_explore::{Contender, Stage};
use tokio::net::TcpListener;

use super::asked::About;
use super::witness::Witness;
use crate::commands::support::proxy::{self, Answering};

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
        let answer = move |request| -> Answering {
            let proxy = self.clone();
            Box::pin(async move { proxy.answer(request).await })
        };
        proxy::serve(listener, Arc::new(answer)).await;
    }

    /// Answers a request.
    ///
    /// # Errors
    /// How the connection ends without an answer.
    async fn answer(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Cut> {
        let engine = self.recorder.shared_engine();
        let target = proxy::target(&request);
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
            agent: 0,
            header: &header,
            is_stale: about.is_stale,
        };
        self.stage.arrived(&asked, self.recorder.now())
    }

    async fn hold(&self, call: Option<CallId>, hold: Hold) {
        let lasts = match hold {
            // No leader loss plans them, which a Consul of one server does not have.
            Hold::None | Hold::ForLeader | Hold::ForElection(_) | Hold::UntilHeard(_) => return,
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
        request: Request<Bytes>,
        call: Arc<Mutex<Option<OpenCall>>>,
        id: Option<CallId>,
    ) -> Result<Response<Bytes>, Cut> {
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
        answer.map_err(|_| Cut::Close)
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
