//! Resolvers: subsets that exist, redirects and failovers that lead somewhere.

use super::Checked;
use crate::go::duration;
use crate::store::ConfigValue;

pub(super) fn check(name: &str, body: &ConfigValue, is_late: bool) -> Checked {
    let has_subset = |subset: &str| {
        let subsets = body.get("Subsets");
        subsets.is_some_and(|subsets| subsets.get(subset).is_some())
    };
    for (subset, _) in body.members("Subsets") {
        check_subset(subset)?;
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
        check_failover(name, subset, failover, has_subset)?;
    }
    let timeout = body.number("ConnectTimeout");
    if timeout < 0 {
        let timeout = duration::format(timeout);
        return Err(format!("Bad ConnectTimeout '{timeout}', must be >= 0"));
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
) -> Checked {
    if of != "*" && !has_subset(of) {
        return Err(format!("Bad Failover[\"{of}\"]: not a valid subset"));
    }
    if !failover.text("SamenessGroup").is_empty() {
        return Err(format!(
            "Bad Failover[\"{of}\"]: Setting SamenessGroup requires Consul Enterprise"
        ));
    }
    let mode = failover
        .get("Policy")
        .map_or("", |policy| policy.text("Mode"));
    if !matches!(mode, "" | "sequential" | "order-by-locality") {
        return Err(
            "Failover-policy mode must be one of '', 'sequential', or 'order-by-locality'"
                .to_owned(),
        );
    }
    let (service, subset) = (failover.text("Service"), failover.text("ServiceSubset"));
    let datacenters: Vec<_> = failover.texts("Datacenters").collect();
    let texts = [service, subset, failover.text("Namespace")];
    let is_empty = datacenters.is_empty() && failover.list("Targets").is_empty();
    if is_empty && texts.iter().all(|text| text.is_empty()) {
        return Err(format!(
            "Bad Failover[\"{of}\"] one of Service, ServiceSubset, Namespace, or Datacenters is required"
        ));
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
