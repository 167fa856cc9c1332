//! Why a call was not carried out: a status and a sentence.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// The refusal of a call.
#[derive(Debug)]
pub(in crate::control::http) struct Refused(pub(in crate::control::http) StatusCode, String);

impl Refused {
    /// A refusal with this status.
    pub(in crate::control::http) fn with(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self(status, sentence.into())
    }

    /// Invalid input.
    pub(in crate::control::http) fn input(sentence: impl Into<String>) -> Self {
        Self::with(StatusCode::BAD_REQUEST, sentence)
    }

    /// Unknown id, name or path.
    pub(in crate::control::http) fn missing(sentence: impl Into<String>) -> Self {
        Self::with(StatusCode::NOT_FOUND, sentence)
    }

    /// A wait that was not met, or a call that the server cannot carry out now.
    pub(in crate::control::http) fn unmet(sentence: impl Into<String>) -> Self {
        Self::with(StatusCode::CONFLICT, sentence)
    }

    /// The call failed for a reason that is not the caller's.
    pub(in crate::control::http) fn failed(sentence: impl Into<String>) -> Self {
        Self::with(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(status, sentence) = self;
        // The type that axum gives to a text is `text/plain; charset=utf-8`.
        (status, format!("{sentence}\n")).into_response()
    }
}
