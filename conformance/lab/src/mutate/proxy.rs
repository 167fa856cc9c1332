//! The proxy: it stands before a target, and one mutant at a time alters what goes through it.
//!
//! Whole requests are read, handed to the mutant and answered on the same connection. Whatever is not a whole request (garbage, bodies
//! that are cut off, clients that wait for leave to send) goes through as it comes, and comes back as it is.

use std::io::{ErrorKind, Read, Write, copy};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::shared::{Scene, Switch};
use super::stopping::Stopping;
use super::{Alter, Mutant};
use proconsul_conformance::target::site::Site;
use proconsul_conformance::wire::asked::{Asked, Reading};
use proconsul_conformance::wire::{Address, Framing, Outcome, Reply};

/// After so long without a byte, a request that is not whole is taken for one that will not be.
const STUCK: Duration = Duration::from_millis(200);

/// A listening proxy. Dropping it stops listening; what is under way comes to its end.
pub(super) struct Proxy {
    socket: SocketAddr,
    scene: Arc<Scene>,
    stopping: Arc<AtomicBool>,
}

impl Proxy {
    /// Begins to listen before the server of a site. The mutant is at work while the switch is armed.
    pub(super) fn start(
        site: &Site,
        mutant: &'static Mutant,
        switch: &Arc<Switch>,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let socket = listener.local_addr()?;
        let scene = Arc::new(Scene::new(site, switch));
        let stopping = Arc::new(AtomicBool::new(false));
        let (its_scene, stop) = (Arc::clone(&scene), Arc::clone(&stopping));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let scene = Arc::clone(&its_scene);
                std::thread::spawn(move || serve(client, &scene, &mutant.alter));
            }
        });
        Ok(Self {
            socket,
            scene,
            stopping,
        })
    }

    /// The site as it is seen through the proxy.
    pub(super) fn before(self, site: Site) -> Site {
        let address = Address {
            host: self.socket.to_string(),
            socket: self.socket,
        };
        let scene = Arc::clone(&self.scene);
        let stopping = |clock| Stopping { clock, scene };
        site.behind(address, stopping, self)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // A connection of its own wakes the accepting thread.
        drop(TcpStream::connect(self.socket));
    }
}

/// Serves one client until either side has had enough.
fn serve(mut client: TcpStream, scene: &Arc<Scene>, alter: &Alter) {
    let mut buffer = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let mut used = 0;
        match Asked::read(&buffer) {
            Reading::Whole(asked, end) if !asked.expects() => {
                if !answer(&mut client, scene, alter, *asked) {
                    return;
                }
                used = end;
            }
            Reading::Partial => {}
            // Leave to send a body is between the two.
            Reading::Whole(..) | Reading::Foreign | Reading::Expecting => {
                return tunnel(client, scene.site.address(), &buffer);
            }
        }
        buffer.drain(..used);
        if used > 0 && !buffer.is_empty() {
            continue;
        }
        // An idle connection may stay idle for ever; half a request may not.
        let patience = (!buffer.is_empty()).then_some(STUCK);
        let read = client
            .set_read_timeout(patience)
            .and_then(|()| client.read(&mut piece));
        match read {
            Ok(0) if buffer.is_empty() => return,
            Ok(0) => return tunnel(client, scene.site.address(), &buffer),
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    return tunnel(client, scene.site.address(), &buffer);
                }
                ErrorKind::Interrupted => {}
                _ => return,
            },
        }
    }
}

/// Answers one request; whether the connection goes on.
fn answer(client: &mut TcpStream, scene: &Arc<Scene>, alter: &Alter, mut asked: Asked) -> bool {
    let outcome = if scene.switch.is_armed() {
        match alter {
            Alter::Reply(change) => match scene.forward(&asked) {
                Outcome::Reply(mut reply) => {
                    change(&asked, &mut reply);
                    Outcome::Reply(reply)
                }
                other => other,
            },
            Alter::Request(change) => {
                change(&mut asked);
                scene.forward(&asked)
            }
            Alter::Exchange(act) => act(scene, &asked),
        }
    } else {
        scene.forward(&asked)
    };
    match outcome {
        Outcome::Reply(reply) => {
            let goes_on = goes_on(&reply);
            client.write_all(&reply_bytes(&reply)).is_ok() && goes_on
        }
        Outcome::Broken { received, .. } => {
            if client.write_all(&received).is_err() {
                // The client has gone before the target broke off; nobody is left to tell.
            }
            false
        }
        Outcome::Closed | Outcome::Silent { .. } | Outcome::Unreachable(_) => false,
    }
}

/// Whether another request may follow the reply on its connection.
fn goes_on(reply: &Reply) -> bool {
    let connection = reply.header("Connection").unwrap_or_default();
    match reply.version.as_str() {
        "HTTP/1.0" => connection.eq_ignore_ascii_case("keep-alive"),
        _ => reply.framing != Framing::UntilClose && !connection.eq_ignore_ascii_case("close"),
    }
}

/// A reply as it goes on the wire again, with the framing it came in and the length that it has now.
fn reply_bytes(reply: &Reply) -> Vec<u8> {
    let mut bytes = format!("{} {} {}\r\n", reply.version, reply.status, reply.reason).into_bytes();
    for (name, value) in &reply.headers {
        let is_length = name.eq_ignore_ascii_case("Content-Length");
        let line = match is_length && reply.framing == Framing::Length {
            true => format!("{name}: {}\r\n", reply.body.len()),
            false => format!("{name}: {value}\r\n"),
        };
        bytes.extend_from_slice(line.as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    match reply.framing {
        Framing::Bodiless => {}
        Framing::Length | Framing::UntilClose => bytes.extend_from_slice(&reply.body),
        Framing::Chunked => {
            if !reply.body.is_empty() {
                bytes.extend_from_slice(format!("{:x}\r\n", reply.body.len()).as_bytes());
                bytes.extend_from_slice(&reply.body);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }
    bytes
}

/// Lets bytes through both ways until both sides have ended; `first` has come from the client already.
fn tunnel(client: TcpStream, target: &Address, first: &[u8]) {
    let streams = TcpStream::connect(target.socket).and_then(|mut server| {
        server.set_nodelay(true)?;
        server.write_all(first)?;
        client.set_read_timeout(None)?;
        Ok((client.try_clone()?, server.try_clone()?, server))
    });
    let Ok((from_client, to_server, server)) = streams else {
        return;
    };
    let upwards = std::thread::spawn(move || pour(from_client, to_server));
    pour(server, client);
    if upwards.join().is_err() {
        // Copying does not panic; and if it did, the connection would have ended all the same.
    }
}

/// Copies until the source ends, then tells the sink that nothing more comes.
fn pour(mut source: TcpStream, mut sink: TcpStream) {
    if copy(&mut source, &mut sink).is_err() || sink.shutdown(Shutdown::Write).is_err() {
        // One of the two has gone; the other direction notices by itself.
    }
}
