//! The Rust tests of the README, as they stand there.

// What the README shows begins here.
use std::error::Error;
use std::time::Duration;

use proconsul::control::BlockedOn;
use proconsul_client::Client;

#[tokio::test]
async fn a_watch_sees_its_key_change() -> Result<(), Box<dyn Error>> {
    let server = proconsul::test::server(); // on a free port; stops when dropped
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

// What the README shows of ACLs begins here.
use proconsul::history::{Filter, Kind};
use proconsul_client::NewSession;

#[tokio::test]
async fn a_worker_that_may_not_write_gets_no_lock() -> Result<(), Box<dyn Error>> {
    // Nothing is allowed without a token; "root" may do everything.
    let server = proconsul::test::server_with(proconsul::Server::builder().acl("root"));
    let rules = r#"session_prefix "" { policy = "write" } key_prefix "job/" { policy = "read" }"#;
    let token = server.acl().described_token("worker", rules)?;
    let worker = Client::builder().address(server.url()).token(&token.secret);
    let worker = worker.build()?;

    let session = worker.sessions().create(&NewSession::default()).await?;
    let refused = worker.kv().write("job/lock", "").acquire(&session).await;
    assert!(refused.is_err_and(|error| error.is_forbidden()));

    // token 6a0f... ("worker") lacks key:write on "job/lock" by key_prefix "job/" { policy = "read" } of policy ...
    let denied = server.history(&Filter::of(Kind::AccessDenied).key("job/lock"));
    assert!(denied[0].to_string().contains("lacks key:write"));
    let acl = server.acl();
    let may = acl.explain(&token.accessor, "key:write", "job/lock")?;
    assert!(!may.is_allowed);

    let rules = r#"key_prefix "job/" { policy = "write" }"#;
    acl.change_rules(&token.accessor, rules)?;
    assert!(worker.kv().write("job/lock", "").acquire(&session).await?);
    Ok(())
}
// What the README shows of ACLs ends here.

/// The text between two marks.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).expect("it begins");
    let (found, _) = rest.split_once(end).expect("it ends");
    found
}

#[test]
fn the_readme_shows_tests_that_pass() {
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
    let (_, of_acls) = readme.split_once("**ACLs**").expect("there is the part");
    assert_eq!(
        between(of_acls, "```rust\n", "```\n"),
        between(
            own,
            "// What the README shows of ACLs begins here.\n",
            "// What the README shows of ACLs ends here.\n"
        )
    );
}
