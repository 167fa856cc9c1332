//! HTTP checks: the status of the response decides.
//!
//! The client is our own, because outputs of failed checks have Go's words and quote malformed responses,
//! which no crate returns. A crate would also cost embedders hyper and seven more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::answer::{ProbeResponse, Reading, read};
use super::url::{Url, error};
use super::{Outcome, Words, dial};

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
    /// The longest end of the response's body to keep.
    pub(super) output_limit: usize,
    /// The Go whose words the output has.
    pub(super) words: Words,
}

/// The most redirects that Go's client follows.
const REDIRECTS: usize = 10;

/// Runs the check; `late` is the timeout. A response whose head came in time counts with as much of its body as there is.
pub(super) async fn ask(request: &ProbeRequest<'_>, late: impl Future<Output = ()>) -> Outcome {
    let mut answer = None;
    let failure = tokio::select! {
        followed = follow(request, &mut answer) => followed.err(),
        () = late => None,
    };
    match (failure, answer) {
        (None, Some(answer)) => judge(request, &answer),
        (None, None) => Outcome::critical(error(
            request.method,
            request.url,
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        )),
        (Some(why), _) => Outcome::critical(why),
    }
}

/// Judges a status: 2xx passes, 429 is a warning, everything else is critical.
fn judge(request: &ProbeRequest<'_>, answer: &ProbeResponse) -> Outcome {
    let status = match answer.status {
        200..=299 => "passing",
        429 => "warning",
        _ => "critical",
    };
    let surplus = answer.body.len().saturating_sub(request.output_limit);
    let text = String::from_utf8_lossy(&answer.body[surplus..]);
    Outcome {
        status,
        output: format!(
            "HTTP {} {}: {} Output: {text}",
            request.method, request.url, answer.status_text,
        ),
    }
}

/// Sends the request, follows redirects, and reads the last response into `answer`.
async fn follow(
    request: &ProbeRequest<'_>,
    answer: &mut Option<ProbeResponse>,
) -> Result<(), String> {
    if !is_token(request.method) {
        return Err(format!("net/http: invalid method \"{}\"", request.method));
    }
    let mut url = Url::parse(request.url, request.method)?;
    let mut method = request.method;
    let mut body = request.body;
    let mut referer = None;
    for _ in 0..=REDIRECTS {
        once(request, method, &url, body, referer.as_deref(), answer)
            .await
            .map_err(|why| error(request.method, &url.text, &why))?;
        let Some(redirect) = answer.take_if(|answer| answer.is_redirect()) else {
            return Ok(());
        };
        let Some(location) = redirect.header("location") else {
            let why = format!("{} response missing Location header", redirect.status);
            return Err(error(request.method, &url.text, &why));
        };
        let next = url.join(&location, request.method)?;
        if !matches!(redirect.status, 307 | 308) {
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

/// Sends one request on a new connection, and reads its response into `answer`.
async fn once(
    request: &ProbeRequest<'_>,
    method: &str,
    url: &Url,
    body: &str,
    referer: Option<&str>,
    answer: &mut Option<ProbeResponse>,
) -> Result<(), String> {
    let stream = dial(&url.host, url.port).await?;
    let ends = stream
        .local_addr()
        .and_then(|own| Ok((own, stream.peer_addr()?)));
    let reading = Reading {
        // A connection that is gone has no ends; the response then begins with EOF.
        ends: &ends.map_or_else(|_| String::new(), |(own, peer)| format!("{own}->{peer}")),
        to_head: method == "HEAD",
        unzips: given(request, "accept-encoding").is_none(),
        unicode: request.words.unicode,
    };
    let text = head(request, method, url, body.len(), referer) + body;
    #[cfg(feature = "https-checks")]
    if url.is_https {
        let name = match request.tls_server_name {
            "" => &url.host,
            given => given,
        };
        let late = request.words.late;
        let stream = super::tls::connect(stream, name, request.tls_skip_verify, &[], late).await?;
        return exchange(stream, &text, &reading, answer).await;
    }
    exchange(stream, &text, &reading, answer).await
}

/// Sends a request and reads its response.
async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
    reading: &Reading<'_>,
    answer: &mut Option<ProbeResponse>,
) -> Result<(), String> {
    let sent = stream.write_all(request.as_bytes()).await;
    let sent = match sent {
        Ok(()) => stream.flush().await,
        failed => failed,
    };
    sent.map_err(|error| format!("write tcp: {error}"))?;
    read(&mut stream, reading, answer).await
}

/// Returns a header of the check.
fn given<'a>(request: &'a ProbeRequest<'_>, wanted: &str) -> Option<(&'a String, &'a Vec<String>)> {
    let mut given = request.header.iter();
    given.find(|(name, _)| name.eq_ignore_ascii_case(wanted))
}

/// Writes request line and headers in Go's order. Headers of the check replace Consul's.
fn head(
    request: &ProbeRequest<'_>,
    method: &str,
    url: &Url,
    length: usize,
    referer: Option<&str>,
) -> String {
    let given = |wanted| given(request, wanted);
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
