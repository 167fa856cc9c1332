//! gRPC checks: what the server's health service (`grpc.health.v1.Health`) says decides (session.md 4.4.r25).
//!
//! The call is one message of one field each way, so it is written here, over HTTP/2. Outputs have the words of Go's gRPC
//! library: Consul shows them as they are.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, StatusCode};

use super::http2::{self, Unconnected};
use super::{Outcome, Words};
use proconsul_store::ProbeTls;

/// The status of a healthy service.
const SERVING: u64 = 1;
/// The longest head that is taken, in bytes. The texts of errors stand there.
const LONGEST_HEAD: u32 = 1 << 16;
/// The longest message that is read. One has a few bytes.
const LONGEST_MESSAGE: usize = 1 << 16;
/// The names of the codes of gRPC.
const CODES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// The call of a check.
pub(super) struct Call<'a> {
    /// `host:port`, or `host:port/service`.
    pub(super) target: &'a str,
    pub(super) tls: Option<&'a ProbeTls>,
    /// How long the server has, as it is told.
    pub(super) timeout: Duration,
    pub(super) words: Words,
}

/// A call that failed.
#[derive(Debug, PartialEq, Eq)]
struct RpcError {
    code: String,
    text: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, text } = self;
        write!(formatter, "rpc error: code = {code} desc = {text}")
    }
}

impl RpcError {
    fn new(code: &str, text: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            text: text.into(),
        }
    }
}

/// Makes the call; `late` is the timeout.
pub(super) async fn ask(call: &Call<'_>, late: impl Future<Output = ()>) -> Outcome {
    let answered = tokio::select! {
        answered = call.run() => answered,
        () = late => Err(RpcError::new("DeadlineExceeded", "context deadline exceeded")),
    };
    match answered {
        Ok(SERVING) => Outcome::passing(format!("gRPC check {}: success", call.target)),
        Ok(status) if call.words.late => Outcome::critical(format!(
            "gRPC {} serving status: {}",
            call.target,
            status_name(status)
        )),
        Ok(_) => Outcome::critical("gRPC application didn't report service healthy"),
        Err(error) => Outcome::critical(error.to_string()),
    }
}

impl Call<'_> {
    /// Returns the status that the server tells.
    async fn run(&self) -> Result<u64, RpcError> {
        let (address, service) = self.target.split_once('/').unwrap_or((self.target, ""));
        let stream = http2::connect(address, self.tls, self.words).await;
        let stream = stream.map_err(|error| self.unconnected(&error))?;
        let mut settings = h2::client::Builder::new();
        settings
            .enable_push(false)
            .max_header_list_size(LONGEST_HEAD);
        let handshake = settings.handshake(stream).await;
        let (requests, connection) = handshake.map_err(|error| self.broken(&error))?;
        let mut answer = pin!(self.exchange(requests, address, service));
        tokio::select! {
            answer = &mut answer => answer,
            // What came before the end is there.
            _ = connection => answer.await,
        }
    }

    async fn exchange(
        &self,
        requests: SendRequest<Bytes>,
        address: &str,
        service: &str,
    ) -> Result<u64, RpcError> {
        let broken = |error: h2::Error| self.broken(&error);
        let mut requests = requests.ready().await.map_err(broken)?;
        let request = self.request(address);
        let request = request.map_err(|error| RpcError::new("Internal", error.to_string()))?;
        let (response, mut body) = requests.send_request(request, false).map_err(broken)?;
        body.send_data(message(service), true).map_err(broken)?;
        let (head, body) = response.await.map_err(broken)?.into_parts();
        if let Some(outcome) = outcome_in(&head.headers) {
            return outcome.and_then(|()| Err(RpcError::new("Internal", "no message")));
        }
        if head.status != StatusCode::OK {
            return Err(of_http(head.status));
        }
        let (message, trailers) = read(body).await.map_err(broken)?;
        let outcome = trailers.as_ref().and_then(outcome_in);
        outcome.unwrap_or_else(|| {
            let text = "server closed the stream without sending trailers";
            Err(RpcError::new("Internal", text))
        })?;
        Ok(status_in(&message))
    }

    fn request(&self, address: &str) -> http::Result<Request<()>> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        // A number has eight digits at most.
        let left = self.timeout.as_millis().min(99_999_999);
        let agent = if self.words.late {
            "grpc-go/1.56.3"
        } else {
            "grpc-go/1.27.1"
        };
        Request::post(format!("{scheme}://{address}/grpc.health.v1.Health/Check"))
            .header("content-type", "application/grpc")
            .header("user-agent", agent)
            .header("te", "trailers")
            .header("grpc-timeout", format!("{left}m"))
            .body(())
    }

    fn unconnected(&self, error: &Unconnected) -> RpcError {
        let why = match error {
            Unconnected::Dial(why) if self.words.late => format!("Error while dialing: {why}"),
            Unconnected::Dial(why) => format!("Error while dialing {why}"),
            Unconnected::Handshake(why) => format!("authentication handshake failed: {why}"),
        };
        let text = format!("connection error: desc = \"transport: {why}\"");
        RpcError::new("Unavailable", text)
    }

    /// Returns the error of a connection or stream that broke.
    fn broken(&self, error: &h2::Error) -> RpcError {
        let reason = error.reason().filter(|_| error.is_reset());
        if let Some(reason) = reason {
            let code = match reason {
                Reason::REFUSED_STREAM => "Unavailable",
                Reason::CANCEL => "Canceled",
                _ => "Internal",
            };
            let text = format!("stream terminated by RST_STREAM with error code: {reason:?}");
            return RpcError::new(code, text);
        }
        let text = if self.words.late {
            "connection error: desc = \"error reading server preface: EOF\""
        } else {
            "connection closed"
        };
        RpcError::new("Unavailable", text)
    }
}

/// Returns the name of a status of the health service; a number without a name is itself.
fn status_name(status: u64) -> String {
    let place = usize::try_from(status).ok();
    let names = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
    let name = place.and_then(|place| names.get(place));
    name.map_or_else(|| status.to_string(), |name| (*name).to_owned())
}

/// Returns the message that asks for a service: a prefix, and the name as field 1 unless it is empty.
fn message(service: &str) -> Bytes {
    let mut field = BytesMut::new();
    if !service.is_empty() {
        field.put_u8(0x0a);
        let mut length = service.len();
        while length >= 0x80 {
            field.put_u8((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        field.put_u8(length as u8);
        field.put_slice(service.as_bytes());
    }
    let mut message = BytesMut::new();
    message.put_u8(0);
    message.put_u32(u32::try_from(field.len()).unwrap_or(u32::MAX));
    message.put(field);
    message.freeze()
}

/// Reads the body up to its trailers.
async fn read(mut body: RecvStream) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut message = Vec::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        if message.len() < LONGEST_MESSAGE {
            message.extend_from_slice(&part);
        }
    }
    let trailers = body.trailers().await?;
    Ok((message, trailers))
}

/// Returns what headers or trailers say of the call; `None` if they say nothing.
fn outcome_in(headers: &HeaderMap) -> Option<Result<(), RpcError>> {
    let status = headers.get("grpc-status")?.to_str().ok()?;
    let number: u32 = status.parse().ok()?;
    if number == 0 {
        return Some(Ok(()));
    }
    let place = usize::try_from(number).ok();
    let code = place.and_then(|place| CODES.get(place));
    let code = code.map_or_else(|| format!("Code({number})"), |name| (*name).to_owned());
    let text = headers
        .get("grpc-message")
        .map(|text| decoded(text.as_bytes()));
    let text = text.unwrap_or_default();
    Some(Err(RpcError { code, text }))
}

/// Undoes the percent-encoding of a message, as far as it is one.
fn decoded(text: &[u8]) -> String {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Vec::new();
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let pair = match tail {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        let byte = pair.and_then(|(high, low)| u8::try_from(high << 4 | low).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the error of an answer that is not one of gRPC.
fn of_http(status: StatusCode) -> RpcError {
    let code = match status.as_u16() {
        400 => "Internal",
        401 => "Unauthenticated",
        403 => "PermissionDenied",
        404 => "Unimplemented",
        429 | 502..=504 => "Unavailable",
        _ => "Unknown",
    };
    let phrase = status.canonical_reason().unwrap_or_default();
    let text = format!(
        "unexpected HTTP status code received from server: {} ({phrase})",
        status.as_u16()
    );
    RpcError::new(code, text)
}

/// Returns the number in field 1 of the message behind its prefix; 0 if there is no such field.
fn status_in(message: &[u8]) -> u64 {
    let mut rest = message.get(5..).unwrap_or_default();
    let mut found = 0;
    while let Some(tag) = varint(&mut rest) {
        let length = match tag & 7 {
            0 => {
                let Some(number) = varint(&mut rest) else {
                    break;
                };
                if tag >> 3 == 1 {
                    found = number;
                }
                0
            }
            1 => 8,
            2 => varint(&mut rest).unwrap_or(u64::MAX),
            5 => 4,
            _ => break,
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// Takes a number of 7 bits a byte from the front.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_prefix_and_one_field() {
        assert_eq!(message("").as_ref(), [0, 0, 0, 0, 0]);
        assert_eq!(message("web").as_ref(), b"\0\0\0\0\x05\x0a\x03web");
        let long = message(&"x".repeat(300));
        assert_eq!(&long[..8], [0, 0, 0, 1, 0x2f, 0x0a, 0xac, 0x02]);
    }

    #[test]
    fn the_status_is_found_among_fields_that_are_not_known() {
        let status = |field: &[u8]| status_in(&[&[0; 5], field].concat());
        assert_eq!(status(&[]), 0);
        assert_eq!(status(&[0x08, 1]), 1);
        assert_eq!(status(&[0x12, 2, 8, 9, 0x08, 2]), 2);
        assert_eq!(
            status(&[
                0x15, 1, 2, 3, 4, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x08, 0xcd, 0x01
            ]),
            205
        );
        for broken in [&[0x08][..], &[0x12, 0xff], &[0x0b], &[0xff; 12]] {
            assert_eq!(status(broken), 0, "{broken:?}");
        }
    }

    #[test]
    fn messages_of_errors_are_decoded_as_far_as_they_can_be() {
        assert_eq!(decoded(b"it broke: %C3%A4 %25"), "it broke: ä %");
        assert_eq!(decoded(b"100% %4 %zz"), "100% %4 %zz");
    }
}
