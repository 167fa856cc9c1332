//! The handshake of TLS, and what is answered when it is none.

use std::io;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ConfigBuilder, DigitallySignedStruct, DistinguishedName, RootCertStore,
    ServerConfig, SignatureScheme, WantsVerifier,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::authority::DevCertificates;
use super::files::{self, Identity};
use crate::connection::{Socket, Stream};
use proconsul_config::{Config, TlsVersion};
use proconsul_os::time;
use proconsul_version::Behaviour;

/// The length of the head of a record of TLS.
const RECORD_HEAD: usize = 5;
/// The beginnings of requests in plain HTTP that Go knows.
const PLAIN_HTTP: [&[u8; RECORD_HEAD]; 5] = [b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"];
/// Go's answer to them.
const PLAIN_HTTP_ANSWER: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// How long the rest of such a request is read, so that it does not destroy the answer.
const LINGER: Duration = Duration::from_millis(500);
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// The length of the beginning of a handshake up to the version that the client offers.
const HELLO_VERSION: usize = 11;
/// Go's alert about a version that is too low. `rustls` would first miss what only later versions send.
const PROTOCOL_VERSION: &[u8] = &[ALERT, 3, 1, 0, 2, 2, 70];

/// How long RSA keys may be with which `ring` signs.
const RSA_BITS: RangeInclusive<usize> = 2048..=4096;

/// A server of TLS.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    /// For clients that offer only protocols that are not spoken here; `None` if they are refused.
    without_protocols: Option<Arc<ServerConfig>>,
    patience: Duration,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Checks the settings of TLS, in Consul's order and whether HTTPS is served or not, and reads the files that they
    /// name. Returns `None` if it is not served.
    ///
    /// # Errors
    /// Consul's text.
    pub(crate) fn new(config: &Config) -> Result<Option<(Self, Option<DevCertificates>)>, String> {
        let https = &config.https;
        let mut identity = files::identity(https)?;
        let mut roots = files::authorities(https)?;
        let is_served = !https.listeners.is_empty();
        let dev = (https.dev && is_served).then(|| DevCertificates::new(config));
        let dev = dev.transpose()?;
        let has_own = config.dev && config.version.has(Behaviour::HttpsOwnCertificate);
        if is_served && has_own && dev.is_none() && identity.is_none() {
            identity = Some(own_identity(&DevCertificates::new(config)?)?);
        }
        if let Some(dev) = &dev {
            if identity.is_none() {
                identity = Some(own_identity(dev)?);
            }
            if https.ca_file.is_none() && https.ca_path.is_none() {
                files::add_authorities(&mut roots, dev.authority.as_bytes())?;
            }
        }
        if https.verify_incoming && roots.is_empty() {
            return Err("VerifyIncoming set but no CA certificates were provided".to_owned());
        }
        if https.verify_incoming && identity.is_none() {
            return Err(
                "VerifyIncoming requires either a Cert and Key pair in the configuration file, or \
                 auto_encrypt/auto_config be enabled"
                    .to_owned(),
            );
        }
        let server = server_config(config, identity, roots)?;
        let ignores_unknown = !config.version.has(Behaviour::HttpsProtocolRefused);
        let without_protocols = ignores_unknown.then(|| {
            let mut server = server.clone();
            server.alpn_protocols.clear();
            Arc::new(server)
        });
        let tls = Self {
            config: Arc::new(server),
            without_protocols,
            patience: https.handshake_timeout,
        };
        Ok(is_served.then_some((tls, dev)))
    }

    /// Performs the handshake; `None` if it failed, or took too long.
    pub(crate) async fn handshake(&self, stream: Stream) -> Option<Stream> {
        let sealing = stream.sealed(|socket| self.accept(socket));
        let sealed = tokio::select! {
            sealed = sealing => sealed,
            () = time::delay(self.patience) => Err(io::ErrorKind::TimedOut.into()),
        };
        match sealed {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                tracing::debug!(target: "agent.http", "http: TLS handshake error: {error}");
                None
            }
        }
    }

    async fn accept(&self, mut socket: Socket) -> io::Result<Prompt> {
        let first = socket.first(RECORD_HEAD).await?;
        let is_plain = PLAIN_HTTP.iter().any(|beginning| first == *beginning);
        let is_record = matches!(first, [ALERT | HANDSHAKE, version, ..] if *version < 0x10);
        if is_plain {
            refuse_plain_http(&mut socket).await?;
        }
        if !is_record {
            let text = "tls: first record does not look like a TLS handshake";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let hello = socket.first(HELLO_VERSION).await?;
        if matches!(hello, [HANDSHAKE, .., major, minor] if [*major, *minor] < [3, 3]) {
            socket.write_all(PROTOCOL_VERSION).await?;
            let text = "tls: client offered only unsupported versions";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let start = LazyConfigAcceptor::new(Acceptor::default(), socket).await?;
        let known = &self.config.alpn_protocols;
        let is_unknown = start.client_hello().alpn().is_some_and(|mut offered| {
            offered.all(|protocol| !known.iter().any(|known| known == protocol))
        });
        let without = self.without_protocols.as_ref().filter(|_| is_unknown);
        let config = without.unwrap_or(&self.config);
        start.into_stream(Arc::clone(config)).await.map(Prompt)
    }
}

/// A connection that sends alerts at once, and not with the next answer.
struct Prompt(TlsStream<Socket>);

impl AsyncRead for Prompt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        if read.is_pending() && self.0.get_ref().1.wants_write() {
            // A connection that takes nothing shows its end to those who read.
            let _ = Pin::new(&mut self.0).poll_flush(context);
        }
        read
    }
}

impl AsyncWrite for Prompt {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Returns the server's certificate and key of those that were made.
fn own_identity(made: &DevCertificates) -> Result<Identity, String> {
    let (certificate, key) = (&made.server.certificate, &made.server.key);
    files::identity_of(certificate.as_bytes(), key.as_bytes())
}

/// Answers a request in plain HTTP.
async fn refuse_plain_http(socket: &mut Socket) -> io::Result<()> {
    socket.write_all(PLAIN_HTTP_ANSWER).await?;
    socket.shutdown().await?;
    let mut sink = tokio::io::sink();
    tokio::select! {
        _ = tokio::io::copy(socket, &mut sink) => {}
        () = time::delay(LINGER) => {}
    }
    Ok(())
}

fn server_config(
    config: &Config,
    identity: Option<Identity>,
    roots: RootCertStore,
) -> Result<ServerConfig, String> {
    let https = &config.https;
    let alerts = config.version.has(Behaviour::HttpsClientAlerts);
    let provider = Arc::new(ring::default_provider());
    let versions: &[_] = if https.min_version == TlsVersion::Tls13 {
        &[&TLS13]
    } else {
        &[&TLS13, &TLS12]
    };
    let config: ConfigBuilder<ServerConfig, WantsVerifier> =
        ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .expect("ring has cipher suites for TLS 1.2 and 1.3");
    let config = if https.verify_incoming {
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier.build().map_err(|error| error.to_string())?;
        config.with_client_cert_verifier(if alerts {
            verifier
        } else {
            Arc::new(BadCertificate(verifier))
        })
    } else {
        config.with_no_client_auth()
    };
    let mut config = match identity {
        Some((certificates, key)) => {
            let bits = files::rsa_bits(&key);
            let config = config.with_single_cert(certificates, key);
            config
                .map_err(|error| format!("Failed to load cert/key pair: {}", words(&error, bits)))?
        }
        None => config.with_cert_resolver(Arc::new(NoCertificate)),
    };
    // Consul speaks HTTP/2 here, too (operator.md 9).
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns Go's words for a certificate and a key that do not work.
fn words(error: &rustls::Error, rsa_bits: Option<usize>) -> String {
    match error {
        // Consul has no such limit.
        rustls::Error::General(_) if rsa_bits.is_some_and(|bits| !RSA_BITS.contains(&bits)) => {
            format!(
                "tls: proconsul signs with RSA keys of {} to {} bits, and this one has {}; make a longer one or one for \
             ECDSA, or leave the files out and let proconsul make them with -https-dev",
                RSA_BITS.start(),
                RSA_BITS.end(),
                rsa_bits.unwrap_or_default(),
            )
        }
        rustls::Error::InconsistentKeys(_) => {
            "tls: private key does not match public key".to_owned()
        }
        other => format!("tls: {other}"),
    }
}

/// Has no certificate to show, as a Consul with a port for HTTPS and no files: every handshake fails.
#[derive(Debug)]
struct NoCertificate;

impl ResolvesServerCert for NoCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        None
    }
}

/// Verifies the certificates of clients, and tells of each flaw by the alert `bad_certificate`, as early releases do.
#[derive(Debug)]
struct BadCertificate(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for BadCertificate {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let verified = self.0.verify_client_cert(end_entity, intermediates, now);
        verified.map_err(|_| CertificateError::BadEncoding.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
