//! What DNS answers: `domain`, `alt_domain` and `dns_config`.

use super::{Errors, duration_of, nanoseconds};
use crate::DnsConfig;
use crate::settings::Settings;

/// Applies the settings that say what is answered.
///
/// # Errors
/// Consul's text about a limit below 0. Other problems go to `errors`.
pub fn take_dns(
    settings: &Settings,
    errors: &mut Errors,
    dns: &mut DnsConfig,
) -> Result<(), String> {
    let limit = |key: &str, given: Option<i64>, limit: &mut usize| match given {
        Some(given) => {
            let valid = usize::try_from(given).map_err(|_| {
                format!("dns_config.{key} cannot be {given}. Must be greater than or equal to zero")
            });
            valid.map(|given| *limit = given)
        }
        None => Ok(()),
    };
    limit(
        "udp_answer_limit",
        settings.dns_udp_answer_limit,
        &mut dns.udp_answer_limit,
    )?;
    limit(
        "a_record_limit",
        settings.dns_a_record_limit,
        &mut dns.a_record_limit,
    )?;
    if let Some(time) = duration_of(
        "dns_config.node_ttl",
        settings.dns_node_ttl.as_deref(),
        errors,
    ) {
        dns.node_ttl = nanoseconds(time);
    }
    for (name, text) in &settings.dns_service_ttl {
        let key = format!("dns_config.service_ttl[{name:?}]");
        if let Some(time) = duration_of(&key, Some(text), errors) {
            dns.service_ttl.insert(name.clone(), nanoseconds(time));
        }
    }
    for (given, field) in [
        (settings.dns_soa_refresh, &mut dns.soa.refresh),
        (settings.dns_soa_retry, &mut dns.soa.retry),
        (settings.dns_soa_expire, &mut dns.soa.expire),
        (settings.dns_soa_min_ttl, &mut dns.soa.min_ttl),
    ] {
        if let Some(given) = given {
            *field = u32::try_from(given).unwrap_or(u32::MAX);
        }
    }
    take_domains(settings, dns);
    dns.only_passing = settings.dns_only_passing.unwrap_or(dns.only_passing);
    dns.enable_truncate = settings.dns_enable_truncate.unwrap_or(dns.enable_truncate);
    let compression = settings.dns_disable_compression;
    dns.disable_compression = compression.unwrap_or(dns.disable_compression);
    dns.node_meta_txt = settings.dns_node_meta_txt.unwrap_or(dns.node_meta_txt);
    Ok(())
}

fn take_domains(settings: &Settings, dns: &mut DnsConfig) {
    let given = |domain: &Option<String>| {
        let domain = domain.as_ref()?.trim_end_matches('.').to_lowercase();
        (!domain.is_empty()).then_some(domain)
    };
    if let Some(domain) = given(&settings.domain) {
        dns.domain = domain;
    }
    if let Some(domain) = given(&settings.alt_domain) {
        dns.alt_domain = domain;
    }
}

#[cfg(test)]
mod tests {
    use crate::document::hcl;
    use crate::resolve::resolve;
    use crate::settings::Settings;
    use crate::settings::keys::{Remarks, take_document};
    use crate::{Config, DnsConfig, Soa};
    use proconsul_version::Version;
    use std::time::Duration;

    /// Returns the configuration of `-dev` with this document, or the error.
    fn resolved(document: &str) -> Result<Config, String> {
        let mut settings = Settings {
            dev: Some(true),
            ..Settings::default()
        };
        let tree = hcl::parse(document).expect("the test gives HCL");
        let mut remarks = Remarks::default();
        take_document(&tree, Version::default(), &mut settings, &mut remarks)?;
        resolve(&settings).map(|resolved| resolved.config)
    }

    #[test]
    fn dns_is_where_http_is_at_a_port_that_fits_that_of_http() {
        let rows = [
            ("", "[127.0.0.1:8600]"),
            ("ports { dns = 0 }", "[]"),
            ("ports { dns = -1 }", "[]"),
            ("ports { http = 9500 }", "[]"),
            ("ports { http = 9500 dns = 9600 }", "[127.0.0.1:9600]"),
            (
                "client_addr = \"127.0.0.1 ::1\"",
                "[127.0.0.1:8600, [::1]:8600]",
            ),
            ("addresses { dns = \"127.0.0.2\" }", "[127.0.0.2:8600]"),
        ];
        for (document, expected) in rows {
            let config = resolved(document).expect(document);
            assert_eq!(
                format!("{:?}", config.dns.listeners),
                expected,
                "{document}"
            );
        }
    }

    /// cluster.md 6.37, 6.38, and what 1.8.7 shows of this file.
    #[test]
    fn all_settings_arrive() {
        let document = r#"
            domain = "Corp." alt_domain = "alt" ports { dns = -1 }
            dns_config {
                node_ttl = "5s" service_ttl { "web" = "7s" "*" = "9s" }
                soa { min_ttl = 30 expire = 31 refresh = 32 retry = 33 }
                udp_answer_limit = 5 a_record_limit = 2 enable_truncate = true only_passing = true
                disable_compression = true enable_additional_node_meta_txt = false
            }"#;
        let expected = DnsConfig {
            listeners: Vec::new(),
            domain: "corp".to_owned(),
            alt_domain: "alt".to_owned(),
            node_ttl: Duration::from_secs(5),
            service_ttl: [("*", 9), ("web", 7)]
                .map(|(name, ttl)| (name.to_owned(), Duration::from_secs(ttl)))
                .into(),
            soa: Soa {
                refresh: 32,
                retry: 33,
                expire: 31,
                min_ttl: 30,
            },
            only_passing: true,
            udp_answer_limit: 5,
            a_record_limit: 2,
            enable_truncate: true,
            disable_compression: true,
            node_meta_txt: false,
        };
        assert_eq!(resolved(document).map(|config| config.dns), Ok(expected));
    }

    /// Texts of 1.8.7.
    #[test]
    fn flaws_are_told_in_consuls_words() {
        let rows = [
            (
                "dns_config { udp_answer_limit = -1 }",
                "dns_config.udp_answer_limit cannot be -1. Must be greater than or equal to zero",
            ),
            (
                "dns_config { a_record_limit = -1 }",
                "dns_config.a_record_limit cannot be -1. Must be greater than or equal to zero",
            ),
            (
                "dns_config { node_ttl = \"x\" }",
                "1 error occurred:\n\t* dns_config.node_ttl: invalid duration: \"x\": time: invalid duration \"x\"\n\n",
            ),
            (
                "dns_config { service_ttl { web = \"y\" } }",
                "1 error occurred:\n\t* dns_config.service_ttl[\"web\"]: invalid duration: \"y\": time: invalid duration \"y\"\n\n",
            ),
            (
                "dns_config { zork = 1 }",
                "1 error occurred:\n\t* invalid config key dns_config.zork\n\n",
            ),
            (
                "ports { dns = 99999 }",
                "1 error occurred:\n\t* ports.dns: invalid port: 99999\n\n",
            ),
            (
                "ports { dns = 8500 }",
                "HTTP address 127.0.0.1:8500 already configured for DNS",
            ),
            (
                "addresses { dns = \"unix:///tmp/x\" }",
                "DNS address cannot be a unix socket",
            ),
            (
                "addresses { dns = \"zork\" }",
                "1 error occurred:\n\t* addresses.dns: invalid ip address: zork\n\n",
            ),
        ];
        for (document, expected) in rows {
            assert_eq!(
                resolved(document).expect_err(document),
                expected,
                "{document}"
            );
        }
    }
}
