//! Several agents and datacenters.

use crate::settings::Settings;
use crate::{AgentCounts, Config, DatacenterNames, WrongAgents, WrongDatacenters};

/// Returns how many agents there are.
pub(super) fn counts(settings: &Settings) -> Result<AgentCounts, String> {
    let counts = settings.agents.as_deref().map(str::parse).transpose();
    counts
        .map(Option::unwrap_or_default)
        .map_err(|wrong: WrongAgents| format!("-agents: {wrong}"))
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
