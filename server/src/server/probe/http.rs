//! HTTP checks: the status of the response decides.
//!
//! The client is our own, because outputs of failed checks have Go's words and quote malformed responses,
//! which no crate returns. A crate would also cost embedders hyper and seven more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::answer::{ProbeResponse, read};
use super::url::{Url, error};
use super::{Outcome, dial};

/// The request of a check.
pub(super) struct ProbeRequest<'a> {
    pub(super) url: &'a str,
    pub(super) method: &'a str,
    pub(super) header: &'a BTreeMap<String, Vec<String>>,
    pub(super) body: &'a str,
    /// Whether to skip the verification of TLS certificates.
    #[cfg_attr(
        not(feature = "https-checks"),
        expect(dead_code, reason = "nothing is asked over HTTPS")
    )]
    pub(super) tls_skip_verify: bool,
    /// The TLS server name; empty for the host of the URL.
    #[cfg_attr(
        not(feature = "https-checks"),
        expect(dead_code, reason = "nothing is asked over HTTPS")
    )]
    pub(super) tls_server_name: &'a str,
    /// The longest part of the response's body to keep.
    pub(super) output_limit: usize,
}

/// The most redirects that Go's client follows.
const REDIRECTS: usize = 10;

/// Runs the check; `late` is the timeout.
pub(super) async fn ask(request: &ProbeRequest<'_>, late: impl Future<Output = ()>) -> Outcome {
    let answered = tokio::select! {
        answered = follow(request) => answered,
        () = late => Err(error(
            request.method,
            request.url,
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        )),
    };
    match answered {
        Ok(answer) => judge(request, &answer),
        Err(why) => Outcome::critical(why),
    }
}

/// Judges a status: 2xx passes, 429 is a warning, everything else is critical.
fn judge(request: &ProbeRequest<'_>, answer: &ProbeResponse) -> Outcome {
    let status = match answer.status {
        200..=299 => "passing",
        429 => "warning",
        _ => "critical",
    };
    let kept = answer.body.len().min(request.output_limit);
    let text = String::from_utf8_lossy(&answer.body[..kept]);
    Outcome {
        status,
        output: format!(
            "HTTP {} {}: {} {} Output: {text}",
            request.method, request.url, answer.status, answer.reason,
        ),
    }
}

/// Sends the request and follows redirects.
async fn follow(request: &ProbeRequest<'_>) -> Result<ProbeResponse, String> {
    if !is_token(request.method) {
        return Err(format!("net/http: invalid method \"{}\"", request.method));
    }
    let mut url = Url::parse(request.url, request.method)?;
    let mut method = request.method;
    let mut body = request.body;
    let mut referer = None;
    for _ in 0..=REDIRECTS {
        let answer = once(request, method, &url, body, referer.as_deref())
            .await
            .map_err(|why| error(request.method, &url.text, &why))?;
        let keeps_method = match answer.status {
            301..=303 => false,
            307 | 308 => true,
            _ => return Ok(answer),
        };
        let Some(location) = answer.header("location") else {
            let why = format!("{} response missing Location header", answer.status);
            return Err(error(request.method, &url.text, &why));
        };
        let next = url.join(location, request.method)?;
        if !keeps_method {
            if method != "HEAD" {
                method = "GET";
            }
            body = "";
        }
        referer = Some(std::mem::replace(&mut url, next).text);
    }
    Err(error(
        request.method,
        &url.text,
        "stopped after 10 redirects",
    ))
}

/// Whether a text is a valid method.
fn is_token(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    text.bytes().all(is_fine)
}

/// Sends one request on a new connection.
async fn once(
    request: &ProbeRequest<'_>,
    method: &str,
    url: &Url,
    body: &str,
    referer: Option<&str>,
) -> Result<ProbeResponse, String> {
    let stream = dial(&url.host, url.port).await?;
    let text = head(request, method, url, body.len(), referer) + body;
    let to_head = method == "HEAD";
    #[cfg(feature = "https-checks")]
    if url.is_https {
        let name = match request.tls_server_name {
            "" => &url.host,
            given => given,
        };
        let stream = super::tls::connect(stream, name, request.tls_skip_verify, &[]).await?;
        return exchange(stream, &text, to_head).await;
    }
    exchange(stream, &text, to_head).await
}

/// Sends a request and reads its response.
async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
    to_head: bool,
) -> Result<ProbeResponse, String> {
    let sent = stream.write_all(request.as_bytes()).await;
    let sent = match sent {
        Ok(()) => stream.flush().await,
        failed => failed,
    };
    sent.map_err(|error| format!("write tcp: {error}"))?;
    read(&mut stream, to_head).await
}

/// Writes request line and headers in Go's order. Headers of the check replace Consul's.
fn head(
    request: &ProbeRequest<'_>,
    method: &str,
    url: &Url,
    length: usize,
    referer: Option<&str>,
) -> String {
    let given = |wanted: &str| {
        let mut given = request.header.iter();
        given.find(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let host = given("host").and_then(|(_, values)| values.first());
    let host = host.map_or(url.authority.as_str(), String::as_str);
    let mut head = format!("{method} {} HTTP/1.1\r\nHost: {host}\r\n", url.target);
    let mut put = |name: &str, value: &str| {
        // A line break would start another header.
        let value: String = value
            .chars()
            .filter(|letter| !letter.is_control())
            .collect();
        let _ = write!(head, "{name}: {value}\r\n");
    };
    if given("user-agent").is_none() {
        put("User-Agent", "Consul Health Check");
    }
    if length > 0 || matches!(method, "POST" | "PUT" | "PATCH") {
        put("Content-Length", &length.to_string());
    }
    if given("accept").is_none() {
        put("Accept", "text/plain, text/*, */*");
    }
    for (name, values) in request.header {
        if is_token(name) && !name.eq_ignore_ascii_case("host") {
            for value in values {
                put(&canonical(name), value);
            }
        }
    }
    if let Some(referer) = referer {
        put("Referer", referer);
    }
    if method != "HEAD" && given("accept-encoding").is_none() {
        put("Accept-Encoding", "gzip");
    }
    put("Connection", "close");
    head + "\r\n"
}

/// Returns the canonical name of a header: each word starts with a capital.
fn canonical(name: &str) -> String {
    let mut starts = true;
    let letters = name.chars().map(|letter| {
        let spelled = if starts {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        };
        starts = letter == '-';
        spelled
    });
    letters.collect()
}
