//! The errors of prepared queries (session.md 5).

use crate::failure::refusal::{index_error, invalid_session};
use crate::failure::{Failure, FailureKind, failures};
use crate::request::Request;
use proconsul_store::PreparedQueryRefusal;
use proconsul_version::Behaviour;

failures! {
    /// A new query has an id.
    has_id() => 500, "ID must be empty when creating a new prepared query";
    /// `?limit` is not a number; `words` is Go's text.
    invalid_limit(words: &str) => 500 Local, format!("Bad limit: {words}");
    /// `?connect` is not a boolean; `words` is Go's text.
    invalid_connect(words: &str) => 500 Local, format!("Error parsing 'connect' value: {words}");
    /// The query has neither a name nor a session.
    unbound() => 500, "Invalid prepared query: Must be bound to a session";
    /// The query lacks a service.
    missing_service() => 500, "Invalid prepared query: Must provide a Service name to query";
    /// The number of nearest datacenters is negative.
    negative_nearest(number: i64) => 500,
        format!("Invalid prepared query: Bad NearestN '{number}', must be >= 0");
    /// The service is searched in a sameness group, a feature of Consul Enterprise.
    sameness_group() => 500,
        "Invalid prepared query: sameness-groups are an enterprise-only feature";
    /// The failover has targets beside the nearest datacenters or named ones (since 1.14).
    targets_not_alone() => 500,
        "Invalid prepared query: Targets cannot be populated with NearestN or Datacenters";
    /// The TTL of DNS answers is not a duration; `words` is Go's text.
    invalid_dns_ttl(ttl: &str, words: &str) => 500,
        format!("Invalid prepared query: Bad DNS TTL '{ttl}': {words}");
    /// The TTL of DNS answers, in nanoseconds, is negative.
    negative_dns_ttl(nanoseconds: i64) => 500,
        format!("Invalid prepared query: DNS TTL '{nanoseconds}', must be >=0");
    /// The required metadata of nodes is invalid.
    invalid_meta(problem: &str) => 500, format!("Invalid prepared query: {problem}");
}

/// Returns the error for a refusal of a call about a prepared query.
pub(super) fn refused(request: &Request, refusal: &PreparedQueryRefusal) -> Failure {
    let lookup = |error| format!("failed prepared query lookup: {}", index_error(error));
    let text = match refusal {
        PreparedQueryRefusal::NotFound => {
            return Failure::new(404, "Query not found").of_kind(FailureKind::OfLeader);
        }
        PreparedQueryRefusal::MalformedId(error) => return Failure::new(500, lookup(*error)),
        PreparedQueryRefusal::MalformedTarget(error) => {
            return Failure::new(
                500,
                format!("Prepared Query lookup failed: {}", lookup(*error)),
            );
        }
        PreparedQueryRefusal::NoTarget(id) => {
            return Failure::new(
                500,
                format!("Cannot modify non-existent prepared query: '{id}'"),
            );
        }
        PreparedQueryRefusal::MalformedSession(error) => {
            format!("invalid session: {}", index_error(*error))
        }
        PreparedQueryRefusal::InvalidSession(id) => invalid_session(id),
        PreparedQueryRefusal::NameIsQueryName(name) => {
            format!("name '{name}' aliases an existing query name")
        }
        PreparedQueryRefusal::NameIsQueryId(name) => {
            format!("name '{name}' aliases an existing query ID")
        }
        PreparedQueryRefusal::EmptyTemplateExists => {
            "a query template with an empty name already exists".into()
        }
        PreparedQueryRefusal::TemplateFlaw(flaw) => {
            format!("failed compiling template: {flaw}")
        }
    };
    // The replicated state machine refuses these.
    Failure::new(500, text).at_step("raft apply", request.has(Behaviour::KvApplyErrorPrefix))
}
