//! The services and checks that configuration files define.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definition::{
    AccessLogs, CheckDefinition, EnvoyExtension, ExposedPath, Locality, NewService, Proxy,
    ServiceAddress, ServiceDefinition, ServicePort, Timing, TransparentProxy, Upstream, Weights,
};
use crate::document::tree::Tree;
use crate::settings::slot::whole;
use proconsul_gocompat::duration::{self, DurationQuotes};
use proconsul_gocompat::json::encode::to_text;

/// The members of a definition, by names in lower case without underscores, because Consul accepts both spellings.
struct Members<'a>(BTreeMap<String, &'a Tree>);

/// Makes a definition: first fields that are read from members of the same name, listed behind the method of
/// [`Members`] that reads them, then fields with their values.
macro_rules! read {
    ($type:ident from $members:ident: $($read:ident [$($field:ident)*])* $(, $own:ident: $value:expr)* $(,)?) => {
        $type {
            $($($field: $members.$read(stringify!($field)),)*)*
            $($own: $value,)*
        }
    };
}

fn simple(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

impl<'a> Members<'a> {
    fn of(tree: &'a Tree) -> Self {
        let object = object_of(Some(tree));
        Self(object.map(|(name, tree)| (simple(name), tree)).collect())
    }

    fn get(&self, name: &str) -> Option<&'a Tree> {
        self.0.get(&simple(name)).copied()
    }

    /// Returns the members of a member; empty if it is missing.
    fn below(&self, name: &str) -> Members<'a> {
        self.get(name).map_or(Members(BTreeMap::new()), Members::of)
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(text_of).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.get(name).map(Tree::unwrapped), Some(Tree::Bool(true)))
    }

    fn number(&self, name: &str) -> i64 {
        match self.get(name).map(Tree::unwrapped) {
            Some(Tree::Integer(number)) => *number,
            Some(Tree::Float(number)) => whole(*number),
            _ => 0,
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.items(name).map(text_of).collect()
    }

    fn labels(&self, name: &str) -> Option<BTreeMap<String, String>> {
        self.named(name, text_of)
    }

    /// Reads an object with names of the user; `None` for any other value.
    fn named<V>(&self, name: &str, value: impl Fn(&Tree) -> V) -> Option<BTreeMap<String, V>> {
        let Tree::Object(object) = self.get(name)?.unwrapped() else {
            return None;
        };
        let member = |(name, tree): (&String, &Tree)| (name.clone(), value(tree));
        Some(object.iter().map(member).collect())
    }

    /// Returns the items of a list; any other value is its own only item.
    fn items(&self, name: &str) -> impl Iterator<Item = &'a Tree> {
        self.get(name).map_or(&[][..], Tree::items).iter()
    }

    /// Returns the items of a list that is given.
    fn list<T>(&self, name: &str, item: impl Fn(&Tree) -> T) -> Option<Vec<T>> {
        self.get(name).map(|_| self.items(name).map(item).collect())
    }

    /// Returns an object as JSON.
    fn json(&self, name: &str) -> Option<String> {
        let object = self.get(name)?.unwrapped();
        matches!(object, Tree::Object(_)).then(|| to_text(&object.to_json()))
    }

    /// Returns a duration of a check in nanoseconds.
    fn duration(&self, name: &str) -> Result<i64, String> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(0);
        }
        duration::parse(&text).map_err(|error| {
            let why = error.message(DurationQuotes::Escaped);
            format!("check[].{name}: invalid duration: {text:?}: {why}")
        })
    }
}

fn object_of(tree: Option<&Tree>) -> impl Iterator<Item = (&String, &Tree)> {
    let object = match tree.map(Tree::unwrapped) {
        Some(Tree::Object(object)) => Some(object),
        _ => None,
    };
    object.into_iter().flatten()
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

/// Reads the definition of a service.
///
/// # Errors
/// Consul's text about an invalid duration.
pub fn service(tree: &Tree) -> Result<ServiceDefinition, String> {
    let members = Members::of(tree);
    let connect = members.below("connect");
    let sidecar = connect.get("sidecar_service").map(service).transpose()?;
    let checks = members.items("check").chain(members.items("checks"));
    let weights = members.get("weights").map(Members::of);
    let address = |tree: &Tree| {
        let members = Members::of(tree);
        read!(ServiceAddress from members: text [address] number [port])
    };
    let port = |tree: &Tree| {
        let members = Members::of(tree);
        read!(ServicePort from members: text [name] number [port] flag [default])
    };
    let place = |tree: &Tree| {
        let members = Members::of(tree);
        read!(Locality from members: text [region zone])
    };
    let service = read!(NewService from members:
        text [id name address kind socket_path] number [port] flag [enable_tag_override] labels [meta],
        tags: Some(members.texts("tags")).filter(|tags| !tags.is_empty()),
        ports: members.list("ports", port),
        locality: members.get("locality").map(place),
        tagged_addresses: members.named("tagged_addresses", address),
        weights: weights
            .map(|weights| read!(Weights from weights: number [passing warning]))
            .unwrap_or_default(),
        proxy: Arc::new(members.get("proxy").map(proxy).unwrap_or_default()),
        connect_native: connect.flag("native"),
    );
    Ok(ServiceDefinition {
        service,
        sidecar: sidecar.map(Box::new),
        check: CheckDefinition::default(),
        checks: checks.map(check).collect::<Result<_, _>>()?,
    })
}

/// Reads the settings of a proxy.
fn proxy(tree: &Tree) -> Proxy {
    let members = Members::of(tree);
    let expose = members.below("expose");
    let path = |tree: &Tree| {
        let members = Members::of(tree);
        read!(ExposedPath from members: number [listener_port local_path_port] text [path protocol],
            parsed_from_check: false)
    };
    let transparent = members.below("transparent_proxy");
    read!(Proxy from members:
        json [config] text [mode],
        transparent: read!(TransparentProxy from transparent:
            number [outbound_listener_port] flag [dialed_directly]),
        destination_name: members.text("destination_service_name"),
        destination_id: members.text("destination_service_id"),
        local_address: members.text("local_service_address"),
        local_port: members.number("local_service_port"),
        local_socket_path: members.text("local_service_socket_path"),
        access_logs: access_logs(&members.below("access_logs")),
        envoy_extensions: members.items("envoy_extensions").map(extension).collect(),
        upstreams: members.list("upstreams", upstream),
        mesh_gateway_mode: members.below("mesh_gateway").text("mode"),
        expose_checks: expose.flag("checks"),
        exposed_paths: expose.list("paths", path),
    )
}

fn access_logs(members: &Members<'_>) -> AccessLogs {
    read!(AccessLogs from members: flag [enabled disable_listener_logs] text [path json_format text_format],
        kind: members.text("type"))
}

fn extension(tree: &Tree) -> EnvoyExtension {
    let members = Members::of(tree);
    read!(EnvoyExtension from members:
        text [name consul_version envoy_version] flag [required] json [arguments])
}

fn upstream(tree: &Tree) -> Upstream {
    let members = Members::of(tree);
    read!(Upstream from members:
        text [
            destination_type destination_namespace destination_partition destination_peer destination_name datacenter
            local_bind_address local_bind_socket_path local_bind_socket_mode
        ]
        number [local_bind_port] json [config],
        centrally_configured: false,
        mesh_gateway_mode: members.below("mesh_gateway").text("mode"),
    )
}

/// Reads the definition of a check, by itself or of a service.
///
/// # Errors
/// Consul's text about an invalid duration.
pub fn check(tree: &Tree) -> Result<CheckDefinition, String> {
    let members = Members::of(tree);
    let id = Some(members.text("id")).filter(|id| !id.is_empty());
    let args = Some(members.texts("args")).filter(|args| !args.is_empty());
    let timing = Timing {
        interval_ns: members.duration("interval")?,
        timeout_ns: members.duration("timeout")?,
        ttl_ns: members.duration("ttl")?,
        deregister_after_ns: members.duration("deregister_critical_service_after")?,
    };
    let values = |tree: &Tree| tree.items().iter().map(text_of).collect();
    Ok(read!(CheckDefinition from members:
        text [
            name notes status service_id docker_container_id grpc alias_node alias_service http method body tcp h2ping udp
            os_service tls_server_name
        ]
        number [success_before_passing failures_before_critical failures_before_warning output_max_size] flag [tls_skip_verify grpc_use_tls tcp_use_tls],
        h2ping_use_tls: members.get("h2ping_use_tls").map(|_| members.flag("h2ping_use_tls")),
        id: id.unwrap_or_else(|| members.text("check_id")),
        script_args: args.unwrap_or_else(|| members.texts("script_args")),
        header: members.named("header", values).unwrap_or_default(),
        timing: timing,
    ))
}
