//! The one place before the handlers and before the replies where faults are asked for.

pub(crate) mod leader;

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use proconsul_h1::Ending;

use crate::control::Control;
use crate::faults::{Asked, ConsulError, Cut, Faults, Hold, Plan, Response, Stop};
use crate::history::CallId;
use crate::http::Context;
use crate::http::failure::Failure;
use crate::http::fault::leader::LeaderPatience;
use crate::http::reply::body::Body;
use crate::http::reply::{self, Answer, Content, Reply, header};
use crate::http::request::{Consistency, Request};
use crate::http::route::Handler;

/// What a request came to.
pub(crate) struct Outcome {
    pub(crate) reply: Result<Reply, Failure>,
    /// How its answer is cut short.
    pub(crate) cut: Option<Cut>,
    /// A response that is sent as it is: not Consul's, and without what all of Consul's have.
    pub(crate) foreign: Option<Answer>,
}

impl From<Cut> for Ending {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Reset => Self::Reset,
            Cut::Close => Self::Silence,
            Cut::After(length) => Self::CutOff(length),
        }
    }
}

impl From<Result<Reply, Failure>> for Outcome {
    fn from(reply: Result<Reply, Failure>) -> Self {
        Self {
            reply,
            cut: None,
            foreign: None,
        }
    }
}

/// A request as faults see it, which outlives its handling.
struct Seen {
    method: Method,
    path: Vec<u8>,
    session: Option<String>,
    client: Option<IpAddr>,
    headers: HeaderMap,
    is_stale: bool,
    call: Option<CallId>,
    /// How long it is ready to wait for news; zero for what does not.
    wait: Duration,
}

impl Seen {
    fn of(request: &Request, path: &[u8]) -> Self {
        let of_path = ["renew", "destroy", "info"].iter().find_map(|verb| {
            let rest = path.strip_prefix(format!("/v1/session/{verb}/").as_bytes())?;
            Some(String::from_utf8_lossy(rest).into_owned())
        });
        let query = &request.query;
        let of_query = query.first("acquire").or(query.first("release"));
        let of_query = of_query.map(|id| String::from_utf8_lossy(id).into_owned());
        Self {
            method: request.method.clone(),
            path: path.to_vec(),
            session: of_path.or(of_query),
            client: request.peer,
            headers: request.headers.clone(),
            is_stale: matches!(request.consistency(), Ok(Consistency::Stale)),
            call: request.call,
            wait: match request.wait_options() {
                Ok(Some(wait)) => wait.limit,
                Ok(None) | Err(_) => Duration::ZERO,
            },
        }
    }

    /// Lets `look` see it.
    fn with<T>(&self, look: impl FnOnce(&Asked<'_>) -> T) -> T {
        let header = |name: &str| {
            let value = self.headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        look(&Asked {
            method: self.method.as_str(),
            path: &self.path,
            session: self.session.as_deref(),
            client: self.client,
            header: &header,
            is_stale: self.is_stale,
        })
    }
}

/// Handles a request, and does with it what faults demand.
pub(crate) async fn handle_with_faults(
    handler: Handler,
    mut request: Request,
    path: &[u8],
) -> Outcome {
    let context = Arc::clone(&request.context);
    let Some(control) = &context.control else {
        return handler.answer(request).await.into();
    };
    let faults = control.fault_table();
    let seen = Seen::of(&request, path);
    let plan = until_it_may_go_on(&context, faults, &seen).await;
    if let Some(stop) = &plan.stop {
        return stopped(&request, &seen, stop);
    }
    let mut _stands = None;
    if let Some(past) = &plan.read_from {
        // The request is handled by a server that has fallen behind. What it waits for there never comes.
        let past = control.engine().fallen_behind(past.store());
        request.context = Arc::new(context.of_another_server(past));
        _stands = request
            .call
            .map(|call| control.engine().stand_still(call, None));
    }
    let handled = {
        // A future that is moved into another one would take its place twice.
        let handling = pin!(handler.answer(request));
        unless_interrupted(control, &seen, handling).await
    };
    let reply = match handled {
        Ok(reply) => reply,
        Err(error) => return failed(&context, &seen, &error),
    };
    if let Some(hold) = plan.hold_answer {
        control.engine().hold(seen.call, Some(hold)).await;
    }
    Outcome {
        cut: plan.cut,
        ..reply.map(|reply| reply::shown(reply, plan.shown)).into()
    }
}

/// Holds a request for as long as faults demand, and returns what is left of their plan.
async fn until_it_may_go_on(context: &Context, faults: &Faults, seen: &Seen) -> Plan {
    let engine = &context.engine;
    let mut patience = LeaderPatience::new(context, seen.wait);
    loop {
        let changes = faults.leadership_changes();
        let asked = seen.with(|asked| faults.ask(asked, engine.clock().now()));
        let Some(plan) = asked else {
            return Plan::default();
        };
        if let Some(call) = seen.call {
            engine.fault_hit(call, &plan.name);
        }
        let held = |duration: Option<Duration>| engine.hold(seen.call, duration);
        match plan.hold {
            Hold::None => return plan,
            Hold::For(duration) => {
                held(Some(duration)).await;
                return plan;
            }
            Hold::Forever => held(None).await,
            Hold::AsForLeader => {
                while let Some(step) = patience.step(engine) {
                    held(Some(step)).await;
                }
                return plan;
            }
            Hold::ForLeader | Hold::ForElection(_) => {
                let Some(step) = patience.step(engine) else {
                    return plan;
                };
                match plan.hold {
                    // It looks again after its wait, and not when there is a leader.
                    _ if patience.grows => held(Some(step)).await,
                    Hold::ForElection(lasts) if lasts < step => tokio::select! {
                        () = held(Some(lasts)) => {}
                        () = changes => {}
                    },
                    _ => tokio::select! {
                        () = held(Some(step)) => {}
                        () = changes => {}
                    },
                }
            }
        }
    }
}

/// What `work` comes to, or the error with which the loss of the leader ends it.
async fn unless_interrupted<T>(
    control: &Control,
    seen: &Seen,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, ConsulError> {
    let faults = control.fault_table();
    loop {
        let changes = faults.leadership_changes();
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = changes => {}
        }
        let plan = seen.with(|asked| faults.interrupts(asked, control.now()));
        if let Some(Plan {
            name,
            stop: Some(Stop::Error(error)),
            ..
        }) = plan
        {
            if let Some(call) = seen.call {
                control.engine().fault_hit(call, &name);
            }
            return Err(error);
        }
    }
}

/// What a request comes to whose handler is not asked.
fn stopped(request: &Request, seen: &Seen, stop: &Stop) -> Outcome {
    match stop {
        Stop::Error(error) => failed(&request.context, seen, error),
        Stop::NoLeaderName => Ok(Reply::json(request, "")).into(),
        Stop::NoPeers => Ok(Reply::json(request, &[(); 0])).into(),
        Stop::Respond(response) => Outcome {
            foreign: Some(foreign(response)),
            ..Ok(Reply::empty(StatusCode::OK)).into()
        },
        Stop::Cut(cut) => Outcome {
            cut: Some(*cut),
            ..Ok(Reply::empty(StatusCode::OK)).into()
        },
    }
}

/// A response of a rule on the wire. What cannot be sent was refused with its rule.
fn foreign(response: &Response) -> Answer {
    let header = |(name, value): &(String, String)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    let mut headers: Vec<_> = response.headers().iter().filter_map(header).collect();
    let body = Bytes::copy_from_slice(response.content());
    headers.push((CONTENT_LENGTH, header::number(body.len() as u64)));
    let status = StatusCode::from_u16(response.status());
    Answer {
        headers,
        body: Body::Whole(body),
        ..Answer::empty(status.expect("a rule is checked when it is installed"))
    }
}

fn failed(context: &Context, seen: &Seen, error: &ConsulError) -> Outcome {
    let config = &context.config;
    if error.is_silent(config.version) {
        return Outcome {
            cut: Some(Cut::Close),
            ..Ok(Reply::empty(StatusCode::OK)).into()
        };
    }
    let server = format!("{}:{}", config.advertise_address, config.server_port);
    let is_write = !matches!(seen.method, Method::GET | Method::HEAD);
    let key = seen.path.strip_prefix(b"/v1/kv/");
    let text = error.text(config.version, key, is_write, &server);
    let failure = Failure::new(error.status(), text);
    let reads = [
        "/v1/session/info/",
        "/v1/session/list",
        "/v1/session/node/",
        "/v1/catalog/",
        "/v1/health/",
    ];
    let is_read = reads
        .iter()
        .any(|path| seen.path.starts_with(path.as_bytes()));
    let mut reply = if is_read && !is_write && error.status() == 500 {
        Reply::failed_read(context, &failure)
    } else {
        Reply::failure(&failure, config.version)
    };
    if failure_text_is_empty(&reply) {
        reply.content_type = None;
    }
    if *error == ConsulError::TooManyConnections {
        reply.content_type = Some(HeaderValue::from_static("text/plain"));
    }
    Ok(reply).into()
}

fn failure_text_is_empty(reply: &Reply) -> bool {
    matches!(&reply.content, Content::Whole(text) if text.is_empty())
}
