//! Agents and datacenters: what each is, and what is done to it.

use proconsul::Server;

use crate::support::Page;

#[test]
fn an_agent_is_cut_off_leads_and_dies() {
    let three = Server::builder().frozen().agents(3).node_name("s");
    let Some(mut page) = Page::of(three, "dc1/agents") else {
        return;
    };
    page.sees("leads");
    page.press("Lead: s-1");
    page.until("button('Lead: s') && !button('Lead: s-1')");
    assert!(page.server.agent(1).leads());
    page.press("Cut off: s-2");
    page.sees("cut off");
    assert!(page.server.agent(2).state().is_cut);
    page.press("Heal: s-2");
    page.until("button('Cut off: s-2')");
    page.press("Kill: s-2");
    page.sees("does not run");
    page.press("Start: s-2");
    page.until("button('Kill: s-2')");
    assert!(page.server.agent(2).state().runs);
    page.is_clean();
}

#[test]
fn a_datacenter_is_cut_off_and_healed() {
    let two = Server::builder().frozen().datacenters(["dc1", "dc2"]);
    let Some(mut page) = Page::of(two, "dc1/agents") else {
        return;
    };
    page.press("Cut off dc2");
    page.press("Heal dc2");
    page.until("button('Cut off dc2')");
    page.is_clean();
}
