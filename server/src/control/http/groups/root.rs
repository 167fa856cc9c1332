//! The description of the control plane itself.

use axum::extract::{FromRequest, Request};
use axum::http::header::{ACCEPT, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{Html, IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::control::Server;
use crate::control::http::call::Schemas;
use crate::control::http::call::{Input, Nothing, Output, Refused, Written, calls};
use crate::control::http::describe;

calls! {
    /// This description: a page for people, who take `text/html`, and JSON for everybody else.
    GET "/" reference;
    /// This description, as JSON.
    GET "/openapi.json" openapi;
    /// What this server is, and the seed with which it can be started again.
    GET "/server" server;
}

/// An OpenAPI document.
#[derive(JsonSchema, Serialize)]
struct OpenApi {
    /// The version of OpenAPI.
    openapi: String,
    /// What is described.
    info: Value,
    /// The calls, by path and method.
    paths: Map<String, Value>,
}

/// Whether the caller is a person with a browser.
struct WantsPage(bool);

impl FromRequest<Server> for WantsPage {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Server) -> Result<Self, Refused> {
        let wants_page = takes_html(request.headers());
        Nothing::from_request(request, control).await?;
        Ok(Self(wants_page))
    }
}

impl Input for WantsPage {
    fn describe(_: &mut Schemas, _: &mut Map<String, Value>) {}
}

fn takes_html(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|value| value.as_bytes().windows(9).any(|part| part == b"text/html"))
}

/// The description in either form.
enum Reference {
    Json,
    Page,
}

impl Output for Reference {
    fn into_answer(self) -> Response {
        let mut response = match self {
            Self::Json => Written::<OpenApi>::new(describe::openapi().to_owned()).into_answer(),
            Self::Page => Html(describe::html()).into_response(),
        };
        let varies = HeaderValue::from_static("Accept");
        response.headers_mut().insert(VARY, varies);
        response
    }

    fn contents(schemas: &mut Schemas) -> Value {
        json!({
            "application/json": { "schema": schemas.given::<OpenApi>() },
            "text/html": {},
        })
    }
}

async fn reference(_: Server, WantsPage(wants_page): WantsPage) -> Result<Reference, Refused> {
    Ok(if wants_page {
        Reference::Page
    } else {
        Reference::Json
    })
}

async fn openapi(_: Server, _: Nothing) -> Result<Written<OpenApi>, Refused> {
    Ok(Written::new(describe::openapi().to_owned()))
}

/// What a server is.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct About {
    /// The version of proconsul.
    proconsul: String,
    /// The emulated release of Consul.
    version: String,
    /// The seed from which session ids, the node's id and jitter are drawn; `--seed` and `POST /servers` take it.
    seed: u64,
    /// The name of the agent's node.
    node: String,
    /// The name of the datacenter.
    datacenter: String,
    /// The wall clock at the start of the server's clock, in milliseconds since the Unix epoch: with the time of a record
    /// it is the wall clock of that record.
    epoch_ms: u64,
}

async fn server(control: Server, _: Nothing) -> Result<About, Refused> {
    let epoch = control.engine.clock().unix_nanos_of_epoch() / 1_000_000;
    Ok(About {
        epoch_ms: u64::try_from(epoch).unwrap_or(0),
        proconsul: env!("CARGO_PKG_VERSION").to_owned(),
        seed: control.seed,
        version: control.version.to_string(),
        node: control.node_name,
        datacenter: control.datacenter,
    })
}
