use std::error::Error;
use std::time::Duration;

use proconsul::faults::{ConsulError, Cut, Effect, LeaderLoss, Rule};
use proconsul_client::Client;

#[tokio::test]
async fn a_write_is_applied_and_its_response_is_lost() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;

    let rule = Rule::new(Effect::AppliedThen(Cut::Reset));
    let lost = server.fault(rule.method("PUT").key_prefix("leader").times(1))?;
    let written = client.kv().put("leader", "me").await;
    assert!(written.is_err_and(|error| error.may_be_applied()));

    let leader = client.kv().get("leader").await?.value;
    assert_eq!(leader.expect("it was applied").text()?, "me");
    assert_eq!(lost.hits(), 1);
    Ok(())
}

#[tokio::test]
async fn a_cluster_loses_its_leader() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;

    // Consul waits 7 s for a leader before it returns this error.
    let at_once = Effect::ErrorAfter(ConsulError::NoClusterLeader, Duration::ZERO);
    let rule = server.fault(Rule::new(at_once).path("/v1/kv/"))?;
    assert!(client.kv().put("a", "b").await.is_err());
    drop(rule); // a rule lasts as long as its guard

    server.lose_leader(LeaderLoss::quorum_lost()); // phase by phase, as measured on real clusters
    assert!(server.leader_lost().is_some());
    server.find_leader();
    client.kv().put("a", "b").await?;
    Ok(())
}
