//! Datacenters that are joined.

use std::fmt;
use std::str::FromStr;

use crate::{Config, DataFiles};

/// The most datacenters that may be joined.
const MOST: usize = 8;

/// The names of datacenters that are joined, the own one first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatacenterNames(Vec<String>);

impl DatacenterNames {
    /// Returns these datacenters.
    ///
    /// # Errors
    /// There are fewer than 2 or more than 8, or a name is no datacenter's or stands there twice.
    pub fn new(names: Vec<String>) -> Result<Self, WrongDatacenters> {
        let letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        let is_name = |name: &String| !name.is_empty() && name.bytes().all(letter);
        let is_new = |(place, name): (usize, &String)| !names[..place].contains(name);
        let are_names = names.iter().all(is_name) && names.iter().enumerate().all(is_new);
        match are_names && (2..=MOST).contains(&names.len()) {
            true => Ok(Self(names)),
            false => Err(WrongDatacenters),
        }
    }

    /// Returns the names; none for a datacenter alone.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// Names are not those of datacenters that can be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongDatacenters;

impl fmt::Display for WrongDatacenters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "datacenters are 2 to {MOST} different names of lower-case letters, digits, - and _, such as dc1,dc2"
        )
    }
}

impl std::error::Error for WrongDatacenters {}

impl FromStr for DatacenterNames {
    type Err = WrongDatacenters;

    fn from_str(text: &str) -> Result<Self, WrongDatacenters> {
        Self::new(text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

impl Config {
    /// Joins datacenters: this is the configuration of the first, which is the primary one unless another was set.
    pub fn join(&mut self, datacenters: DatacenterNames) {
        if let Some(own) = datacenters.0.first() {
            if self.primary_datacenter == self.datacenter {
                self.primary_datacenter.clone_from(own);
            }
            self.datacenter.clone_from(own);
        }
        self.datacenters = datacenters;
    }

    /// Whether there is one agent alone.
    #[must_use]
    pub fn is_lone(&self) -> bool {
        self.agents.is_lone() && self.datacenters.0.is_empty()
    }

    /// Returns the configuration of each datacenter: this one's first, which alone has the services, the checks and the data
    /// to start with. The names of the others' nodes begin with that of their datacenter, and their ports are higher than
    /// those of all agents of the datacenters before.
    #[must_use]
    pub fn of_datacenters(&self) -> Vec<Config> {
        let others = self.datacenters.0.iter().enumerate().skip(1);
        let mut all = vec![self.clone()];
        all.extend(others.map(|(number, name)| self.of_datacenter(number, name)));
        all
    }

    /// Returns the name of the node among the servers of all datacenters.
    #[must_use]
    pub fn wan_name(&self) -> String {
        format!("{}.{}", self.node_name, self.datacenter)
    }

    fn of_datacenter(&self, number: usize, name: &str) -> Config {
        let mut config = self.with_ports_of(number * self.agents.total());
        name.clone_into(&mut config.datacenter);
        config.datacenters.0.retain(|other| other != name);
        config.datacenters.0.insert(0, name.to_owned());
        config.node_name = format!("{name}-{}", self.node_name);
        let agents = self.agent_names.iter();
        config.agent_names = agents.map(|agent| format!("{name}-{agent}")).collect();
        config.node_id.clear();
        config.services.clear();
        config.checks.clear();
        config.data = DataFiles::default();
        config.pid_file = None;
        // Far from those of agents, which follow one another.
        let seed = self.seed.unwrap_or_default();
        config.with_seed(seed.wrapping_add((number as u64) << 32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentCounts, Listener};

    #[test]
    fn names_of_datacenters_are_read_and_refused() {
        let read = |text: &str| text.parse::<DatacenterNames>();
        assert_eq!(
            read("dc1, dc-2").expect("two names").names(),
            ["dc1", "dc-2"]
        );
        for wrong in ["", "dc1", "dc1,", "dc1,dc1", "dc1,DC2", "a,b,c,d,e,f,g,h,i"] {
            assert_eq!(read(wrong), Err(WrongDatacenters), "{wrong}");
        }
    }

    #[test]
    fn each_datacenter_has_names_and_ports_of_its_own() {
        let mut config = Config {
            listeners: vec![Listener::Tcp(([127, 0, 0, 1], 8500).into())],
            agents: AgentCounts::new(3, 0).expect("few agents"),
            ..Config::default().with_seed(7)
        };
        config.join("dc1,dc2".parse().expect("two names"));
        let all = config.of_datacenters();
        assert_eq!((all.len(), &all[0]), (2, &config));
        let other = &all[1];
        assert_eq!(
            (&*other.datacenter, &*other.primary_datacenter),
            ("dc2", "dc1")
        );
        assert_eq!(other.datacenters.names(), ["dc2", "dc1"]);
        assert_eq!(
            (&*other.node_name, other.server_port),
            ("dc2-proconsul", 8330)
        );
        assert_ne!(other.node_id, config.node_id);
        let last = &other.of_agents()[2];
        assert_eq!(
            last.listeners,
            [Listener::Tcp(([127, 0, 0, 1], 8550).into())]
        );
        assert_eq!(last.node_name, "dc2-proconsul-2");
        let agent_names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let named = Config {
            agent_names,
            ..config
        };
        let last = &named.of_datacenters()[1].of_agents()[2];
        assert_eq!(last.node_name, "dc2-c");
    }
}
