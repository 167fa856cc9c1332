//! The input of calls: typed bodies and parameters, all of which are checked before anything is done.

use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::Uri;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use super::{Refused, query};
use crate::control::Controls;
use crate::control::http::below_prefix;

/// The input of a call.
pub(in crate::control::http) trait Input:
    FromRequest<Controls, Rejection = Refused> + Send + 'static
{
    /// Adds the input to an operation of the description.
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>);
}

/// No parameter, and no body but an empty object.
pub(in crate::control::http) struct Nothing;

/// A body of JSON.
pub(in crate::control::http) struct JsonBody<T>(pub(in crate::control::http) T);

/// A body of JSON that may be left out.
pub(in crate::control::http) struct OptionalJsonBody<T>(pub(in crate::control::http) T);

/// A body of JSON as text, which the handler parses. `T` describes it.
pub(in crate::control::http) struct RawJson<T>(pub(in crate::control::http) String, PhantomData<T>);

/// Parameters of the query string.
pub(in crate::control::http) struct Parameters<T>(pub(in crate::control::http) T);

/// The number that is the last segment of the path, and nothing else.
pub(in crate::control::http) struct Number(pub(in crate::control::http) u64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

/// Reads the body of a request, which must have no parameters. Boxed, so that it is in the binary once.
fn whole_body(request: Request, control: &Controls) -> BoxFuture<'_, Result<Bytes, Refused>> {
    Box::pin(async move {
        let Empty {} = query::read(request.uri().query().unwrap_or_default().as_bytes())?;
        let bytes = Bytes::from_request(request, control).await;
        bytes.map_err(|_| Refused::input("the body cannot be read"))
    })
}

fn parsed<T: DeserializeOwned>(uri: &Uri, body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| {
        let path = below_prefix(uri.path());
        Refused::input(format!("the body is not what {path:?} takes: {error}"))
    })
}

async fn no_body(request: Request, control: &Controls) -> Result<(), Refused> {
    let uri = request.uri().clone();
    let body = whole_body(request, control).await?;
    if body.is_empty() {
        return Ok(());
    }
    parsed::<Empty>(&uri, &body).map(|Empty {}| ())
}

impl FromRequest<Controls> for Nothing {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        no_body(request, control).await.map(|()| Self)
    }
}

impl Input for Nothing {
    fn describe(_: &mut Schemas, _: &mut Map<String, Value>) {}
}

impl<T: DeserializeOwned> FromRequest<Controls> for JsonBody<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        let uri = request.uri().clone();
        let body = whole_body(request, control).await?;
        parsed(&uri, &body).map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for JsonBody<T> {
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>) {
        describe_body::<T>(schemas, operation, true);
    }
}

fn describe_body<T: JsonSchema>(
    schemas: &mut Schemas,
    operation: &mut Map<String, Value>,
    required: bool,
) {
    let schema = schemas.taken::<T>();
    let content = json!({ "application/json": { "schema": schema } });
    let body = json!({ "required": required, "content": content });
    operation.insert("requestBody".into(), body);
}

impl<T: DeserializeOwned + Default> FromRequest<Controls> for OptionalJsonBody<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        let uri = request.uri().clone();
        let body = whole_body(request, control).await?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        parsed(&uri, &body).map(Self)
    }
}

impl<T: DeserializeOwned + Default + JsonSchema + Send + 'static> Input for OptionalJsonBody<T> {
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>) {
        describe_body::<T>(schemas, operation, false);
    }
}

impl<T> FromRequest<Controls> for RawJson<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        let body = whole_body(request, control).await?;
        let text = String::from_utf8(body.into());
        let text =
            text.map_err(|error| Refused::input(format!("the body is not text: {error}")))?;
        Ok(Self(text, PhantomData))
    }
}

impl<T: JsonSchema + Send + 'static> Input for RawJson<T> {
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>) {
        describe_body::<T>(schemas, operation, true);
    }
}

impl<T: DeserializeOwned> FromRequest<Controls> for Parameters<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &Controls) -> Result<Self, Refused> {
        let raw = request.uri().query().unwrap_or_default();
        query::read(raw.as_bytes()).map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Parameters<T> {
    fn describe(schemas: &mut Schemas, operation: &mut Map<String, Value>) {
        let mut schema = schemas.taken::<T>();
        let Some(Value::Object(properties)) = schema.get_mut("properties").map(Value::take) else {
            return;
        };
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let parameters = properties.into_iter().map(|(name, mut schema)| {
            let description = schema
                .as_object_mut()
                .and_then(|all| all.remove("description"));
            json!({
                "in": "query",
                "required": required.contains(&json!(name)),
                "name": name,
                "description": description,
                "schema": schema,
            })
        });
        operation.insert("parameters".into(), parameters.collect());
    }
}

impl FromRequest<Controls> for Number {
    type Rejection = Refused;

    async fn from_request(request: Request, control: &Controls) -> Result<Self, Refused> {
        let (mut parts, body) = request.into_parts();
        let id = Path::<String>::from_request_parts(&mut parts, control).await;
        let Ok(Path(id)) = id else {
            return Err(Refused::input("the last part of the path cannot be read"));
        };
        no_body(Request::from_parts(parts, body), control).await?;
        let number = id.parse();
        number
            .map(Self)
            .map_err(|_| Refused::input(format!("an id is a number, not {id:?}")))
    }
}

impl Input for Number {
    fn describe(_: &mut Schemas, operation: &mut Map<String, Value>) {
        let id = json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The id, as the call that made it answered.",
            "schema": { "type": "integer", "minimum": 0 },
        });
        operation.insert("parameters".into(), json!([id]));
    }
}
