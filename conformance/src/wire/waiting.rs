//! Requests that are still on their way: one that blocks in the background, and a connection used byte by byte.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::runner::verdict::{Halt, fail, halt};
use crate::time::Stopwatch;
use crate::wire::answer::Answer;
use crate::wire::transcript::Recorder;
use crate::wire::{Address, Connection, Outcome, PATIENCE, Request};

/// A blocking request that gives no patience of its own may take this long.
const BLOCKING_PATIENCE: Duration = Duration::from_secs(90);

/// Where time is virtual nobody waits for it: what does not come within so long of real time does not come.
pub(crate) const VIRTUAL_PATIENCE: Duration = Duration::from_secs(10);

/// A request in the background. Dropping it forgets the answer.
#[derive(Debug)]
pub struct Waiting {
    name: String,
    /// How long [`Self::answer`] waits.
    bound: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    receiver: Receiver<Answer>,
    answer: Option<Answer>,
}

impl Waiting {
    pub(crate) fn start(
        address: &Address,
        request: Request,
        recorder: Arc<Recorder>,
        pretty: bool,
        is_virtual: bool,
    ) -> Self {
        let name = format!("{} {}", request.method, request.target);
        let patience = request.patience.max(BLOCKING_PATIENCE);
        let request = request.patience(patience);
        let (sender, receiver) = mpsc::channel();
        let answered = name.clone();
        let bytes = request.to_bytes(&address.host);
        let number = recorder.sent(&bytes);
        let watch = Stopwatch::start();
        // Sent from here: what the case does next comes later, however slow the machine is.
        let connection = Connection::open(address).map(|mut connection| {
            connection.send(&bytes);
            connection
        });
        std::thread::spawn(move || {
            let outcome = match connection {
                Ok(mut connection) => connection.read(request.method == "HEAD", request.patience),
                Err(why) => Outcome::Unreachable(why),
            };
            let took = watch.elapsed();
            recorder.heard(number, &outcome, took);
            if sender
                .send(Answer::new(answered, outcome, took, pretty))
                .is_err()
            {
                // The case has ended and no longer wants to know.
            }
        });
        let bound = match is_virtual {
            true => VIRTUAL_PATIENCE,
            false => patience + Duration::from_secs(5),
        };
        Self {
            name,
            bound,
            state: Mutex::new(State {
                receiver,
                answer: None,
            }),
        }
    }

    /// Method and target, for messages.
    #[must_use]
    pub fn request(&self) -> &str {
        &self.name
    }

    /// The answer if it has come.
    #[must_use]
    pub fn peek(&self) -> Option<Answer> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.answer.is_none() {
            state.answer = state.receiver.try_recv().ok();
        }
        state.answer.clone()
    }

    /// Waits for the answer.
    #[track_caller]
    #[must_use]
    pub fn answer(&self) -> Answer {
        self.answer_within(self.bound)
    }

    /// Waits for the answer; the case fails when it does not come within `bound` of real time.
    #[track_caller]
    #[must_use]
    pub fn answer_within(&self, bound: Duration) -> Answer {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.answer.is_none() {
            match state.receiver.recv_timeout(bound) {
                Ok(answer) => state.answer = Some(answer),
                Err(_) => fail(format!("{}: no answer within {bound:?}", self.name)),
            }
        }
        let answer = state.answer.clone().expect("the answer was just set");
        if let Outcome::Unreachable(why) = answer.outcome() {
            halt(Halt::Unreachable(why.clone()));
        }
        answer
    }
}

/// A connection on which a case sends bytes and reads replies one by one.
#[derive(Debug)]
pub struct RawConnection {
    connection: Connection,
    recorder: Arc<Recorder>,
    pretty: bool,
    /// What was last sent: its first line names the next answer.
    last: Vec<u8>,
    /// The transcript's line of what was last sent, while nothing has answered it.
    number: Option<usize>,
}

impl RawConnection {
    pub(crate) fn new(connection: Connection, recorder: Arc<Recorder>, pretty: bool) -> Self {
        Self {
            connection,
            recorder,
            pretty,
            last: Vec::new(),
            number: None,
        }
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.number = Some(self.recorder.sent(bytes));
        self.connection.send(bytes);
        self.last = bytes.to_vec();
    }

    /// Closes the sending half.
    pub fn finish(&mut self) {
        self.connection.finish();
    }

    /// Reads the next reply.
    pub fn answer(&mut self) -> Answer {
        self.answer_within(PATIENCE)
    }

    /// Reads the next reply; after `bound` of real time the outcome is [`Outcome::Silent`].
    pub fn answer_within(&mut self, bound: Duration) -> Answer {
        let watch = Stopwatch::start();
        let outcome = self.connection.read(self.last.starts_with(b"HEAD "), bound);
        let took = watch.elapsed();
        // A second reply to the same bytes gets a line of its own.
        let number = match self.number.take() {
            Some(number) => number,
            None => self.recorder.sent(b""),
        };
        self.recorder.heard(number, &outcome, took);
        let line = self
            .last
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        let name = String::from_utf8_lossy(line).chars().take(120).collect();
        Answer::new(name, outcome, took, self.pretty)
    }
}
