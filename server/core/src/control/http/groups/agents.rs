//! The agents of a datacenter, and what happens between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datacenters;
use super::records::Done;
use crate::control::http::call::{JsonBody, Name, Nothing, Nouns, Refused, Span, calls};
use crate::control::{AgentHandle, Controls, Lag, Link};

const NO_AGENT: &str = "There is no such agent, or no such datacenter.";

calls! {
    /// The agents of the datacenter: one, unless the server was started with `--agents`.
    GET "/agents" agents;
    /// Sets how far a server lags behind the leader, for reads with `?stale`; as a real one if nothing says how far.
    POST "/agents/lag" lag_agent, example { "agent": 1, "time": "5s" }, refuses 404 NO_AGENT;
    /// Cuts an agent off from all others; its clients still reach it.
    POST "/agents/cut" cut_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
    /// Lets an agent that was cut off reach the others again.
    POST "/agents/heal" heal_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
    /// Makes a server the leader, without a request that fails.
    POST "/agents/lead" lead_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
    /// Sets the link between an agent and its clients.
    POST "/agents/link" link_agent, example { "agent": 1, "link": "silent" }, refuses 404 NO_AGENT;
    /// Stops the process of an agent, as SIGSTOP does: it takes connections and answers nothing, and the others lose it.
    POST "/agents/pause" pause_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
    /// Lets the process of an agent go on, as SIGCONT does: it answers what was sent meanwhile.
    POST "/agents/resume" resume_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
    /// Ends the process of an agent, as `kill -9` does. The first agent can be killed only if the control plane has its own port.
    POST "/agents/kill" kill_agent, example { "agent": 1 }, refuses 404 NO_AGENT, refuses 409 "It would cut off the control plane.";
    /// Starts the process of an agent again, with the data that it had.
    POST "/agents/start" start_agent, example { "agent": 1 }, refuses 404 NO_AGENT;
}

/// The agents.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Agents {
    /// The agents, servers first.
    agents: Vec<AgentView>,
}

/// An agent.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Agent", deny_unknown_fields)]
pub(super) struct AgentView {
    /// Its number, from 0 on.
    agent: usize,
    /// The name of its node.
    node: String,
    /// The address of its Consul API; none if it does not listen on TCP.
    address: Option<String>,
    /// Whether it is a server.
    server: bool,
    /// Whether it leads.
    leads: bool,
    /// Whether its process runs.
    runs: bool,
    /// Whether it is cut off from the others.
    cut: bool,
    /// Whether the others have marked it as failed, or as one that has left.
    failed: bool,
}

impl AgentView {
    pub(super) fn of(agent: &AgentHandle) -> Self {
        let state = agent.state();
        Self {
            agent: agent.number(),
            node: agent.name().to_owned(),
            address: agent.addresses().first().map(ToString::to_string),
            server: agent.is_server(),
            leads: agent.leads(),
            runs: state.runs,
            cut: state.is_cut,
            failed: state.has_failed,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneAgent {
    /// The number of the agent, from 0 on.
    agent: usize,
    /// The name of its datacenter, where several are joined. When it is left out: the one that is asked.
    datacenter: Option<String>,
}

/// At most one of the last three is given.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewLag {
    /// The number of the agent, from 0 on.
    agent: usize,
    /// The name of its datacenter, where several are joined. When it is left out: the one that is asked.
    datacenter: Option<String>,
    /// It applies each entry after this time on the server's clock: a duration such as `5s`.
    time: Option<Span>,
    /// It applies an entry when this many newer ones are there.
    entries: Option<usize>,
    /// It applies nothing, while this is true.
    #[serde(default)]
    hold: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewLink {
    /// The number of the agent, from 0 on.
    agent: usize,
    /// The name of its datacenter, where several are joined. When it is left out: the one that is asked.
    datacenter: Option<String>,
    /// The state of the link.
    link: Name<LinkState>,
}

proconsul_engine::named! {
    /// The state of the link between an agent and its clients.
    #[derive(Clone, Copy)]
    enum LinkState {
        Up "up" "Requests and responses get through.",
        Silent "silent" "Nothing gets through. What is sent meanwhile arrives when the link is up again.",
        Cut "cut" "Connections are reset.",
    }
}

impl Nouns for LinkState {
    const NOUN: &'static str = "link";
    const SCHEMA: &'static str = "Link";
    const DESCRIPTION: &'static str = "The state of a link.";
}

/// # Errors
/// There is no such agent or datacenter.
fn agent(
    control: &Controls,
    datacenter: Option<&str>,
    number: usize,
) -> Result<AgentHandle, Refused> {
    let there = match datacenter {
        Some(name) => datacenters::named(control, name)?,
        None => control.clone(),
    };
    let found = there.find_agent(number);
    found.map_err(|error| Refused::missing(error.to_string()))
}

impl OneAgent {
    /// # Errors
    /// There is no such agent or datacenter.
    fn of(&self, control: &Controls) -> Result<AgentHandle, Refused> {
        agent(control, self.datacenter.as_deref(), self.agent)
    }
}

async fn agents(control: Controls, _: Nothing) -> Result<Agents, Refused> {
    let agents = control.agents();
    Ok(Agents {
        agents: agents.iter().map(AgentView::of).collect(),
    })
}

async fn lag_agent(control: Controls, JsonBody(new): JsonBody<NewLag>) -> Result<Done, Refused> {
    let lag = match (new.time, new.entries, new.hold) {
        (None, None, false) => Lag::NextMessage,
        (Some(Span(time)), None, false) => Lag::Time(time),
        (None, Some(entries), false) => Lag::Entries(entries),
        (None, None, true) => Lag::Hold,
        _ => {
            let one = "at most one of time, entries and hold is given";
            return Err(Refused::input(one.to_owned()));
        }
    };
    agent(&control, new.datacenter.as_deref(), new.agent)?.lag(lag);
    Ok(Done {})
}

async fn cut_agent(control: Controls, JsonBody(one): JsonBody<OneAgent>) -> Result<Done, Refused> {
    one.of(&control)?.cut();
    Ok(Done {})
}

async fn heal_agent(control: Controls, JsonBody(one): JsonBody<OneAgent>) -> Result<Done, Refused> {
    one.of(&control)?.heal();
    Ok(Done {})
}

async fn lead_agent(control: Controls, JsonBody(one): JsonBody<OneAgent>) -> Result<Done, Refused> {
    one.of(&control)?.lead();
    Ok(Done {})
}

async fn link_agent(control: Controls, JsonBody(new): JsonBody<NewLink>) -> Result<Done, Refused> {
    let link = match new.link.0 {
        LinkState::Up => Link::Up,
        LinkState::Silent => Link::Silent,
        LinkState::Cut => Link::Cut,
    };
    agent(&control, new.datacenter.as_deref(), new.agent)?.set_link(link);
    Ok(Done {})
}

async fn pause_agent(
    control: Controls,
    JsonBody(one): JsonBody<OneAgent>,
) -> Result<Done, Refused> {
    one.of(&control)?.pause();
    Ok(Done {})
}

async fn resume_agent(
    control: Controls,
    JsonBody(one): JsonBody<OneAgent>,
) -> Result<Done, Refused> {
    one.of(&control)?.resume();
    Ok(Done {})
}

async fn kill_agent(control: Controls, JsonBody(one): JsonBody<OneAgent>) -> Result<Done, Refused> {
    let killed = one.of(&control)?;
    let is_here = one
        .datacenter
        .as_ref()
        .is_none_or(|name| control.datacenters()[0] == *name);
    if one.agent == 0 && is_here && control.all_addresses().control.is_none() {
        return Err(Refused::unmet(
            "this would close the control plane's own connection; start the server with a control port",
        ));
    }
    let done = killed.kill_async().await;
    done.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Done {})
}

async fn start_agent(
    control: Controls,
    JsonBody(one): JsonBody<OneAgent>,
) -> Result<Done, Refused> {
    let started = one.of(&control)?.start_async().await;
    started.map_err(|error| Refused::failed(error.to_string()))?;
    Ok(Done {})
}
