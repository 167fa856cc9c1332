//! `/v1/catalog/gateway-services/`: the services behind a gateway, as its entry names them (operator.md 3.r6).

use serde::Serialize;

use crate::api::catalog::{read_options, reply};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_acl::{Question, Resource};
use proconsul_engine::blocking;
use proconsul_store::{ConfigValue, GatewayService, GatewayServices};
use proconsul_version::{Behaviour, Version};

/// Lists the services of a gateway. Go prints a list that was never made as `null`.
pub(super) async fn gateway_services(request: &Request) -> Result<Reply, Failure> {
    let options = read_options(request)?;
    let gateway = request.named("gateway name")?;
    request.check_datacenter_of_read()?;
    request.authorize_read()?;
    let engine = &request.context.engine;
    let read = GatewayServices(gateway);
    let Ok(mut answer) = blocking::answer(engine, &read, options.wait).await;
    let mut rights = request.rights_of_read()?;
    rights.retain(&mut answer.rows, |caller, row| {
        caller.may(Question::read(Resource::Service, &row.service))
    });
    let version = request.version();
    // Rights make a new list, also where they remove nothing (seen on 1.8.7).
    let is_list = request.context.acls.is_some()
        || request.has(Behaviour::CatalogGatewayServicesEmpty)
        || !answer.rows.is_empty();
    let rows = answer.rows.iter().map(|row| shown(row, version));
    let rows = is_list.then(|| rows.collect::<Vec<_>>());
    Ok(rights.told_in(reply(request, &rows, answer.index, options)))
}

fn shown(row: &GatewayService, version: Version) -> impl Serialize + use<> {
    let is_ingress = row.gateway_kind == "ingress-gateway";
    let text = |name| {
        let text = row.fields.text(name).to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let hosts: Vec<String> = row.fields.texts("Hosts").map(str::to_owned).collect();
    let files = ["CAFile", "CertFile", "KeyFile", "SNI"].map(text);
    let [ca, certificate, key, sni] = files;
    let is_late = version.has(Behaviour::ConfigLate);
    let rewrites = !is_ingress
        && is_late
        && !matches!(
            row.fields.get("DisableAutoHostRewrite"),
            Some(ConfigValue::Flag(true))
        );
    object! {
        "Gateway" => object! { "Name" => row.gateway.clone(), },
        "Service" => object! { "Name" => row.service.clone(), },
        "GatewayKind" => row.gateway_kind.clone(),
        "Port" if row.port != 0 => row.port,
        "Protocol" if is_ingress => row.protocol.clone(),
        "Hosts" if !hosts.is_empty() => hosts,
        "CAFile" if ca.is_some() => ca,
        "CertFile" if certificate.is_some() => certificate,
        "KeyFile" if key.is_some() => key,
        "SNI" if sni.is_some() => sni,
        "FromWildcard" if row.from_wildcard => true,
        "ServiceKind" if is_late && row.is_known && !is_ingress => "service",
        "CreateIndex" => row.create_index.0,
        "ModifyIndex" => row.modify_index.0,
        "AutoHostRewrite" if rewrites => true,
    }
}
