//! `/v1/connect/ca/` and `/v1/connect/intentions`: what harnesses look at while they wait for a Consul with Connect.
//!
//! There is no Connect here. The root certificate is one whose key nobody has: it has signed nothing and never will.

use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::api::absent;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{GET, Handler::AtOnce, Route, route};
use crate::store::Index;

/// The routes of this page.
pub(crate) const ROUTES: &[Route] = &[
    route("/v1/connect/ca/roots", GET, AtOnce(roots)),
    route("/v1/agent/connect/ca/roots", GET, AtOnce(roots)),
    route(
        "/v1/connect/ca/configuration",
        &[Method::GET, Method::PUT],
        AtOnce(configuration),
    ),
    route(
        "/v1/connect/intentions",
        &[Method::GET, Method::POST],
        AtOnce(intentions),
    ),
];

/// The fingerprint of the root certificate.
const ROOT_ID: &str = "c4:33:7a:19:55:38:bb:b6:ed:71:7f:33:0b:c1:4b:b8:cd:aa:2a:56";
/// The fingerprint of its key.
const SIGNING_KEY_ID: &str = "f3:88:57:a5:14:90:eb:df:b3:d3:e5:ba:89:ec:23:f8:9f:66:15:b4";
/// The certificate, good for the whole century.
const ROOT_CERTIFICATE: &str = include_str!("ca_root.pem");
/// The domain that all identities of the cluster stand in.
const TRUST_DOMAIN: &str = "11111111-2222-3333-4444-555555555555";

/// The answer of `connect/ca/roots`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Roots {
    #[serde(rename = "ActiveRootID")]
    active_root_id: &'static str,
    trust_domain: String,
    roots: [Root; 1],
}

/// A root certificate.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Root {
    #[serde(rename = "ID")]
    id: &'static str,
    name: &'static str,
    serial_number: u64,
    #[serde(rename = "SigningKeyID")]
    signing_key_id: &'static str,
    external_trust_domain: &'static str,
    not_before: &'static str,
    not_after: &'static str,
    root_cert: &'static str,
    intermediate_certs: Option<Vec<String>>,
    active: bool,
    private_key_type: &'static str,
    private_key_bits: u64,
    create_index: u64,
    modify_index: u64,
}

/// The root certificates of the cluster: one, which is active.
pub(crate) fn roots(request: &Request) -> Result<Reply, Failure> {
    request.read_options()?;
    request.check_datacenter()?;
    let roots = Roots {
        active_root_id: ROOT_ID,
        trust_domain: format!("{TRUST_DOMAIN}.consul"),
        roots: [Root {
            id: ROOT_ID,
            name: "Consul CA Root Cert",
            serial_number: 7,
            signing_key_id: SIGNING_KEY_ID,
            external_trust_domain: TRUST_DOMAIN,
            not_before: "2020-01-01T00:00:00Z",
            not_after: "2120-01-01T00:00:00Z",
            root_cert: ROOT_CERTIFICATE,
            intermediate_certs: None,
            active: true,
            private_key_type: "ec",
            private_key_bits: 256,
            create_index: 9,
            modify_index: 9,
        }],
    };
    Ok(Reply::json(request, &roots).with_index(request, Index(9)))
}

/// The answer of `connect/ca/configuration`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration {
    provider: &'static str,
    config: Value,
    state: Option<Value>,
    force_without_cross_signing: bool,
    create_index: u64,
    modify_index: u64,
}

/// How the certificates are made that nobody makes here. It cannot be changed.
pub(crate) fn configuration(request: &Request) -> Result<Reply, Failure> {
    if request.method == Method::PUT {
        return Err(absent::failure(request));
    }
    request.read_options()?;
    request.check_datacenter()?;
    let configuration = Configuration {
        provider: "consul",
        config: json!({
            "IntermediateCertTTL": "8760h",
            "LeafCertTTL": "72h",
            "RotationPeriod": "2160h",
        }),
        state: None,
        force_without_cross_signing: false,
        create_index: 5,
        modify_index: 5,
    };
    Ok(Reply::json(request, &configuration))
}

/// All intentions: none, and none can be made.
pub(crate) fn intentions(request: &Request) -> Result<Reply, Failure> {
    if request.method == Method::POST {
        return Err(absent::failure(request));
    }
    request.read_options()?;
    if let Err(failure) = request.check_datacenter() {
        return Ok(Reply::failed_read(&request.context, &failure));
    }
    let none: [Value; 0] = [];
    Ok(Reply::json(request, &none).with_index(request, Index(1)))
}
