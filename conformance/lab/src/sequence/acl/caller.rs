//! Who asks in sequences with tokens, and what is in an order of chance in the answers.

use std::time::Duration;

use serde_json::Value;

use super::names::{MANAGER, Names};
use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::json::array_items;
use proconsul_conformance::wire::{Outcome, Reply, Request};

/// After this it is gone (acl.md 5.30.r6).
const GONE: Duration = Duration::from_secs(63);
/// What a player on a server with ACLs knows besides.
#[derive(Debug)]
pub(in crate::sequence) struct Acl {
    pub(super) names: Names,
    /// How a request says who asks, and with which secret.
    pub(super) caller: (&'static str, String),
    /// Whether there are tokens whose SecretIDs, and so their order in lists, are of chance.
    has_made_secrets: bool,
    /// Whether the agent was asked to change something.
    pub(super) has_changed_agent: bool,
}

impl Acl {
    pub(in crate::sequence) fn new(tag: &str, node: &str, since: &Stopwatch) -> Self {
        let has_expired = since.elapsed() > GONE;
        Self {
            names: Names::new(tag, node, has_expired),
            caller: ("header", MANAGER.to_owned()),
            has_made_secrets: false,
            has_changed_agent: false,
        }
    }

    /// The request as the caller makes it.
    pub(in crate::sequence) fn asked(&self, request: &Request) -> Request {
        let (way, secret) = &self.caller;
        let mut request = request.clone();
        match *way {
            "header" => return request.header("X-Consul-Token", secret),
            "bearer" => return request.header("Authorization", &format!("Bearer {secret}")),
            "query" => {
                let mark = if request.target.contains('?') {
                    '&'
                } else {
                    '?'
                };
                request.target.push_str(&format!("{mark}token={secret}"));
            }
            _ => {}
        }
        request
    }

    /// The answer with its tokens in the order in which they were made, if their order is of chance (acl.md 5.28).
    pub(in crate::sequence) fn settled(&self, request: &Request, outcome: Outcome) -> Outcome {
        let lists = ["/v1/acl/tokens", "/v1/acl/list"];
        let is_list = lists.iter().any(|list| request.target.starts_with(list));
        match outcome {
            // Consul shows the agent's own instances and checks in an order of chance.
            Outcome::Reply(reply) if request.target.starts_with("/v1/agent/health/") => {
                Outcome::Reply(in_order_of_lines(reply))
            }
            Outcome::Reply(reply) if is_list && self.has_made_secrets && reply.status == 200 => {
                Outcome::Reply(in_order(reply))
            }
            outcome => outcome,
        }
    }
}

fn in_order(mut reply: Reply) -> Reply {
    let body = String::from_utf8_lossy(&reply.body).into_owned();
    let mut items: Vec<&str> = array_items(&body).into_iter().map(str::trim).collect();
    items.sort_by_key(|item| {
        let token: Value = serde_json::from_str(item).unwrap_or_default();
        token["CreateIndex"].as_u64()
    });
    // What differs in length is not looked at: the items say it.
    let sorted = format!("[{}]", items.join(","));
    reply.headers.retain(|(name, _)| name != "Content-Length");
    reply.body = sorted.into_bytes();
    reply
}

fn in_order_of_lines(mut reply: Reply) -> Reply {
    let body = String::from_utf8_lossy(&reply.body);
    let mut lines: Vec<&str> = body
        .lines()
        .map(|line| line.trim_end_matches(','))
        .collect();
    lines.sort_unstable();
    let sorted = lines.join("\n");
    reply.headers.retain(|(name, _)| name != "Content-Length");
    reply.body = sorted.into_bytes();
    reply
}

impl Acl {
    pub(super) fn learn_token(&mut self, accessor: &str, secret: &str) {
        self.has_made_secrets |= self.names.learn_token(accessor, secret);
    }
}
