//! The threads that wait for changes, over HTTP.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

use proconsul::control::Session;
use proconsul_engine::BlockedOn;

use super::{Scene, whole};
use crate::support::{Answer, PATIENCE, put, request};

/// What they read, and what they see there at the end.
const READS: [(&str, &str); 6] = [
    ("/v1/kv/w0/?recurse", "w0/end"),
    ("/v1/kv/w6/?recurse", "w6/end"),
    ("/v1/kv/?recurse", "w0/end"),
    ("/v1/kv/shared/lock?raw", "THE END"),
    ("/v1/session/list", "THE END"),
    ("/v1/catalog/nodes", "THE END"),
];

/// All of them, and where they say that they have seen the end.
pub(super) struct Waiters {
    seen: Receiver<&'static str>,
}

pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>, scene: &'scope Scene) -> Waiters {
    let (tell, seen) = channel();
    for (target, end) in READS {
        let tell = tell.clone();
        scope.spawn(move || wait(scene, target, end, &tell));
    }
    Waiters { seen }
}

impl Waiters {
    /// Nobody changes anything any more: after the end is written, everybody has to be told of it.
    pub(super) fn see_the_end(self, scene: &Scene) {
        let server = &scene.server;
        // Whoever knows an index from before it went back waits for that one, and may.
        while !everybody_knows_the_index(scene) {
            server.advance(Duration::from_secs(3600));
        }
        for key in ["w0/end", "w6/end"] {
            server.kv().put(key, "1");
        }
        server.kv().put("shared/lock", "THE END");
        // A state in which it was critical may have come back.
        let own = server.node_name();
        let passes = server.catalog().pass_check(own, "serfHealth");
        passes.expect("the agent is there");
        let session = server.sessions().create(Session::default().name("THE END"));
        session.expect("nothing speaks against it");
        let body = r#"{"Node":"THE END","Address":"10.0.0.1"}"#;
        assert_eq!(put(server, "/v1/catalog/register", body).body, "true");
        for _ in READS {
            let seen = self.seen.recv_timeout(3 * PATIENCE);
            seen.unwrap_or_else(|_| panic!("not told of the end: {:?}", server.blocked()));
        }
    }
}

fn everybody_knows_the_index(scene: &Scene) -> bool {
    let blocked = scene
        .server
        .wait_blocked(&BlockedOn::Anything, READS.len(), PATIENCE);
    let blocked = blocked.expect("everybody waits");
    let index = scene.server.index();
    blocked.iter().all(|blocked| blocked.min_index <= index)
}

/// Follows a read until it shows the end.
fn wait(scene: &Scene, target: &str, end: &'static str, tell: &Sender<&'static str>) {
    let separator = if target.contains('?') { '&' } else { '?' };
    let (mut known, mut over) = (0, 0);
    while !scene.failed.load(Ordering::SeqCst) {
        let over_before = scene.lowerings.over.load(Ordering::SeqCst);
        let answer = long_poll(
            scene,
            &format!("{target}{separator}index={known}&wait=600s"),
        );
        let Some(answer) = answer else { continue };
        let begun = scene.lowerings.begun.load(Ordering::SeqCst);
        let index = answer.index();
        // The index of keys slides back when tombstones are reaped, too (kv.md 4.3).
        assert!(
            index >= known || begun > over || target.starts_with("/v1/kv/"),
            "{target} went from {known} back to {index}, and no operation says so"
        );
        if answer.body.contains(end) {
            // Nobody is left to tell when the test has failed.
            let _ = tell.send(end);
            return;
        }
        // As Consul's own documentation asks of its clients.
        known = if index < known { 0 } else { index };
        over = over_before;
    }
}

/// None when the connection ended, as while the server restarts.
fn long_poll(scene: &Scene, target: &str) -> Option<Answer> {
    use std::io::{Read, Write};

    let mut connection = std::net::TcpStream::connect(scene.server.addr()).ok()?;
    // Longer than anybody waits for what this tells.
    connection.set_read_timeout(Some(6 * PATIENCE)).ok()?;
    let request = request("GET", target, &[], "");
    connection.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    connection.read_to_end(&mut bytes).ok()?;
    whole(&bytes)
}
