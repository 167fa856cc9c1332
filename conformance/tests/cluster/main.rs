//! Three real servers of 1.8.7 with a client agent, two real datacenters, and ours: each row of `cluster.md` that is cited
//! here is held against both, in one run.

mod agents;
mod datacenters;
mod lost;
mod together;

use agents::{Cluster, ONE, TWO};
use proconsul_conformance::report::left_out;

#[test]
fn ours_hold_the_rows() {
    let mut own = Cluster::own(&ONE);
    together::all(&own);
    lost::all(&mut own);
}

#[test]
fn real_ones_hold_the_rows() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let mut real = Cluster::real(&binary, &ONE);
    together::all(&real);
    lost::all(&mut real);
}

#[test]
fn our_datacenters_hold_the_rows() {
    datacenters::all(&mut Cluster::own(&TWO));
}

#[test]
fn real_datacenters_hold_the_rows() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    datacenters::all(&mut Cluster::real(&binary, &TWO));
}
