//! Fills in defaults, and refuses entries that say what cannot be (operator.md 4.2).

mod api_gateway;
mod gateway;
pub(super) mod intentions;
mod mesh;
mod proxy;
mod resolver;
mod router;

use super::find;
use proconsul_store::{ConfigEntry, ConfigValue};
use proconsul_version::{Behaviour, Version};

/// Why an entry is refused, in Consul's words.
#[derive(Debug, PartialEq, Eq)]
pub enum EntryFlaw {
    /// It says what cannot be.
    Invalid(String),
    /// Only a controller of Consul may write such an entry.
    Forbidden(String),
    /// It lacks the name to store it by, which Consul looks at after rights and `?cas`.
    Unstorable(String),
}

impl From<String> for EntryFlaw {
    fn from(text: String) -> Self {
        Self::Invalid(text)
    }
}

impl From<EntryFlaw> for String {
    fn from(flaw: EntryFlaw) -> Self {
        match flaw {
            EntryFlaw::Invalid(text) | EntryFlaw::Forbidden(text) | EntryFlaw::Unstorable(text) => {
                text
            }
        }
    }
}

type Checked = Result<(), String>;

/// Fills in defaults, and checks an entry by itself.
///
/// # Errors
/// The entry says what cannot be.
pub fn check(entry: &mut ConfigEntry, version: Version) -> Result<(), EntryFlaw> {
    let ConfigEntry { kind, name, body } = entry;
    let is_late = version.has(Behaviour::ConfigLate);
    let unstorable = unstorable(kind, is_late).filter(|_| name.is_empty());
    if unstorable.is_none() {
        check_name(kind, name, version)?;
    }
    match kind.as_str() {
        "service-defaults" => {
            lower(body, "Protocol");
            if is_late {
                proxy::check_service(name, body)?;
            }
        }
        "proxy-defaults" if is_late => proxy::check_all(body)?,
        "service-router" => router::check(body, is_late)?,
        "service-splitter" => splitter(name, body, is_late)?,
        "service-resolver" => resolver::check(name, body, is_late)?,
        "ingress-gateway" => gateway::check_ingress(body, is_late)?,
        "terminating-gateway" => gateway::check_terminating(body)?,
        "service-intentions" => intentions::check(name, body)?,
        "mesh" if is_late => mesh::check(body)?,
        "exported-services" if is_late => mesh::check_exported(body)?,
        "jwt-provider" if is_late => mesh::check_jwt_provider(body)?,
        "api-gateway" if is_late => api_gateway::check(body, version)?,
        "http-route" if is_late => api_gateway::check_http_route(body)?,
        "tcp-route" if is_late => api_gateway::check_tcp_route(body)?,
        "sameness-group" => Err("sameness-groups are an enterprise-only feature".to_owned())?,
        "inference-gateway" => Err("inference-gateway is a consul enterprise feature".to_owned())?,
        "inline-certificate" if !body.text("PrivateKey").contains("PRIVATE KEY-----") => {
            Err("failed to parse private key PEM".to_owned())?;
        }
        "bound-api-gateway" => {
            let text = "Permission denied: only writeable by controller";
            return Err(EntryFlaw::Forbidden(text.to_owned()));
        }
        _ => {}
    }
    unstorable.map_or(Ok(()), |text| Err(EntryFlaw::Unstorable(text.to_owned())))
}

/// Returns the error for an entry of this kind without a name, if the name is checked only when the entry is stored.
fn unstorable(kind: &str, is_late: bool) -> Option<&'static str> {
    match kind {
        "ingress-gateway" => Some("failed inserting config entry: object missing primary index"),
        "service-defaults" | "terminating-gateway" if !is_late => Some("serviceName is required"),
        _ => None,
    }
}

fn check_name(kind: &str, name: &str, version: Version) -> Checked {
    match find(kind, version).and_then(|kind| kind.only_name) {
        Some(only) if name == only => Ok(()),
        Some(only) if kind == "exported-services" => {
            Err(format!("exported-services Name must be \"{only}\""))
        }
        Some(only) => Err(format!(
            "invalid name (\"{name}\"), only \"{only}\" is supported"
        )),
        None if !name.is_empty() => Ok(()),
        None => Err("Name is required".to_owned()),
    }
}

fn lower(body: &mut ConfigValue, name: &str) {
    let text = body.text(name).to_lowercase();
    if !text.is_empty() {
        body.set(name, ConfigValue::Text(text));
    }
}

/// Returns the text of several errors that are told together.
pub(super) fn together(errors: &[String]) -> String {
    let plural = if errors.len() == 1 { "" } else { "s" };
    let count = errors.len();
    let errors = errors.join("\n\t* ");
    format!("{count} error{plural} occurred:\n\t* {errors}\n\n")
}

/// Refuses several errors that are told together, if there are any.
fn none_of(errors: &[String]) -> Checked {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(together(errors))
    }
}

/// The versions of TLS that entries name, from the lowest.
const TLS_VERSIONS: [&str; 5] = ["TLS_AUTO", "TLSv1_0", "TLSv1_1", "TLSv1_2", "TLSv1_3"];

/// Checks two versions of TLS, each of which may be empty.
fn check_tls(min: &str, max: &str) -> Checked {
    let places = [min, max].map(|version| {
        let mut versions = TLS_VERSIONS.iter();
        versions.position(|known| *known == version)
    });
    for (version, place) in [min, max].iter().zip(places) {
        if !version.is_empty() && place.is_none() {
            let known = TLS_VERSIONS.join(", ");
            return Err(format!(
                "no matching TLS version found for {version}, please specify one of [{known}]"
            ));
        }
    }
    match places {
        [Some(least), Some(most)] if 0 < most && most < least => Err(format!(
            "configuring max version {max} less than the configured min version {min} is invalid"
        )),
        _ => Ok(()),
    }
}

fn splitter(name: &str, body: &ConfigValue, is_late: bool) -> Checked {
    let splits = body.list("Splits");
    if splits.is_empty() {
        return Err("no splits configured".to_owned());
    }
    let mut seen = Vec::new();
    for split in splits {
        let service = match split.text("Service") {
            "" => name,
            service => service,
        };
        let (subset, namespace) = (split.text("ServiceSubset"), split.text("Namespace"));
        let place = (service, subset, namespace);
        if seen.contains(&place) {
            let partition = if is_late { ", partition=\"\"" } else { "" };
            return Err(format!(
                "split destination occurs more than once: service=\"{service}\", subset=\"{subset}\", namespace=\"{namespace}\"{partition}"
            ));
        }
        seen.push(place);
    }
    let sum = splits.iter().map(|split| split.number("Weight"));
    let sum = sum.fold(0_i64, i64::saturating_add);
    if sum == 100 * 100 {
        return Ok(());
    }
    // Go adds in single precision, which shows.
    #[expect(clippy::cast_precision_loss, reason = "as Go has it")]
    let sum = f64::from(sum as f32 / 100.0);
    Err(format!(
        "the sum of all split weights must be 100, not {sum:.6}"
    ))
}
