//! Intentions of a service: who may call it.

use super::Checked;
use crate::store::ConfigValue;

/// Gives each source its type and precedence, and sorts them by it. The texts of flaws are not Consul's: they were not
/// asked for.
pub(super) fn check(name: &str, body: &mut ConfigValue) -> Checked {
    let sources = body.list_mut("Sources");
    for (at, source) in sources.iter_mut().enumerate() {
        let from = source.text("Name").to_owned();
        if from.is_empty() {
            return Err(format!("Sources[{at}].Name is required"));
        }
        let permits = !source.list("Permissions").is_empty();
        let action = source.text("Action");
        if permits != action.is_empty() || !matches!(action, "" | "allow" | "deny") {
            return Err(format!(
                "Sources[{at}].Action must be set to 'allow' or 'deny'"
            ));
        }
        let precedence = precedence(&from, name);
        source.set("Precedence", ConfigValue::Number(precedence));
        if source.text("Type").is_empty() {
            source.set("Type", ConfigValue::Text("consul".to_owned()));
        }
    }
    let place = |source: &ConfigValue| {
        let precedence = std::cmp::Reverse(source.number("Precedence"));
        (precedence, source.text("Name").to_owned())
    };
    sources.sort_by_cached_key(place);
    if sources
        .windows(2)
        .any(|pair| pair[0].text("Name") == pair[1].text("Name"))
    {
        return Err("Sources has the same Name twice".to_owned());
    }
    Ok(())
}

/// Returns how exact an intention is: a higher one decides.
pub(crate) fn precedence(source: &str, destination: &str) -> i64 {
    match (source, destination) {
        ("*", "*") => 5,
        (_, "*") => 6,
        ("*", _) => 8,
        (_, _) => 9,
    }
}
