//! Questions of DNS without a socket.

use std::time::Duration;

use proconsul::Server;
use proconsul::control::ListenerError;
use proconsul::dns::Transport;
use proconsul::faults::{Effect, Rule};
use proconsul_testing::{DnsAnswer, DnsQuestion};
use tokio::time::{Instant, timeout};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_slow_answer_comes_on_the_clock_of_the_runtime() {
    let server = Server::builder().agents(2).in_runtime();
    let server = server.expect("there is a runtime");
    let slow = Rule::new(Effect::DelayBefore(4 * SECOND)).question("service.consul");
    let _guard = server.fault(slow).expect("it can match");
    let ask = async |name: &str| {
        let question = DnsQuestion::new(name, "A").bytes();
        let answer = server.dns_to(1, None, Transport::Udp, &question).await;
        let records = DnsAnswer::read(&answer.expect("it answers")).records;
        let answers = records
            .iter()
            .filter(|record| record.starts_with("answer "));
        answers.count()
    };
    let began = Instant::now();
    assert_eq!(ask("proconsul-1.node.consul").await, 1);
    assert_eq!(began.elapsed(), Duration::ZERO);
    // As a resolver, which gives up.
    timeout(3 * SECOND, ask("consul.service.consul"))
        .await
        .expect_err("it is slow");
    assert!(server.held().is_empty(), "nobody waits for it");
    assert_eq!(ask("consul.service.consul").await, 1);
    assert_eq!(began.elapsed(), 7 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_connections_answers_no_question() -> Result<(), ListenerError> {
    let server = Server::builder().in_runtime();
    let server = server.expect("there is a runtime");
    let question = DnsQuestion::new("proconsul.node.consul", "A").bytes();
    let ask = || server.dns(None, Transport::Udp, &question);
    server.refuse_connections_async().await?;
    assert_eq!(ask().await, None);
    server.accept_connections_async().await?;
    assert!(ask().await.is_some());
    Ok(())
}
