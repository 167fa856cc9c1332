//! The text that an agent prints before its log.

use proconsul_config::Config;
use proconsul_config::resolve::Resolved;
use proconsul_version::{BUILD_DATE, Behaviour};

/// The line about encryption of early releases.
const NO_ENCRYPTION: &str =
    "Gossip: false, TLS-Outgoing: false, TLS-Incoming: false, Auto-Encrypt-TLS: false";

/// Returns the block from `==> Starting Consul agent...` to the announcement of the log.
pub(super) fn text(resolved: &Resolved) -> String {
    let mut rows = common_rows(resolved);
    let width = if resolved.config.version.has(Behaviour::CliBannerLong) {
        rows.extend(rows_of_encryption(&resolved.config));
        22
    } else {
        rows.push(("Encrypt", NO_ENCRYPTION.to_owned()));
        18
    };
    let mut text = "==> Starting Consul agent...\n".to_owned();
    for (label, value) in rows {
        text += &format!("{label:>width$}: {value}\n");
    }
    text + "\n==> Log data will now stream in as it occurs:\n\n"
}

type Row = (&'static str, String);

fn common_rows(resolved: &Resolved) -> Vec<Row> {
    let config = &resolved.config;
    let segment = if config.server { "<all>" } else { "" };
    let mut rows = vec![("Version", format!("'{}'", config.version))];
    if config.version.has(Behaviour::JsonAgentSelfBuildDate) {
        let date = BUILD_DATE.replace('T', " ").replace('Z', " +0000 UTC");
        rows.push(("Build Date", format!("'{date}'")));
    }
    rows.extend([
        ("Node ID", format!("'{}'", config.node_id)),
        ("Node name", format!("'{}'", config.node_name)),
        (
            "Datacenter",
            format!("'{}' (Segment: '{segment}')", config.datacenter),
        ),
        (
            "Server",
            format!("{} (Bootstrap: {})", config.server, resolved.bootstrap),
        ),
        ("Client Addr", client_addresses(resolved)),
        ("Cluster Addr", cluster_address(resolved)),
    ]);
    rows
}

fn rows_of_encryption(config: &Config) -> Vec<Row> {
    let mut rows = vec![
        ("Gossip Encryption", "false".to_owned()),
        ("Auto-Encrypt-TLS", "false".to_owned()),
        ("ACL Enabled", "false".to_owned()),
    ];
    if config.server {
        rows.push(("Reporting Enabled", "false".to_owned()));
    }
    let min = "Min Version: TLSv1_2";
    let https = format!(
        "Verify Incoming: {}, Verify Outgoing: false, Min Version: {}",
        config.https.verify_incoming,
        config.https.min_version.late_name()
    );
    let rpc =
        format!("Verify Incoming: false, Verify Outgoing: false (Verify Hostname: false), {min}");
    rows.extend([
        ("ACL Default Policy", config.acl.default_policy.clone()),
        ("HTTPS TLS", https),
        ("gRPC TLS", format!("Verify Incoming: false, {min}")),
        ("Internal RPC TLS", rpc),
    ]);
    rows
}

fn client_addresses(resolved: &Resolved) -> String {
    let addresses: Vec<String> = resolved
        .client_addresses
        .iter()
        .map(ToString::to_string)
        .collect();
    let ports = &resolved.ports;
    let grpc_tls = if resolved.config.version.has(Behaviour::PortGrpcTls) {
        ", gRPC-TLS: -1"
    } else {
        ""
    };
    format!(
        "[{}] (HTTP: {}, HTTPS: {}, gRPC: -1{grpc_tls}, DNS: {})",
        addresses.join(" "),
        ports.http,
        ports.https,
        ports.dns,
    )
}

fn cluster_address(resolved: &Resolved) -> String {
    let ports = &resolved.ports;
    format!(
        "{} (LAN: {}, WAN: {})",
        resolved.config.advertise_address, ports.serf_lan, ports.serf_wan
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proconsul_config::resolve::resolve;
    use proconsul_config::settings::Settings;

    fn banner(version: &str) -> String {
        let settings = Settings {
            as_version: Some(version.to_owned()),
            dev: Some(true),
            node_name: Some("vm".to_owned()),
            ..Settings::default()
        };
        let mut resolved = resolve(&settings).expect("these settings are in order");
        resolved.config = resolved.config.with_seed(0);
        text(&resolved)
    }

    #[test]
    fn the_banner_of_1_8_7_was_taken_down_from_it_but_for_ports_where_nothing_listens() {
        let expected = "\
==> Starting Consul agent...
           Version: '1.8.7'
           Node ID: 'NODE-ID'
         Node name: 'vm'
        Datacenter: 'dc1' (Segment: '<all>')
            Server: true (Bootstrap: false)
       Client Addr: [127.0.0.1] (HTTP: 8500, HTTPS: -1, gRPC: -1, DNS: 8600)
      Cluster Addr: 127.0.0.1 (LAN: 8301, WAN: 8302)
           Encrypt: Gossip: false, TLS-Outgoing: false, TLS-Incoming: false, Auto-Encrypt-TLS: false

==> Log data will now stream in as it occurs:

";
        let id = Config::node_id_from_seed(0);
        assert_eq!(banner("1.8.7"), expected.replace("NODE-ID", &id));
    }

    #[test]
    fn the_banner_of_1_22_has_the_lines_of_the_contract() {
        // 1.22.md part C.
        let labels = [
            "Version",
            "Build Date",
            "Node ID",
            "Node name",
            "Datacenter",
            "Server",
            "Client Addr",
            "Cluster Addr",
            "Gossip Encryption",
            "Auto-Encrypt-TLS",
            "ACL Enabled",
            "Reporting Enabled",
            "ACL Default Policy",
            "HTTPS TLS",
            "gRPC TLS",
            "Internal RPC TLS",
        ];
        let banner = banner("1.22.0");
        let lines: Vec<&str> = banner.lines().collect();
        assert_eq!(lines[0], "==> Starting Consul agent...");
        for (line, label) in lines[1..].iter().zip(labels) {
            assert!(
                line.starts_with(&format!("{label:>22}: ")),
                "{line:?} is the line {label}"
            );
        }
        assert_eq!(
            lines[17..],
            ["", "==> Log data will now stream in as it occurs:", ""]
        );
        assert!(
            banner.contains(
                " [127.0.0.1] (HTTP: 8500, HTTPS: -1, gRPC: -1, gRPC-TLS: -1, DNS: 8600)\n"
            )
        );
    }
}
