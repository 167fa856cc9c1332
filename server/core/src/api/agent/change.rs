//! `/v1/agent/`: changes of the agent's services and checks (session.md 4.4, 1.22.md B4.4).

use crate::api::agent::body::{read_strictly, read_strictly_as};
use crate::api::agent::{failure, rights};
use crate::auth::rights::Rights;
use crate::body::definition::{CheckFields, LATE_CHECK_TYPE, ServiceFields};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_config::definition::DefinitionError;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::number;
use proconsul_store::{AgentCommand, OfAgent, Refusal};
use proconsul_version::Behaviour;

/// Registers a service with its checks.
pub(crate) async fn register_service(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let body = read_strictly::<ServiceFields>(&mut request).await?;
    let definition = body.into_definition().ok_or_else(Failure::dropped)?;
    let spec = definition.into_spec(request.context.config.definition_rules());
    let (spec, rights) = with_rights(&request, spec)?;
    rights::service_registration(&request, &rights, &spec)?;
    let command = AgentCommand::RegisterService {
        spec: Box::new(spec),
        replace_checks: matches!(
            request.query.first("replace-existing-checks"),
            Some(b"" | b"true")
        ),
    };
    apply(&request, command)?;
    Ok(Reply::done(&request))
}

/// Registers a check.
pub(crate) async fn register_check(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let is_late = request.has(Behaviour::JsonCheckGrpcUseTlsSnake);
    let go_type = is_late.then_some(LATE_CHECK_TYPE);
    let body = read_strictly_as::<CheckFields>(&mut request, go_type).await?;
    let spec = body
        .definition
        .alone(request.context.config.definition_rules());
    let (spec, rights) = with_rights(&request, spec)?;
    rights::check_registration(&request, &rights, &spec.check)?;
    apply(&request, AgentCommand::RegisterCheck(Box::new(spec)))?;
    Ok(Reply::done(&request))
}

/// Returns a definition, and the rights of the caller, whose token is looked up after the names and before the rest
/// (acl.md 2.9, 2.10).
fn with_rights<T>(
    request: &Request,
    spec: Result<T, DefinitionError>,
) -> Result<(T, Rights), Failure> {
    let invalid = |error: DefinitionError| failure::invalid_definition(&error, request.version());
    match spec {
        Err(
            error @ (DefinitionError::ServiceName
            | DefinitionError::CheckName
            | DefinitionError::CheckStatus),
        ) => Err(invalid(error)),
        spec => {
            let rights = request.rights()?;
            Ok((spec.map_err(invalid)?, rights))
        }
    }
}

/// Deregisters a service.
pub(crate) fn deregister_service(request: &Request) -> Result<Reply, Failure> {
    let id = request.rest_text();
    request.check_tenancy()?;
    rights::service(request, &id)?;
    if id.is_empty() && !request.has(Behaviour::AgentUnknownService404) {
        return Err(failure::missing_service_id());
    }
    let stays = !rights::may_deregister(request, &id);
    let command = AgentCommand::DeregisterService {
        id: id.clone(),
        stays,
    };
    let result = run(request, command);
    if result.is_ok() {
        tracing::info!(target: "agent", service = id, "Deregistered service");
    }
    ignoring_unknown(request, result, Behaviour::AgentUnknownService404)
}

/// Deregisters a check.
pub(crate) fn deregister_check(request: &Request) -> Result<Reply, Failure> {
    let id = request.rest_text();
    request.check_tenancy()?;
    rights::check(request, &id)?;
    if id.is_empty() && !request.has(Behaviour::AgentUnknownCheck500) {
        return Err(failure::missing_check_id());
    }
    let command = AgentCommand::DeregisterCheck { id: id.clone() };
    let result = run(request, command);
    if result.is_ok() {
        tracing::info!(target: "agent", check = id, "Deregistered check");
    }
    ignoring_unknown(request, result, Behaviour::AgentUnknownCheck500)
}

/// Answers a deregistration. Deregistering a missing service or check fails since `refused_since`.
fn ignoring_unknown(
    request: &Request,
    result: Result<(), Refusal>,
    refused_since: Behaviour,
) -> Result<Reply, Failure> {
    match result {
        Err(refusal) if request.has(refused_since) => {
            Err(Failure::refused(&refusal, request.version()))
        }
        Ok(()) | Err(_) => Ok(Reply::done(request)),
    }
}

/// Sets the status of a TTL check, with `?note` as its output.
pub(crate) fn report(request: &Request, status: &'static str) -> Result<Reply, Failure> {
    let note = request.query.get("note");
    let output = String::from_utf8_lossy(note).into_owned();
    request.check_tenancy()?;
    report_of(request, status, output)
}

go_struct! {
    /// The body of `agent/check/update`.
    struct UpdateBody as "agent.checkUpdate" {
        "Status": String => status,
        "Output": String => output,
    }
}

/// Sets the status and output of a TTL check from the body.
pub(crate) async fn update(mut request: Request) -> Result<Reply, Failure> {
    let body = read_strictly::<UpdateBody>(&mut request).await?;
    let status = match body.status.as_str() {
        "passing" => "passing",
        "warning" => "warning",
        "critical" => "critical",
        _ => return Err(failure::unknown_status(&body.status)),
    };
    request.check_tenancy()?;
    report_of(&request, status, body.output)
}

fn report_of(request: &Request, status: &'static str, output: String) -> Result<Reply, Failure> {
    let id = request.rest_text();
    rights::check(request, &id)?;
    apply(request, AgentCommand::Report { id, status, output })?;
    Ok(Reply::done(request))
}

/// Puts a service into maintenance, or ends it.
pub(crate) fn service_maintenance(request: &Request) -> Result<Reply, Failure> {
    let id = request.named("service ID")?;
    let reason = maintenance(request)?;
    request.check_tenancy()?;
    rights::service(request, &id)?;
    let command = AgentCommand::ServiceMaintenance {
        id: id.clone(),
        reason,
    };
    match run(request, command) {
        Ok(()) => Ok(Reply::done(request)),
        Err(refusal) if request.has(Behaviour::AgentUnknownServiceText) => {
            Err(Failure::refused(&refusal, request.version()))
        }
        Err(_) => Err(failure::no_service_to_maintain(&id, request.version())),
    }
}

/// Puts the node into maintenance, or ends it.
pub(crate) fn node_maintenance(request: &Request) -> Result<Reply, Failure> {
    let reason = maintenance(request)?;
    request.authorize()?;
    apply(request, AgentCommand::NodeMaintenance { reason })?;
    Ok(Reply::done(request))
}

/// Returns the reason for maintenance; `None` ends it.
fn maintenance(request: &Request) -> Result<Option<String>, Failure> {
    let Some(enable) = request.query.first("enable") else {
        return Err(failure::missing_enable());
    };
    let Ok(enable) = number::parse_bool(enable) else {
        let value = String::from_utf8_lossy(enable);
        return Err(failure::invalid_enable(&value, request.version()));
    };
    let reason = String::from_utf8_lossy(request.query.get("reason"));
    Ok(enable.then(|| reason.into_owned()))
}

/// Reads the configuration again (session.md 4.4).
pub(crate) fn reload(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let reloaded = request.context.reload.run();
    reloaded.map_err(failure::not_reloaded)?;
    Ok(Reply::done(request))
}

/// Applies a command of the agent that was asked.
fn run(request: &Request, command: AgentCommand) -> Result<(), Refusal> {
    let context = &request.context;
    context.engine.apply(OfAgent(context.agent, command))
}

fn apply(request: &Request, command: AgentCommand) -> Result<(), Failure> {
    let synced = Synced::by(&command);
    let applied = run(request, command);
    applied.map_err(|refusal| Failure::refused(&refusal, request.version()))?;
    // The words of anti-entropy, which is over at once here (operator.md 7).
    match synced {
        Some(Synced::Service(service)) => {
            tracing::info!(target: "agent", service, "Synced service");
        }
        Some(Synced::Check(check)) => {
            tracing::info!(target: "agent", check, "Synced check");
        }
        None => {}
    }
    Ok(())
}

/// What a command makes the catalog be told, by its id.
enum Synced {
    Service(String),
    Check(String),
}

impl Synced {
    fn by(command: &AgentCommand) -> Option<Self> {
        match command {
            AgentCommand::RegisterService { spec, .. } => {
                Some(Self::Service(spec.service.id.clone()))
            }
            AgentCommand::RegisterCheck(spec) => Some(Self::Check(spec.check.check_id.clone())),
            AgentCommand::Report { id, .. } => Some(Self::Check(id.clone())),
            _ => None,
        }
    }
}
