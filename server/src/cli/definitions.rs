//! The services and checks that configuration files define.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::tree::Tree;
use crate::definition::{
    CheckDefinition, ExposedPath, Proxy, ServiceAddress, ServiceDefinition, Timing, Upstream,
    Weights,
};
use crate::go::duration::{self, DurationQuotes};
use crate::go::json::encode::{ControlEscapes, Style, to_vec};

/// The members of a definition, by their names in lower case without underscores: Consul takes both spellings.
struct Members<'a> {
    /// Where the definition stands, for what is wrong in it.
    path: &'a str,
    members: BTreeMap<String, &'a Tree>,
}

impl<'a> Members<'a> {
    fn of(path: &'a str, tree: &'a Tree) -> Self {
        let mut members = BTreeMap::new();
        if let Tree::Object(object) = tree.unwrapped() {
            let simple = |name: &str| name.to_lowercase().replace('_', "");
            let named = object.iter().map(|(name, tree)| (simple(name), tree));
            members.extend(named);
        }
        Self { path, members }
    }

    fn get(&self, name: &str) -> Option<&'a Tree> {
        self.members.get(name).copied()
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(text_of).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.get(name).map(Tree::unwrapped), Some(Tree::Bool(true)))
    }

    fn number(&self, name: &str) -> i64 {
        self.get(name).map(number_of).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.items(name).map(text_of).collect()
    }

    fn labels(&self, name: &str) -> Option<BTreeMap<String, String>> {
        let Tree::Object(object) = self.get(name)?.unwrapped() else {
            return None;
        };
        let label = |(name, tree): (&String, &Tree)| (name.clone(), text_of(tree));
        Some(object.iter().map(label).collect())
    }

    /// The items of a list; of what is none, itself.
    fn items(&self, name: &str) -> impl Iterator<Item = &'a Tree> {
        let items = match self.get(name) {
            Some(Tree::List(items)) => items.as_slice(),
            Some(Tree::Null) | None => &[],
            Some(other) => std::slice::from_ref(other),
        };
        items.iter()
    }

    /// A duration in nanoseconds.
    fn duration(&self, name: &str, key: &str) -> Result<i64, String> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(0);
        }
        duration::parse(&text).map_err(|error| {
            let why = error.message(DurationQuotes::Escaped);
            format!("{}[].{key}: invalid duration: {text:?}: {why}", self.path)
        })
    }
}

fn text_of(tree: &Tree) -> String {
    match tree.unwrapped() {
        Tree::Text(text) => text.clone(),
        Tree::Integer(number) => number.to_string(),
        Tree::Float(number) => number.to_string(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Null | Tree::List(_) | Tree::Object(_) => String::new(),
    }
}

fn number_of(tree: &Tree) -> i64 {
    match tree.unwrapped() {
        Tree::Integer(number) => *number,
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the fraction is dropped, and `as` saturates"
        )]
        Tree::Float(number) => *number as i64,
        Tree::Null | Tree::Bool(_) | Tree::Text(_) | Tree::List(_) | Tree::Object(_) => 0,
    }
}

/// A service.
///
/// # Errors
/// Consul's sentence about a duration that is none.
pub(super) fn service(tree: &Tree) -> Result<ServiceDefinition, String> {
    let members = Members::of("service", tree);
    let weights = members.get("weights").map(|tree| {
        let weights = Members::of("weights", tree);
        Weights {
            passing: weights.number("passing"),
            warning: weights.number("warning"),
        }
    });
    let proxy = members.get("proxy").map(proxy);
    let connect = members.get("connect");
    let connect = connect.map(|tree| Members::of("connect", tree));
    let sidecar = connect
        .as_ref()
        .and_then(|connect| connect.get("sidecarservice"));
    let sidecar = sidecar.map(service);
    let checks = members.items("check").chain(members.items("checks"));
    let checks: Result<Vec<CheckDefinition>, String> = checks.map(check).collect();
    Ok(ServiceDefinition {
        id: members.text("id"),
        name: members.text("name"),
        tags: Some(members.texts("tags")).filter(|tags| !tags.is_empty()),
        address: members.text("address"),
        tagged_addresses: tagged_addresses(&members),
        meta: members.labels("meta"),
        port: members.number("port"),
        weights,
        enable_tag_override: members.flag("enabletagoverride"),
        kind: members.text("kind"),
        proxy: Arc::new(proxy.unwrap_or_default()),
        connect_native: connect
            .as_ref()
            .is_some_and(|connect| connect.flag("native")),
        sidecar: sidecar.transpose()?.map(Box::new),
        check: CheckDefinition::default(),
        checks: checks?,
    })
}

/// The settings of a proxy.
fn proxy(tree: &Tree) -> Proxy {
    let members = Members::of("proxy", tree);
    let expose = members.get("expose");
    let expose = expose.map(|tree| Members::of("expose", tree));
    let path = |tree: &Tree| {
        let members = Members::of("paths", tree);
        ExposedPath {
            listener_port: members.number("listenerport"),
            path: members.text("path"),
            local_path_port: members.number("localpathport"),
            protocol: members.text("protocol"),
        }
    };
    let paths = expose
        .as_ref()
        .map(|expose| expose.items("paths").map(path));
    Proxy {
        destination_name: members.text("destinationservicename"),
        destination_id: members.text("destinationserviceid"),
        local_address: members.text("localserviceaddress"),
        local_port: members.number("localserviceport"),
        config: members.get("config").and_then(json),
        upstreams: members.items("upstreams").map(upstream).collect(),
        mesh_gateway_mode: mesh_gateway_mode(&members),
        expose_checks: expose.as_ref().is_some_and(|expose| expose.flag("checks")),
        exposed_paths: paths.into_iter().flatten().collect(),
    }
}

fn upstream(tree: &Tree) -> Upstream {
    let members = Members::of("upstreams", tree);
    let mut kind = members.text("destinationtype");
    if kind.is_empty() {
        kind = "service".to_owned();
    }
    Upstream {
        destination_type: kind,
        destination_namespace: members.text("destinationnamespace"),
        destination_name: members.text("destinationname"),
        datacenter: members.text("datacenter"),
        local_bind_address: members.text("localbindaddress"),
        local_bind_port: members.number("localbindport"),
        config: members.get("config").and_then(json),
        mesh_gateway_mode: mesh_gateway_mode(&members),
    }
}

fn mesh_gateway_mode(members: &Members<'_>) -> String {
    let gateway = members.get("meshgateway");
    gateway.map_or_else(String::new, |tree| {
        Members::of("mesh_gateway", tree).text("mode")
    })
}

/// An object as JSON.
fn json(tree: &Tree) -> Option<String> {
    match value(tree.unwrapped()) {
        object @ Value::Object(_) => {
            let style = Style {
                pretty: false,
                newline: false,
                control_escapes: ControlEscapes::Long,
            };
            Some(String::from_utf8(to_vec(&object, style)).expect("JSON is text"))
        }
        _ => None,
    }
}

fn value(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(flag) => (*flag).into(),
        Tree::Integer(number) => (*number).into(),
        Tree::Float(number) => (*number).into(),
        Tree::Text(text) => text.as_str().into(),
        Tree::List(items) => items.iter().map(value).collect(),
        Tree::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, tree)| (name.clone(), value(tree)));
            Value::Object(members.collect())
        }
    }
}

fn tagged_addresses(members: &Members<'_>) -> BTreeMap<String, ServiceAddress> {
    let Some(Tree::Object(object)) = members.get("taggedaddresses").map(Tree::unwrapped) else {
        return BTreeMap::new();
    };
    let address = |(tag, tree): (&String, &Tree)| {
        let members = Members::of("tagged_addresses", tree);
        let address = ServiceAddress {
            address: members.text("address"),
            port: members.number("port"),
        };
        (tag.clone(), address)
    };
    object.iter().map(address).collect()
}

/// A check, by itself or of a service.
///
/// # Errors
/// Consul's sentence about a duration that is none.
pub(super) fn check(tree: &Tree) -> Result<CheckDefinition, String> {
    let members = Members::of("check", tree);
    let mut id = members.text("id");
    if id.is_empty() {
        id = members.text("checkid");
    }
    let mut script_args = members.texts("args");
    if script_args.is_empty() {
        script_args = members.texts("scriptargs");
    }
    Ok(CheckDefinition {
        id,
        name: members.text("name"),
        notes: members.text("notes"),
        status: members.text("status"),
        service_id: members.text("serviceid"),
        script_args,
        docker_container_id: members.text("dockercontainerid"),
        grpc: members.text("grpc"),
        alias_node: members.text("aliasnode"),
        alias_service: members.text("aliasservice"),
        http: members.text("http"),
        method: members.text("method"),
        header: header(&members),
        body: members.text("body"),
        tcp: members.text("tcp"),
        h2ping: members.text("h2ping"),
        udp: members.text("udp"),
        os_service: members.text("osservice"),
        timing: Timing {
            interval_ns: members.duration("interval", "interval")?,
            timeout_ns: members.duration("timeout", "timeout")?,
            ttl_ns: members.duration("ttl", "ttl")?,
            deregister_after_ns: members.duration(
                "deregistercriticalserviceafter",
                "deregister_critical_service_after",
            )?,
        },
        success_before_passing: members.number("successbeforepassing"),
        failures_before_critical: members.number("failuresbeforecritical"),
        output_max_size: members.number("outputmaxsize"),
    })
}

fn header(members: &Members<'_>) -> BTreeMap<String, Vec<String>> {
    let Some(Tree::Object(object)) = members.get("header").map(Tree::unwrapped) else {
        return BTreeMap::new();
    };
    let values = |tree: &Tree| match tree {
        Tree::List(items) => items.iter().map(text_of).collect(),
        other => vec![text_of(other)],
    };
    let header = object.iter();
    header
        .map(|(name, tree)| (name.clone(), values(tree)))
        .collect()
}
