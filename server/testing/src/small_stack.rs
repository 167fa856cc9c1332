//! A small stack, on which recursion over a deep text overflows.

/// Half of the smallest usual stack: the callers of a parser need some, too.
const BYTES: usize = 256 * 1024;

/// The depths at which to try parsers.
pub const DEPTHS: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/// Runs a function on a thread with a small stack, and drops its result there.
pub fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(BYTES).spawn(work);
    let thread = thread.expect("the machine has a thread left");
    thread.join().expect("the work on the small stack is done");
}
