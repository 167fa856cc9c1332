//! Ten bugs that clients of Consul have had in the wild. Each is written twice, wrong and right, and run through what
//! brings it out: the wrong client fails, the right one passes.

mod client;
mod connections;
mod indexes;
mod locks;
mod sessions;
mod watches;

use std::time::Duration;

/// Nothing here takes as long; what would hang fails instead.
const PATIENCE: Duration = Duration::from_secs(20);

const SECOND: Duration = Duration::from_secs(1);

/// The two clients of every test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    /// As it was.
    Wrong,
    /// As it should be.
    Right,
}
