//! Networks of Linux's namespaces, one for each agent, on one bridge: an agent is cut off as by a pulled cable, so that its packets
//! vanish, and its clients reach it by another way.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::agents::AGENTS;

/// Networks for the agents of a cluster. They are removed when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Network(Arc<Removed>);

/// The number that is in all names.
struct Removed(u32);

impl Drop for Removed {
    fn drop(&mut self) {
        let Self(number) = self;
        for agent in 0..AGENTS {
            ip(&format!("netns del pc{number}-{agent}"));
        }
        ip(&format!("link del pcb{number}"));
    }
}

impl Network {
    /// Makes the networks. Only root can.
    pub(crate) fn new() -> Option<Self> {
        let number = std::process::id();
        let network = Self(Arc::new(Removed(number)));
        let bridge = format!("pcb{number}");
        let mut steps = vec![
            format!("link add {bridge} type bridge"),
            format!("link set {bridge} up"),
        ];
        for agent in 0..AGENTS {
            let space = format!("pc{number}-{agent}");
            let (others, clients) = (format!("pca{number}{agent}"), format!("pcc{number}{agent}"));
            let (cluster, client) = (Self::cluster(agent), Self::client(agent));
            let host = Ipv4Addr::from_bits(client.to_bits() - 1);
            steps.extend([
                format!("netns add {space}"),
                format!("-n {space} link set lo up"),
                format!("link add {others} type veth peer name cluster netns {space}"),
                format!("link set {others} master {bridge} up"),
                format!("-n {space} addr add {cluster}/24 dev cluster"),
                format!("-n {space} link set cluster up"),
                format!("link add {clients} type veth peer name clients netns {space}"),
                format!("addr add {host}/30 dev {clients}"),
                format!("link set {clients} up"),
                format!("-n {space} addr add {client}/30 dev clients"),
                format!("-n {space} link set clients up"),
            ]);
        }
        steps.iter().all(|step| ip(step)).then_some(network)
    }

    /// Where other agents reach an agent: an address of those that RFC 2544 keeps for tests.
    pub(crate) fn cluster(agent: usize) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, 1, 1 + u8::try_from(agent).expect("agents are few"))
    }

    /// Where clients reach it.
    pub(crate) fn client(agent: usize) -> Ipv4Addr {
        Ipv4Addr::new(
            198,
            19,
            1,
            2 + 4 * u8::try_from(agent).expect("agents are few"),
        )
    }

    /// Returns a command that runs in the network of an agent.
    pub(crate) fn command(&self, agent: usize, program: &Path) -> Command {
        let mut command = Command::new("ip");
        let number = self.0.0;
        command.args(["netns", "exec", &format!("pc{number}-{agent}")]);
        command.arg(program);
        command
    }

    /// Plugs the cable of an agent in, or pulls it.
    pub(crate) fn plug(&self, agent: usize, is_in: bool) {
        let number = self.0.0;
        let how = match is_in {
            true => format!("master pcb{number}"),
            false => "nomaster".to_owned(),
        };
        assert!(ip(&format!("link set pca{number}{agent} {how}")));
    }
}

/// Runs `ip`. Returns whether it could.
fn ip(arguments: &str) -> bool {
    let mut ip = Command::new("ip");
    ip.args(arguments.split(' ')).stderr(Stdio::null());
    ip.status().is_ok_and(|status| status.success())
}
