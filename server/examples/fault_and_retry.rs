//! What a program does when Consul fails: an error that says that nothing was done, and an answer that is lost after
//! everything was done.
//!
//! `cargo run -p proconsul --example fault_and_retry`

use std::error::Error;

use proconsul::faults::{ConsulError, Cut, Effect, Rule};
use proconsul::history::{Filter, Kind};
use proconsul_client::Client;

/// What is tested: it adds one to a counter, exactly once, whatever happens on the way.
async fn increment(client: &Client, key: &str) -> Result<u64, proconsul_client::Error> {
    let mut index = None;
    loop {
        let pair = client.kv().get(key).await?.value;
        let text = pair.as_ref().map_or("0", |pair| pair.text().unwrap_or("0"));
        let count = text.parse().unwrap_or(0);
        let found = pair.as_ref().map_or(0, |pair| pair.modify_index);
        // An answer was lost. That the key has changed since means that the write took place: nobody else writes here.
        if index.is_some_and(|index| index != found) {
            return Ok(count);
        }
        let next = (count + 1).to_string();
        match client.kv().write(key, next).cas(found).await {
            Ok(true) => return Ok(count + 1),
            Ok(false) => {}
            Err(error) if error.may_be_applied() => index = Some(found),
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server();
    let client = Client::new(&server.url())?;
    let writes = |effect| Rule::new(effect).method("PUT").path("/v1/kv/").times(1);

    // A rule is installed for as long as its guard lives.
    let refused = server.fault(writes(Effect::Error(ConsulError::RateLimited)))?;
    assert_eq!(increment(&client, "visits").await?, 1);
    assert_eq!(refused.hits(), 1, "the first try was refused");

    // The write is applied, and then the connection breaks.
    let lost = server.fault(writes(Effect::AppliedThen(Cut::Close)))?;
    assert_eq!(increment(&client, "visits").await?, 2);
    assert_eq!(lost.hits(), 1);

    // The history says that there were two writes and no third.
    let visits = client.kv().get("visits").await?.value;
    assert_eq!(visits.expect("it is there").text()?, "2");
    let written = server.history(&Filter::of(Kind::KeyWritten).key("visits"));
    assert_eq!(written.len(), 2);
    Ok(())
}
