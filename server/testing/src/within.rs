//! The patience of tests, by the machine's clock.

use std::time::Duration;

/// Returns the result of `work`; `None` if it takes longer than `limit`.
#[expect(clippy::disallowed_methods, reason = "a test that would hang fails")]
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}
