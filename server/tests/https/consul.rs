//! The same over HTTPS as from a real Consul: what our client and curl are served and refused (operator.md 9).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use proconsul::Server;
use proconsul::Version;
use proconsul::config::{Config, HttpsConfig};
use proconsul_client::{Client, Error};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent, HttpsFiles};
use proconsul_conformance::target::site::Site;

/// A server, and files with certificates. They are deleted with it.
struct Served {
    name: &'static str,
    address: SocketAddr,
    folder: PathBuf,
    _keep: Keep,
}

#[expect(dead_code, reason = "kept for its drop")]
enum Keep {
    Emulator(Server),
    Consul(Site),
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Served {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.address)
    }
}

/// Starts an emulator with an authority of its own.
fn emulator(version: Version, verify_incoming: bool) -> Server {
    let config = Config {
        version,
        https: HttpsConfig {
            verify_incoming,
            ..HttpsConfig::default()
        },
        ..Config::default()
    };
    let started = Server::builder().config(config).https().start();
    started.expect("a port is free")
}

/// Writes the certificates of a server, and the authority of another.
fn written(of: &Server) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("https-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let other = emulator(Version::V1_8_7, false);
    for (name, text) in [
        ("ca.pem", of.ca_pem().to_owned()),
        ("server.pem", of.server_pem()),
        ("client.pem", of.client_pem()),
        ("other.pem", other.ca_pem().to_owned()),
        ("stranger.pem", other.client_pem()),
    ] {
        std::fs::write(folder.join(name), text).expect("the target folder can be written");
    }
    folder
}

/// The emulator in both profiles, and a real Consul with certificates of the emulator's authority.
fn servers(verifies_clients: bool) -> Vec<Served> {
    let mut servers = Vec::new();
    for (name, version) in [("1.22.0", Version::V1_22_0), ("1.8.7", Version::V1_8_7)] {
        let server = emulator(version, verifies_clients);
        let address = server.https_url().replace("https://", "");
        servers.push(Served {
            name,
            address: address.parse().expect("it is an address"),
            folder: written(&server),
            _keep: Keep::Emulator(server),
        });
    }
    if let Some(binary) = left_out::consul() {
        let folder = written(&emulator(Version::V1_8_7, false));
        let files = HttpsFiles {
            own: &folder.join("server.pem"),
            authority: &folder.join("ca.pem"),
            verifies_clients,
        };
        let (agent, address) = Agent::over_https(files).expect("a port is free");
        let site = consul::start_unasked(&binary, &agent);
        servers.push(Served {
            name: "consul",
            address,
            _keep: Keep::Consul(site.unwrap_or_else(|error| panic!("{error}"))),
            folder,
        });
    }
    servers
}

/// What our client is told, with the authority and the certificate of these files.
async fn told(server: &Served, authority: &str, own: Option<&str>) -> Result<(), String> {
    let builder = Client::builder().address(server.url("https", ""));
    let mut builder = builder.ca_file(server.file(authority));
    if let Some(own) = own {
        builder = builder.client_certificate(server.file(own), server.file(own));
    }
    let client = builder.build().expect("the settings fit");
    let refused = |error: Error| match error {
        Error::Tls { .. } => error.to_string(),
        other => panic!("{}: {other:?}", server.name),
    };
    client.kv().put("k", "v").await.map_err(refused)?;
    let pair = client.kv().get("k").await.map_err(refused)?.value;
    assert_eq!(pair.expect("it was put").value, b"v", "{}", server.name);
    Ok(())
}

#[tokio::test]
async fn our_client_is_served_and_refused_alike() {
    for server in servers(false) {
        let refused = told(&server, "other.pem", None).await;
        let text = refused.expect_err(server.name);
        assert!(text.contains("CONSUL_CACERT"), "{}: {text}", server.name);
        assert_eq!(
            told(&server, "ca.pem", None).await,
            Ok(()),
            "{}",
            server.name
        );
    }
    for server in servers(true) {
        for own in [None, Some("stranger.pem")] {
            let text = told(&server, "ca.pem", own).await.expect_err(server.name);
            assert!(
                text.contains("CONSUL_CLIENT_CERT"),
                "{}: {text}",
                server.name
            );
        }
        let own = told(&server, "ca.pem", Some("client.pem")).await;
        assert_eq!(own, Ok(()), "{}", server.name);
    }
}

/// Runs curl. Returns its exit code, and what it printed and complained of.
fn curl(server: &Served, flags: &[&str], url: &str) -> (Option<i32>, String) {
    let output = Command::new("curl")
        .args([
            "--silent",
            "--show-error",
            "--max-time",
            "20",
            "--noproxy",
            "*",
        ])
        .args(flags)
        .arg(url)
        .current_dir(&server.folder)
        .env_remove("CURL_CA_BUNDLE")
        .output()
        .expect("curl runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code(), text)
}

/// A command line, the exit codes that curl may have, and what it prints.
type Row = (&'static [&'static str], &'static [i32], &'static str);

/// The codes of curl for a refused handshake. Which alert says so depends on the release of Go (9.r19), and curl has a code
/// of its own for the newer one.
const REFUSED: &[i32] = &[35, 98];

/// What a server says whoever asks.
const OPEN: &[Row] = &[
    (
        &["--cacert", "ca.pem", "--write-out", "%{http_code}"],
        &[0],
        "404",
    ),
    (
        &["--cacert", "other.pem"],
        &[60],
        "SSL certificate problem: unable to get local issuer certificate",
    ),
    (
        &[
            "--cacert",
            "ca.pem",
            "--tlsv1.1",
            "--tls-max",
            "1.1",
            "--ciphers",
            "DEFAULT@SECLEVEL=0",
        ],
        &[35],
        "alert protocol version",
    ),
];

/// What a server says to which clients have to show a certificate.
const ASKING: &[Row] = &[
    (
        &[
            "--cacert",
            "ca.pem",
            "--cert",
            "client.pem",
            "--write-out",
            "%{http_code}",
        ],
        &[0],
        "404",
    ),
    // In TLS 1.3 the refusal races with the request.
    (
        &["--cacert", "ca.pem", "--tls-max", "1.2"],
        REFUSED,
        " alert ",
    ),
    (
        &[
            "--cacert",
            "ca.pem",
            "--tls-max",
            "1.2",
            "--cert",
            "stranger.pem",
        ],
        REFUSED,
        " alert ",
    ),
];

fn compare(servers: &[Served], rows: &[Row]) {
    for server in servers {
        for (flags, codes, part) in rows {
            let url = server.url("https", "/v1/kv/none");
            let (exit, text) = curl(server, flags, &url);
            let expected = exit.is_some_and(|exit| codes.contains(&exit)) && text.contains(part);
            assert!(expected, "{} {flags:?}: {exit:?} {text}", server.name);
        }
    }
}

#[test]
fn curl_is_served_and_refused_alike() {
    if !left_out::has("curl", "--version") {
        return;
    }
    let open = servers(false);
    compare(&open, OPEN);
    for server in &open {
        let flags = ["--http1.0", "--write-out", " %{http_code}"];
        let plain = curl(server, &flags, &server.url("http", "/v1/kv/none"));
        let text = "Client sent an HTTP request to an HTTPS server.\n 400".to_owned();
        assert_eq!(plain, (Some(0), text), "{}", server.name);
    }
    compare(&servers(true), ASKING);
}
