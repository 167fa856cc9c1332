//! The calls, a file or folder for each group of controls.

mod acl;
mod agents;
mod clock;
mod datacenters;
mod events;
mod faults;
mod history;
mod outages;
mod records;
mod root;
mod servers;
mod state;
mod wait;

use super::call::Call;

/// All calls, page by page.
pub(super) fn calls() -> Vec<Call> {
    let groups = [
        root::calls(),
        clock::calls(),
        history::calls(),
        events::calls(),
        wait::calls(),
        faults::calls(),
        faults::leader::calls(),
        outages::calls(),
        agents::calls(),
        datacenters::calls(),
        acl::calls(),
        state::calls(),
        servers::calls(),
    ];
    groups.into_iter().flatten().collect()
}
