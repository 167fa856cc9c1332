//! The step of sequences that changes something while reads of all kinds are blocked: who wakes, who sleeps on, and what
//! each is told in the end (session.md 4.5b).

use std::time::Duration;

use super::operation::{NODES, Operation, SERVICES};
use super::play::{PATIENCE, Player};
use proconsul_conformance::time::pause;
use proconsul_conformance::wire::transcript::Recorder;
use proconsul_conformance::wire::{Connection, Outcome, Request};

/// How long a read sleeps that nothing wakes, in milliseconds. The change must be made before that.
const WAIT: u64 = 100;
/// How long a server may take to register a blocked read. One that is registered later is told of the change.
const PARKS: Duration = Duration::from_millis(10);
/// By how much both are longer each time that a sequence is played again, for on a busy machine they were too short.
const LONGER: u32 = 4;

/// A read that will be blocked, on a connection of its own.
struct Reader {
    path: String,
    connection: Result<Connection, String>,
    /// The transcript's line of what was last sent.
    number: usize,
}

impl Reader {
    fn send(&mut self, recorder: &Recorder, target: &str, host: &str) {
        let bytes = Request::get(target).to_bytes(host);
        self.number = recorder.sent(&bytes);
        if let Ok(connection) = &mut self.connection {
            connection.send(&bytes);
        }
    }

    fn answer(&mut self, recorder: &Recorder) -> Outcome {
        let outcome = match &mut self.connection {
            Ok(connection) => connection.read(false, PATIENCE),
            Err(why) => Outcome::Unreachable(why.clone()),
        };
        recorder.heard(self.number, &outcome, Duration::ZERO);
        outcome
    }
}

impl Player {
    /// Blocks a read of each kind, changes something, and takes down what each read is told. One that has slept through
    /// the change shows the index that it had before.
    pub(super) fn change_while_blocked(&mut self, change: &Operation) {
        let longer = LONGER.pow(self.attempt);
        let wait = WAIT * u64::from(longer);
        let mut sleepers = self.readers_with_indexes();
        for (reader, index) in &mut sleepers {
            let mark = if reader.path.contains('?') { '&' } else { '?' };
            let target = format!("{}{mark}index={index}&wait={wait}ms", reader.path);
            reader.send(&self.recorder, &target, &self.host);
        }
        pause(PARKS * longer);
        self.step(change);
        for (reader, _) in &mut sleepers {
            reader.answer(&self.recorder);
        }
    }

    /// The reads that can be blocked, each with the index that it shows now.
    fn readers_with_indexes(&self) -> Vec<(Reader, String)> {
        let reader = |path: String| {
            let connection = Connection::open(self.address());
            let mut reader = Reader {
                path: path.clone(),
                connection,
                number: 0,
            };
            reader.send(&self.recorder, &path, &self.host);
            reader
        };
        // All are asked before the first is heard, which takes no longer than a single one.
        let readers: Vec<Reader> = self.blocking_reads().into_iter().map(reader).collect();
        let with_index = |mut reader: Reader| {
            let Outcome::Reply(known) = reader.answer(&self.recorder) else {
                return None;
            };
            if reader.path.contains("session/info") && known.body.starts_with(b"[]") {
                // Other sessions wake it or do not, by ids of chance (session.md 2.1).
                return None;
            }
            let index = known.header("X-Consul-Index")?.to_owned();
            Some((reader, index))
        };
        readers.into_iter().filter_map(with_index).collect()
    }

    /// One read of each kind, and of each node and service. Lists show only what is the sequence's own.
    fn blocking_reads(&self) -> Vec<String> {
        let own = format!("filter=Node%20matches%20%22sequence-{}-%22", self.tag);
        let mut reads = vec![
            format!("/v1/catalog/nodes?{own}"),
            format!("/v1/catalog/nodes?node-meta=kind:node&{own}"),
            "/v1/catalog/services?node-meta=kind:node".to_owned(),
            format!("/v1/health/state/any?{own}"),
            format!("/v1/health/state/critical?{own}"),
            format!("/v1/health/state/warning?{own}"),
            format!("/v1/health/state/passing?node-meta=kind:node&{own}"),
            "/v1/session/list".to_owned(),
        ];
        for slot in 0..NODES.len() {
            let node = self.node(slot);
            reads.extend([
                format!("/v1/catalog/node/{node}"),
                format!("/v1/health/node/{node}"),
            ]);
        }
        for name in SERVICES {
            let service = self.service(name);
            reads.extend([
                format!("/v1/catalog/service/{service}"),
                format!("/v1/health/service/{service}"),
                format!("/v1/health/checks/{service}"),
                format!("/v1/health/checks/{service}?node-meta=kind:node"),
                format!("/v1/catalog/connect/{service}"),
                format!("/v1/health/connect/{service}"),
            ]);
        }
        reads.extend([
            format!("{}a", self.root()),
            format!("{}?recurse", self.root()),
            format!("{}a/?keys", self.root()),
        ]);
        reads.extend((0..self.queries.len()).map(|slot| self.query_path(slot)));
        reads.extend(
            self.sessions
                .iter()
                .map(|id| format!("/v1/session/info/{id}")),
        );
        reads
    }
}
