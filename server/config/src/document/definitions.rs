//! The services and checks that configuration files define.

use crate::definition::{CheckDefinition, NewService, ServiceDefinition, Timing};
use crate::document::tree::Tree;
use crate::schema::read::{Members, structure, text};
use proconsul_gocompat::duration::{self, DurationQuotes};

/// Reads the definition of a service.
///
/// # Errors
/// Consul's text about an invalid duration.
pub fn service(tree: &Tree) -> Result<ServiceDefinition, String> {
    let members = Members::of(tree);
    let connect = members.get("connect").map(Members::of);
    let sidecar = connect.and_then(|connect| connect.get("sidecar_service"));
    let checks = items(&members, "check").chain(items(&members, "checks"));
    let mut given: NewService = structure(tree);
    given.tags = given.tags.filter(|tags| !tags.is_empty());
    Ok(ServiceDefinition {
        service: given,
        sidecar: sidecar.map(service).transpose()?.map(Box::new),
        check: CheckDefinition::default(),
        checks: checks.map(check).collect::<Result<_, _>>()?,
    })
}

/// Returns the items of a list; any other value is its own only item.
fn items<'a>(members: &Members<'a>, name: &str) -> impl Iterator<Item = &'a Tree> {
    members.get(name).map_or(&[][..], Tree::items).iter()
}

/// Reads the definition of a check, by itself or of a service.
///
/// # Errors
/// Consul's text about an invalid duration.
pub fn check(tree: &Tree) -> Result<CheckDefinition, String> {
    let members = Members::of(tree);
    let args: Vec<String> = items(&members, "args").map(text).collect();
    let mut check: CheckDefinition = structure(tree);
    if !args.is_empty() {
        check.script_args = args;
    }
    let named = |name: &str| members.get(name).map(text).unwrap_or_default();
    let id = Some(named("id")).filter(|id| !id.is_empty());
    check.id = id.unwrap_or_else(|| named("check_id"));
    check.timing = Timing {
        interval_ns: duration("interval", &named("interval"))?,
        timeout_ns: duration("timeout", &named("timeout"))?,
        ttl_ns: duration("ttl", &named("ttl"))?,
        deregister_after_ns: duration(
            "deregister_critical_service_after",
            &named("deregister_critical_service_after"),
        )?,
    };
    Ok(check)
}

/// Returns a duration of a check in nanoseconds.
fn duration(name: &str, text: &str) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    duration::parse(text).map_err(|error| {
        let why = error.message(DurationQuotes::Escaped);
        format!("check[].{name}: invalid duration: {text:?}: {why}")
    })
}
