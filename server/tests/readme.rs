//! The first Rust test of the README, as it stands there.

// What the README shows begins here.
use std::error::Error;
use std::time::Duration;

use proconsul::engine::BlockedOn;

#[tokio::test]
async fn a_watch_sees_its_key_change() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server(); // a free port, its own thread; stops when dropped
    server
        .run_async(async |server| {
            let key = format!("{}/v1/kv/config/color", server.url());
            let client = reqwest::Client::new();
            client.put(&key).body("red").send().await?;
            let first = client.get(&key).send().await?;
            let index = first.headers()["X-Consul-Index"].to_str()?;

            let watch = client.get(format!("{key}?raw&index={index}"));
            let watch = tokio::spawn(watch.send());
            let config = BlockedOn::prefix("config/");
            let patience = Duration::from_secs(5);
            server.wait_blocked_async(&config, 1, patience).await?; // no sleep: it watches now

            client.put(&key).body("green").send().await?;
            let woken = watch.await??;
            assert_eq!(woken.text().await?, "green");
            Ok(())
        })
        .await
}
// What the README shows ends here.

/// The text between two marks.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).expect("it begins");
    let (found, _) = rest.split_once(end).expect("it ends");
    found
}

#[test]
fn the_readme_shows_a_test_that_passes() {
    let section = "## For a Rust test\n";
    let readme = include_str!("../../README.md");
    let (_, readme) = readme.split_once(section).expect("there is the section");
    let own = include_str!("readme.rs");
    assert_eq!(
        between(readme, "```rust\n", "```\n"),
        between(
            own,
            "// What the README shows begins here.\n",
            "// What the README shows ends here.\n"
        )
    );
}
