//! The known names in the objects below a configuration key. Consul refuses all others.
//!
//! The names were tried on 1.8.7. Names of later releases are known in every version. Definitions of services and
//! checks are read leniently by [`definitions`](crate::document::definitions), and sent to an agent as they are by
//! `services register`.

use crate::document::tree::Tree;
use crate::schema::names::{Known, Names};
use crate::schema::read::known_of;
use proconsul_store::NewService;

/// Returns the names in a check. Five of them have a second spelling, in one word.
fn check() -> Vec<Known> {
    let values = "
        alias_node alias_service body deregister_critical_service_after deregistercriticalserviceafter docker_container_id
        dockercontainerid failures_before_critical failures_before_warning grpc grpc_use_tls h2ping h2ping_use_tls header http
        interval method name notes os_service output_max_size service_id serviceid shell status success_before_passing tcp
        timeout tls_server_name tls_skip_verify tlsskipverify token ttl udp
    ";
    let values = values.split_whitespace();
    let values = values.map(|name| Known::new(name, Names::Value));
    let lists = ["args", "scriptargs"].map(|name| Known::new(name, Names::List));
    let unsent = ["disable_redirects", "tcp_use_tls"];
    let unsent = unsent.map(|name| Known::new(name, Names::Value).sent_as(None));
    let id = Known::new("id", Names::Value).sent_as(Some("CheckID".to_owned()));
    values.chain(lists).chain(unsent).chain([id]).collect()
}

/// Returns the names in the definition of a service: those of the service itself, and of what is defined with it.
pub fn service() -> Vec<Known> {
    let unsent = ["namespace", "partition"];
    let unsent = unsent.map(|name| Known::new(name, Names::Value).sent_as(None));
    let own = known_of::<NewService>().into_iter();
    let own = own.filter(|known| known.name != "connect");
    let beside = [
        Known::new("check", Names::Object(Box::new(check))),
        Known::new("checks", Names::Objects(Box::new(check))),
        Known::new("connect", Names::Object(Box::new(connect))),
        Known::new("token", Names::Value),
    ];
    own.chain(beside).chain(unsent).collect()
}

fn connect() -> Vec<Known> {
    vec![
        Known::new("native", Names::Value),
        Known::new("sidecar_service", Names::Object(Box::new(service))),
    ]
}

/// Adds the unknown names below the key at `path`, as Consul writes them.
pub fn find_unknown(path: &str, value: &Tree, unknown: &mut Vec<String>) {
    let names = match path {
        "check" => Names::Object(Box::new(check)),
        "checks" => Names::Objects(Box::new(check)),
        "service" => Names::Object(Box::new(service)),
        "services" => Names::Objects(Box::new(service)),
        _ => return,
    };
    look(path, value, &names, unknown);
}

fn look(path: &str, value: &Tree, names: &Names, unknown: &mut Vec<String>) {
    match (names, value) {
        (Names::Value | Names::List, _) => {}
        (Names::Object(known), value) => {
            look_at_members(path, value.unwrapped(), &known(), unknown);
        }
        (Names::Objects(known), Tree::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                look_at_members(&path, item.unwrapped(), &known(), unknown);
            }
        }
        (Names::Objects(known), value) => look_at_members(path, value, &known(), unknown),
        (Names::Named(known), value) => {
            if let Tree::Object(members) = value.unwrapped() {
                for (name, member) in members {
                    let path = format!("{path}[{name}]");
                    look_at_members(&path, member.unwrapped(), &known(), unknown);
                }
            }
        }
    }
}

fn look_at_members(path: &str, value: &Tree, known: &[Known], unknown: &mut Vec<String>) {
    // The error about a value that is not an object is made elsewhere.
    let Tree::Object(members) = value else { return };
    for (name, member) in members {
        match known.iter().find(|known| known.name == name.to_lowercase()) {
            Some(found) => look(
                &format!("{path}.{}", found.name),
                member,
                &found.value,
                unknown,
            ),
            None => unknown.push(format!("{path}.{name}")),
        }
    }
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
