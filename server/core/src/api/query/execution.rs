//! Finds what a prepared query searches.

use crate::Context;
use crate::pipeline::context::datacenters::Datacenter;
use crate::request::selection::{is_near_agent, move_nearest};
use proconsul_store::{Instance, ServiceInstances, ServiceSearch, ServiceView};

/// Returns the instances that a search finds, in a random order but for those that `near` names. `see` removes those that
/// nobody is to see.
pub(crate) fn found(
    context: &Context,
    search: &ServiceSearch,
    near: &[u8],
    see: &mut impl FnMut(&mut Vec<Instance>),
) -> Vec<Instance> {
    let service = ServiceInstances(ServiceView::Health, search.service.clone());
    let Ok(answer) = context.engine.read(&service);
    let mut instances = answer.rows;
    see(&mut instances);
    instances.retain(|row| !search.connect && fits(row, search));
    context.engine.shuffle(&mut instances);
    if is_near_agent(context, near) {
        move_nearest(context, &mut instances, |row| &row.service.node);
    }
    instances
}

/// Returns the other datacenters that a search falls back on, in their order: the nearest ones, then those that it names. One
/// that nobody knows is left out (cluster.md 5.13).
pub(crate) fn fallbacks(context: &Context, search: &ServiceSearch) -> Vec<Datacenter> {
    let nearest = usize::try_from(search.failover_nearest).unwrap_or_default();
    let all = context.datacenters();
    let named = search.failover_datacenters.iter().flatten();
    let names = all.iter().skip(1).take(nearest).chain(named);
    let mut found: Vec<Datacenter> = Vec::new();
    for there in names.filter_map(|name| context.other_datacenter(name.as_bytes())) {
        if found.iter().all(|earlier| earlier.name() != there.name()) {
            found.push(there.clone());
        }
    }
    found
}

/// Whether a search finds an instance: it is healthy enough, and has the tags and metadata.
fn fits(instance: &Instance, search: &ServiceSearch) -> bool {
    let service = &instance.service.service;
    let has_tag = |tag: &str| {
        service
            .tags()
            .iter()
            .any(|own| own.eq_ignore_ascii_case(tag))
    };
    let mut tags = search.tags.iter().flatten();
    let tags_fit = tags.all(|tag| match tag.strip_prefix('!') {
        Some(unwanted) => !has_tag(unwanted),
        None => has_tag(tag),
    });
    let mut service_meta = search.service_meta.iter().flatten();
    let own = service.meta.as_ref();
    let service_meta_fits =
        service_meta.all(|(name, value)| own.and_then(|own| own.get(name)) == Some(value));
    let node_meta = search.node_meta.clone().unwrap_or_default();
    let ignored = search.ignore_check_ids.iter().flatten();
    let ignored: Vec<&String> = ignored.collect();
    let mut checks = instance.checks.iter();
    let is_healthy = checks.all(|row| {
        ignored.contains(&&row.check.check_id)
            || match row.check.status.as_str() {
                "critical" => false,
                "passing" => true,
                _ => !search.only_passing,
            }
    });
    is_healthy && tags_fit && service_meta_fits && instance.node.has_meta(&node_meta)
}
