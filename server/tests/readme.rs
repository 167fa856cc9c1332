//! The first Rust test of the README, as it stands there.

// What the README shows begins here.
use std::error::Error;
use std::time::Duration;

use proconsul::control::BlockedOn;
use proconsul_client::Client;

#[tokio::test]
async fn a_watch_sees_its_key_change() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server(); // a free port, its own thread; stops when dropped
    server
        .run_async(async |server| {
            let client = Client::new(&server.url())?;
            client.kv().put("config/color", "red").await?;
            let mut watch = client.watch_key("config/color");
            watch.next().await?; // what is there: red

            let news = tokio::spawn(async move { watch.next().await });
            let config = BlockedOn::prefix("config/");
            let patience = Duration::from_secs(5);
            server.wait_blocked_async(&config, 1, patience).await?; // no sleep: it watches now

            client.kv().put("config/color", "green").await?;
            let color = news.await??.value.expect("the key is there");
            assert_eq!(color.text()?, "green");
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
