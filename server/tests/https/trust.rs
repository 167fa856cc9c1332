//! Who trusts whom, with our own client.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use proconsul::Server;
use proconsul::config::{Config, HttpsConfig, TlsVersion};
use proconsul_client::{Builder, Client, Error};

/// A file that is deleted with the test.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("https-{}-{number}.pem", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).expect("the target folder can be written");
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn start(https: HttpsConfig) -> Server {
    let config = Config {
        https,
        ..Config::default()
    };
    let started = Server::builder().config(config).https().start();
    started.expect("a port is free")
}

fn client(server: &Server, ca: &File) -> Builder {
    Client::builder().address(server.https_url()).ca_file(&ca.0)
}

async fn refused(client: Builder) -> String {
    let client = client.build().expect("the settings fit");
    let error = client.kv().put("k", "v").await.expect_err("it is refused");
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn who_trusts_the_authority_speaks_to_the_server() -> Result<(), Error> {
    for min_version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let server = start(HttpsConfig {
            min_version,
            ..HttpsConfig::default()
        });
        let ca = File::new(server.ca_pem());
        let client = client(&server, &ca).build()?;
        client.kv().put("k", "v").await?;
        let pair = client.kv().get("k").await?.value.expect("it was put");
        assert_eq!(pair.value, b"v");
    }
    Ok(())
}

#[tokio::test]
async fn another_authority_is_not_trusted() {
    let (server, other) = (start(HttpsConfig::default()), start(HttpsConfig::default()));
    let ca = File::new(other.ca_pem());
    let text = refused(client(&server, &ca)).await;
    assert!(text.contains("CONSUL_CACERT"), "{text}");
}

#[tokio::test]
async fn who_has_to_show_a_certificate_is_refused_without() -> Result<(), Error> {
    let asking = || {
        start(HttpsConfig {
            verify_incoming: true,
            ..HttpsConfig::default()
        })
    };
    let (server, other) = (asking(), asking());
    let ca = File::new(server.ca_pem());
    let text = refused(client(&server, &ca)).await;
    assert!(text.contains("CONSUL_CLIENT_CERT"), "{text}");
    let strange = File::new(&other.client_pem());
    let shown = client(&server, &ca).client_certificate(&strange.0, &strange.0);
    let text = refused(shown).await;
    assert!(text.contains("CONSUL_CLIENT_CERT"), "{text}");
    let own = File::new(&server.client_pem());
    let shown = client(&server, &ca).client_certificate(&own.0, &own.0);
    shown.build()?.kv().put("k", "v").await
}

#[test]
fn what_is_missing_is_named() {
    let asking = HttpsConfig {
        listeners: Config::default().listeners,
        verify_incoming: true,
        ..HttpsConfig::default()
    };
    let config = Config {
        https: asking,
        ..Config::default()
    };
    let refused = Server::builder().config(config).start();
    let refused = refused.expect_err("there is no authority").to_string();
    assert_eq!(
        refused,
        "VerifyIncoming set but no CA certificates were provided"
    );
}
