//! Whether the caller may change a service or check of the agent (acl.md 7.r24 to 7.r26).

use http::StatusCode;

use crate::api::agent::failure;
use crate::auth::rights::Rights;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_acl::{Question, Resource};
use proconsul_store::{
    AgentCommand, NewCheck, NewService, NodeInfo, OfAgent, Refusal, ServiceSpec, Store,
};
use proconsul_version::{Behaviour, Version};

/// Checks that a service may be registered, in the place of the one that has its id, and with its sidecar.
pub(super) fn service_registration(
    request: &Request,
    rights: &Rights,
    spec: &ServiceSpec,
) -> Result<(), Failure> {
    let vet = |store: &Store, service: &NewService| {
        may_write(request, rights, Resource::Service, &service.name)?;
        let stored = store.agent(request.context.agent).service(&service.id);
        let refused = stored.map_or(Ok(()), |stored| {
            may_write(request, rights, Resource::Service, &stored.service.name)
        });
        refused.map_err(|refused| match request.has(Behaviour::AclDeniedText) {
            true => refused,
            // Early releases name the new service, which the caller may write.
            false => failure::missing_right(Resource::Service.name(), &service.name),
        })
    };
    with_acls(request, |store| {
        vet(store, &spec.service)?;
        let sidecar = spec.sidecar.as_ref();
        sidecar.map_or(Ok(()), |sidecar| vet(store, &sidecar.service))
    })
}

/// Checks that a check may be registered, in the place of the one that has its id.
pub(super) fn check_registration(
    request: &Request,
    rights: &Rights,
    check: &NewCheck,
) -> Result<(), Failure> {
    with_acls(request, |store| {
        let service = store
            .agent(request.context.agent)
            .service(&check.service_id);
        if service.is_none()
            && !check.service_id.is_empty()
            && request.has(Behaviour::AclServiceOfCheckFirst)
        {
            let unknown = Refusal::AgentCheckServiceUnknown(check.service_id.clone());
            return Err(Failure::refused(&unknown, request.version()));
        }
        let service = service.map_or("", |local| local.service.name.as_str());
        may_write_of(request, rights, service)?;
        let stored = store.agent(request.context.agent).check(&check.check_id);
        stored.map_or(Ok(()), |stored| {
            may_write_of(request, rights, &stored.service_name)
        })
    })
}

/// Checks that the service with this id may be changed.
///
/// # Errors
/// It may not, or it does not exist.
pub(super) fn service(request: &Request, id: &str) -> Result<(), Failure> {
    let rights = request.rights()?;
    with_acls(request, |store| {
        match store.agent(request.context.agent).service(id) {
            Some(local) => may_write(request, &rights, Resource::Service, &local.service.name),
            None => Err(unknown_service(id, request.version())),
        }
    })
}

/// Checks that the check with this id may be changed: that of a service with the name that the service had when the
/// check was registered, others with the node.
///
/// # Errors
/// It may not, or it does not exist.
pub(super) fn check(request: &Request, id: &str) -> Result<(), Failure> {
    let rights = request.rights()?;
    with_acls(request, |store| {
        let Some(local) = store.agent(request.context.agent).check(id) else {
            return Err(unknown_check(id, request.version()));
        };
        may_write_of(request, &rights, &local.service_name)
    })
}

/// Looks at the agent's services and checks if ACLs are on.
fn with_acls(
    request: &Request,
    vet: impl FnOnce(&Store) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if request.context.acls.is_none() {
        return Ok(());
    }
    vet(&request.context.engine.snapshot())
}

/// Checks the right to a check of the service with this name, which is empty for a check of the node.
fn may_write_of(request: &Request, rights: &Rights, service: &str) -> Result<(), Failure> {
    if service.is_empty() {
        let node = &request.context.config.node_name;
        return may_write(request, rights, Resource::Node, node);
    }
    may_write(request, rights, Resource::Service, service)
}

/// Checks a right. Early releases name it even where they name no other (acl.md 2.11.r5).
fn may_write(
    request: &Request,
    rights: &Rights,
    resource: Resource,
    name: &str,
) -> Result<(), Failure> {
    let question = Question::write(resource, name);
    if request.has(Behaviour::AclDeniedText) || rights.grant(question) {
        return rights.check(question);
    }
    Err(failure::missing_right(resource.name(), name))
}

/// Returns the error for an unknown service, which early releases answer with 500 if ACLs are on.
fn unknown_service(id: &str, version: Version) -> Failure {
    let unknown = Refusal::AgentServiceUnknown(id.to_owned());
    let mut failure = Failure::refused(&unknown, version);
    if !version.has(Behaviour::AgentUnknownService404) {
        failure.status = StatusCode::INTERNAL_SERVER_ERROR;
    }
    failure
}

/// Returns the error for an unknown check, which early releases call so if ACLs are on.
fn unknown_check(id: &str, version: Version) -> Failure {
    if version.has(Behaviour::AgentUnknownCheck500) {
        return Failure::refused(&Refusal::AgentCheckUnknown(id.to_owned()), version);
    }
    failure::unknown_check(id, version)
}

/// Returns the rights of the agent's token, else of its default one, else of requests without any.
fn own_rights(request: &Request) -> Option<Result<Rights, Failure>> {
    let secret = request.context.acls.as_ref()?.own_secret();
    Some(request.rights_with(Some(&secret)))
}

/// Whether the agent may take a service out of the catalog. Early releases do that with the token of the service.
pub(super) fn may_deregister(request: &Request, id: &str) -> bool {
    if !request.has(Behaviour::AclAgentDeregisters) {
        return true;
    }
    let Some(rights) = own_rights(request) else {
        return true;
    };
    let store = request.context.engine.snapshot();
    let local = store.agent(request.context.agent).service(id);
    local.is_none_or(|local| {
        let question = Question::write(Resource::Service, &local.service.name);
        rights.is_ok_and(|rights| rights.may(question))
    })
}

/// Compares agent and catalog anew after the agent has got another token.
pub(super) fn compare(request: &Request) {
    let Some(Ok(rights)) = own_rights(request) else {
        return;
    };
    let config = &request.context.config;
    let may_write = |resource, name: &str| rights.may(Question::write(resource, name));
    let node = may_write(Resource::Node, &config.node_name);
    let engine = &request.context.engine;
    let store = engine.snapshot();
    let Ok(found) = engine.read(&NodeInfo(config.node_name.clone()));
    let services = found.rows.map(|(_, services)| services).unwrap_or_default();
    let name_of = |id: &String| {
        let row = services.iter().find(|row| row.service.id == *id)?;
        Some(row.service.name.as_str())
    };
    let staying = store.agent(request.context.agent).staying();
    let staying =
        staying.filter(|id| name_of(id).is_none_or(|name| may_write(Resource::Service, name)));
    let deregisters: Vec<String> = staying.cloned().collect();
    if !node && deregisters.is_empty() {
        return;
    }
    let node = node.then(|| (config.tagged_addresses(), config.whole_node_meta()));
    // A comparison is never refused.
    let command = AgentCommand::UseToken { node, deregisters };
    drop(engine.apply(OfAgent(request.context.agent, command)));
}
