//! What calls answer.

use std::marker::PhantomData;

use axum::Json;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::control::http::describe::Schemas;

/// What a call answers.
pub(in crate::control::http) trait Output: IntoResponse {
    /// The types of content, as OpenAPI describes them.
    fn contents(schemas: &mut Schemas) -> Value;
}

/// Text for people.
pub(in crate::control::http) struct Text(pub(in crate::control::http) String);

/// JSON that is written already. `T` describes it.
pub(in crate::control::http) struct Written<T>(String, PhantomData<T>);

/// JSON, or text for people where the caller asks for that.
pub(in crate::control::http) enum Shown<T> {
    Json(T),
    Text(String),
}

impl<T: Serialize + JsonSchema> Output for Json<T> {
    fn contents(schemas: &mut Schemas) -> Value {
        json!({ "application/json": { "schema": schemas.given::<T>() } })
    }
}

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl Output for Text {
    fn contents(_: &mut Schemas) -> Value {
        json!({ "text/plain": {} })
    }
}

impl<T> Written<T> {
    /// JSON that is written already.
    pub(in crate::control::http) fn new(json: String) -> Self {
        Self(json, PhantomData)
    }
}

impl<T> IntoResponse for Written<T> {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        ([(CONTENT_TYPE, json)], self.0).into_response()
    }
}

impl<T: JsonSchema> Output for Written<T> {
    fn contents(schemas: &mut Schemas) -> Value {
        json!({ "application/json": { "schema": schemas.given::<T>() } })
    }
}

impl<T: Serialize> IntoResponse for Shown<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Json(value) => Json(value).into_response(),
            Self::Text(text) => text.into_response(),
        }
    }
}

impl<T: Serialize + JsonSchema> Output for Shown<T> {
    fn contents(schemas: &mut Schemas) -> Value {
        json!({
            "application/json": { "schema": schemas.given::<T>() },
            "text/plain": {},
        })
    }
}
