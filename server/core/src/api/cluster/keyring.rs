//! `/v1/operator/keyring` where gossip is not encrypted: every list and every change is refused (operator.md 2).

use http::Method;

use crate::failure::{Failure, failures};
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
    /// The pools of gossip refuse.
    of_pools(lines: &[String]) => 500, {
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

/// Returns what the pools of gossip say: that of all datacenters, if there is one and it is asked, and that of this one.
fn complaints(request: &Request, key: &str, is_local: bool) -> Vec<String> {
    let config = &request.context.config;
    let (node, datacenter) = (&config.node_name, &config.datacenter);
    let of_nodes = if request.method == Method::GET {
        "Keyring is empty (encryption not enabled)"
    } else {
        "No keyring to modify (encryption not enabled)"
    };
    let wan = Some(("WAN".to_owned(), format!("{node}.{datacenter}")));
    let wan = wan.filter(|_| !is_local && config.serf_wan_port.is_some());
    let pools = wan
        .into_iter()
        .chain([(format!("{datacenter} (LAN)"), node.clone())]);
    let malformed = base64::decode(key.as_bytes()).err();
    let complaints = pools.flat_map(|(pool, member)| match malformed {
        Some(at) => vec![format!(
            "{pool} error: illegal base64 data at input byte {at}"
        )],
        None => vec![
            format!("{pool} error: 1/1 nodes reported failure"),
            format!("{member}: {of_nodes}"),
        ],
    });
    complaints.collect()
}
