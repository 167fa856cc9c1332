//! The agents of a datacenter, which share one store.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use crate::{Config, Listener};

/// The most agents that a server may have.
const MOST: usize = 16;
/// The distance of the ports of an agent from those of the one before it.
const PORTS_APART: u16 = 10;

/// How many agents there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentCounts {
    servers: usize,
    clients: usize,
}

impl Default for AgentCounts {
    /// One server.
    fn default() -> Self {
        Self {
            servers: 1,
            clients: 0,
        }
    }
}

impl AgentCounts {
    /// Returns these numbers of servers and of client agents.
    ///
    /// # Errors
    /// There is no server, or there are more than 16 agents.
    pub fn new(servers: usize, clients: usize) -> Result<Self, WrongAgents> {
        let total = servers.checked_add(clients);
        match total.is_some_and(|total| servers > 0 && total <= MOST) {
            true => Ok(Self { servers, clients }),
            false => Err(WrongAgents),
        }
    }

    /// Reads numbers of agents, or the names of their nodes, in the order of the agents; without names the list is empty.
    ///
    /// # Errors
    /// There is no server, there are more than 16 agents, a name is empty or a number, or two are the same.
    pub(crate) fn and_names(text: &str) -> Result<(Self, Vec<String>), WrongAgents> {
        if let Ok(counts) = text.parse() {
            return Ok((counts, Vec::new()));
        }
        let (servers, clients) = text.split_once(':').unwrap_or((text, ""));
        let names = |text: &str| text.split(',').map(str::trim).map(str::to_owned).collect();
        let (mut all, clients): (Vec<String>, Vec<String>) = match clients {
            "" if text.ends_with(':') => return Err(WrongAgents),
            "" => (names(servers), Vec::new()),
            _ => (names(servers), names(clients)),
        };
        let counts = Self::new(all.len(), clients.len())?;
        all.extend(clients);
        let is_wrong = |(at, name): (usize, &String)| {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            is_number || name.contains(':') || all[..at].contains(name)
        };
        match all.iter().enumerate().any(is_wrong) {
            true => Err(WrongAgents),
            false => Ok((counts, all)),
        }
    }

    /// Whether there is one agent alone.
    #[must_use]
    pub fn is_lone(self) -> bool {
        self == Self::default()
    }

    /// How many agents there are in all.
    #[must_use]
    pub fn total(self) -> usize {
        self.servers + self.clients
    }
}

/// The agents are neither `SERVERS` or `SERVERS:CLIENTS` nor such lists of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongAgents;

impl fmt::Display for WrongAgents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "agents are SERVERS or SERVERS:CLIENTS, such as 3 or 3:1, or the names of their nodes, such as a,b,c:d: at least one server, at most {MOST} in all"
        )
    }
}

impl std::error::Error for WrongAgents {}

impl FromStr for AgentCounts {
    type Err = WrongAgents;

    fn from_str(text: &str) -> Result<Self, WrongAgents> {
        let (servers, clients) = text.split_once(':').unwrap_or((text, "0"));
        let number = |text: &str| text.parse().map_err(|_| WrongAgents);
        Self::new(number(servers)?, number(clients)?)
    }
}

impl fmt::Display for AgentCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clients {
            0 => self.servers.fmt(formatter),
            clients => write!(formatter, "{}:{clients}", self.servers),
        }
    }
}

impl Config {
    /// Returns the configuration of each agent, servers first. The first has this configuration, and is a server if there
    /// are others. The name of each other agent ends in its number, unless all have names. Each of its
    /// ports is 10 higher than that of the agent before; 0 stays a free one. Only the first has the services and checks.
    #[must_use]
    pub fn of_agents(&self) -> Vec<Config> {
        let numbers = 0..self.agents.total();
        numbers.map(|number| self.of_agent(number)).collect()
    }

    fn of_agent(&self, number: usize) -> Config {
        let mut config = self.with_ports_of(number);
        config.server = match self.is_lone() {
            true => self.server,
            false => number < self.agents.servers,
        };
        if number > 0 {
            let seed = self.seed.unwrap_or_default().wrapping_add(number as u64);
            let numbered = || format!("{}-{number}", self.node_name);
            let given = self.agent_names.get(number).cloned();
            config.node_name = given.unwrap_or_else(numbered);
            config.node_id = Config::node_id_from_seed(seed);
            config.services.clear();
            config.checks.clear();
        }
        config
    }

    /// Returns this configuration with the ports of the agent with this number, counted over all datacenters.
    pub(crate) fn with_ports_of(&self, number: usize) -> Config {
        let up = PORTS_APART * u16::try_from(number).unwrap_or_default();
        let higher = |port: u16| match port {
            0 => 0,
            port => port.checked_add(up).unwrap_or(port),
        };
        let address = |at: &SocketAddr| SocketAddr::new(at.ip(), higher(at.port()));
        let listener = |listener: &Listener| match listener {
            Listener::Tcp(at) => Listener::Tcp(address(at)),
            Listener::Unix(path) if number == 0 => Listener::Unix(path.clone()),
            Listener::Unix(path) => {
                let mut path = path.clone().into_os_string();
                path.push(format!(".{number}"));
                Listener::Unix(path.into())
            }
        };
        let mut config = self.clone();
        config.listeners = self.listeners.iter().map(listener).collect();
        config.https.listeners = self.https.listeners.iter().map(listener).collect();
        config.dns.listeners = self.dns.listeners.iter().map(address).collect();
        config.control_port = self.control_port.map(higher);
        config.server_port = higher(self.server_port);
        config.serf_lan_port = higher(self.serf_lan_port);
        config.serf_wan_port = self.serf_wan_port.map(higher);
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_agents_are_read_and_refused() {
        let read = |text: &str| text.parse::<AgentCounts>().map(|counts| counts.to_string());
        assert_eq!(read("3"), Ok("3".to_owned()));
        assert_eq!(read("3:1"), Ok("3:1".to_owned()));
        for wrong in [
            "",
            "0",
            "0:3",
            "3:",
            "a",
            "-1",
            "16:1",
            "18446744073709551615:1",
        ] {
            assert_eq!(read(wrong), Err(WrongAgents), "{wrong}");
        }
    }

    #[test]
    fn names_of_agents_are_read_and_refused() {
        let read = |text: &str| {
            let read = AgentCounts::and_names(text);
            read.map(|(counts, names)| (counts.to_string(), names.join(" ")))
        };
        let is = |counts: &str, names: &str| Ok((counts.to_owned(), names.to_owned()));
        assert_eq!(read("3:1"), is("3:1", ""));
        assert_eq!(read("a,b,c:d"), is("3:1", "a b c d"));
        assert_eq!(read("a, 1b"), is("2", "a 1b"));
        for wrong in ["", "a,", "a:", ":a", "a,a", "a:a", "3:a", "a,1", "a:b:b"] {
            assert_eq!(read(wrong), Err(WrongAgents), "{wrong}");
        }
    }

    #[test]
    fn each_agent_has_names_and_ports_of_its_own() {
        let config = Config {
            listeners: vec![Listener::Tcp(([127, 0, 0, 1], 8500).into())],
            agents: AgentCounts::new(2, 1).expect("few agents"),
            ..Config::default().with_seed(7)
        };
        let agents = config.of_agents();
        assert_eq!(agents[0], config);
        let of = |agent: &Config| (agent.node_name.clone(), agent.server, agent.server_port);
        assert_eq!(of(&agents[1]), ("proconsul-1".to_owned(), true, 8310));
        assert_eq!(of(&agents[2]), ("proconsul-2".to_owned(), false, 8320));
        assert_eq!(
            agents[1].listeners,
            [Listener::Tcp(([127, 0, 0, 1], 8510).into())]
        );
        assert_ne!(agents[1].node_id, agents[2].node_id);
        let agent_names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let agents = Config {
            agent_names,
            ..config
        }
        .of_agents();
        assert_eq!(agents[2].node_name, "c");
    }
}
