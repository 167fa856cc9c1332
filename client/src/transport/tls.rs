//! Who is trusted, and what is shown, when the agent is spoken to by HTTPS.

use std::path::PathBuf;

use crate::error::Error;
use crate::transport::address::Address;

/// Settings of TLS. They count for `https://` addresses only.
#[derive(Debug)]
pub(crate) struct Tls {
    /// Certificates of the authorities to trust, in place of the system's.
    pub(crate) ca_file: Option<PathBuf>,
    /// What the client shows; with `key`, or not at all.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    /// Whether the agent must show a certificate that is trusted.
    pub(crate) verify: bool,
    /// What the agent's certificate must be for, in place of the address' host.
    pub(crate) server_name: Option<String>,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            ca_file: None,
            certificate: None,
            key: None,
            verify: true,
            server_name: None,
        }
    }
}

#[cfg(not(feature = "tls"))]
impl Tls {
    pub(crate) fn apply(
        &self,
        builder: reqwest::ClientBuilder,
        address: &Address,
    ) -> Result<reqwest::ClientBuilder, Error> {
        if address.url.scheme() == "http" {
            return Ok(builder);
        }
        Err(Error::Settings(
            "https:// needs the feature `tls` of proconsul-client".to_owned(),
        ))
    }
}

/// The error of a failed connection, where it is one of TLS.
#[cfg(not(feature = "tls"))]
pub(crate) fn failure(_address: &str, _error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    None
}

#[cfg(feature = "tls")]
pub(crate) use with_rustls::failure;

#[cfg(feature = "tls")]
mod with_rustls {
    use std::path::Path;
    use std::sync::Arc;

    use reqwest::dns::{Addrs, Name, Resolve, Resolving};
    use reqwest::header::{HOST, HeaderMap, HeaderValue};
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
    use rustls::{
        AlertDescription, CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct,
        RootCertStore, SignatureScheme, WantsVerifier,
    };

    use super::{Address, Error, Tls};

    impl Tls {
        pub(crate) fn apply(
            &self,
            builder: reqwest::ClientBuilder,
            address: &Address,
        ) -> Result<reqwest::ClientBuilder, Error> {
            if address.url.scheme() == "http" {
                // Asked for although it is never used: without it the HTTP library looks for a provider of its own.
                return Ok(builder.tls_backend_preconfigured(trusting_nobody()));
            }
            let mut builder = builder.tls_backend_preconfigured(self.config()?);
            if let Some(host) = &address.dialled {
                // The URL has the name that the certificate is for; whom we connect to and what we ask for is the
                // address as it was set.
                let header = HeaderValue::from_str(&host.authority)
                    .map_err(|error| Error::Settings(format!("{}: {error}", host.authority)))?;
                builder = builder
                    .default_headers(HeaderMap::from_iter([(HOST, header)]))
                    .dns_resolver(Arc::new(Always(host.name.clone())));
            }
            Ok(builder)
        }

        fn config(&self) -> Result<ClientConfig, Error> {
            let verifier = self.verifier(Arc::new(ring::default_provider()))?;
            let config = with_ring().dangerous();
            let config = config.with_custom_certificate_verifier(verifier);
            match (&self.certificate, &self.key) {
                (Some(certificate), Some(key)) => {
                    let private = PrivateKeyDer::from_pem_file(key)
                        .map_err(|error| unusable("CONSUL_CLIENT_KEY", key, &error))?;
                    config
                        .with_client_auth_cert(
                            certificates("CONSUL_CLIENT_CERT", certificate)?,
                            private,
                        )
                        .map_err(|error| unusable("CONSUL_CLIENT_CERT", certificate, &error))
                }
                (None, None) => Ok(config.with_no_client_auth()),
                _ => Err(Error::Settings(
                    "a client certificate needs both CONSUL_CLIENT_CERT and CONSUL_CLIENT_KEY"
                        .to_owned(),
                )),
            }
        }

        fn verifier(
            &self,
            provider: Arc<CryptoProvider>,
        ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
            if !self.verify {
                return Ok(Arc::new(AnyCertificate(provider)));
            }
            let Some(path) = &self.ca_file else {
                let system = rustls_platform_verifier::Verifier::new(provider);
                return match system {
                    Ok(verifier) => Ok(Arc::new(verifier)),
                    Err(error) => Err(Error::Settings(format!(
                        "the system has no certificates to trust ({error}); CONSUL_CACERT names a file of them"
                    ))),
                };
            };
            let mut roots = RootCertStore::empty();
            for certificate in certificates("CONSUL_CACERT", path)? {
                roots
                    .add(certificate)
                    .map_err(|error| unusable("CONSUL_CACERT", path, &error))?;
            }
            let verifier =
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
            match verifier {
                Ok(verifier) => Ok(verifier),
                Err(error) => Err(unusable("CONSUL_CACERT", path, &error)),
            }
        }
    }

    fn with_ring() -> ConfigBuilder<ClientConfig, WantsVerifier> {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has cipher suites for TLS 1.2 and 1.3")
    }

    fn trusting_nobody() -> ClientConfig {
        with_ring()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()
    }

    fn unusable(variable: &str, path: &Path, error: &dyn std::fmt::Display) -> Error {
        Error::Settings(format!("{variable}={}: {error}", path.display()))
    }

    fn certificates(variable: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let read: Vec<_> = read.map_err(|error| unusable(variable, path, &error))?;
        if read.is_empty() {
            return Err(unusable(variable, path, &"there is no certificate in it"));
        }
        Ok(read)
    }

    /// Resolves every name to the addresses of one host.
    struct Always(String);

    impl Resolve for Always {
        fn resolve(&self, _name: Name) -> Resolving {
            let host = self.0.clone();
            Box::pin(async move {
                // The port is the URL's.
                let found = tokio::net::lookup_host((host, 0)).await?;
                Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as Addrs)
            })
        }
    }

    /// Takes every certificate, as CONSUL_HTTP_SSL_VERIFY=false says. Whoever shows it must still have its key.
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

    /// The error of a failed connection, where it is one of TLS.
    pub(crate) fn failure(
        address: &str,
        error: &(dyn std::error::Error + 'static),
    ) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<rustls::Error>() {
                return Some(Error::Tls {
                    address: address.to_owned(),
                    advice: advice(found),
                    source: found.clone().into(),
                });
            }
            // The source of an I/O error is not what is inside of it, but the source of that.
            let inside = error
                .downcast_ref::<std::io::Error>()
                .and_then(std::io::Error::get_ref);
            next = match inside {
                Some(inside) => Some(inside),
                None => error.source(),
            };
        }
        None
    }

    fn advice(error: &rustls::Error) -> &'static str {
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => "CONSUL_TLS_SERVER_NAME is the name that its certificate is for",
            rustls::Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            ) => "its certificate has to be renewed",
            rustls::Error::InvalidCertificate(_) => {
                "CONSUL_CACERT names the certificate of the authority to trust"
            }
            rustls::Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateUnknown
                | AlertDescription::CertificateExpired
                | AlertDescription::HandshakeFailure,
            ) => {
                "it wants another client certificate: CONSUL_CLIENT_CERT and CONSUL_CLIENT_KEY name one"
            }
            rustls::Error::InvalidMessage(_) => {
                "is it HTTPS that is spoken there? CONSUL_HTTP_ADDR and CONSUL_HTTP_SSL say so"
            }
            _ => "its log may tell more",
        }
    }
}
