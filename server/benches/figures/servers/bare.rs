//! The yardstick: hyper with nothing behind it. It sends bytes that it was given, whatever it is asked.
//!
//! Its answers have the bodies that proconsul gave to the same requests, behind hyper's own headers: what routing,
//! checking and storing cost, and Consul's headers, is all on proconsul's side of a comparison.

use std::convert::Infallible;
use std::io::{self, BufRead, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Notify;

/// What is sent to requests that begin in a certain way.
#[derive(Clone, Debug)]
pub(crate) struct Canned {
    /// `PUT` or `GET`.
    pub(crate) method: Method,
    /// How the target begins.
    pub(crate) prefix: String,
    /// What is sent.
    pub(crate) body: Bytes,
}

/// The body where nothing was given.
const NOTHING_GIVEN: Bytes = Bytes::from_static(b"true");

/// Writes answers in the form that [`read`] takes.
pub(crate) fn write(canned: &[Canned], out: &mut impl Write) -> io::Result<()> {
    for Canned {
        method,
        prefix,
        body,
    } in canned
    {
        writeln!(out, "{method} {prefix} {}", body.len())?;
        out.write_all(body)?;
    }
    out.flush()
}

/// Reads answers to the end.
fn read(mut from: impl BufRead) -> io::Result<Vec<Canned>> {
    let mut canned = Vec::new();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(canned);
        }
        let mut words = line.split_whitespace();
        let mut word = || words.next().ok_or(io::ErrorKind::InvalidData);
        let method = word()?.parse().map_err(io::Error::other)?;
        let prefix = word()?.to_owned();
        let mut body = vec![0; word()?.parse().map_err(io::Error::other)?];
        from.read_exact(&mut body)?;
        canned.push(Canned {
            method,
            prefix,
            body: body.into(),
        });
    }
}

#[derive(Debug)]
struct Shared {
    canned: Vec<Canned>,
    /// WakeSignal at each PUT: it ends all waits.
    written: Notify,
}

/// Serves on `port`, with `threads`, what standard input says, until the process is ended.
pub(crate) fn run(port: u16, threads: usize) {
    let mut builder = match threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(threads).enable_all().build();
    let runtime = runtime.expect("the system gives threads");
    runtime
        .block_on(serve(port))
        .expect("the bare server serves");
}

async fn serve(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let shared = Arc::new(Shared {
        canned: read(io::stdin().lock())?,
        written: Notify::new(),
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| answer(Arc::clone(&shared), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let waits = |query: &str| query.contains("index=");
    if request.method() == Method::PUT {
        shared.written.notify_waiters();
    } else if request.uri().query().is_some_and(waits) {
        shared.written.notified().await;
    }
    let path = request.uri().path();
    let fits = |canned: &&Canned| {
        canned.method == request.method() && path.starts_with(canned.prefix.as_str())
    };
    let body = shared.canned.iter().find(fits);
    let body = body.map_or(NOTHING_GIVEN, |canned| canned.body.clone());
    Ok(Response::new(Full::new(body)))
}
