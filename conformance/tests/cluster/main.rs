//! Three real servers of 1.8.7 with a client agent, two real datacenters, and ours: each claim about several agents is held against
//! both, in one run.

mod acls;
mod agents;
mod away;
mod cut;
mod datacenters;
mod errors;
mod lost;
mod network;
mod processes;
mod silent;
mod together;
mod writes;

use std::path::PathBuf;
use std::thread;

use agents::{Agents, Cluster, ONE, TWO};
use network::Network;
use proconsul_conformance::cases::clusters::{AREAS, CLAIMS};
use proconsul_conformance::report::left_out;
use proconsul_lab::sequence::{self, Plan};

/// A claim by the last part of its id, with underscores, and what holds it.
type Held = (&'static str, fn(&mut Cluster));

/// Claims that are held one after the other, because the later ones need what the earlier ones leave.
struct Group {
    agents: Agents,
    /// How many random operations are played on both first.
    operations: usize,
    claims: &'static [&'static [Held]],
}

const TOGETHER: Group = Group {
    agents: ONE,
    operations: 3_000,
    claims: &[together::HELD, errors::HELD, away::HELD],
};
const ACLS: Group = Group {
    agents: Agents {
        has_acls: true,
        ..ONE
    },
    operations: 0,
    claims: &[acls::HELD],
};
const LOST: Group = Group {
    agents: ONE,
    operations: 0,
    claims: &[lost::HELD],
};
const SILENT: Group = Group {
    agents: ONE,
    operations: 0,
    claims: &[silent::HELD],
};
const CUT: Group = Group {
    agents: ONE,
    operations: 0,
    claims: &[cut::HELD],
};
const DATACENTERS: Group = Group {
    agents: TWO,
    operations: 0,
    claims: &[writes::HELD, datacenters::HELD],
};

/// The functions of this module that hold claims.
macro_rules! held {
    ($($name:ident)+) => {
        pub(crate) const HELD: &[$crate::Held] = &[$((stringify!($name), |cluster| $name(cluster))),+];
    };
}
pub(crate) use held;

impl Group {
    /// Holds the claims against ours and, if there is one to start, against real ones, at the same time.
    fn hold(&self, real: Option<PathBuf>, network: Option<&Network>) {
        let hold = |mut cluster: Cluster| {
            for (_, holds) in self.claims.concat() {
                holds(&mut cluster);
            }
        };
        let own = Cluster::own(self.agents);
        let real = real.map(|binary| Cluster::real(&binary, self.agents, network));
        if let Some(real) = &real {
            self.play(&own, real);
        }
        thread::scope(|scope| {
            scope.spawn(|| hold(own));
            scope.spawn(|| real.map(hold));
        });
    }

    /// Plays random operations on both, each through any agent.
    fn play(&self, own: &Cluster, real: &Cluster) {
        let plan = Plan {
            operations: self.operations,
            seed: 1,
            blocked_reads: true,
            odd_requests: false,
            acl: false,
        };
        if let Err(disagreement) = sequence::compare(&real.side(), &own.side(), plan) {
            panic!("- consul, + emulator\n{disagreement}");
        }
    }

    fn hold_at_loopback(&self) {
        self.hold(left_out::consul(), None);
    }
}

#[test]
fn each_claim_is_held() {
    let groups = [TOGETHER, ACLS, LOST, SILENT, CUT, DATACENTERS];
    let mut held: Vec<_> = groups
        .iter()
        .flat_map(|group| group.claims.concat())
        .collect();
    for claim in CLAIMS {
        let area = AREAS[..2]
            .iter()
            .find_map(|area| claim.id.strip_prefix(area));
        let Some(name) = area else { continue };
        let name = name.replace('-', "_");
        let place = held.iter().position(|(one, _)| *one == name);
        let place = place.unwrap_or_else(|| panic!("nothing holds {}", claim.id));
        held.remove(place);
    }
    assert!(held.is_empty(), "no claims: {held:?}");
}

#[test]
fn agents_that_are_well_or_away() {
    TOGETHER.hold_at_loopback();
}

#[test]
fn agents_that_check_rights() {
    ACLS.hold_at_loopback();
}

#[test]
fn leaders_that_are_lost() {
    LOST.hold_at_loopback();
}

#[test]
fn agents_that_are_silent() {
    SILENT.hold_at_loopback();
}

#[test]
fn agents_that_are_cut_off() {
    let real = left_out::consul().filter(|_| left_out::has("ip", "-Version"));
    let network = real.as_ref().and_then(|_| Network::new());
    if real.is_some() && network.is_none() {
        left_out::inapplicable("on a real Consul", "nobody may make networks here");
    }
    CUT.hold(real.filter(|_| network.is_some()), network.as_ref());
}

#[test]
fn datacenters() {
    DATACENTERS.hold_at_loopback();
}
