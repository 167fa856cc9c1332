//! Checks over TLS, by rustls.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const UNKNOWN_AUTHORITY: &str = "x509: certificate signed by unknown authority";

/// Performs the TLS handshake, in which these protocols are offered. The certificate must be for `name` and trusted by the
/// system, unless `skip_verify` is set.
///
/// # Errors
/// Go's sentence for the failure if it has one, else rustls'.
pub(super) async fn connect(
    stream: TcpStream,
    name: &str,
    skip_verify: bool,
    protocols: &[&[u8]],
) -> Result<TlsStream<TcpStream>, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if skip_verify {
        Arc::new(AnyCertificate(Arc::clone(&provider)))
    } else {
        // A system without certificates trusts no authority.
        let system = rustls_platform_verifier::Verifier::new(Arc::clone(&provider));
        Arc::new(system.map_err(|_| UNKNOWN_AUTHORITY)?)
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
        inside.map_or_else(|| error.to_string(), |inside| words(inside, name))
    })
}

fn words(error: &rustls::Error, name: &str) -> String {
    match error {
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("x509: certificate is not valid for {name}"),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => "x509: certificate has expired or is not yet valid".to_owned(),
        rustls::Error::InvalidCertificate(_) => UNKNOWN_AUTHORITY.to_owned(),
        rustls::Error::InvalidMessage(_) => {
            "tls: first record does not look like a TLS handshake".to_owned()
        }
        other => other.to_string(),
    }
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
