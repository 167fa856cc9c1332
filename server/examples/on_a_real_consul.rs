//! One test for this crate and for a real Consul: in this process it takes no time, and now and then it shows that Consul
//! itself does what the test expects.
//!
//! ```sh
//! cargo run -p proconsul --example on_a_real_consul
//! PROCONSUL_TARGET=http://127.0.0.1:8500 cargo run -p proconsul --example on_a_real_consul # half a minute
//! ```

use std::error::Error;
use std::time::Duration;

use proconsul_client::{Behavior, Client, NewSession};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // A frozen server in this process, or the Consul that `PROCONSUL_TARGET` names. It has a variable of its own, so that
    // no test writes to a Consul that somebody uses.
    let target = proconsul::target::from_env();
    let client = Client::new(target.url())?;

    // A real Consul may be in use, so the key is this run's own, and goes with its session.
    let session = NewSession::new()
        .ttl(Duration::from_secs(10))
        .behavior(Behavior::Delete);
    let session = client.sessions().create(&session).await?;
    let key = format!("proconsul-example/{session}");
    assert!(client.kv().write(&key, "here").acquire(&session).await?);
    let mut watch = client.watch_key(&key);
    assert!(watch.next().await?.value.is_some());

    // Renewed in time, it lives on.
    target.pass_async(Duration::from_secs(9)).await;
    assert!(client.sessions().renew(&session).await?.is_some());
    target.pass_async(Duration::from_secs(9)).await;
    assert!(client.kv().get(&key).await?.value.is_some());

    // Given up, it lapses at twice its TTL, and the key goes with it. The watch waits out what a real Consul takes longer.
    target.pass_async(Duration::from_secs(11)).await;
    assert!(watch.next().await?.value.is_none());

    // What no Consul can tell is looked at where there are controls.
    if let Some(server) = target.control() {
        let timeline = server.timeline(&key);
        assert!(timeline.contains("its TTL ran out"), "{timeline}");
    }
    Ok(())
}
