//! Resolvers: subsets that exist, redirects and failovers that lead somewhere.

use super::{Checked, proxy};
use proconsul_filter::Expression;
use proconsul_gocompat::duration;
use proconsul_store::ConfigValue;

pub(super) fn check(name: &str, body: &ConfigValue, is_late: bool) -> Checked {
    let has_subset = |subset: &str| {
        let subsets = body.get("Subsets");
        subsets.is_some_and(|subsets| subsets.get(subset).is_some())
    };
    for (subset, definition) in body.members("Subsets") {
        check_subset(subset)?;
        let filter = definition.text("Filter");
        if let Some(flaw) = Expression::parse(filter.as_bytes())
            .err()
            .filter(|_| is_late && !filter.is_empty())
        {
            return Err(format!(
                "Filter for subset \"{subset}\" is not a valid expression: {flaw}"
            ));
        }
    }
    let default = body.text("DefaultSubset");
    if !default.is_empty() && !has_subset(default) {
        return Err(format!("DefaultSubset \"{default}\" is not a valid subset"));
    }
    if is_late && body.get("PrioritizeByLocality").is_some() {
        return Err("Prioritize-by-locality requires Consul Enterprise ".to_owned());
    }
    if let Some(redirect) = body.get("Redirect") {
        if body.members("Failover").next().is_some() {
            return Err("Redirect and Failover cannot both be set".to_owned());
        }
        check_redirect(name, redirect, has_subset)?;
    }
    for (subset, failover) in body.members("Failover") {
        check_failover(name, subset, failover, has_subset, is_late)?;
    }
    for field in ["ConnectTimeout", "RequestTimeout"] {
        let timeout = body.number(field);
        if timeout < 0 {
            let timeout = duration::format(timeout);
            return Err(format!("Bad {field} '{timeout}', must be >= 0"));
        }
    }
    match body.get("LoadBalancer") {
        Some(balancer) if is_late => check_balancer(balancer),
        _ => Ok(()),
    }
}

/// The policies that choose by a hash.
const OF_HASHES: [&str; 2] = ["ring_hash", "maglev"];

fn check_balancer(balancer: &ConfigValue) -> Checked {
    let policy = balancer.text("Policy");
    let known = ["", "random", "round_robin", "least_request"];
    if !known.contains(&policy) && !OF_HASHES.contains(&policy) {
        return Err(format!(
            "Bad LoadBalancer policy: \"{policy}\" is not supported"
        ));
    }
    for (field, own) in [
        ("RingHashConfig", "ring_hash"),
        ("LeastRequestConfig", "least_request"),
    ] {
        if !policy.is_empty() && policy != own && balancer.get(field).is_some() {
            return Err(format!(
                "Bad LoadBalancer configuration. {field} specified for incompatible load balancing policy \"{policy}\""
            ));
        }
    }
    let hashes = balancer.list("HashPolicies");
    if !hashes.is_empty() && !policy.is_empty() && !OF_HASHES.contains(&policy) {
        return Err(format!(
            "Bad LoadBalancer configuration: HashPolicies specified for non-hash-based Policy: \"{policy}\""
        ));
    }
    for (at, hash) in hashes.iter().enumerate() {
        let wrong = |what: &str| Err(format!("Bad LoadBalancer HashPolicy[{at}]: {what}"));
        let field = hash.text("Field");
        if hash.flag("SourceIP") && !field.is_empty() {
            return wrong(&format!(
                "A single hash policy cannot hash both a source address and a \"{field}\""
            ));
        }
        let cookie = hash.get("CookieConfig");
        if cookie.is_some_and(|cookie| cookie.flag("Session") && cookie.number("TTL") != 0) {
            return wrong("a session cookie cannot have an associated TTL");
        }
    }
    Ok(())
}

fn check_subset(name: &str) -> Checked {
    if name.is_empty() {
        return Err("Subset defined with empty name".to_owned());
    }
    if name.len() > 63 {
        return Err(format!(
            "Subset \"{name}\" is invalid: must be non-empty and 63 characters or fewer"
        ));
    }
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-') {
        return Ok(());
    }
    Err(format!(
        "Subset \"{name}\" is invalid: must be 63 characters or fewer, begin or end with lower case alphanumeric characters, and contain lower case alphanumeric characters or '-' in between"
    ))
}

fn check_redirect(
    name: &str,
    redirect: &ConfigValue,
    has_subset: impl Fn(&str) -> bool,
) -> Checked {
    let fields = [
        "Service",
        "ServiceSubset",
        "Namespace",
        "Partition",
        "Datacenter",
        "Peer",
        "SamenessGroup",
    ];
    if fields.iter().all(|field| redirect.text(field).is_empty()) {
        return Err("Redirect is empty".to_owned());
    }
    let (service, subset) = (redirect.text("Service"), redirect.text("ServiceSubset"));
    if service.is_empty() {
        let needing = ["ServiceSubset", "Namespace"];
        let lone = needing
            .iter()
            .find(|field| !redirect.text(field).is_empty());
        if let Some(field) = lone {
            return Err(format!("Redirect.{field} defined without Redirect.Service"));
        }
    }
    if !redirect.text("Peer").is_empty() && !subset.is_empty() {
        return Err("Redirect.Peer cannot be set with Redirect.ServiceSubset".to_owned());
    }
    if service == name && !subset.is_empty() && !has_subset(subset) {
        return Err(format!(
            "Redirect.ServiceSubset \"{subset}\" is not a valid subset of \"{service}\""
        ));
    }
    Ok(())
}

fn check_failover(
    name: &str,
    of: &str,
    failover: &ConfigValue,
    has_subset: impl Fn(&str) -> bool,
    is_late: bool,
) -> Checked {
    if of != "*" && !has_subset(of) {
        let word = if is_late { " subset" } else { "" };
        return Err(format!("Bad Failover[\"{of}\"]: not a valid subset{word}"));
    }
    if !failover.text("SamenessGroup").is_empty() {
        return Err(format!(
            "Bad Failover[\"{of}\"]: Setting SamenessGroup requires Consul Enterprise"
        ));
    }
    if let Some(policy) = failover.get("Policy") {
        proxy::check_failover(policy)?;
        if !policy.text("Mode").is_empty() {
            return Err(format!(
                "Bad Failover[\"{of}\"]: Setting failover policies requires Consul Enterprise"
            ));
        }
    }
    let (service, subset) = (failover.text("Service"), failover.text("ServiceSubset"));
    let datacenters: Vec<_> = failover.texts("Datacenters").collect();
    let texts = [service, subset, failover.text("Namespace")];
    let is_empty = datacenters.is_empty() && failover.list("Targets").is_empty();
    if is_empty && texts.iter().all(|text| text.is_empty()) {
        let fields = if is_late {
            ": one of Service, ServiceSubset, Namespace, Targets, SamenessGroup,"
        } else {
            " one of Service, ServiceSubset, Namespace,"
        };
        return Err(format!(
            "Bad Failover[\"{of}\"]{fields} or Datacenters is required"
        ));
    }
    if !failover.list("Targets").is_empty() {
        let fields = ["Service", "ServiceSubset", "Namespace", "Datacenters"];
        if let Some(field) = fields.iter().find(|field| failover.get(field).is_some()) {
            return Err(format!(
                "Bad Failover[\"{of}\"]: Targets cannot be set with {field}"
            ));
        }
    }
    let is_own = service.is_empty() || service == name;
    if is_own && !subset.is_empty() && !has_subset(subset) {
        return Err(format!(
            "Bad Failover[\"{of}\"].ServiceSubset \"{subset}\" is not a valid subset of \"{service}\""
        ));
    }
    if datacenters.contains(&"") {
        return Err(format!(
            "Bad Failover[\"{of}\"].Datacenters: found empty datacenter"
        ));
    }
    Ok(())
}
