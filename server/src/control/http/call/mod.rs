//! A call: its route, what it takes, what it answers, and what the description says about it, in one place.

mod input;
mod output;
mod query;
mod refused;
mod span;

use std::future::Future;

use axum::extract::State;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Map, Value, json};

use super::describe::Schemas;
use crate::control::Control;

pub(super) use input::{Body, Document, Input, MaybeBody, Nothing, Number, Parameters};
pub(super) use output::{Output, Shown, Text, Written};
pub(super) use refused::Refused;
pub(super) use span::Span;

/// One call of the control plane.
pub(super) struct Call {
    /// The method.
    pub(super) method: Method,
    /// The path below [`PREFIX`](super::PREFIX), with a slash first. A last segment `{id}` stands for a number.
    pub(super) path: &'static str,
    /// The handler.
    pub(super) route: MethodRouter<Control>,
    name: &'static str,
    summary: &'static str,
    example: Option<Value>,
    /// The statuses that only some calls answer, with their meaning.
    refusals: Vec<(u16, &'static str)>,
    describe_input: fn(&mut Schemas, &mut Map<String, Value>),
    answers: fn(&mut Schemas) -> Value,
}

/// A call that `run` carries out. `name` identifies it in the description.
pub(super) fn call<I, O, R, W>(
    method: Method,
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    run: R,
) -> Call
where
    I: Input,
    O: Output,
    R: Fn(Control, I) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<O, Refused>> + Send + 'static,
{
    let filter = MethodFilter::try_from(method.clone()).expect("calls have ordinary methods");
    let handler = move |State(control): State<Control>, input: I| run(control, input);
    Call {
        method,
        path,
        route: on(filter, handler),
        name,
        summary,
        example: None,
        refusals: Vec::new(),
        describe_input: I::describe,
        answers: O::contents,
    }
}

impl Call {
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

    /// Describes the call as an operation of OpenAPI.
    pub(super) fn describe(&self, schemas: &mut Schemas) -> Value {
        let mut operation = Map::new();
        operation.insert("operationId".into(), self.name.into());
        operation.insert("summary".into(), self.summary.into());
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
