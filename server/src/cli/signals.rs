//! The signals that an agent handles.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A caught signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    Hangup,
    Interrupt,
    Terminate,
}

impl Caught {
    /// Returns Go's name of the signal, for the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Caught::Hangup => "hangup",
            Caught::Interrupt => "interrupt",
            Caught::Terminate => "terminated",
        }
    }

    /// Returns the number of the signal, for the log in JSON.
    pub(super) fn number(self) -> u8 {
        match self {
            Caught::Hangup => 1,
            Caught::Interrupt => 2,
            Caught::Terminate => 15,
        }
    }
}

/// Catches signals from [`Signals::listen`] on. Before, they end the process at once.
pub(super) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to catch signals.
    ///
    /// # Errors
    /// The operating system accepts no handler.
    pub(super) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.hangup.recv() => Caught::Hangup,
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::Terminate,
        }
    }
}
