//! Makes requests and their answers of the bytes that passed, in the order in which they passed.
//!
//! This is always quick, whatever the emulator does: what it makes waits in a queue, and each connection may have so much in it. What
//! does not fit is dropped, and with it everything that comes later: after a request that the emulator has not seen its answers say
//! nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use super::judge::readable;
use super::relay::{Passing, Piece, Tap};
use super::replies::{Heard, Replies};
use proconsul_conformance::wire::Outcome;
use proconsul_conformance::wire::asked::{Asked, Reading};

/// A request that is longer is not looked at.
const LONGEST: usize = 64 * 1024 * 1024;
/// What a message takes besides its bytes.
const OVERHEAD: usize = 1024;

/// What happened between the program and its real server, or at the emulator.
pub(super) enum Event {
    /// The program has sent a request.
    Asked {
        id: u64,
        connection: u64,
        asked: Box<Asked>,
        place: Place,
    },
    /// The real server has answered.
    Answered {
        id: u64,
        outcome: Outcome,
        place: Place,
    },
    /// The program no longer waits for an answer, or it will not be known.
    GivenUp { id: u64 },
    /// A connection has ended.
    Hung { connection: u64 },
    /// The emulator has answered a read that blocks.
    Woke {
        id: u64,
        outcome: Outcome,
        took: Duration,
    },
    /// Nothing more will come.
    Over,
}

/// What was seen and is not compared.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// Requests that did not fit into the queue, or came after one that did not.
    pub(super) dropped: AtomicUsize,
    /// Connections with something else than whole requests and answers on them.
    pub(super) foreign: AtomicUsize,
    /// Connections for which the real server was not there.
    pub(super) unreached: AtomicUsize,
    /// Requests whose program hung up before the answer.
    pub(super) given_up: AtomicUsize,
    /// Something was dropped.
    pub(super) is_cut: AtomicBool,
}

/// A place in the queue, which is free again when it is dropped.
pub(super) struct Place {
    taken: Arc<AtomicUsize>,
    cost: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.cost, Ordering::SeqCst);
    }
}

/// One connection of the program.
#[derive(Default)]
struct Line {
    /// Which of several addresses it is to.
    agent: usize,
    up: Vec<u8>,
    replies: Replies,
    awaited: VecDeque<Awaited>,
    is_foreign: bool,
    up_ended: bool,
    /// How much of the queue its messages take.
    taken: Arc<AtomicUsize>,
}

/// A request without an answer.
struct Awaited {
    id: u64,
    to_head: bool,
    blocks: bool,
    given_up: bool,
}

/// Reads along.
pub(super) struct Ear {
    pub(super) tap: Arc<Tap>,
    pub(super) unseen: Arc<Unseen>,
    pub(super) events: Sender<Event>,
    /// How much of the queue a connection may take, in bytes.
    pub(super) room: usize,
    lines: HashMap<u64, Line>,
    next: u64,
}

impl Ear {
    pub(super) fn new(
        tap: &Arc<Tap>,
        unseen: &Arc<Unseen>,
        events: Sender<Event>,
        room: usize,
    ) -> Self {
        Self {
            tap: Arc::clone(tap),
            unseen: Arc::clone(unseen),
            events,
            room,
            lines: HashMap::new(),
            next: 1,
        }
    }

    /// Listens until the relay is over.
    pub(super) fn listen(mut self, pieces: &Receiver<Piece>) {
        for Piece {
            connection,
            agent,
            what,
        } in pieces
        {
            if self.tap.is_lost() {
                self.cut();
            }
            let mut line = self.lines.remove(&connection).unwrap_or_default();
            line.agent = agent;
            match what {
                Passing::Up(bytes) => {
                    self.tap.read(bytes.len());
                    line.up.extend_from_slice(&bytes);
                    self.requests(connection, &mut line);
                }
                Passing::Down(bytes) => {
                    self.tap.read(bytes.len());
                    line.replies.feed(&bytes);
                    self.answers(&mut line);
                }
                Passing::UpEnd => self.up_ended(&mut line),
                Passing::DownEnd => {
                    self.ended(connection, &mut line);
                    continue;
                }
                Passing::Unreached => {
                    self.unseen.unreached.fetch_add(1, Ordering::SeqCst);
                    continue;
                }
                Passing::Over => break,
            }
            if line.is_foreign {
                line.up.clear();
                line.replies = Replies::default();
            }
            self.lines.insert(connection, line);
        }
        self.send(Event::Over);
    }

    fn send(&self, event: Event) {
        if self.events.send(event).is_err() {
            // Nobody compares any more.
        }
    }

    fn cut(&self) {
        self.unseen.is_cut.store(true, Ordering::SeqCst);
    }

    /// A place in the queue for a message of so many bytes; `None` when there is no room.
    fn place(&self, line: &Line, bytes: usize) -> Option<Place> {
        let cost = bytes + OVERHEAD;
        let place = Place {
            taken: Arc::clone(&line.taken),
            cost,
        };
        if line.taken.fetch_add(cost, Ordering::SeqCst) + cost > self.room {
            self.cut();
        }
        if !self.unseen.is_cut.load(Ordering::SeqCst) {
            return Some(place);
        }
        None
    }

    fn requests(&mut self, connection: u64, line: &mut Line) {
        while !line.is_foreign && !line.up.is_empty() {
            match Asked::read(&line.up) {
                Reading::Whole(asked, end) => {
                    line.up.drain(..end);
                    self.asked(connection, line, asked, end);
                }
                Reading::Partial | Reading::Expecting if line.up.len() <= LONGEST => return,
                _ => self.is_foreign(line),
            }
        }
    }

    fn asked(&mut self, connection: u64, line: &mut Line, mut asked: Box<Asked>, bytes: usize) {
        asked.agent = line.agent;
        let id = self.next;
        self.next += 1;
        let place = self.place(line, bytes);
        line.awaited.push_back(Awaited {
            id,
            to_head: asked.method == "HEAD",
            blocks: blocks(&asked),
            given_up: place.is_none(),
        });
        match place {
            Some(place) => self.send(Event::Asked {
                id,
                connection,
                asked,
                place,
            }),
            None => {
                self.unseen.dropped.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    fn answers(&mut self, line: &mut Line) {
        while !line.is_foreign {
            let Some(first) = line.awaited.front() else {
                if !line.replies.is_empty() {
                    // An answer to something that is no whole request.
                    self.is_foreign(line);
                }
                return;
            };
            match line.replies.next(first.to_head) {
                Heard::Nothing => return,
                Heard::Reply(reply) => self.answered(line, readable(Outcome::Reply(reply))),
                Heard::Foreign => self.is_foreign(line),
            }
        }
    }

    /// The real server has answered the request that waits longest.
    fn answered(&self, line: &mut Line, outcome: Outcome) {
        let Some(first) = line.awaited.pop_front().filter(|first| !first.given_up) else {
            return;
        };
        let bytes = match &outcome {
            Outcome::Reply(reply) => reply.body.len(),
            _ => 0,
        };
        let id = first.id;
        match self.place(line, bytes) {
            Some(place) => self.send(Event::Answered { id, outcome, place }),
            None => {
                self.unseen.dropped.fetch_add(1, Ordering::SeqCst);
                self.send(Event::GivenUp { id });
            }
        }
    }

    /// From now on this connection is let through unseen.
    fn is_foreign(&self, line: &mut Line) {
        line.is_foreign = true;
        self.unseen.foreign.fetch_add(1, Ordering::SeqCst);
        self.give_up(line, |_| true);
    }

    /// Nobody waits for these answers any more.
    fn give_up(&self, line: &mut Line, which: impl Fn(&Awaited) -> bool) {
        for awaited in &mut line.awaited {
            if !awaited.given_up && which(awaited) {
                awaited.given_up = true;
                self.unseen.given_up.fetch_add(1, Ordering::SeqCst);
                self.send(Event::GivenUp { id: awaited.id });
            }
        }
    }

    /// A program that says nothing more has as a rule gone away, and with it whoever waited for a change.
    fn up_ended(&self, line: &mut Line) {
        line.up_ended = true;
        self.give_up(line, |awaited| awaited.blocks);
    }

    fn ended(&self, connection: u64, line: &mut Line) {
        if !line.is_foreign && !line.awaited.is_empty() {
            match line.replies.end() {
                Ok(reply) => self.answered(line, readable(Outcome::Reply(reply))),
                Err(_) if line.up_ended => {}
                Err(received) if received.is_empty() => self.answered(line, Outcome::Closed),
                Err(received) => {
                    let why = "the connection ended within the reply".to_owned();
                    self.answered(line, Outcome::Broken { received, why });
                }
            }
            self.give_up(line, |_| true);
        }
        self.send(Event::Hung { connection });
    }
}

/// Whether a request may wait for a change.
pub(super) fn blocks(asked: &Asked) -> bool {
    asked.is_read()
        && (asked.blocks() || asked.parameter("hash").is_some_and(|hash| !hash.is_empty()))
}
