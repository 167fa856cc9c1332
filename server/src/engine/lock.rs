//! A mutex without poisoning: a panic ends one request, and the others go on.

use std::sync::{LockResult, MutexGuard, PoisonError};

/// A [`std::sync::Mutex`] that is not poisoned.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        unpoisoned(self.0.lock())
    }
}

/// Returns the guard, even if an earlier holder panicked.
pub(crate) fn unpoisoned<Guard>(locked: LockResult<Guard>) -> Guard {
    locked.unwrap_or_else(PoisonError::into_inner)
}
