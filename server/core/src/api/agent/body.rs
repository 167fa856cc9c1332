//! Bodies of registrations, and of reports of checks.

use crate::api::catalog::register::decode_strictly;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_gocompat::json::decode::Decode;
use proconsul_h1::ReadBody;
use proconsul_version::Behaviour;

/// The longest body in bytes.
const LONGEST: u64 = 512 * 1024;

/// Decodes a body that must not have unknown fields.
pub(super) async fn read_strictly<T: Decode<Place: Default>>(
    request: &mut Request,
) -> Result<T::Place, Failure> {
    read_strictly_as::<T>(request, None).await
}

/// Does what [`read_strictly`] does, with another name of the body's type in errors.
pub(super) async fn read_strictly_as<T: Decode<Place: Default>>(
    request: &mut Request,
    go_type: Option<&'static str>,
) -> Result<T::Place, Failure> {
    let body = read_limited(request).await?;
    let decoded = decode_strictly::<T>(request, body, go_type);
    decoded.map_err(|error| Failure::undecodable(&error))
}

/// Reads a body, whose length has a limit since Consul 2.0.3 (2.1.md 1.r7).
async fn read_limited(request: &mut Request) -> Result<ReadBody, Failure> {
    if !request.has(Behaviour::AgentBodyLimit) {
        return Ok(request.read_whole().await);
    }
    let (length, version) = (request.content_length(), request.version());
    let setting = "http_max_request_body_size";
    let too_large = || Failure::body_too_large(length, LONGEST, setting, version);
    if length.is_some_and(|length| length > LONGEST) {
        return Err(too_large());
    }
    let body = request.body.read(LONGEST).await;
    body.ok_or_else(too_large)
}
