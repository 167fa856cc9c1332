//! `/v1/agent/monitor`: the log, as it is written (operator.md 7).

use crate::failure::Failure;
use crate::log::{Lines, Listener};
use crate::reply::Reply;
use crate::reply::body::LogBody;
use crate::request::Request;

/// Sends the lines of the log at `?loglevel` until the client goes. Where no agent writes a log, as inside a test, there
/// are no lines.
pub(crate) fn monitor(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let name = String::from_utf8_lossy(request.query.get("loglevel"));
    let level = match name.to_lowercase().as_str() {
        "" | "info" => tracing::Level::INFO,
        "trace" => tracing::Level::TRACE,
        "debug" => tracing::Level::DEBUG,
        "warn" => tracing::Level::WARN,
        "err" | "error" => tracing::Level::ERROR,
        _ => {
            let text = format!("Unknown log level: {name}");
            return Err(Failure::bad_request(&text, request.version()));
        }
    };
    let form = if request.query.has("logjson") {
        Lines::Json
    } else {
        Lines::Text
    };
    let listener = Listener::new(level, form);
    Ok(Reply::log(request, LogBody::new(listener)))
}
