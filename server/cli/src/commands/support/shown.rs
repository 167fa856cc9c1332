//! JSON as Consul's client prints it: the client decodes an answer into its types and encodes these again.

use std::collections::BTreeMap;

use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::encode::reprint::{self, compact};
use proconsul_gocompat::json::encode::to_text;
use proconsul_gocompat::json::value::Value;

/// The fields of a service instance, in the order of the client of 1.8.7. The server has another order.
const SERVICE: &[&str] = &[
    "Kind",
    "ID",
    "Service",
    "Tags",
    "Meta",
    "Port",
    "Address",
    "TaggedAddresses",
    "Weights",
    "EnableTagOverride",
    "CreateIndex",
    "ModifyIndex",
    "Proxy",
    "Connect",
];

/// The fields of a check's definition with their defaults. The client also prints fields that the server leaves out.
const DEFINITION: &[(&str, &str)] = &[
    ("Interval", r#""0s""#),
    ("Timeout", r#""0s""#),
    ("DeregisterCriticalServiceAfter", r#""0s""#),
    ("HTTP", r#""""#),
    ("Header", "null"),
    ("Method", r#""""#),
    ("Body", r#""""#),
    ("TLSSkipVerify", "false"),
    ("TCP", r#""""#),
];

/// Prints a list of checks.
///
/// # Errors
/// Go's text about invalid JSON.
pub(in crate::commands) fn checks(answer: &str) -> Result<String, String> {
    let answer = document(answer.as_bytes())?;
    Ok(list(answer.value().elements().map(check)))
}

/// Prints a list of service instances, each with its node and checks.
///
/// # Errors
/// Go's text about invalid JSON.
pub(in crate::commands) fn instances(answer: &str) -> Result<String, String> {
    let answer = document(answer.as_bytes())?;
    let instance = |instance: Value<'_>| {
        object(instance, |name, value| match name {
            "Service" => service(value),
            "Checks" => list(value.elements().map(check)),
            _ => compact(value),
        })
    };
    Ok(list(answer.value().elements().map(instance)))
}

/// Prints a configuration entry. The client leaves out fields without a value that the server shows, except the
/// listeners of a gateway.
///
/// # Errors
/// Go's text about invalid JSON.
pub(in crate::commands) fn config_entry(answer: &str) -> Result<String, String> {
    let answer = document(answer.as_bytes())?;
    let is_shown = |name: &str, value: Value<'_>| {
        name == "Listeners" || !matches!(value.text(), b"null" | b"\"\"")
    };
    let members = answer.value().members();
    let members = members.filter(|(name, value)| is_shown(name, *value));
    let entry = joined(members.map(|(name, value)| (name.into_owned(), compact(value))));
    Ok(indented(&entry))
}

/// Prints an answer unchanged.
///
/// # Errors
/// None. The signature is that of the other functions.
pub(in crate::commands) fn whole(answer: &str) -> Result<String, String> {
    Ok(answer.to_owned())
}

/// Indents JSON with four spaces per level. Invalid JSON stays unchanged.
pub(in crate::commands) fn indented(json: &str) -> String {
    let document = document(json.as_bytes());
    document.map_or_else(
        |_| json.to_owned(),
        |document| reprint::indented(document.value()),
    )
}

fn check(check: Value<'_>) -> String {
    object(check, |name, value| match name {
        "Definition" => definition(value),
        _ => compact(value),
    })
}

/// Prints a service. Fields that the client of 1.8.7 does not know come last.
fn service(service: Value<'_>) -> String {
    let mut members: Vec<_> = service.members().collect();
    members.sort_by_key(|(name, _)| {
        let place = SERVICE.iter().position(|known| known == name);
        place.unwrap_or(SERVICE.len())
    });
    joined(
        members
            .into_iter()
            .map(|(name, value)| (name.into_owned(), compact(value))),
    )
}

fn definition(definition: Value<'_>) -> String {
    let members = definition.members();
    let mut given: BTreeMap<String, String> = members
        .map(|(name, value)| (name.into_owned(), compact(value)))
        .collect();
    let mut shown: Vec<(String, String)> = Vec::new();
    for (name, absent) in DEFINITION {
        let value = given.remove(*name);
        shown.push((
            (*name).to_owned(),
            value.unwrap_or_else(|| (*absent).to_owned()),
        ));
    }
    shown.extend(given);
    joined(shown.into_iter())
}

pub(in crate::commands) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn object(value: Value<'_>, show: impl Fn(&str, Value<'_>) -> String) -> String {
    joined(value.members().map(|(name, member)| {
        let shown = show(&name, member);
        (name.into_owned(), shown)
    }))
}

pub(in crate::commands) fn joined(members: impl Iterator<Item = (String, String)>) -> String {
    let members = members.map(|(name, value)| format!("{}:{value}", to_text(&name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_clients_order_and_what_it_does_not_know_last() {
        let answer = r#"[{"Service":{"ID":"w","New":1,"Address":"","Meta":{"b":"<","a":""},"Port":8,"Proxy":{},"ModifyIndex":3},"Checks":[]}]"#;
        let expected = r#"[{"Service":{"ID":"w","Meta":{"b":"\u003c","a":""},"Port":8,"Address":"","ModifyIndex":3,"Proxy":{},"New":1},"Checks":[]}]"#;
        assert_eq!(instances(answer).as_deref(), Ok(expected));
    }

    #[test]
    fn the_definition_of_a_check_is_whole() {
        let whole = r#""Timeout":"0s","DeregisterCriticalServiceAfter":"0s","HTTP":"","Header":null,"Method":"","Body":"","TLSSkipVerify":false,"TCP":"t","New":1"#;
        let answer = r#"[{"Name":"c","Definition":{"TCP":"t","New":1,"Interval":"5s"}}]"#;
        let expected = format!(r#"[{{"Name":"c","Definition":{{"Interval":"5s",{whole}}}}}]"#);
        assert_eq!(checks(answer), Ok(expected));
    }
}
