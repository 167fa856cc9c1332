//! Checks over TLS, by rustls.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const UNKNOWN_AUTHORITY: &str = "certificate signed by unknown authority";

/// Performs the TLS handshake, in which these protocols are offered. The certificate must be for `name` and trusted by the
/// system, unless `skip_verify` is set.
///
/// # Errors
/// Go's sentence for the failure if it has one, else rustls'; the one of later releases if `late` is set.
pub(super) async fn connect(
    stream: TcpStream,
    name: &str,
    skip_verify: bool,
    protocols: &[&[u8]],
    late: bool,
) -> Result<TlsStream<TcpStream>, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if skip_verify {
        Arc::new(AnyCertificate(Arc::clone(&provider)))
    } else {
        // A system without certificates trusts no authority.
        let system = rustls_platform_verifier::Verifier::new(Arc::clone(&provider));
        let system = system.map_err(|_| unverified(UNKNOWN_AUTHORITY, late))?;
        Arc::new(NameFirst { system })
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let server = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
    let connected = TlsConnector::from(Arc::new(config))
        .connect(server, stream)
        .await;
    connected.map_err(|error| {
        let inside = error.get_ref().and_then(|inside| inside.downcast_ref());
        match inside {
            Some(rustls::Error::InvalidCertificate(why)) => unverified(&flaw(why, late), late),
            Some(rustls::Error::InvalidMessage(_)) => {
                "tls: first record does not look like a TLS handshake".to_owned()
            }
            Some(other) => other.to_string(),
            None => error.to_string(),
        }
    })
}

fn unverified(why: &str, late: bool) -> String {
    let start = if late {
        "tls: failed to verify certificate: "
    } else {
        ""
    };
    format!("{start}x509: {why}")
}

/// Returns Go's words for what is wrong with a certificate.
fn flaw(error: &CertificateError, late: bool) -> String {
    let when = |time: UnixTime| {
        let nanos = i128::from(time.as_secs()) * 1_000_000_000;
        proconsul_gocompat::time::rfc3339(nanos).unwrap_or_default()
    };
    let expired = |time, side: &str, bound| {
        let (time, bound) = (when(time), when(bound));
        format!(
            "certificate has expired or is not yet valid: current time {time} is {side} {bound}"
        )
    };
    match error {
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => not_for_name(expected, presented),
        CertificateError::ExpiredContext { time, not_after } => expired(*time, "after", *not_after),
        CertificateError::NotValidYetContext { time, not_before } => {
            expired(*time, "before", *not_before)
        }
        CertificateError::Other(OtherError(other)) if other.is::<OnlyCommonName>() => {
            let instead = if late {
                "instead"
            } else {
                "or temporarily enable Common Name matching with GODEBUG=x509ignoreCN=0"
            };
            format!("certificate relies on legacy Common Name field, use SANs {instead}")
        }
        _ => UNKNOWN_AUTHORITY.to_owned(),
    }
}

/// Returns Go's words for a certificate that has these names: `DnsName("a.example")`, `IpAddress(127.0.0.1)`.
fn not_for_name(expected: &ServerName<'_>, presented: &[String]) -> String {
    let wanted = expected.to_str();
    let (kind, is_address) = match expected {
        ServerName::IpAddress(_) => ("IpAddress(", true),
        _ => ("DnsName(", false),
    };
    let name = |name: &String| {
        let name = name.strip_prefix(kind)?.trim_end_matches(')');
        Some(name.trim_matches('"').to_owned())
    };
    let names: Vec<String> = presented.iter().filter_map(name).collect();
    match names.join(", ") {
        none if none.is_empty() && is_address => format!(
            "cannot validate certificate for {wanted} because it doesn't contain any IP SANs"
        ),
        none if none.is_empty() => {
            format!("certificate is not valid for any names, but wanted to match {wanted}")
        }
        names => format!("certificate is valid for {names}, not {wanted}"),
    }
}

/// Asks the system, and tells of a wrong name before an unknown authority, as Go does.
#[derive(Debug)]
struct NameFirst {
    system: rustls_platform_verifier::Verifier,
}

/// The certificate names its server in its Common Name alone.
#[derive(Debug)]
struct OnlyCommonName;

impl fmt::Display for OnlyCommonName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the certificate has no names but its Common Name")
    }
}

impl std::error::Error for OnlyCommonName {}

impl ServerCertVerifier for NameFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let system = &self.system;
        let verified =
            system.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYetContext { .. },
            ))
            | Ok(_) => verified,
            Err(error) => {
                if let Err(wrong) = verify_server_name(&end_entity.try_into()?, server_name) {
                    return Err(if has_common_name(end_entity, server_name, &wrong) {
                        CertificateError::Other(OtherError(Arc::new(OnlyCommonName))).into()
                    } else {
                        wrong
                    });
                }
                Err(error)
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// Whether the Common Name of a certificate without other names is this server's.
fn has_common_name(
    certificate: &CertificateDer<'_>,
    server: &ServerName<'_>,
    wrong: &rustls::Error,
) -> bool {
    const COMMON_NAME: &[u8] = &[6, 3, 0x55, 4, 3];
    let has_others = !matches!(
        wrong,
        rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })
            if presented.is_empty()
    );
    let ServerName::DnsName(server) = server else {
        return false;
    };
    let Ok(certificate) = webpki::EndEntityCert::try_from(certificate) else {
        return false;
    };
    // Behind its identifier stand the text's type, its length and the text.
    let subject = certificate.subject();
    let place = subject
        .windows(COMMON_NAME.len())
        .position(|bytes| bytes == COMMON_NAME);
    let name = place.and_then(|place| subject[place + COMMON_NAME.len()..].split_at_checked(2));
    let name = name.and_then(|(head, text)| text.get(..usize::from(head[1])));
    !has_others && name.is_some_and(|name| name.eq_ignore_ascii_case(server.as_ref().as_bytes()))
}

/// Accepts every certificate. The server still has to prove that it has the key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
