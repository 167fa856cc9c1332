//! Several agents and datacenters.

use crate::settings::Settings;
use crate::{AgentCounts, Config, DatacenterNames, WrongDatacenters};

/// Takes the agents and the names of their nodes.
///
/// # Errors
/// Our text about the agents.
pub(super) fn take_agents(settings: &Settings, config: &mut Config) -> Result<(), String> {
    if let Some(text) = &settings.agents {
        (config.agents, config.agent_names) =
            AgentCounts::and_names(text).map_err(|wrong| format!("-agents: {wrong}"))?;
    }
    Ok(())
}

/// Takes the name of the node, which is that of the first agent.
///
/// # Errors
/// Our text about two names.
pub(super) fn take_node_name(settings: &Settings, config: &mut Config) -> Result<(), String> {
    let given = settings.node_name.as_deref().map(str::trim);
    let given = given.filter(|name| !name.is_empty());
    let first = config.agent_names.first();
    if let (Some(given), Some(first)) = (given, first)
        && given != first
    {
        return Err(format!(
            "-agents begins with {first}, and -node is {given}: leave one of them out"
        ));
    }
    if let Some(name) = given.or(first.map(String::as_str)) {
        config.node_name = name.to_owned();
    }
    Ok(())
}

/// Joins datacenters.
///
/// # Errors
/// Our text about the names.
pub(super) fn take_datacenters(settings: &Settings, config: &mut Config) -> Result<(), String> {
    let Some(text) = &settings.datacenters else {
        return Ok(());
    };
    let names: DatacenterNames = text
        .parse()
        .map_err(|wrong: WrongDatacenters| format!("-datacenters: {wrong}"))?;
    let (first, own) = (&names.names()[0], &config.datacenter);
    if settings.datacenter.is_some() && first != own {
        return Err(format!(
            "-datacenters begins with {first}, and -datacenter is {own}: leave one of them out"
        ));
    }
    config.join(names);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::resolve;

    #[test]
    fn the_first_name_of_the_agents_is_that_of_the_node() {
        let read = |agents: &str, node: Option<&str>| {
            let settings = Settings {
                dev: Some(true),
                agents: Some(agents.to_owned()),
                node_name: node.map(str::to_owned),
                ..Settings::default()
            };
            resolve(&settings).map(|resolved| resolved.config.node_name)
        };
        assert_eq!(read("a,b", None), Ok("a".to_owned()));
        assert_eq!(read("a,b", Some("a")), Ok("a".to_owned()));
        assert_eq!(read("2", Some("c")), Ok("c".to_owned()));
        assert_eq!(
            read("a,b", Some("c")),
            Err("-agents begins with a, and -node is c: leave one of them out".to_owned())
        );
    }
}
