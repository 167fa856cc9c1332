//! `/v1/connect/ca/`, which test harnesses read while they wait for a Consul with Connect.
//!
//! Connect is not emulated. The private key of the root certificate was thrown away, so it has signed nothing.

use http::{HeaderValue, Method, StatusCode};

use crate::api::cluster::not_emulated;
use crate::failure::{Failure, failures};
use crate::reply::object::object;
use crate::reply::{Reply, ReplyContent};
use crate::request::{ReadOptions, Request};
use proconsul_engine::blocking;
use proconsul_gocompat::number;
use proconsul_store::{Index, Unchanging};
use proconsul_version::Behaviour;

/// The fingerprint of the root certificate.
const ROOT_ID: &str = "c4:33:7a:19:55:38:bb:b6:ed:71:7f:33:0b:c1:4b:b8:cd:aa:2a:56";
/// The fingerprint of its key.
const SIGNING_KEY_ID: &str = "f3:88:57:a5:14:90:eb:df:b3:d3:e5:ba:89:ec:23:f8:9f:66:15:b4";
/// The certificate, valid until 2120.
const ROOT_CERTIFICATE: &str = include_str!("ca_root.pem");
/// The domain of all identities of the cluster.
pub(crate) const TRUST_DOMAIN: &str = "11111111-2222-3333-4444-555555555555";

failures! {
    /// Connect is off.
    disabled() => 500, "Connect must be enabled in order to use this endpoint";
}

/// `?pem` is neither true nor false.
const NO_BOOLEAN: &str = "The 'pem' query parameter must be a boolean value";
/// The type of certificates in PEM.
const PEM: HeaderValue = HeaderValue::from_static("application/pem-certificate-chain");

/// Checks that Connect is on (operator.md 3.r20).
pub(super) fn check_is_on(request: &Request) -> Result<(), Failure> {
    if request.context.config.connect {
        return Ok(());
    }
    Err(disabled())
}

/// Lists the root certificates of the cluster: one, which is active and never changes.
pub(super) async fn roots(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    let wants_pem = match request.query.get("pem") {
        b"" => false,
        text => number::parse_bool(text)
            .map_err(|_| Failure::bad_request(NO_BOOLEAN, request.version()))?,
    };
    request.check_datacenter_of_read()?;
    check_is_on(request).map_err(|failure| failure.of_read(&request.context))?;
    let listed = listed(request, options).await?;
    if !wants_pem {
        return Ok(listed);
    }
    Ok(Reply {
        content_type: Some(PEM),
        content: ReplyContent::Whole(ROOT_CERTIFICATE.into()),
        ..Reply::empty(StatusCode::OK)
    })
}

/// Lists the root certificates from the agent's cache.
pub(super) async fn agent_roots(request: &Request) -> Result<Reply, Failure> {
    let options = request.read_options()?;
    request.check_datacenter()?;
    check_is_on(request)?;
    // The agent has read them with its own token, which is none.
    let is_kept = request.has(Behaviour::ConnectRootsKept) && request.secret().is_none();
    let (options, cached) = request.always_cached(&ROOTS, options, is_kept);
    Ok(cached.told_in(request, listed(request, options).await?))
}

/// The read of the root certificates.
const ROOTS: Unchanging = Unchanging(Index(9));

async fn listed(request: &Request, options: ReadOptions) -> Result<Reply, Failure> {
    let Ok(answer) = blocking::answer(&request.context.engine, &ROOTS, options.wait).await;
    let root = object! {
        "ID" => ROOT_ID,
        "Name" => if request.has(Behaviour::ConnectRootIsPrimary) {
            "Consul CA Primary Cert"
        } else {
            "Consul CA Root Cert"
        },
        "SerialNumber" => 7,
        "SigningKeyID" => SIGNING_KEY_ID,
        "ExternalTrustDomain" => TRUST_DOMAIN,
        "NotBefore" => "2020-01-01T00:00:00Z",
        "NotAfter" => "2120-01-01T00:00:00Z",
        "DaysRemaining" if request.has(Behaviour::ConnectRootDays) => days_remaining(request),
        "RootCert" => ROOT_CERTIFICATE,
        "IntermediateCerts" => (),
        "Active" => true,
        "PrivateKeyType" => "ec",
        "PrivateKeyBits" => 256,
        "CreateIndex" => 9,
        "ModifyIndex" => 9,
    };
    let roots = object! {
        "ActiveRootID" => ROOT_ID,
        "TrustDomain" => format!("{TRUST_DOMAIN}.consul"),
        "Roots" => [root],
    };
    let reply = Reply::json(request, &roots).with_index(request, answer.index);
    Ok(match request.has(Behaviour::ConnectRootsKept) {
        true => reply,
        false => reply.without_leader(),
    })
}

/// Returns how many whole days are left until the root ends.
fn days_remaining(request: &Request) -> i64 {
    const END: i64 = 4_733_510_400; // 2120-01-01T00:00:00Z
    let now = request.context.engine.clock().wall().as_secs();
    (END - now.cast_signed()) / (24 * 60 * 60)
}

/// Shows the configuration of the certificate authority. It cannot be changed.
pub(crate) fn configuration(request: &Request) -> Result<Reply, Failure> {
    check_is_on(request)?;
    if request.method == Method::PUT {
        return not_emulated::endpoint(request);
    }
    request.check_read()?;
    request.authorize()?;
    let is_late = request.has(Behaviour::ConnectRootsKept);
    let configuration = object! {
        "Provider" => "consul",
        "Config" => object! {
            "IntermediateCertTTL" => "8760h",
            "LeafCertTTL" => "72h",
            "RotationPeriod" if !is_late => "2160h",
            "RootCertTTL" if is_late => "87600h",
        },
        "State" => (),
        "ForceWithoutCrossSigning" => false,
        "CreateIndex" => 5,
        "ModifyIndex" => if is_late { 9 } else { 5 },
    };
    Ok(Reply::json(request, &configuration))
}
