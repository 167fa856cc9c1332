//! The threads that do to the server what only a test can.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fastrand::Rng;
use proconsul::Server;
use proconsul::Version;
use proconsul::control::Restart;

use super::model::Model;
use super::{Scene, WRITERS};

const CHECKPOINTS: [&str; 3] = ["one", "two", "three"];

/// Does one thing after the other for as long as anybody writes. One of the controllers restarts and loads, too: what
/// each load went over to is known by its order.
pub(super) fn control(scene: &Scene, loads: bool, mut random: Rng) {
    let scratch = loads.then(|| Scratch::like(scene.version));
    while scene.writers_left.load(Ordering::SeqCst) > 0 {
        match &scratch {
            Some(scratch) if random.u8(..3) == 0 => restart_or_load(scene, scratch, &mut random),
            _ => operate(scene, &mut random),
        }
    }
}

/// A server that a state can be looked at on.
struct Scratch(Server);

impl Scratch {
    fn like(version: Version) -> Self {
        let scratch = Server::builder().version(version).frozen().start();
        Self(scratch.expect("a free port"))
    }
}

fn restart_or_load(scene: &Scene, scratch: &Scratch, random: &mut Rng) {
    let server = &scene.server;
    match random.u8(..4) {
        0 => server.restart(Restart::KeepState).expect("it listens"),
        1 => scene.lowerings.during(|| {
            let restarted = server.restart(Restart::WipeState);
            restarted.expect("it listens");
        }),
        _ => {
            let state = server.dump();
            scratch.0.load(&state).expect("it is a state");
            let mut loads = scene.loads.lock().expect("no thread panicked");
            loads.push(Model::of(&scratch.0));
            drop(loads);
            let loaded = scene.lowerings.during(|| server.load(&state));
            loaded.expect("it is a state");
        }
    }
}

fn operate(scene: &Scene, random: &mut Rng) {
    let server = &scene.server;
    let checkpoint = CHECKPOINTS[random.usize(..CHECKPOINTS.len())];
    let node = format!("n{}", random.usize(..WRITERS));
    match random.u8(..28) {
        0..4 => {
            let by = random.u64(1..50);
            scene.lowerings.during(|| server.lower_indexes(by));
        }
        4..8 => server.checkpoint(checkpoint),
        8..10 => {
            // It may not be there.
            let _ = scene.lowerings.during(|| server.rollback(checkpoint));
        }
        10 => {
            let _ = server.delete_checkpoint(checkpoint);
        }
        11 => scene.lowerings.during(|| server.reset()),
        12..15 => {
            if let Some(row) = random.choice(server.sessions().list()) {
                // It may have ended meanwhile.
                let _ = server.sessions().expire(&row.session.id.to_string());
            }
        }
        15 => fail_for_a_moment(server, server.node_name(), "serfHealth"),
        16..19 => fail_for_a_moment(server, &node, "alive"),
        19 => server.catalog().delete_node(&node),
        20..22 => {
            server.wake("w");
        }
        22 => {
            server.jump(Duration::from_secs(random.u64(..30)));
        }
        _ => {
            server.advance(Duration::from_secs(random.u64(..15)));
        }
    }
}

/// A check that is not there is an error, which is as good.
fn fail_for_a_moment(server: &Server, node: &str, check: &str) {
    let _ = server.catalog().fail_check(node, check);
    let _ = server.catalog().pass_check(node, check);
}
