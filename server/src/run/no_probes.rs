//! Checks that would be run, in a build without the feature `probes`: they turn critical, and their output says why.

use std::pin::pin;
use std::sync::Arc;

use proconsul_engine::{Engine, RunOrder};
use proconsul_store::AgentCommand;
use proconsul_version::Version;

/// Answers due checks until `end` is ready.
pub(crate) async fn run_checks(engine: Arc<Engine>, _: Version, end: impl Future<Output = ()>) {
    let mut end = pin!(end);
    loop {
        let order = tokio::select! {
            order = engine.next_run() => order,
            () = &mut end => return,
        };
        let RunOrder::Start(run) = order else {
            continue;
        };
        let output = "checks that are run need the feature \"probes\" of proconsul";
        let ran = AgentCommand::Ran {
            id: run.check_id,
            registration: run.registration,
            result: Some(("critical", output.to_owned())),
        };
        let applied = engine.apply(ran);
        applied.expect("the result of a run is taken or forgotten");
        engine.run_ended();
    }
}
