//! A call: its route, input, answer and description in one place.

mod input;
mod name;
mod output;
mod query;
mod refused;
mod schemas;
mod span;

use std::future::Future;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::control::Controls;

pub(super) use input::{Input, JsonBody, Nothing, Number, OptionalJsonBody, Parameters, RawJson};
pub(super) use name::{Name, Nouns};
pub(super) use output::{JsonOrText, Output, PlainText, Written};
pub(super) use refused::Refused;
pub(super) use schemas::Schemas;
pub(super) use span::Span;

/// One call of the control plane.
pub(super) struct Call {
    /// The method.
    pub(super) method: Method,
    /// The path below [`PREFIX`](super::PREFIX), with a slash first. A last segment `{id}` stands for a number.
    pub(super) path: &'static str,
    /// The handler.
    pub(super) route: MethodRouter<Controls>,
    /// The name of the handler, which identifies the call in the description.
    name: &'static str,
    /// The lines of the summary.
    summary: &'static [&'static str],
    example: Option<Value>,
    /// The statuses that only some calls answer, with their meaning.
    refusals: Vec<(u16, &'static str)>,
    describe_input: fn(&mut Schemas, &mut Map<String, Value>),
    answers: fn(&mut Schemas) -> Value,
}

/// Lists the calls of a page. A row has the summary, the method, the path below the prefix, the handler, and
/// optionally an example of a body and statuses that only this call answers, with their meanings.
macro_rules! calls {
    ($(
        $(#[doc = $summary:literal])+
        $method:ident $path:literal $run:ident $(, example $example:tt)? $(, refuses $status:literal $when:expr)*;
    )+) => {
        pub(in crate::control::http) fn calls() -> Vec<$crate::control::http::call::Call> {
            vec![$(
                $crate::control::http::call::Call::new(
                    axum::http::Method::$method,
                    $path,
                    stringify!($run),
                    &[$($summary),+],
                    $run,
                )
                $(.example(serde_json::json!($example)))?
                $(.refuses($status, $when))*,
            )+]
        }
    };
}
pub(super) use calls;

impl Call {
    /// Returns the call that `run`, a function called `name`, carries out.
    pub(super) fn new<I, O, R, W>(
        method: Method,
        path: &'static str,
        name: &'static str,
        summary: &'static [&'static str],
        run: R,
    ) -> Self
    where
        I: Input,
        O: Output,
        R: Fn(Controls, I) -> W + Clone + Send + Sync + 'static,
        W: Future<Output = Result<O, Refused>> + Send + 'static,
    {
        let run = Arc::new(run);
        let answered = move |control: Controls, request: Request| -> BoxFuture<'static, Response> {
            let run = Arc::clone(&run);
            Box::pin(async move {
                let input = I::from_request(request, &control).await;
                let answer = match input {
                    Ok(input) => run(control, input).await.map(Output::into_answer),
                    Err(refused) => Err(refused),
                };
                answer.into_response()
            })
        };
        Self {
            route: route(&method, Arc::new(answered)),
            method,
            path,
            name,
            summary,
            example: None,
            refusals: Vec::new(),
            describe_input: I::describe,
            answers: O::contents,
        }
    }

    /// With this example of a body. A test carries it out.
    pub(super) fn example(mut self, example: Value) -> Self {
        self.example = Some(example);
        self
    }

    /// It may also answer this status.
    pub(super) fn refuses(mut self, status: u16, when: &'static str) -> Self {
        self.refusals.push((status, when));
        self
    }

    /// Returns the summary in one line.
    pub(super) fn summary(&self) -> String {
        self.summary.concat().trim_start().to_owned()
    }

    /// Describes the call as an operation of OpenAPI.
    pub(super) fn describe(&self, schemas: &mut Schemas) -> Value {
        let mut operation = Map::new();
        operation.insert("operationId".into(), camel_case(self.name).into());
        operation.insert("summary".into(), self.summary().into());
        (self.describe_input)(schemas, &mut operation);
        if let Some(example) = &self.example {
            let media = &mut operation["requestBody"]["content"]["application/json"];
            media["example"] = example.clone();
        }
        let mut responses = json!({
            "200": { "description": "Done.", "content": (self.answers)(schemas) },
            "400": { "description": "A sentence about what was expected. Nothing has happened." },
            "403": {
                "description": "The header Host or Origin names a host that is not this server's. Nothing has happened.",
            },
        });
        for (status, when) in &self.refusals {
            responses[status.to_string()] = json!({ "description": when });
        }
        operation.insert("responses".into(), responses);
        Value::Object(operation)
    }
}

/// What carries out a call. It is boxed, so that what axum makes of a handler is in the binary once, and not for each call.
type Answered = dyn Fn(Controls, Request) -> BoxFuture<'static, Response> + Send + Sync;

fn route(method: &Method, answered: Arc<Answered>) -> MethodRouter<Controls> {
    let filter = MethodFilter::try_from(method.clone()).expect("calls have ordinary methods");
    on(
        filter,
        async move |State(control): State<Controls>, request| answered(control, request).await,
    )
}

/// `advanceToNext` for `advance_to_next`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |joined, word| {
        let (initial, rest) = word.split_at(1);
        joined + &initial.to_uppercase() + rest
    })
}
