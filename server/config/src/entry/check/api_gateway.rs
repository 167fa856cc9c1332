//! API gateways: their listeners, and the routes that are bound to them. No controller runs here that would bind them.

use super::{Checked, check_tls};
use proconsul_store::{ConfigMembers, ConfigValue};
use proconsul_version::{Behaviour, Version};

/// The methods of HTTP.
pub(super) const METHODS: [&str; 9] = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
];

pub(super) fn check(body: &ConfigValue, version: Version) -> Checked {
    let listeners = body.list("Listeners");
    if listeners.is_empty() {
        return Err("api gateway must have at least one listener".to_owned());
    }
    for (at, listener) in listeners.iter().enumerate() {
        let before = &listeners[..at];
        let name = listener.text("Name");
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!(
                "listener name \"{name}\" is invalid, must be at least 1 character and contain only letters, numbers, or dashes"
            ));
        }
        if before.iter().any(|other| other.text("Name") == name) {
            return Err(format!("found multiple listeners with the name \"{name}\""));
        }
    }
    for (at, listener) in listeners.iter().enumerate() {
        check_listener(listener, version)?;
        let (port, protocol) = (listener.number("Port"), listener.text("Protocol"));
        let differs = |other: &&ConfigValue| {
            other.number("Port") == port && other.text("Protocol") != protocol
        };
        if let Some(other) = listeners[..at].iter().find(differs) {
            let (first, second) = (other.text("Name"), listener.text("Name"));
            return Err(format!(
                "listeners \"{first}\" and \"{second}\" cannot be merged"
            ));
        }
    }
    Ok(())
}

fn check_listener(listener: &ConfigValue, version: Version) -> Checked {
    let protocol = listener.text("Protocol");
    let is_known = match protocol {
        "tcp" | "http" => true,
        "http2" | "grpc" => version.has(Behaviour::ConfigTwoOne),
        _ => false,
    };
    // The text of 2.1 is unknown.
    if !is_known {
        return Err(format!(
            "unsupported listener protocol \"{protocol}\", must be one of 'tcp', or 'http'"
        ));
    }
    if protocol == "tcp" && !listener.text("Hostname").is_empty() {
        return Err("hostname specification is not supported when using TCP".to_owned());
    }
    let port = listener.number("Port");
    if !(1..=65535).contains(&port) {
        return Err(format!("listener port {port} not in the range 1-65535"));
    }
    let Some(tls) = listener.get("TLS") else {
        return Ok(());
    };
    for certificate in tls.list("Certificates") {
        let kind = certificate.text("Kind");
        if !matches!(kind, "" | "file-system-certificate" | "inline-certificate") {
            return Err(format!(
                "unsupported certificate kind: \"{kind}\", must be 'file-system-certificate' or 'inline-certificate'"
            ));
        }
    }
    check_tls(tls.text("MinVersion"), tls.text("MaxVersion"))
}

/// Fills in what a route does not say, and checks it.
pub(super) fn check_http_route(body: &mut ConfigValue) -> Checked {
    check_parents(body)?;
    for rule in body.list_mut("Rules") {
        for service in rule.list_mut("Services") {
            if service.number("Weight") <= 0 {
                service.set("Weight", ConfigValue::Number(1));
            }
        }
        for matching in rule.list_mut("Matches") {
            if matches!(matching, ConfigValue::Members(members) if members.is_empty()) {
                let text = |text: &str| ConfigValue::Text(text.to_owned());
                let all = [("Match", text("prefix")), ("Value", text("/"))];
                let all = all.map(|(name, value)| (name.to_owned(), value));
                matching.set("Path", ConfigValue::Members(ConfigMembers::from(all)));
            }
        }
    }
    for host in body.texts("Hostnames") {
        if host.strip_prefix("*.").unwrap_or(host).contains('*') {
            return Err(format!("host \"{host}\" must not be a wildcard"));
        }
    }
    for (at_rule, rule) in body.list("Rules").iter().enumerate() {
        for (at, matching) in rule.list("Matches").iter().enumerate() {
            check_match(matching)
                .map_err(|flaw| format!("Rule[{at_rule}], Match[{at}], {flaw}"))?;
        }
    }
    Ok(())
}

fn check_match(matching: &ConfigValue) -> Checked {
    if let Some(path) = matching.get("Path") {
        let (way, value) = (path.text("Match"), path.text("Value"));
        if !matches!(way, "exact" | "prefix" | "regex") {
            return Err("Path, match type should be one of exact, prefix, or regex".to_owned());
        }
        if way != "regex" && !value.starts_with('/') {
            return Err(format!(
                "Path, {way} type match doesn't start with '/': \"{value}\""
            ));
        }
    }
    for (list, ways, words) in [
        (
            "Headers",
            &["present", "exact", "prefix", "suffix", "regex"][..],
            "Header[{at}], match type should be one of present, exact, prefix, suffix, or regex",
        ),
        (
            "Query",
            &["present", "exact", "regex"][..],
            "Query[{at}], match type should be one of present, exact, or regex",
        ),
    ] {
        let mut conditions = matching.list(list).iter();
        let wrong = conditions.position(|condition| !ways.contains(&condition.text("Match")));
        if let Some(at) = wrong {
            return Err(words.replace("{at}", &at.to_string()));
        }
    }
    let method = matching.text("Method");
    if !method.is_empty() && !is_method(method) {
        return Err(format!("Method contains an invalid method \"{method}\""));
    }
    Ok(())
}

/// Whether this is a method of HTTP, in any case.
pub(super) fn is_method(method: &str) -> bool {
    METHODS.contains(&method.to_uppercase().as_str())
}

pub(super) fn check_tcp_route(body: &mut ConfigValue) -> Checked {
    check_parents(body)?;
    if body.list("Services").len() > 1 {
        return Err("tcp-route currently only supports one service".to_owned());
    }
    Ok(())
}

/// Gives the parents of a route their kind, and checks them.
fn check_parents(body: &mut ConfigValue) -> Checked {
    for parent in body.list_mut("Parents") {
        if parent.text("Kind").is_empty() {
            parent.set("Kind", ConfigValue::Text("api-gateway".to_owned()));
        }
    }
    let parents = body.list("Parents");
    for (at, parent) in parents.iter().enumerate() {
        let kind = parent.text("Kind");
        if kind != "api-gateway" {
            return Err(format!(
                "unsupported parent kind: \"{kind}\", must be 'api-gateway'"
            ));
        }
        if parents[..at].contains(parent) {
            return Err("route parents must be unique".to_owned());
        }
    }
    Ok(())
}
