//! `/v1/discovery-chain/`: where the entries lead requests for a service (operator.md 5).

use http::Method;
use serde::Serialize;

use crate::api::mesh::connect::{self, TRUST_DOMAIN};
use crate::failure::{Failure, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_config::entry::{self, ShownPart};
use proconsul_engine::blocking;
use proconsul_gocompat::duration;
use proconsul_gocompat::json::context::{DecodeContext, UnknownFields};
use proconsul_gocompat::json::decode::Decode;
use proconsul_gocompat::json::maps;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_store::{Chain, ChainNode, ChainOverrides, ChainRequest, ChainTarget, ConfigValue};
use proconsul_version::{Behaviour, Version};

failures! {
    /// The mode of mesh gateways is unknown.
    invalid_mode() => 400 Direct, "Invalid OverrideMeshGateway.Mode parameter";
    /// The entries make no chain.
    no_chain(words: &str) => 500, words;
}

/// The body of a request: what is set in place of the entries.
struct OverridesBody;

/// The release, and what was read.
struct Reading(Version, Result<ConfigValue, String>);

impl Decode for OverridesBody {
    type Place = Reading;

    fn decode(place: &mut Reading, value: Value<'_>, context: &mut DecodeContext) {
        match value.kind() {
            ValueKind::Object | ValueKind::Null => {
                place.1 = entry::decode_overrides(value, place.0);
            }
            other => context.mismatch(value, &other, Self::go_type()),
        }
    }

    fn go_type() -> std::borrow::Cow<'static, str> {
        "map[string]interface {}".into()
    }
}

/// Shows the chain of a service, with other settings if the body has some.
pub(super) async fn chain(mut request: Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    let service = request.rest_text();
    if service.is_empty() {
        return Err(Failure::bad_request(
            "Missing chain name",
            request.version(),
        ));
    }
    request.check_tenancy()?;
    let overrides = if request.method == Method::POST {
        overrides(&mut request).await?
    } else {
        ChainOverrides::default()
    };
    connect::check_is_on(&request).map_err(|failure| failure.of_read(&request.context))?;
    request.check_datacenter_of_read()?;
    request.authorize_read()?;
    let own_datacenter = request.context.config.datacenter.clone();
    let datacenter = match request.query.get("compile-dc") {
        b"" => own_datacenter.clone(),
        asked => String::from_utf8_lossy(asked).into_owned(),
    };
    // Later releases tell filters apart, though a chain has none (operator.md 5.r9).
    let filter = match request.has(Behaviour::ConfigLate) {
        true => request.query.get("filter"),
        false => b"",
    };
    let asked = [request.query.get("compile-dc"), filter].map(<[u8]>::to_owned);
    let read = ChainRequest {
        service,
        own_datacenter,
        datacenter,
        overrides,
    };
    let (options, cached) = request.cached_by(&(&read, asked), &read, options);
    let answer = blocking::answer(&request.context.engine, &read, options.wait).await;
    let answer = answer.map_err(|flaw| no_chain(&flaw.to_string()))?;
    let version = request.version();
    let shown = object! { "Chain" => shown_chain(&answer.rows, &read, version), };
    let reply = Reply::json(&request, &shown);
    let reply = reply.with_index(&request, answer.index);
    Ok(cached.told_in(&request, reply.with_consistency(options.consistency)))
}

async fn overrides(request: &mut Request) -> Result<ChainOverrides, Failure> {
    let version = request.version();
    let undecodable =
        |words: &str| Failure::bad_request(&format!("Request decoding failed: {words}"), version);
    let sent = request.read_whole().await;
    let mut body = Reading(version, Err(String::new()));
    let rules = request.decoding(UnknownFields::Accepted);
    let decoded = request.decode::<OverridesBody>(sent, &mut body, rules);
    decoded.map_err(|words| undecodable(&words))?;
    let body = body.1.map_err(|words| undecodable(&words))?;
    let gateway = body.get("OverrideMeshGateway");
    let mesh_gateway = gateway.map_or("", |gateway| gateway.text("Mode"));
    if !matches!(mesh_gateway, "" | "none" | "local" | "remote") {
        return Err(invalid_mode());
    }
    Ok(ChainOverrides {
        protocol: body.text("OverrideProtocol").to_owned(),
        mesh_gateway: mesh_gateway.to_owned(),
        connect_timeout_ns: body.number("OverrideConnectTimeout"),
    })
}

fn shown_chain(chain: &Chain, read: &ChainRequest, version: Version) -> impl Serialize + use<> {
    let is_late = version.has(Behaviour::ConfigLate);
    let nodes = chain.nodes.iter();
    let nodes = maps::collect(nodes.map(|(id, node)| (id.clone(), shown_node(node, version))));
    let targets = chain.targets.iter();
    let targets = targets.map(|(id, target)| (id.clone(), shown_target(id, target, version)));
    let targets = maps::collect(targets);
    let applied = &chain.applied;
    object! {
        "ServiceName" => read.service.clone(),
        "Namespace" => "default",
        "Partition" if is_late => "default",
        "Datacenter" => read.datacenter.clone(),
        "CustomizationHash" if *applied != ChainOverrides::default() => customization(applied),
        "Default" if is_late && chain.is_default => true,
        "Protocol" => chain.protocol.clone(),
        "StartNode" => chain.start.clone(),
        "Nodes" => nodes,
        "Targets" => targets,
        "AutoVirtualIPs" if is_late => (),
        "ManualVirtualIPs" if is_late => (),
    }
}

/// Returns the first digits of the sum over what was set, as the Go library `hashstructure` makes it: the members of a
/// structure are joined without order, each a hash of those of its name and value.
fn customization(applied: &ChainOverrides) -> String {
    let of = |parts: [u64; 2]| fnv1(parts.map(u64::to_le_bytes).as_flattened());
    let member = |name: &str, value: u64| of([fnv1(name.as_bytes()), value]);
    let mode = member("Mode", fnv1(applied.mesh_gateway.as_bytes()));
    let members = [
        member("OverrideMeshGateway", fnv1(b"MeshGatewayConfig") ^ mode),
        member("OverrideProtocol", fnv1(applied.protocol.as_bytes())),
        member(
            "OverrideConnectTimeout",
            fnv1(&applied.connect_timeout_ns.to_le_bytes()),
        ),
    ];
    // The structure itself has no name.
    let sum = members.iter().fold(fnv1(b""), |sum, part| sum ^ part);
    format!("{sum:x}").chars().take(8).collect()
}

/// FNV-1 with 64 bits.
fn fnv1(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
    })
}

fn shown_node(node: &ChainNode, version: Version) -> impl Serialize + use<> {
    let is_late = version.has(Behaviour::ConfigLate);
    let (kind, name) = match node {
        ChainNode::Router { name, .. } => ("router", name),
        ChainNode::Splitter { name, .. } => ("splitter", name),
        ChainNode::Resolver { target, .. } => ("resolver", target),
    };
    let routes = match node {
        ChainNode::Router { routes, .. } => Some(routes),
        _ => None,
    };
    let routes = routes.map(|routes| {
        let shown = routes.iter().map(|(definition, next)| {
            object! {
                "Definition" => ShownPart::route(definition.clone(), version),
                "NextNode" => next.clone(),
            }
        });
        shown.collect::<Vec<_>>()
    });
    let splits = match node {
        ChainNode::Splitter { splits, .. } => Some(splits),
        _ => None,
    };
    let splits = splits.map(|splits| {
        let shown = splits.iter().map(|split| {
            object! {
                "Definition" if is_late => ShownPart::split(split.definition.clone(), version),
                "Weight" => entry::weight(split.weight),
                "NextNode" => split.next.clone(),
            }
        });
        shown.collect::<Vec<_>>()
    });
    let resolver = match node {
        ChainNode::Resolver {
            connect_timeout_ns,
            request_timeout_ns,
            is_default,
            target,
            failover,
            ..
        } => Some(object! {
            "ConnectTimeout" => duration::format(*connect_timeout_ns),
            "RequestTimeout" if *request_timeout_ns != 0 => *request_timeout_ns,
            "Default" if *is_default => true,
            "Target" => target.clone(),
            "Failover" if !failover.is_empty() => object! { "Targets" => failover.clone(), },
        }),
        _ => None,
    };
    let balancer = match node {
        ChainNode::Resolver { load_balancer, .. } => load_balancer.clone(),
        _ => None,
    };
    let balancer = balancer.map(|balancer| ShownPart::balancer(balancer, version));
    object! {
        "Type" => kind,
        "Name" => name.clone(),
        "Routes" if routes.is_some() => routes,
        "Splits" if splits.is_some() => splits,
        "Resolver" if resolver.is_some() => resolver,
        "LoadBalancer" if balancer.is_some() => balancer,
    }
}

fn shown_target(id: &str, target: &ChainTarget, version: Version) -> impl Serialize + use<> {
    let is_late = version.has(Behaviour::ConfigLate);
    let ChainTarget {
        service,
        subset,
        namespace,
        datacenter,
        peer,
        mesh_gateway,
        external_sni,
        ..
    } = target;
    let dot = if subset.is_empty() { "" } else { "." };
    let name =
        format!("{subset}{dot}{service}.{namespace}.{datacenter}.internal.{TRUST_DOMAIN}.consul");
    let is_external = !external_sni.is_empty();
    let sni = if is_external { external_sni } else { &name };
    object! {
        "ConnectTimeout" if is_late => duration::format(target.connect_timeout_ns),
        "ID" => id.to_owned(),
        "Service" => service.clone(),
        "ServiceSubset" if !subset.is_empty() => subset.clone(),
        "Namespace" => namespace.clone(),
        "Partition" if is_late => "default",
        "Datacenter" if peer.is_empty() => datacenter.clone(),
        "Peer" if !peer.is_empty() => peer.clone(),
        "MeshGateway" => object! { "Mode" if !mesh_gateway.is_empty() => mesh_gateway.clone(), },
        "Subset" => ShownPart::subset(target.definition.clone(), version),
        "TransparentProxy" if is_late => object! { "DialedDirectly" if target.dialed_directly => true, },
        "External" if is_external => true,
        "SNI" if peer.is_empty() => sni.clone(),
        "Name" if peer.is_empty() => name.clone(),
    }
}
