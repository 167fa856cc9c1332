//! Checks that nobody runs: they turn critical, and their output says why.

use proconsul_engine::{Engine, RunOrder};
use proconsul_store::AgentCommand;

/// Answers due checks for ever, as a server whose driver runs none. `why` is their output.
pub async fn fail_checks(engine: &Engine, why: &str) {
    loop {
        let RunOrder::Start(run) = engine.next_run().await else {
            continue;
        };
        let ran = AgentCommand::Ran {
            id: run.check_id,
            registration: run.registration,
            result: Some(("critical", why.to_owned())),
        };
        let applied = engine.apply(ran);
        applied.expect("the result of a run is taken or forgotten");
        engine.run_ended();
    }
}
