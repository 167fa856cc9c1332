//! Configuration of a server on demand: settings that replace those of its parent.

use tracing::warn;

use crate::document::sources::{ConfigSource, Language};
use crate::resolve::listen::{self, Ports};
use crate::resolve::{self, Errors};
use crate::settings::Settings;
use crate::settings::keys::{self, Remarks};
use crate::settings::load::unserved_ports;
use crate::{Config, Listener};

/// Returns `config` with the settings of `text`, an object of Consul's keys in JSON or HCL.
///
/// # Errors
/// The text of an agent that refuses to start, or one about a key that a server on demand cannot have.
pub fn amended(config: Config, text: &str) -> Result<Config, String> {
    let source = ConfigSource {
        name: "settings".to_owned(),
        language: Language::Hcl,
        text: text.to_owned(),
    };
    let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
    keys::take_document(
        &source.parse()?,
        config.version,
        &mut settings,
        &mut remarks,
    )
    .map_err(|errors| source.failed(&errors))?;
    check_scope(&settings)?;
    let ignored = &mut remarks.ignored;
    ignored.extend(unserved_ports(&settings));
    ignored.extend(settings.ports_dns.map(|_| "ports.dns".to_owned()));
    ignored.extend(settings.ports_https.map(|_| "ports.https".to_owned()));
    if !ignored.is_empty() {
        let names = ignored.join(", ");
        if config.strict {
            return Err(format!(
                "a strict server: proconsul does not emulate what these keys ask for: {names}"
            ));
        }
        warn!(target: "agent", names, "Settings of a server on demand without effect");
    }
    take(&settings, config)
}

/// Refuses settings that all servers of a process share.
fn check_scope(settings: &Settings) -> Result<(), String> {
    let of_the_process = [
        ("log_json", settings.log_json.is_some()),
        ("log_level", settings.log_level.is_some()),
        ("pid_file", settings.pid_file.is_some()),
        ("leave_on_terminate", settings.leave_on_terminate.is_some()),
        (
            "skip_leave_on_interrupt",
            settings.skip_leave_on_interrupt.is_some(),
        ),
    ];
    match of_the_process.iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(format!(
            "{key} concerns the whole process: set it where the agent is started, and leave it out here"
        )),
        None => Ok(()),
    }
}

/// Applies the settings, and checks them in the order of [`resolve::resolve`].
fn take(settings: &Settings, mut config: Config) -> Result<Config, String> {
    let mut errors = Errors::default();
    config.server = settings.server.unwrap_or(config.server);
    config.bind_address = resolve::bind_address(settings, config.bind_address)?;
    if settings.bind_addr.is_some() || settings.advertise_addr.is_some() {
        config.advertise_address =
            resolve::advertise_address(settings, config.bind_address, &mut errors)?;
    }
    resolve::take_datacenter(settings, &mut config)?;
    if settings.datacenter.is_some() || settings.primary_datacenter.is_some() {
        resolve::take_primary_datacenter(settings, &mut config)?;
    }
    take_listeners(settings, &mut errors, &mut config)?;
    resolve::take_collected(settings, errors, &mut config)?;
    resolve::take_node(settings, &mut config)?;
    resolve::check_node_meta(&config.node_meta)?;
    resolve::take_values(settings, &mut config);
    if let Some(flaw) = resolve::acl::policy_flaw(&config.acl) {
        return Err(flaw);
    }
    resolve::take_definitions(settings, &mut config)?;
    Ok(config)
}

fn take_listeners(
    settings: &Settings,
    errors: &mut Errors,
    config: &mut Config,
) -> Result<(), String> {
    let port = match settings.ports_http {
        None => 0,
        Some(port) => u16::try_from(port)
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| {
                format!(
                    "ports.http: a server on demand listens at a port from 1 to 65535, not {port}"
                )
            })?,
    };
    if settings.client_addr.is_some() || settings.addresses_http.is_some() {
        let ports = Ports {
            dns: None,
            http: Some(port),
            https: None,
        };
        listen::take_listeners(settings, ports, errors, config)?;
        config.control_addresses.clear();
    }
    for listener in &mut config.listeners {
        if let Listener::Tcp(address) = listener {
            address.set_port(port);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_stays_as_it_is() {
        let parent = Config {
            datacenter: "dcx".to_owned(),
            primary_datacenter: "dcx".to_owned(),
            node_meta: [("a".to_owned(), "1".to_owned())].into(),
            block_endpoints: vec!["/v1/a".to_owned()],
            response_headers: vec![("A".to_owned(), "1".to_owned())],
            kv_max_value_size: 7,
            ..Config::dev()
        };
        assert_eq!(amended(parent.clone(), "{}"), Ok(parent.clone()));
        let text = r#"{"node_name": "n2", "limits": {"txn_max_req_len": 9}, "node_meta": {"b": "2"},
            "http_config": {"block_endpoints": ["/v1/b"], "response_headers": {"B": "2"}}}"#;
        let amended = amended(parent.clone(), text).expect("all values fit");
        let expected = Config {
            node_name: "n2".to_owned(),
            txn_max_req_len: 9,
            node_meta: ["a", "b"]
                .map(String::from)
                .into_iter()
                .zip(["1", "2"].map(String::from))
                .collect(),
            block_endpoints: vec!["/v1/a".to_owned(), "/v1/b".to_owned()],
            response_headers: vec![
                ("A".to_owned(), "1".to_owned()),
                ("B".to_owned(), "2".to_owned()),
            ],
            ..parent
        };
        assert_eq!(amended, expected);
    }

    #[test]
    fn the_primary_datacenter_follows_and_addresses_take_the_place_of_the_parents() {
        let text =
            "datacenter = \"DC2\" client_addr = \"127.0.0.2 127.0.0.3\" ports { http = 4000 }";
        let amended = amended(Config::default(), text).expect("all values fit");
        assert_eq!(
            (&amended.datacenter[..], &amended.primary_datacenter[..]),
            ("dc2", "dc2")
        );
        let expected = ["127.0.0.2:4000", "127.0.0.3:4000"]
            .map(|address| Listener::Tcp(address.parse().expect("an address")));
        assert_eq!(amended.listeners, expected);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_sentence() {
        let rows = [
            ("{", "failed to parse settings: "),
            (
                r#"{"node_name": 5}"#,
                "failed to parse settings: 1 error(s) decoding:\n\n* 'node_name' expected type",
            ),
            (
                r#"{"session_ttl_min": "x"}"#,
                "1 error occurred:\n\t* session_ttl_min: invalid duration: \"x\"",
            ),
            (
                r#"{"log_level": "warn"}"#,
                "log_level concerns the whole process: ",
            ),
            (
                r#"{"ports": {"http": -1}}"#,
                "ports.http: a server on demand listens at a port from 1 to 65535, not -1",
            ),
            (r#"{"node_id": "x"}"#, "failed to setup node ID: "),
        ];
        for (text, expected) in rows {
            let refused = amended(Config::default(), text).expect_err(text);
            assert!(refused.starts_with(expected), "{text}: {refused}");
        }
        let ignored = r#"{"encrypt": "k", "ports": {"dns": 8600}}"#;
        assert_eq!(amended(Config::default(), ignored), Ok(Config::default()));
        let strict = Config {
            strict: true,
            ..Config::default()
        };
        assert_eq!(
            amended(strict, ignored),
            Err("a strict server: proconsul does not emulate what these keys ask for: encrypt, ports.dns".to_owned())
        );
    }
}
