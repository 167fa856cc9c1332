//! `/v1/catalog/register` and `/v1/catalog/deregister` (session.md 4.2, 4.3; 1.22.md B4.2).

use crate::api::catalog::bodies::{DeregisterBody, RegisterBody, RegisterFields, new_check};
use crate::api::catalog::failure;
use crate::api::catalog::rights::{check_deregistration, check_registration};
use crate::body::check::CheckBody;
use crate::body::definition::ServiceBody;
use crate::body::enterprise::with_edition;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_config::definition::service_problems;
use proconsul_gocompat::json::context::{DecodeOptions, UnknownFields};
use proconsul_gocompat::json::decode::Decode;
use proconsul_h1::ReadBody;
use proconsul_store::{
    Deregistration, NewNode, NewService, Refusal, Registration, RegistrationFlaw, check_node_id,
};
use proconsul_version::Behaviour;

/// Registers a node with its service and checks.
pub(crate) async fn register(mut request: Request) -> Result<Reply, Failure> {
    let body = read_for_catalog::<RegisterFields>(&mut request).await?;
    if makes_the_decoder_panic(&request, &body) {
        return Err(Failure::dropped());
    }
    let datacenter = request.enter_datacenter(&body.node.datacenter).await?;
    datacenter.answer(|| {
        let rights = request.rights()?;
        let registration = registration(&request, body)?;
        check_registration(&request, &rights, &registration)?;
        let applied = request.context.engine.apply(registration);
        applied.map_err(|refusal| Failure::refused(&refusal, request.version()))?;
        Ok(Reply::boolean(&request, true))
    })
}

/// Deregisters a node, a service or a check. If the body names a service and a check, the service counts.
pub(crate) async fn deregister(mut request: Request) -> Result<Reply, Failure> {
    let body = read_for_catalog::<DeregisterBody>(&mut request).await?;
    let datacenter = request.enter_datacenter(&body.datacenter).await?;
    datacenter.answer(|| deregistered(&request, body))
}

fn deregistered(
    request: &Request,
    body: <DeregisterBody as Decode>::Place,
) -> Result<Reply, Failure> {
    if body.node.is_empty() {
        return Err(failure::missing_node());
    }
    let node = body.node;
    let what = if !body.service_id.is_empty() {
        Deregistration::Service {
            node,
            id: body.service_id,
        }
    } else if !body.check_id.is_empty() {
        Deregistration::Check {
            node,
            id: body.check_id,
        }
    } else {
        Deregistration::Node(node)
    };
    check_deregistration(request, &what)?;
    let Ok(()) = request.context.engine.apply(what);
    Ok(Reply::boolean(request, true))
}

/// Decodes a body of the catalog, whose error about namespaces names Consul Enterprise in every release (seen on 1.8.7).
/// The parameters about tenancy are checked first; `dc` is ignored, because the body names the datacenter.
async fn read_for_catalog<T: Decode<Place: Default>>(
    request: &mut Request,
) -> Result<T::Place, Failure> {
    request.check_tenancy()?;
    let body = request.read_whole().await;
    let decoded = decode_strictly::<T>(request, body, None);
    decoded.map_err(|error| Failure::undecodable(&with_edition(error)))
}

/// Decodes a body that must not have unknown fields.
pub(crate) fn decode_strictly<T: Decode<Place: Default>>(
    request: &mut Request,
    body: ReadBody,
    go_type: Option<&'static str>,
) -> Result<T::Place, String> {
    let rules = DecodeOptions {
        go_type,
        ..request.decoding(UnknownFields::Refused)
    };
    let mut place = T::Place::default();
    request.decode::<T>(body, &mut place, rules)?;
    Ok(place)
}

/// Checks a registration before raft (session.md 4.2).
fn registration(request: &Request, body: RegisterBody) -> Result<Registration, Failure> {
    if body.node.node.is_empty() {
        return Err(failure::missing_node());
    }
    if !body.node.id.is_empty() {
        check_node_id(&body.node.id).map_err(failure::invalid_node_id)?;
    }
    if body.node.address.is_empty() && !body.skip_node_update {
        return Err(failure::missing_address());
    }
    if names_a_peer(&body) && request.has(Behaviour::CatalogPeerNameRefused) {
        return Err(failure::peer_name());
    }
    let service = body
        .service
        .map(|service| checked_service(request, service))
        .transpose()?;
    let mut checks = Vec::new();
    for check in body.checks.into_iter().chain(body.check.map(Some)) {
        // Consul's handler panics on a null check, which closes the connection.
        checks.push(check.ok_or_else(Failure::dropped)?);
    }
    let node = NewNode {
        datacenter: request.context.config.datacenter.clone(),
        ..body.node
    };
    let mut registration = Registration {
        node,
        skip_node_update: body.skip_node_update,
        ..Registration::default()
    };
    match service {
        Some(service) if service.id.is_empty() => {
            let flaw = RegistrationFlaw::of_meta(&registration.node.node, &service);
            registration.flaw = flaw.or(Some(RegistrationFlaw::ServiceWithoutId));
            return Ok(registration);
        }
        service => registration.service = service,
    }
    add_checks(request, &mut registration, checks)?;
    Ok(registration)
}

/// Whether Consul's handler panics before it looks at the datacenter, which closes the connection.
fn makes_the_decoder_panic(request: &Request, body: &RegisterBody) -> bool {
    let proxy_is_null = body.service.as_ref().is_some_and(|it| it.proxy.is_null);
    let checks = request.has(Behaviour::CatalogRegisterOrder);
    proxy_is_null || checks && body.checks.iter().any(Option::is_none)
}

/// Adds checks up to the first one of another node. Earlier releases find that one as late as in the catalog, after they
/// have tried what stands before it (seen on 1.8.7).
fn add_checks(
    request: &Request,
    registration: &mut Registration,
    checks: Vec<CheckBody>,
) -> Result<(), Failure> {
    let node = &registration.node.node;
    let early = request.has(Behaviour::CatalogRegisterTexts);
    for check in checks {
        let named = &check.row.node;
        let of_this_node = named == node || early && named.eq_ignore_ascii_case(node);
        if !named.is_empty() && !of_this_node {
            let named = named.clone();
            let flaw = RegistrationFlaw::CheckOfOtherNode {
                named,
                check: check.into_check().check_id,
                node: node.clone(),
            };
            if early {
                return Err(Failure::refused(
                    &Refusal::Registration(flaw),
                    request.version(),
                ));
            }
            registration.flaw = Some(flaw);
            return Ok(());
        }
        registration.checks.push(new_check(check));
    }
    Ok(())
}

/// Whether the registration, its service or a check names a peer (1.22.md B4.2).
fn names_a_peer(body: &RegisterBody) -> bool {
    let checks = body.check.iter().chain(body.checks.iter().flatten());
    let names = checks.map(|check| &check.peer_name);
    let names = names.chain(body.service.iter().map(|service| &service.peer_name));
    names.chain([&body.peer_name]).any(|name| !name.is_empty())
}

fn checked_service(request: &Request, service: ServiceBody) -> Result<NewService, Failure> {
    let given = &service.service;
    let is_nameless = given.name.is_empty() && !given.id.is_empty();
    let keyless = given.name.is_empty() && given.id.is_empty();
    if keyless && request.has(Behaviour::CatalogServiceEmptyText) {
        return Err(failure::missing_service());
    }
    let service = service.into_service().ok_or_else(Failure::dropped)?;
    if let Some(text) = service_problems(&service, request.version()) {
        return Err(failure::invalid_service(text));
    }
    if is_nameless {
        return Err(failure::missing_service_name(request.version()));
    }
    if service.address_is_unspecified() {
        return Err(failure::invalid_service_address());
    }
    Ok(service)
}
