//! The load: many connections, each asking one thing after the other, driven by one thread over epoll.
//!
//! It costs less per answer than any server here, but not nothing: where it is the limit, rates look alike, and
//! the CPU that the servers needed tells them apart.

pub(super) mod fill;
pub(super) mod scripts;
pub(super) mod wire;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::event::epoll;
use rustix::fd::OwnedFd;

use crate::load::wire::{Answer, AnswerReader};
use crate::stopwatch::Stopwatch;

/// What one connection asks.
pub(crate) trait Script {
    /// Appends the next request to `out`. `last` is the answer to the one before, empty for the first.
    fn next_request(&mut self, last: &Answer, out: &mut Vec<u8>);

    /// The status of every answer.
    fn expected_status(&self) -> &'static str {
        "200"
    }

    /// How many requests make one operation.
    fn requests_per_operation(&self) -> u64 {
        1
    }
}

/// What was done in a round.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    /// How many operations were answered.
    pub(crate) operations: u64,
    /// In which time.
    pub(crate) elapsed: Duration,
    /// How long each answer took, in microseconds, in no order.
    pub(crate) latencies: Vec<f64>,
}

impl Round {
    /// The latency that `share` of all answers did not exceed, in microseconds.
    pub(crate) fn percentile(&mut self, share: f64) -> f64 {
        self.latencies.sort_by(f64::total_cmp);
        let place = self.latencies.len() as f64 * share;
        // A position in the list, and so a whole number that a usize holds.
        let place = place.floor() as usize;
        self.latencies.get(place).copied().unwrap_or(f64::NAN)
    }

    /// Operations per second.
    pub(crate) fn rate(&self) -> f64 {
        self.operations as f64 / self.elapsed.as_secs_f64()
    }
}

/// Some connections to one server. All of them stay open between rounds.
pub(crate) struct Load {
    connections: Vec<Connection>,
    epoll: OwnedFd,
    scratch: Box<[u8]>,
    requests_per_operation: u64,
}

struct Connection {
    stream: TcpStream,
    script: Box<dyn Script>,
    request: Vec<u8>,
    asked: Stopwatch,
    reader: AnswerReader,
}

impl Load {
    /// Connects once for each script.
    pub(crate) fn connect(address: SocketAddr, scripts: Vec<Box<dyn Script>>) -> Self {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("the kernel has epoll");
        let requests = scripts
            .first()
            .map_or(1, |script| script.requests_per_operation());
        let connect = |(number, script)| {
            let stream = TcpStream::connect(address).expect("the server accepts connections");
            stream.set_nodelay(true).expect("TCP has this option");
            let data = epoll::EventData::new_u64(number as u64);
            epoll::add(&epoll, &stream, data, epoll::EventFlags::IN).expect("epoll takes a socket");
            Connection {
                stream,
                script,
                request: Vec::new(),
                asked: Stopwatch::start(),
                reader: AnswerReader::new(),
            }
        };
        Self {
            connections: scripts.into_iter().enumerate().map(connect).collect(),
            epoll,
            scratch: vec![0; 256 * 1024].into(),
            requests_per_operation: requests,
        }
    }

    /// Keeps all connections busy for `duration`, and waits for the last answers.
    pub(crate) fn run(&mut self, duration: Duration) -> Round {
        let started = Stopwatch::start();
        let mut latencies = Vec::with_capacity(1 << 16);
        self.ask_all();
        if let [only] = &mut self.connections[..] {
            loop {
                // A single connection is read from directly: nothing else can have news.
                if only.is_answered(&mut self.scratch) {
                    latencies.push(only.latency());
                    if started.elapsed() >= duration {
                        break;
                    }
                    only.ask();
                }
            }
        } else {
            self.run_many(started, duration, &mut latencies);
        }
        Round {
            operations: latencies.len() as u64 / self.requests_per_operation,
            elapsed: started.elapsed(),
            latencies,
        }
    }

    /// Sends the next request on each connection.
    pub(crate) fn ask_all(&mut self) {
        for connection in &mut self.connections {
            connection.ask();
        }
    }

    /// Waits for the answers to [`Load::ask_all`].
    pub(crate) fn await_all(&mut self) {
        self.run_many(Stopwatch::start(), Duration::ZERO, &mut Vec::new());
    }

    /// Waits for the answer on one connection, and sends its next request.
    pub(crate) fn await_one(&mut self, number: usize) {
        let connection = &mut self.connections[number];
        while !connection.is_answered(&mut self.scratch) {}
        connection.ask();
    }

    fn run_many(&mut self, started: Stopwatch, duration: Duration, latencies: &mut Vec<f64>) {
        let mut events = Vec::with_capacity(self.connections.len());
        let mut asking = self.connections.len();
        while asking > 0 {
            let buffer = rustix::buffer::spare_capacity(&mut events);
            epoll::wait(&self.epoll, buffer, None).expect("epoll waits");
            let over = started.elapsed() >= duration;
            for event in events.drain(..) {
                let number = usize::try_from(event.data.u64()).expect("it was a usize");
                let connection = &mut self.connections[number];
                if connection.is_answered(&mut self.scratch) {
                    latencies.push(connection.latency());
                    if over {
                        asking -= 1;
                    } else {
                        connection.ask();
                    }
                }
            }
        }
    }
}

impl Connection {
    fn ask(&mut self) {
        self.request.clear();
        self.script
            .next_request(self.reader.answer(), &mut self.request);
        self.reader.next();
        self.asked = Stopwatch::start();
        let sent = self.stream.write_all(&self.request);
        sent.expect("the server reads what it is sent");
    }

    /// The time since the last request was sent, in microseconds.
    fn latency(&self) -> f64 {
        self.asked.elapsed().as_secs_f64() * 1e6
    }

    /// Reads once; whether the answer is whole now.
    fn is_answered(&mut self, scratch: &mut [u8]) -> bool {
        let count = self.stream.read(scratch).expect("the server answers");
        assert!(count > 0, "the server keeps connections open");
        let whole = self.reader.read(&scratch[..count]);
        let whole = whole.expect("the answer is HTTP");
        if whole {
            let answer = self.reader.answer();
            assert_eq!(answer.status(), self.script.expected_status(), "{answer:?}");
        }
        whole
    }
}
