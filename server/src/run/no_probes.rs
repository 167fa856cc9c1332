//! Checks that would be run, in a build without the feature `probes`.

use std::sync::Arc;

use proconsul_core::fail_checks;
use proconsul_engine::Engine;
use proconsul_engine::sync::either;
use proconsul_version::Version;

/// Answers due checks until `end` is ready.
pub(crate) async fn run_checks(engine: Arc<Engine>, _: Version, end: impl Future<Output = ()>) {
    let why = "checks that are run need the feature \"probes\" of proconsul";
    either(end, fail_checks(&engine, why)).await;
}
