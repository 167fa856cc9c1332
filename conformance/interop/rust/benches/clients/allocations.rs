//! How often memory is asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static TIMES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a tally.
pub(crate) struct Counting;

fn tally(bytes: usize) {
    TIMES.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from `System` by one of the other calls.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        tally(size);
        // SAFETY: `memory` came from `System` by one of the other calls.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// What was asked for since the program started.
#[derive(Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) times: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    pub(crate) fn now() -> Self {
        Self {
            times: TIMES.load(Ordering::Relaxed),
            bytes: BYTES.load(Ordering::Relaxed),
        }
    }
}
