//! Parts of `docs/src/datacenters.md`.

use std::error::Error;
use std::time::Duration;

use proconsul::Server;
use proconsul::history::{Filter, Kind};
use proconsul_client::{Client, QueryOptions};

#[tokio::test]
async fn a_request_about_a_datacenter_that_is_cut_off_fails() -> Result<(), Box<dyn Error>> {
    let server = Server::builder()
        .datacenters(["dc1", "dc2"])
        .frozen()
        .start()?;
    let there = server.datacenter("dc2");
    there.kv().put("config", "there");

    let client = Client::new(&server.url())?.with(QueryOptions::new().datacenter("dc2"));
    let seen = client.kv().get("config").await?;
    assert_eq!(seen.value.expect("it is there").text()?, "there");

    there.cut_datacenter();
    let waits = tokio::spawn(async move { client.kv().get("config").await });
    server
        .wait_for_async(&Filter::of(Kind::Held), Duration::from_secs(10))
        .await?;
    server.advance_async(Duration::from_secs(40)).await;
    let failed = waits.await?.expect_err("nothing comes back");
    assert!(
        failed.to_string().contains("rpc error making call: EOF"),
        "{failed}"
    );
    Ok(())
}
