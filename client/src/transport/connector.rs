//! Connections over anything: a simulated network, or a pipe in memory.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

/// A connection of a [`Connector`].
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Io for S {}

type Connecting = Pin<Box<dyn Future<Output = io::Result<TokioIo<Box<dyn Io>>>> + Send>>;

/// How connections are made: over a simulated network, such as turmoil's, or to a server in this process.
/// [`Builder::connector`](crate::Builder::connector) takes it; so does the client of hyper-util, for programs that use
/// that one.
///
/// In turmoil it is `Connector::new(|uri| TcpStream::connect(uri.authority().expect("a host").to_string()))`. Here the
/// client and the server share a paused clock:
///
/// ```
/// use std::future::ready;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use proconsul_client::recipes::{Keeper, Lock};
/// use proconsul_client::{Client, Connector, NewSession};
/// use tokio::time::sleep;
///
/// // #[tokio::test(start_paused = true)]
/// async fn a_lock_is_held_for_an_hour() -> Result<(), Box<dyn std::error::Error>> {
///     let server = Arc::new(proconsul::Server::builder().in_runtime()?);
///     let dialled = Arc::clone(&server);
///     let connector = Connector::new(move |_uri| ready(Ok(dialled.connect())));
///     let client = Client::builder().connector(connector).build()?;
///
///     let session = NewSession::new().ttl(Duration::from_secs(15));
///     let session = Keeper::start(&client, session).await?;
///     let held = Lock::new(&client, "jobs/report").acquire(&session).await?;
///     sleep(Duration::from_secs(3600)).await; // takes no time at all
///     assert_eq!(held.is_lost(), None);
///     Ok(())
/// }
/// # let mut runtime = tokio::runtime::Builder::new_current_thread();
/// # let runtime = runtime.enable_all().start_paused(true).build()?;
/// # runtime.block_on(a_lock_is_held_for_an_hour())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// hyper-util's client, without this crate's:
///
/// ```
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
/// use proconsul_client::Connector;
/// use tokio::net::TcpStream;
///
/// let connector = Connector::new(|uri| async move {
///     TcpStream::connect(uri.authority().expect("a host and a port").as_str()).await
/// });
/// let client: Client<_, String> = Client::builder(TokioExecutor::new()).build(connector);
/// ```
#[derive(Clone)]
pub struct Connector(Arc<dyn Fn(Uri) -> Connecting + Send + Sync>);

impl Connector {
    /// `connect` is called for each new connection, with a URI that has the host and the port of the request.
    pub fn new<S, F>(connect: impl Fn(Uri) -> F + Send + Sync + 'static) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
    {
        Self(Arc::new(move |uri| {
            let connecting = connect(uri);
            Box::pin(async {
                let stream: Box<dyn Io> = Box::new(connecting.await?);
                Ok(TokioIo::new(stream))
            })
        }))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connection for Box<dyn Io> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Io>>;
    type Error = io::Error;
    type Future = Connecting;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        (self.0)(uri)
    }
}
