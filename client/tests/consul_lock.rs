//! The recipes and the command `consul lock` of a real Consul exclude each other, on the emulator and on a real Consul.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use proconsul::Server;
use proconsul_client::recipes::{Keeper, Lock};
use proconsul_client::{Client, NewSession};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};

/// `consul lock` with a program that says that it started, and ends when its input does.
fn consul_lock(binary: &Path, address: &str, options: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command
        .args([&["lock"], options, &["job", "echo started; cat"]].concat())
        .env("CONSUL_HTTP_ADDR", address)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

async fn exclude_each_other(binary: &Path, address: &str) {
    let client = Client::new(&format!("http://{address}")).expect("an address");
    let session = Keeper::start(&client, NewSession::new()).await;
    let session = session.expect("a server");
    let lock = Lock::new(&client, "job/.lock");

    let held = lock.acquire(&session).await.expect("it is free");
    let refused = consul_lock(binary, address, &["-timeout=1s"]).output();
    let refused = refused.expect("consul runs");
    assert_eq!(
        (refused.status.code(), &refused.stdout[..]),
        (Some(1), &b""[..])
    );
    held.release().await.expect("it was held");

    let mut holder = consul_lock(binary, address, &["-pass-stdin"]);
    let mut holder = holder.stdin(Stdio::piped()).spawn().expect("consul runs");
    let input = holder.stdin.take().expect("it is piped");
    let output = holder.stdout.take().expect("it is piped");
    let first = BufReader::new(output).lines().next().expect("a line");
    assert_eq!(first.expect("it is text"), "started");
    let refused = lock.try_acquire(&session).await.expect("it is a lock");
    assert!(refused.is_none(), "{address}: consul lock holds it");
    drop(input);
    assert!(holder.wait().expect("it ends").success());
    let held = lock.try_acquire(&session).await.expect("it is a lock");
    let held = held.expect("it was given back");
    held.release().await.expect("it was held");
}

#[tokio::test]
async fn consul_lock_and_the_recipe_exclude_each_other() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let emulator = Server::start();
    exclude_each_other(&binary, &emulator.addr().to_string()).await;
    let target = consul::start(&binary, &Agent::default());
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    let address = target.shared_address().expect("one agent for all");
    exclude_each_other(&binary, &address.host).await;
}
