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
