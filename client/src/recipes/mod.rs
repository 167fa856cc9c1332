//! Recipes: what Consul's guides build from keys and sessions.
//!
//! A [`Keeper`] holds a session and keeps it alive; every recipe takes one and hands out a guard. Three rules hold for
//! all guards:
//!
//! * **Losing is a future.** `lost()` ends when the guard cannot vouch any more: the session ended, somebody took the
//!   key away, or Consul could not be reached for so long that the session may have expired. Select on it, and stop at
//!   once when it ends.
//! * **Giving up takes an answer.** `release()` says whether Consul heard it. Dropping a guard releases too, in the
//!   background and as well as it can; it needs a running tokio runtime.
//! * **A cancelled call leaves nothing behind.** When the future of `acquire` is dropped in the middle, what it may
//!   have got is given back.
//!
//! All of them are advisory: Consul stops nobody from working without a lock. Give what you change the [`Fence`] of
//! your lock, so that a holder that has lost it and does not know yet is refused there.

mod election;
mod ephemeral;
mod guard;
mod keeper;
mod lock;
mod semaphore;

use std::fmt;

pub use election::{Election, Leader, Leadership, Observer};
pub use ephemeral::{EphemeralKey, Published};
pub use keeper::Keeper;
pub use lock::{Fence, Held, Lock};
pub use semaphore::{Semaphore, Slot};

/// Why a guard does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The session ended: it expired, was destroyed, or a check that it depends on turned critical.
    Session,
    /// The session could not be renewed for a whole TTL, because Consul was out of reach or this program was paused:
    /// it may have expired.
    Unconfirmed,
    /// The session lives, but what it held was released, deleted or taken over by somebody.
    Taken,
    /// This program gave it up.
    Released,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "the session ended",
            Self::Unconfirmed => "the session could not be renewed for a whole TTL",
            Self::Taken => "somebody else took it away",
            Self::Released => "it was given up",
        })
    }
}
