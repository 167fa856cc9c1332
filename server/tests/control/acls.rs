//! Tokens on the server's clock, and in dumps.

use std::time::Duration;

use proconsul::Server;
use proconsul::config::{AclConfig, AclTokens, Config};
use proconsul::version::Version;

use crate::support::{get, put};

fn started(version: Version) -> Server {
    let acl = AclConfig {
        enabled: true,
        default_policy: "deny".to_owned(),
        tokens: AclTokens {
            initial_management: "root".to_owned(),
            ..AclTokens::default()
        },
        ..AclConfig::default()
    };
    let config = Config {
        version,
        acl,
        ..Config::default()
    };
    let server = Server::builder().config(config).frozen().start();
    server.expect("there is a free port")
}

/// A token lapses when the test says so; its row goes half a second later, and a dump takes both with it.
#[test]
fn a_token_expires_when_time_is_moved_and_after_a_load() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let server = started(version);
        let secret = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
        let body = format!(r#"{{"SecretID":"{secret}","ExpirationTTL":"60s"}}"#);
        let made = put(&server, "/v1/acl/token?token=root", &body);
        assert_eq!(made.status, 200);
        let own = format!("/v1/acl/token/self?token={secret}");
        let is_known = |server: &Server| get(server, &own).status == 200;
        server.advance(Duration::from_secs(30));
        let state = server.dump();
        assert!(is_known(&server));
        let other = started(version);
        other.load(&state).expect("the state is of such a server");
        assert_eq!(other.dump(), state);
        other.advance(Duration::from_secs(29));
        assert!(is_known(&other));
        for server in [&server, &other] {
            server.advance(Duration::from_secs(30));
            assert!(!is_known(server));
        }
        server.reset();
        assert!(!is_known(&server));
        let list = get(&server, "/v1/acl/tokens?token=root");
        assert_eq!(list.body.matches("AccessorID").count(), 2);
    }
}
