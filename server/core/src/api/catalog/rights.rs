//! What registrations and deregistrations ask for (acl.md 7.r4, 7.r5).

use crate::api::catalog::failure;
use crate::auth::rights::Rights;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_acl::{Question, Resource};
use proconsul_store::{
    Deregistration, NewCheck, NewNode, NodeChecks, NodeInfo, Registration, RegistrationFlaw,
};
use proconsul_version::{Behaviour, Version};

/// Checks that the caller may register this. Registering what is there changes nothing, and asks for nothing.
pub(super) fn check_registration(
    request: &Request,
    rights: &Rights,
    registration: &Registration,
) -> Result<(), Failure> {
    if request.context.acls.is_none() {
        return Ok(());
    }
    let version = request.version();
    let Registration { node, .. } = registration;
    let Ok(found) = request.context.engine.read(&NodeInfo(node.node.clone()));
    let (current, services) = found.rows.unzip();
    let is_same = current.is_some_and(|current| {
        registration.skip_node_update || is_unchanged(&current.node, node, version)
    });
    let of_node = Question::write(Resource::Node, &node.node);
    if !is_same {
        rights.check(of_node)?;
    }
    let services = services.unwrap_or_default();
    let stored = |id: &str| services.iter().find(|row| row.service.id == id);
    let write = |name| rights.check(Question::write(Resource::Service, name));
    match (&registration.service, &registration.flaw) {
        (Some(service), _) => {
            write(&service.name)?;
            if let Some(other) = stored(&service.id) {
                let question = Question::write(Resource::Service, &other.service.name);
                rights.check_silently(question)?;
            }
        }
        (None, Some(RegistrationFlaw::ServiceWithoutId | RegistrationFlaw::ServiceMeta { .. })) => {
            write("")?;
        }
        (None, _) => {}
    }
    for check in &registration.checks {
        if check.service_id.is_empty() {
            rights.check(of_node)?;
            continue;
        }
        let own = registration.service.as_ref();
        let own = own.filter(|service| service.id == check.service_id);
        let of_stored = || stored(&check.service_id).map(|row| row.service.name.as_str());
        let name = own.map(|service| service.name.as_str()).or_else(of_stored);
        write(name.ok_or_else(|| unknown_service(request, check))?)?;
    }
    match &registration.flaw {
        Some(RegistrationFlaw::CheckOfOtherNode { named, check, node }) => {
            Err(failure::check_of_other_node(named, check, node))
        }
        _ => Ok(()),
    }
}

/// Whether registering the node anew would leave its row as it is (seen on 1.8.7: an empty map is not a missing one). It
/// was found by its name in any case.
fn is_unchanged(current: &NewNode, node: &NewNode, version: Version) -> bool {
    let same_name = version.has(Behaviour::CatalogNodeNameCase) || current.node == node.node;
    same_name
        && (&current.id, &current.address) == (&node.id, &node.address)
        && current.datacenter == node.datacenter
        && current.tagged_addresses == node.tagged_addresses
        && current.meta == node.meta
}

fn unknown_service(request: &Request, check: &NewCheck) -> Failure {
    failure::unknown_service_of_check(&check.service_id, &check.check_id, request.version())
}

/// Checks that the caller may deregister this.
pub(super) fn check_deregistration(
    request: &Request,
    what: &Deregistration,
) -> Result<(), Failure> {
    let rights = request.rights()?;
    let (Deregistration::Node(node)
    | Deregistration::Service { node, .. }
    | Deregistration::Check { node, .. }) = what;
    let of_node = Question::write(Resource::Node, node);
    if rights.may(of_node) {
        return Ok(());
    }
    let of_service = |name| rights.check(Question::write(Resource::Service, name));
    let engine = &request.context.engine;
    let version = request.version();
    match what {
        Deregistration::Node(_) => rights.check(of_node),
        Deregistration::Service { node, id } => {
            let Ok(found) = engine.read(&NodeInfo(node.clone()));
            let services = found.rows.map(|(_, services)| services).unwrap_or_default();
            let service = services.iter().find(|row| row.service.id == *id);
            let service = service.ok_or_else(|| failure::unknown_service(id, version))?;
            of_service(&service.service.name)
        }
        Deregistration::Check { node, id } => {
            let Ok(found) = engine.read(&NodeChecks(node.clone()));
            let mut checks = found.rows.iter();
            let check = checks.find(|row| row.check.check_id.eq_ignore_ascii_case(id));
            let check = check.ok_or_else(|| failure::unknown_check(id, version))?;
            if check.check.service_id.is_empty() {
                return rights.check(of_node);
            }
            of_service(&check.service_name)
        }
    }
}
