//! The signals that an agent answers.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    Hangup,
    Interrupt,
    Terminate,
}

impl Caught {
    /// Go's name for it, which stands in the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Caught::Hangup => "hangup",
            Caught::Interrupt => "interrupt",
            Caught::Terminate => "terminated",
        }
    }

    /// Its number, which stands in the log's JSON form.
    pub(super) fn number(self) -> u8 {
        match self {
            Caught::Hangup => 1,
            Caught::Interrupt => 2,
            Caught::Terminate => 15,
        }
    }
}

/// The signals from the moment of listening on; before it, they end the process at once.
pub(super) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// The operating system takes no handler.
    pub(super) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.hangup.recv() => Caught::Hangup,
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::Terminate,
        }
    }
}
