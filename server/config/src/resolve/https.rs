//! The settings of HTTPS: the top level's, and those of `tls { defaults, https }`.

use std::path::PathBuf;

use super::listen::asks_for_certificates;
use crate::settings::Settings;
use crate::{HttpsConfig, TlsVersion};

/// Applies the settings of TLS.
///
/// # Errors
/// Consul's text about a version of TLS that does not exist.
pub fn take_tls(settings: &Settings, https: &mut HttpsConfig) -> Result<(), String> {
    let path = |own: &Option<String>, default: &Option<String>| {
        let given = own.as_ref().or(default.as_ref());
        given.filter(|path| !path.is_empty()).map(PathBuf::from)
    };
    https.cert_file = path(&settings.tls_https_cert_file, &settings.tls_cert_file);
    https.key_file = path(&settings.tls_https_key_file, &settings.tls_key_file);
    https.ca_file = path(&settings.tls_https_ca_file, &settings.tls_ca_file);
    https.ca_path = path(&settings.tls_https_ca_path, &settings.tls_ca_path);
    let verify = settings
        .tls_https_verify_incoming
        .or(settings.tls_verify_incoming);
    // The earlier setting can only ask for more.
    https.verify_incoming =
        verify.unwrap_or(false) || settings.verify_incoming_https.unwrap_or(false);
    https.dev = asks_for_certificates(settings);
    let version = settings.tls_https_min_version.as_ref();
    let version = version.or(settings.tls_min_version.as_ref());
    if let Some(name) = version.filter(|name| !name.is_empty()) {
        https.min_version = TlsVersion::named(name).ok_or_else(|| {
            format!(
                "TLSMinVersion: value {name} not supported, please specify one of [tls10, tls11, tls12, tls13]"
            )
        })?;
    }
    Ok(())
}

/// Returns a warning if a version of TLS is asked for that is not spoken.
pub fn warning(https: &HttpsConfig) -> Option<String> {
    let is_early = https.min_version < TlsVersion::Tls12 && !https.listeners.is_empty();
    is_early.then(|| {
        format!(
            "tls_min_version is {}: proconsul speaks TLS 1.2 and 1.3 only",
            https.min_version.early_name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::hcl;
    use crate::settings::keys::{Remarks, take_document};
    use proconsul_version::Version;

    fn taken(document: &str) -> HttpsConfig {
        let tree = hcl::parse(document).expect("the test gives HCL");
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        take_document(&tree, Version::default(), &mut settings, &mut remarks)
            .expect("all values fit");
        assert_eq!(remarks, Remarks::default(), "{document}");
        let mut https = HttpsConfig::default();
        take_tls(&settings, &mut https).expect("the version exists");
        https
    }

    #[test]
    fn both_forms_say_the_same() {
        let path = |name: &str| Some(PathBuf::from(name));
        let expected = HttpsConfig {
            cert_file: path("c"),
            key_file: path("k"),
            ca_file: path("a"),
            ca_path: path("p"),
            verify_incoming: true,
            min_version: TlsVersion::Tls13,
            ..HttpsConfig::default()
        };
        let early = r#"cert_file = "c" key_file = "k" ca_file = "a" ca_path = "p" verify_incoming_https = true tls_min_version = "tls13""#;
        let values = r#"cert_file = "c" key_file = "k" ca_file = "a" ca_path = "p" verify_incoming = true tls_min_version = "TLSv1_3""#;
        let defaults = format!("tls {{ defaults {{ {values} }} }}");
        let others =
            r#"cert_file = "x" ca_file = "x" verify_incoming = false tls_min_version = "TLSv1_0""#;
        let own = format!("tls {{ defaults {{ {others} }} https {{ {values} }} }}");
        for document in [early, &defaults, &own] {
            assert_eq!(taken(document), expected, "{document}");
        }
    }

    #[test]
    fn what_https_says_wins_over_the_defaults() {
        let document =
            "tls { defaults { verify_incoming = true } https { verify_incoming = false } }";
        assert!(!taken(document).verify_incoming);
        assert!(taken("verify_incoming = true verify_incoming_https = false").verify_incoming);
    }
}
