//! Which names the objects below a configuration key have: Consul refuses all others.
//!
//! Definitions of services and checks are read leniently by [`definitions`](super::definitions); what is misspelt in them is
//! found here. The names were tried on 1.8.7; those that later releases added are known in every version.

use super::tree::Tree;

/// The members of an object, each with what its value has.
struct Shape(&'static [(&'static str, Below)]);

/// What a value has below it.
#[derive(Clone, Copy)]
enum Below {
    /// Anything, or nothing.
    Any,
    /// An object, or a list of one.
    Object(&'static Shape),
    /// A list of objects.
    Objects(&'static Shape),
    /// An object of objects, which may have any names.
    Named(&'static Shape),
}

use Below::{Any, Named, Object, Objects};

/// Five of these names have a second spelling, in one word.
static CHECK: Shape = Shape(&[
    ("alias_node", Any),
    ("alias_service", Any),
    ("args", Any),
    ("body", Any),
    ("deregister_critical_service_after", Any),
    ("deregistercriticalserviceafter", Any),
    ("disable_redirects", Any),
    ("docker_container_id", Any),
    ("dockercontainerid", Any),
    ("failures_before_critical", Any),
    ("failures_before_warning", Any),
    ("grpc", Any),
    ("grpc_use_tls", Any),
    ("h2ping", Any),
    ("h2ping_use_tls", Any),
    ("header", Any),
    ("http", Any),
    ("id", Any),
    ("interval", Any),
    ("method", Any),
    ("name", Any),
    ("notes", Any),
    ("os_service", Any),
    ("output_max_size", Any),
    ("scriptargs", Any),
    ("service_id", Any),
    ("serviceid", Any),
    ("shell", Any),
    ("status", Any),
    ("success_before_passing", Any),
    ("tcp", Any),
    ("tcp_use_tls", Any),
    ("timeout", Any),
    ("tls_server_name", Any),
    ("tls_skip_verify", Any),
    ("tlsskipverify", Any),
    ("token", Any),
    ("ttl", Any),
    ("udp", Any),
]);

static SERVICE: Shape = Shape(&[
    ("address", Any),
    ("check", Object(&CHECK)),
    ("checks", Objects(&CHECK)),
    ("connect", Object(&CONNECT)),
    ("enable_tag_override", Any),
    ("id", Any),
    ("kind", Any),
    ("locality", Any),
    ("meta", Any),
    ("name", Any),
    ("namespace", Any),
    ("partition", Any),
    ("port", Any),
    ("ports", Any),
    ("proxy", Object(&PROXY)),
    ("socket_path", Any),
    ("tagged_addresses", Named(&ADDRESS)),
    ("tags", Any),
    ("token", Any),
    ("weights", Object(&WEIGHTS)),
]);

static WEIGHTS: Shape = Shape(&[("passing", Any), ("warning", Any)]);
static ADDRESS: Shape = Shape(&[("address", Any), ("port", Any)]);
static CONNECT: Shape = Shape(&[("native", Any), ("sidecar_service", Object(&SERVICE))]);
static MESH_GATEWAY: Shape = Shape(&[("mode", Any)]);

static PROXY: Shape = Shape(&[
    ("access_logs", Any),
    ("config", Any),
    ("destination_service_id", Any),
    ("destination_service_name", Any),
    ("envoy_extensions", Any),
    ("expose", Object(&EXPOSE)),
    ("local_service_address", Any),
    ("local_service_port", Any),
    ("local_service_socket_path", Any),
    ("mesh_gateway", Object(&MESH_GATEWAY)),
    ("mode", Any),
    ("transparent_proxy", Any),
    ("upstreams", Objects(&UPSTREAM)),
]);

static EXPOSE: Shape = Shape(&[("checks", Any), ("paths", Objects(&EXPOSED_PATH))]);

static EXPOSED_PATH: Shape = Shape(&[
    ("listener_port", Any),
    ("local_path_port", Any),
    ("path", Any),
    ("protocol", Any),
]);

static UPSTREAM: Shape = Shape(&[
    ("config", Any),
    ("datacenter", Any),
    ("destination_name", Any),
    ("destination_namespace", Any),
    ("destination_partition", Any),
    ("destination_peer", Any),
    ("destination_type", Any),
    ("local_bind_address", Any),
    ("local_bind_port", Any),
    ("local_bind_socket_mode", Any),
    ("local_bind_socket_path", Any),
    ("mesh_gateway", Object(&MESH_GATEWAY)),
]);

/// acl.md 1.3.
static ACL_TOKENS: Shape = Shape(&[
    ("agent", Any),
    ("agent_master", Any),
    ("agent_recovery", Any),
    ("config_file_service_registration", Any),
    ("default", Any),
    ("dns", Any),
    ("initial_management", Any),
    ("master", Any),
    ("replication", Any),
]);

/// Adds the names below the key at `path` that nobody knows, as Consul writes them.
pub(super) fn find_unknown(path: &str, value: &Tree, unknown: &mut Vec<String>) {
    let below = match path {
        "acl.tokens" => Object(&ACL_TOKENS),
        "check" => Object(&CHECK),
        "checks" => Objects(&CHECK),
        "service" => Object(&SERVICE),
        "services" => Objects(&SERVICE),
        _ => return,
    };
    look(path, value, below, unknown);
}

fn look(path: &str, value: &Tree, below: Below, unknown: &mut Vec<String>) {
    match (below, value) {
        (Any, _) => {}
        (Object(shape), value) => look_at_members(path, value.unwrapped(), shape, unknown),
        (Objects(shape), Tree::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                look_at_members(&path, item.unwrapped(), shape, unknown);
            }
        }
        (Objects(shape), value) => look_at_members(path, value, shape, unknown),
        (Named(shape), value) => {
            if let Tree::Object(members) = value.unwrapped() {
                for (name, member) in members {
                    let path = format!("{path}[{name}]");
                    look_at_members(&path, member.unwrapped(), shape, unknown);
                }
            }
        }
    }
}

fn look_at_members(path: &str, value: &Tree, shape: &Shape, unknown: &mut Vec<String>) {
    // What is no object has another type than is expected, which is said elsewhere.
    let Tree::Object(members) = value else { return };
    for (name, member) in members {
        let simple = name.to_lowercase();
        match shape.0.iter().find(|(known, _)| *known == simple) {
            Some((known, below)) => look(&format!("{path}.{known}"), member, *below, unknown),
            None => unknown.push(format!("{path}.{name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::hcl;

    fn unknown_below(path: &str, document: &str) -> Vec<String> {
        let tree = hcl::parse(document).expect("the test gives HCL");
        let mut unknown = Vec::new();
        find_unknown(path, &tree, &mut unknown);
        unknown.sort();
        unknown
    }

    /// Observed on 1.8.7.
    #[test]
    fn names_below_a_service_are_known_or_named() {
        let document = r#"name = "a" Zork = 1 check { zork = 2 ttl = "1s" } checks = [{ zork = 3 }]
            proxy { zork = 4 upstreams = [{ zork = 5 }] config { any = 1 } expose { zork = 6 paths = [{ zork = 7 }] } }
            meta { a = "b" } weights { zork = 8 } tagged_addresses { lan { zork = 9 } } EnableTagOverride = true
            connect { zork = 10 sidecar_service { zork = 11 check { zork = 12 } } }"#;
        let expected = [
            "service.EnableTagOverride",
            "service.Zork",
            "service.check.zork",
            "service.checks[0].zork",
            "service.connect.sidecar_service.check.zork",
            "service.connect.sidecar_service.zork",
            "service.connect.zork",
            "service.proxy.expose.paths[0].zork",
            "service.proxy.expose.zork",
            "service.proxy.upstreams[0].zork",
            "service.proxy.zork",
            "service.tagged_addresses[lan].zork",
            "service.weights.zork",
        ];
        assert_eq!(unknown_below("service", document), expected);
    }

    /// Observed on 1.8.7.
    #[test]
    fn some_names_of_checks_have_a_second_spelling() {
        let document = r#"Name = "a" ServiceID = "s" ScriptArgs = [] DockerContainerID = "" TLSSkipVerify = true
            DeregisterCriticalServiceAfter = "1m" CheckID = "c" AliasNode = "" script_args = []"#;
        let expected = ["check.AliasNode", "check.CheckID", "check.script_args"];
        assert_eq!(unknown_below("check", document), expected);
    }

    #[test]
    fn other_keys_have_any_names_below() {
        assert!(unknown_below("node_meta", "zork = 1").is_empty());
    }
}
