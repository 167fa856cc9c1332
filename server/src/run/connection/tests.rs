//! The same requests on each kind of connection.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use proconsul_h1::{
    Calendar, Ending, HangingUp, Head, HttpResponse, Incoming, ServeOptions, Strictness, WriteHalf,
    serve,
};
use proconsul_testing::within;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::Stream;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const WHOLE: &str =
    "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxxx";

#[derive(Debug)]
struct Today;

impl Calendar for Today {
    fn date(&self) -> HeaderValue {
        HeaderValue::from_static("today")
    }

    fn sleep(&self, _: Duration) -> proconsul_h1::Sleep {
        Box::pin(std::future::pending())
    }
}

fn settings(hanging_up: HangingUp) -> ServeOptions<'static> {
    ServeOptions {
        head_limit: 1000,
        strict: Strictness {
            heads: true,
            chunks: true,
        },
        hanging_up,
        busy_poll: true,
        calendar: &Today,
        // The client closes the connection.
    }
}

/// A client's end of a connection.
trait Client: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Client for T {}

/// A kind of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tcp,
    #[cfg(unix)]
    Unix,
    /// TCP under a layer that passes on all bytes.
    Sealed,
    /// A stream that is no socket.
    Duplex,
}

impl Kind {
    const ALL: &[Self] = &[
        Self::Tcp,
        #[cfg(unix)]
        Self::Unix,
        Self::Sealed,
        Self::Duplex,
    ];

    /// Returns both ends of a connection, on which the client has sent `first`.
    async fn connect(self, first: &[u8]) -> (Box<dyn Client>, Stream) {
        let (mut client, stream): (Box<dyn Client>, Stream) = match self {
            Self::Tcp | Self::Sealed => {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
                let address = listener.local_addr().expect("a socket has an address");
                let client = TcpStream::connect(address).await.expect("it is listened");
                let (served, _) = listener.accept().await.expect("a client is there");
                (Box::new(client), served.into())
            }
            #[cfg(unix)]
            Self::Unix => {
                let (client, served) = tokio::net::UnixStream::pair().expect("a pair of sockets");
                (Box::new(client), served.into())
            }
            Self::Duplex => {
                let (client, served) = duplex(10_000);
                (Box::new(client), Stream::from_io(served))
            }
        };
        client.write_all(first).await.expect("it reads");
        if self != Self::Sealed {
            return (client, stream);
        }
        let sealed = stream.sealed(|mut socket| async {
            assert_eq!(socket.first(3).await?, b"GET");
            Ok(socket)
        });
        (client, sealed.await.expect("it is sealed once"))
    }

    fn has_resets(self) -> bool {
        matches!(self, Self::Tcp | Self::Sealed)
    }
}

fn text(length: usize, ending: Ending) -> HttpResponse<Bytes> {
    HttpResponse {
        body: "x".repeat(length).into(),
        ending,
        ..HttpResponse::empty(StatusCode::OK)
    }
}

/// Waits for what must happen.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    let done = within(Duration::from_secs(20), future).await;
    done.expect("it happens within seconds")
}

/// Reads to the end. Returns what came, and whether a reset ended it.
async fn read_all(client: &mut dyn Client) -> (String, bool) {
    let mut came = Vec::new();
    let end = soon(client.read_to_end(&mut came)).await;
    let was_reset = end.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset);
    let came = String::from_utf8(came).expect("the responses are text");
    (came, was_reset)
}

/// Sends a request, and returns what comes, and whether a reset ended it.
async fn ask(kind: Kind, request: &[u8], ending: Ending, length: usize) -> (String, bool) {
    let (mut client, stream) = kind.connect(request).await;
    let (read, write) = stream.into_split();
    let respond = move |_, _| async move { text(length, ending) };
    let serving = tokio::spawn(serve(read, write, settings(HangingUp::Waits), respond));
    let came = read_all(&mut *client).await;
    drop(client);
    soon(serving)
        .await
        .expect("a connection ends without a panic");
    came
}

#[tokio::test]
async fn responses_are_the_same_on_each_kind() {
    for &kind in Kind::ALL {
        let (came, was_reset) = ask(kind, LAST, Ending::Whole, 3).await;
        assert_eq!((came.as_str(), was_reset), (WHOLE, false), "{kind:?}");
        // Larger than the buffer of a duplex stream: it is written piece by piece.
        let (came, _) = ask(kind, LAST, Ending::Whole, 50_000).await;
        let body = format!("\r\n\r\nc350\r\n{}\r\n0\r\n\r\n", "x".repeat(50_000));
        assert!(came.ends_with(&body), "{kind:?}: {} bytes", came.len());
        let (came, was_reset) = ask(kind, GET, Ending::CutOff(2), 3).await;
        assert!(came.ends_with("Content-Length: 3\r\n\r\nxx") && !was_reset);
        let (came, was_reset) = ask(kind, GET, Ending::Silence, 3).await;
        assert_eq!((came.as_str(), was_reset), ("", false), "{kind:?}");
        let (came, was_reset) = ask(kind, GET, Ending::Reset, 3).await;
        let expected = ("", kind.has_resets());
        assert_eq!((came.as_str(), was_reset), expected, "{kind:?}");
    }
}

#[tokio::test]
async fn a_body_is_asked_for_on_each_kind() {
    for &kind in Kind::ALL {
        let head =
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n";
        let (mut client, stream) = kind.connect(head).await;
        let (read, write) = stream.into_split();
        let respond = |_, mut body: Incoming| async move {
            let body = body.read(100).await.expect("it is short");
            assert_eq!((&*body.bytes, body.failure), (&b"ok"[..], None));
            text(3, Ending::Whole)
        };
        let serving = tokio::spawn(serve(read, write, settings(HangingUp::Waits), respond));
        let mut asked = [0; 25];
        soon(client.read_exact(&mut asked)).await.expect("it asks");
        assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n", "{kind:?}");
        // The body comes in two pieces, of which the first may be read ahead.
        client.write_all(b"o").await.expect("it reads");
        tokio::task::yield_now().await;
        client.write_all(b"k").await.expect("it reads");
        let (came, _) = read_all(&mut *client).await;
        assert_eq!(came, WHOLE, "{kind:?}");
        drop(client);
        soon(serving)
            .await
            .expect("a connection ends without a panic");
    }
}

/// Serves a connection whose request waits until `open` has a permit. Returns when the request waits.
async fn waiting(
    stream: Stream,
    hanging_up: HangingUp,
    open: &Arc<Semaphore>,
) -> tokio::task::JoinHandle<()> {
    let (read, write) = stream.into_split();
    let waits = Arc::new(Semaphore::new(0));
    let respond = {
        let (open, waits) = (Arc::clone(open), Arc::clone(&waits));
        move |head: Head, _| {
            let (open, waits) = (Arc::clone(&open), Arc::clone(&waits));
            // Without a byte that was read ahead it would be ET.
            assert_eq!(head.method, Method::GET);
            async move {
                waits.add_permits(1);
                let _permit = open.acquire().await;
                text(3, Ending::Whole)
            }
        }
    };
    let serving = tokio::spawn(serve(read, write, settings(hanging_up), respond));
    let _permit = soon(waits.acquire()).await;
    serving
}

#[tokio::test]
async fn a_half_closed_client_has_gone_on_each_kind() {
    for &kind in Kind::ALL {
        let (mut client, stream) = kind.connect(LAST).await;
        let serving = waiting(stream, HangingUp::Gone, &Arc::new(Semaphore::new(0))).await;
        client.shutdown().await.expect("it is open");
        soon(serving).await.expect("it ends without a panic");
        let (came, _) = read_all(&mut *client).await;
        assert_eq!(came, "", "{kind:?}");
    }
}

/// The runtime says that there is something to read, which the last request has read already: its event came twice.
#[tokio::test]
async fn a_late_event_is_not_the_next_request() {
    async fn has_gone(served: impl Into<Stream>, client: impl AsyncWrite) {
        let (_read, mut write) = served.into().into_split();
        let gone = write.gone(HangingUp::Gone);
        let mut gone = std::pin::pin!(gone);
        let is_first = std::future::poll_fn(|context| Poll::Ready(gone.as_mut().poll(context)));
        assert!(is_first.await.is_pending());
        drop(client);
        soon(gone).await;
    }
    let read = |socket: SockRef<'_>| {
        let length = socket.recv(&mut [MaybeUninit::uninit()]);
        assert_eq!(length.expect("it is there"), 1);
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a socket has an address");
    let mut client = TcpStream::connect(address).await.expect("it is listened");
    let (served, _) = listener.accept().await.expect("a client is there");
    client.write_all(b"x").await.expect("it reads");
    served.readable().await.expect("it is open");
    read(SockRef::from(&served));
    has_gone(served, client).await;
    #[cfg(unix)]
    {
        let (mut client, served) = tokio::net::UnixStream::pair().expect("a pair of sockets");
        client.write_all(b"x").await.expect("it reads");
        served.readable().await.expect("it is open");
        read(SockRef::from(&served));
        has_gone(served, client).await;
    }
}

#[tokio::test]
async fn a_half_closed_client_is_answered_on_each_kind() {
    for &kind in Kind::ALL {
        let (mut client, stream) = kind.connect(LAST).await;
        let open = Arc::new(Semaphore::new(0));
        let serving = waiting(stream, HangingUp::Waits, &open).await;
        client.shutdown().await.expect("it is open");
        // The server sees that before it answers, where its runtime tells it.
        tokio::task::yield_now().await;
        open.add_permits(1);
        let (came, _) = read_all(&mut *client).await;
        assert_eq!(came, WHOLE, "{kind:?}");
        soon(serving).await.expect("it ends without a panic");
    }
}

#[tokio::test]
async fn the_next_request_of_a_client_that_waits_is_kept_on_each_kind() {
    for &kind in Kind::ALL {
        let (mut client, stream) = kind.connect(GET).await;
        let open = Arc::new(Semaphore::new(0));
        let serving = waiting(stream, HangingUp::Gone, &open).await;
        client.write_all(LAST).await.expect("it reads");
        tokio::task::yield_now().await;
        open.add_permits(1);
        let (came, _) = read_all(&mut *client).await;
        assert!(came.ends_with(WHOLE), "{kind:?}: {came}");
        assert_eq!(came.matches("\r\n\r\nxxx").count(), 2, "{kind:?}");
        soon(serving).await.expect("it ends without a panic");
    }
}

/// A stream that ends with a failure.
struct Failing;

impl AsyncRead for Failing {
    fn poll_read(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        _buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }
}

#[tokio::test]
async fn a_stream_that_fails_shows_that_the_client_has_gone() {
    for hanging_up in [HangingUp::Waits, HangingUp::Gone] {
        let stream = tokio::io::join(GET.chain(Failing), tokio::io::sink());
        let open = Arc::new(Semaphore::new(0));
        let serving = waiting(Stream::from_io(stream), hanging_up, &open).await;
        soon(serving).await.expect("it ends without a panic");
    }
}

#[tokio::test]
async fn only_a_socket_is_sealed_and_once() {
    for kind in [Kind::Sealed, Kind::Duplex] {
        let (_client, stream) = kind.connect(GET).await;
        let sealed = stream.sealed(|socket| async { Ok(socket) }).await;
        let error = sealed.expect_err("it has no socket to give");
        assert_eq!(error.to_string(), "only a socket is sealed, and once");
    }
}
