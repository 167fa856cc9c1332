//! `/v1/operator/keyring` where gossip is not encrypted: every list and every change is refused (operator.md 2).

use std::sync::Arc;

use http::Method;

use crate::failure::{Failure, failures};
use crate::pipeline::context::datacenters::Datacenter;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::routes;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::{base64, number};
use proconsul_version::Behaviour;

routes! {
    "/v1/operator/keyring" [GET POST PUT DELETE] asks keyring => waits(keyring);
}

failures! {
    /// The token may not read the keyring (acl.md 2.11).
    reading_denied() => 500, "Reading keyring denied by ACLs";
    /// The token may not change the keyring.
    modifying_denied() => 500, "Modifying keyring denied due to ACLs";
    /// A client agent does not ask a server (cluster.md 1.40).
    of_a_client() => 500 Local, "keyring operations must run against a server node";
    /// The pools of gossip refuse.
    of_pools(lines: &[String]) => 500 Local, {
        let lines: String = lines.iter().map(|line| format!("\t* {line}\n")).collect();
        format!("{} errors occurred:\n{lines}\n", lines.lines().count())
    };
}

go_struct! {
    /// The body of a change.
    struct KeyringBody as "agent.keyringArgs" {
        "Key": String => key,
        "Token": String,
        "RelayFactor": u8,
        "LocalOnly": bool,
    }
}

async fn keyring(mut request: Request) -> Result<Reply, Failure> {
    let version = request.version();
    let unicode = version.go().unicode;
    let refused = |text: &str| Failure::bad_request(text, version);
    let mut body = KeyringBody::default();
    let lists = request.method == Method::GET;
    if !lists {
        let sent = request.read_whole().await;
        let rules = request.decoding(UnknownFields::Refused);
        let decoded = request.decode::<KeyringBody>(sent, &mut body, rules);
        decoded.map_err(|words| refused(&format!("Request decode failed: {words}")))?;
    }
    match request.query.get("relay-factor") {
        b"" => {}
        text => match number::parse_int(text) {
            Ok(0..=5) => {}
            Ok(_) => {
                let text = "Invalid relay-factor: Relay factor must be in range: [0, 5]";
                return Err(refused(text));
            }
            Err(error) => {
                let words = error.message(unicode);
                return Err(refused(&format!("Error parsing relay factor: {words}")));
            }
        },
    }
    let is_local = match request.query.get("local-only") {
        b"" => false,
        text => number::parse_bool(text).map_err(|error| {
            refused(&format!(
                "Error parsing local-only: {}",
                error.message(unicode)
            ))
        })?,
    };
    if is_local && !lists {
        let text = "Invalid use of local-only: local-only can only be set for list requests";
        return Err(refused(text));
    }
    if !request.context.config.server && !request.context.is_lone() {
        return Err(of_a_client());
    }
    authorize(&request, lists)?;
    Err(of_pools(&complaints(&request, &body.key, is_local)))
}

/// Checks the rights, which until some release are refused with words of their own.
fn authorize(request: &Request, lists: bool) -> Result<(), Failure> {
    if request.has(Behaviour::AclKeyringRefused403) {
        return request.authorize();
    }
    request.rights()?;
    request.authorize().map_err(|_| match lists {
        true => reading_denied(),
        false => modifying_denied(),
    })
}

/// Returns what the pools of gossip say: that of all datacenters, if there is one, and that of each, the own one first
/// (cluster.md 5.32).
fn complaints(request: &Request, key: &str, is_local: bool) -> Vec<String> {
    let context = &request.context;
    let of_nodes = if request.method == Method::GET {
        "Keyring is empty (encryption not enabled)"
    } else {
        "No keyring to modify (encryption not enabled)"
    };
    let own = &context.config.datacenter;
    let others = context.joined.all().iter().filter_map(Datacenter::first);
    let others = others.filter(|there| !is_local && there.config.datacenter != *own);
    let datacenters: Vec<_> = [Arc::clone(context)].into_iter().chain(others).collect();
    let mut pools = Vec::new();
    if !is_local && context.config.serf_wan_port.is_some() {
        let servers = datacenters.iter().flat_map(|there| there.all_servers());
        let names = servers.map(|(_, server)| server.wan_name());
        pools.push(("WAN".to_owned(), names.collect::<Vec<_>>()));
    }
    pools.extend(datacenters.iter().map(|there| {
        let names = there.configs.iter().map(|agent| agent.node_name.clone());
        let pool = format!("{} (LAN)", there.config.datacenter);
        (pool, names.collect())
    }));
    let malformed = base64::decode(key.as_bytes()).err();
    let complaints = pools.into_iter().flat_map(|(pool, names)| match malformed {
        Some(at) => vec![format!(
            "{pool} error: illegal base64 data at input byte {at}"
        )],
        None => {
            let count = names.len();
            let all = format!("{pool} error: {count}/{count} nodes reported failure");
            let each = names.iter().map(|name| format!("{name}: {of_nodes}"));
            std::iter::once(all).chain(each).collect()
        }
    });
    complaints.collect()
}
