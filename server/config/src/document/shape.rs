//! The known names in the objects below a configuration key. Consul refuses all others.
//!
//! The names were tried on 1.8.7. Names of later releases are known in every version. Definitions of services and
//! checks are read leniently by [`definitions`](crate::document::definitions), and sent to an agent as they are by
//! `services register`.

use crate::document::tree::Tree;

/// The members of an object, by the kinds of their values. Each word of a text is a name.
pub struct Shape {
    /// Members with a value, or an object with names of the user.
    pub values: &'static str,
    /// Members with a list of values.
    pub lists: &'static str,
    /// Members that are not sent to the HTTP API.
    pub untold: &'static str,
    /// Members with objects of known names.
    pub objects: &'static [(&'static str, Below)],
}

/// The objects in a value.
#[derive(Clone, Copy)]
pub enum Below {
    /// One object, or a list of one.
    Object(&'static Shape),
    /// A list of objects.
    Objects(&'static Shape),
    /// An object with names of the user, whose values are objects.
    Named(&'static Shape),
}

use Below::{Named, Object, Objects};

/// Returns the shape of an object whose members are all values.
const fn values(values: &'static str) -> Shape {
    Shape {
        values,
        lists: "",
        untold: "",
        objects: &[],
    }
}

/// A check. Five of the names have a second spelling, in one word.
pub static CHECK: Shape = Shape {
    values: "
        alias_node alias_service body deregister_critical_service_after deregistercriticalserviceafter docker_container_id
        dockercontainerid failures_before_critical failures_before_warning grpc grpc_use_tls h2ping h2ping_use_tls header http
        id interval method name notes os_service output_max_size service_id serviceid shell status success_before_passing tcp
        timeout tls_server_name tls_skip_verify tlsskipverify token ttl udp
    ",
    lists: "args scriptargs",
    untold: "disable_redirects tcp_use_tls",
    objects: &[],
};

/// The names in the definition of a service.
pub static SERVICE: Shape = Shape {
    values: "address enable_tag_override id kind meta name port socket_path token",
    lists: "tags",
    untold: "namespace partition",
    objects: &[
        ("check", Object(&CHECK)),
        ("checks", Objects(&CHECK)),
        ("connect", Object(&CONNECT)),
        ("locality", Object(&LOCALITY)),
        ("ports", Objects(&PORT)),
        ("proxy", Object(&PROXY)),
        ("tagged_addresses", Named(&ADDRESS)),
        ("weights", Object(&WEIGHTS)),
    ],
};

static LOCALITY: Shape = values("region zone");
static PORT: Shape = values("default name port");
static TRANSPARENT: Shape = values("dialed_directly outbound_listener_port");
static WEIGHTS: Shape = values("passing warning");
static ADDRESS: Shape = values("address port");
static MESH_GATEWAY: Shape = values("mode");
static EXPOSED_PATH: Shape = values("listener_port local_path_port path protocol");

static CONNECT: Shape = Shape {
    objects: &[("sidecar_service", Object(&SERVICE))],
    ..values("native")
};

static PROXY: Shape = Shape {
    values: "config destination_service_id destination_service_name local_service_address local_service_port mode",
    lists: "",
    untold: "access_logs envoy_extensions local_service_socket_path",
    objects: &[
        ("expose", Object(&EXPOSE)),
        ("mesh_gateway", Object(&MESH_GATEWAY)),
        ("transparent_proxy", Object(&TRANSPARENT)),
        ("upstreams", Objects(&UPSTREAM)),
    ],
};

static EXPOSE: Shape = Shape {
    objects: &[("paths", Objects(&EXPOSED_PATH))],
    ..values("checks")
};

static UPSTREAM: Shape = Shape {
    values: "
        config datacenter destination_name destination_namespace destination_type local_bind_address local_bind_port
    ",
    lists: "",
    untold: "destination_partition destination_peer local_bind_socket_mode local_bind_socket_path",
    objects: &[("mesh_gateway", Object(&MESH_GATEWAY))],
};

/// Adds the unknown names below the key at `path`, as Consul writes them.
pub fn find_unknown(path: &str, value: &Tree, unknown: &mut Vec<String>) {
    let below = match path {
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
    // The error about a value that is not an object is made elsewhere.
    let Tree::Object(members) = value else { return };
    for (name, member) in members {
        let simple = name.to_lowercase();
        if let Some((known, below)) = shape.objects.iter().find(|(known, _)| *known == simple) {
            look(&format!("{path}.{known}"), member, *below, unknown);
        } else if ![shape.values, shape.lists, shape.untold]
            .iter()
            .any(|names| has(names, &simple))
        {
            unknown.push(format!("{path}.{name}"));
        }
    }
}

/// Whether a text contains a word.
fn has(names: &str, wanted: &str) -> bool {
    names.split_whitespace().any(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::hcl;

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
