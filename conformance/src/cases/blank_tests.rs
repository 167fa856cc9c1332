//! No case holds on a server that says the same to everything: a claim that nothing can fail claims nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::case::feature::{Facts, Feature};
use crate::case::version::Version;
use crate::cases::*;
use crate::runner::parallel;
use crate::runner::{Runner, State};
use crate::target::Target;
use crate::target::site::Site;
use crate::time::Clock;
use crate::wire::Address;

/// Cases at once: most of them wait for something that does not come.
const JOBS: usize = 256;
/// A request of which nothing more comes for so long is whole.
const QUIET: Duration = Duration::from_millis(30);

/// A server that says one thing to everything.
struct Blank {
    address: Address,
    stopping: Arc<AtomicBool>,
}

impl Blank {
    fn saying(reply: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let socket = listener.local_addr().expect("it is bound");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                std::thread::spawn(move || serve(client, reply));
            }
        });
        let host = socket.to_string();
        Self {
            address: Address { host, socket },
            stopping,
        }
    }
}

impl Drop for Blank {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address.socket));
    }
}

/// Answers once for every burst of bytes, until the client has had enough.
fn serve(mut client: TcpStream, reply: &str) {
    let mut piece = [0; 16 * 1024];
    while matches!(
        client
            .set_read_timeout(None)
            .and_then(|()| client.read(&mut piece)),
        Ok(1..)
    ) {
        let quiet = client.set_read_timeout(Some(QUIET));
        while quiet.is_ok() && matches!(client.read(&mut piece), Ok(1..)) {}
        if client.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
    drop(client.shutdown(Shutdown::Both));
}

/// A clock that costs no time.
#[derive(Debug)]
struct NoTime;

impl Clock for NoTime {
    fn pass(&self, _: Duration) -> Result<(), String> {
        Ok(())
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

/// A server of the version that a case speaks of, which claims to offer all there is.
fn facts(case: &Case) -> Facts {
    let version = case.since.max(Version::new(1, 8, 7));
    Facts {
        version,
        build: version.to_string(),
        node: "blank".to_owned(),
        datacenter: "dc1".to_owned(),
        shortest_ttl: Duration::from_secs(10),
        features: Feature::ALL.to_vec(),
        genuine: false,
    }
}

/// The cases that hold on a server which says this to everything, or that cannot tell.
fn held_by(reply: &'static str) -> Vec<&'static str> {
    let blank = Blank::saying(reply);
    let site = Site::new(blank.address.clone()).with_clock(NoTime);
    let held = |jobs: usize, cases: &[&'static Case]| -> Vec<&'static Case> {
        let states = parallel::each(jobs, cases, |case| {
            let target = Target::said_to_be("blank", site.clone(), facts(case));
            Ok::<_, ()>((case, Runner::new(&target).run_one(case).state))
        });
        let states = states.expect("no case ends the run").into_iter();
        let held = states.filter(|(_, state)| !matches!(state, State::Fail(_)));
        held.map(|(case, _)| case).collect()
    };
    // On a busy machine some of so many cases at once get no answer. They run again, one at a time.
    let held = held(1, &held(JOBS, &all()));
    held.iter().map(|case| case.id).collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn no_case_holds_on_a_server_that_answers_599() {
    let reply = "HTTP/1.1 599 Nonsense\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(held_by(reply), NOTHING);
}

#[test]
fn no_case_holds_on_a_server_that_answers_an_empty_200() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(held_by(reply), NOTHING);
}
