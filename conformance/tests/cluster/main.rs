//! Three real servers of 1.8.7 with a client agent, two real datacenters, and ours: each claim about several agents is held against
//! both, in one run.

mod agents;
mod datacenters;
mod lost;
mod together;

use agents::{Cluster, ONE, TWO};
use proconsul_conformance::cases::clusters::{AREAS, CLAIMS};
use proconsul_conformance::report::left_out;

/// A claim by the last part of its id, with underscores, and what holds it.
type Held = (&'static str, fn(&mut Cluster));

/// The functions of this module that hold claims.
macro_rules! held {
    ($($name:ident)+) => {
        pub(crate) const HELD: &[$crate::Held] = &[$((stringify!($name), |cluster| $name(cluster))),+];
    };
}
pub(crate) use held;

/// Holds all claims of an area against a cluster.
fn hold(area: &str, cluster: &mut Cluster, held: &[&[Held]]) {
    let mut held = held.concat();
    for claim in CLAIMS {
        let Some(name) = claim.id.strip_prefix(area) else {
            continue;
        };
        let name = name.replace('-', "_");
        let place = held.iter().position(|(one, _)| *one == name);
        let place = place.unwrap_or_else(|| panic!("nothing holds {}", claim.id));
        (held.remove(place).1)(cluster);
    }
    assert!(held.is_empty(), "no claims of {area}: {held:?}");
}

#[test]
fn ours_hold_the_rows() {
    let mut own = Cluster::own(&ONE);
    hold(AREAS[0], &mut own, &[together::HELD, lost::HELD]);
}

#[test]
fn real_ones_hold_the_rows() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let mut real = Cluster::real(&binary, &ONE);
    hold(AREAS[0], &mut real, &[together::HELD, lost::HELD]);
}

#[test]
fn our_datacenters_hold_the_rows() {
    let mut own = Cluster::own(&TWO);
    hold(AREAS[1], &mut own, &[datacenters::HELD]);
}

#[test]
fn real_datacenters_hold_the_rows() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let mut real = Cluster::real(&binary, &TWO);
    hold(AREAS[1], &mut real, &[datacenters::HELD]);
}
