//! Requests without a connection.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use proconsul::Server;
use proconsul::control::BlockedOn;
use proconsul::faults::{Cut, Effect, Rule};
use proconsul::in_runtime::{RuntimeServer, Service};
use tower_service::Service as _;

const SECOND: Duration = Duration::from_secs(1);

fn server() -> (RuntimeServer, Service) {
    let server = Server::builder().seed(7).in_runtime();
    let server = server.expect("there is a runtime");
    let consul = server.service();
    (server, consul)
}

async fn call(
    consul: &mut Service,
    method: &str,
    target: &str,
    body: &'static str,
) -> std::io::Result<Response<String>> {
    let request = Request::builder().method(method).uri(target);
    let request = request.body(Full::new(body.as_bytes())).expect("a request");
    let (head, body) = consul.call(request).await?.into_parts();
    let body = body.collect().await.expect("it is there").to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Response::from_parts(head, body))
}

#[tokio::test(start_paused = true)]
async fn a_read_waits_for_a_write() -> std::io::Result<()> {
    let (server, mut consul) = server();
    let put = call(&mut consul, "PUT", "http://consul/v1/kv/k?flags=7", "v").await?;
    assert_eq!((put.status().as_u16(), put.body().as_str()), (200, "true"));
    let index = server.kv().get("k").expect("it was put").modify_index.0;
    let target = format!("/v1/kv/k?raw&index={index}");
    let reading = call(&mut consul, "GET", &target, "");
    let writing = async {
        let on = BlockedOn::prefix("k");
        let blocked = server.wait_blocked_async(&on, 1, SECOND).await;
        blocked.expect("it waits");
        server.kv().put("k", "w");
    };
    let (read, ()) = tokio::join!(reading, writing);
    assert_eq!(read?.body(), "w");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_is_gone() {
    let (server, mut consul) = server();
    let silent = server.fault(Rule::new(Effect::Hang));
    let silent = silent.expect("it can be asked for");
    let held = tokio::time::timeout(SECOND, call(&mut consul, "GET", "/v1/kv/k", "")).await;
    held.expect_err("nothing comes");
    tokio::task::yield_now().await;
    assert_eq!((silent.hits(), server.open_requests()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_request_is_cut_refused_or_too_late() {
    let (server, mut consul) = server();
    let cut = server.fault(Rule::new(Effect::AppliedThen(Cut::Reset)).method("PUT"));
    let _cut = cut.expect("it can be asked for");
    let lost = call(&mut consul, "PUT", "/v1/kv/k", "v").await;
    lost.expect_err("the response is lost");
    assert!(server.kv().get("k").is_some(), "it was applied");

    let refused = server.refuse_connections_async().await;
    refused.expect("there is nothing to close");
    let refused = call(&mut consul, "GET", "/v1/kv/k", "").await;
    refused.expect_err("it is refused");
    let accepted = server.accept_connections_async().await;
    accepted.expect("there is nothing to open");
    let read = call(&mut consul, "GET", "/v1/kv/k", "").await;
    assert_eq!(read.expect("it answers").status(), 200);

    drop(server);
    tokio::task::yield_now().await;
    let late = call(&mut consul, "GET", "/v1/kv/k", "").await;
    let late = late.expect_err("nobody is there");
    assert_eq!(late.to_string(), "the server has stopped");
}
