//! Resolvers: which instances of which service, by redirects, subsets and failover.

use std::collections::BTreeSet;

use super::{ChainError, ChainNode, ChainTarget, Compiler, PROXIES};
use crate::config;
use crate::config::value::ConfigValue;

/// The timeout of connections unless a resolver has another.
const CONNECT_TIMEOUT: i64 = 5_000_000_000;

impl<'a> Compiler<'a> {
    /// Adds the resolver of a target. Returns its id.
    pub(super) fn resolve(&mut self, target: ChainTarget) -> Result<String, ChainError> {
        let target = self.led(target)?;
        let target_id = self.add_target(&target)?;
        let id = format!("resolver:{target_id}");
        if !self.chain.nodes.contains_key(&id) {
            let resolver = self.resolver(&target);
            let node = ChainNode::Resolver {
                connect_timeout_ns: self.chain.targets[&target_id].connect_timeout_ns,
                request_timeout_ns: resolver.map_or(0, |it| it.number("RequestTimeout")),
                load_balancer: resolver.and_then(|it| it.get("LoadBalancer")).cloned(),
                is_default: resolver.is_none_or(is_default),
                failover: self.failover(resolver, &target, &target_id)?,
                target: target_id,
            };
            self.chain.nodes.insert(id.clone(), node);
        }
        Ok(id)
    }

    /// Follows redirects and default subsets.
    fn led(&mut self, mut target: ChainTarget) -> Result<ChainTarget, ChainError> {
        let mut path = vec![self.target_id(&target)];
        let mut seen = BTreeSet::from([path[0].clone()]);
        loop {
            if target.peer.is_empty() {
                self.note_protocol(&target.service)?;
            }
            let Some(resolver) = self.resolver(&target) else {
                return Ok(target);
            };
            let redirect = resolver.get("Redirect");
            let next = redirect.map(|redirect| redirected(&target, redirect));
            match next.filter(|next| *next != target) {
                Some(next) => target = next,
                None => {
                    if target.subset.is_empty() {
                        target.subset = resolver.text("DefaultSubset").to_owned();
                    }
                    return Ok(target);
                }
            }
            let id = self.target_id(&target);
            path.push(id.clone());
            if !seen.insert(id) {
                let path = path.join(" -> ");
                return Err(ChainError(format!(
                    "detected circular resolver redirect: [{path}]"
                )));
            }
        }
    }

    /// Returns the resolver of a target's service. What a peer does with its own is not known here.
    fn resolver(&mut self, target: &ChainTarget) -> Option<&'a ConfigValue> {
        const KIND: &str = "service-resolver";
        if !target.peer.is_empty() {
            return None;
        }
        let place = config::place(KIND, &target.service);
        self.chain.looked_up.insert(place);
        self.table.body(KIND, &target.service)
    }

    fn target_id(&self, target: &ChainTarget) -> String {
        let ChainTarget {
            service,
            subset,
            namespace,
            datacenter,
            peer,
            ..
        } = target;
        let dot = if subset.is_empty() { "" } else { "." };
        let partition = if self.is_late { ".default" } else { "" };
        let place = if peer.is_empty() {
            datacenter.clone()
        } else {
            format!("external.{peer}")
        };
        format!("{subset}{dot}{service}.{namespace}{partition}.{place}")
    }

    /// Adds a target, with what the entries say of it. Returns its id.
    fn add_target(&mut self, target: &ChainTarget) -> Result<String, ChainError> {
        let id = self.target_id(target);
        if self.chain.targets.contains_key(&id) {
            return Ok(id);
        }
        let service = &target.service;
        let resolver = self.resolver(target);
        let definition = resolver.and_then(|resolver| resolver.get("Subsets"));
        let definition = definition.and_then(|subsets| subsets.get(&target.subset));
        if !target.subset.is_empty() && definition.is_none() {
            return Err(ChainError(format!(
                "service \"{service}\" does not have a subset named \"{}\"",
                target.subset
            )));
        }
        let defaults = self.table.body("service-defaults", service);
        let defaults = defaults.filter(|_| target.peer.is_empty());
        let external_sni = defaults.map_or("", |defaults| defaults.text("ExternalSNI"));
        if !external_sni.is_empty()
            && let Some(resolver) = resolver
        {
            check_external(service, resolver)?;
        }
        let transparent = defaults.and_then(|defaults| defaults.get("TransparentProxy"));
        let full = ChainTarget {
            dialed_directly: transparent.is_some_and(|it| it.flag("DialedDirectly")),
            mesh_gateway: self.mesh_gateway(target, defaults),
            definition: definition.cloned(),
            external_sni: external_sni.to_owned(),
            connect_timeout_ns: self.connect_timeout(resolver),
            ..target.clone()
        };
        self.chain.targets.insert(id.clone(), full);
        Ok(id)
    }

    /// Returns the mode of mesh gateways, which lead to no external service. In earlier releases they lead to other datacenters only.
    fn mesh_gateway(&mut self, target: &ChainTarget, defaults: Option<&ConfigValue>) -> String {
        let external = defaults.is_some_and(|defaults| !defaults.text("ExternalSNI").is_empty());
        let is_own = target.datacenter == self.request.own_datacenter;
        if external || is_own && !self.is_late {
            return String::new();
        }
        let mode = |body: &ConfigValue| {
            let gateway = body.get("MeshGateway");
            let mode = gateway.map_or("", |gateway| gateway.text("Mode"));
            (!mode.is_empty()).then(|| mode.to_owned())
        };
        let proxies = self.table.body(PROXIES.0, PROXIES.1);
        let mode = defaults.and_then(mode).or_else(|| proxies.and_then(mode));
        let mode = mode.unwrap_or_default();
        let asked = &self.request.overrides.mesh_gateway;
        if asked.is_empty() || *asked == mode {
            return mode;
        }
        self.chain.applied.mesh_gateway.clone_from(asked);
        asked.clone()
    }

    fn connect_timeout(&mut self, resolver: Option<&ConfigValue>) -> i64 {
        let timeout = resolver.map_or(0, |resolver| resolver.number("ConnectTimeout"));
        let timeout = if timeout > 0 {
            timeout
        } else {
            CONNECT_TIMEOUT
        };
        let asked = self.request.overrides.connect_timeout_ns;
        if asked <= 0 || asked == timeout {
            return timeout;
        }
        self.chain.applied.connect_timeout_ns = asked;
        asked
    }

    /// Adds the targets to try after this one. Returns their ids.
    fn failover(
        &mut self,
        resolver: Option<&ConfigValue>,
        target: &ChainTarget,
        target_id: &str,
    ) -> Result<Vec<String>, ChainError> {
        let failover = resolver.and_then(|resolver| resolver.get("Failover"));
        let failover = failover.and_then(|failover| {
            let own = failover.get(&target.subset);
            own.or_else(|| failover.get("*"))
        });
        let mut ids = Vec::new();
        let Some(failover) = failover else {
            return Ok(ids);
        };
        for to in failover_targets(target, failover) {
            let to = self.led(to)?;
            let id = self.target_id(&to);
            if id != target_id && !ids.contains(&id) {
                ids.push(self.add_target(&to)?);
            }
        }
        Ok(ids)
    }
}

/// Returns the targets that a failover names, in their order.
fn failover_targets(target: &ChainTarget, failover: &ConfigValue) -> Vec<ChainTarget> {
    let listed = failover.list("Targets");
    if !listed.is_empty() {
        return listed.iter().map(|to| redirected(target, to)).collect();
    }
    let whole = redirected(target, failover);
    let mut datacenters = failover.texts("Datacenters").peekable();
    if datacenters.peek().is_none() {
        return vec![whole];
    }
    let in_each = datacenters.map(|datacenter| ChainTarget {
        datacenter: datacenter.to_owned(),
        ..whole.clone()
    });
    in_each.collect()
}

/// Returns a target with what a redirect or failover says in place of its own. Another service has no subset unless one
/// is named.
fn redirected(target: &ChainTarget, to: &ConfigValue) -> ChainTarget {
    let or = |name: &str, own: &str| match to.text(name) {
        "" => own.to_owned(),
        text => text.to_owned(),
    };
    let service = or("Service", &target.service);
    let peer = to.text("Peer").to_owned();
    let own_subset = if service == target.service && peer.is_empty() {
        target.subset.as_str()
    } else {
        ""
    };
    let datacenter = if peer.is_empty() {
        or("Datacenter", &target.datacenter)
    } else {
        String::new()
    };
    ChainTarget {
        subset: or("ServiceSubset", own_subset),
        namespace: or("Namespace", &target.namespace),
        datacenter,
        peer,
        service,
        ..ChainTarget::default()
    }
}

/// Whether a resolver says nothing.
fn is_default(resolver: &ConfigValue) -> bool {
    let ConfigValue::Members(members) = resolver else {
        return true;
    };
    let is_empty = |value: &ConfigValue| match value {
        ConfigValue::Members(members) => members.is_empty(),
        _ => false,
    };
    let mut members = members.iter();
    members.all(|(name, value)| name == "Meta" || is_empty(value))
}

/// Refuses resolvers that divide or leave a service outside of the mesh.
fn check_external(service: &str, resolver: &ConfigValue) -> Result<(), ChainError> {
    let flaws = [
        ("Redirect", "redirects"),
        ("Subsets", "subsets"),
        ("Failover", "failover"),
    ];
    for (field, what) in flaws {
        if resolver.get(field).is_some() {
            return Err(ChainError(format!(
                "service \"{service}\" has an external SNI set; cannot define {what} for external services"
            )));
        }
    }
    Ok(())
}
