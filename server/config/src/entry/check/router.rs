//! Routers: what a route looks at, and what it does.

use super::Checked;
use super::api_gateway::is_method;
use proconsul_store::ConfigValue;

/// When a request is tried again, in Envoy's words.
const RETRY_CONDITIONS: [&str; 12] = [
    "5xx",
    "gateway-error",
    "reset",
    "connect-failure",
    "envoy-ratelimited",
    "retriable-4xx",
    "refused-stream",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

pub(super) fn check(body: &mut ConfigValue, is_late: bool) -> Checked {
    for route in body.list_mut("Routes") {
        normalize(route, is_late);
    }
    for (at, route) in body.list("Routes").iter().enumerate() {
        let nothing = ConfigValue::Members(std::collections::BTreeMap::new());
        let http = route.get("Match").and_then(|matching| matching.get("HTTP"));
        let http = http.unwrap_or(&nothing);
        let wrong = |what: String| format!("Route[{at}] {what}");
        check_paths(http).map_err(wrong)?;
        let ways = ["Present", "Exact", "Prefix", "Suffix", "Contains", "Regex"];
        let words = "Present, Exact, Prefix, Suffix, or Regex";
        check_matchers(http, "Header", &ways, words).map_err(wrong)?;
        let ways = ["Present", "Exact", "Regex"];
        check_matchers(http, "QueryParam", &ways, "Present, Exact, or Regex").map_err(wrong)?;
        check_methods(http, is_late).map_err(wrong)?;
        let destination = route.get("Destination");
        let rewrites = destination.is_some_and(|to| !to.text("PrefixRewrite").is_empty());
        let has_path = !http.text("PathExact").is_empty() || !http.text("PathPrefix").is_empty();
        if rewrites && !has_path {
            let what = "cannot make use of PrefixRewrite without configuring either PathExact or PathPrefix";
            return Err(wrong(what.to_owned()));
        }
        let mut conditions = destination.into_iter().flat_map(|to| to.texts("RetryOn"));
        let unknown = conditions.find(|condition| !RETRY_CONDITIONS.contains(condition));
        if let Some(condition) = unknown.filter(|_| is_late) {
            return Err(wrong(format!(
                "contains an invalid retry condition: \"{condition}\""
            )));
        }
    }
    Ok(())
}

/// Writes methods in capitals. In earlier releases a route that names methods gets a namespace too (operator.md 4.3.r6).
fn normalize(route: &mut ConfigValue, is_late: bool) {
    let ConfigValue::Members(members) = route else {
        return;
    };
    let http = match members.get_mut("Match") {
        Some(ConfigValue::Members(matching)) => matching.get_mut("HTTP"),
        _ => None,
    };
    let Some(http) = http else { return };
    let methods = http.list_mut("Methods");
    let has_methods = !methods.is_empty();
    for method in methods {
        if let ConfigValue::Text(method) = method {
            *method = method.to_uppercase();
        }
    }
    if let Some(destination) = members
        .get_mut("Destination")
        .filter(|_| has_methods && !is_late)
        && destination.text("Namespace").is_empty()
    {
        destination.set("Namespace", ConfigValue::Text("default".to_owned()));
    }
}

pub(super) fn check_paths(http: &ConfigValue) -> Checked {
    for field in ["PathExact", "PathPrefix"] {
        let path = http.text(field);
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!("{field} doesn't start with '/': \"{path}\""));
        }
    }
    let fields = ["PathExact", "PathPrefix", "PathRegex"];
    let given = fields.iter().filter(|field| !http.text(field).is_empty());
    if given.count() > 1 {
        let text = "should only contain at most one of PathExact, PathPrefix, or PathRegex";
        return Err(text.to_owned());
    }
    Ok(())
}

pub(super) fn check_matchers(
    http: &ConfigValue,
    list: &str,
    ways: &[&str],
    words: &str,
) -> Checked {
    for (at, matcher) in http.list(list).iter().enumerate() {
        if matcher.text("Name").is_empty() {
            return Err(format!("{list}[{at}] missing required Name field"));
        }
        let given = ways.iter().filter(|way| matcher.get(way).is_some());
        if given.count() != 1 {
            return Err(format!("{list}[{at}] should only contain one of {words}"));
        }
    }
    Ok(())
}

fn check_methods(http: &ConfigValue, is_late: bool) -> Checked {
    let mut seen = Vec::new();
    for method in http.texts("Methods") {
        if is_late && !is_method(method) {
            return Err(format!("Methods contains an invalid method \"{method}\""));
        }
        if seen.contains(&method) {
            return Err(format!("Methods contains \"{method}\" more than once"));
        }
        seen.push(method);
    }
    Ok(())
}
