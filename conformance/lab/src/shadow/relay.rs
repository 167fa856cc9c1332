//! Between the program and its real server: bytes go through as they come, both ways, and a copy of each piece goes to who listens.
//!
//! Nothing here reads what passes, and nothing here waits for anybody but the two ends. A piece from the program is copied before the
//! real server can have seen it, and a piece from the server before the program can have: so the copies are in an order in which no
//! effect comes before its cause.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use proconsul_conformance::wire::Address;

/// How long connecting to the real server may take before the program is told.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a program that was told so may take to read it.
const FAREWELL: Duration = Duration::from_secs(1);
/// So many bytes may wait to be read by who listens. Whoever is slower than that hears no more.
const UNREAD: usize = 256 * 1024 * 1024;

/// What passed on one connection.
pub(super) struct Piece {
    pub(super) connection: u64,
    /// Which of several addresses the program has connected to.
    pub(super) agent: usize,
    pub(super) what: Passing,
}

pub(super) enum Passing {
    /// From the program.
    Up(Vec<u8>),
    /// The program will send nothing more.
    UpEnd,
    /// From the real server.
    Down(Vec<u8>),
    /// The real server will send nothing more.
    DownEnd,
    /// The real server could not be reached; the program was told.
    Unreached,
    /// Nobody listens any more: the last piece of all.
    Over,
}

/// The way to who listens. It never waits.
pub(super) struct Tap {
    pieces: Sender<Piece>,
    unread: AtomicUsize,
    lost: AtomicBool,
    /// The number of the last connection.
    connections: AtomicU64,
}

impl Tap {
    pub(super) fn new(pieces: Sender<Piece>) -> Self {
        Self {
            pieces,
            unread: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
            connections: AtomicU64::new(0),
        }
    }

    /// Nobody listens any more.
    pub(super) fn end(&self) {
        self.tell((0, 0), Passing::Over);
    }

    fn tell(&self, (agent, connection): (usize, u64), what: Passing) {
        if let Passing::Up(bytes) | Passing::Down(bytes) = &what {
            let unread = self.unread.fetch_add(bytes.len(), Ordering::SeqCst);
            if unread > UNREAD {
                self.lost.store(true, Ordering::SeqCst);
            }
            if self.is_lost() {
                return;
            }
        }
        let piece = Piece {
            connection,
            agent,
            what,
        };
        if self.pieces.send(piece).is_err() {
            // Nobody listens; the program goes on all the same.
        }
    }

    /// So many bytes have been read.
    pub(super) fn read(&self, count: usize) {
        self.unread.fetch_sub(count, Ordering::SeqCst);
    }

    /// Whether pieces were left out.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

/// A listening relay. Dropping it stops listening; connections that are open go on as long as the process does.
pub(super) struct Relay {
    socket: SocketAddr,
    stopping: Arc<AtomicBool>,
}

impl Relay {
    /// Begins to pass on what comes to the listener, which is the one with this number.
    pub(super) fn start(
        listener: TcpListener,
        agent: usize,
        real: &Address,
        tap: &Arc<Tap>,
    ) -> std::io::Result<Self> {
        let socket = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let (real, its_tap, stop) = (real.clone(), Arc::clone(tap), Arc::clone(&stopping));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (real, tap) = (real.clone(), Arc::clone(&its_tap));
                let connection = (agent, tap.connections.fetch_add(1, Ordering::SeqCst) + 1);
                std::thread::spawn(move || pass(client, &real, connection, &tap));
            }
        });
        Ok(Self { socket, stopping })
    }

    /// Where it listens.
    pub(super) fn socket(&self) -> SocketAddr {
        self.socket
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // A connection of its own wakes the accepting thread.
        drop(TcpStream::connect(self.socket));
    }
}

/// Connects one program with the real server, until both sides have ended.
fn pass(client: TcpStream, real: &Address, connection: (usize, u64), tap: &Arc<Tap>) {
    let opened = TcpStream::connect_timeout(&real.socket, CONNECT_PATIENCE);
    let server = match opened {
        Ok(server) => server,
        Err(error) => {
            tap.tell(connection, Passing::Unreached);
            return refuse(client, &format!("{real} does not answer: {error}"));
        }
    };
    let copies = client
        .set_nodelay(true)
        .and_then(|()| server.set_nodelay(true))
        .and_then(|()| Ok((client.try_clone()?, server.try_clone()?)));
    let Ok((from_client, to_server)) = copies else {
        return;
    };
    let its_tap = Arc::clone(tap);
    std::thread::spawn(move || {
        pour(from_client, to_server, &|bytes| {
            its_tap.tell(connection, Passing::Up(bytes.to_vec()));
        });
        its_tap.tell(connection, Passing::UpEnd);
    });
    pour(server, client, &|bytes| {
        tap.tell(connection, Passing::Down(bytes.to_vec()));
    });
    tap.tell(connection, Passing::DownEnd);
}

/// Copies until the source ends, then tells the sink that nothing more comes. A sink that takes nothing more ends the source, too.
fn pour(mut source: TcpStream, mut sink: TcpStream, seen: &dyn Fn(&[u8])) {
    let mut piece = vec![0; 64 * 1024];
    loop {
        match source.read(&mut piece) {
            Ok(0) => {
                end(&sink, Shutdown::Write);
                return;
            }
            Ok(count) => {
                seen(&piece[..count]);
                if sink.write_all(&piece[..count]).is_err() {
                    end(&source, Shutdown::Both);
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => {
                // It has gone without a word, and the other side is to know.
                end(&sink, Shutdown::Both);
                return;
            }
        }
    }
}

fn end(stream: &TcpStream, how: Shutdown) {
    if stream.shutdown(how).is_err() {
        // It has ended already.
    }
}

/// Tells a program in HTTP that its server is not there.
fn refuse(mut client: TcpStream, why: &str) {
    let body = format!("proconsul-lab shadow: the real server at {why}\n");
    let answer = format!(
        "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut asked = [0; 4096];
    // An answer that comes before the question may be taken for garbage.
    let told = client
        .read(&mut asked)
        .and_then(|_| client.write_all(answer.as_bytes()))
        .and_then(|()| client.shutdown(Shutdown::Write))
        .and_then(|()| client.set_read_timeout(Some(FAREWELL)));
    // What is still on its way is taken, so that the answer is not cut off.
    while told.is_ok() && client.read(&mut asked).is_ok_and(|count| count > 0) {}
}
