//! A stack on which whoever goes down it for each level of a deep text does not get far.

/// Half of the smallest stack that a thread of a test program is likely to have: whoever calls a parser has gone down it, too.
const BYTES: usize = 256 * 1024;

/// The depths at which parsers are tried.
pub const DEPTHS: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/// Does something on a thread with a small stack, and drops there what it leaves.
pub fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(BYTES).spawn(work);
    let thread = thread.expect("the machine has a thread left");
    thread.join().expect("the work on the small stack is done");
}
