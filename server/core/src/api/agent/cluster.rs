//! `/v1/agent/`: the cluster, which is this one agent.

use crate::api::agent::{failure, rights};
use crate::api::catalog::NOTHING;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::ClusterCommand;
use proconsul_version::BUILD_DATE;

/// Takes a member that is away for one that has left. One that is alive stays.
pub(crate) fn force_leave(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let name = request.rest_text();
    let context = &request.context;
    let cluster = context.engine.cluster();
    let member = cluster
        .members()
        .iter()
        .position(|member| member.node == name);
    if let Some(member) = member {
        let action = format!("agent {member} is to be taken for one that has left");
        let leave = ClusterCommand::ForceLeave(member);
        context.engine.change_cluster(&action, leave);
    }
    match member.is_some() || name == context.config.node_name {
        true => Ok(Reply::done(request)),
        false => Err(failure::unknown_member(&name)),
    }
}

go_struct! {
    /// The body of `agent/token/`.
    struct TokenBody as "api.AgentToken" {
        "Token": String => token,
    }
}

/// Sets a token of the agent (acl.md 11.1).
pub(crate) async fn token(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.authorize()?;
    let sent = request.read_whole().await;
    let mut body = TokenBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<TokenBody>(sent, &mut body, rules);
    decoded.map_err(|words| Failure::undecodable(&words))?;
    let name = request.rest_text();
    if !request
        .acls()?
        .set_token(&name, body.token, request.version())
    {
        return Err(failure::unknown_token(&name));
    }
    if matches!(
        name.as_str(),
        "agent" | "acl_agent_token" | "default" | "acl_token"
    ) {
        rights::compare(&request);
    }
    Ok(Reply::done(&request))
}

/// Shows the agent's machine in Consul's form, with little content.
pub(crate) fn host(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let config = &request.context.config;
    let time = request.context.engine.clock().wall().as_nanos();
    let (os, architecture) = request.context.engine.host().system();
    let host = object! {
        "hostname" => config.host_name(),
        "os" => os,
        "kernelArch" => architecture,
        "hostid" => request.context.node_id(),
    };
    let answer = object! {
        "Memory" => object! {},
        "CPU" => NOTHING,
        "Host" => host,
        "Disk" => object! {},
        "CollectionTime" => u64::try_from(time).unwrap_or(u64::MAX),
        "Errors" => (),
    };
    Ok(Reply::json(request, &answer))
}

/// Shows the agent's release.
pub(crate) fn version(request: &Request) -> Reply {
    let version = request.version();
    let answer = object! {
        "SHA" => version.revision(),
        "BuildDate" => BUILD_DATE,
        "HumanVersion" => version.to_string(),
        "FIPS" => "",
    };
    Reply::json(request, &answer)
}

/// Makes the agent leave and exit. The server exits with the last one of a datacenter.
pub(crate) fn leave(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let context = &request.context;
    if !context.is_lone() {
        let action = format!("agent {} leaves", context.agent);
        let leave = ClusterCommand::Leave(context.agent);
        context.engine.change_cluster(&action, leave);
    }
    let cluster = context.engine.cluster();
    match context.listeners() {
        Some(listeners) if cluster.members().iter().any(|member| member.runs) => listeners.close(),
        _ => context.left.set(),
    }
    Ok(Reply::done(request))
}
