//! What services and all proxies are told: of a service, of its upstreams, of what proxies log and load.

use super::{Checked, none_of};
use proconsul_store::ConfigValue;

pub(super) fn check_service(name: &str, body: &ConfigValue) -> Checked {
    if name == "*" {
        return Err(
            "service-defaults name must be the name of a service, and not a wildcard".to_owned(),
        );
    }
    check_mutual_tls(body)?;
    let mut errors = Vec::new();
    let protocol = body.text("Protocol");
    if !matches!(protocol, "" | "tcp" | "http" | "http2" | "grpc") {
        errors.push(format!("invalid value for protocol: {protocol}"));
    }
    let balance = body.text("BalanceInboundConnections");
    if !matches!(balance, "" | "exact_balance") {
        errors.push(format!(
            "invalid value for balance_inbound_connections: {balance}"
        ));
    }
    if let Some(upstreams) = body.get("UpstreamConfig") {
        let mut named = upstreams.list("Overrides").iter();
        if named.any(|upstream| upstream.text("Name").is_empty()) {
            errors.push("error in upstream override for :: Name is required".to_owned());
        }
        let defaults = upstreams.get("Defaults");
        if defaults.is_some_and(|upstream| !upstream.text("Name").is_empty()) {
            errors.push("error in upstream defaults: Name must be empty".to_owned());
        }
    }
    if let Some(destination) = body.get("Destination") {
        check_destination(destination, &mut errors);
    }
    if body.get("RateLimits").is_some() {
        let text = "invalid rate_limits config. Rate limiting is a consul enterprise feature";
        errors.push(text.to_owned());
    }
    errors.extend(wrong_extensions(body));
    none_of(&errors)
}

fn check_destination(destination: &ConfigValue, errors: &mut Vec<String>) {
    if destination.list("Addresses").is_empty() {
        errors.push("Destination must contain at least one valid address".to_owned());
    }
    for address in destination.texts("Addresses") {
        if address.contains('*') {
            errors.push(format!(
                "Destination address '{address}' is invalid Could not validate address {address} as an IP or Hostname"
            ));
        }
    }
    let port = destination.number("Port");
    if !(1..=65535).contains(&port) {
        errors.push(format!("Invalid Port number {port}"));
    }
}

/// Checks the mode of mutual TLS. Whether the mesh allows the permissive one is for the store.
fn check_mutual_tls(body: &ConfigValue) -> Checked {
    let mode = body.text("MutualTLSMode");
    if matches!(mode, "" | "strict" | "permissive") {
        return Ok(());
    }
    Err(format!(
        "Invalid MutualTLSMode \"{mode}\". Must be one of \"\", \"strict\", or \"permissive\"."
    ))
}

/// Returns what is wrong with the extensions of Envoy. Their arguments are not looked at.
fn wrong_extensions(body: &ConfigValue) -> Vec<String> {
    let extensions = body.list("EnvoyExtensions").iter().enumerate();
    let wrong = extensions.filter_map(|(at, extension)| match extension.text("Name") {
        "" => Some(format!("invalid EnvoyExtensions[{at}]: Name is required")),
        name if name.starts_with("builtin/") => None,
        name => Some(format!(
            "invalid EnvoyExtensions[{at}][{name}]: name \"{name}\" is not a built-in extension"
        )),
    });
    wrong.collect()
}

pub(super) fn check_all(body: &ConfigValue) -> Checked {
    check_mutual_tls(body)?;
    if let Some(logs) = body.get("AccessLogs") {
        check_logs(logs)?;
    }
    none_of(&wrong_extensions(body))?;
    if body.get("PrioritizeByLocality").is_some() {
        return Err("Prioritize-by-locality requires Consul Enterprise ".to_owned());
    }
    body.get("FailoverPolicy").map_or(Ok(()), check_failover)
}

/// Checks the mode of a failover's policy.
pub(super) fn check_failover(policy: &ConfigValue) -> Checked {
    if matches!(policy.text("Mode"), "" | "sequential" | "order-by-locality") {
        return Ok(());
    }
    let text = "Failover-policy mode must be one of '', 'sequential', or 'order-by-locality'";
    Err(text.to_owned())
}

fn check_logs(logs: &ConfigValue) -> Checked {
    let to = logs.text("Type");
    let text = match to {
        "file" if logs.text("Path").is_empty() => {
            "path must be specified when using file type access logs"
        }
        "" | "stdout" | "stderr" | "file" => {
            let is_set = |form| !logs.text(form).is_empty();
            if !(is_set("JSONFormat") && is_set("TextFormat")) {
                return Ok(());
            }
            "cannot specify both access log JSONFormat and TextFormat"
        }
        _ => return Err(format!("invalid access log type: {to}")),
    };
    Err(text.to_owned())
}
