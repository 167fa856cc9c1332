//! Fills in defaults, and refuses entries that say what cannot be (operator.md 4.2).

mod gateway;
pub(super) mod intentions;
mod resolver;
mod router;

use super::find;
use crate::store::{ConfigEntry, ConfigValue};
use crate::version::{Behaviour, Version};

/// Why an entry is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntryFlaw {
    /// Consul's text.
    pub(crate) text: String,
    /// Whether only a controller of Consul may write such an entry.
    pub(crate) is_forbidden: bool,
}

impl From<String> for EntryFlaw {
    fn from(text: String) -> Self {
        Self {
            text,
            is_forbidden: false,
        }
    }
}

type Checked = Result<(), String>;

/// Fills in defaults, and checks an entry by itself.
///
/// # Errors
/// The entry says what cannot be.
pub(crate) fn check(entry: &mut ConfigEntry, version: Version) -> Result<(), EntryFlaw> {
    let ConfigEntry { kind, name, body } = entry;
    check_name(kind, name, version)?;
    let is_late = version.has(Behaviour::ConfigLate);
    match kind.as_str() {
        "service-defaults" => service_defaults(body, is_late)?,
        "service-router" => router::check(body)?,
        "service-splitter" => splitter(name, body, is_late)?,
        "service-resolver" => resolver::check(name, body, is_late)?,
        "ingress-gateway" => gateway::check_ingress(body, is_late)?,
        "terminating-gateway" => gateway::check_terminating(body)?,
        "service-intentions" => intentions::check(name, body)?,
        "sameness-group" => Err("sameness-groups are an enterprise-only feature".to_owned())?,
        "inline-certificate" if !body.text("PrivateKey").contains("PRIVATE KEY-----") => {
            Err("failed to parse private key PEM".to_owned())?;
        }
        "bound-api-gateway" => {
            return Err(EntryFlaw {
                text: "Permission denied: only writeable by controller".to_owned(),
                is_forbidden: true,
            });
        }
        _ => {}
    }
    Ok(())
}

fn check_name(kind: &str, name: &str, version: Version) -> Checked {
    let is_late = version.has(Behaviour::ConfigLate);
    match find(kind, version).and_then(|kind| kind.only_name) {
        Some(only) if name == only => Ok(()),
        Some(only) if kind == "exported-services" => {
            Err(format!("exported-services Name must be \"{only}\""))
        }
        Some(only) => Err(format!(
            "invalid name (\"{name}\"), only \"{only}\" is supported"
        )),
        None if !name.is_empty() => Ok(()),
        None if is_late => Err("Name is required".to_owned()),
        None => Err(match kind {
            "service-defaults" | "terminating-gateway" => "serviceName is required",
            "ingress-gateway" => "failed inserting config entry: object missing primary index",
            _ => "Name is required",
        }
        .to_owned()),
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

fn service_defaults(body: &mut ConfigValue, is_late: bool) -> Checked {
    lower(body, "Protocol");
    if !is_late {
        return Ok(());
    }
    if body.text("MutualTLSMode") == "permissive" {
        return Err("cannot set MutualTLSMode=permissive because AllowEnablingPermissiveMutualTLS=false in the mesh config entry".to_owned());
    }
    let mut errors = Vec::new();
    let protocol = body.text("Protocol");
    if !matches!(protocol, "" | "tcp" | "http" | "http2" | "grpc") {
        errors.push(format!("invalid value for protocol: {protocol}"));
    }
    if body.get("RateLimits").is_some() {
        let text = "invalid rate_limits config. Rate limiting is a consul enterprise feature";
        errors.push(text.to_owned());
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(together(&errors))
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
