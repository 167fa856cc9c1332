//! Signals, and programs with all that they start.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{ProcessGroup, Signals, exit_text, shell};
#[cfg(windows)]
pub use windows::{ProcessGroup, Signals, exit_text, shell};

/// A caught signal, or what Windows has in its place, where nothing is a hangup.
#[cfg_attr(windows, allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    /// SIGHUP: reload.
    Hangup,
    /// SIGINT, or Ctrl-C.
    Interrupt,
    /// SIGTERM, or the end of the session.
    Terminate,
}

impl Caught {
    /// Returns Go's name of the signal, for the log.
    pub fn name(self) -> &'static str {
        match self {
            Caught::Hangup => "hangup",
            Caught::Interrupt => "interrupt",
            Caught::Terminate => "terminated",
        }
    }

    /// Returns the number of the signal, for the log in JSON.
    pub fn number(self) -> u8 {
        match self {
            Caught::Hangup => 1,
            Caught::Interrupt => 2,
            Caught::Terminate => 15,
        }
    }
}
