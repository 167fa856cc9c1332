//! A count, for tests, of the rows of checks that a command looks at, and of the services in the chains that it compiles.

/// Counts a row.
#[cfg(not(test))]
pub(crate) fn looked_at() {}

#[cfg(test)]
pub(crate) use counted::{looked_at, looks};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn looked_at() {
        LOOKS.set(LOOKS.get() + 1);
    }

    /// Returns the number of rows that `work` looks at.
    pub(crate) fn looks<T>(work: impl FnOnce() -> T) -> (usize, T) {
        LOOKS.set(0);
        let done = work();
        (LOOKS.get(), done)
    }
}
