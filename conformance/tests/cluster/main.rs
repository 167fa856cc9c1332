//! Three real servers of 1.8.7 with a client agent, and ours: each row of `cluster.md` that is cited here is held against
//! both, in one run.

mod agents;
mod lost;
mod together;

use agents::Cluster;
use proconsul_conformance::report::left_out;

#[test]
fn ours_hold_the_rows() {
    let mut own = Cluster::own();
    together::all(&own);
    lost::all(&mut own);
}

#[test]
fn real_ones_hold_the_rows() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let mut real = Cluster::real(&binary);
    together::all(&real);
    lost::all(&mut real);
}
