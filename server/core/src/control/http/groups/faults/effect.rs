//! What a rule does to a request, as a call gives it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::control::http::call::{Name, Nouns, Refused, Span};
use proconsul_engine::faults::{
    AclChange, ConsulError, Cut, DnsFailure, Effect, Moment, ReportedIndex, Response,
};

/// What happens to a request that a rule hits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
#[schemars(title = "Effect")]
pub(super) enum NewEffect {
    /// Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied.
    Error {
        /// Which error.
        error: Name<ConsulError>,
        /// After how long on the server's clock, in place of Consul's time: a duration such as `0s` or `250ms`. `0s`
        /// answers at once; on a clock that stands still every other time lasts until the clock is moved.
        after: Option<Span>,
    },
    /// Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied.
    Respond {
        /// The status, from 200 to 999.
        status: u16,
        /// The headers, by name. `Content-Length`, `Transfer-Encoding` and `Date` are the server's own and refused.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The body, as text. Without any the body is empty.
        body: Option<String>,
        /// The body as base64, for one that is not text. At most one of the two is given.
        body_base64: Option<String>,
    },
    /// Holds the request before it is applied.
    DelayBefore {
        /// For how long on the server's clock: a duration such as `20s` or `250ms`.
        by: Span,
    },
    /// Applies the request, and holds its answer.
    DelayAfter {
        /// For how long on the server's clock: a duration such as `20s` or `250ms`.
        by: Span,
    },
    /// Never answers. Nothing is applied.
    Hang {},
    /// Resets the connection without an answer. Nothing is applied.
    Reset {},
    /// Closes the connection without an answer. Nothing is applied.
    EmptyReply {},
    /// Applies the request, and resets the connection without an answer.
    AppliedThenReset {},
    /// Applies the request, and closes the connection without an answer.
    AppliedThenEmptyReply {},
    /// Applies the request, and closes the connection within the body of the answer.
    Truncate {
        /// How many bytes of the body are sent.
        bytes: usize,
    },
    /// Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is
    /// in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has
    /// it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused
    /// as always.
    AcquireInFlight {},
    /// Deletes the token with which the request comes. The request is then handled as always.
    RevokeToken {
        /// When; `arrival` if it is left out.
        when: Option<Name<Moment>>,
    },
    /// Gives the policies of the token with which the request comes other rules. The request is then handled as always.
    ChangeRules {
        /// When; `arrival` if it is left out.
        when: Option<Name<Moment>>,
        /// The rules, in HCL or JSON, as a policy has them.
        rules: String,
    },
    /// Lets a read report another `X-Consul-Index` than the true one.
    Index {
        /// The index that is reported; 0 is one that no Consul reports.
        index: u64,
    },
    /// Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1.
    IndexBack {
        /// By how much.
        by: u64,
    },
    /// Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does.
    ReadFrom {
        /// The name of the checkpoint.
        checkpoint: String,
        /// What `X-Consul-LastContact` says: a duration such as `20s` or `250ms`.
        last_contact: Span,
    },
    /// Answers questions of DNS with the code SERVFAIL.
    DnsServfail {},
    /// Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP.
    DnsTruncated {},
}

impl NewEffect {
    /// # Errors
    /// The body of a response is given twice, or is not base64.
    pub(super) fn into_effect(self) -> Result<Effect, Refused> {
        Ok(match self {
            Self::Error { error, after } => match after {
                Some(Span(hold)) => Effect::ErrorAfter(error.0, hold),
                None => Effect::Error(error.0),
            },
            Self::Respond {
                status,
                headers,
                body,
                body_base64,
            } => {
                let response = Response::new(status).body(response_body(body, body_base64)?);
                let headers = headers.into_iter();
                Effect::Respond(headers.fold(response, |response, (name, value)| {
                    response.header(name, value)
                }))
            }
            Self::DelayBefore { by } => Effect::DelayBefore(by.0),
            Self::DelayAfter { by } => Effect::DelayAfter(by.0),
            Self::Hang {} => Effect::Hang,
            Self::Reset {} => Effect::Cut(Cut::Reset),
            Self::EmptyReply {} => Effect::Cut(Cut::Close),
            Self::AppliedThenReset {} => Effect::AppliedThen(Cut::Reset),
            Self::AppliedThenEmptyReply {} => Effect::AppliedThen(Cut::Close),
            Self::Truncate { bytes } => Effect::AppliedThen(Cut::After(bytes)),
            Self::AcquireInFlight {} => Effect::AcquireInFlight,
            Self::RevokeToken { when } => Effect::ChangeAcls(AclChange::Revoke(moment(when))),
            Self::ChangeRules { when, rules } => {
                Effect::ChangeAcls(AclChange::Rules(moment(when), rules))
            }
            Self::Index { index } => Effect::ReportIndex(ReportedIndex::Exactly(index)),
            Self::IndexBack { by } => Effect::ReportIndex(ReportedIndex::Back(by)),
            Self::ReadFrom {
                checkpoint,
                last_contact,
            } => Effect::ReadFrom {
                checkpoint,
                last_contact: last_contact.0,
            },
            Self::DnsServfail {} => Effect::Dns(DnsFailure::ServFail),
            Self::DnsTruncated {} => Effect::Dns(DnsFailure::Truncated),
        })
    }
}

fn response_body(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Refused> {
    match (text, base64) {
        (Some(_), Some(_)) => Err(Refused::input(
            "expected at most one of body and body_base64",
        )),
        (text, None) => Ok(text.unwrap_or_default().into_bytes()),
        (None, Some(base64)) => BASE64_STANDARD
            .decode(base64)
            .map_err(|error| Refused::input(format!("body_base64 is not base64: {error}"))),
    }
}

fn moment(name: Option<Name<Moment>>) -> Moment {
    name.map_or(Moment::default(), |name| name.0)
}

impl Nouns for Moment {
    const NOUN: &'static str = "moment";
    const SCHEMA: &'static str = "Moment";
    const DESCRIPTION: &'static str = "When something happens to a request.";
}

impl Nouns for ConsulError {
    const NOUN: &'static str = "error";
    const SCHEMA: &'static str = "ErrorName";
    const DESCRIPTION: &'static str = "An error of Consul's.";
}
