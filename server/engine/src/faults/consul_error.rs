//! The errors that Consul answers when something is wrong: their exact texts, and how long Consul takes to give them.

use std::time::Duration;

use proconsul_version::{Behaviour, Version};

crate::named! {
    /// An error of Consul's that has its cause outside of the request.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ConsulError {
        NoClusterLeader "no-cluster-leader" "500 `No cluster leader`, after Consul has waited 7 s for one.",
        RpcEof "rpc-eof" "500 `rpc error making call: EOF`: the connection to the leader ended.",
        RpcConnectionRefused "rpc-connection-refused" "500: the old leader's port refuses connections.",
        NoKnownServers "no-known-servers" "500 `No known Consul servers`: a client agent has given up all servers.",
        LeadershipLost "leadership-lost" "500 `leadership lost while committing log`, after half a second: the write may or may not have been applied.",
        RateLimited "rate-limited" "429 of `limits.rpc_rate`; without a text before 1.15.",
        TooManyConnections "too-many-connections" "429 of `limits.http_max_conns_per_client`; before 1.9 the connection is closed without a word.",
        ServerRateLimited "server-rate-limited" "429 of `request_limits`: another server may do it.",
        LeaderRateLimited "leader-rate-limited" "503 of `request_limits`: only the leader could do it.",
        PermissionDenied "permission-denied" "403 `Permission denied`, with what is missing since 1.12.",
        AclNotFound "acl-not-found" "403 `ACL not found`: the token is unknown.",
    }
}

impl ConsulError {
    /// Returns the status of the answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::NoClusterLeader
            | Self::RpcEof
            | Self::RpcConnectionRefused
            | Self::NoKnownServers
            | Self::LeadershipLost => 500,
            Self::RateLimited | Self::TooManyConnections | Self::ServerRateLimited => 429,
            Self::LeaderRateLimited => 503,
            Self::PermissionDenied | Self::AclNotFound => 403,
        }
    }

    /// Returns the text that `version` answers with. `key` and `is_write` are those of the request, `server` is the
    /// address of the agent's RPC port.
    #[must_use]
    pub fn text(
        &self,
        version: Version,
        key: Option<&[u8]>,
        is_write: bool,
        server: &str,
    ) -> String {
        match self {
            Self::NoClusterLeader => "No cluster leader".to_owned(),
            Self::RpcEof => "rpc error making call: EOF".to_owned(),
            Self::RpcConnectionRefused => format!(
                "rpc error getting client: failed to get conn: dial tcp {server}: connect: connection refused"
            ),
            Self::NoKnownServers => "No known Consul servers".to_owned(),
            Self::LeadershipLost => "leadership lost while committing log".to_owned(),
            Self::RateLimited if version.has(Behaviour::HttpRateLimitText) => {
                "RPC rate limit exceeded".to_owned()
            }
            Self::RateLimited => String::new(),
            Self::TooManyConnections => {
                "Your IP is issuing too many concurrent connections, please rate limit your calls\n"
                    .to_owned()
            }
            Self::ServerRateLimited => {
                "rate limit exceeded, try again later or against a different server".to_owned()
            }
            Self::LeaderRateLimited => {
                "rate limit exceeded for operation that can only be performed by the leader, try again later"
                    .to_owned()
            }
            Self::PermissionDenied => denied(version, key, is_write),
            Self::AclNotFound => "ACL not found".to_owned(),
        }
    }

    /// Returns how long Consul takes to answer it, on the server's clock (measured on 1.8.7: 7.0 to 7.3 s, and 0.5 s).
    /// From 1.15 on, no leader takes up to 13.5 s: Consul looks again after growing waits.
    #[must_use]
    pub fn hold(&self) -> Duration {
        match self {
            Self::NoClusterLeader => Duration::from_millis(7100),
            Self::LeadershipLost => Duration::from_millis(500),
            Self::RpcEof
            | Self::RpcConnectionRefused
            | Self::NoKnownServers
            | Self::RateLimited
            | Self::TooManyConnections
            | Self::ServerRateLimited
            | Self::LeaderRateLimited
            | Self::PermissionDenied
            | Self::AclNotFound => Duration::ZERO,
        }
    }

    /// Returns whether `version` closes the connection without an answer instead.
    #[must_use]
    pub fn is_silent(&self, version: Version) -> bool {
        *self == Self::TooManyConnections && !version.has(Behaviour::HttpConnectionLimitAnswer)
    }
}

/// The refusal of a request without a token (1.22.md A6.3).
fn denied(version: Version, key: Option<&[u8]>, is_write: bool) -> String {
    let Some(key) = key.filter(|_| version.has(Behaviour::AclDeniedText)) else {
        return "Permission denied".to_owned();
    };
    let access = if is_write { "key:write" } else { "key:read" };
    let key = String::from_utf8_lossy(key);
    format!(
        "Permission denied: anonymous token lacks permission '{access}' on \"{key}\". \
         The anonymous token is used implicitly when a request does not specify a token."
    )
}
