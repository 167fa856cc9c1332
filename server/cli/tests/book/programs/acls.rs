use std::error::Error;

use proconsul::history::{Filter, Kind};
use proconsul_client::{Client, NewSession};

#[tokio::test]
async fn a_worker_that_may_not_write_gets_no_lock() -> Result<(), Box<dyn Error>> {
    // Without a token nothing is allowed; "root" may do everything.
    let server = proconsul::test::server_with(proconsul::Server::builder().acl("root"));
    let rules = r#"session_prefix "" { policy = "write" } key_prefix "job/" { policy = "read" }"#;
    let token = server.acl().described_token("worker", rules)?;
    let worker = Client::builder().address(server.url()).token(&token.secret);
    let worker = worker.build()?;

    let session = worker.sessions().create(&NewSession::default()).await?;
    let rejected = worker.kv().write("job/lock", "").acquire(&session).await;
    assert!(rejected.is_err_and(|error| error.is_forbidden()));

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
