//! Which chains a change of an entry concerns, and whether all of them still can be compiled.

use std::collections::{BTreeSet, VecDeque};

use super::{ChainError, ChainRequest, ConfigTable, ConfigValue, PROXIES, compile};

/// The kinds that make chains.
const KINDS: [&str; 3] = ["service-router", "service-splitter", "service-resolver"];
/// The datacenter in which a changed chain is tried. Only its errors matter, which name it.
const DATACENTER: &str = "dc1";

/// Compiles the chains that the entry at this place concerns: its own first, then those that lead to it. That of all
/// proxies concerns every chain.
pub(crate) fn check(
    table: &ConfigTable,
    (kind, name): &(String, String),
    is_late: bool,
) -> Result<(), ChainError> {
    let mut open = VecDeque::new();
    let concerns_all = kind == PROXIES.0;
    match kind.as_str() {
        _ if concerns_all => {
            let rows = KINDS.iter().flat_map(|kind| table.of_kind(kind));
            open.extend(rows.map(|row| row.entry.name.clone()));
        }
        "service-defaults" => open.push_back(name.clone()),
        kind if KINDS.contains(&kind) => open.push_back(name.clone()),
        _ => return Ok(()),
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop_front() {
        if !seen.insert(name.to_lowercase()) {
            continue;
        }
        let request = ChainRequest {
            service: name.clone(),
            own_datacenter: DATACENTER.to_owned(),
            datacenter: DATACENTER.to_owned(),
            ..ChainRequest::default()
        };
        compile(table, &request, is_late)?;
        let name = name.to_lowercase();
        // The changed entry may be a part of chains that its own does not show; so may entries on the way to it.
        let is_seen_whole = concerns_all || (seen.len() > 1 && leads_all_alike(table, &name));
        if !is_seen_whole {
            let rows = KINDS.iter().flat_map(|kind| table.of_kind(kind));
            let leading = rows.filter(|row| led_to(&row.entry.body).any(|to| is_called(to, &name)));
            open.extend(leading.map(|row| row.entry.name.clone()));
        }
    }
    Ok(())
}

/// Whether every chain that leads to a service goes on from there as the service's own chain does, which was compiled.
fn leads_all_alike(table: &ConfigTable, service: &str) -> bool {
    let chooses = ["service-router", "service-splitter"];
    let resolver = table.body("service-resolver", service);
    let mut failover = resolver
        .into_iter()
        .flat_map(|body| body.members("Failover"));
    chooses
        .iter()
        .all(|kind| table.body(kind, service).is_none())
        && failover.all(|(subset, _)| subset == "*")
}

/// Whether this is a name, which is given in lower case.
fn is_called(text: &str, name: &str) -> bool {
    if text.is_ascii() {
        text.eq_ignore_ascii_case(name)
    } else {
        text.to_lowercase() == name
    }
}

/// Returns the services to which an entry leads, other than its own.
fn led_to(body: &ConfigValue) -> impl Iterator<Item = &str> {
    let routes = body.list("Routes").iter();
    let failover = body.members("Failover").map(|(_, failover)| failover);
    let failover = failover.flat_map(|failover| failover.list("Targets").iter().chain([failover]));
    let places = body.get("Redirect").into_iter().chain(failover);
    let places = places.chain(body.list("Splits"));
    let places = places.chain(routes.filter_map(|route| route.get("Destination")));
    places
        .map(|to| to.text("Service"))
        .filter(|to| !to.is_empty())
}
