//! HTTPS, on a listener of TLS in front of a server: who is trusted, and what is said when nobody is.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proconsul::Server;
use proconsul_client::recipes::Lock;
use proconsul_client::{Builder, Client, Error};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::support::{frozen, keeper};

/// An authority that signs certificates.
struct Authority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key.
struct Signed {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let mut params = CertificateParams::new(Vec::new()).expect("no names are no wrong names");
        let name = format!("authority {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("ring makes keys");
        let certificate = params.self_signed(&key).expect("the key can sign");
        let issuer = Issuer::new(params, key);
        Self {
            certificate,
            issuer,
        }
    }

    /// A certificate for a name or an IP address.
    fn sign(&self, name: &str) -> Signed {
        let params = CertificateParams::new(vec![name.to_owned()]).expect("it is a name");
        let key = KeyPair::generate().expect("ring makes keys");
        let certificate = params.signed_by(&key, &self.issuer);
        let certificate = certificate.expect("the authority can sign");
        Signed { certificate, key }
    }

    fn trusted(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let added = roots.add(self.certificate.der().clone());
        added.expect("it is a certificate");
        Arc::new(roots)
    }
}

/// A server behind a listener of TLS.
struct Secure {
    _server: Server,
    /// `host:port`.
    address: String,
    /// The name that the last client asked for.
    asked_for: watch::Receiver<Option<String>>,
}

impl Secure {
    /// Shows a certificate; with `clients`, asks for one that this authority signed.
    async fn start(shown: &Signed, clients: Option<&Authority>) -> Self {
        let (server, _) = frozen();
        let behind = server.addr();
        let provider = Arc::new(ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has cipher suites for them");
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(authority) => config.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(authority.trusted(), provider)
                    .build()
                    .expect("there is an authority"),
            ),
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(shown.key.serialize_der()));
        let config = config.with_single_cert(vec![shown.certificate.der().clone()], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.expect("the key is the certificate's")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound").to_string();
        let (ask, asked_for) = watch::channel(None);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, ask) = (acceptor.clone(), ask.clone());
                tokio::spawn(async move {
                    // A client that is refused, or refuses, is gone.
                    let Ok(mut stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    ask.send_replace(stream.get_ref().1.server_name().map(str::to_owned));
                    if let Ok(mut behind) = TcpStream::connect(behind).await {
                        let _ = copy_bidirectional(&mut stream, &mut behind).await;
                    }
                });
            }
        });
        Self {
            _server: server,
            address,
            asked_for,
        }
    }

    /// A client as variables say, beside those of the address.
    fn client(&self, variables: &[(&str, &str)]) -> Result<Client, Error> {
        let builder = Builder::from_variables(|name| match name {
            "CONSUL_HTTP_ADDR" => Some(self.address.clone()),
            "CONSUL_HTTP_SSL" => Some("true".to_owned()),
            _ => {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            }
        })?;
        builder.build()
    }
}

/// A file that is deleted with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("tls-{}-{name}.pem", std::process::id()));
        std::fs::write(&path, text).expect("the target folder can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("cargo's folders have names of text")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The target folder is nobody's home.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The text of a failure of TLS.
async fn refused(client: &Client) -> String {
    let error = client.kv().put("k", "v").await.expect_err("it is refused");
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    assert!(!error.may_be_applied() && !error.is_transient());
    error.to_string()
}

#[tokio::test]
async fn an_agent_whose_authority_is_trusted_is_spoken_to() -> Result<(), Error> {
    let authority = Authority::new();
    let secure = Secure::start(&authority.sign("127.0.0.1"), None).await;
    let ca = File::new("trusted", &authority.certificate.pem());
    let client = secure.client(&[("CONSUL_CACERT", ca.path())])?;
    client.kv().put("k", "v").await?;
    let session = keeper(&client).await;
    let held = Lock::new(&client, "l").acquire(&session).await?;
    held.release().await?;
    session.close().await?;
    // The same by the builder, with the scheme in the address.
    let client = Client::builder()
        .address(format!("https://{}", secure.address))
        .ca_file(ca.path())
        .build()?;
    let pair = client.kv().get("k").await?.value.expect("it was put");
    assert_eq!(pair.value, b"v");
    Ok(())
}

#[tokio::test]
async fn an_unknown_authority_is_refused_with_what_to_do() -> Result<(), Error> {
    let secure = Secure::start(&Authority::new().sign("127.0.0.1"), None).await;
    let other = File::new("other", &Authority::new().certificate.pem());
    let trusted = ("CONSUL_CACERT", other.path());
    let text = refused(&secure.client(&[trusted])?).await;
    assert!(
        text.contains(&secure.address) && text.contains("CONSUL_CACERT"),
        "{text}"
    );
    let text = refused(&secure.client(&[trusted, ("CONSUL_HTTP_SSL_VERIFY", "true")])?).await;
    assert!(text.contains("UnknownIssuer"), "{text}");
    let any = secure.client(&[trusted, ("CONSUL_HTTP_SSL_VERIFY", "false")])?;
    any.kv().put("k", "v").await
}

#[tokio::test]
async fn a_certificate_for_another_name_needs_that_name() -> Result<(), Error> {
    let authority = Authority::new();
    let secure = Secure::start(&authority.sign("server.dc1.consul"), None).await;
    let ca = File::new("named", &authority.certificate.pem());
    let trusted = ("CONSUL_CACERT", ca.path());
    let text = refused(&secure.client(&[trusted])?).await;
    assert!(text.contains("CONSUL_TLS_SERVER_NAME"), "{text}");
    let name = ("CONSUL_TLS_SERVER_NAME", "server.dc1.consul");
    let client = secure.client(&[trusted, name])?;
    client.kv().put("k", "v").await?;
    let asked = secure.asked_for.borrow().clone();
    assert_eq!(asked.as_deref(), Some("server.dc1.consul"));
    // Also a name of one's own has to be the right one.
    let client = secure.client(&[trusted, ("CONSUL_TLS_SERVER_NAME", "server.dc2.consul")])?;
    assert!(refused(&client).await.contains("CONSUL_TLS_SERVER_NAME"));
    let wrong = secure.client(&[trusted, ("CONSUL_TLS_SERVER_NAME", "10.0.0.7")]);
    let wrong = wrong.expect_err("it is no name").to_string();
    assert!(wrong.contains("CONSUL_TLS_SERVER_NAME=10.0.0.7"), "{wrong}");
    Ok(())
}

#[tokio::test]
async fn an_agent_that_asks_for_a_certificate_is_shown_one() -> Result<(), Error> {
    let (authority, clients) = (Authority::new(), Authority::new());
    let secure = Secure::start(&authority.sign("127.0.0.1"), Some(&clients)).await;
    let ca = File::new("asking", &authority.certificate.pem());
    let files = |name: &str, signed: &Signed| {
        let certificate = File::new(&format!("{name}-certificate"), &signed.certificate.pem());
        let key = File::new(&format!("{name}-key"), &signed.key.serialize_pem());
        (certificate, key)
    };
    let client = |certificate: &File, key: &File| {
        secure.client(&[
            ("CONSUL_CACERT", ca.path()),
            ("CONSUL_CLIENT_CERT", certificate.path()),
            ("CONSUL_CLIENT_KEY", key.path()),
        ])
    };
    let (certificate, key) = files("own", &clients.sign("worker"));
    client(&certificate, &key)?.kv().put("k", "v").await?;
    let none = secure.client(&[("CONSUL_CACERT", ca.path())])?;
    let text = refused(&none).await;
    assert!(text.contains("CONSUL_CLIENT_CERT"), "{text}");
    let (strange, strange_key) = files("strange", &Authority::new().sign("worker"));
    let text = refused(&client(&strange, &strange_key)?).await;
    assert!(text.contains("CONSUL_CLIENT_CERT"), "{text}");
    let mixed = client(&certificate, &strange_key).expect_err("the key is another's");
    assert!(matches!(mixed, Error::Settings(_)), "{mixed:?}");
    Ok(())
}

#[tokio::test]
async fn settings_that_cannot_work_are_named() {
    let secure = Secure::start(&Authority::new().sign("127.0.0.1"), None).await;
    let empty = File::new("empty", "");
    for (variables, named) in [
        (
            vec![("CONSUL_CACERT", "no/such.pem")],
            "CONSUL_CACERT=no/such.pem",
        ),
        (
            vec![("CONSUL_CACERT", empty.path())],
            "there is no certificate in it",
        ),
        (
            vec![
                ("CONSUL_CLIENT_KEY", empty.path()),
                ("CONSUL_HTTP_SSL_VERIFY", "0"),
            ],
            "needs both CONSUL_CLIENT_CERT and CONSUL_CLIENT_KEY",
        ),
        (
            vec![("CONSUL_HTTP_SSL_VERIFY", "maybe")],
            "CONSUL_HTTP_SSL_VERIFY=maybe",
        ),
    ] {
        let error = secure.client(&variables).expect_err("it cannot work");
        assert!(matches!(error, Error::Settings(_)), "{error:?}");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[tokio::test]
async fn https_and_http_are_told_apart() -> Result<(), Error> {
    let (server, _) = frozen();
    let client = Client::builder()
        .address(format!("https://{}", server.addr()))
        .verify_certificates(false)
        .build()?;
    let text = refused(&client).await;
    assert!(text.contains("CONSUL_HTTP_SSL"), "{text}");
    let secure = Secure::start(&Authority::new().sign("127.0.0.1"), None).await;
    let client = Client::new(&secure.address)?;
    let error = client.kv().get("k").await.expect_err("it is no HTTP");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
    Ok(())
}
