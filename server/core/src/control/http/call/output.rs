//! The answers of calls.

use std::marker::PhantomData;

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Refused, Schemas};

/// The answer of a call. A serializable type is answered as JSON.
pub(in crate::control::http) trait Output {
    /// Writes the answer.
    fn into_answer(self) -> Response;

    /// Returns the types of content, as OpenAPI describes them.
    fn contents(schemas: &mut Schemas) -> Value;
}

/// Text for people.
pub(in crate::control::http) struct PlainText(pub(in crate::control::http) String);

/// JSON as text. `T` describes it.
pub(in crate::control::http) struct Written<T>(String, PhantomData<T>);

/// JSON, or text for people if the caller asks for that.
pub(in crate::control::http) enum JsonOrText<T> {
    Json(T),
    Text(String),
}

impl<T: Serialize + JsonSchema> Output for T {
    fn into_answer(self) -> Response {
        written(serde_json::to_vec(&self))
    }

    fn contents(schemas: &mut Schemas) -> Value {
        json!({ "application/json": { "schema": schemas.given::<T>() } })
    }
}

fn written(json: serde_json::Result<Vec<u8>>) -> Response {
    let json = json.map(|json| {
        (
            [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            json,
        )
    });
    json.map_err(|error| Refused::failed(format!("the answer cannot be written: {error}")))
        .into_response()
}

impl Output for PlainText {
    fn into_answer(self) -> Response {
        self.0.into_response()
    }

    fn contents(_: &mut Schemas) -> Value {
        json!({ "text/plain": {} })
    }
}

impl<T> Written<T> {
    /// Wraps JSON text.
    pub(in crate::control::http) fn new(json: String) -> Self {
        Self(json, PhantomData)
    }
}

impl<T: JsonSchema> Output for Written<T> {
    fn into_answer(self) -> Response {
        written(Ok(self.0.into_bytes()))
    }

    fn contents(schemas: &mut Schemas) -> Value {
        json!({ "application/json": { "schema": schemas.given::<T>() } })
    }
}

impl<T: Serialize + JsonSchema> Output for JsonOrText<T> {
    fn into_answer(self) -> Response {
        match self {
            Self::Json(value) => value.into_answer(),
            Self::Text(text) => text.into_response(),
        }
    }

    fn contents(schemas: &mut Schemas) -> Value {
        json!({
            "application/json": { "schema": schemas.given::<T>() },
            "text/plain": {},
        })
    }
}
