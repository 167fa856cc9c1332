//! Which chains a change of an entry concerns, and whether all of them still can be compiled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{ChainError, ChainRequest, ConfigTable, ConfigValue, compile};

/// The kinds that make chains.
const KINDS: [&str; 3] = ["service-router", "service-splitter", "service-resolver"];
/// The datacenter in which a changed chain is tried. Only its errors matter, which name it.
const DATACENTER: &str = "dc1";

/// Compiles all chains that the entry at this place concerns: its own first, then those that lead to it. That of all
/// proxies concerns every chain.
pub(crate) fn check(
    table: &ConfigTable,
    (kind, name): &(String, String),
    partitions: bool,
) -> Result<(), ChainError> {
    let mut open = VecDeque::new();
    match kind.as_str() {
        "proxy-defaults" => {
            let rows = KINDS.iter().flat_map(|kind| table.of_kind(kind));
            open.extend(rows.map(|row| row.entry.name.clone()));
        }
        "service-defaults" => open.push_back(name.clone()),
        kind if KINDS.contains(&kind) => open.push_back(name.clone()),
        _ => return Ok(()),
    }
    let leading = leading(table);
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
        compile(table, &request, partitions)?;
        open.extend(
            leading
                .get(&name.to_lowercase())
                .into_iter()
                .flatten()
                .cloned(),
        );
    }
    Ok(())
}

/// Returns the services whose entries lead to each service, which is in lower case.
fn leading(table: &ConfigTable) -> BTreeMap<String, Vec<String>> {
    let mut leading: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in KINDS.iter().flat_map(|kind| table.of_kind(kind)) {
        for to in led_to(&row.entry.body) {
            let from = leading.entry(to.to_lowercase()).or_default();
            from.push(row.entry.name.clone());
        }
    }
    leading
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
