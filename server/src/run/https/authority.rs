//! A certificate authority for tests, and what it signs: nothing has to be made with openssl.

use std::collections::BTreeSet;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use proconsul_config::Config;

/// The certificates of a new authority, as PEM. They are valid for decades, whatever a test does to the time.
#[derive(Debug)]
pub struct DevCertificates {
    /// The authority's.
    pub authority: String,
    /// The certificate of the server.
    pub server: Signed,
    /// What a client may show where it has to.
    pub client: Signed,
}

/// A certificate and its key, as PEM.
#[derive(Debug)]
pub struct Signed {
    /// The certificate, as PEM.
    pub certificate: String,
    /// Its key, as PEM.
    pub key: String,
}

impl DevCertificates {
    /// Makes an authority and certificates for a server with this configuration: for the addresses at which it serves
    /// HTTPS, the names that this machine has, and Consul's name of a server.
    ///
    /// # Errors
    /// A text about a name that no certificate can be for.
    pub fn new(config: &Config) -> Result<Self, String> {
        let text = |error: rcgen::Error| format!("cannot make certificates for HTTPS: {error}");
        let key = KeyPair::generate().map_err(text)?;
        // With a name of its own it is not taken for another authority, whose signature would be wrong.
        let raw = key.public_key_raw();
        let digits = raw[raw.len() - 4..]
            .iter()
            .map(|byte| format!("{byte:02x}"));
        let name = format!("proconsul development CA {}", digits.collect::<String>());
        let mut params = named(Vec::new(), &name).map_err(text)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(text)?;
        let issuer = Issuer::new(params, key);
        let server = format!("server.{}.consul", config.datacenter);
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        let client = ExtendedKeyUsagePurpose::ClientAuth;
        Ok(Self {
            authority: certificate.pem(),
            server: sign(&issuer, names(config), &server, usage).map_err(text)?,
            client: sign(&issuer, Vec::new(), "client", client).map_err(text)?,
        })
    }
}

/// Returns the names and addresses that the server's certificate is for.
fn names(config: &Config) -> Vec<String> {
    let mut names: BTreeSet<String> = ["localhost", "127.0.0.1", "::1", "consul", "proconsul"]
        .map(str::to_owned)
        .into();
    names.insert(format!("server.{}.consul", config.datacenter));
    let is_name = |name: &String| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        !name.is_empty() && name.bytes().all(letter)
    };
    names.extend(Some(config.node_name.clone()).filter(is_name));
    let addresses = config.https.tcp_addresses().map(|address| address.ip());
    let addresses = addresses.chain([config.advertise_address]);
    names.extend(
        addresses
            .filter(|ip| !ip.is_unspecified())
            .map(|ip| ip.to_string()),
    );
    names.into_iter().collect()
}

fn named(names: Vec<String>, common: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, common);
    Ok(params)
}

fn sign(
    issuer: &Issuer<'_, KeyPair>,
    names: Vec<String>,
    common: &str,
    usage: ExtendedKeyUsagePurpose,
) -> Result<Signed, rcgen::Error> {
    let mut params = named(names, common)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok(Signed {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}
