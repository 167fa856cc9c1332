//! Intentions of a service: who may call it (operator.md 4.5.r10, 4.5.r11).

use super::Checked;
use super::api_gateway::METHODS;
use super::router::{check_matchers, check_paths};
use proconsul_store::ConfigValue;

/// The name that stands for all services.
const WILDCARD: &str = "*";
const PARTLY_WILD: &str = "wildcard character '*' cannot be used with partial values";
/// What a source says of its time as a row with an id.
const LEGACY: [&str; 3] = ["LegacyID", "LegacyCreateTime", "LegacyUpdateTime"];

/// Fills in defaults, and checks an entry that is written as one. Its intentions have no ids then.
pub(super) fn check(name: &str, body: &mut ConfigValue) -> Checked {
    for source in body.list_mut("Sources") {
        for field in LEGACY {
            source.remove(field);
        }
    }
    check_sources(name, body)?;
    let sources = body.list("Sources").iter();
    let mut labelled = sources.map(|source| source.members("LegacyMeta").next().is_some());
    match labelled.position(|is_labelled| is_labelled) {
        Some(at) => Err(format!("Sources[{at}].LegacyMeta must be omitted")),
        None => Ok(()),
    }
}

/// Gives each source its type and precedence, sorts them by it, and checks them.
pub fn check_sources(name: &str, body: &mut ConfigValue) -> Checked {
    if is_partly_wild(name) {
        return Err(format!("Name: {PARTLY_WILD}"));
    }
    let sources = body.list_mut("Sources");
    for source in &mut *sources {
        complete(name, source);
    }
    let place = |source: &ConfigValue| {
        let precedence = std::cmp::Reverse(source.number("Precedence"));
        (precedence, source.text("Name").to_owned())
    };
    sources.sort_by_cached_key(place);
    if sources.is_empty() {
        return Err("At least one source is required".to_owned());
    }
    let mut seen = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        check_source(name, source).map_err(|flaw| format!("Sources[{at}].{flaw}"))?;
        let from = (source.text("Name"), source.text("Peer"));
        if seen.contains(&from) {
            return Err(format!(
                "Sources[{at}] defines \"{}\" more than once",
                from.0
            ));
        }
        seen.push(from);
    }
    Ok(())
}

fn complete(name: &str, source: &mut ConfigValue) {
    let precedence = precedence(source.text("Name"), name);
    source.set("Precedence", ConfigValue::Number(precedence));
    if source.text("Type").is_empty() {
        source.set("Type", ConfigValue::Text("consul".to_owned()));
    }
    for permission in source.list_mut("Permissions") {
        let Some(http) = permission.get_mut("HTTP") else {
            continue;
        };
        for method in http.list_mut("Methods") {
            if let ConfigValue::Text(method) = method {
                *method = method.to_uppercase();
            }
        }
    }
}

/// Returns how exact an intention is: a higher one decides.
fn precedence(source: &str, destination: &str) -> i64 {
    match (source, destination) {
        (WILDCARD, WILDCARD) => 5,
        (_, WILDCARD) => 6,
        (WILDCARD, _) => 8,
        (_, _) => 9,
    }
}

fn is_partly_wild(name: &str) -> bool {
    name.contains(WILDCARD) && name != WILDCARD
}

fn check_source(destination: &str, source: &ConfigValue) -> Checked {
    let name = source.text("Name");
    if name.is_empty() {
        return Err("Name is required".to_owned());
    }
    if is_partly_wild(name) {
        return Err(format!("Name: {PARTLY_WILD}"));
    }
    if source.text("Type") != "consul" {
        return Err("Type must be set to 'consul'".to_owned());
    }
    let permissions = source.list("Permissions");
    if permissions.is_empty() {
        return check_action(source);
    }
    if !source.text("Action").is_empty() {
        return Err("Action must be omitted if Permissions are specified".to_owned());
    }
    if destination == WILDCARD {
        let text = "Permissions cannot be specified on intentions with wildcarded destinations";
        return Err(text.to_owned());
    }
    for (at, permission) in permissions.iter().enumerate() {
        check_permission(permission).map_err(|flaw| format!("Permissions[{at}].{flaw}"))?;
    }
    Ok(())
}

fn check_action(of: &ConfigValue) -> Checked {
    match of.text("Action") {
        "allow" | "deny" => Ok(()),
        _ => Err("Action must be set to 'allow' or 'deny'".to_owned()),
    }
}

fn check_permission(permission: &ConfigValue) -> Checked {
    check_action(permission)?;
    let Some(http) = permission.get("HTTP") else {
        return Err("HTTP is required".to_owned());
    };
    let paths = ["PathExact", "PathPrefix", "PathRegex"];
    let has_path = paths.iter().any(|path| !http.text(path).is_empty());
    let has_list = ["Header", "Methods"]
        .iter()
        .any(|list| !http.list(list).is_empty());
    if !has_path && !has_list {
        return Err("HTTP should not be empty".to_owned());
    }
    let ways = ["Present", "Exact", "Prefix", "Suffix", "Contains", "Regex"];
    let words = "Present, Exact, Prefix, Suffix, Contains, or Regex";
    check_paths(http)
        .and_then(|()| check_matchers(http, "Header", &ways, words))
        .and_then(|()| check_methods(http))
        .map_err(|flaw| match flaw.starts_with("should ") {
            true => format!("HTTP {flaw}"),
            false => format!("HTTP.{flaw}"),
        })
}

fn check_methods(http: &ConfigValue) -> Checked {
    let mut seen = Vec::new();
    for method in http.texts("Methods") {
        if !METHODS.contains(&method) {
            return Err(format!("Methods contains an invalid method \"{method}\""));
        }
        if seen.contains(&method) {
            return Err(format!("Methods contains \"{method}\" more than once"));
        }
        seen.push(method);
    }
    Ok(())
}
