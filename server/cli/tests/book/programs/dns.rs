//! Parts of `docs/src/dns.md`.

use std::error::Error;

use proconsul::Server;

#[test]
fn a_server_says_where_it_answers_dns() -> Result<(), Box<dyn Error>> {
    let server = Server::builder().dns().start()?;
    let resolver = server.dns_addr(); // 127.0.0.1, and a free port
    assert!(resolver.ip().is_loopback());
    Ok(())
}
