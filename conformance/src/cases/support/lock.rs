//! What cases with a lock share: acquiring and releasing it.

use crate::case::trial::Trial;
use crate::wire::answer::Answer;

/// Acquires a key for a session.
pub(in crate::cases) fn acquire(t: &Trial, key: &str, session: &str, value: &str) -> Answer {
    t.put(key, &format!("acquire={session}"), value)
}

/// Releases a key of a session.
pub(in crate::cases) fn release(t: &Trial, key: &str, session: &str, value: &str) -> Answer {
    t.put(key, &format!("release={session}"), value)
}
