//! `/v1/session/`: sessions (session.md 1 and 2).

use std::sync::Arc;
use std::time::Duration;

use crate::body::check::CheckId;
use crate::body::durations::AnyDuration;
use crate::failure::{Failure, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::reply::table::{Look, table};
use crate::request::{ReadOptions, Request};
use crate::route::routes;
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking;
use proconsul_gocompat::duration;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{
    Behavior, NewSession, NodeSessions, Read, Refusal, ServiceCheck, SessionDestroy, SessionInfo,
    SessionList, SessionRenew, SessionRow,
};
use proconsul_version::{Behaviour, Version};

routes! {
    "/v1/session/create" [PUT] => waits(create);
    "/v1/session/destroy/" [PUT] => at_once(destroy);
    "/v1/session/info/" [GET] => waits(&info);
    "/v1/session/node/" [GET] => waits(&node);
    "/v1/session/list" [GET] => waits(&list);
    "/v1/session/renew/" [PUT] => at_once(renew);
}

/// The longest TTL that Consul takes.
const LONGEST_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// The check that sessions are bound to by default.
const SERF_HEALTH: &str = "serfHealth";
/// 15 s in nanoseconds.
const DEFAULT_LOCK_DELAY: i64 = 15_000_000_000;

go_struct! {
    /// The body of `session/create`.
    struct CreateBody as "struct { LockDelay interface {}; *structs.Alias }",
    own decoder: Accepted, then: check_lock_delay {
        "LockDelay": AnyDuration => lock_delay,
        *Alias {
            "ID": String,
            "Name": String => name,
            "Node": String => node,
            "Behavior" is "structs.SessionBehavior": String => behavior,
            "TTL": String => ttl,
            "NodeChecks": Option<Vec<String>> => node_checks,
            "ServiceChecks": Option<Vec<ServiceCheckFields>> => service_checks,
            "Checks": Vec<CheckId> => checks,
        }
        *Alias.RaftIndex {
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

go_struct! {
    /// A service's check that the session is bound to.
    ServiceCheckFields as "structs.ServiceCheck" for check: ServiceCheck {
        "ID": String => check.id,
        "Namespace": String => check.namespace,
    }
}

fn check_lock_delay(body: &mut CreateBody) -> Result<(), String> {
    body.lock_delay.nanoseconds().map(|_| ())
}

impl CreateBody {
    /// Returns the values of missing fields.
    fn defaults(node: String) -> Self {
        Self {
            node,
            node_checks: Some(vec![SERF_HEALTH.into()]),
            checks: vec![SERF_HEALTH.into()],
            ..Self::default()
        }
    }

    /// Reconciles the deprecated list of checks with the newer ones (session.md 1.4).
    fn reconcile_checks(&mut self) {
        let no_node_checks = self.node_checks.iter().flatten().next().is_none();
        if self.checks.is_empty() {
            self.node_checks = Some(Vec::new());
        } else if matches!(self.checks.as_slice(), [only] if only == SERF_HEALTH) || no_node_checks
        {
            self.checks.clear();
        }
    }
}

/// Takes a number below a microsecond for seconds (session.md trap 3), even `"999ns"` and negative values.
fn seconds_if_small(nanoseconds: i64) -> i64 {
    if nanoseconds < 1000 {
        nanoseconds.wrapping_mul(1_000_000_000)
    } else {
        nanoseconds
    }
}

table! {
    /// A session (session.md 2).
    Session of row: SessionRow, look: Look<'a> {
        "ID" => json(row.session.id.to_string()),
        "Name" => json(row.session.name),
        "Node" => json(row.session.node),
        "LockDelay" => json(row.session.lock_delay_ns),
        "Behavior" => json(match row.session.behavior {
            Behavior::Release => "release",
            Behavior::Delete => "delete",
        }),
        "TTL" => json(row.session.ttl_text),
        "NodeChecks" => json(row.session.node_checks),
        "ServiceChecks" => json(row.session.service_checks.as_ref().map(|checks| {
            let checks = checks.iter();
            checks.map(|check| BoundCheck::new(check, look)).collect::<Vec<_>>()
        })),
        "Checks", omitempty => json(row.session.checks),
        "CreateIndex" => json(row.create_index.0),
        // A session's row never changes.
        "ModifyIndex" => json(row.create_index.0),
    }
}

table! {
    /// A service's check that a session is bound to.
    BoundCheck of check: ServiceCheck {
        "ID" => json(check.id),
        "Namespace" => json(check.namespace),
    }
}

failures! {
    /// The node of a new session has no name.
    missing_node() => 500, "Must provide Node";
    /// The behavior is neither `release` nor `delete`.
    unknown_behavior(behavior: &str) => 500, format!("Invalid Behavior setting '{behavior}'");
    /// The TTL is not a duration; `words` is Go's text.
    invalid_ttl(ttl: &str, words: &str) => 500, format!("Session TTL '{ttl}' invalid: {words}");
    /// The TTL, in nanoseconds, is outside the range; `minimum` is a Go duration.
    ttl_out_of_range(nanoseconds: i64, minimum: &str) => 500,
        format!("Invalid Session TTL '{nanoseconds}', must be between [{minimum}=24h0m0s]");
}

/// Returns the error for a refused call about a session.
fn refused(refusal: &Refusal, version: Version) -> Failure {
    // The leader refuses the others, before raft.
    let by_raft = matches!(
        refusal,
        Refusal::MissingNode
            | Refusal::MissingCheck(_)
            | Refusal::CriticalCheck(_)
            | Refusal::EmptyCheckId
    );
    let named = by_raft && version.has(Behaviour::SessionApplyErrorPrefix);
    Failure::refused(refusal, version).at_step("apply", named)
}

/// Creates a session.
pub(crate) async fn create(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let body = read_body(&mut request).await?;
    request.check_datacenter()?;
    let session = new_session(&request, body)?;
    let created = request.context.engine.apply(session);
    let row = created.map_err(|refusal| refused(&refusal, request.version()))?;
    let id = row.session.id.to_string();
    Ok(Reply::json(&request, &object! { "ID" => id, }))
}

/// Reads the body. Consul ignores a chunked one (session.md trap 8).
async fn read_body(request: &mut Request) -> Result<CreateBody, Failure> {
    let mut body = CreateBody::defaults(request.asked.config.node_name.clone());
    if request.content_length().is_some_and(|length| length > 0) {
        let sent = request.read_whole().await;
        let rules = request.decoding(UnknownFields::Accepted);
        let decoded = request.decode::<CreateBody>(sent, &mut body, rules);
        decoded.map_err(|words| Failure::undecodable(&words))?;
    }
    body.reconcile_checks();
    Ok(body)
}

/// Checks the body in Consul's order: node, right, behavior, TTL (session.md 1.1, acl.md 7).
fn new_session(request: &Request, body: CreateBody) -> Result<NewSession, Failure> {
    if body.node.is_empty() {
        return Err(missing_node());
    }
    request
        .rights()?
        .check(Question::write(Resource::Session, &body.node))?;
    let behavior = match body.behavior.as_str() {
        "" | "release" => Behavior::Release,
        "delete" => Behavior::Delete,
        _ => return Err(unknown_behavior(&body.behavior)),
    };
    let ttl = ttl(request, &body.ttl)?;
    let lock_delay = body.lock_delay.nanoseconds();
    let lock_delay = lock_delay.expect("the decoder refuses invalid durations");
    Ok(NewSession {
        id: request.context.engine.new_session_id(),
        name: body.name,
        node: body.node,
        lock_delay_ns: lock_delay.map_or(DEFAULT_LOCK_DELAY, seconds_if_small),
        behavior,
        ttl_text: body.ttl,
        ttl,
        node_checks: body.node_checks,
        service_checks: body.service_checks,
        checks: body.checks,
    })
}

/// Returns the TTL, zero or within the range (session.md 1.3).
fn ttl(request: &Request, text: &str) -> Result<Duration, Failure> {
    if text.is_empty() {
        return Ok(Duration::ZERO);
    }
    let invalid = |error: duration::DurationError| {
        invalid_ttl(text, &error.message(request.version().go().duration_quotes))
    };
    let nanoseconds = duration::parse(text).map_err(invalid)?;
    let minimum = request.context.config.session_ttl_min;
    let ttl = u64::try_from(nanoseconds).map(Duration::from_nanos);
    match ttl {
        Ok(ttl) if ttl.is_zero() || (minimum..=LONGEST_TTL).contains(&ttl) => Ok(ttl),
        _ => {
            let minimum = i64::try_from(minimum.as_nanos()).unwrap_or(i64::MAX);
            Err(ttl_out_of_range(nanoseconds, &duration::format(minimum)))
        }
    }
}

/// Destroys a session. Destroying a missing one succeeds (session.md trap 15).
pub(crate) fn destroy(request: &Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let id = request.named("session")?;
    request.check_datacenter()?;
    if request.context.acls.is_some() {
        let rights = request.rights()?;
        let found = lookup(request, &id);
        // Consul says what it was looking for.
        let found = found.map_err(|failure| failure.at_step("Session lookup", true))?;
        let Some(row) = found else {
            return Ok(Reply::boolean(request, true));
        };
        rights.check(Question::write(Resource::Session, &row.session.node))?;
    }
    let applied = request.context.engine.apply(SessionDestroy(id));
    applied.map_err(|refusal| refused(&refusal, request.version()))?;
    Ok(Reply::boolean(request, true))
}

/// Returns the session with an id, for who asks whether it may be changed.
fn lookup(request: &Request, id: &str) -> Result<Option<Arc<SessionRow>>, Failure> {
    let found = request.context.engine.read(&SessionInfo(id.to_owned()));
    let found = found.map_err(|refusal| refused(&refusal, request.version()))?;
    Ok(found.rows.into_iter().next())
}

/// Renews a session. The answer is a list of one, without an index (session.md trap 16).
pub(crate) fn renew(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_tenancy()?;
    let id = request.named("session")?;
    request.check_datacenter()?;
    if request.context.acls.is_some() {
        let rights = request.rights()?;
        if let Some(row) = lookup(request, &id)? {
            rights.check(Question::write(Resource::Session, &row.session.node))?;
        }
    }
    let renewed = request.context.engine.apply(SessionRenew(id));
    let row = renewed.map_err(|refusal| refused(&refusal, request.version()))?;
    Ok(Reply::json(
        request,
        &[Session::new(&row, request.version())],
    ))
}

/// Lists the session with an id: a list of one, or an empty one.
pub(crate) async fn info(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_tenancy()?;
    let id = request.named("session")?;
    read(request, &SessionInfo(id), options).await
}

/// Lists all sessions.
pub(crate) async fn list(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_tenancy()?;
    read(request, &SessionList, options).await
}

/// Lists the sessions of a node.
pub(crate) async fn node(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_tenancy()?;
    let node = request.named("node name")?;
    read(request, &NodeSessions(node), options).await
}

async fn read<R: Read<Rows = Vec<Arc<SessionRow>>, Refused: Into<Refusal>>>(
    request: &Request,
    read: &R,
    options: ReadOptions,
) -> Result<Reply, Failure> {
    request.check_datacenter_of_read()?;
    // Those from before the wait (acl.md 10.4).
    let mut rights = request.rights_of_read()?;
    let engine = &request.context.engine;
    let answer = blocking::answer(engine, read, options.wait).await;
    let failed =
        |refusal: R::Refused| refused(&refusal.into(), request.version()).of_read(&request.context);
    let mut answer = answer.map_err(failed)?;
    rights.retain(&mut answer.rows, |caller, row| {
        caller.may(Question::read(Resource::Session, &row.session.node))
    });
    let rows = answer.rows.iter();
    let sessions: Vec<Session<'_>> = rows
        .map(|row| Session::new(row, request.version()))
        .collect();
    let reply = Reply::json(request, &sessions);
    Ok(rights.told_in(reply.with_index(request, answer.index)))
}
