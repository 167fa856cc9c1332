//! HTTPS of the binary: certificates that it makes, those of files, and what it says of wrong ones.

use std::fs;

use proconsul::Server;
use proconsul_client::{Client, Error};

use crate::agent::Run;

fn get(url: &str, ca: &str) -> Result<(), Error> {
    let client = Client::builder().address(url).ca_file(ca).build()?;
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(client.kv().get("k")).map(drop)
}

#[test]
fn certificates_are_made_and_go_with_the_agent() -> Result<(), Error> {
    let arguments = ["-dev", "-https-dev-dir", "certificates"];
    let run = Run::agent("https-dev", &arguments).at_a_free_port();
    let mut agent = run.start();
    let line = agent.wait_for("{\"http\":");
    let ports: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
    assert_eq!(ports["https_ca_file"], "certificates/ca.pem");
    let address = ports["https"].as_str().expect("HTTPS is served");
    let folder = agent.folder().join("certificates");
    let ca = folder.join("ca.pem").display().to_string();
    get(&format!("https://{address}"), &ca)?;
    let files = || fs::read_dir(&folder).expect("it was made").count();
    assert_eq!(files(), 5);
    agent.signal("TERM");
    agent.end();
    assert_eq!(files(), 0);
    Ok(())
}

/// Certificates of two authorities as files, and what is none.
fn with_files(run: Run) -> Run {
    let start = || Server::builder().https().start().expect("a port is free");
    let (server, other) = (start(), start());
    let halves = |pem: &str| {
        let at = pem.find("-----BEGIN PRIVATE").expect("the key comes last");
        (pem[..at].to_owned(), pem[at..].to_owned())
    };
    let (certificate, key) = halves(&server.client_pem());
    let (_, strange) = halves(&other.client_pem());
    run.file("cert.pem", &certificate)
        .file("key.pem", &key)
        .file("strange.pem", &strange)
        .file("ca.pem", server.ca_pem())
        .file("junk.pem", "junk")
        .file("empty/below/.keep", "")
        .file("folder/a/ca.pem", server.ca_pem())
}

/// Observed on 1.8.7, whether HTTPS is served or not.
#[test]
fn what_cannot_be_is_refused_in_consuls_words() {
    const NO_PAIR: &str = "VerifyIncoming requires either a Cert and Key pair in the configuration file, or \
                           auto_encrypt/auto_config be enabled";
    let pair = |text: &str| format!("Failed to load cert/key pair: {text}");
    let switched = "tls: failed to find certificate PEM data in certificate input, but did find a private key; \
                    PEM inputs may have been switched";
    let rows = [
        (r#"cert_file = "no" key_file = "key.pem""#, pair("open no: no such file or directory")),
        (r#"cert_file = "junk.pem" key_file = "no""#, pair("open no: no such file or directory")),
        (r#"cert_file = "junk.pem" key_file = "key.pem""#, pair("tls: failed to find any PEM data in certificate input")),
        (r#"cert_file = "cert.pem" key_file = "junk.pem""#, pair("tls: failed to find any PEM data in key input")),
        (r#"cert_file = "cert.pem" key_file = "strange.pem""#, pair("tls: private key does not match public key")),
        (r#"cert_file = "key.pem" key_file = "key.pem""#, pair(switched)),
        (
            r#"cert_file = "cert.pem" key_file = "cert.pem""#,
            pair("tls: found a certificate rather than a key in the PEM for the private key"),
        ),
        (r#"ca_file = "no""#, "Error loading from no: open no: no such file or directory".to_owned()),
        (r#"ca_file = "folder""#, "Error loading from folder: read folder: is a directory".to_owned()),
        (r#"ca_file = "junk.pem""#, "Couldn't parse PEM junk".to_owned()),
        (r#"ca_path = "no""#, "lstat no: no such file or directory".to_owned()),
        (r#"ca_path = "nothing""#, "Error loading from CAPath: no CAs found".to_owned()),
        ("verify_incoming = true", "VerifyIncoming set but no CA certificates were provided".to_owned()),
        (r#"verify_incoming_https = true ca_file = "ca.pem""#, NO_PAIR.to_owned()),
        (r#"verify_incoming = true ca_path = "folder""#, NO_PAIR.to_owned()),
        (
            r#"tls_min_version = "tls14""#,
            "TLSMinVersion: value tls14 not supported, please specify one of [tls10, tls11, tls12, tls13]".to_owned(),
        ),
        (
            "ports { http = 4 https = 4 }",
            "HTTPS address 127.0.0.1:4 already configured for HTTP".to_owned(),
        ),
        ("ports { https = 70000 }", "1 error occurred:\n\t* ports.https: invalid port: 70000\n".to_owned()),
        (
            r#"addresses { https = "zork" }"#,
            "1 error occurred:\n\t* addresses.https: invalid ip address: zork\n".to_owned(),
        ),
    ];
    for (document, expected) in rows {
        let arguments = ["-dev", "-as-version", "1.8.7", "-hcl", document];
        let run = with_files(Run::agent("https-refused", &arguments));
        fs::create_dir(run.folder().join("nothing")).expect("the folder is new");
        let refused = run.refusal();
        assert!(
            refused.contains(&format!("==> {expected}\n")),
            "{document}: {refused}"
        );
    }
}

/// A port for HTTPS alone is enough for Consul, too: every handshake fails.
#[test]
fn without_a_certificate_it_starts() {
    let arguments = [
        "-dev",
        "-as-version",
        "1.8.7",
        "-hcl",
        r#"addresses { https = "unix://https.sock" } ports { https = 1 }"#,
    ];
    let mut agent = Run::agent("https-bare", &arguments)
        .at_a_free_port()
        .start();
    let line = agent.wait_for("Started HTTPS server");
    assert!(
        line.ends_with("Started HTTPS server: address=https.sock network=unix"),
        "{line}"
    );
}

/// F9: a pair of 1,024 bits, which Consul serves, was said to be malformed.
#[test]
fn a_short_rsa_key_is_refused_for_its_length() {
    let document = r#"cert_file = "pair.pem" key_file = "key.pem" ports { https = 1 }"#;
    let pem = include_str!("short_rsa.pem");
    let key = pem.find("-----BEGIN PRIVATE").expect("the key comes last");
    let run = Run::agent("https-rsa", &["-dev", "-hcl", document]);
    let refused = run
        .file("pair.pem", &pem[..key])
        .file("key.pem", &pem[key..])
        .refusal();
    let expected = "proconsul signs with RSA keys of 2048 to 4096 bits, and this one has 1024;";
    assert!(refused.contains(expected), "{refused}");
}
