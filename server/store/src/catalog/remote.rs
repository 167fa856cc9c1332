//! Reads of services that are not in this cluster.

use std::convert::Infallible;

use crate::catalog::service::Instance;
use crate::read::{Answer, Read, ReadResult, Subject};
use crate::{Index, Store};

/// Reads the instances of a service of another cluster or datacenter. There are none, and no change here wakes who waits.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere;

impl Read for Elsewhere {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("services of another cluster")
    }

    fn look(&self, _store: &Store) -> ReadResult<Self> {
        Ok(Answer::new(Index(1), Vec::new(), Vec::new()))
    }
}

/// Reads what never changes, at its index.
#[derive(Clone, Copy, Debug)]
pub struct Unchanging(pub Index);

impl Read for Unchanging {
    type Rows = ();
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("what never changes")
    }

    fn look(&self, _store: &Store) -> ReadResult<Self> {
        Ok(Answer::new(self.0, (), Vec::new()))
    }
}
