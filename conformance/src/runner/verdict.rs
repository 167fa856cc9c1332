//! How a case ends early: a claim that did not hold, or a target that is gone.
//!
//! Assertions unwind with a [`Halt`], which the runner catches, so that case bodies stay free of `?`.
//! Every other panic in a case is an error of the suite itself.

use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, Location};

/// A claim that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What was expected and what came.
    pub message: String,
    /// File and line of the assertion in the case.
    pub place: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n  at {}", self.message, self.place)
    }
}

/// Why a case stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// An assertion failed.
    Failed(Failure),
    /// The target does not listen any more.
    Unreachable(String),
    /// The suite could not do its own part (a clock that does not advance, a panic in a case).
    Suite(String),
}

/// Ends the case as failed.
#[track_caller]
pub(crate) fn fail(message: impl Into<String>) -> ! {
    let place = Location::caller();
    halt(Halt::Failed(Failure {
        message: message.into(),
        place: format!("{}:{}", place.file(), place.line()),
    }))
}

/// Ends the case. Nothing is printed: unlike `panic!`, this does not run the panic hook.
pub(crate) fn halt(halt: Halt) -> ! {
    panic::resume_unwind(Box::new(halt))
}

/// Runs a body and turns its unwinding into a value.
pub(crate) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, Halt> {
    panic::catch_unwind(AssertUnwindSafe(body)).map_err(halt_of)
}

/// What a payload of unwinding means.
fn halt_of(payload: Box<dyn Any + Send>) -> Halt {
    match payload.downcast::<Halt>() {
        Ok(halt) => *halt,
        Err(other) => Halt::Suite(format!("a case panicked: {}", panic_text(other.as_ref()))),
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("with something that is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_assertion_keeps_message_and_place() {
        let halt = caught(|| -> () { fail("no") }).unwrap_err();
        let Halt::Failed(failure) = halt else {
            panic!("{halt:?}")
        };
        assert_eq!(failure.message, "no");
        assert!(failure.place.contains("verdict.rs:"), "{}", failure.place);
    }

    #[test]
    fn another_panic_is_an_error_of_the_suite() {
        let halt = caught(|| -> () { panic::resume_unwind(Box::new("oops")) }).unwrap_err();
        assert_eq!(halt, Halt::Suite("a case panicked: oops".to_owned()));
    }
}
